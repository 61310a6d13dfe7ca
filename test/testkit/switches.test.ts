import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { manualClock, until } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import {
  type FakeOptions,
  type FakeSwitch,
  fakeAsteriskAmi,
  fakeFreeswitch,
} from '../../src/testkit/switches/index.js'
import { waitForDrain } from '../../src/testkit/switches/listener.js'
import { connected, type RawClient, recorded, started } from './switches-client.js'

const freeswitch = gunzipSync(recorded('freeswitch-esl-json.txt.gz'))
const ami = gunzipSync(recorded('asterisk-ami.txt.gz'))

const times = (count: number, bytes: Buffer) => Buffer.concat(Array(count).fill(bytes))
/** The first seconds, enough for most tests. */
const beginning = (bytes: Buffer) => bytes.subarray(0, bytes.length / 10)

/** How to create a fake, and to subscribe to all its events. */
interface Case {
  readonly fake: (options?: Partial<FakeOptions>) => FakeSwitch & { readonly commands: readonly string[] }
  readonly subscribe: (client: RawClient) => Promise<void>
  /** The first characters of an event. */
  readonly begin: string
  readonly logIn: string
  /** A command that gets a reply. */
  readonly query: string
  /** A recording of about a minute. */
  readonly whole: Uint8Array
  /** A recording larger than the buffers of two sockets. */
  readonly many: Uint8Array
}
const CASES: Readonly<Record<string, Case>> = {
  fakeFreeswitch: {
    fake: (options) => fakeFreeswitch({ recording: beginning(freeswitch), ...options }),
    subscribe: async (client) => {
      client.send(CASES.fakeFreeswitch!.logIn)
      await client.waitFor('event listener enabled json\n\n')
    },
    begin: 'Content-Length: ',
    logIn: 'auth ClueCon\n\nevent json ALL\n\n',
    query: 'api uptime\n\n',
    whole: freeswitch,
    many: times(5, freeswitch),
  },
  fakeAsteriskAmi: {
    fake: (options) => fakeAsteriskAmi({ recording: beginning(ami), username: 'a', secret: 'b', ...options }),
    subscribe: async (client) => {
      client.send(CASES.fakeAsteriskAmi!.logIn)
      await client.waitFor('Fully Booted\r\n\r\n')
    },
    begin: 'Event: ',
    logIn: 'Action: Login\r\nUsername: a\r\nSecret: b\r\n\r\n',
    query: 'Action: Ping\r\n\r\n',
    whole: ami,
    many: times(10, ami),
  },
}

