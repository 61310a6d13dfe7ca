import {
  type AsteriskAmiOptions,
  accountFromAccountCode,
  asteriskAmi,
  asteriskAri,
} from 'hookswitch/asterisk'
import { until } from 'hookswitch/testkit'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { postgresForTests } from '../storage/pg-cluster.js'
import { channelEvent, channelFields, list, startAmiServer } from './asterisk-ami-server.js'
import { ariChannel, ariEvent, startAriServer } from './asterisk-ari-server.js'
import { jsonFrame, legEvent } from './freeswitch-fake.js'
import { CREATED_US, openCalls, passGrace, startFreeswitch } from './freeswitch-restarting.js'
import { createHost, type Host, type RunningNode, type StoreMaker, storeMakers } from './restarting.js'

const postgres = await postgresForTests()
afterAll(() => postgres?.end())

const T0 = 1_767_225_600_000
const ID = '1767225600.7'
const OTHER = '1767225600.8'

/** A fake switch with a few calls. */
interface FakeSwitch extends Host {
  /** The numbers of each leg, as events have them. */
  readonly numbers: object
  /** The time of an answer at `T0` + 2.4 s, as a list of calls shows it. Absent: it shows none. */
  readonly answeredMs?: number
  /** The newest connection has an event of a leg. */
  begin(id: string, atMs: number): void
  answer(id: string, atMs: number): void
  bridge(ids: readonly string[], atMs: number): void
  hold(id: string, atMs: number): void
  hangUp(id: string, atMs: number): void
  /** The channels of the next list: answered, in one bridge if there are two. */
  listNext(...ids: string[]): void
  /** Passes the time after which legs that the list lacks have ended. */
  passGrace(node: RunningNode): Promise<void>
}

/** A fake Asterisk as both interfaces show it. */
interface FakeAsterisk extends FakeSwitch {
  /** The newest connection is lost. */
  cut(): void
  /** The next list has one ringing channel. */
  listBegun(id: string, name: string, createdMs: number, nowMs: number): void
}

const NUMBERED = { numbers: { from: '1001', to: '2001' }, passGrace: async () => {} }

async function startAmi(newStore: StoreMaker): Promise<FakeAsterisk> {
  const server = await startAmiServer()
  onTestFinished(() => server.close())
  const options: Pick<AsteriskAmiOptions, 'username' | 'secret' | 'accountOf'> = {
    username: 'hookswitch',
    secret: 'secret',
    accountOf: accountFromAccountCode(),
  }
  const host = createHost(newStore(), `asterisk 127.0.0.1:${server.port}`, (shared) =>
    asteriskAmi({ ...shared, ...options, port: server.port }),
  )
  const send = (name: string, id: string, atMs: number, over = {}) =>
    void server.connections.at(-1)?.send(channelEvent(name, id, atMs, over))
  const bridge = { BridgeUniqueid: 'bridge', BridgeType: 'basic', BridgeTechnology: 'simple_bridge' }
  return {
    ...host,
    ...NUMBERED,
    begin: (id, atMs) => send('Newchannel', id, atMs),
    answer: (id, atMs) => send('Newstate', id, atMs, { ChannelState: 6 }),
    bridge(ids, atMs) {
      for (const id of ids) send('BridgeEnter', id, atMs, { ...bridge, ChannelState: 6 })
    },
    hold: (id, atMs) => send('Hold', id, atMs, { ChannelState: 6 }),
    hangUp: (id, atMs) => send('Hangup', id, atMs, { ChannelState: 6, Cause: 16 }),
    cut: () => void server.connections.at(-1)?.socket.destroy(),
    listNext(...ids) {
      const bridgeId = ids.length === 2 ? { BridgeId: 'bridge' } : {}
      server.responses.channelList = ({ ActionID }) =>
        list(
          ActionID,
          ids.map((id) => channelFields(id, { ChannelState: 6, ...bridgeId })),
        )
    },
    listBegun(id, name, createdMs, nowMs) {
      const Duration = new Date(nowMs - createdMs).toISOString().slice(11, 19)
      server.responses.channelList = ({ ActionID }) =>
        list(ActionID, [channelFields(id, { Channel: name, Duration })])
    },
  }
}

