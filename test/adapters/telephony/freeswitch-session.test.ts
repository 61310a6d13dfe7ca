import type { ChannelEvent, Log } from 'hookswitch'
import { accountFromVariable, type FreeswitchSourceOptions, freeswitchSource } from 'hookswitch/freeswitch'
import { manualClock, seededRandom, until } from 'hookswitch/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { type FakeAnswers, type FakeSwitch, fakeSwitch, jsonFrame, legEvent, RUN } from './freeswitch-fake.js'
import { hooks } from './freeswitch-mapped.js'
import { bytesOf, recorded } from './freeswitch-recorded.js'

const open: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
})

interface Told {
  readonly reason: string
  readonly retryInMs: number
  readonly kind: string
  readonly message: string
}

function against(fake: FakeSwitch, over: Partial<FreeswitchSourceOptions> = {}) {
  const clock = manualClock()
  const published: ChannelEvent[] = []
  const said: string[] = []
  const told: [string, Told][] = []
  const line = (fields: object, message: string) => void said.push(`${message} ${JSON.stringify(fields)}`)
  const log: Log = { debug: line, info: line, warn: line, error: line }
  const source = freeswitchSource({
    publish: async (event) => void published.push(event),
    accountOf: accountFromVariable(),
    port: fake.port,
    clock,
    random: seededRandom(1),
    log,
    ...over,
  })
  for (const name of ['connected', 'disconnected', 'account_unknown', 'rejected', 'problem'] as const)
    source.events.on(name, (payload) => void told.push([name, payload as unknown as Told]))
  open.push(source)
  source.start()
  const heard = (name: string) => told.filter(([one]) => one === name).map(([, payload]) => payload)
  const gone = async (times = 1) => {
    await until(() => heard('disconnected').length >= times)
    return heard('disconnected')[times - 1]?.reason
  }
  const isBack = async () => {
    await clock.advance(200)
    await until(() => source.status().isConnected)
  }
  return { source, clock, published, told, said, heard, gone, isBack }
}

async function underTest(answers: FakeAnswers = {}, over: Partial<FreeswitchSourceOptions> = {}) {
  const fake = await fakeSwitch(answers)
  open.push(fake)
  const made = against(fake, over)
  const connected = () => until(() => made.source.status().isConnected)
  /** Connected, and everything asked that is asked then. */
  const inSync = async () => {
    await connected()
    await until(() => fake.commands.includes('api show channels as json'))
  }
  return { fake, ...made, connected, inSync }
}

/** The recorded events, without the greeting and the goodbye. */
function recordedStream(name: string): Buffer {
  const bytes = bytesOf(name)
  return bytes.subarray(bytes.indexOf('Content-Length'), bytes.lastIndexOf('Content-Type: command/reply'))
}

describe('a session', () => {
  it.each(['json', 'plain'] as const)('publishes the recorded calls, %s', async (format) => {
    const { fake, source, published, heard, inSync } = await underTest({}, { format })
    await inSync()
    expect(fake.commands.slice(0, 2)).toEqual([
      'auth ClueCon',
      `event ${format} CHANNEL_CREATE CHANNEL_PROGRESS CHANNEL_PROGRESS_MEDIA CHANNEL_ANSWER CHANNEL_BRIDGE ` +
        'CHANNEL_HOLD CHANNEL_UNHOLD CHANNEL_UUID CHANNEL_DESTROY',
    ])
    fake.send(recordedStream(format))
    // Without the SIP header's account the two legs of C36 have none, either.
    const unknown = recorded.totals.legs! - recorded.totals.legsWithAccount! + 2
    await until(() => heard('account_unknown').length === unknown)
    await until(() => source.status().openLegs === 0 && source.status().waiting === 0)
    expect(published.filter((event) => event.hook === 'channel_destroy')).toHaveLength(
      recorded.totals.legs! - unknown,
    )
    expect(source.status().published).toBe(published.length)
    expect(heard('problem')).toEqual([])
    expect(heard('rejected')).toEqual([])
  })

  it('subscribes to what the host’s account needs, too', async () => {
    const { fake, inSync } = await underTest({}, { extraEvents: ['CHANNEL_EXECUTE'] })
    await inSync()
    expect(fake.commands[1]).toMatch(/ CHANNEL_DESTROY CHANNEL_EXECUTE$/)
  })

  it('asks a silent switch for a sign of life, and comes back if there is none', async () => {
    const { fake, clock, gone, inSync } = await underTest({}, { silenceMs: 5_000 })
    await inSync()
    await clock.advance(5_000)
    await until(() => fake.commands.includes('api uptime'))
    fake.answers = { ...fake.answers, mute: true }
    await clock.advance(15_000)
    expect(await gone()).toMatch(/^no sign of life for \d+ s$/)
  })
})

