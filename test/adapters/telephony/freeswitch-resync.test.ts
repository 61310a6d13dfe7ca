import type { ChannelEvent } from 'hookswitch'
import { accountFromVariable, freeswitchSource } from 'hookswitch/freeswitch'
import { fakeFreeswitch, until } from 'hookswitch/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type FakeReplies, jsonFrame, legEvent, startFakeSwitch } from './freeswitch-fake.js'
import { createdMs, hooks, mapAll, time } from './freeswitch-mapped.js'
import { bytesOf, recordedEvents } from './freeswitch-recorded.js'
import { observeSource } from './observe-source.js'

const since = (ms: number) => ({ 'Caller-Channel-Bridged-Time': time(ms) })
const answered = (uuid: string, headers: Record<string, string> = {}, name = 'CHANNEL_DATA') => ({
  ...legEvent(name, uuid, { answeredMs: 1_000 }),
  ...headers,
})
const bridged = (uuid: string, other: string, ms: number, headers: Record<string, string> = {}) =>
  answered(uuid, { ...since(ms), variable_bridge_to: other, ...headers })
const bridgeEvent = (a: string, b: string, ms: number) =>
  answered(
    a,
    {
      'Bridge-A-Unique-ID': a,
      'Bridge-B-Unique-ID': b,
      'Event-Date-Timestamp': time(ms),
      ...since(ms),
    },
    'CHANNEL_BRIDGE',
  )
const hold = (uuid: string, ms: number, name = 'CHANNEL_HOLD', earlierMs = 0) =>
  answered(
    uuid,
    {
      'Channel-Call-State': name === 'CHANNEL_UNHOLD' ? 'UNHELD' : 'HELD',
      'Caller-Channel-Last-Hold': time(ms),
      'Caller-Channel-Hold-Accum': String(earlierMs * 1_000),
      'Event-Date-Timestamp': time(ms),
    },
    name,
  )

/** Connects, receives these events, is disconnected, and reconnects to a switch that replies like this. */
async function reconnected(before: readonly Record<string, string>[], replies: FakeReplies) {
  const fake = await startFakeSwitch({ channels: [] })
  onTestFinished(() => fake.close())
  const { source, clock, published, logged } = observeSource((deps) =>
    freeswitchSource({ ...deps, accountOf: accountFromVariable(), port: fake.port }),
  )
  source.start()
  const isListed = () => fake.commands.includes('api show channels as json')
  await until(isListed)
  fake.send(before.map(jsonFrame).join(''))
  const legs = new Set(before.map((event) => event['Unique-ID']))
  await until(() => source.status().openLegs === legs.size && source.status().waiting === 0)
  const known = published.splice(0)
  fake.commands.length = 0
  fake.replies = replies
  fake.drop()
  await until(() => !source.status().isConnected)
  await clock.advance(200)
  await until(isListed)
  /** The resync is over: a leg that begins now is published after everything that was found. */
  const settled = async () => {
    await until(() => fake.sockets.size === 1)
    const expected = replies.channels?.length ?? 0
    await until(
      () => fake.commands.filter((command) => command.startsWith('api uuid_dump')).length === expected,
    )
    fake.send(jsonFrame(legEvent('CHANNEL_CREATE', 'last')))
    await until(() => published.some(({ callId }) => callId === 'last'))
    return published.filter(({ callId }) => callId !== 'last')
  }
  return { fake, clock, published, known, logged, source, settled }
}