async function startAri(newStore: StoreMaker): Promise<FakeAsterisk> {
  const server = await startAriServer()
  onTestFinished(() => server.close())
  const host = createHost(newStore(), `asterisk ${server.url}`, (shared) =>
    asteriskAri({
      ...shared,
      url: server.url,
      username: 'hookswitch',
      password: 'secret',
      accountOf: accountFromAccountCode(),
    }),
  )
  const up = { state: 'Up' }
  const bridge = { id: 'bridge', technology: 'simple_bridge', bridge_type: 'mixing', channels: [] }
  const send = (type: string, id: string, atMs: number, over = {}, more = {}) =>
    void server.peers.at(-1)?.send(ariEvent(type, id, atMs, over, more))
  return {
    ...host,
    ...NUMBERED,
    begin: (id, atMs) =>
      send('ChannelCreated', id, atMs, {
        creationtime: new Date(atMs).toISOString().replace('Z', '+0000'),
      }),
    answer: (id, atMs) => send('ChannelStateChange', id, atMs, up),
    bridge(ids, atMs) {
      for (const id of ids) send('ChannelEnteredBridge', id, atMs, up, { bridge })
    },
    hold: (id, atMs) => send('ChannelHold', id, atMs, up),
    hangUp: (id, atMs) => send('ChannelDestroyed', id, atMs, up, { cause: 16, cause_txt: 'Normal Clearing' }),
    cut: () => void server.peers.at(-1)?.socket.destroy(),
    listNext(...ids) {
      server.responses.channels = () => ids.map((id) => ariChannel(id, up))
      server.responses.bridges = () => (ids.length === 2 ? [{ ...bridge, channels: ids }] : [])
    },
    listBegun(id, name, createdMs) {
      const creationtime = new Date(createdMs).toISOString().replace('Z', '+0000')
      server.responses.channels = () => [ariChannel(id, { name, creationtime })]
      server.responses.bridges = () => []
    },
  }
}

async function startFreeswitchCalls(newStore: StoreMaker): Promise<FakeSwitch> {
  const { fake, ...host } = await startFreeswitch(newStore)
  /** What events and lists say of each leg, beside the fields of `legEvent`. */
  const legs = new Map<string, Readonly<Record<string, string>>>()
  const timeOf = (atMs: number) => String(CREATED_US + (atMs - T0) * 1_000)
  const change = (id: string, fields: Readonly<Record<string, string>>) =>
    void legs.set(id, { ...legs.get(id), ...fields })
  const send = (name: string, id: string, fields = {}, ofEvent = {}) => {
    change(id, fields)
    fake.send(jsonFrame({ ...legEvent(name, id), ...legs.get(id), ...ofEvent }))
  }
  let listed = 0
  const dumps = () => fake.commands.filter((command) => command.includes('uuid_dump')).length
  return {
    ...host,
    numbers: {},
    answeredMs: CREATED_US / 1_000 + 2_400,
    async start() {
      const before = dumps()
      const node = await host.start()
      await until(() => dumps() - before >= listed)
      return node
    },
    begin: (id) => send('CHANNEL_CREATE', id),
    answer: (id, atMs) => send('CHANNEL_ANSWER', id, { 'Caller-Channel-Answered-Time': timeOf(atMs) }),
    bridge([first = '', second = ''], atMs) {
      const bridged = { 'Caller-Channel-Bridged-Time': timeOf(atMs) }
      change(second, { ...bridged, variable_bridge_to: first })
      const ends = { 'Bridge-A-Unique-ID': first, 'Bridge-B-Unique-ID': second }
      send('CHANNEL_BRIDGE', first, { ...bridged, variable_bridge_to: second }, ends)
    },
    hold: (id, atMs) =>
      send('CHANNEL_HOLD', id, { 'Caller-Channel-Last-Hold': timeOf(atMs), 'Channel-Call-State': 'HELD' }),
    hangUp: (id, atMs) => send('CHANNEL_DESTROY', id, { 'Caller-Channel-Hangup-Time': timeOf(atMs) }),
    listNext(...ids) {
      listed = ids.length
      openCalls(
        fake,
        Object.fromEntries(ids.map((id) => [id, { ...legEvent('CHANNEL_DATA', id), ...legs.get(id) }])),
      )
    },
    passGrace,
  }
}

