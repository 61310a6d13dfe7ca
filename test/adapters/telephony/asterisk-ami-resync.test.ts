import { until } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { channelEvent, channelFields, list } from './asterisk-ami-server.js'
import { startAmiSource } from './asterisk-under-test.js'

const T0 = 1_767_225_600_000
const ID = '1767225600.7'

/** Long enough for a reconnect, too short for a timeout. */
const LATER_MS = 200

describe('a lost AMI connection', () => {
  it('a connection that ends inside an event loses only that event', async () => {
    const { server, clock, published, reasons, hooks } = await startAmiSource()
    const { socket } = await server.connected(0)
    const half = channelEvent('Hangup', ID, T0 + 900, { Cause: 16 })
    socket.end(channelEvent('Newchannel', ID, T0) + half.slice(0, half.length / 2))
    await until(() => reasons().length === 1)
    await clock.settle()
    expect(hooks()).toEqual([`${ID} create`])
    await clock.advance(LATER_MS)
    // The list does not contain it.
    await until(() => published.length === 2)
    expect(published[1]).toMatchObject({
      hook: 'channel_destroy',
      hangupCause: 'NORMAL_UNSPECIFIED',
      customChannelVars: { found_by: 'resync' },
    })
    expect(published[1]).not.toHaveProperty('hangupCode')
  })

  it('a reconnect finds a missed end, a missed answer and a missed call', async () => {
    const { server, clock, hooks, published, connects, source } = await startAmiSource()
    const { send, socket } = await server.connected(0)
    const [gone, rang, fresh] = ['1767225600.1', '1767225600.2', '1767225599.3']
    send(channelEvent('Newchannel', gone, T0) + channelEvent('Newchannel', rang, T0 + 1))
    await until(() => published.length === 2)
    server.responses.channelList = ({ ActionID }) =>
      list(ActionID, [
        channelFields(rang, { ChannelState: 6 }),
        channelFields(fresh, { ChannelState: 6, AccountCode: 'other' }),
      ])
    socket.destroy()
    await until(() => source.status().isConnected === false)
    await clock.advance(LATER_MS)
    await until(() => connects() === 2 && published.length === 6)
    expect(hooks().slice(2).sort()).toEqual(
      [`${rang} answer`, `${fresh} create`, `${fresh} answer`, `${gone} destroy`].sort(),
    )
    expect(published.find(({ callId }) => callId === fresh)).toMatchObject({
      accountId: 'other',
      timestampMs: 1_767_225_599_000,
      idempotencyKey: `${fresh}/channel_create`,
    })
    expect(source.status().openLegs).toBe(2)
  })

  it('a list that repeats itself, and the same list after another reconnect, publish each channel once', async () => {
    const { server, clock, hooks, published, connects } = await startAmiSource()
    const [first, second] = ['1767225599.1', '1767225599.2']
    const listed = [first, second].map((id) => channelFields(id, { ChannelState: 6 }))
    server.responses.channelList = ({ ActionID }) => list(ActionID, [...listed, ...listed])
    for (const connection of [0, 1, 2]) {
      const { socket } = await server.connected(connection)
      await until(() => connects() === connection + 1)
      socket.destroy()
      await clock.advance(LATER_MS)
    }
    await until(() => published.length >= 4)
    expect(hooks().sort()).toEqual([first, second].flatMap((id) => [`${id} answer`, `${id} create`]))
  })

  it('events that arrive during the listing are neither lost nor duplicated', async () => {
    const { server, published, hooks, connects } = await startAmiSource()
    server.responses.channelList = () => undefined
    const { send } = await server.connected(0)
    const [early, late] = ['1767225600.1', '1767225600.2']
    // `early` ends before its list item arrives; `late` begins after the list was taken.
    send(channelEvent('Newchannel', early, T0) + channelEvent('Hangup', early, T0 + 10, { Cause: 16 }))
    send(channelEvent('Newchannel', late, T0 + 20))
    send(list('hookswitch-list', [channelFields(early)]))
    await until(() => connects() === 1 && published.length === 3)
    expect(hooks().sort()).toEqual([`${early} create`, `${early} destroy`, `${late} create`].sort())
  })

  it('items of a list that another client requested are ignored', async () => {
    const { server, published, connects, source } = await startAmiSource()
    server.responses.channelList = ({ ActionID }) =>
      list('show-0', [channelFields('1767225600.0')]) + list(ActionID, [])
    const { send } = await server.connected(0)
    await until(() => connects() === 1)
    send(list('show-1', [channelFields('1767225600.1')]) + channelEvent('Newchannel', ID, T0))
    await until(() => published.some(({ callId }) => callId === ID))
    expect(published).toHaveLength(1)
    expect(source.status().openLegs).toBe(1)
  })

  it('after a restart of the switch all old calls are ended and new calls begin', async () => {
    const { server, clock, published, hooks, source } = await startAmiSource()
    const { send, socket } = await server.connected(0)
    send(channelEvent('Newchannel', '1767225600.0', T0) + channelEvent('Newchannel', '1767225600.1', T0))
    await until(() => published.length === 2)
    socket.destroy()
    await until(() => source.status().isConnected === false)
    await clock.advance(LATER_MS)
    const { send: sendAgain } = await server.connected(1)
    sendAgain(channelEvent('Newchannel', '1767225690.0', T0 + 90_000))
    await until(() => published.length === 5)
    expect(hooks().slice(2).sort()).toEqual([
      ...['1767225600.0 destroy', '1767225600.1 destroy', '1767225690.0 create'],
    ])
    expect(new Set(published.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(5)
  })
})