describe('after a reconnect, of two legs that were open before', () => {
  const create = (uuid: string) => answered(uuid, {}, 'CHANNEL_ANSWER')

  it('a bridge that exists now is published for both, with its own time and the key of the missed event', async () => {
    const legs = [create('a'), create('b')]
    const missed = bridgeEvent('a', 'b', 3_000)
    const heard = await reconnected([...legs, missed], { channels: [] })
    const { settled } = await reconnected(legs, {
      channels: ['a', 'b'],
      dumps: { a: bridged('a', 'b', 3_000), b: bridged('b', 'a', 3_000) },
    })
    const found = await settled()
    expect(found.map((e) => [e.hook, e.callId, e.otherLegCallId, e.timestampMs])).toEqual([
      ['channel_bridge', 'a', 'b', createdMs + 3_000],
      ['channel_bridge', 'b', 'a', createdMs + 3_000],
    ])
    for (const event of found) expect(event.customChannelVars).toMatchObject({ found_by: 'resync' })
    const keys = (events: readonly ChannelEvent[]) =>
      events.filter((e) => e.hook === 'channel_bridge').map((e) => e.idempotencyKey)
    expect(keys(found)).toEqual(keys(heard.known))
  })

  it('a bridge that was published before is not published again', async () => {
    const { settled, known } = await reconnected([create('a'), create('b'), bridgeEvent('a', 'b', 3_000)], {
      channels: ['a', 'b'],
      dumps: { a: bridged('a', 'b', 3_000), b: bridged('b', 'a', 3_000) },
    })
    expect(hooks(known).filter((hook) => hook === 'bridge')).toHaveLength(2)
    expect(await settled()).toEqual([])
  })

  it('the event of a bridge that arrives after the channel data is not published again', async () => {
    const { fake, published, settled } = await reconnected([create('a'), create('b')], {
      channels: ['a', 'b'],
      dumps: { a: bridged('a', 'b', 3_000), b: bridged('b', 'a', 3_000) },
    })
    await until(() => published.length === 2)
    fake.send(jsonFrame(bridgeEvent('a', 'b', 3_000)))
    expect(hooks(await settled())).toEqual(['bridge', 'bridge'])
  })

  it('a leg that ends before all channel data are read is not bridged after its end', async () => {
    const replies: FakeReplies = {
      channels: ['a', 'b', 'c'],
      dumps: { a: bridged('a', 'b', 3_000), b: bridged('b', 'a', 3_000) },
      onReply({ commands, send }) {
        if (commands.at(-1) === 'api uuid_dump c json') send(jsonFrame(legEvent('CHANNEL_DESTROY', 'a')))
      },
    }
    const { settled } = await reconnected([create('a'), create('b'), create('c')], replies)
    const found = await settled()
    expect(found.map(({ hook, callId }) => [hook, callId])).toEqual([['channel_destroy', 'a']])
  })

  it('a leg that was bridged with another one meanwhile has that bridge, and the other is kept to its end', async () => {
    const { fake, published, settled } = await reconnected(
      [create('a'), create('b'), create('c'), bridgeEvent('a', 'b', 3_000)],
      {
        channels: ['a', 'b', 'c'],
        dumps: { a: bridged('a', 'c', 5_000), b: answered('b'), c: bridged('c', 'a', 5_000) },
      },
    )
    const found = await settled()
    expect(found.map((e) => [e.hook, e.callId, e.otherLegCallId])).toEqual([
      ['channel_bridge', 'a', 'c'],
      ['channel_bridge', 'c', 'a'],
    ])
    fake.send(jsonFrame(answered('a', {}, 'CHANNEL_DESTROY')))
    await until(() => published.some((e) => e.hook === 'channel_destroy'))
    expect(published.at(-1)).toMatchObject({ callId: 'a', otherLegCallId: 'c' })
  })

  it('two phones behind a loopback pair are published as bridged with each other', async () => {
    const half = (uuid: string, other: string) => ({
      'Channel-Name': `loopback/2001-${uuid}`,
      variable_other_loopback_leg_uuid: other,
    })
    const { settled } = await reconnected([], {
      channels: ['a', 'loop-a', 'loop-b', 'b'],
      dumps: {
        a: bridged('a', 'loop-a', 4_000),
        'loop-a': bridged('loop-a', 'a', 4_000, half('loop-a', 'loop-b')),
        'loop-b': bridged('loop-b', 'b', 3_000, half('loop-b', 'loop-a')),
        b: bridged('b', 'loop-b', 3_000),
      },
    })
    const found = (await settled()).filter((e) => e.hook === 'channel_bridge' && !e.isInternalLeg)
    expect(found.map((e) => [e.callId, e.otherLegCallId, e.timestampMs])).toEqual([
      ['a', 'b', createdMs + 4_000],
      ['b', 'a', createdMs + 4_000],
    ])
  })

  it('a held leg that began meanwhile has its bridge before its hold, and all is marked as found', async () => {
    const held = { ...hold('a', 4_000, 'CHANNEL_DATA'), ...since(3_000), variable_bridge_to: 'b' }
    const { settled } = await reconnected([], {
      channels: ['a', 'b'],
      dumps: { a: held, b: bridged('b', 'a', 3_000) },
    })
    const found = await settled()
    expect(hooks(found.filter(({ callId }) => callId === 'a'))).toEqual([
      'create',
      'answer',
      'bridge',
      'hold',
    ])
    expect(hooks(found.filter(({ callId }) => callId === 'b'))).toEqual(['create', 'answer', 'bridge'])
    for (const event of found) expect(event.customChannelVars).toMatchObject({ found_by: 'resync' })
  })

  it('a hold that was missed precedes its end, which arrives before all channel data are read', async () => {
    const { settled } = await reconnected([create('a'), create('b')], {
      channels: ['a', 'b'],
      dumps: { a: hold('a', 4_000, 'CHANNEL_DATA') },
      onReply({ commands, send }) {
        if (commands.at(-1) !== 'api uuid_dump b json') return
        send(jsonFrame(hold('a', 4_000, 'CHANNEL_UNHOLD')))
      },
    })
    expect(hooks((await settled()).filter(({ callId }) => callId === 'a'))).toEqual(['hold', 'unhold'])
  })

  it('a hold that exists now is published once, though its event arrives too', async () => {
    const { fake, published, settled } = await reconnected([create('a')], {
      channels: ['a'],
      dumps: { a: hold('a', 4_000, 'CHANNEL_DATA') },
    })
    await until(() => published.length === 1)
    fake.send(jsonFrame(hold('a', 4_000)))
    const found = await settled()
    expect(hooks(found)).toEqual(['hold'])
    expect(found[0]).toMatchObject({
      timestampMs: createdMs + 4_000,
      customChannelVars: { found_by: 'resync' },
    })
  })

  it('a hold that has ended meanwhile is ended, at the time at which it ended', async () => {
    const { settled } = await reconnected([create('a'), hold('a', 4_000)], {
      channels: ['a'],
      dumps: {
        a: answered('a', {
          'Channel-Call-State': 'ACTIVE',
          'Caller-Channel-Last-Hold': time(4_000),
          'Caller-Channel-Hold-Accum': '1500000',
          'Event-Date-Timestamp': time(60_000),
        }),
      },
    })
    const found = await settled()
    expect(hooks(found)).toEqual(['unhold'])
    expect(found[0]?.timestampMs).toBe(createdMs + 5_500)
  })

  it('a hold that was followed by another one has its end and the new one its begin', async () => {
    const { settled } = await reconnected([create('a'), hold('a', 4_000)], {
      channels: ['a'],
      dumps: { a: hold('a', 9_000, 'CHANNEL_DATA', 1_500) },
    })
    const found = await settled()
    expect(found.map((e) => [e.hook, e.timestampMs])).toEqual([
      ['channel_unhold', createdMs + 5_500],
      ['channel_hold', createdMs + 9_000],
    ])
  })

  it('an answer that was missed has its own time', async () => {
    const { settled } = await reconnected([legEvent('CHANNEL_CREATE', 'a')], {
      channels: ['a'],
      dumps: { a: answered('a') },
    })
    const found = await settled()
    expect(found.map((e) => [e.hook, e.timestampMs])).toEqual([['channel_answer', createdMs + 1_000]])
  })

  it('one that ended unheard has no duration but the time before its answer, which was heard', async () => {
    const { published, clock } = await reconnected([create('a'), legEvent('CHANNEL_CREATE', 'b')], {})
    await until(async () => {
      await clock.advance(1_000)
      return published.length === 2
    })
    const durations = published.map(({ callId, durationSeconds, ringingSeconds, billingSeconds }) => ({
      callId,
      durationSeconds,
      ringingSeconds,
      billingSeconds,
    }))
    const unknown = { durationSeconds: undefined, ringingSeconds: undefined, billingSeconds: undefined }
    expect(durations).toEqual([
      { callId: 'a', ...unknown, ringingSeconds: 1 },
      { callId: 'b', ...unknown },
    ])
  })
})