const interfaces = [
  ['AMI', startAmi],
  ['ARI', startAri],
] as const
const switches = [
  ['Asterisk over AMI', startAmi],
  ['Asterisk over ARI', startAri],
  ['FreeSWITCH', startFreeswitchCalls],
] as const
const combinations = switches.flatMap(([name, startFake]) =>
  storeMakers(postgres).map(([store, newStore]) => [name, store, () => startFake(newStore)] as const),
)

describe.each(combinations)('a restart in mid-call of %s, with %s', (_, _store, startFake) => {
  it('a call that ended meanwhile gets one channel_destroy, at the next start', async () => {
    const { begin, answer, events, numbers, passGrace, start, accepted, storedLegs } = await startFake()
    const first = await start()
    begin(ID, T0)
    answer(ID, T0 + 2_400)
    await accepted(2)
    await first.stop()

    const second = await start()
    await passGrace(second)
    await accepted(3)
    expect(events[2]).toMatchObject({
      hook: 'channel_destroy',
      callId: ID,
      sequence: 3,
      direction: 'inbound',
      ...numbers,
      hangupCause: 'NORMAL_UNSPECIFIED',
      ringingSeconds: 2,
      customChannelVars: { found_by: 'resync' },
    })
    for (const field of ['durationSeconds', 'billingSeconds', 'hangupCode'])
      expect(events[2]).not.toHaveProperty(field)
    await second.stop()

    const third = await start()
    expect(await storedLegs(third)).toEqual([])
    await third.clock.advance(10_000)
    expect(events).toHaveLength(3)
  })

  it('a call that is still open is not published again, and its end has the times of before', async () => {
    const { begin, answer, hangUp, listNext, events, start, accepted, storedLegs } = await startFake()
    const first = await start()
    begin(ID, T0)
    answer(ID, T0 + 2_400)
    await accepted(2)
    await first.stop()

    listNext(ID)
    const second = await start()
    expect(await storedLegs(second)).toEqual([ID])
    hangUp(ID, T0 + 11_800)
    await accepted(3)
    expect(events.map(({ hook }) => hook)).toEqual(['channel_create', 'channel_answer', 'channel_destroy'])
    expect(events[2]).toMatchObject({
      hangupCause: 'NORMAL_CLEARING',
      durationSeconds: 11,
      ringingSeconds: 2,
      billingSeconds: 9,
    })
    expect(events[2]?.customChannelVars ?? {}).not.toHaveProperty('found_by')
    await second.stop()
    listNext()
    expect(await storedLegs(await start())).toEqual([])
  })

  it('a crash is as a restart, for every leg that was stored before', async () => {
    const fake = await startFake()
    const { begin, answer, listNext, events, start, accepted, storedLegs } = fake
    const first = await start()
    begin(ID, T0)
    begin(OTHER, T0)
    await until(async () => (await storedLegs(first)).length === 2)
    const crashed = first.crash()
    answer(OTHER, T0 + 2_400)
    await crashed

    listNext(OTHER)
    await fake.passGrace(await start())
    await accepted(4)
    const found = events.slice(2).map(({ hook, callId }) => `${callId} ${hook}`)
    expect(found.sort()).toEqual([`${ID} channel_destroy`, `${OTHER} channel_answer`])
    const answered = events.find(({ hook }) => hook === 'channel_answer')
    if (fake.answeredMs !== undefined) expect(answered?.timestampMs).toBe(fake.answeredMs)
  })
})

