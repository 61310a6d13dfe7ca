import type { ChannelEvent } from 'hookswitch'
import { accountFromVariable, type FreeswitchSourceOptions, freeswitchSource } from 'hookswitch/freeswitch'
import { until } from 'hookswitch/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { deferred } from '../../support/deferred.js'
import {
  CORE_UUID,
  type FakeReplies,
  type FakeSwitch,
  jsonFrame,
  legEvent,
  startFakeSwitch,
} from './freeswitch-fake.js'
import { hooks } from './freeswitch-mapped.js'
import { bytesOf, recorded } from './freeswitch-recorded.js'
import { observeSource } from './observe-source.js'

async function connectSource(replies: FakeReplies = {}, over: Partial<FreeswitchSourceOptions> = {}) {
  const fake = await startFakeSwitch(replies)
  onTestFinished(() => fake.close())
  const observed = observeSource((deps) =>
    freeswitchSource({ ...deps, accountOf: accountFromVariable(), port: fake.port, ...over }),
  )
  const { source, clock, reasons } = observed
  source.start()
  /** Connected, and the resync has started. */
  const inSync = async () => {
    await until(() => source.status().isConnected)
    await until(() => fake.commands.includes('api show channels as json'))
  }
  const disconnectReason = async (times = 1) => {
    await until(() => reasons().length >= times)
    return reasons()[times - 1]
  }
  const reconnect = async () => {
    await clock.advance(200)
    await until(() => source.status().isConnected)
  }
  return { ...observed, fake, inSync, disconnectReason, reconnect }
}

/** The recorded events, without the login and the disconnect notice. */
function recordedStream(name: string): Buffer {
  const bytes = bytesOf(name)
  return bytes.subarray(bytes.indexOf('Content-Length'), bytes.lastIndexOf('Content-Type: command/reply'))
}

describe('a session', () => {
  it.each(['json', 'plain'] as const)('publishes the recorded calls, %s', async (format) => {
    const { fake, source, published, of, inSync } = await connectSource({}, { format })
    await inSync()
    expect(fake.commands.slice(0, 2)).toEqual([
      'auth ClueCon',
      `event ${format} CHANNEL_CREATE CHANNEL_PROGRESS CHANNEL_PROGRESS_MEDIA CHANNEL_ANSWER CHANNEL_BRIDGE ` +
        'CHANNEL_UNBRIDGE CHANNEL_HOLD CHANNEL_UNHOLD CHANNEL_UUID CHANNEL_DESTROY ' +
        'RECORD_START RECORD_STOP CUSTOM valet_parking::info vm::maintenance callcenter::info fifo::info conference::maintenance',
    ])
    fake.send(recordedStream(format))
    // The two legs of C36 have an account in a SIP header only, which this source does not read. The dialled legs of C33 and
    // C35 have those of their callers.
    const unknown = recorded.totals.legs! - recorded.totals.legsWithAccount! + 2 - 2
    await until(() => of('account_unknown').length === unknown)
    await until(() => source.status().openLegs === 0 && source.status().waiting === 0)
    expect(published.filter((event) => event.hook === 'channel_destroy')).toHaveLength(
      recorded.totals.legs! - unknown,
    )
    expect(source.status().published).toBe(published.length)
    expect(of('problem')).toEqual([])
    expect(of('rejected')).toEqual([])
  })

  it('subscribes to extraEvents too', async () => {
    const { fake, inSync } = await connectSource({}, { extraEvents: ['CHANNEL_EXECUTE'] })
    await inSync()
    expect(fake.commands[1]).toMatch(/ CHANNEL_DESTROY CHANNEL_EXECUTE RECORD_START /)
  })

  it('probes a silent switch, and disconnects when there is no reply', async () => {
    const { fake, clock, disconnectReason, inSync } = await connectSource({}, { silenceMs: 5_000 })
    await inSync()
    await clock.advance(5_000)
    await until(() => fake.commands.includes('api uptime'))
    fake.replies = { ...fake.replies, mute: true }
    await clock.advance(15_000)
    expect(await disconnectReason()).toMatch(/^no sign of life for \d+ s$/)
  })
})