describe.each(Object.entries(CASES))('%s', (_, switchCase) => {
  const { fake: make, subscribe, begin, logIn, query, whole, many } = switchCase
  const start = (options?: Partial<FakeOptions>) => started(make(options))
  const subscribed = async (fake: FakeSwitch) => {
    const client = await connected(fake)
    await subscribe(client)
    return client
  }

  it('replays events whether or not a client is connected: earlier ones are missed', async () => {
    const fake = await start()
    await fake.advance(7)
    expect(fake.position).toBe(7)
    const client = await subscribed(fake)
    const before = client.received.length
    await fake.advance(0)
    await fake.advance()
    await client.waitFor(begin)
    expect(client.received.slice(before).startsWith(begin)).toBe(true)
    expect(fake.position).toBe(8)
    expect(fake.connections).toBe(1)
    await fake.play({ speed: Infinity })
    expect(fake.position).toBe(fake.length)
    await fake.advance()
    expect(fake.position).toBe(fake.length)
  })

  it('plays at the pace of the recording', async () => {
    const clock = manualClock()
    const fake = await start({ clock, recording: whole })
    const playing = fake.play()
    await clock.settle()
    const first = fake.position
    expect(first).toBeGreaterThan(0)
    const halfMs = await clock.runUntil(() => fake.position > fake.length / 2)
    const restMs = await clock.runUntil(() => fake.position === fake.length)
    await playing
    // Both recordings have about a minute, and the middle event is not in the first fifth of it.
    expect(halfMs + restMs).toBeGreaterThan(20_000)
    expect(halfMs + restMs).toBeLessThan(90_000)
    expect(halfMs).toBeGreaterThan((halfMs + restMs) / 5)
  })

  it('plays at the given speed, and by default at the speed of its options', async () => {
    const times: number[] = []
    for (const [own, speed] of [
      [1, undefined],
      [1, 2],
      [4, undefined],
    ] as const) {
      const clock = manualClock()
      const fake = await start({ clock, recording: whole, speed: own })
      void fake.play(speed === undefined ? {} : { speed })
      times.push(await clock.runUntil(() => fake.position === fake.length))
    }
    const [once = 0, half = 0, quarter = 0] = times
    expect(half).toBeCloseTo(once / 2, 0)
    expect(quarter).toBeCloseTo(once / 4, 0)
  })

  it('can be advanced while it plays: no event is replayed twice', async () => {
    const clock = manualClock()
    const fake = await start({ clock })
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
    const fake = await start({ clock })
    const playing = fake.play()
    await clock.advance(1)
    await fake.close()
    await playing
    expect(fake.position).toBeLessThan(fake.length)
    const position = fake.position
    await fake.advance(5)
    expect(fake.position).toBe(position)
  })

  it('cuts all connections, and accepts new ones', async () => {
    const fake = await start()
    const clients = [await subscribed(fake), await connected(fake)]
    fake.cut()
    for (const client of clients) await client.closed()
    await fake.waitFor('disconnected', 2)
    await until(() => fake.connections === 0)
    await subscribed(fake)
    await fake.waitFor('connected', 3)
    await fake.waitFor('subscribed', 2)
  })

  it('ends all connections behind what was replayed, once the clients have read it', async () => {
    const fake = await start({ recording: many })
    const client = await subscribed(fake)
    const before = client.received.length
    client.socket.pause()
    const played = fake.advance(fake.length)
    const ended = played.then(() => fake.end())
    await until(() => client.socket.readableLength > 0)
    client.socket.resume()
    await ended
    expect(client.isClosed || client.socket.readableEnded).toBe(true)
    expect(client.received.slice(before).split(`${begin}`).length - 1).toBeGreaterThanOrEqual(fake.length)
    expect(fake.connections).toBe(0)
    await (await connected(fake)).closed()
  })

  it('ends connections only when their clients have read everything', async () => {
    const fake = await start()
    const client = await subscribed(fake)
    client.socket.pause()
    await fake.advance()
    let hasEnded = false
    const ended = fake.end().then(() => {
      hasEnded = true
    })
    await until(() => client.socket.readableLength > 0)
    client.send(query)
    await until(() => client.socket.writableLength === 0)
    expect(hasEnded).toBe(false)
    client.socket.resume()
    await ended
    await client.waitFor(begin)
  })

  it.each([0, 1, 100])('cuts after %i bytes of the next event', async (bytes) => {
    const fake = await start()
    const client = await subscribed(fake)
    const before = client.received.length
    fake.cutIn(bytes)
    await fake.advance()
    await client.closed()
    expect(client.received.length - before).toBe(bytes)
    const next = await subscribed(fake)
    await fake.advance()
    await next.waitFor(begin)
    expect(next.isClosed).toBe(false)
  })

  it('sends nothing during a silence, and its events are missed', async () => {
    const fake = await start()
    const client = await subscribed(fake)
    const before = client.received.length
    fake.silence()
    await fake.advance(3)
    const commands = [...fake.commands]
    const other = await connected(fake)
    other.send(logIn)
    // After the client's end, the fake closes the connection when it has read everything.
    other.socket.end()
    await other.closed()
    expect(other.received).toBe('')
    expect(fake.commands).toEqual(commands)
    fake.speak()
    await fake.advance()
    await client.waitFor(begin)
    expect(client.received.slice(before).split(begin)).toHaveLength(2)
    expect(fake.position).toBe(4)
  })

  it('refuses new connections, keeps the open ones, and accepts again on the same port', async () => {
    const fake = await start()
    const { port } = fake
    const client = await subscribed(fake)
    fake.refuse()
    await (await connected(fake)).closed()
    await fake.advance()
    await client.waitFor(begin)
    await fake.accept()
    expect(fake.port).toBe(port)
    await subscribed(fake)
  })

  it('waits for a client that does not read, and buffers no more than its socket', async () => {
    const fake = await start({ recording: many })
    const slow = await connected(fake, '', false)
    slow.send(logIn)
    await fake.waitFor('subscribed')
    const playing = fake.play({ speed: Infinity })
    await until(async () => {
      const position = fake.position
      for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      return position > 0 && fake.position === position
    })
    expect(fake.position).toBeLessThan(fake.length)
    slow.socket.resume()
    await playing
    expect(fake.position).toBe(fake.length)
  })

  it('continues when a client that does not read disconnects', async () => {
    const fake = await start({ recording: many })
    const slow = await connected(fake, '', false)
    slow.send(logIn)
    await fake.waitFor('subscribed')
    const playing = fake.play({ speed: Infinity })
    await until(() => fake.position > 100)
    expect(fake.position).toBeLessThan(fake.length)
    slow.socket.destroy()
    await playing
    expect(fake.position).toBe(fake.length)
  })

  it('pauses reading from a client that never reads the replies', async () => {
    const fake = await start()
    const slow = await connected(fake, '', false)
    slow.send(logIn)
    await fake.waitFor('subscribed')
    let batches = 0
    const sendQueries = async () => {
      while (!slow.isClosed && slow.socket.write(query.repeat(1_000))) batches += 1
    }
    await sendQueries()
    await until(async () => {
      const position = slow.socket.bytesWritten
      for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      if (slow.socket.writableLength === 0) await sendQueries()
      return slow.socket.writableLength > 0 && slow.socket.bytesWritten === position
    })
    expect(batches).toBeLessThan(100_000)
    await fake.close()
  })

  it('rejects waitFor with its milestone when it is closed', async () => {
    const fake = await start()
    const waiting = expect(fake.waitFor('subscribed')).rejects.toThrow(
      /waited for 'subscribed' number 1 .seen: 0/,
    )
    await fake.close()
    await waiting
  })

  it('rejects wrong options and arguments by name', async () => {
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

describe('waitForDrain', () => {
  it.each(['drain', 'close'])('resolves on %s, and leaves no listener', async (end) => {
    const socket = Object.assign(new EventEmitter(), { writableNeedDrain: true, destroyed: false })
    const waiting = waitForDrain(socket as unknown as Socket)
    expect(socket.listenerCount(end)).toBe(1)
    socket.emit(end)
    await waiting
    expect(socket.eventNames()).toEqual([])
  })

  it('resolves at once if there is nothing to wait for', async () => {
    for (const state of [
      { writableNeedDrain: false, destroyed: false },
      { writableNeedDrain: true, destroyed: true },
    ]) {
      const socket = Object.assign(new EventEmitter(), state)
      await waitForDrain(socket as unknown as Socket)
      expect(socket.eventNames()).toEqual([])
    }
  })
})
