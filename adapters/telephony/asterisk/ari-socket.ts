/** The door to ARI: one WebSocket and the requests beside it, ended together. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Duplex } from 'node:stream'
import type { Clock } from 'hookswitch'
import { said, shown } from '../source/said.js'

/** Where to, and as whom. */
export interface AriAddress {
  /** `http://127.0.0.1:8088/ari` */
  readonly url: string
  readonly username: string
  readonly password: string
  readonly app: string
}

/** What is told of the connection. */
export interface AriListener {
  frame(text: string): void
  /** The other side answered a ping. */
  pong(): void
  ended(reason: string): void
}

/** An open connection. */
export interface AriSocket {
  /** @returns the body @throws with the reason for any answer but a 200 */
  get(path: string): Promise<string>
  ping(): void
  /** At once, whatever the other side does. */
  destroy(): void
}

/** A frame above this size ends the connection; a list may be as long. */
const MAX_FRAME_BYTES = 1_048_576
const MAX_LIST_BYTES = 67_108_864

/**
 * Connects. The key goes in a header: it is in no address that somebody may log.
 *
 * @throws with the reason, in a few words, never with the key
 */
export async function ariSocket(
  address: AriAddress,
  clock: Clock,
  timeoutMs: number,
  signal: AbortSignal,
  listener: AriListener,
): Promise<AriSocket> {
  const { url, app } = address
  const { Agent, buildConnector, ping, request, WebSocket } = await import('undici')
  const over = new AbortController()
  const sockets = new Set<Duplex>()
  const connect = buildConnector({ timeout: timeoutMs })
  const agent = new Agent({
    connect(options, callback) {
      connect(options, (...result) => {
        const [error, socket] = result
        if (!error) {
          sockets.add(socket)
          socket.once('close', () => sockets.delete(socket))
          if (over.signal.aborted) socket.destroy()
        }
        callback(...result)
      })
    },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    webSocket: { maxPayloadSize: MAX_FRAME_BYTES },
  })
  const headers = { authorization: `Basic ${keyOf(address)}` }

  const get = async (path: string): Promise<string> => {
    const options = { dispatcher: agent, headers, signal: over.signal }
    const { statusCode, body } = await request(`${url}${path}`, options)
    if (statusCode !== 200) {
      await body.dump()
      throw new Error(refusal(statusCode, path))
    }
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes > MAX_LIST_BYTES)
        throw new Error(`an answer above ${MAX_LIST_BYTES / 1_048_576} MiB to ${path}`)
      chunks.push(chunk)
    }
    return Buffer.concat(chunks).toString('utf8')
  }

  const onPong = (message: unknown) => {
    if ((message as { websocket?: unknown }).websocket === socket) listener.pong()
  }
  const destroy = () => {
    if (over.signal.aborted) return
    over.abort()
    unsubscribe('undici:websocket:pong', onPong)
    socket.close()
    for (const one of sockets) one.destroy()
    void agent.destroy()
  }

  const socket = new WebSocket(
    `${url.replace(/^http/, 'ws')}/events?app=${encodeURIComponent(app)}&subscribeAll=true`,
    {
      dispatcher: agent,
      headers,
    },
  )
  let isOpen = false
  let error: string | undefined
  // From the first moment on: the first frame may come with the answer to the handshake.
  socket.addEventListener('open', () => {
    isOpen = true
    // undici ends what is no WebSocket frame, or too long a one, without a word: then nobody else has ended it.
    error = `it sends what is no frame, or one above ${MAX_FRAME_BYTES / 1_048_576} MiB`
    const [wire] = sockets
    wire?.once('end', () => {
      error = undefined
    })
    wire?.once('error', ({ message }) => {
      error = shown(message, ...secretsOf(address))
    })
  })
  socket.addEventListener('message', ({ data }) => {
    if (over.signal.aborted) return
    if (typeof data === 'string') return listener.frame(data)
    listener.ended('it sends a frame that is no text')
  })
  socket.addEventListener('close', ({ wasClean }) => {
    if (!isOpen) return
    destroy()
    listener.ended((wasClean ? undefined : error) ?? 'the switch closed the connection')
  })

  signal.addEventListener('abort', destroy)
  try {
    await opened(socket, clock, timeoutMs, signal)
  } catch (thrown) {
    // What a WebSocket says of a refusal is the same for all of them; the interface beside it knows better.
    const isTold = signal.aborted || (thrown as Error).message.startsWith('no ')
    const ask = () =>
      get('/asterisk/ping').then(
        () => undefined,
        (why) => messageOf(why, address),
      )
    const better = isTold ? undefined : await ask()
    destroy()
    throw better === undefined ? thrown : new Error(signal.aborted ? 'closed' : better)
  } finally {
    signal.removeEventListener('abort', destroy)
  }
  subscribe('undici:websocket:pong', onPong)
  return { get, ping: () => ping(socket), destroy }
}

/** Resolves when the WebSocket is open. @throws with why it is not */
function opened(socket: EventTarget, clock: Clock, timeoutMs: number, signal: AbortSignal): Promise<void> {
  const settled = new AbortController()
  return new Promise<void>((resolve, reject) => {
    const once = { signal: settled.signal }
    socket.addEventListener('open', () => resolve(), once)
    socket.addEventListener('error', () => reject(new Error('it does not open a WebSocket')), once)
    socket.addEventListener('close', () => reject(new Error('it does not open a WebSocket')), once)
    signal.addEventListener('abort', () => reject(new Error('closed')), once)
    if (signal.aborted) reject(new Error('closed'))
    void clock.sleep(timeoutMs, settled.signal).then(() => {
      reject(new Error(`no WebSocket within ${timeoutMs / 1000} s`))
    })
  }).finally(() => settled.abort())
}

function refusal(status: number, path: string): string {
  if (status === 401 || status === 403) return 'the switch refused the username or password'
  const isElsewhere = status === 404 && path === '/asterisk/ping'
  return `the switch answered ${status} to ${path}${isElsewhere ? ': does the url end with /ari?' : ''}`
}

/** Basic authentication (RFC 7617, 2). */
function keyOf({ username, password }: AriAddress): string {
  return Buffer.from(`${username}:${password}`).toString('base64')
}

function secretsOf(address: AriAddress): readonly string[] {
  return [address.password, keyOf(address)]
}

/** What was thrown, without what the other side was sent and may have sent back. */
export function messageOf(thrown: unknown, address: AriAddress): string {
  const secrets = secretsOf(address)
  return thrown instanceof Error ? shown(thrown.message, ...secrets) : said(thrown, ...secrets)
}