describe('a switch that', () => {
  it('refuses the password is retried, and the password is never logged', async () => {
    const { fake, disconnectReason, clock, source, logged, emitted } = await connectSource(
      { password: 'other' },
      { password: 'hunter2!' },
    )
    expect(await disconnectReason()).toBe('the switch refuses the password')
    fake.replies = { password: 'hunter2!' }
    await clock.advance(200)
    await until(() => source.status().isConnected)
    expect(JSON.stringify([emitted, logged])).not.toContain('hunter2!')
    expect(logged[0]).toContain('the switch refuses the password')
  })

  it.each([
    [
      'refuses our address',
      'Content-Type: text/rude-rejection\nContent-Length: 24\n\nAccess Denied, go away.\n',
      'the switch refuses connections from this address (its acl)',
    ],
    [
      'speaks another protocol',
      'SSH-2.0-OpenSSH_9.2\r\n',
      'the peer does not speak the event socket protocol',
    ],
    [
      'replies without a command',
      'Content-Type: command/reply\nReply-Text: +OK\n\n',
      'a reply without a pending command',
    ],
  ])('%s is disconnected and retried', async (_, bytes, reason) => {
    const { disconnectReason, clock, of } = await connectSource({
      onConnection: (socket) => void socket.write(bytes),
    })
    expect(await disconnectReason()).toBe(reason)
    await clock.advance(200)
    expect(await disconnectReason(2)).toBe(reason)
    expect(of('connected')).toEqual([])
  })

  it('sends nothing at all is disconnected after the login timeout', async () => {
    const sockets: unknown[] = []
    const { disconnectReason, clock } = await connectSource({
      onConnection: (socket) => void sockets.push(socket),
    })
    await until(() => sockets.length > 0)
    await clock.runUntil(() => false, { limitMs: 10_000 }).catch(() => {})
    expect(await disconnectReason()).toBe('no login within 10 s')
  })

  it('refuses the events is disconnected', async () => {
    const { disconnectReason } = await connectSource({ event: '-ERR permission denied' })
    expect(await disconnectReason()).toBe('the switch refuses the events: -ERR permission denied')
  })

  it('shuts down ends its legs by events and then disconnects', async () => {
    const { fake, disconnectReason, source, published, inSync } = await connectSource({}, { format: 'plain' })
    await inSync()
    const bytes = bytesOf('plain-all')
    fake.send(bytes.subarray(bytes.indexOf('Content-Length')))
    expect(await disconnectReason()).toBe('the switch disconnected: The system is being shut down.')
    expect(source.status().openLegs).toBe(0)
    expect(published.at(-1)?.hangupCause).toBe('SYSTEM_SHUTDOWN')
  })

  it('disconnects in mid-event loses nothing: an event that is repeated after the reconnect is published once', async () => {
    const { fake, disconnectReason, published, inSync, reconnect } = await connectSource()
    await inSync()
    const create = legEvent('CHANNEL_CREATE', 'a')
    const answer = jsonFrame(legEvent('CHANNEL_ANSWER', 'a', { answeredMs: 10 }))
    fake.replies = { channels: ['a'] }
    fake.send(jsonFrame(create) + answer.slice(0, 300))
    await until(() => published.length === 1)
    fake.drop()
    expect(await disconnectReason()).toBe('the switch closed the connection')
    await reconnect()
    fake.send(answer)
    await until(() => published.length === 2)
    expect(hooks(published)).toEqual(['create', 'answer'])
  })

  it('sends an unreadable event causes a problem, and stays connected', async () => {
    const { fake, published, of, inSync } = await connectSource()
    await inSync()
    fake.send(
      `Content-Length: 9\nContent-Type: text/event-json\n\n{"broken"${jsonFrame(legEvent('CHANNEL_CREATE', 'a'))}`,
    )
    await until(() => published.length === 1)
    expect(of('problem')).toEqual([
      { kind: 'malformed', message: 'a json event of 9 bytes that cannot be read' },
    ])
  })
})