describe.each(switches)('open legs of %s', (_, startFake) => {
  it('that are still bridged and held are not published as bridged or held again', async () => {
    const [, memory] = storeMakers(undefined)[0]!
    const fake = await startFake(memory)
    const { begin, answer, bridge, hold, hangUp, listNext, events, start, accepted } = fake
    const first = await start()
    for (const id of [ID, OTHER]) begin(id, T0)
    for (const id of [ID, OTHER]) answer(id, T0 + 1_000)
    bridge([ID, OTHER], T0 + 1_100)
    hold(ID, T0 + 2_000)
    await accepted(7)
    await first.stop()

    listNext(ID, OTHER)
    const second = await start()
    await until(() => second.source.status().openLegs === 2)
    hangUp(ID, T0 + 5_000)
    hangUp(OTHER, T0 + 5_000)
    await accepted(9)
    expect(events.slice(7).map(({ hook, callId }) => `${callId} ${hook}`)).toEqual([
      `${ID} channel_destroy`,
      `${OTHER} channel_destroy`,
    ])
    expect(events[7]?.otherLegCallId).toBe(OTHER)
  })
})

describe.each(interfaces)('an id that the host chose, used again over %s', (_, startFake) => {
  const CHOSEN = 'order-17'
  const NAME = `PJSIP/1001-${CHOSEN}`

  /** A leg with the chosen id is answered at 2.4 s. */
  async function startAnswered() {
    const [, memory] = storeMakers(undefined)[0]!
    const fake = await startFake(memory)
    const node = await fake.start()
    fake.begin(CHOSEN, T0)
    fake.answer(CHOSEN, T0 + 2_400)
    await fake.accepted(2)
    return { ...fake, node }
  }

  it('by another call while hookswitch was down ends the stored leg and begins another', async () => {
    const { node, listBegun, start, accepted, events, storedLegs } = await startAnswered()
    await node.stop()
    listBegun(CHOSEN, 'PJSIP/2002-0000000b', T0 + 20_000, T0 + 30_000)
    const second = await start(T0 + 30_000)
    await accepted(4)
    expect(events.slice(2).map(({ hook }) => hook)).toEqual(['channel_destroy', 'channel_create'])
    expect(events[2]).toMatchObject({ from: '1001', customChannelVars: { found_by: 'resync' } })
    expect(events[2]).not.toHaveProperty('durationSeconds')
    expect(events[3]?.timestampMs).toBe(T0 + 20_000)
    await until(async () => (await storedLegs(second)).length === 1)
    expect(second.source.status().openLegs).toBe(1)
  })

  it('by a restarted Asterisk, whose channel names begin anew, is another call', async () => {
    const { node, listBegun, start, accepted, events } = await startAnswered()
    await node.stop()
    listBegun(CHOSEN, NAME, T0 + 600_000, T0 + 630_000)
    await start(T0 + 630_000)
    await accepted(4)
    expect(events.slice(2).map(({ hook }) => hook)).toEqual(['channel_destroy', 'channel_create'])
  })

  it('by a channel that only has another name is the same call', async () => {
    const { node, listBegun, hangUp, start, accepted, events } = await startAnswered()
    await node.stop()
    listBegun(CHOSEN, 'PJSIP/2002-0000000b', T0, T0 + 30_000)
    await start(T0 + 30_000)
    hangUp(CHOSEN, T0 + 31_000)
    await accepted(3)
    expect(events[2]).toMatchObject({ hook: 'channel_destroy', durationSeconds: 31 })
  })

  it('by another call while the connection was lost begins another leg, even if the end of the first was seen', async () => {
    const { node, listBegun, hangUp, cut, accepted, events } = await startAnswered()
    hangUp(CHOSEN, T0 + 5_000)
    await accepted(3)
    listBegun(CHOSEN, 'PJSIP/2002-0000000b', T0 + 20_000, T0 + 30_000)
    node.clock.jumpWall(29_000)
    cut()
    await until(() => !node.source.status().isConnected)
    await node.clock.advance(1_000)
    await accepted(4)
    expect(events[3]).toMatchObject({ hook: 'channel_create', timestampMs: T0 + 20_000 })
  })

  it('by a call whose begin is received ends the leg whose end was missed', async () => {
    const { begin, accepted, events } = await startAnswered()
    begin(CHOSEN, T0 + 600_000)
    await accepted(4)
    expect(events.slice(2).map(({ hook, timestampMs }) => [hook, timestampMs])).toEqual([
      ['channel_destroy', T0 + 600_000],
      ['channel_create', T0 + 600_000],
    ])
    expect(events[2]).toMatchObject({ customChannelVars: { found_by: 'resync' } })
  })
})
