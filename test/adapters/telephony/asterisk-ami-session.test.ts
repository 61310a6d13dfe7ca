import { once } from 'node:events'
import { until } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { deferred } from '../../support/deferred.js'
import { channelEvent, channelFields, list, message } from './asterisk-ami-server.js'
import { startAmiSource } from './asterisk-under-test.js'

const T0 = 1_767_225_600_000
const ID = '1767225600.7'

/** Long enough for a reconnect, too short for a timeout. */
const LATER_MS = 200

describe('an AMI source', () => {
  it('logs in only after the banner, subscribes, checks the settings and lists bridges and channels', async () => {
    const { server, connects, source } = await startAmiSource()
    const { actions } = await server.connected(0)
    expect(actions).toEqual([
      {
        Action: 'Login',
        ActionID: 'hookswitch-login',
        Username: 'hookswitch',
        Secret: 'secret',
        Events: 'call,dialplan,agent',
      },
      {
        Action: 'Getvar',
        ActionID: 'hookswitch-read',
        Variable: 'AST_CONFIG(manager.conf,hookswitch,read)',
      },
      {
        Action: 'Getvar',
        ActionID: 'hookswitch-timestampevents',
        Variable: 'AST_CONFIG(manager.conf,general,timestampevents)',
      },
      { Action: 'BridgeList', ActionID: 'hookswitch-bridges' },
      { Action: 'CoreShowChannels', ActionID: 'hookswitch-list' },
    ])
    await until(() => connects() === 1)
    expect(source.status()).toMatchObject({ isConnected: true, openLegs: 0 })
  })

  it('publishes events in order', async () => {
    const { server, hooks, published } = await startAmiSource()
    const { send } = await server.connected(0)
    send(
      channelEvent('Newchannel', ID, T0) +
        channelEvent('VarSet', ID, T0) +
        channelEvent('Newstate', ID, T0 + 5, { ChannelState: 6 }),
    )
    send(channelEvent('Hangup', ID, T0 + 1_500, { ChannelState: 6, Cause: 16 }))
    await until(() => published.length === 3)
    expect(hooks()).toEqual([`${ID} create`, `${ID} answer`, `${ID} destroy`])
    expect(published[2]).toMatchObject({
      accountId: 'acme',
      hangupCode: 'sip:200',
      billingSeconds: 1,
      timestampMs: T0 + 1_500,
    })
  })

  it('a wrong secret is reported and retried, and never appears in events or logs', async () => {
    const { server, clock, emitted, logged, reasons } = await startAmiSource({ secret: 'not-it-9' })
    await until(() => reasons().length === 1)
    expect(reasons()).toEqual(['the switch refused the login: Authentication failed'])
    await clock.advance(LATER_MS)
    await until(() => reasons().length === 2)
    expect(server.connections.length).toBe(2)
    expect(JSON.stringify([emitted, logged])).not.toContain('not-it-9')
  })

  it('the permission that a user lacks for listing channels is reported', async () => {
    const { server, reasons } = await startAmiSource()
    server.responses.channelList = ({ ActionID }) =>
      message({ Response: 'Error', ActionID: ActionID!, Message: 'Permission denied' })
    await until(() => reasons().length === 1)
    expect(reasons()[0]).toBe(
      'the switch refused CoreShowChannels: Permission denied (manager.conf: the user needs write = reporting)',
    )
  })

  it('a peer with another protocol is reported and receives no secret', async () => {
    const { server, reasons } = await startAmiSource()
    server.responses.banner = 'HTTP/1.1 400 Bad Request\r\n\r\n'
    await until(() => reasons().length === 1)
    expect(reasons()[0]).toMatch(/does not speak AMI/)
    expect(server.connections[0]?.actions).toEqual([])
  })

  it('a refused connection is reported', async () => {
    const { server, clock, reasons } = await startAmiSource()
    await server.connected(0)
    server.close()
    await until(() => reasons().length === 1)
    await clock.advance(LATER_MS)
    await until(() => reasons().length === 2)
    expect(reasons()[0]).toBe('the switch closed the connection')
    expect(reasons()[1]).toMatch(/ECONNREFUSED/)
  })

  it('a silent switch is probed, and disconnected if it does not answer', async () => {
    const { server, clock, connects, reasons } = await startAmiSource()
    const { actions } = await server.connected(0)
    await until(() => connects() === 1)
    await clock.advance(10_000)
    await until(() => actions.some(({ Action }) => Action === 'Ping'))
    expect(reasons()).toEqual([])

    const {
      server: silent,
      clock: silentClock,
      reasons: silentReasons,
      connects: silentConnects,
    } = await startAmiSource()
    silent.responses.ping = () => undefined
    await until(() => silentConnects() === 1)
    await silentClock.advance(20_000)
    await until(() => silentReasons().length === 1)
    expect(silentReasons()[0]).toBe('no sign of life for 20 s')
  })

  it('a list that does not arrive ends the connection, and one that arrives leaves no timer behind', async () => {
    const { server, clock, connects, reasons } = await startAmiSource()
    server.responses.channelList = () => undefined
    await server.connected(0)
    await clock.advance(9_999)
    expect(reasons()).toEqual([])
    await clock.advance(1)
    await until(() => reasons().length === 1)
    expect(reasons()[0]).toBe('no list of channels within 10 s')
    delete server.responses.channelList
    await clock.advance(LATER_MS)
    await until(() => connects() === 1)
    const { count } = clock.sleepers()
    await clock.advance(10_000)
    expect([reasons().length, clock.sleepers().count]).toEqual([1, count])
  })

  it('the timeout of the list does not count while the service is full', async () => {
    const { promise: gate, resolve: open } = deferred()
    const { server, clock, connects, reasons, source } = await startAmiSource({}, () => gate)
    server.responses.channelList = () => undefined
    const { send } = await server.connected(0)
    for (let call = 0; call < 3_000; call += 1) send(channelEvent('Newchannel', `1767225600.${call}`, T0))
    await until(() => source.status().waiting > 1_000)
    send(list('hookswitch-list', []))
    await clock.advance(15_000)
    expect([connects(), reasons()]).toEqual([0, []])
    open()
    await until(() => connects() === 1)
    expect(reasons()).toEqual([])
  })

  it('the reason of a refused login is reported on one line without the secret', async () => {
    const { server, emitted, logged, reasons } = await startAmiSource({ secret: 'not-it-9' })
    server.responses.login = ({ ActionID, Secret }) =>
      message({ Response: 'Error', ActionID: ActionID!, Message: `${Secret}?\u001b[2J\nno` })
    await until(() => reasons().length === 1)
    expect(reasons()[0]).toBe('the switch refused the login: …?\\u{1B}[2J\\u{A}no')
    expect(JSON.stringify([emitted, logged])).not.toContain('not-it-9')
  })

  it('a variable of a mebibyte ends no connection, and one of nine is one problem', async () => {
    const { server, published, emitted, reasons } = await startAmiSource()
    const { send } = await server.connected(0)
    send(channelEvent('Newchannel', ID, T0, { ChanVariable: `HUGE=${'x'.repeat(1_048_576)}` }))
    send(channelEvent('VarSet', ID, T0, { Variable: 'HUGE', Value: 'x'.repeat(9_437_184) }))
    send(channelEvent('Hangup', ID, T0 + 900, { Cause: 16 }))
    await until(() => published.length === 2)
    const problems = emitted.flatMap(([name, { message }]) => (name === 'problem' ? [message] : []))
    expect([problems, reasons()]).toEqual([
      [expect.stringMatching(/^a message above 8 MiB: 94\d{5} bytes are skipped$/)],
      [],
    ])
  })

  it('bytes that belong to no message are reported once, and counted until the end of the connection', async () => {
    const { server, published, of, reasons } = await startAmiSource()
    const { send, socket } = await server.connected(0)
    for (let n = 0; n < 500; n += 1) send('Uniqueid: 1\r\n\r\n')
    send(channelEvent('Newchannel', ID, T0))
    await until(() => published.length === 1)
    const problems = () => of('problem').map(({ message }) => message)
    expect(problems()).toEqual(['bytes that belong to no message: 13 bytes are skipped'])
    socket.destroy()
    await until(() => reasons().length === 1)
    expect(problems().slice(1)).toEqual(['6487 more bytes were skipped at 499 places of the connection'])
  })

  it('while the service is full the switch must wait, and nothing is dropped', async () => {
    const { promise: gate, resolve: open } = deferred()
    const { server, published, source } = await startAmiSource({}, () => gate)
    const { socket } = await server.connected(0)
    const CALLS = 20_000
    let sent = 0
    const send = () => {
      while (sent < CALLS) {
        const id = `1767225600.${sent}`
        sent += 1
        const bytes = channelEvent('Newchannel', id, T0) + channelEvent('Hangup', id, T0, { Cause: 16 })
        if (!socket.write(bytes)) return void socket.once('drain', send)
      }
    }
    send()
    await until(() => source.status().waiting > 1_000)
    // The network buffers are full: the switch must wait.
    await until(() => socket.writableLength > 0 && sent < CALLS)
    expect(source.status().waiting).toBeLessThan(3_000)
    open()
    await until(() => published.length === 2 * CALLS, { timeoutMs: 25_000 })
    expect(new Set(published.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2 * CALLS)
  })

  it('events without a Timestamp get their arrival time, which is reported once', async () => {
    const { server, clock, published, emitted } = await startAmiSource()
    const { send } = await server.connected(0)
    const plain = (name: string, state: number) =>
      message({ Event: name, ...channelFields(ID, { ChannelState: state }) })
    send(plain('Newchannel', 4) + plain('Newstate', 6))
    await until(() => published.length === 2)
    expect(published.map(({ timestampMs }) => timestampMs)).toEqual([clock.now(), clock.now()])
    const problems = emitted.filter(([name]) => name === 'problem')
    expect(problems).toHaveLength(1)
    expect(problems[0]?.[1]).toMatchObject({
      kind: 'misconfigured',
      message: expect.stringMatching(/timestampevents = yes/),
    })
  })

  it('a malformed message is a problem, and later messages are still mapped', async () => {
    const { server, published, emitted } = await startAmiSource()
    const { send } = await server.connected(0)
    send(message({ Event: 'Hangup', Timestamp: '1767225600.000001' }) + channelEvent('Newchannel', ID, T0))
    await until(() => published.length === 1)
    expect(emitted).toContainEqual(['problem', { kind: 'malformed', message: 'Hangup: no Uniqueid' }])
  })

  it('a close publishes a leaving of a queue whose reason is not known yet', async () => {
    const { server, source, published } = await startAmiSource({ optionalHooks: ['queue_leave'] })
    const { socket } = await server.connected(0)
    socket.write(channelEvent('Newchannel', '1767225600.1', 1_767_225_600_000))
    socket.write(channelEvent('QueueCallerLeave', '1767225600.1', 1_767_225_601_000, { Queue: 'support' }))
    await until(() => published.length > 0)
    expect(published.map(({ hook }) => hook)).not.toContain('queue_leave')
    await source.close()
    expect(published.at(-1)).toMatchObject({ hook: 'queue_leave', queueId: 'support' })
  })

  it('a close during the login ends the connection', async () => {
    const { server, source, reasons } = await startAmiSource()
    server.responses.login = () => undefined
    const { socket } = await server.connected(0, 'Login')
    await Promise.all([source.close({ drainMs: 0 }), once(socket, 'close')])
    expect(reasons()).toEqual([])
  })
})
