/** One ARI connection: subscribes, reconciles the list of open channels, maps events, and checks liveness. */
import type { Clock } from 'hookswitch'
import type { SwitchSession } from '../source/connection.js'
import type { MappedBatch } from '../source/mapped-events.js'
import { mayBeRelevant, parseAriChannels, parseAriEvent } from './ari-event.js'
import { type AriAddress, type AriSocket, openAriSocket, sanitizedMessage } from './ari-socket.js'
import type { BackpressureBuffer } from './backpressure-buffer.js'
import type { Mapping } from './mapping.js'

/** Address, limits and dependencies of a session. */
export interface AriSessionDeps extends AriAddress {
  readonly clock: Clock
  readonly mapping: Mapping
  /** Takes what the mapping yields. */
  readonly push: (batch: MappedBatch) => void
  /** Holds frames that cannot be published yet; it outlives the connection. */
  readonly buffer: BackpressureBuffer
  /** How long opening and each request may take, milliseconds. */
  readonly timeoutMs: number
  /** Sends a ping after this time without data and disconnects after twice this time, milliseconds. */
  readonly silenceMs: number
}

/**
 * Connects, subscribes and reconciles the list of open channels.
 *
 * @throws an error whose message is a short reason
 */
export async function openAriSession(deps: AriSessionDeps, signal: AbortSignal): Promise<SwitchSession> {
  const { clock, mapping, push, buffer, timeoutMs, silenceMs } = deps
  // Frames of the last connection come first.
  await buffer.whenEmpty(signal)
  const over = new AbortController()
  let endReason: string | undefined
  let resolveEnded: (reason: string) => void = () => {}
  const ended = new Promise<string>((resolve) => {
    resolveEnded = resolve
  })
  let lastDataMs = clock.monotonic()
  let socket: AriSocket | undefined

  const end = (reason: string): void => {
    if (over.signal.aborted) return
    endReason = reason
    over.abort()
    socket?.destroy()
    resolveEnded(reason)
  }
  const handleFrame = (frame: string): void => {
    const parsed = parseAriEvent(frame, clock.now())
    if (!parsed) return
    if ('isReplaced' in parsed) {
      end('another client has taken over the application: each client needs its own `app`')
    } else if ('malformed' in parsed) {
      push({ updates: [], problems: [{ kind: 'malformed', message: parsed.malformed }] })
    } else {
      const batch = mapping.map(parsed.event)
      if (batch.updates.length > 0 || batch.problems.length > 0) push(batch)
    }
  }

  const opened = await openAriSocket(deps, clock, timeoutMs, signal, {
    onFrame(text) {
      lastDataMs = clock.monotonic()
      if (over.signal.aborted || !mayBeRelevant(text)) return
      if (!buffer.submit(() => handleFrame(text), text.length))
        end('more events than can be published: the connection is closed and reopened')
    },
    onPong: () => {
      lastDataMs = clock.monotonic()
    },
    onEnded: end,
  })
  socket = opened
  // The session may have ended while the socket was being opened.
  if (over.signal.aborted) opened.destroy()
  const abort = () => end('closed')
  signal.addEventListener('abort', abort)
  if (signal.aborted) abort()

  try {
    const snapshot = mapping.snapshot()
    const [channels, bridges] = await Promise.all([opened.get('/channels'), opened.get('/bridges')])
    const listed = parseAriChannels(channels, bridges)
    buffer.submit(() => push(mapping.reconcile(snapshot, listed, clock.now())), 0)
  } catch (thrown) {
    end(sanitizedMessage(thrown, deps))
    throw new Error(endReason)
  } finally {
    signal.removeEventListener('abort', abort)
  }

  const checkLiveness = async () => {
    for (;;) {
      await clock.sleep(silenceMs, over.signal)
      if (over.signal.aborted) return
      const silentMs = clock.monotonic() - lastDataMs
      if (silentMs >= 2 * silenceMs) return end(`no sign of life for ${silentMs / 1000} s`)
      if (silentMs >= silenceMs) opened.ping()
    }
  }
  void checkLiveness()
  return { ended, close: () => end('closed') }
}
