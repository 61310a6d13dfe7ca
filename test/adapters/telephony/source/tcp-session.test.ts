import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { systemClock } from 'hookswitch'
import { manualClock, until } from 'hookswitch/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { type Protocol, tcpSession } from '../../../../adapters/telephony/source/tcp-session.js'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

async function listening(onSocket: (socket: Socket) => void): Promise<number> {
  const server = createServer(onSocket).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function opened(port: number, over: Partial<Parameters<typeof tcpSession>[0]> = {}, protocol = {}) {
  const heard: string[] = []
  const lost: string[] = []
  const probes: number[] = []
  const speaks: Protocol = {
    receive: (chunk) => void heard.push(chunk.toString()),
    probe: () => void probes.push(1),
    lost: (reason) => void lost.push(reason),
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
  const { session } = await tcpSession(options, new AbortController().signal, () => speaks)
  return { session, heard, lost, probes }
}

describe('a TCP session', () => {
  it('gives what comes, and ends with the reason when the other side closes', async () => {
    const port = await listening((socket) => socket.end('hello'))
    const { session, heard, lost } = await opened(port)
    expect(await session.ended).toBe('the switch closed the connection')
    expect(heard.join('')).toBe('hello')
    expect(lost).toEqual(['the switch closed the connection'])
  })

  it('ends with what the protocol throws', async () => {
    const port = await listening((socket) => socket.write('hello'))
    const { session } = await opened(
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

  it('stops reading while it is full: what comes waits in the network, nothing is dropped', async () => {
    const BYTES = 20_000_000
    let sent = 0
    const port = await listening((socket) => {
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
    const { session } = await opened(
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

  it('asks a silent switch for a sign of life, and ends when there is none', async () => {
    const port = await listening((socket) => socket.resume())
    const clock = manualClock()
    const { session, probes } = await opened(port, { clock, silenceMs: 20_000 })
    await clock.advance(20_000)
    expect(probes).toHaveLength(1)
    await clock.advance(20_000)
    expect(await session.ended).toBe('no sign of life for 40 s')
    expect(clock.sleepers().count).toBe(0)
  })

  it('takes any answer as a sign of life', async () => {
    let speak: (text: string) => void = () => {}
    const port = await listening((socket) => {
      speak = (text) => void socket.write(text)
    })
    const clock = manualClock()
    const { session, probes, heard } = await opened(port, { clock, silenceMs: 20_000 })
    for (let round = 1; round <= 5; round += 1) {
      await clock.advance(20_000)
      expect(probes).toHaveLength(round)
      speak(`pong ${round}`)
      await until(() => heard.at(-1) === `pong ${round}`)
    }
    session.close()
    expect(await session.ended).toBe('closed')
  })

  it('says why it could not connect: refused, too slow, given up', async () => {
    const port = await listening(() => {})
    const hurried = { ...systemClock(), sleep: async () => {} }
    await expect(opened(port, { clock: hurried })).rejects.toThrow('no connection within 5 s')
    for (const server of servers.splice(0)) server.close()
    await expect(opened(port)).rejects.toThrow(/ECONNREFUSED/)

    const aborted = new AbortController()
    aborted.abort()
    const nobody = {
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
    await expect(tcpSession(nobody, aborted.signal, never)).rejects.toThrow('closed')
  })
})
