/** The transport of ARI: one WebSocket and the HTTP requests beside it, closed together. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Duplex } from 'node:stream'
import type { Clock } from 'hookswitch'
import { sanitizeError, sanitizeText } from '../source/sanitize.js'

/** Address and credentials. */
export interface AriAddress {
  /** The URL of ARI: `http://127.0.0.1:8088/ari`. */
  readonly url: string
  readonly username: string
  readonly password: string
  /** The application to subscribe as. */
  readonly app: string
}

/** Callbacks of a connection. */
interface AriListener {
  /** A text frame arrived. */
  onFrame(text: string): void
  /** The switch answered a ping. */
  onPong(): void
  /** The connection ended without `destroy`. */
  onEnded(reason: string): void
}

/** An open connection. */
export interface AriSocket {
  /** @returns the body @throws an error with the reason for any status but 200 */
  get(path: string): Promise<string>
  /** Sends a ping. */
  ping(): void
  /** Closes everything at once, without waiting for the switch. */
  destroy(): void
}

/** A larger frame ends the connection. */
const MAX_FRAME_BYTES = 16_777_216
/** Largest response body. */
const MAX_LIST_BYTES = 67_108_864

/**
 * Connects. The credentials are sent in a header, not in a URL that could be logged.
 *
 * @throws an error whose message is a short reason without the credentials
 */
export async function openAriSocket(
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
  const headers = { authorization: `Basic ${basicCredentials(address)}` }

  const read = async (path: string, ended: AbortSignal): Promise<string> => {
    const options = { dispatcher: agent, headers, signal: ended }
    const { statusCode, body } = await request(`${url}${path}`, options)
    if (statusCode !== 200) {
      await body.dump()
      throw new Error(statusReason(statusCode, path))
    }
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes > MAX_LIST_BYTES)
        throw new Error(`a response above ${MAX_LIST_BYTES / 1_048_576} MiB to ${path}`)
      chunks.push(chunk)
    }
    return Buffer.concat(chunks).toString('utf8')
  }
  const get = async (path: string): Promise<string> => {
    const done = new AbortController()
    const late = new AbortController()
    // The timeouts of undici start anew with each part of a response.
    void clock.sleep(timeoutMs, done.signal).then(() => {
      if (!done.signal.aborted)
        late.abort(new Error(`no complete response to ${path} within ${timeoutMs / 1000} s`))
    })
    try {
      return await read(path, AbortSignal.any([over.signal, late.signal]))
    } catch (thrown) {
      throw late.signal.aborted ? late.signal.reason : thrown
    } finally {
      done.abort()
    }
  }

  const onPong = (message: unknown) => {
    if ((message as { websocket?: unknown }).websocket === socket) listener.onPong()
  }
  const destroy = () => {
    if (over.signal.aborted) return
    over.abort()
    unsubscribe('undici:websocket:pong', onPong)
    socket.close()
    for (const open of sockets) open.destroy()
    void agent.destroy()
  }

  const handshake = new URL(
    `${url.replace(/^http/, 'ws')}/events?app=${encodeURIComponent(app)}&subscribeAll=true`,
  )
  const handshakePath = `${handshake.pathname}${handshake.search}`
  const socket = new WebSocket(handshake, { dispatcher: agent, headers })
  let isOpen = false
  let error: string | undefined
  // Listens at once: the first frame may arrive in the same packet as the handshake response.
  socket.addEventListener('open', () => {
    isOpen = true
    // undici closes the connection without a reason after an invalid or too large frame. That reason is assumed unless
    // the socket itself ends or fails.
    error = `it sent an invalid frame, or one above ${MAX_FRAME_BYTES / 1_048_576} MiB`
    const [wire] = sockets
    wire?.once('end', () => {
      error = undefined
    })
    wire?.once('error', ({ message }) => {
      error = sanitizeText(message, ...secretsOf(address))
    })
    // After a close frame undici waits without limit for the switch to close the connection.
    wire?.on('data', () => {
      if (socket.readyState === WebSocket.CLOSING) wire.destroy()
    })
  })
  socket.addEventListener('message', ({ data }) => {
    if (over.signal.aborted) return
    if (typeof data === 'string') return listener.onFrame(data)
    listener.onEnded('it sent a frame that is not text')
  })
  socket.addEventListener('close', ({ wasClean }) => {
    if (!isOpen) return
    destroy()
    listener.onEnded((wasClean ? undefined : error) ?? 'the switch closed the connection')
  })

  let handshakeStatus: number | undefined
  const onHeaders = (message: unknown) => {
    const { request, response } = message as HeadersMessage
    if (request.upgrade === 'websocket' && request.path === handshakePath)
      handshakeStatus = response.statusCode
  }
  subscribe('undici:request:headers', onHeaders)
  signal.addEventListener('abort', destroy)
  try {
    await waitForOpen(socket, clock, timeoutMs, signal)
  } catch (thrown) {
    // The error of a WebSocket is the same for every refusal; an HTTP request yields the reason.
    const isSpecific = signal.aborted || (thrown as Error).message.startsWith('no ')
    const requestReason = () =>
      get('/asterisk/ping').then(
        () => (handshakeStatus === undefined ? undefined : statusReason(handshakeStatus, '/events')),
        (error) => sanitizedMessage(error, address),
      )
    const reason = isSpecific ? undefined : await requestReason()
    destroy()
    throw reason === undefined ? thrown : new Error(signal.aborted ? 'closed' : reason)
  } finally {
    signal.removeEventListener('abort', destroy)
    unsubscribe('undici:request:headers', onHeaders)
  }
  subscribe('undici:websocket:pong', onPong)
  return { get, ping: () => ping(socket), destroy }
}

/** Resolves when the WebSocket is open. @throws an error with the reason why it is not */
function waitForOpen(
  socket: EventTarget,
  clock: Clock,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
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

/** What 404 to a path usually means. */
const HINTS: Readonly<Record<string, string>> = {
  '/asterisk/ping': 'does the url end with /ari?',
  '/events': 'is the module res_ari_events loaded?',
}

/** What undici publishes when it has received the head of a response. */
interface HeadersMessage {
  readonly request: { readonly path: string; readonly upgrade?: string | null }
  readonly response: { readonly statusCode: number }
}

function statusReason(status: number, path: string): string {
  if (status === 401 || status === 403) return 'the switch refused the username or password'
  const hint = status === 404 ? HINTS[path] : undefined
  return `the switch answered ${status} to ${path}${hint === undefined ? '' : `: ${hint}`}`
}

/** Basic authentication (RFC 7617, 2). */
function basicCredentials({ username, password }: AriAddress): string {
  return Buffer.from(`${username}:${password}`).toString('base64')
}

function secretsOf(address: AriAddress): readonly string[] {
  return [address.password, basicCredentials(address)]
}

/** Describes a thrown value without the credentials, which the switch may have echoed. */
export function sanitizedMessage(thrown: unknown, address: AriAddress): string {
  const secrets = secretsOf(address)
  return thrown instanceof Error
    ? sanitizeText(thrown.message, ...secrets)
    : sanitizeError(thrown, ...secrets)
}
