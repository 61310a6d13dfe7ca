import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { manualClock, until } from 'hookswitch/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type FakeOptions,
  type FakeSwitch,
  fakeAsteriskAmi,
  fakeFreeswitch,
} from '../../src/testkit/switches/index.js'
import { drained } from '../../src/testkit/switches/listener.js'
import { type RawClient, rawClient, recorded } from './switches-client.js'

const freeswitch = gunzipSync(recorded('freeswitch-esl-json.txt.gz'))
const ami = gunzipSync(recorded('asterisk-ami.txt.gz'))

const times = (count: number, bytes: Buffer) => Buffer.concat(Array(count).fill(bytes))
/** The first seconds, which is enough for most tests. */
const beginning = (bytes: Buffer) => bytes.subarray(0, bytes.length / 10)

/** A fake, and a client of it that has asked for all events. */
interface Case {
  readonly fake: (options?: Partial<FakeOptions>) => FakeSwitch & { readonly commands: readonly string[] }
  readonly subscribe: (client: RawClient) => Promise<void>
  /** How one event begins. */
  readonly begin: string
  readonly logIn: string
  readonly question: string
  /** About a minute. */
  readonly whole: Uint8Array
  /** More than the buffers of two sockets hold. */
  readonly many: Uint8Array
}
const CASES: Readonly<Record<string, Case>> = {
  fakeFreeswitch: {
    fake: (options) => fakeFreeswitch({ recording: beginning(freeswitch), ...options }),
    subscribe: async (client) => {
      client.say(CASES.fakeFreeswitch!.logIn)
      await client.hear('event listener enabled json\n\n')
    },
    begin: 'Content-Length: ',
    logIn: 'auth ClueCon\n\nevent json ALL\n\n',
    question: 'api uptime\n\n',
    whole: freeswitch,
    many: times(5, freeswitch),
  },
  fakeAsteriskAmi: {
    fake: (options) => fakeAsteriskAmi({ recording: beginning(ami), username: 'a', secret: 'b', ...options }),
    subscribe: async (client) => {
      client.say(CASES.fakeAsteriskAmi!.logIn)
      await client.hear('Fully Booted\r\n\r\n')
    },
    begin: 'Event: ',
    logIn: 'Action: Login\r\nUsername: a\r\nSecret: b\r\n\r\n',
    question: 'Action: Ping\r\n\r\n',
    whole: ami,
    many: times(10, ami),
  },
}

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

