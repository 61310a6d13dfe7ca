import { once } from 'node:events'
import { accountFromVariable } from 'hookswitch/asterisk'
import { until } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { deferred } from '../../support/deferred.js'
import { channelEvent, list } from './asterisk-ami-server.js'
import { ariEvent } from './asterisk-ari-server.js'
import { startAmiSource, startAriSource } from './asterisk-under-test.js'

const T0 = 1_767_225_600_000
const [ID, OTHER] = ['1767225600.7', '1767225600.8']
const accountOf = accountFromVariable('ACCOUNT_ID')

describe('an account that the dial plan sets', () => {
  it('is known over AMI as soon as the variable is set, before the next event of the call', async () => {
    const { server, published } = await startAmiSource({ accountOf })
    const { send } = await server.connected(0)
    send(channelEvent('Newchannel', ID, T0, { ChanVariable: 'ACCOUNT_ID=' }))
    send(channelEvent('VarSet', ID, T0 + 3_000, { ChanVariable: 'ACCOUNT_ID=acme', Variable: 'ACCOUNT_ID' }))
    await until(() => published.length === 1)
    expect(published[0]).toMatchObject({ hook: 'channel_create', accountId: 'acme', timestampMs: T0 })
  })

  it('is known over ARI as soon as the variable is set, also in a Stasis application', async () => {
    const { server, connects, published } = await startAriSource({ accountOf })
    const { send } = await server.connected(0)
    await until(() => connects() === 1)
    send(
      ariEvent('ChannelCreated', ID, T0),
      ariEvent('StasisStart', ID, T0 + 10, {}, { args: [] }),
      ariEvent('ChannelVarset', ID, T0 + 3_000, { channelvars: { ACCOUNT_ID: 'acme' } }),
    )
    await until(() => published.length === 1)
    expect(published[0]).toMatchObject({ hook: 'channel_create', accountId: 'acme', timestampMs: T0 })
  })

  it('is known over ARI when the begin of the leg is still queued', async () => {
    const { promise: gate, resolve: open } = deferred()
    const { server, connects, published, source } = await startAriSource({ accountOf }, () => gate)
    const { send, sendRaw, socket } = await server.connected(0)
    await until(() => connects() === 1)
    const known = { channelvars: { ACCOUNT_ID: 'acme' } }
    for (let call = 0; call < 1_100; call += 1)
      send(ariEvent('ChannelCreated', `1767225601.${call}`, T0, known))
    await until(() => source.status().waiting > 1_000)
    send(ariEvent('ChannelCreated', ID, T0), ariEvent('ChannelVarset', ID, T0 + 1, known))
    // The answer to a ping: the client has received all of it.
    const answered = once(socket, 'data')
    sendRaw(Buffer.from([0x89, 0]))
    await answered
    open()
    await until(() => published.some(({ callId }) => callId === ID))
  })

  it('is known when it is set while the open channels are listed', async () => {
    const { server, connects, published } = await startAmiSource({ accountOf })
    server.responses.channelList = () => undefined
    const { send } = await server.connected(0)
    send(channelEvent('VarSet', ID, T0, { ChanVariable: 'ACCOUNT_ID=acme', Variable: 'ACCOUNT_ID' }))
    send(list('hookswitch-list', [{ Channel: 'PJSIP/1001-1', Uniqueid: ID, ChannelState: 4 }]))
    await until(() => connects() === 1 && published.length === 1)
    expect(published[0]).toMatchObject({ hook: 'channel_create', accountId: 'acme' })
  })

  it('of a dialled leg is the last that is set before its first event', async () => {
    const { server, connects, published } = await startAmiSource({ accountOf })
    const { send } = await server.connected(0)
    await until(() => connects() === 1)
    const callee = { Channel: 'PJSIP/2001-1', ChannelState: 0, Linkedid: ID }
    const named = (over: object) =>
      Object.fromEntries(Object.entries(over).map(([name, value]) => [`Dest${name}`, value]))
    const as = (value: string) => ({ ...callee, ChanVariable: `ACCOUNT_ID=${value}` })
    send(channelEvent('Newchannel', OTHER, T0, as('')))
    send(channelEvent('NewConnectedLine', OTHER, T0, as('of the caller')))
    // A pre-dial handler: Dial(PJSIP/2001,,b(handler^s^1)).
    send(channelEvent('Newexten', OTHER, T0, { ...as('of the caller'), Application: 'Set' }))
    send(channelEvent('VarSet', OTHER, T0, { ...as('of the phone'), Variable: 'ACCOUNT_ID' }))
    const dest = named({ Uniqueid: OTHER, ...as('of the phone'), CallerIDNum: '2001' })
    send(channelEvent('DialBegin', ID, T0, { ...dest, ChanVariable: 'ACCOUNT_ID=of the caller' }))
    send(channelEvent('Hangup', OTHER, T0, { ...as('too late'), Cause: 0 }))
    await until(() => published.length === 3)
    expect(published.map(({ callId, accountId }) => `${callId} ${accountId}`).sort()).toEqual([
      `${ID} of the caller`,
      `${OTHER} of the phone`,
      `${OTHER} of the phone`,
    ])
  })

  it('is not changed by later variables, nor known by those of an unknown or ended leg', async () => {
    const { server, connects, published, source } = await startAmiSource({ accountOf })
    const { send } = await server.connected(0)
    await until(() => connects() === 1)
    const set = (id: string, value: string) =>
      send(channelEvent('VarSet', id, T0 + 5, { ChanVariable: `ACCOUNT_ID=${value}` }))
    send(channelEvent('Newchannel', ID, T0, { ChanVariable: 'ACCOUNT_ID=acme' }))
    set(ID, 'other')
    set(OTHER, 'other')
    send(channelEvent('Hangup', ID, T0 + 900, { ChanVariable: 'ACCOUNT_ID=other', Cause: 16 }))
    set(ID, 'other')
    await until(() => published.length === 2)
    expect(published.map(({ accountId }) => accountId)).toEqual(['acme', 'acme'])
    expect(source.status().openLegs).toBe(0)
  })
})
