import { once } from 'node:events'
import { until } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { channel, event, list, message } from './asterisk-ami-server.js'
import { underTest } from './asterisk-ami-under-test.js'

const T0 = 1_767_225_600_000
const ID = '1767225600.7'

/** So that the connection comes back, and not so late that it could time out. */
const LATER_MS = 200

describe('a source on AMI', () => {
  it('says who it is after the banner alone, asks for the class call and for the open channels', async () => {
    const { server, connects, source } = await underTest()
    const { actions } = await server.connected(0)
    expect(actions).toEqual([
      {
        Action: 'Login',
        ActionID: 'hookswitch-login',
        Username: 'hookswitch',
        Secret: 'secret',
        Events: 'call',
      },
      { Action: 'CoreShowChannels', ActionID: 'hookswitch-list' },
    ])
    await until(() => connects() === 1)
    expect(source.status()).toMatchObject({ isConnected: true, openLegs: 0 })
  })

  it('publishes what happens, in order', async () => {
    const { server, hooks, published } = await underTest()
    const { say } = await server.connected(0)
    say(
      event('Newchannel', ID, T0) +
        event('VarSet', ID, T0) +
        event('Newstate', ID, T0 + 5, { ChannelState: 6 }),
    )
    say(event('Hangup', ID, T0 + 1_500, { ChannelState: 6, Cause: 16 }))
    await until(() => published.length === 3)
    expect(hooks()).toEqual([`${ID} create`, `${ID} answer`, `${ID} destroy`])
    expect(published[2]).toMatchObject({
      accountId: 'acme',
      hangupCode: 'sip:200',
      billingSeconds: 1,
      timestampMs: T0 + 1_500,
    })
  })

  it('a wrong secret is a clear reason, is tried again and never told', async () => {
    const { server, clock, told, said, reasons } = await underTest({ secret: 'not-it-9' })
    await until(() => reasons().length === 1)
    expect(reasons()).toEqual(['the switch refused the login: Authentication failed'])
    await clock.advance(LATER_MS)
    await until(() => reasons().length === 2)
    expect(server.connections.length).toBe(2)
    expect(JSON.stringify([told, said])).not.toContain('not-it-9')
  })

  it('a user who may not ask for the channels is told what is missing', async () => {
    const { server, reasons } = await underTest()
    server.manners.list = ({ ActionID }) =>
      message({ Response: 'Error', ActionID: ActionID!, Message: 'Permission denied' })
    await until(() => reasons().length === 1)
    expect(reasons()[0]).toBe(
      'the switch refused CoreShowChannels: Permission denied (the user needs write = reporting)',
    )
  })

  it('another protocol is a clear reason, and hears no secret', async () => {
    const { server, reasons } = await underTest()
    server.manners.banner = 'HTTP/1.1 400 Bad Request\r\n\r\n'
    await until(() => reasons().length === 1)
    expect(reasons()[0]).toMatch(/does not speak AMI/)
    expect(server.connections[0]?.actions).toEqual([])
  })

  it('nobody there is a clear reason', async () => {
    const { server, clock, reasons } = await underTest()
    await server.connected(0)
    server.close()
    await until(() => reasons().length === 1)
    await clock.advance(LATER_MS)
    await until(() => reasons().length === 2)
    expect(reasons()[0]).toBe('the switch closed the connection')
    expect(reasons()[1]).toMatch(/ECONNREFUSED/)
  })

  it('a switch that falls silent is asked, and left when it says nothing', async () => {
    const { server, clock, connects, reasons } = await underTest()
    const { actions } = await server.connected(0)
    await until(() => connects() === 1)
    await clock.advance(20_000)
    await until(() => actions.some(({ Action }) => Action === 'Ping'))
    expect(reasons()).toEqual([])

    const { server: mute, clock: other, reasons: why, connects: opened } = await underTest()
    mute.manners.ping = () => undefined
    await until(() => opened() === 1)
    await other.advance(40_000)
    await until(() => why().length === 1)
    expect(why()[0]).toBe('no sign of life for 40 s')
  })

  it('a list that does not come ends the connection, and one that came leaves nothing behind', async () => {
    const { server, clock, connects, reasons } = await underTest()
    server.manners.list = () => undefined
    await server.connected(0)
    await clock.advance(9_999)
    expect(reasons()).toEqual([])
    await clock.advance(1)
    await until(() => reasons().length === 1)
    expect(reasons()[0]).toBe('no list of channels within 10 s')
    delete server.manners.list
    await clock.advance(LATER_MS)
    await until(() => connects() === 1)
    const { count } = clock.sleepers()
    await clock.advance(10_000)
    expect([reasons().length, clock.sleepers().count]).toEqual([1, count])
  })

  it('a list that is not read, because the service is full, is waited for', async () => {
    let open: () => void = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const { server, clock, connects, reasons, source } = await underTest({}, () => gate)
    server.manners.list = () => undefined
    const { say } = await server.connected(0)
    for (let call = 0; call < 3_000; call += 1) say(event('Newchannel', `1767225600.${call}`, T0))
    await until(() => source.status().waiting > 1_000)
    say(list('hookswitch-list', []))
    await clock.advance(15_000)
    expect([connects(), reasons()]).toEqual([0, []])
    open()
    await until(() => connects() === 1)
    expect(reasons()).toEqual([])
  })

  it('what the switch says of a login is told without the secret, on one line', async () => {
    const { server, told, said, reasons } = await underTest({ secret: 'not-it-9' })
    server.manners.login = ({ ActionID, Secret }) =>
      message({ Response: 'Error', ActionID: ActionID!, Message: `${Secret}?\u001b[2J\nno` })
    await until(() => reasons().length === 1)
    expect(reasons()[0]).toBe('the switch refused the login: …??[2J?no')
    expect(JSON.stringify([told, said])).not.toContain('not-it-9')
  })

  it('a flood without end ends the connection', async () => {
    const { server, reasons } = await underTest()
    const { socket } = await server.connected(0)
    socket.write(`Event: x\r\nA: ${'x'.repeat(200_000)}`)
    await until(() => reasons().length === 1)
    expect(reasons()[0]).toBe('a line above 64 KiB')
  })

  it('while the service takes nothing the switch must wait: nothing is dropped', async () => {
    let open: () => void = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const { server, published, source } = await underTest({}, () => gate)
    const { socket } = await server.connected(0)
    const CALLS = 20_000
    let sent = 0
    const send = () => {
      while (sent < CALLS) {
        const id = `1767225600.${sent}`
        sent += 1
        const bytes = event('Newchannel', id, T0) + event('Hangup', id, T0, { Cause: 16 })
        if (!socket.write(bytes)) return void socket.once('drain', send)
      }
    }
    send()
    await until(() => source.status().waiting > 1_000)
    // What the network holds is full in the end: the switch waits.
    await until(() => socket.writableLength > 0 && sent < CALLS)
    expect(source.status().waiting).toBeLessThan(3_000)
    open()
    await until(() => published.length === 2 * CALLS, { timeoutMs: 25_000 })
    expect(new Set(published.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2 * CALLS)
  })

  it('events without a Timestamp have the time of their arrival, and that is said once', async () => {
    const { server, clock, published, told } = await underTest()
    const { say } = await server.connected(0)
    const plain = (name: string, state: number) =>
      message({ Event: name, ...channel(ID, { ChannelState: state }) })
    say(plain('Newchannel', 4) + plain('Newstate', 6))
    await until(() => published.length === 2)
    expect(published.map(({ timestampMs }) => timestampMs)).toEqual([clock.now(), clock.now()])
    const problems = told.filter(([name]) => name === 'problem')
    expect(problems).toHaveLength(1)
    expect(problems[0]?.[1].message).toMatch(/timestampevents = yes/)
  })

  it('a message that cannot be read is a problem, and everything else goes on', async () => {
    const { server, published, told } = await underTest()
    const { say } = await server.connected(0)
    say(message({ Event: 'Hangup', Timestamp: '1767225600.000001' }) + event('Newchannel', ID, T0))
    await until(() => published.length === 1)
    expect(told).toContainEqual(['problem', { kind: 'malformed', message: 'Hangup: no Uniqueid' }])
  })

  it('closed while it logs in, it is closed', async () => {
    const { server, source, reasons } = await underTest()
    server.manners.login = () => undefined
    const { socket } = await server.connected(0, 'Login')
    await Promise.all([source.close({ drainMs: 0 }), once(socket, 'close')])
    expect(reasons()).toEqual([])
  })
})