describe('a switch that', () => {
  it('refuses the password is told so without it, and tried again', async () => {
    const { fake, gone, clock, source, said, told } = await underTest(
      { password: 'other' },
      { password: 'hunter2!' },
    )
    expect(await gone()).toBe('the switch refuses the password')
    fake.answers = { password: 'hunter2!' }
    await clock.advance(200)
    await until(() => source.status().isConnected)
    expect(JSON.stringify([told, said])).not.toContain('hunter2!')
    expect(said[0]).toContain('the switch refuses the password')
  })

  it.each([
    [
      'refuses our address',
      'Content-Type: text/rude-rejection\nContent-Length: 24\n\nAccess Denied, go away.\n',
      'the switch refuses connections from this address (its acl)',
    ],
    ['speaks another protocol', 'SSH-2.0-OpenSSH_9.2\r\n', 'it does not speak the event socket protocol'],
    [
      'floods with a body without end',
      'Content-Length: 99999999\nContent-Type: text/event-json\n\n',
      'a body above 1 MiB',
    ],
    ['floods with a line without end', `A: ${'x'.repeat(70_000)}`, 'a header line above 64 KiB'],
    ['answers what nobody asked', 'Content-Type: command/reply\nReply-Text: +OK\n\n', 'an answer to nothing'],
  ])('%s is left, and tried again', async (_, bytes, reason) => {
    const { gone, clock, heard } = await underTest({ onConnection: (socket) => void socket.write(bytes) })
    expect(await gone()).toBe(reason)
    await clock.advance(200)
    expect(await gone(2)).toBe(reason)
    expect(heard('connected')).toEqual([])
  })

  it('says nothing at all is left after a while', async () => {
    const sockets: unknown[] = []
    const { gone, clock } = await underTest({ onConnection: (socket) => void sockets.push(socket) })
    await until(() => sockets.length > 0)
    await clock.runUntil(() => false, { limitMs: 10_000 }).catch(() => {})
    expect(await gone()).toBe('no login within 10 s')
  })

  it('refuses the events is left', async () => {
    const { gone } = await underTest({ event: '-ERR permission denied' })
    expect(await gone()).toBe('the switch refuses the events: -ERR permission denied')
  })

  it('shuts down says goodbye, and its legs are ended by the events before', async () => {
    const { fake, gone, source, published, inSync } = await underTest({}, { format: 'plain' })
    await inSync()
    const bytes = bytesOf('plain-all')
    fake.send(bytes.subarray(bytes.indexOf('Content-Length')))
    expect(await gone()).toBe('the switch said goodbye: The system is being shut down.')
    expect(source.status().openLegs).toBe(0)
    expect(published.at(-1)?.hangupCause).toBe('SYSTEM_SHUTDOWN')
  })

  it('stops in mid-event loses nothing: what comes again after the reconnect is published once', async () => {
    const { fake, gone, published, inSync, isBack } = await underTest()
    await inSync()
    const create = legEvent('CHANNEL_CREATE', 'a')
    const answer = jsonFrame(legEvent('CHANNEL_ANSWER', 'a', { answeredMs: 10 }))
    fake.answers = { channels: ['a'] }
    fake.send(jsonFrame(create) + answer.slice(0, 300))
    await until(() => published.length === 1)
    fake.drop()
    expect(await gone()).toBe('the switch closed the connection')
    await isBack()
    fake.send(answer)
    await until(() => published.length === 2)
    expect(hooks(published)).toEqual(['create', 'answer'])
  })

  it('sends what cannot be read is a problem, and goes on', async () => {
    const { fake, published, heard, inSync } = await underTest()
    await inSync()
    fake.send(
      `Content-Length: 9\nContent-Type: text/event-json\n\n{"broken"${jsonFrame(legEvent('CHANNEL_CREATE', 'a'))}`,
    )
    await until(() => published.length === 1)
    expect(heard('problem')).toEqual([
      { kind: 'malformed', message: 'a json event of 9 bytes that cannot be read' },
    ])
  })
})