describe.each(Object.entries(CASES))('%s', (_, scene) => {
  const { fake: make, subscribe, begin, logIn, question, whole, many } = scene
  const started = async (options?: Partial<FakeOptions>) => {
    const fake = make(options)
    open.unshift(fake)
    await fake.start()
    return fake
  }
  const connect = async (fake: FakeSwitch, reads = true) => {
    const client = await rawClient(fake.port, reads)
    open.unshift({ close: () => client.socket.destroy() })
    return client
  }
  const subscribed = async (fake: FakeSwitch) => {
    const client = await connect(fake)
    await subscribe(client)
    return client
  }

  it('happens whether or not somebody is connected: what was before is missed', async () => {
    const fake = await started()
    await fake.advance(7)
    expect(fake.position).toBe(7)
    const client = await subscribed(fake)
    const before = client.heard.length
    await fake.advance(0)
    await fake.advance()
    await client.hear(begin)
    expect(client.heard.slice(before).startsWith(begin)).toBe(true)
    expect(fake.position).toBe(8)
    expect(fake.connections).toBe(1)
    await fake.play({ speed: Infinity })
    expect(fake.position).toBe(fake.length)
    await fake.advance()
    expect(fake.position).toBe(fake.length)
  })

  it('plays at the pace of the recording', async () => {
    const clock = manualClock()
    const fake = await started({ clock, recording: whole })
    const playing = fake.play()
    await clock.settle()
    const first = fake.position
    expect(first).toBeGreaterThan(0)
    const halfMs = await clock.runUntil(() => fake.position > fake.length / 2)
    const restMs = await clock.runUntil(() => fake.position === fake.length)
    await playing
    // Both recordings are of about a minute, and half of the events are not the first or last fifth of it.
    expect(halfMs + restMs).toBeGreaterThan(20_000)
    expect(halfMs + restMs).toBeLessThan(90_000)
    expect(halfMs).toBeGreaterThan((halfMs + restMs) / 5)
  })

  it('plays twice as fast when told, and by its own speed otherwise', async () => {
    const times: number[] = []
    for (const [own, speed] of [
      [1, undefined],
      [1, 2],
      [4, undefined],
    ] as const) {
      const clock = manualClock()
      const fake = await started({ clock, recording: whole, speed: own })
      void fake.play(speed === undefined ? {} : { speed })
      times.push(await clock.runUntil(() => fake.position === fake.length))
    }
    const [once = 0, half = 0, quarter = 0] = times
    expect(half).toBeCloseTo(once / 2, 0)
    expect(quarter).toBeCloseTo(once / 4, 0)
  })

  it('can be advanced while it plays: no event comes twice', async () => {
    const clock = manualClock()
    const fake = await started({ clock })
    const client = await subscribed(fake)
    const playing = fake.play()
    await clock.advance(5)
    const before = fake.position
    await fake.advance(10)
    expect(fake.position).toBe(before + 10)
    await Promise.all([playing, clock.runUntil(() => fake.position === fake.length)])
    expect(fake.position).toBe(fake.length)
    expect(client.isClosed).toBe(false)
  })

  it('ends a play when it is closed', async () => {
    const clock = manualClock()
    const fake = await started({ clock })
    const playing = fake.play()
    await clock.advance(1)
    await fake.close()
    await playing
    expect(fake.position).toBeLessThan(fake.length)
    const stood = fake.position
    await fake.advance(5)
    expect(fake.position).toBe(stood)
  })

  it('cuts all connections, and takes new ones', async () => {
    const fake = await started()
    const clients = [await subscribed(fake), await connect(fake)]
    fake.cut()
    for (const client of clients) await client.closed()
    await fake.waitFor('disconnected', 2)
    await until(() => fake.connections === 0)
    await subscribed(fake)
    await fake.waitFor('connected', 3)
    await fake.waitFor('subscribed', 2)
  })

  it.each([0, 1, 100])('cuts after %i bytes of the next event', async (bytes) => {
    const fake = await started()
    const client = await subscribed(fake)
    const before = client.heard.length
    fake.cutIn(bytes)
    await fake.advance()
    await client.closed()
    expect(client.heard.length - before).toBe(bytes)
    const next = await subscribed(fake)
    await fake.advance()
    await next.hear(begin)
    expect(next.isClosed).toBe(false)
  })

  it('keeps silent, and what happens meanwhile is missed', async () => {
    const fake = await started()
    const client = await subscribed(fake)
    const before = client.heard.length
    fake.silence()
    await fake.advance(3)
    const asked = [...fake.commands]
    const other = await connect(fake)
    other.say(logIn)
    // Closed from here, it is closed from there when all was read.
    other.socket.end()
    await other.closed()
    expect(other.heard).toBe('')
    expect(fake.commands).toEqual(asked)
    fake.speak()
    await fake.advance()
    await client.hear(begin)
    expect(client.heard.slice(before).split(begin)).toHaveLength(2)
    expect(fake.position).toBe(4)
  })

  it('refuses new connections, keeps the open ones, and accepts again on the same port', async () => {
    const fake = await started()
    const { port } = fake
    const client = await subscribed(fake)
    fake.refuse()
    await (await connect(fake)).closed()
    await fake.advance()
    await client.hear(begin)
    await fake.accept()
    expect(fake.port).toBe(port)
    await subscribed(fake)
  })

  it('waits for a client that does not read, and keeps no more for it than its socket takes', async () => {
    const fake = await started({ recording: many })
    const deaf = await connect(fake, false)
    deaf.say(logIn)
    await fake.waitFor('subscribed')
    const playing = fake.play({ speed: Infinity })
    await until(async () => {
      const stood = fake.position
      for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      return stood > 0 && fake.position === stood
    })
    expect(fake.position).toBeLessThan(fake.length)
    deaf.socket.resume()
    await playing
    expect(fake.position).toBe(fake.length)
  })

  it('goes on when a client that does not read is gone', async () => {
    const fake = await started({ recording: many })
    const deaf = await connect(fake, false)
    deaf.say(logIn)
    await fake.waitFor('subscribed')
    const playing = fake.play({ speed: Infinity })
    await until(() => fake.position > 100)
    expect(fake.position).toBeLessThan(fake.length)
    deaf.socket.destroy()
    await playing
    expect(fake.position).toBe(fake.length)
  })

  it('does not read from a client that asks and never reads the answers', async () => {
    const fake = await started()
    const deaf = await connect(fake, false)
    deaf.say(logIn)
    await fake.waitFor('subscribed')
    let taken = 0
    const ask = async () => {
      while (!deaf.isClosed && deaf.socket.write(question.repeat(1_000))) taken += 1
    }
    await ask()
    await until(async () => {
      const stood = deaf.socket.bytesWritten
      for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      if (deaf.socket.writableLength === 0) await ask()
      return deaf.socket.writableLength > 0 && deaf.socket.bytesWritten === stood
    })
    expect(taken).toBeLessThan(100_000)
    await fake.close()
  })

  it('says what it was waiting for when it is closed', async () => {
    const fake = await started()
    const waiting = expect(fake.waitFor('subscribed')).rejects.toThrow(
      /waited for 'subscribed' number 1 .seen: 0/,
    )
    await fake.close()
    await waiting
  })

  it('refuses wrong options and arguments by name', async () => {
    expect(() => make({ speed: 0 })).toThrow(/speed must be a number above 0/)
    expect(() => make({ port: 70_000 })).toThrow(/port must be a whole number/)
    expect(() => make({ clock: {} as never })).toThrow(/clock must have a method/)
    expect(() => make({ sped: 1 } as never)).toThrow(/sped is not an option/)
    const fake = make()
    expect(() => fake.port).toThrow(/no port before start/)
    expect(() => fake.advance(-1)).toThrow(/count must be a whole number/)
    expect(() => fake.cutIn(0.5)).toThrow(/bytes must be a whole number/)
    expect(() => fake.play({ speed: -1 })).toThrow(/speed must be a number above 0/)
  })
})

describe('the wait for a socket', () => {
  it.each(['drain', 'close'])('ends with its %s, and leaves no listener behind', async (end) => {
    const socket = Object.assign(new EventEmitter(), { writableNeedDrain: true, destroyed: false })
    const waiting = drained(socket as unknown as Socket)
    expect(socket.listenerCount(end)).toBe(1)
    socket.emit(end)
    await waiting
    expect(socket.eventNames()).toEqual([])
  })

  it('is none where nothing is to be waited for', async () => {
    for (const state of [
      { writableNeedDrain: false, destroyed: false },
      { writableNeedDrain: true, destroyed: true },
    ]) {
      const socket = Object.assign(new EventEmitter(), state)
      await drained(socket as unknown as Socket)
      expect(socket.eventNames()).toEqual([])
    }
  })
})