describe('a switch that', () => {
  it('lists a channel twice has one leg', async () => {
    const { fake, settled } = await reconnected([], { channels: ['a'], api: listOf('a', 'a') })
    expect(hooks(await settled())).toEqual(['create'])
    expect(fake.commands.filter((command) => command === 'api uuid_dump a json')).toHaveLength(1)
  })

  it('lists a channel that has ended does not keep its leg open', async () => {
    const { published, clock } = await reconnected([legEvent('CHANNEL_CREATE', 'a')], {
      api: listOf('a'),
    })
    await until(async () => {
      await clock.advance(1_000)
      return published.length === 1
    })
    expect(hooks(published)).toEqual(['destroy'])
  })

  it.each([
    ['half a list', '{"row_count":2,"rows":[{"uuid":"a"},'],
    ['an error', '-ERR Database error!\n'],
    ['another object', '{"rows":7}'],
  ])(
    'replies with %s has one line in the log, and its open legs are checked one by one',
    async (_, reply) => {
      const { fake, logged, settled } = await reconnected([legEvent('CHANNEL_CREATE', 'a')], {
        channels: ['a'],
        api: (command) => (command === 'show channels as json' ? reply : undefined),
      })
      expect(await settled()).toEqual([])
      expect(fake.commands).toContain('api uuid_exists a')
      expect(logged.filter((line) => line.includes('the list of channels cannot be read'))).toHaveLength(1)
    },
  )

  it('replies with half of the data of a channel has one line in the log, and the others are read', async () => {
    const { logged, settled } = await reconnected([], {
      channels: ['a', 'b'],
      api: (command) => (command === 'uuid_dump a json' ? '{"Event-Name":"CHANNEL_' : undefined),
    })
    expect((await settled()).map(({ callId }) => callId)).toEqual(['b'])
    expect(logged.filter((line) => line.includes('the data of a channel cannot be read'))).toHaveLength(1)
  })

  it('was restarted has one line in the log, and legs with the same ids are other legs', async () => {
    const restarted = { 'Core-UUID': 'another-run', 'Caller-Channel-Created-Time': time(0) }
    const { fake, published, logged } = await reconnected([legEvent('CHANNEL_CREATE', 'a')], {
      coreUuid: 'another-run',
      channels: ['a'],
      dumps: { a: { ...legEvent('CHANNEL_DATA', 'a'), ...restarted } },
    })
    await until(() => published.length === 2)
    fake.send(jsonFrame({ ...legEvent('CHANNEL_DESTROY', 'a'), ...restarted }))
    await until(() => published.length === 3)
    expect(published.map((e) => [e.hook, e.customChannelVars?.found_by])).toEqual([
      ['channel_destroy', 'resync'],
      ['channel_create', 'resync'],
      ['channel_destroy', undefined],
    ])
    expect(new Set(published.map((e) => e.idempotencyKey)).size).toBe(3)
    expect(logged.filter((line) => line.includes('the switch was restarted'))).toHaveLength(1)
  })

  it('sends a variable of 1 MiB stays connected, and loses nothing', async () => {
    const { fake, published, source } = await reconnected([], { channels: [] })
    const large = { ...legEvent('CHANNEL_CREATE', 'a', { padding: 1_048_576 }) }
    fake.send(jsonFrame(large) + jsonFrame(legEvent('CHANNEL_CREATE', 'b')))
    await until(() => published.length === 2)
    expect(published.map(({ callId }) => callId)).toEqual(['a', 'b'])
    expect(source.status().isConnected).toBe(true)
  })
})

