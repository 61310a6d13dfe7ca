import { accountFromVariable, freeswitchSource } from 'hookswitch/freeswitch'
import { until } from 'hookswitch/testkit'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { postgresForTests } from '../storage/pg-cluster.js'
import { type FakeSwitch, jsonFrame, legEvent, startFakeSwitch } from './freeswitch-fake.js'
import { createHost, type RunningNode, type StoreMaker, storeMakers } from './restarting.js'

const postgres = await postgresForTests()
afterAll(() => postgres?.end())

/** When the legs of `legEvent` began, microseconds. */
const CREATED_US = Number(legEvent('', '')['Caller-Channel-Created-Time'])
const ANSWERED = { answeredMs: 2_400 }

async function startHost(newStore: StoreMaker) {
  const fake = await startFakeSwitch()
  onTestFinished(() => fake.close())
  const host = createHost(newStore(), `freeswitch 127.0.0.1:${fake.port}`, (options) =>
    freeswitchSource({ ...options, port: fake.port, accountOf: accountFromVariable() }),
  )
  const listings = () => fake.commands.filter((command) => command.includes('show channels')).length
  return {
    fake,
    ...host,
    /** Starts a node whose resync has begun. */
    async start() {
      const before = listings()
      const node = await host.start()
      await until(() => listings() > before)
      return node
    },
  }
}

/** Sets the calls that the switch lists. */
function openCalls(fake: FakeSwitch, dumps: Readonly<Record<string, object>>): void {
  fake.replies = {
    channels: Object.keys(dumps),
    api: (command) => {
      const dump = dumps[command.replace(/^uuid_dump | json$/g, '')]
      return dump && JSON.stringify(dump)
    },
  }
}

/** Passes the time after which the missing legs of this many sources have ended. */
async function passGrace({ clock }: RunningNode, sources = 1): Promise<void> {
  // Each source sleeps until it checks its connection, and in the resync until a late end has arrived.
  await until(() => clock.sleepers().count === 2 * sources)
  await clock.advance(2_100)
}

const destroyEvent = (uuid: string) =>
  jsonFrame({
    ...legEvent('CHANNEL_DESTROY', uuid, ANSWERED),
    'Caller-Channel-Hangup-Time': String(CREATED_US + 11_800_000),
  })

