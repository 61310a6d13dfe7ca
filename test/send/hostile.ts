/** Receivers that misbehave: plain sockets under a script, on loopback. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterEach } from 'vitest'
import type { Observation, Resolution, Resolver, Sender, SendRequest } from '../../src/ports.js'
import { createSender, type SenderOptions } from '../../src/send/undici.js'
import { compilePolicy } from '../../src/values/address-policy.js'

const cleanups: (() => Promise<void> | void)[] = []

/** To be called once in each test file: closes what the helpers opened. */
export function closeAfterEach(): void {
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })
}

export function later(cleanup: () => Promise<void> | void): void {
  cleanups.push(cleanup)
}

export interface Receiver {
  readonly port: number
  readonly url: string
  /** Connections seen so far. */
  readonly connections: Socket[]
  /** Whole requests seen so far, heads and bodies as text. */
  readonly requests: string[]
}

export type Script = (socket: Socket, request: string, index: number) => void

/** A receiver that runs `script` for every whole request (`index` counts them), and `greet` for every connection. */
export async function receiver(
  script: Script,
  greet: (socket: Socket) => void = () => {},
): Promise<Receiver> {
  const connections: Socket[] = []
  const requests: string[] = []
  const server = createServer((socket) => {
    connections.push(socket)
    socket.on('error', () => {})
    greet(socket)
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      for (let end = requestEnd(text); end !== undefined; end = requestEnd(text)) {
        const request = text.slice(0, end)
        text = text.slice(end)
        requests.push(request)
        script(socket, request, requests.length - 1)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  later(async () => {
    for (const socket of connections) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  return { port, url: `http://127.0.0.1:${port}/hook`, connections, requests }
}

function requestEnd(text: string): number | undefined {
  const head = text.indexOf('\r\n\r\n')
  if (head < 0) return undefined
  const end = head + 4 + Number(/content-length: (\d+)/i.exec(text.slice(0, head))?.[1] ?? 0)
  return text.length >= end ? end : undefined
}

export const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

/** A resolver that answers from a table and notes what it was asked. */
export function fakeResolver(
  answer: (hostname: string) => Resolution | Promise<Resolution>,
): Resolver & { asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    async resolve(hostname) {
      asked.push(hostname)
      return answer(hostname)
    },
    close() {},
  }
}

export const addresses = (...list: string[]): Resolution => ({ kind: 'addresses', addresses: list })

/** A sender that may call loopback addresses, closed after the test. */
export function localSender(options: Partial<SenderOptions> = {}): Required<Sender> {
  const sender = createSender({
    policy: compilePolicy({ allowLocal: true, allow: [] }),
    resolver: fakeResolver(() => addresses('127.0.0.1')),
    ...options,
  })
  later(() => sender.close())
  return sender
}

export function post(url: string, more: Partial<SendRequest> = {}): SendRequest {
  return {
    method: 'POST',
    url,
    headers: ['content-type', 'application/json'],
    body: '{"a":1}',
    deadlineMs: 5_000,
    group: 'hook',
    ...more,
  }
}

/** Sends one POST with a fresh sender to a fresh receiver. */
export async function tryOut(script: Script, more: Partial<SendRequest> = {}): Promise<Observation> {
  const { url } = await receiver(script)
  return localSender().send(post(url, more))
}