const listOf =
  (...uuids: readonly string[]) =>
  (command: string) =>
    command === 'show channels as json'
      ? JSON.stringify({ row_count: uuids.length, rows: uuids.map((uuid) => ({ uuid })) })
      : undefined

describe('a connection that is lost in the recorded calls', () => {
  it.each([60, 150, 260, 400])(
    'after %i events, all bridges and holds are published, once',
    async (cutAt) => {
      const fake = fakeFreeswitch({ recording: bytesOf('json'), speed: Number.POSITIVE_INFINITY })
      onTestFinished(() => fake.close())
      const port = await fake.start()
      const { source, clock, published } = observeSource((deps) =>
        freeswitchSource({
          ...deps,
          accountOf: (facts) => accountFromVariable()(facts) ?? 'nobody',
          optionalHooks: [],
          port,
        }),
      )
      source.start()
      await fake.waitFor('subscribed')
      await fake.advance(cutAt)
      const before = mapAll(recordedEvents('json').slice(0, cutAt), { accountOf: () => 'nobody' })
      await until(() => published.length === before.published.length)
      fake.cut()
      await until(() => !source.status().isConnected)
      await clock.advance(200)
      await fake.waitFor('subscribed', 2)
      await until(() => source.status().isConnected)
      await fake.advance(fake.length)
      await until(async () => {
        await clock.advance(1_000)
        return source.status().openLegs === 0 && source.status().waiting === 0
      })
      const keys = published.map((event) => event.idempotencyKey)
      expect(new Set(keys).size).toBe(keys.length)
      const whole = mapAll(recordedEvents('json'), { accountOf: () => 'nobody' })
      const talks = (events: readonly ChannelEvent[]) =>
        events
          .filter((event) => /bridge|hold/.test(event.hook))
          .map((event) => event.idempotencyKey)
          .sort()
      expect(talks(published)).toEqual(talks(whole.published))
    },
  )
})