describe('after a reconnect', () => {
  /** Connected, with these legs open, then not connected, then connected with these. */
  async function reconnected(before: readonly string[], answers: FakeAnswers) {
    const made = await underTest({ channels: before })
    await made.inSync()
    for (const uuid of before) made.fake.send(jsonFrame(legEvent('CHANNEL_CREATE', uuid)))
    await until(() => made.published.length === before.length)
    made.fake.commands.length = 0
    made.fake.answers = answers
    made.fake.drop()
    await made.gone()
    await made.isBack()
    await until(() => made.fake.commands.includes('api show channels as json'))
    return made
  }

  it('a leg that is gone has ended, and one that is not goes on', async () => {
    const { fake, published, clock, source } = await reconnected(['a', 'b'], { channels: ['b'] })
    await until(() => fake.commands.includes('api uuid_exists a'))
    await until(async () => {
      await clock.advance(1_000)
      return published.length === 3
    })
    expect(published[2]).toMatchObject({
      hook: 'channel_destroy',
      callId: 'a',
      accountId: 'acme',
      hangupCause: 'NORMAL_UNSPECIFIED',
      customChannelVars: { found_by: 'resync' },
    })
    expect(fake.commands).not.toContain('api uuid_exists b')
    expect(source.status().openLegs).toBe(1)
  })

  it('a leg that is not listed but exists goes on: the list lags behind', async () => {
    const { fake, published, clock } = await reconnected(['a'], {
      channels: [],
      api: (command) => (command === 'uuid_exists a' ? 'true' : undefined),
    })
    await until(() => fake.commands.includes('api uuid_exists a'))
    await clock.advance(10_000)
    expect(hooks(published)).toEqual(['create'])
  })

  it('an end that is heard after the question is the end, with its cause', async () => {
    const { fake, published, clock } = await reconnected(['a'], { channels: [] })
    await until(() => fake.commands.includes('api uuid_exists a'))
    fake.send(jsonFrame(legEvent('CHANNEL_DESTROY', 'a', { cause: 'USER_BUSY' })))
    await until(() => published.length === 2)
    await clock.advance(10_000)
    expect(published.map((event) => event.hangupCause)).toEqual([undefined, 'USER_BUSY'])
  })

  it('a leg that takes the id of one that was missing is not missing itself', async () => {
    const { fake, published, clock, source } = await reconnected(['a'], { channels: [] })
    await until(() => fake.commands.includes('api uuid_exists a'))
    const again = { ...legEvent('CHANNEL_CREATE', 'a'), 'Caller-Channel-Created-Time': '1795173744000000' }
    fake.send(jsonFrame(legEvent('CHANNEL_DESTROY', 'a')) + jsonFrame(again))
    await until(() => published.length === 3)
    await clock.advance(10_000)
    expect(hooks(published)).toEqual(['create', 'destroy', 'create'])
    expect(source.status().openLegs).toBe(1)
  })

  it('a leg that began after the question is not missing', async () => {
    const { fake, published, clock } = await reconnected([], { channels: [] })
    fake.send(jsonFrame(legEvent('CHANNEL_CREATE', 'late')))
    await until(() => published.length === 1)
    await clock.advance(10_000)
    expect(hooks(published)).toEqual(['create'])
  })

  it('legs that began unheard come out with their own times, answered or not', async () => {
    const dumps: Record<string, object> = {
      up: legEvent('CHANNEL_DATA', 'up', { answeredMs: 2_000 }),
      ringing: legEvent('CHANNEL_DATA', 'ringing'),
    }
    const { fake, published } = await reconnected([], {
      channels: ['up', 'ringing', 'gone', 'not sayable\n'],
      api: (command) => {
        const found = dumps[/^uuid_dump (\w+) json$/.exec(command)?.[1] ?? '']
        return found && JSON.stringify(found, undefined, '\t')
      },
    })
    await until(() => published.length === 3)
    expect(fake.commands).toContain('api uuid_dump gone json')
    expect(fake.commands.join()).not.toContain('sayable')
    expect(hooks(published.filter(({ callId }) => callId === 'up'))).toEqual(['create', 'answer'])
    expect(hooks(published.filter(({ callId }) => callId === 'ringing'))).toEqual(['create'])
    expect(published.find((event) => event.hook === 'channel_answer')?.timestampMs).toBe(1_795_173_741_000)
  })

  it('what an event opened while it was asked for is not opened again by the answer', async () => {
    const dump = JSON.stringify(legEvent('CHANNEL_DATA', 'a', { answeredMs: 2_000 }))
    const { fake, published, clock } = await reconnected([], {
      channels: ['a'],
      api: (command) => {
        if (command !== 'uuid_dump a json') return undefined
        fakeOf.send(
          jsonFrame(legEvent('CHANNEL_CREATE', 'a')) +
            jsonFrame(legEvent('CHANNEL_ANSWER', 'a', { answeredMs: 2_000 })) +
            jsonFrame(legEvent('CHANNEL_DESTROY', 'a', { answeredMs: 2_000 })),
        )
        return dump
      },
      onAnswers(one) {
        fakeOf = one
      },
    })
    await until(() => fake.commands.includes('api uuid_dump a json'))
    await until(() => published.length === 3)
    await clock.advance(10_000)
    expect(hooks(published)).toEqual(['create', 'answer', 'destroy'])
  })

  it('a restarted switch has none of the legs before, though their ids come again', async () => {
    const { fake, published } = await reconnected(['a'], { channels: ['a'], coreUuid: 'another-run' })
    await until(() => published.length === 2)
    expect(published[1]).toMatchObject({ hook: 'channel_destroy', customChannelVars: { found_by: 'resync' } })
    fake.send(jsonFrame({ ...legEvent('CHANNEL_CREATE', 'a'), 'Core-UUID': 'another-run' }))
    await until(() => published.length === 3)
    expect(published[2]?.idempotencyKey).not.toBe(published[0]?.idempotencyKey)
    expect(published[0]?.idempotencyKey).toContain(RUN)
  })
})

