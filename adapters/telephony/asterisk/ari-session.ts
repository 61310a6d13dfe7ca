/** One ARI connection: subscribes, reconciles the list of open channels, maps events, and checks liveness. */
import type { Clock } from 'hookswitch'
import type { SwitchSession } from '../source/connection.js'
import { type Liveness, watchLiveness } from '../source/liveness.js'
import type { MappedBatch } from '../source/mapped-events.js'
import { queryAriDetails } from './ari-details.js'
import { type AriParseResult, parseAriChannels, parseAriEvent } from './ari-event.js'
import { type AriAddress, type AriSocket, openAriSocket, sanitizedMessage } from './ari-socket.js'
import type { BackpressureBuffer } from './backpressure-buffer.js'
import { detailQueries } from './channel-details.js'
import { limitWaits } from './limit-waits.js'
import type { Mapping } from './mapping.js'

/** Address, limits and dependencies of a session. */
interface AriSessionDeps extends AriAddress {
  readonly clock: Clock
  readonly mapping: Mapping
  /** Takes what the mapping yields. */
  readonly push: (batch: MappedBatch) => void
  /** Holds frames that cannot be published yet; it outlives the connection. */
  readonly buffer: BackpressureBuffer
  /** Called when another client takes over the application. @returns the reason of the disconnect */
  readonly onEvicted: () => string
  /** How long opening and each request may take, milliseconds. */
  readonly timeoutMs: number
  /** Sends a ping after this time without data, and disconnects when it goes unanswered for as long, milliseconds. */
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
  let isEvicted = false
  let resolveEnded: (reason: string) => void = () => {}
  const ended = new Promise<string>((resolve) => {
    resolveEnded = resolve
  })
  let socket: AriSocket | undefined
  let liveness: Liveness | undefined
  const onSignOfLife = () => liveness?.onSignOfLife()

  const end = (reason: string): void => {
    if (over.signal.aborted) return
    endReason = reason
    over.abort()
    socket?.destroy()
    resolveEnded(reason)
  }
  const handle = (parsed: NonNullable<AriParseResult>): void => {
    if ('isReplaced' in parsed) {
      isEvicted = true
      end(deps.onEvicted())
    } else if ('malformed' in parsed) {
      push({ updates: [], problems: [{ kind: 'malformed', message: parsed.malformed }] })
    } else {
      const batch = mapping.map(parsed.event)
      if (batch.updates.length > 0 || batch.problems.length > 0) push(batch)
    }
  }

  /** Most variables are not read: they matter while their leg is not settled. */
  const isUsed = (parsed: NonNullable<AriParseResult>): boolean => {
    if (!('event' in parsed)) return true
    const { event } = parsed
    if (event.kind !== 'variable_set' && event.kind !== 'dial_plan_step') return true
    // The begin of the leg may still be queued.
    return !buffer.isEmpty() || mapping.isUnsettled(event.channel.id)
  }

  const opened = await openAriSocket(deps, clock, timeoutMs, signal, {
    onFrame(text) {
      onSignOfLife()
      const parsed = over.signal.aborted ? undefined : parseAriEvent(text, clock.now())
      if (!parsed || !isUsed(parsed)) return
      if (!buffer.submit(() => handle(parsed), text.length))
        end('more events than can be published: the connection is closed and reopened')
    },
    onPong: onSignOfLife,
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
    const details = { get: opened.get, clock, timeoutMs, signal: over.signal }
    await queryAriDetails(details, detailQueries(mapping, listed, clock.now()))
    buffer.submit(() => push(mapping.reconcile(snapshot, listed, clock.now())), 0)
  } catch (thrown) {
    end(sanitizedMessage(thrown, deps))
    throw new Error(endReason)
  } finally {
    signal.removeEventListener('abort', abort)
  }

  void limitWaits({
    clock,
    settle: () => void buffer.submit(() => push(mapping.settleWaiting()), 0),
    signal: over.signal,
  })
  liveness = watchLiveness({ clock, silenceMs, probe: opened.ping, onDead: end, signal: over.signal })
  return { ended, isSettled: () => !isEvicted, close: () => end('closed') }
}
