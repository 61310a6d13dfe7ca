import { once } from 'node:events'
import { until } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { ariChannel, ariEventOf, NOT_FOUND } from './asterisk-ari-server.js'
import { underTest } from './asterisk-ari-under-test.js'

const T0 = 1_767_225_600_000
const ID = '1767225600.7'
/** So that the connection comes back, and not so late that it could time out. */
const LATER_MS = 200

describe('a source on ARI', () => {
  it('subscribes to everything with its key in a header, and asks for the channels and bridges', async () => {
    const { server, connects, source } = await underTest({ app: 'my app' })
    const { url } = await server.connected(0)
    expect(url).toBe('/ari/events?app=my%20app&subscribeAll=true')
    await until(() => connects() === 1)
    expect(server.requests).toEqual(['GET /ari/channels', 'GET /ari/bridges'])
    expect(source.status()).toMatchObject({ isConnected: true, openLegs: 0 })
  })

  it('publishes what happens, in order, from the first frame on', async () => {
    const { server, hooks, published } = await underTest()
    server.manners.first = [ariEventOf('ChannelCreated', ID, T0)]
    const { say } = await server.connected(0)
    say(
      ariEventOf('ChannelVarset', ID, T0, {}, { variable: 'x', value: '"type":"ChannelDestroyed"' }),
      ariEventOf('ChannelStateChange', ID, T0 + 5, { state: 'Up' }),
      ariEventOf('ChannelDestroyed', ID, T0 + 1_500, { state: 'Up' }, { cause: 16 }),
    )
    await until(() => published.length === 3)
    expect(hooks()).toEqual([`${ID} create`, `${ID} answer`, `${ID} destroy`])
    expect(published[2]).toMatchObject({ accountId: 'acme', hangupCode: 'sip:200', timestampMs: T0 + 1_500 })
  })

  it('a wrong password is a clear reason, is tried again and never told', async () => {
    const { clock, told, said, reasons } = await underTest({ password: 'not-it-9' })
    await until(() => reasons().length === 1)
    expect(reasons()).toEqual(['the switch refused the username or password'])
    await clock.advance(LATER_MS)
    await until(() => reasons().length === 2)
    const all = JSON.stringify([told, said])
    expect(all).not.toContain('not-it-9')
    expect(all).not.toContain(Buffer.from('hookswitch:not-it-9').toString('base64'))
  })

  it('a server that opens no WebSocket is a clear reason', async () => {
    const { server, reasons } = await underTest()
    server.manners.upgrade = () => 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'
    await until(() => reasons().length === 1)
    expect(reasons()[0]).toBe('it does not open a WebSocket')
  })

  it('one that has no ARI at this address is asked about the address', async () => {
    const { server, reasons } = await underTest()
    server.manners.upgrade = () => 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n'
    server.manners.ping = () => NOT_FOUND
    await until(() => reasons().length === 1)
    expect(reasons()[0]).toBe('the switch answered 404 to /asterisk/ping: does the url end with /ari?')
  })

  it('closed while it asks why it was refused, it is closed', { timeout: 8_000 }, async () => {
    const { server, source, reasons } = await underTest()
    server.manners.upgrade = () => 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n'
    server.manners.ping = () => undefined
    await until(() => server.requests.includes('GET /ari/asterisk/ping'))
    await source.close({ drainMs: 0 })
    expect(reasons()).toEqual([])
  })

  it('one that never answers is left', async () => {
    const { server, clock, reasons } = await underTest()
    let asked = 0
    server.manners.upgrade = () => {
      asked += 1
      return undefined
    }
    await until(() => asked === 1)
    await clock.advance(10_000)
    await until(() => reasons().length === 1)
    expect(reasons()[0]).toBe('no WebSocket within 10 s')
  })

  it('nobody there is a clear reason', async () => {
    const { server, clock, reasons, connects } = await underTest()
    await until(() => connects() === 1)
    server.close()
    await until(() => reasons().length === 1)
    await clock.advance(LATER_MS)
    await until(() => reasons().length === 2)
    expect(reasons()[0]).toBe('the switch closed the connection')
    expect(reasons()[1]).toMatch(/ECONNREFUSED/)
  })

  it('a list that is none ends it with a clear reason, and it comes back', async () => {
    const { server, clock, reasons, connects } = await underTest()
    server.manners.channels = () => 'nonsense'
    await until(() => reasons().length === 1)
    expect(reasons()[0]).toBe('the switch does not list its channels')
    server.manners.channels = () => []
    await clock.advance(LATER_MS)
    await until(() => connects() === 1)
  })

  it('a switch that falls silent is asked, and left when it says nothing', async () => {
    const { server, clock, connects, reasons } = await underTest()
    const { socket } = await server.connected(0)
    await until(() => connects() === 1)
    const pinged = once(socket, 'data')
    await clock.advance(20_000)
    await pinged
    expect(reasons()).toEqual([])

    const mute = await underTest()
    mute.server.manners.pongs = false
    await until(() => mute.connects() === 1)
    await mute.clock.advance(40_000)
    await until(() => mute.reasons().length === 1)
    expect(mute.reasons()[0]).toBe('no sign of life for 40 s')
  })

  it('a frame above 1 MiB ends the connection before it is read', async () => {
    const { server, connects, reasons } = await underTest()
    const { sayRaw, socket } = await server.connected(0)
    await until(() => connects() === 1)
    const head = Buffer.from([0x81, 127, 0, 0, 0, 0, 0, 0x20, 0, 0])
    sayRaw(Buffer.concat([head, Buffer.alloc(1_000)]))
    await until(() => reasons().length === 1)
    expect(reasons()[0]).toMatch(/above 1 MiB/)
    expect(socket.bytesWritten).toBeLessThan(10_000)
  })

  it('another protocol on the socket is a clear reason', async () => {
    const { server, connects, reasons } = await underTest()
    const { sayRaw } = await server.connected(0)
    await until(() => connects() === 1)
    sayRaw(Buffer.from('GET / HTTP/1.1\r\n\r\n'))
    await until(() => reasons().length === 1)
    expect(reasons()[0]).toMatch(/what is no frame/)
  })

  it('a frame that is no text is a clear reason', async () => {
    const { server, connects, reasons } = await underTest()
    const { sayRaw } = await server.connected(0)
    await until(() => connects() === 1)
    sayRaw(Buffer.from([0x82, 1, 0]))
    await until(() => reasons().length === 1)
    expect(reasons()[0]).toBe('it sends a frame that is no text')
  })

  it('a frame that cannot be read is a problem, and everything else goes on', async () => {
    const { server, published, told } = await underTest()
    const { say, sayRaw } = await server.connected(0)
    sayRaw('{')
    say({ type: 'ChannelHold' }, ariEventOf('ChannelCreated', ID, T0))
    await until(() => published.length === 1)
    expect(told.filter(([name]) => name === 'problem').map(([, { message }]) => message)).toEqual([
      ...['a frame is not a JSON object', 'ChannelHold: no channel'],
    ])
  })

  it('another client with the same application takes it over: that is said', async () => {
    const { server, connects, reasons } = await underTest()
    const { say } = await server.connected(0)
    await until(() => connects() === 1)
    say({ type: 'ApplicationReplaced', timestamp: '2026-01-01T00:00:00.000+0000', application: 'hookswitch' })
    await until(() => reasons().length === 1)
    expect(reasons()[0]).toMatch(/another client has taken over the application/)
  })

  it('finds after a reconnect what it missed: an end, an answer, a call and who talks', async () => {
    const { server, clock, hooks, published, connects, source } = await underTest()
    const { say, socket } = await server.connected(0)
    await until(() => connects() === 1)
    const [gone, one, two, fresh] = ['1767225600.1', '1767225600.2', '1767225600.3', '1767225600.4']
    say(...[gone, one, two].map((id) => ariEventOf('ChannelCreated', id, T0)))
    await until(() => published.length === 3)
    server.manners.channels = () => [one, two, fresh].map((id) => ariChannel(id, { state: 'Up' }))
    server.manners.bridges = () => [{ id: 'b', bridge_class: 'basic', channels: [one, two] }]
    socket.destroy()
    await until(() => !source.status().isConnected)
    await clock.advance(LATER_MS)
    await until(() => connects() === 2 && published.length === 10)
    expect(hooks().slice(3).sort()).toEqual(
      [
        ...[`${one} answer`, `${two} answer`, `${one} bridge`, `${two} bridge`],
        ...[`${fresh} create`, `${fresh} answer`, `${gone} destroy`],
      ].sort(),
    )
    expect(published.find((event) => event.callId === fresh)?.timestampMs).toBe(T0)
  })

  it('what happens while the list is on its way is neither lost nor doubled', async () => {
    const { server, published, hooks, connects } = await underTest()
    const [early, late] = ['1767225600.1', '1767225600.2']
    server.manners.first = [
      ariEventOf('ChannelCreated', early, T0),
      ariEventOf('ChannelDestroyed', early, T0 + 10, {}, { cause: 16 }),
      ariEventOf('ChannelCreated', late, T0 + 20),
    ]
    server.manners.channels = () => [ariChannel(early)]
    await until(() => connects() === 1 && published.length === 3)
    expect(hooks().sort()).toEqual([`${early} create`, `${early} destroy`, `${late} create`].sort())
  })

  it('closed while it opens, it is closed', async () => {
    const { server, source, reasons } = await underTest()
    let asked = false
    server.manners.upgrade = () => {
      asked = true
      return undefined
    }
    await until(() => asked)
    await source.close({ drainMs: 0 })
    expect(reasons()).toEqual([])
  })
})