describe('after a reconnect', () => {
  /** Connects, opens these legs, disconnects, changes the replies and reconnects. */
  async function reconnected(before: readonly string[], replies: FakeReplies) {
    const made = await connectSource({ channels: before })
    await made.inSync()
    for (const uuid of before) made.fake.send(jsonFrame(legEvent('CHANNEL_CREATE', uuid)))
    await until(() => made.published.length === before.length)
    made.fake.commands.length = 0
    made.fake.replies = replies
    made.fake.drop()
    await made.disconnectReason()
    await made.reconnect()
    await until(() => made.fake.commands.includes('api show channels as json'))
    return made
  }

  it('a leg that no longer exists is ended, and another one stays open', async () => {
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
    for (const field of ['durationSeconds', 'ringingSeconds', 'billingSeconds', 'hangupCode'])
      expect(published[2]).not.toHaveProperty(field)
    expect(fake.commands).not.toContain('api uuid_exists b')
    expect(source.status().openLegs).toBe(1)
  })

  it('a leg that exists but is not listed stays open: the list lags behind', async () => {
    const { fake, published, clock } = await reconnected(['a'], {
      channels: [],
      dumps: { a: legEvent('CHANNEL_DATA', 'a') },
      api: (command) => (command === 'uuid_exists a' ? 'true' : undefined),
    })
    await until(() => fake.commands.includes('api uuid_exists a'))
    await clock.advance(10_000)
    expect(hooks(published)).toEqual(['create'])
  })

  it('an end event that arrives after the query ends the leg, with its cause', async () => {
    const { fake, published, clock } = await reconnected(['a'], { channels: [] })
    await until(() => fake.commands.includes('api uuid_exists a'))
    fake.send(jsonFrame(legEvent('CHANNEL_DESTROY', 'a', { cause: 'USER_BUSY' })))
    await until(() => published.length === 2)
    await clock.advance(10_000)
    expect(published.map((event) => event.hangupCause)).toEqual([undefined, 'USER_BUSY'])
  })

  it('a new leg with the id of a missing one is not ended', async () => {
    const { fake, published, clock, source } = await reconnected(['a'], { channels: [] })
    await until(() => fake.commands.includes('api uuid_exists a'))
    const again = { ...legEvent('CHANNEL_CREATE', 'a'), 'Caller-Channel-Created-Time': '1795173744000000' }
    fake.send(jsonFrame(legEvent('CHANNEL_DESTROY', 'a')) + jsonFrame(again))
    await until(() => published.length === 3)
    await clock.advance(10_000)
    expect(hooks(published)).toEqual(['create', 'destroy', 'create'])
    expect(source.status().openLegs).toBe(1)
  })

  it('a leg that began after the query is not ended', async () => {
    const { fake, published, clock } = await reconnected([], { channels: [] })
    fake.send(jsonFrame(legEvent('CHANNEL_CREATE', 'late')))
    await until(() => published.length === 1)
    await clock.advance(10_000)
    expect(hooks(published)).toEqual(['create'])
  })

  it('legs that began while disconnected are published with their own times, answered or not', async () => {
    const { fake, published } = await reconnected([], {
      channels: ['up', 'ringing', 'gone', 'not valid\n'],
      dumps: { up: legEvent('CHANNEL_DATA', 'up', { answeredMs: 2_000 }) },
      api: (command) => (command === 'uuid_dump gone json' ? '-ERR No such channel!\n' : undefined),
    })
    await until(() => published.length === 3)
    expect(fake.commands).toContain('api uuid_dump gone json')
    expect(fake.commands.join()).not.toContain('not valid')
    expect(hooks(published.filter(({ callId }) => callId === 'up'))).toEqual(['create', 'answer'])
    expect(hooks(published.filter(({ callId }) => callId === 'ringing'))).toEqual(['create'])
    expect(published.find((event) => event.hook === 'channel_answer')?.timestampMs).toBe(1_795_173_741_000)
  })

  it('a leg that an event opened during the query is not opened again by the reply', async () => {
    const dump = JSON.stringify(legEvent('CHANNEL_DATA', 'a', { answeredMs: 2_000 }))
    const { fake, published, clock } = await reconnected([], {
      channels: ['a'],
      api: (command) => {
        if (command !== 'uuid_dump a json') return undefined
        replyingFake.send(
          jsonFrame(legEvent('CHANNEL_CREATE', 'a')) +
            jsonFrame(legEvent('CHANNEL_ANSWER', 'a', { answeredMs: 2_000 })) +
            jsonFrame(legEvent('CHANNEL_DESTROY', 'a', { answeredMs: 2_000 })),
        )
        return dump
      },
      onReply(fake) {
        replyingFake = fake
      },
    })
    await until(() => fake.commands.includes('api uuid_dump a json'))
    await until(() => published.length === 3)
    await clock.advance(10_000)
    expect(hooks(published)).toEqual(['create', 'answer', 'destroy'])
  })

  it('a restart of the switch ends all earlier legs, even if their ids are reused', async () => {
    const { fake, published } = await reconnected(['a'], { channels: ['a'], coreUuid: 'another-run' })
    await until(() => published.length === 2)
    expect(published[1]).toMatchObject({ hook: 'channel_destroy', customChannelVars: { found_by: 'resync' } })
    fake.send(jsonFrame({ ...legEvent('CHANNEL_CREATE', 'a'), 'Core-UUID': 'another-run' }))
    await until(() => published.length === 3)
    expect(published[2]?.idempotencyKey).not.toBe(published[0]?.idempotencyKey)
    expect(published[0]?.idempotencyKey).toContain(CORE_UUID)
  })
})

let replyingFake: FakeSwitch

describe('a service without capacity', () => {
  it('pauses reading, and no event is lost', async () => {
    const published: ChannelEvent[] = []
    const { promise: gate, resolve: release } = deferred()
    const { fake, source, inSync } = await connectSource(
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
    // The rest stays in the switch's send buffer, however long it waits.
    for (let i = 0; i < 200; i += 1) await new Promise((resolve) => setImmediate(resolve))
    expect(source.status().waiting).toBeLessThan(3_000)
    expect([...fake.sockets][0]?.writableLength).toBeGreaterThan(1_000_000)
    release()
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
    ['optionalHooks', { optionalHooks: ['channel_create'] }],
    ['extraEvents', { extraEvents: ['CHANNEL_EXECUTE\n\napi shutdown'] }],
    ['connectTimeoutMs', { connectTimeoutMs: 0 }],
    ['silenceMs', { silenceMs: 1 }],
    ['maxOpenLegs', { maxOpenLegs: 0 }],
    ['pasword', { pasword: 'x' }],
  ])('a wrong %s is an InvalidOption that names it', (name, wrong) => {
    const make = () => freeswitchSource({ ...options, ...wrong } as unknown as FreeswitchSourceOptions)
    expect(make).toThrow(expect.objectContaining({ code: 'InvalidOption', field: name }))
    expect(make).not.toThrow('shutdown')
  })
})
