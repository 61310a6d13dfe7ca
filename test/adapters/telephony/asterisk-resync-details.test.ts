import { until } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { channelEvent, channelFields, list, SETTINGS } from './asterisk-ami-server.js'
import { ariChannel, ariEvent } from './asterisk-ari-server.js'
import { startAmiSource, startAriSource } from './asterisk-under-test.js'

const T0 = 1_767_225_600_000
const [ONE, TWO] = ['1767225600.7', '1767225600.8']
const [NAME_ONE, NAME_TWO] = [`PJSIP/1001-${ONE}`, `PJSIP/1001-${TWO}`]
const seconds = (ms: number) => (ms / 1000).toFixed(6)
const [START, ANSWER, HOLD] = ['CDR(start,u)', 'CDR(answer,u)', 'CHANNEL(onhold)']

/** Both legs answered and in one bridge. The first began at 0.4 s and was answered at 2.4 s, and the second holds. */
const AMI_CALL = {
  channelList: ({ ActionID }: Readonly<Record<string, string>>) =>
    list(
      ActionID,
      [ONE, TWO].map((id) => channelFields(id, { ChannelState: 6, BridgeId: 'b', Duration: '00:00:10' })),
    ),
  variables: {
    ...SETTINGS,
    [`${NAME_ONE} ${START}`]: seconds(T0 + 400),
    [`${NAME_ONE} ${ANSWER}`]: seconds(T0 + 2_400),
    [`${NAME_ONE} ${HOLD}`]: '1',
    [`${NAME_TWO} ${HOLD}`]: '0',
  },
}

describe('an AMI resync', () => {
  it('finds a call in progress, with its exact times, its bridge and its hold', async () => {
    const { server, connects, published, hooks } = await startAmiSource()
    Object.assign(server.responses, AMI_CALL)
    await until(() => connects() === 1 && published.length === 7)
    expect(hooks().sort()).toEqual(
      [...[ONE, TWO].flatMap((id) => [`${id} create`, `${id} answer`, `${id} bridge`]), `${TWO} hold`].sort(),
    )
    for (const { customChannelVars } of published)
      expect(customChannelVars).toMatchObject({ found_by: 'resync' })
    const times = published.flatMap(({ callId, hook, timestampMs }) =>
      callId === ONE ? [[hook, timestampMs]] : [],
    )
    expect(times.slice(0, 2)).toEqual([
      ['channel_create', T0 + 400],
      ['channel_answer', T0 + 2_400],
    ])
    const { send } = await server.connected(0)
    send(channelEvent('Hangup', ONE, T0 + 11_800, { ChannelState: 6, Cause: 16 }))
    await until(() => published.length === 8)
    const end = published.at(-1)
    // 11.4 s, of which 9.4 s after the answer.
    expect(end).toMatchObject({ durationSeconds: 11, ringingSeconds: 2, billingSeconds: 9 })
    expect(end?.customChannelVars ?? {}).not.toHaveProperty('duration_is_estimate')
  })

  it('leaves out the billed time of a leg whose answer was missed, and marks a duration that is an estimate', async () => {
    const { server, connects, published } = await startAmiSource()
    Object.assign(server.responses, { channelList: AMI_CALL.channelList })
    await until(() => connects() === 1 && published.length === 6)
    const { send } = await server.connected(0)
    send(channelEvent('Hangup', TWO, T0 + 11_800, { ChannelState: 6, Cause: 16 }))
    await until(() => published.length === 7)
    const end = published.at(-1)
    expect(end).toMatchObject({
      durationSeconds: 11,
      customChannelVars: { found_by: 'resync', duration_is_estimate: true },
    })
    expect(end).not.toHaveProperty('billingSeconds')
    expect(end).not.toHaveProperty('ringingSeconds')
  })

  it('trusts no CDR that began after its channel: a transferred one says nothing about the first answer', async () => {
    const { server, connects, published } = await startAmiSource()
    const later = {
      [`${NAME_ONE} ${START}`]: seconds(T0 + 60_000),
      [`${NAME_ONE} ${ANSWER}`]: seconds(T0 + 60_000),
    }
    Object.assign(server.responses, AMI_CALL, { variables: { ...SETTINGS, ...later } })
    await until(() => connects() === 1 && published.length === 6)
    const { send } = await server.connected(0)
    send(channelEvent('Hangup', ONE, T0 + 90_000, { ChannelState: 6, Cause: 16 }))
    await until(() => published.length === 7)
    expect(published.at(-1)).toMatchObject({ durationSeconds: 90 })
    expect(published.at(-1)).not.toHaveProperty('billingSeconds')
  })

  it('queries nothing of a channel whose name would begin another action', async () => {
    const { server, connects, published } = await startAmiSource()
    const hostile = channelFields(ONE, { Channel: 'PJSIP/a\nAction: Originate', ChannelState: 6 })
    const plain = channelFields(TWO, { ChannelState: 6 })
    server.responses.channelList = ({ ActionID }) => list(ActionID, [hostile, plain])
    await until(() => connects() === 1 && published.length === 4)
    const { actions } = await server.connected(0)
    const queried = actions.map(({ Channel }) => Channel).filter((name) => name !== undefined)
    expect(new Set(queried)).toEqual(new Set([NAME_TWO]))
  })

  it('queries nothing of a leg that it knows, and knows a conference by the list of bridges', async () => {
    const { server, connects, published } = await startAmiSource()
    Object.assign(server.responses, AMI_CALL, {
      bridges: [{ BridgeUniqueid: 'b', BridgeType: 'base', BridgeName: 'team' }],
    })
    await until(() => connects() === 1 && published.length === 6)
    const talks = published.filter(({ hook }) => hook === 'channel_bridge')
    for (const talk of talks) {
      expect(talk).not.toHaveProperty('otherLegCallId')
      expect(talk.customChannelVars).toMatchObject({ bridge_name: 'team' })
    }
    expect(talks).toHaveLength(2)
  })

  it('tells a hold that ended meanwhile, and leaves one alone that began after the list was requested', async () => {
    const { server, clock, source, connects, published, hooks } = await startAmiSource()
    Object.assign(server.responses, AMI_CALL)
    await until(() => connects() === 1 && published.length === 7)
    const { socket } = await server.connected(0)
    const resumed = { [`${NAME_ONE} ${HOLD}`]: '0', [`${NAME_TWO} ${HOLD}`]: '0' }
    server.responses.variables = { ...AMI_CALL.variables, ...resumed }
    server.responses.channelList = () => undefined
    socket.destroy()
    await until(() => !source.status().isConnected)
    await clock.advance(200)
    const { send } = await server.connected(1)
    send(channelEvent('Hold', ONE, T0 + 20_000, { ChannelState: 6 }))
    send(AMI_CALL.channelList({ ActionID: 'hookswitch-list' }))
    await until(() => connects() === 2 && published.length === 9)
    expect(hooks().slice(7).sort()).toEqual([`${ONE} hold`, `${TWO} unhold`])
  })
})

