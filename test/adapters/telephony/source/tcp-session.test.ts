import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { systemClock } from 'hookswitch/adapter'
import { manualClock, until } from 'hookswitch/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { openTcpSession, type SwitchProtocol } from '../../../../adapters/telephony/source/tcp-session.js'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

async function startServer(onSocket: (socket: Socket) => void): Promise<number> {
  const server = createServer(onSocket).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function openSession(
  port: number,
  over: Partial<Parameters<typeof openTcpSession>[0]> = {},
  protocol = {},
) {
  const received: string[] = []
  const lost: string[] = []
  const probes: number[] = []
  const fullProtocol: SwitchProtocol = {
    receive: (chunk) => void received.push(chunk.toString()),
    probe: () => void probes.push(1),
    onDisconnected: (reason) => void lost.push(reason),
    ...protocol,
  }
  const options = {
    host: '127.0.0.1',
    port,
    clock: systemClock(),
    connectTimeoutMs: 5_000,
    silenceMs: 60_000,
    isFull: () => false,
    ...over,
  }
  const { session } = await openTcpSession(options, new AbortController().signal, () => fullProtocol)
  return { session, received, lost, probes }
}

describe('a TCP session', () => {
  it('passes on received bytes and ends with a reason when the switch closes', async () => {
    const port = await startServer((socket) => socket.end('hello'))
    const { session, received, lost } = await openSession(port)
    expect(await session.ended).toBe('the switch closed the connection')
    expect(received.join('')).toBe('hello')
    expect(lost).toEqual(['the switch closed the connection'])
  })

  it('ends with the message of an error of the protocol', async () => {
    const port = await startServer((socket) => socket.write('hello'))
    const { session } = await openSession(
      port,
      {},
      {
        receive() {
          throw new Error('a line above 64 KiB')
        },
      },
    )
    expect(await session.ended).toBe('a line above 64 KiB')
  })

  it('stops reading while the service is full, and drops nothing', async () => {
    const BYTES = 20_000_000
    let sent = 0
    const port = await startServer((socket) => {
      const chunk = Buffer.alloc(100_000)
      const more = () => {
        while (sent < BYTES) {
          sent += chunk.length
          if (!socket.write(chunk)) return void socket.once('drain', more)
        }
        socket.end()
      }
      more()
    })
    let isFull = true
    let bytes = 0
    const { session } = await openSession(
      port,
      { isFull: () => isFull },
      { receive: (c: Buffer) => (bytes += c.length) },
    )
    await until(() => bytes > 0)
    for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    expect(bytes).toBeLessThan(1_000_000)
    expect(sent).toBeLessThan(BYTES)
    isFull = false
    session.resume()
    await session.ended
    expect(bytes).toBe(BYTES)
  })

  it('probes a silent switch and disconnects if there is no answer', async () => {
    const port = await startServer((socket) => socket.resume())
    const clock = manualClock()
    const { session, probes } = await openSession(port, { clock, silenceMs: 20_000 })
    await clock.advance(20_000)
    expect(probes).toHaveLength(1)
    await clock.advance(20_000)
    expect(await session.ended).toBe('no sign of life for 40 s')
    expect(clock.sleepers().count).toBe(0)
  })

  it('neither probes nor disconnects a switch that it does not read from', async () => {
    const port = await startServer((socket) => socket.write('hello'))
    const clock = manualClock()
    let isFull = true
    const { session, received, probes, lost } = await openSession(port, {
      clock,
      silenceMs: 20_000,
      isFull: () => isFull,
    })
    await until(() => received.length > 0)
    await clock.advance(200_000)
    expect([probes, lost]).toEqual([[], []])
    isFull = false
    session.resume()
    await clock.advance(20_000)
    expect([probes.length, lost]).toEqual([1, []])
    session.close()
  })

  it('accepts any data as an answer to a probe', async () => {
    let write: (text: string) => void = () => {}
    const port = await startServer((socket) => {
      write = (text) => void socket.write(text)
    })
    const clock = manualClock()
    const { session, probes, received } = await openSession(port, { clock, silenceMs: 20_000 })
    for (let round = 1; round <= 5; round += 1) {
      await clock.advance(20_000)
      expect(probes).toHaveLength(round)
      write(`pong ${round}`)
      await until(() => received.at(-1) === `pong ${round}`)
    }
    session.close()
    expect(await session.ended).toBe('closed')
  })

  it('rejects with the reason: refused, timed out, closed', async () => {
    const port = await startServer(() => {})
    const expiredClock = { ...systemClock(), sleep: async () => {} }
    await expect(openSession(port, { clock: expiredClock })).rejects.toThrow('no connection within 5 s')
    for (const server of servers.splice(0)) server.close()
    await expect(openSession(port)).rejects.toThrow(/ECONNREFUSED/)

    const aborted = new AbortController()
    aborted.abort()
    const options = {
      host: '127.0.0.1',
      port,
      clock: systemClock(),
      connectTimeoutMs: 1,
      silenceMs: 1,
      isFull: () => false,
    }
    const never = () => {
      throw new Error('never')
    }
    await expect(openTcpSession(options, aborted.signal, never)).rejects.toThrow('closed')
  })
})
