import type * as net from 'node:net'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { type Dialled, dial } from '../../src/send/dial.js'
import { closeAfterEach, later, OK, receiver } from './hostile.js'

const connect = vi.hoisted(() => vi.fn())
vi.mock('node:net', async (original) => ({ ...(await original<typeof net>()), connect }))
const real = await vi.importActual<typeof net>('node:net')

closeAfterEach()
beforeEach(() => {
  connect.mockReset().mockImplementation(real.connect)
})

type ConnectOptions = net.TcpNetConnectOpts

function dialling(list: readonly string[], port: number) {
  const opened: net.Socket[] = []
  later(() => {
    for (const socket of opened) socket.destroy()
  })
  let stop = () => {}
  const result = new Promise<Dialled>((resolve) => {
    stop = dial(list, port, (socket) => opened.push(socket), resolve)
  })
  return { result, opened, stop }
}

/** A socket whose connection fails as if the system had said so. */
function failing(code: string): net.Socket {
  const socket = new real.Socket()
  setImmediate(() => socket.destroy(Object.assign(new Error(code), { code })))
  return socket
}

const dialled = () => connect.mock.calls.map(([options]) => (options as ConnectOptions).host)

describe('dial', () => {
  it('destroys a connection whose peer is not the address that was dialled', async () => {
    const { port, connections } = await receiver((socket) => socket.write(OK))
    connect.mockImplementation((options: ConnectOptions) => real.connect({ ...options, host: '127.0.0.1' }))
    const { result, opened } = dialling(['127.0.0.5'], port)
    expect(await result).toEqual({
      failed: { kind: 'no_response', failure: 'blocked_address', detail: expect.any(String) },
    })
    expect(opened.map((socket) => socket.destroyed)).toEqual([true])
    expect(connections.length).toBeLessThanOrEqual(1)
  })

  it('goes on to the next address while one says nothing, and gives that one up when another connects', async () => {
    const { port } = await receiver((socket) => socket.write(OK))
    connect.mockImplementation((options: ConnectOptions) =>
      options.host === '192.0.2.1' ? new real.Socket() : real.connect(options),
    )
    const { result, opened } = dialling(['192.0.2.1', '127.0.0.1'], port)
    const seen = await result
    expect('socket' in seen && seen.socket.remoteAddress).toBe('127.0.0.1')
    expect(opened.map((socket) => socket.destroyed)).toEqual([true, false])
  })

  it('dials no more than eight addresses, in order, IPv4 and IPv6 by turns', async () => {
    connect.mockImplementation(() => failing('ECONNREFUSED'))
    const list = [...Array.from({ length: 20 }, (_, n) => `2606:4700::${n}`), '1.1.1.1', '2.2.2.2']
    const { result } = dialling(list, 1)
    expect(await result).toMatchObject({ failed: { failure: 'connection' } })
    expect(dialled()).toEqual([
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

  it('is our own fault when one address failed for want of resources, whatever the others did', async () => {
    connect.mockImplementation(({ host }: ConnectOptions) =>
      failing(host === '2.2.2.2' ? 'EMFILE' : 'ECONNREFUSED'),
    )
    expect(await dialling(['1.1.1.1', '2.2.2.2', '3.3.3.3'], 1).result).toMatchObject({
      failed: { kind: 'own_fault' },
    })
  })

  it('never lets node look a name up', async () => {
    const { result } = dialling(['localhost'], 1)
    expect(await result).toMatchObject({
      failed: { failure: 'connection', detail: 'not an address: localhost' },
    })
  })

  it('says nothing any more when it was stopped', async () => {
    connect.mockImplementation(() => failing('ECONNREFUSED'))
    const { result, opened, stop } = dialling(['1.1.1.1', '2.2.2.2'], 1)
    stop()
    const later = new Promise((resolve) => setImmediate(() => setImmediate(() => resolve('nothing'))))
    expect(await Promise.race([result, later])).toBe('nothing')
    expect([opened.length, opened[0]!.destroyed, dialled()]).toEqual([1, true, ['1.1.1.1']])
  })

  it('says that there is no address when the list is empty', async () => {
    expect(await dialling([], 1).result).toMatchObject({ failed: { failure: 'connection' } })
  })
})
