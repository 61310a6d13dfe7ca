/**
 * A TCP connection to a switch, with backpressure and liveness: it stops reading while the service is full, probes a
 * silent switch, and disconnects if no data follows. The bytes are left to a `SwitchProtocol`.
 */
import { connect, isIP, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import type { Clock } from 'hookswitch'
import { watchLiveness } from './liveness.js'

/** The protocol of a switch on one connection. */
export interface SwitchProtocol {
  /** Handles received bytes. An error ends the connection, with its message as the reason. */
  receive(chunk: Buffer): void
  /** Sends a request whose answer, whatever it is, proves that the switch is alive. */
  probe(): void
  /** The connection is over: fail every pending request. */
  onDisconnected(reason: string): void
}

/** How the certificate of a switch is checked. */
export interface TlsOptions {
  /**
   * The certificates of the authorities to trust, PEM; with a self-signed certificate that certificate itself. Default:
   * those of Node.
   */
  readonly ca?: string | readonly string[] | undefined
  /** The name in the certificate. Default: the option `host`. */
  readonly servername?: string | undefined
}

/** Address, limits and dependencies of a TCP session. */
export interface TcpSessionOptions {
  readonly host: string
  readonly port: number
  readonly clock: Clock
  /** Encrypts the connection. `undefined`: not encrypted. */
  readonly tls?: TlsOptions | undefined
  /** How long connecting may take, milliseconds. */
  readonly connectTimeoutMs: number
  /**
   * Sends a probe after this time without data, and disconnects when a probe goes unanswered for as long, milliseconds.
   * `undefined`: a protocol without probes; TCP keep-alive finds a dead connection.
   */
  readonly silenceMs: number | undefined
  /** Whether to stop reading; checked after each chunk. */
  readonly isFull: () => boolean
}

/** An open connection. */
export interface TcpSession {
  /** Resolves when the connection is over, with a short reason. */
  readonly ended: Promise<string>
  /** Sends a text. */
  write(text: string): void
  /** Resumes reading after `isFull`. */
  resume(): void
  /** @param reason the value of `ended`. Default 'closed' */
  close(reason?: string): void
}

/**
 * Connects.
 *
 * @param createProtocol creates the protocol, which may write at once
 * @throws an error whose message is the reason: refused, timed out, closed
 */
export async function openTcpSession(
  options: TcpSessionOptions,
  signal: AbortSignal,
  createProtocol: (session: TcpSession) => SwitchProtocol,
): Promise<{ readonly session: TcpSession; readonly protocol: SwitchProtocol }> {
  const { clock, silenceMs, isFull } = options
  const socket = await openSocket(options, signal)
  let resolveEnded: (reason: string) => void = () => {}
  const ended = new Promise<string>((resolve) => {
    resolveEnded = resolve
  })
  const over = new AbortController()

  const session: TcpSession = {
    ended,
    write: (text) => void socket.write(text),
    resume() {
      liveness?.onSignOfLife()
      socket.resume()
    },
    close(reason = 'closed') {
      if (over.signal.aborted) return
      over.abort()
      socket.destroy()
      protocol.onDisconnected(reason)
      resolveEnded(reason)
    },
  }
  const protocol = createProtocol(session)
  const liveness =
    silenceMs === undefined
      ? undefined
      : watchLiveness({
          clock,
          silenceMs,
          probe: () => protocol.probe(),
          isPaused: () => socket.isPaused(),
          onDead: session.close,
          signal: over.signal,
        })

  socket.setKeepAlive(true, 30_000)
  socket.on('data', (chunk) => {
    liveness?.onSignOfLife()
    try {
      protocol.receive(chunk)
      if (isFull()) socket.pause()
    } catch (thrown) {
      session.close(thrown instanceof Error ? thrown.message : String(thrown))
    }
  })
  socket.on('error', (error) => session.close(error.message))
  socket.on('close', () => session.close('the switch closed the connection'))
  return { session, protocol }
}

function openSocket(
  { host, port, tls, clock, connectTimeoutMs: timeoutMs }: TcpSessionOptions,
  signal: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = tls ? connectTls(tlsConnectOptions(host, port, tls)) : connect({ host, port })
    socket.setNoDelay(true)
    const settled = new AbortController()
    const fail = (reason: string) => {
      settled.abort()
      signal.removeEventListener('abort', onAbort)
      socket.destroy()
      reject(new Error(reason))
    }
    const onAbort = () => fail('closed')
    const onError = (error: Error) => fail(error.message)
    signal.addEventListener('abort', onAbort)
    socket.on('error', onError)
    socket.once(tls ? 'secureConnect' : 'connect', () => {
      settled.abort()
      signal.removeEventListener('abort', onAbort)
      socket.off('error', onError)
      resolve(socket)
    })
    if (signal.aborted) return onAbort()
    void clock.sleep(timeoutMs, settled.signal).then(() => {
      if (!settled.signal.aborted) fail(`no connection within ${timeoutMs / 1000} s`)
    })
  })
}

/** A name is sent to the switch (SNI) only if it is not an address (RFC 6066, 3). */
function tlsConnectOptions(host: string, port: number, { ca, servername }: TlsOptions): ConnectionOptions {
  const name = servername ?? (isIP(host) === 0 ? host : undefined)
  return {
    host,
    port,
    ...(ca === undefined ? {} : { ca: typeof ca === 'string' ? ca : [...ca] }),
    ...(name === undefined ? {} : { servername: name }),
  }
}
