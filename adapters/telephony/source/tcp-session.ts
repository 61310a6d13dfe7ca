/** A TCP connection to a switch: bytes in, lines out, stopped while the service is full, ended when it falls silent. */
import { connect, type Socket } from 'node:net'
import type { Clock } from 'hookswitch'

/** What speaks the switch's language on one connection. */
export interface Protocol {
  /** Takes bytes as they come. What it throws ends the connection; its message is the reason. */
  receive(chunk: Buffer): void
  /** Asks for a sign of life: whatever the switch answers is one. */
  probe(): void
  /** The connection is over: whoever waits for an answer gets none. */
  lost(reason: string): void
}

/** Where to, and the doors. */
export interface TcpSessionOptions {
  readonly host: string
  readonly port: number
  readonly clock: Clock
  /** How long connecting may take, milliseconds. */
  readonly connectTimeoutMs: number
  /** A silence of so long is asked for a sign of life, one of twice so long ends the connection; milliseconds. */
  readonly silenceMs: number
  /** Whether to stop reading for now; asked after each chunk. */
  readonly isFull: () => boolean
}

/** An open connection. */
export interface TcpSession {
  readonly ended: Promise<string>
  write(text: string): void
  /** There is room: reads on. */
  resume(): void
  /** @param reason what `ended` resolves with */
  close(reason?: string): void
}

/**
 * Connects.
 *
 * @param speak makes the protocol; it may write at once
 * @throws with the reason, in a few words: refused, timed out, aborted
 */
export async function tcpSession(
  { host, port, clock, connectTimeoutMs, silenceMs, isFull }: TcpSessionOptions,
  signal: AbortSignal,
  speak: (session: TcpSession) => Protocol,
): Promise<{ readonly session: TcpSession; readonly protocol: Protocol }> {
  const socket = await connected(host, port, clock, connectTimeoutMs, signal)
  let endWith: (reason: string) => void = () => {}
  const ended = new Promise<string>((resolve) => {
    endWith = resolve
  })
  const over = new AbortController()
  let heardMs = clock.monotonic()

  const session: TcpSession = {
    ended,
    write: (text) => void socket.write(text),
    resume: () => void socket.resume(),
    close(reason = 'closed') {
      if (over.signal.aborted) return
      over.abort()
      socket.destroy()
      protocol.lost(reason)
      endWith(reason)
    },
  }
  const protocol = speak(session)

  socket.setKeepAlive(true, 30_000)
  socket.on('data', (chunk) => {
    heardMs = clock.monotonic()
    try {
      protocol.receive(chunk)
      if (isFull()) socket.pause()
    } catch (thrown) {
      session.close(thrown instanceof Error ? thrown.message : String(thrown))
    }
  })
  socket.on('error', (error) => session.close(error.message))
  socket.on('close', () => session.close('the switch closed the connection'))

  const watch = async () => {
    for (;;) {
      await clock.sleep(silenceMs, over.signal)
      if (over.signal.aborted) return
      const silentMs = clock.monotonic() - heardMs
      // Who does not read cannot complain of silence.
      if (socket.isPaused()) heardMs = clock.monotonic()
      else if (silentMs >= 2 * silenceMs) return session.close(`no sign of life for ${silentMs / 1000} s`)
      else if (silentMs >= silenceMs) protocol.probe()
    }
  }
  void watch()
  return { session, protocol }
}

function connected(
  host: string,
  port: number,
  clock: Clock,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true })
    const settled = new AbortController()
    const giveUp = (why: string) => {
      settled.abort()
      signal.removeEventListener('abort', aborted)
      socket.destroy()
      reject(new Error(why))
    }
    const aborted = () => giveUp('closed')
    signal.addEventListener('abort', aborted)
    socket.on('error', (error) => giveUp(error.message))
    socket.once('connect', () => {
      settled.abort()
      signal.removeEventListener('abort', aborted)
      socket.removeAllListeners('error')
      resolve(socket)
    })
    if (signal.aborted) return aborted()
    void clock.sleep(timeoutMs, settled.signal).then(() => {
      if (!settled.signal.aborted) giveUp(`no connection within ${timeoutMs / 1000} s`)
    })
  })
}