describe.each(storeMakers(postgres))('a restart in mid-call of FreeSWITCH, with %s', (_, newStore) => {
  it('a call that ended meanwhile gets one channel_destroy, at the next start', async () => {
    const { fake, events, start, accepted, storedLegs } = await startHost(newStore)
    const first = await start()
    fake.send(
      jsonFrame(legEvent('CHANNEL_CREATE', 'a')) + jsonFrame(legEvent('CHANNEL_ANSWER', 'a', ANSWERED)),
    )
    await accepted(2)
    await first.stop()

    const second = await start()
    await passGrace(second)
    await accepted(3)
    const [created, , destroyed] = events
    expect(destroyed).toMatchObject({
      hook: 'channel_destroy',
      callId: 'a',
      direction: 'inbound',
      hangupCause: 'NORMAL_UNSPECIFIED',
      ringingSeconds: 2,
      customChannelVars: { 'Account-ID': 'acme', found_by: 'resync' },
    })
    expect(destroyed).not.toHaveProperty('durationSeconds')
    expect(destroyed).not.toHaveProperty('billingSeconds')
    expect(destroyed?.sequence).toBe(3)
    expect(created?.hook).toBe('channel_create')
    await second.stop()

    const third = await start()
    expect(await storedLegs(third)).toEqual([])
    await third.clock.advance(10_000)
    expect(events).toHaveLength(3)
  })

  it('a call that is still open is not published again, and its end has the times of before', async () => {
    const { fake, events, start, accepted, storedLegs } = await startHost(newStore)
    const first = await start()
    fake.send(
      jsonFrame(legEvent('CHANNEL_CREATE', 'a')) + jsonFrame(legEvent('CHANNEL_ANSWER', 'a', ANSWERED)),
    )
    await accepted(2)
    await first.stop()

    openCalls(fake, { a: legEvent('CHANNEL_DATA', 'a', ANSWERED) })
    const second = await start()
    await until(() => fake.commands.includes('api uuid_dump a json'))
    expect(await storedLegs(second)).toEqual(['a'])
    fake.send(destroyEvent('a'))
    await accepted(3)
    expect(events.map(({ hook }) => hook)).toEqual(['channel_create', 'channel_answer', 'channel_destroy'])
    expect(events[2]).toMatchObject({
      hangupCause: 'NORMAL_CLEARING',
      durationSeconds: 12,
      ringingSeconds: 3,
      billingSeconds: 9,
    })
    expect(events[2]?.customChannelVars).not.toHaveProperty('found_by')
    await second.stop()
    openCalls(fake, {})
    expect(await storedLegs(await start())).toEqual([])
  })

  it('a crash is as a restart, for every leg that was stored before', async () => {
    const { fake, events, start, accepted, storedLegs } = await startHost(newStore)
    const first = await start()
    fake.send(jsonFrame(legEvent('CHANNEL_CREATE', 'a')) + jsonFrame(legEvent('CHANNEL_CREATE', 'b')))
    await until(async () => (await storedLegs(first)).length === 2)
    const crashed = first.crash()
    fake.send(jsonFrame(legEvent('CHANNEL_ANSWER', 'b', ANSWERED)))
    await crashed

    openCalls(fake, { b: legEvent('CHANNEL_DATA', 'b', ANSWERED) })
    await passGrace(await start())
    await accepted(4)
    const found = events.slice(2).map(({ hook, callId }) => `${callId} ${hook}`)
    // The answer that the crash has lost is found with its own time.
    expect(found.sort()).toEqual(['a channel_destroy', 'b channel_answer'])
    expect(events.find(({ hook }) => hook === 'channel_answer')?.timestampMs).toBe(CREATED_US / 1000 + 2_400)
  })

  it('two nodes that start at once publish the end once', async () => {
    const { fake, events, start, accepted } = await startHost(newStore)
    const first = await start()
    fake.send(jsonFrame(legEvent('CHANNEL_CREATE', 'a')))
    await accepted(1)
    await first.stop()
    const node = await start()
    // A second source of the same host, as a second node has.
    const other = freeswitchSource({
      publish: node.hs.publish,
      openLegs: node.hs.openLegs,
      port: fake.port,
      accountOf: accountFromVariable(),
      clock: node.clock,
    })
    onTestFinished(() => other.close({ drainMs: 0 }))
    other.start()
    await until(() => other.status().isConnected)
    await passGrace(node, 2)
    await until(() => node.source.status().published + other.status().published === 2)
    expect(events.map(({ hook }) => hook)).toEqual(['channel_create', 'channel_destroy'])
  })
})

