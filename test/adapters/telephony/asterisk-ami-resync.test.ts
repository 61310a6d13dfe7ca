import { until } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { channel, event, list } from './asterisk-ami-server.js'
import { underTest } from './asterisk-ami-under-test.js'

const T0 = 1_767_225_600_000
const ID = '1767225600.7'

/** So that the connection comes back, and not so late that it could time out. */
const LATER_MS = 200

describe('a connection to AMI that is lost', () => {
  it('a switch that stops in mid-event loses nothing but that event', async () => {
    const { server, clock, published, reasons, hooks } = await underTest()
    const { socket } = await server.connected(0)
    const half = event('Hangup', ID, T0 + 900, { Cause: 16 })
    socket.end(event('Newchannel', ID, T0) + half.slice(0, half.length / 2))
    await until(() => reasons().length === 1)
    await clock.settle()
    expect(hooks()).toEqual([`${ID} create`])
    await clock.advance(LATER_MS)
    // The list no longer has it.
    await until(() => published.length === 2)
    expect(published[1]).toMatchObject({
      hook: 'channel_destroy',
      hangupCause: 'NORMAL_UNSPECIFIED',
      customChannelVars: { found_by: 'resync' },
    })
    expect(published[1]).not.toHaveProperty('hangupCode')
  })

  it('finds after a reconnect what it missed: an end, an answer, a call', async () => {
    const { server, clock, hooks, published, connects, source } = await underTest()
    const { say, socket } = await server.connected(0)
    const [gone, rang, fresh] = ['1767225600.1', '1767225600.2', '1767225599.3']
    say(event('Newchannel', gone, T0) + event('Newchannel', rang, T0 + 1))
    await until(() => published.length === 2)
    server.manners.list = ({ ActionID }) =>
      list(ActionID, [
        channel(rang, { ChannelState: 6 }),
        channel(fresh, { ChannelState: 6, AccountCode: 'other' }),
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

  it('what happens while the list is on its way is neither lost nor doubled', async () => {
    const { server, published, hooks, connects } = await underTest()
    server.manners.list = () => undefined
    const { say } = await server.connected(0)
    const [early, late] = ['1767225600.1', '1767225600.2']
    // One has ended when its line comes, one has begun when the list no longer tells.
    say(event('Newchannel', early, T0) + event('Hangup', early, T0 + 10, { Cause: 16 }))
    say(event('Newchannel', late, T0 + 20))
    say(list('hookswitch-list', [channel(early)]))
    await until(() => connects() === 1 && published.length === 3)
    expect(hooks().sort()).toEqual([`${early} create`, `${early} destroy`, `${late} create`].sort())
  })

  it('lines of a list that somebody else asked for are no channels of ours', async () => {
    const { server, published, connects, source } = await underTest()
    server.manners.list = ({ ActionID }) => list('show-0', [channel('1767225600.0')]) + list(ActionID, [])
    const { say } = await server.connected(0)
    await until(() => connects() === 1)
    say(list('show-1', [channel('1767225600.1')]) + event('Newchannel', ID, T0))
    await until(() => published.some(({ callId }) => callId === ID))
    expect(published).toHaveLength(1)
    expect(source.status().openLegs).toBe(1)
  })

  it('a restarted switch has none of its calls: all are ended, and its new ones are new', async () => {
    const { server, clock, published, hooks, source } = await underTest()
    const { say, socket } = await server.connected(0)
    say(event('Newchannel', '1767225600.0', T0) + event('Newchannel', '1767225600.1', T0))
    await until(() => published.length === 2)
    socket.destroy()
    await until(() => source.status().isConnected === false)
    await clock.advance(LATER_MS)
    const { say: again } = await server.connected(1)
    again(event('Newchannel', '1767225690.0', T0 + 90_000))
    await until(() => published.length === 5)
    expect(hooks().slice(2).sort()).toEqual([
      ...['1767225600.0 destroy', '1767225600.1 destroy', '1767225690.0 create'],
    ])
    expect(new Set(published.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(5)
  })
})
