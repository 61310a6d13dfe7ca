/**
 * A TCP connection to a switch, with backpressure and liveness: it stops reading while the service is full, probes a
 * silent switch, and disconnects if no data follows. The bytes are left to a `SwitchProtocol`.
 */
import { connect, type Socket } from 'node:net'
import type { Clock } from 'hookswitch'

/** The protocol of a switch on one connection. */
export interface SwitchProtocol {
  /** Handles received bytes. An error ends the connection, with its message as the reason. */
  receive(chunk: Buffer): void
  /** Sends a request whose answer, whatever it is, proves that the switch is alive. */
  probe(): void
  /** The connection is over: fail every pending request. */
  onDisconnected(reason: string): void
}

/** Address, limits and dependencies of a TCP session. */
export interface TcpSessionOptions {
  readonly host: string
  readonly port: number
  readonly clock: Clock
  /** How long connecting may take, milliseconds. */
  readonly connectTimeoutMs: number
  /** Sends a probe after this time without data and disconnects after twice this time, milliseconds. */
  readonly silenceMs: number
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
  { host, port, clock, connectTimeoutMs, silenceMs, isFull }: TcpSessionOptions,
  signal: AbortSignal,
  createProtocol: (session: TcpSession) => SwitchProtocol,
): Promise<{ readonly session: TcpSession; readonly protocol: SwitchProtocol }> {
  const socket = await openSocket(host, port, clock, connectTimeoutMs, signal)
  let resolveEnded: (reason: string) => void = () => {}
  const ended = new Promise<string>((resolve) => {
    resolveEnded = resolve
  })
  const over = new AbortController()
  let lastDataMs = clock.monotonic()

  const session: TcpSession = {
    ended,
    write: (text) => void socket.write(text),
    resume: () => void socket.resume(),
    close(reason = 'closed') {
      if (over.signal.aborted) return
      over.abort()
      socket.destroy()
      protocol.onDisconnected(reason)
      resolveEnded(reason)
    },
  }
  const protocol = createProtocol(session)

  socket.setKeepAlive(true, 30_000)
  socket.on('data', (chunk) => {
    lastDataMs = clock.monotonic()
    try {
      protocol.receive(chunk)
      if (isFull()) socket.pause()
    } catch (thrown) {
      session.close(thrown instanceof Error ? thrown.message : String(thrown))
    }
  })
  socket.on('error', (error) => session.close(error.message))
  socket.on('close', () => session.close('the switch closed the connection'))

  const checkLiveness = async () => {
    for (;;) {
      await clock.sleep(silenceMs, over.signal)
      if (over.signal.aborted) return
      const silentMs = clock.monotonic() - lastDataMs
      // While the socket is paused, the missing data is not the switch's fault.
      if (socket.isPaused()) lastDataMs = clock.monotonic()
      else if (silentMs >= 2 * silenceMs) return session.close(`no sign of life for ${silentMs / 1000} s`)
      else if (silentMs >= silenceMs) protocol.probe()
    }
  }
  void checkLiveness()
  return { session, protocol }
}

function openSocket(
  host: string,
  port: number,
  clock: Clock,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true })
    const settled = new AbortController()
    const fail = (reason: string) => {
      settled.abort()
      signal.removeEventListener('abort', onAbort)
      socket.destroy()
      reject(new Error(reason))
    }
    const onAbort = () => fail('closed')
    signal.addEventListener('abort', onAbort)
    socket.on('error', (error) => fail(error.message))
    socket.once('connect', () => {
      settled.abort()
      signal.removeEventListener('abort', onAbort)
      socket.removeAllListeners('error')
      resolve(socket)
    })
    if (signal.aborted) return onAbort()
    void clock.sleep(timeoutMs, settled.signal).then(() => {
      if (!settled.signal.aborted) fail(`no connection within ${timeoutMs / 1000} s`)
    })
  })
}