describe('open legs of a FreeSWITCH', () => {
  it('of an earlier run of the switch have ended', async () => {
    const [, memory] = storeMakers(undefined)[0]!
    const { fake, events, start, accepted } = await startHost(memory)
    const first = await start()
    fake.send(jsonFrame(legEvent('CHANNEL_CREATE', 'a')))
    await accepted(1)
    await first.stop()
    openCalls(fake, { a: { ...legEvent('CHANNEL_DATA', 'a'), 'Core-UUID': 'another-run' } })
    fake.replies = { ...fake.replies, coreUuid: 'another-run' }
    await start()
    await accepted(3)
    expect(events.slice(1).map(({ hook }) => hook)).toEqual(['channel_destroy', 'channel_create'])
    expect(events[1]?.customChannelVars).toMatchObject({ found_by: 'resync' })
  })

  it('that are still bridged and held are not published as bridged or held again', async () => {
    const [, memory] = storeMakers(undefined)[0]!
    const { fake, events, start, accepted } = await startHost(memory)
    const first = await start()
    const [bridgedUs, heldUs] = [CREATED_US + 3_000_000, CREATED_US + 4_000_000]
    const bridged = { 'Caller-Channel-Bridged-Time': String(bridgedUs) }
    const held = { 'Caller-Channel-Last-Hold': String(heldUs), 'Channel-Call-State': 'HELD' }
    for (const uuid of ['a', 'b']) fake.send(jsonFrame(legEvent('CHANNEL_CREATE', uuid)))
    for (const uuid of ['a', 'b']) fake.send(jsonFrame(legEvent('CHANNEL_ANSWER', uuid, ANSWERED)))
    const ends = { 'Bridge-A-Unique-ID': 'a', 'Bridge-B-Unique-ID': 'b' }
    fake.send(jsonFrame({ ...legEvent('CHANNEL_BRIDGE', 'a', ANSWERED), ...bridged, ...ends }))
    fake.send(jsonFrame({ ...legEvent('CHANNEL_HOLD', 'a', ANSWERED), ...bridged, ...held }))
    await accepted(7)
    await first.stop()

    const dump = (uuid: string, other: string, more = {}) => ({
      ...legEvent('CHANNEL_DATA', uuid, ANSWERED),
      ...bridged,
      ...more,
      variable_bridge_to: other,
    })
    openCalls(fake, { a: dump('a', 'b', held), b: dump('b', 'a') })
    const second = await start()
    await until(() => fake.commands.filter((command) => command.includes('uuid_dump')).length === 2)
    for (const uuid of ['a', 'b']) fake.send(destroyEvent(uuid))
    await accepted(9)
    await second.stop()
    expect(events.slice(7).map(({ hook, callId }) => `${callId} ${hook}`)).toEqual([
      'a channel_destroy',
      'b channel_destroy',
    ])
    expect(events[7]?.otherLegCallId).toBe('b')
  })

  it('that were renamed are found under their new ids', async () => {
    const [, memory] = storeMakers(undefined)[0]!
    const { fake, events, start, accepted } = await startHost(memory)
    const first = await start()
    fake.send(jsonFrame(legEvent('CHANNEL_CREATE', 'a')))
    await accepted(1)
    fake.send(jsonFrame({ ...legEvent('CHANNEL_UUID', 'b'), 'Old-Unique-ID': 'a' }))
    fake.send(jsonFrame(legEvent('CHANNEL_ANSWER', 'b', ANSWERED)))
    await accepted(2)
    await first.stop()
    openCalls(fake, { b: legEvent('CHANNEL_DATA', 'b', ANSWERED) })
    await start()
    await until(() => fake.commands.includes('api uuid_dump b json'))
    fake.send(destroyEvent('b'))
    await accepted(3)
    expect(events.map(({ hook, callId }) => `${callId} ${hook}`)).toEqual([
      'a channel_create',
      'a channel_answer',
      'a channel_destroy',
    ])
  })

  it('stay open when the switch refuses to name its run', async () => {
    const [, memory] = storeMakers(undefined)[0]!
    const { fake, start, accepted, storedLegs } = await startHost(memory)
    const first = await start()
    fake.send(jsonFrame(legEvent('CHANNEL_CREATE', 'a')))
    await accepted(1)
    await first.stop()
    openCalls(fake, { a: legEvent('CHANNEL_DATA', 'a') })
    fake.replies = { ...fake.replies, coreUuid: '-ERR' }
    const second = await start()
    await until(() => fake.commands.includes('api uuid_dump a json'))
    await second.clock.settle()
    expect(second.source.status().openLegs).toBe(1)
    expect(await storedLegs(second)).toEqual(['a'])
  })

  it.each(['its channel data', 'an event'])(
    'whose id another call of the same run uses have ended, by %s',
    async (evidence) => {
      const [, memory] = storeMakers(undefined)[0]!
      const { fake, events, start, accepted, storedLegs } = await startHost(memory)
      const first = await start()
      fake.send(
        jsonFrame(legEvent('CHANNEL_CREATE', 'a')) + jsonFrame(legEvent('CHANNEL_ANSWER', 'a', ANSWERED)),
      )
      await accepted(2)
      await first.stop()

      const later = { 'Caller-Channel-Created-Time': String(CREATED_US + 60_000_000) }
      openCalls(fake, { a: { ...legEvent('CHANNEL_DATA', 'a'), ...later } })
      if (evidence === 'an event') {
        const api = (command: string) => (command.startsWith('uuid_dump') ? '-ERR' : undefined)
        fake.replies = { ...fake.replies, api }
      }
      const second = await start()
      if (evidence === 'an event') fake.send(jsonFrame({ ...legEvent('CHANNEL_PROGRESS', 'a'), ...later }))
      await accepted(4)
      expect(events.slice(2).map(({ hook }) => hook)).toEqual(['channel_destroy', 'channel_create'])
      expect(events[2]).toMatchObject({ customChannelVars: { found_by: 'resync' } })
      expect(events[3]?.timestampMs).toBe(CREATED_US / 1000 + 60_000)
      await until(async () => (await storedLegs(second)).length === 1)
      // An event of the ended leg that comes late does not concern the other.
      fake.send(destroyEvent('a'))
      const end = { 'Caller-Channel-Hangup-Time': String(CREATED_US + 90_000_000) }
      fake.send(jsonFrame({ ...legEvent('CHANNEL_DESTROY', 'a'), ...later, ...end }))
      await accepted(5)
      expect(events[4]).toMatchObject({ hook: 'channel_destroy', durationSeconds: 30, billingSeconds: 0 })
      expect(second.source.status().openLegs).toBe(0)
    },
  )
})