let fakeOf: FakeSwitch

describe('a service that is full', () => {
  it('stops the reading, and loses nothing', async () => {
    const published: ChannelEvent[] = []
    let letGo: () => void = () => {}
    const gate = new Promise<void>((resolve) => {
      letGo = resolve
    })
    const { fake, source, inSync } = await underTest(
      {},
      {
        publish: async (event) => {
          await gate
          published.push(event)
        },
      },
    )
    await inSync()
    const legs = Array.from({ length: 20_000 }, (_, i) => `leg-${i}`)
    fake.send(legs.map((uuid) => jsonFrame(legEvent('CHANNEL_CREATE', uuid, { padding: 2_000 }))).join(''))
    await until(() => source.status().waiting >= 1_024)
    // What the switch still holds stays with it, whatever time it gets.
    for (let i = 0; i < 200; i += 1) await new Promise((resolve) => setImmediate(resolve))
    expect(source.status().waiting).toBeLessThan(3_000)
    expect([...fake.sockets][0]?.writableLength).toBeGreaterThan(1_000_000)
    letGo()
    await until(() => published.length === legs.length, { timeoutMs: 60_000 })
    expect(new Set(published.map(({ callId }) => callId)).size).toBe(legs.length)
  })
})

describe('options', () => {
  const options = { publish: async () => {}, accountOf: () => undefined }
  it.each([
    ['accountOf', { accountOf: undefined }],
    ['accountOf', { accountOf: 'acme' }],
    ['publish', { publish: undefined }],
    ['host', { host: '' }],
    ['port', { port: 0 }],
    ['port', { port: 70_000 }],
    ['password', { password: 'a\n\napi shutdown' }],
    ['format', { format: 'xml' }],
    ['customVariables', { customVariables: 'queue' }],
    ['extraEvents', { extraEvents: ['CHANNEL_EXECUTE\n\napi shutdown'] }],
    ['connectTimeoutMs', { connectTimeoutMs: 0 }],
    ['silenceMs', { silenceMs: 1 }],
    ['maxOpenLegs', { maxOpenLegs: 0 }],
    ['pasword', { pasword: 'x' }],
  ])('names %s when it is wrong', (name, wrong) => {
    const make = () => freeswitchSource({ ...options, ...wrong } as unknown as FreeswitchSourceOptions)
    expect(make).toThrow(expect.objectContaining({ code: 'InvalidOption', field: name }))
    expect(make).not.toThrow('shutdown')
  })
})
