import { once } from 'node:events'
import { until } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { ariChannel, ariEvent, NOT_FOUND } from './asterisk-ari-server.js'
import { startAriSource } from './asterisk-under-test.js'

const T0 = 1_767_225_600_000
const ID = '1767225600.7'
/** Long enough for a reconnect, too short for a timeout. */
const LATER_MS = 200

describe('an ARI source', () => {
  it('subscribes to all events with its credentials in a header, and lists channels and bridges', async () => {
    const { server, connects, source } = await startAriSource({ app: 'my app' })
    const { url } = await server.connected(0)
    expect(url).toBe('/ari/events?app=my%20app&subscribeAll=true')
    await until(() => connects() === 1)
    expect(server.requests).toEqual(['GET /ari/channels', 'GET /ari/bridges'])
    expect(source.status()).toMatchObject({ isConnected: true, openLegs: 0 })
  })

  it('publishes events in order, from the first frame on', async () => {
    const { server, hooks, published } = await startAriSource()
    server.responses.first = [ariEvent('ChannelCreated', ID, T0)]
    const { send } = await server.connected(0)
    send(
      ariEvent('ChannelVarset', ID, T0, {}, { variable: 'x', value: '"type":"ChannelDestroyed"' }),
      ariEvent('ChannelStateChange', ID, T0 + 5, { state: 'Up' }),
      ariEvent('ChannelDestroyed', ID, T0 + 1_500, { state: 'Up' }, { cause: 16 }),
    )
    await until(() => published.length === 3)
    expect(hooks()).toEqual([`${ID} create`, `${ID} answer`, `${ID} destroy`])
    expect(published[2]).toMatchObject({ accountId: 'acme', hangupCode: 'sip:200', timestampMs: T0 + 1_500 })
  })

  it('a variable of a mebibyte ends no connection, and loses nothing', async () => {
    const { server, hooks, published, reasons } = await startAriSource()
    const { send } = await server.connected(0)
    const channelvars = { HUGE: 'x'.repeat(1_048_576) }
    send(
      ariEvent('ChannelCreated', ID, T0, { channelvars }),
      ariEvent('ChannelVarset', ID, T0, {}, { variable: 'HUGE', value: channelvars.HUGE }),
      ariEvent('ChannelDestroyed', ID, T0 + 1_500, { channelvars }, { cause: 16 }),
    )
    await until(() => published.length === 2)
    expect([hooks(), reasons()]).toEqual([[`${ID} create`, `${ID} destroy`], []])
  })

  it('a wrong password is reported and retried, and never appears in events or logs', async () => {
    const { clock, emitted, logged, reasons } = await startAriSource({ password: 'not-it-9' })
    await until(() => reasons().length === 1)
    expect(reasons()).toEqual(['the switch refused the username or password'])
    await clock.advance(LATER_MS)
    await until(() => reasons().length === 2)
    const all = JSON.stringify([emitted, logged])
    expect(all).not.toContain('not-it-9')
    expect(all).not.toContain(Buffer.from('hookswitch:not-it-9').toString('base64'))
  })

  it('a server that opens no WebSocket is reported', async () => {
    const { server, reasons } = await startAriSource()
    server.responses.upgrade = () => 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'
    await until(() => reasons().length === 1)
    expect(reasons()[0]).toBe('the switch answered 200 to /events')
  })

  it('a switch without /events is reported with its status', async () => {
    const { server, reasons } = await startAriSource()
    server.responses.upgrade = () => 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n'
    await until(() => reasons().length === 1)
    expect(reasons()[0]).toBe('the switch answered 404 to /events: is the module res_ari_events loaded?')
  })

  it('a server without ARI at this path is reported with a hint about the url', async () => {
    const { server, reasons } = await startAriSource()
    server.responses.upgrade = () => 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n'
    server.responses.ping = () => NOT_FOUND
    await until(() => reasons().length === 1)
    expect(reasons()[0]).toBe('the switch answered 404 to /asterisk/ping: does the url end with /ari?')
  })

  it('a close during the request for the reason ends the connection', { timeout: 8_000 }, async () => {
    const { server, source, reasons } = await startAriSource()
    server.responses.upgrade = () => 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n'
    server.responses.ping = () => undefined
    await until(() => server.requests.includes('GET /ari/asterisk/ping'))
    await source.close({ drainMs: 0 })
    expect(reasons()).toEqual([])
  })

  it('a server that never answers is disconnected', async () => {
    const { server, clock, reasons } = await startAriSource()
    let asked = 0
    server.responses.upgrade = () => {
      asked += 1
      return undefined
    }
    await until(() => asked === 1)
    await clock.advance(10_000)
    await until(() => reasons().length === 1)
    expect(reasons()[0]).toBe('no WebSocket within 10 s')
  })

  it('a list that does not arrive, or not to its end, ends the connection', async () => {
    const { server, clock, connects, reasons } = await startAriSource()
    server.responses.channels = () => undefined
    await until(() => server.requests.includes('GET /ari/channels'))
    await clock.advance(10_000)
    await until(() => reasons().length === 1)
    expect(reasons()[0]).toBe('no complete response to /channels within 10 s')
    server.responses.channels = () => []
    await clock.advance(LATER_MS)
    await until(() => connects() === 1)

    const slow = await startAriSource()
    slow.server.responses.partialChannels = true
    await until(() => slow.server.requests.includes('GET /ari/channels'))
    await slow.clock.advance(10_000)
    await until(() => slow.reasons().length === 1)
    expect(slow.reasons()[0]).toBe('no complete response to /channels within 10 s')
  })

  it('a close frame ends the connection, although the switch leaves the socket open', async () => {
    const { server, clock, connects, reasons } = await startAriSource()
    server.responses.ignoresClose = true
    const { sendRaw } = await server.connected(0)
    await until(() => connects() === 1)
    sendRaw(Buffer.from([0x88, 2, 0x03, 0xf3]))
    await until(() => reasons().length === 1)
    expect(reasons()[0]).toBe('the switch closed the connection')
    await clock.advance(LATER_MS)
    await until(() => connects() === 2)
  })

  it('a refused connection is reported', async () => {
    const { server, clock, reasons, connects } = await startAriSource()
    await until(() => connects() === 1)
    server.close()
    await until(() => reasons().length === 1)
    await clock.advance(LATER_MS)
    await until(() => reasons().length === 2)
    expect(reasons()[0]).toBe('the switch closed the connection')
    expect(reasons()[1]).toMatch(/ECONNREFUSED/)
  })

  it('an invalid list ends the connection with a reason, and the source reconnects', async () => {
    const { server, clock, reasons, connects } = await startAriSource()
    server.responses.channels = () => 'nonsense'
    await until(() => reasons().length === 1)
    expect(reasons()[0]).toBe('the switch does not list its channels')
    server.responses.channels = () => []
    await clock.advance(LATER_MS)
    await until(() => connects() === 1)
  })

  it('a silent switch is probed, and disconnected if it does not answer', async () => {
    const { server, clock, connects, reasons } = await startAriSource()
    const { socket } = await server.connected(0)
    await until(() => connects() === 1)
    const pinged = once(socket, 'data')
    await clock.advance(10_000)
    await pinged
    expect(reasons()).toEqual([])

    const silent = await startAriSource()
    silent.server.responses.pongs = false
    await until(() => silent.connects() === 1)
    await silent.clock.advance(20_000)
    await until(() => silent.reasons().length === 1)
    expect(silent.reasons()[0]).toBe('no sign of life for 20 s')
  })

  it('a frame above 16 MiB ends the connection before it is received', async () => {
    const { server, connects, reasons } = await startAriSource()
    const { sendRaw, socket } = await server.connected(0)
    await until(() => connects() === 1)
    const head = Buffer.from([0x81, 127, 0, 0, 0, 0, 0x02, 0, 0, 0])
    sendRaw(Buffer.concat([head, Buffer.alloc(1_000)]))
    await until(() => reasons().length === 1)
    expect(reasons()[0]).toMatch(/above 16 MiB/)
    expect(socket.bytesWritten).toBeLessThan(10_000)
  })

  it('another protocol on the socket is reported', async () => {
    const { server, connects, reasons } = await startAriSource()
    const { sendRaw } = await server.connected(0)
    await until(() => connects() === 1)
    sendRaw(Buffer.from('GET / HTTP/1.1\r\n\r\n'))
    await until(() => reasons().length === 1)
    expect(reasons()[0]).toMatch(/invalid frame/)
  })

  it('a binary frame is reported', async () => {
    const { server, connects, reasons } = await startAriSource()
    const { sendRaw } = await server.connected(0)
    await until(() => connects() === 1)
    sendRaw(Buffer.from([0x82, 1, 0]))
    await until(() => reasons().length === 1)
    expect(reasons()[0]).toBe('it sent a frame that is not text')
  })

  it('a malformed frame is a problem, and later frames are still mapped', async () => {
    const { server, published, emitted } = await startAriSource()
    const { send, sendRaw } = await server.connected(0)
    sendRaw('{')
    send({ type: 'ChannelHold' }, ariEvent('ChannelCreated', ID, T0))
    await until(() => published.length === 1)
    expect(emitted.filter(([name]) => name === 'problem').map(([, { message }]) => message)).toEqual([
      ...['a frame is not a JSON object', 'ChannelHold: no channel'],
    ])
  })

  it('a takeover of the application by another client is reported', async () => {
    const { server, connects, reasons } = await startAriSource()
    const { send } = await server.connected(0)
    await until(() => connects() === 1)
    send({
      type: 'ApplicationReplaced',
      timestamp: '2026-01-01T00:00:00.000+0000',
      application: 'hookswitch',
    })
    await until(() => reasons().length === 1)
    expect(reasons()[0]).toMatch(/another client has taken over the application/)
  })

  it('a reconnect finds a missed end, a missed answer, a missed call and missed bridges', async () => {
    const { server, clock, hooks, published, connects, source } = await startAriSource()
    const { send, socket } = await server.connected(0)
    await until(() => connects() === 1)
    const [gone, first, second, fresh] = ['1767225600.1', '1767225600.2', '1767225600.3', '1767225600.4']
    send(...[gone, first, second].map((id) => ariEvent('ChannelCreated', id, T0)))
    await until(() => published.length === 3)
    server.responses.channels = () => [first, second, fresh].map((id) => ariChannel(id, { state: 'Up' }))
    server.responses.bridges = () => [{ id: 'b', bridge_class: 'basic', channels: [first, second] }]
    socket.destroy()
    await until(() => !source.status().isConnected)
    await clock.advance(LATER_MS)
    await until(() => connects() === 2 && published.length === 10)
    expect(hooks().slice(3).sort()).toEqual(
      [
        ...[`${first} answer`, `${second} answer`, `${first} bridge`, `${second} bridge`],
        ...[`${fresh} create`, `${fresh} answer`, `${gone} destroy`],
      ].sort(),
    )
    expect(published.find((event) => event.callId === fresh)?.timestampMs).toBe(T0)
  })

  it('events that arrive during the listing are neither lost nor duplicated', async () => {
    const { server, published, hooks, connects } = await startAriSource()
    const [early, late] = ['1767225600.1', '1767225600.2']
    server.responses.first = [
      ariEvent('ChannelCreated', early, T0),
      ariEvent('ChannelDestroyed', early, T0 + 10, {}, { cause: 16 }),
      ariEvent('ChannelCreated', late, T0 + 20),
    ]
    server.responses.channels = () => [ariChannel(early)]
    await until(() => connects() === 1 && published.length === 3)
    expect(hooks().sort()).toEqual([`${early} create`, `${early} destroy`, `${late} create`].sort())
  })

  it('a close during the handshake ends the connection', async () => {
    const { server, source, reasons } = await startAriSource()
    let asked = false
    server.responses.upgrade = () => {
      asked = true
      return undefined
    }
    await until(() => asked)
    await source.close({ drainMs: 0 })
    expect(reasons()).toEqual([])
  })
})
