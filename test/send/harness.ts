/** Scripted receivers on loopback sockets, a fake resolver, and senders that may call them. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterEach, expect } from 'vitest'
import type { Observation, Resolution, Resolver, Sender, SendRequest } from '../../src/ports.js'
import { createSender, type SenderOptions } from '../../src/send/sender.js'
import { compileAddressPolicy } from '../../src/values/address-policy.js'

const cleanups: (() => Promise<void> | void)[] = []

/** Call once in each test file: closes everything that the helpers opened, after each test. */
export function cleanUpAfterEach(): void {
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })
}

export function onCleanup(cleanup: () => Promise<void> | void): void {
  cleanups.push(cleanup)
}

export interface Receiver {
  readonly port: number
  readonly url: string
  /** Connections accepted so far. */
  readonly connections: Socket[]
  /** Complete requests received so far, heads and bodies as text. */
  readonly requests: string[]
}

export type Script = (socket: Socket, request: string, index: number) => void

/** Starts a receiver that runs `script` for every complete request (`index` counts them), `onConnection` for every connection. */
export async function startReceiver(
  script: Script,
  onConnection: (socket: Socket) => void = () => {},
): Promise<Receiver> {
  const connections: Socket[] = []
  const requests: string[] = []
  const server = createServer((socket) => {
    connections.push(socket)
    socket.on('error', () => {})
    onConnection(socket)
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
  onCleanup(async () => {
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

/** A resolver that calls `answer` and records the queried names. */
export function fakeResolver(
  answer: (hostname: string) => Resolution | Promise<Resolution>,
): Resolver & { queries: string[] } {
  const queries: string[] = []
  return {
    queries,
    async resolve(hostname) {
      queries.push(hostname)
      return answer(hostname)
    },
    close() {},
  }
}

export const addresses = (...list: string[]): Resolution => ({ kind: 'addresses', addresses: list })

/** Creates a sender that may call loopback addresses; it is closed after the test. */
export function localSender(options: Partial<SenderOptions> = {}): Required<Sender> {
  const sender = createSender({
    addressPolicy: compileAddressPolicy({ allowLocal: true, allow: [] }),
    resolver: fakeResolver(() => addresses('127.0.0.1')),
    ...options,
  })
  onCleanup(() => sender.close())
  return sender
}

export function post(url: string, overrides: Partial<SendRequest> = {}): SendRequest {
  return {
    method: 'POST',
    url,
    headers: ['content-type', 'application/json'],
    body: '{"a":1}',
    deadlineMs: 5_000,
    group: 'hook',
    ...overrides,
  }
}

/** The observation of a request without a response, before a byte of it was written. */
export function unsent(failure: unknown, cause: unknown, detail: unknown = expect.any(String)) {
  return { kind: 'no_response', failure, cause, detail, isSent: false }
}

/** As `unsent`, after the request was written. */
export function unanswered(failure: string, cause: unknown, detail?: unknown) {
  return { ...unsent(failure, cause, detail), isSent: true }
}

/** Sends one POST with a new sender to a new receiver. */
export async function sendTo(script: Script, overrides: Partial<SendRequest> = {}): Promise<Observation> {
  const { url } = await startReceiver(script)
  return localSender().send(post(url, overrides))
}