describe('an ARI resync', () => {
  const call = {
    channels: () => [ONE, TWO].map((id) => ariChannel(id, { state: 'Up' })),
    bridges: () => [{ id: 'b', bridge_class: 'basic', channels: [ONE, TWO] }],
    variables: {
      [`${ONE}/${START}`]: seconds(T0),
      [`${ONE}/${ANSWER}`]: seconds(T0 + 2_400),
      [`${ONE}/${HOLD}`]: '1',
      [`${TWO}/${START}`]: seconds(T0),
    },
  }

  it('finds a call in progress, with its exact times, its bridge and its hold', async () => {
    const { server, connects, published } = await startAriSource()
    Object.assign(server.responses, call)
    await until(() => connects() === 1 && published.length === 7)
    expect(published.filter(({ hook }) => hook === 'channel_hold').map(({ callId }) => callId)).toEqual([TWO])
    const { send } = await server.connected(0)
    send(ariEvent('ChannelDestroyed', ONE, T0 + 11_800, { state: 'Up' }, { cause: 16 }))
    send(ariEvent('ChannelDestroyed', TWO, T0 + 11_800, { state: 'Up' }, { cause: 16 }))
    await until(() => published.length === 9)
    expect(published.at(-2)).toMatchObject({ durationSeconds: 11, ringingSeconds: 2, billingSeconds: 9 })
    // ARI reports when a channel began.
    expect(published.at(-1)).toMatchObject({ durationSeconds: 11 })
    expect(published.at(-1)).not.toHaveProperty('billingSeconds')
    expect(published.at(-1)?.customChannelVars ?? {}).not.toHaveProperty('duration_is_estimate')
  })

  it('publishes again under the same keys after a restart of the host', async () => {
    const keys = []
    for (let start = 0; start < 2; start += 1) {
      const { server, connects, published } = await startAriSource()
      Object.assign(server.responses, call)
      await until(() => connects() === 1 && published.length === 7)
      keys.push(published.map(({ idempotencyKey }) => idempotencyKey).sort())
    }
    expect(keys[1]).toEqual(keys[0])
  })

  it('continues without details that do not arrive in time, however many it queries', async () => {
    const { server, clock, connects, published } = await startAriSource()
    const ids = Array.from({ length: 20 }, (_, index) => `1767225600.${index}`)
    const channels = () => ids.map((id) => ariChannel(id, { state: 'Up' }))
    Object.assign(server.responses, { channels, ignoresVariables: true })
    await until(() => server.requests.some((request) => request.includes('/variable?')))
    await clock.advance(10_000)
    await until(() => connects() === 1 && published.length === 40)
  })

  it('continues without details that it is refused', async () => {
    const { server, connects, published } = await startAriSource()
    Object.assign(server.responses, call, { variables: undefined })
    await until(() => connects() === 1 && published.length === 6)
  })
})
