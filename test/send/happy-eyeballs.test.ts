import type * as net from 'node:net'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { type ConnectResult, connectHappyEyeballs } from '../../src/send/happy-eyeballs.js'
import { cleanUpAfterEach, OK, onCleanup, startReceiver, unsent } from './harness.js'

const connect = vi.hoisted(() => vi.fn())
vi.mock('node:net', async (original) => ({ ...(await original<typeof net>()), connect }))
const real = await vi.importActual<typeof net>('node:net')

cleanUpAfterEach()
beforeEach(() => {
  connect.mockReset().mockImplementation(real.connect)
})

type ConnectOptions = net.TcpNetConnectOpts

function connecting(list: readonly string[], port: number) {
  const sockets: net.Socket[] = []
  onCleanup(() => {
    for (const socket of sockets) socket.destroy()
  })
  let abort = () => {}
  const result = new Promise<ConnectResult>((resolve) => {
    abort = connectHappyEyeballs(list, port, (socket) => sockets.push(socket), resolve)
  })
  return { result, sockets, abort }
}

/** A socket whose connection fails with this system error. */
function failing(code: string): net.Socket {
  const socket = new real.Socket()
  setImmediate(() => socket.destroy(Object.assign(new Error(code), { code, syscall: 'connect' })))
  return socket
}

const attempted = () => connect.mock.calls.map(([options]) => (options as ConnectOptions).host)

describe('connectHappyEyeballs', () => {
  it('destroys a connection whose peer is not the requested address', async () => {
    const { port, connections } = await startReceiver((socket) => socket.write(OK))
    connect.mockImplementation((options: ConnectOptions) => real.connect({ ...options, host: '127.0.0.1' }))
    const { result, sockets } = connecting(['127.0.0.5'], port)
    expect(await result).toEqual({
      failure: unsent('blocked_address', 'blocked_address'),
    })
    expect(sockets.map((socket) => socket.destroyed)).toEqual([true])
    expect(connections.length).toBeLessThanOrEqual(1)
  })

  it('tries the next address while one does not respond, and destroys the losing connection', async () => {
    const { port } = await startReceiver((socket) => socket.write(OK))
    connect.mockImplementation((options: ConnectOptions) =>
      options.host === '192.0.2.1' ? new real.Socket() : real.connect(options),
    )
    const { result, sockets } = connecting(['192.0.2.1', '127.0.0.1'], port)
    const connected = await result
    expect('socket' in connected && connected.socket.remoteAddress).toBe('127.0.0.1')
    expect(sockets.map((socket) => socket.destroyed)).toEqual([true, false])
  })

  it('tries at most eight addresses, in order, alternating IPv4 and IPv6', async () => {
    connect.mockImplementation(() => failing('ECONNREFUSED'))
    const list = [...Array.from({ length: 20 }, (_, n) => `2606:4700::${n}`), '1.1.1.1', '2.2.2.2']
    const { result } = connecting(list, 1)
    expect(await result).toMatchObject({ failure: { failure: 'connection' } })
    expect(attempted()).toEqual([
      '1.1.1.1',
      '2606:4700::0',
      '2.2.2.2',
      '2606:4700::1',
      '2606:4700::2',
      '2606:4700::3',
      '2606:4700::4',
      '2606:4700::5',
    ])
  })

  it.each([
    ['refused', ['ECONNREFUSED', 'ENETUNREACH']],
    ['refused', ['ENETUNREACH', 'ECONNREFUSED']],
    ['refused', ['ETIMEDOUT', 'ECONNREFUSED', 'EHOSTUNREACH']],
    ['reset', ['ECONNRESET', 'ETIMEDOUT']],
    ['timeout_connect', ['EHOSTUNREACH', 'ETIMEDOUT', 'EADDRNOTAVAIL']],
    ['unreachable', ['EACCES', 'EHOSTUNREACH', 'EACCES']],
    ['connection_failed', ['EACCES', 'EACCES']],
  ])('reports the most telling failure of several addresses: %s of %j', async (cause, codes) => {
    const list = codes.map((_, index) => `2606:4700::${index}`)
    connect.mockImplementation(({ host }: ConnectOptions) => failing(codes[list.indexOf(host!)]!))
    expect(await connecting(list, 1).result).toMatchObject({ failure: { kind: 'no_response', cause } })
  })

  it('reports an internal fault when one address failed for lack of resources, whatever the others did', async () => {
    connect.mockImplementation(({ host }: ConnectOptions) =>
      failing(host === '2.2.2.2' ? 'EMFILE' : 'ECONNREFUSED'),
    )
    expect(await connecting(['1.1.1.1', '2.2.2.2', '3.3.3.3'], 1).result).toMatchObject({
      failure: { kind: 'own_fault' },
    })
  })

  it('never lets Node resolve a name', async () => {
    const { result } = connecting(['localhost'], 1)
    expect(await result).toMatchObject({
      failure: { failure: 'connection', detail: 'not an address: localhost' },
    })
  })

  it('does not call back after it was aborted', async () => {
    connect.mockImplementation(() => failing('ECONNREFUSED'))
    const { result, sockets, abort } = connecting(['1.1.1.1', '2.2.2.2'], 1)
    abort()
    const later = new Promise((resolve) => setImmediate(() => setImmediate(() => resolve('nothing'))))
    expect(await Promise.race([result, later])).toBe('nothing')
    expect([sockets.length, sockets[0]!.destroyed, attempted()]).toEqual([1, true, ['1.1.1.1']])
  })

  it('reports a connection failure for an empty list', async () => {
    expect(await connecting([], 1).result).toMatchObject({ failure: { failure: 'connection' } })
  })
})
