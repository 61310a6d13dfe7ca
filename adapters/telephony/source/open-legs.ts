/**
 * Keeps the open legs of a source in the store, and reads them at its start.
 *
 * Theory of operation:
 *
 * - A leg is stored as it is when everything mapped of it so far is published: from its `channel_create` on, and after
 *   each later event. So what is stored has been published. After a crash the source continues from there, and its
 *   resync finds the rest, with the idempotency keys that it would have had.
 * - Its row is removed when its `channel_destroy` is published, or refused for good. An event that is left at the close
 *   removes nothing: the next start publishes the end.
 * - Writes follow publishing and never delay it. One write is in flight at a time; what changes meanwhile, and all that
 *   changes in one turn of the event loop, goes into the next. A crash loses the changes of the last write: then the end
 *   is published again under the same key, or, of a leg that began just before the crash, not at all.
 * - The rows of a source are as many as its mapping has open legs, at most `maxOpenLegs`.
 */
import { type Clock, errorCode, type Log } from 'hookswitch'
import { type OpenLegChanges, type OpenLegs, type Random, safeLog } from 'hookswitch/adapter'
import { decodeLeg, encodeLeg, isOfLaterVersion, type SavedLeg } from './open-leg-state.js'
import { retryDelayMs } from './retry-delay.js'
import { sanitizeError } from './sanitize.js'

/** The open legs of a mapping, as the recorder reads and restores them. */
export interface SavableLegs {
  /** The leg with this call id as it is now; `undefined`: it is not open, or its account is not known. */
  save(callId: string): SavedLeg | undefined
  /**
   * Adds a leg that was open when an earlier process ended. False: its values cannot be used, or too many legs are open.
   */
  restore(callId: string, saved: SavedLeg): boolean
}

/** Dependencies of a recorder. */
interface OpenLegRecorderDeps {
  /** `hs.openLegs`. */
  readonly store: OpenLegs
  /** Name of the source: `freeswitch 127.0.0.1:8021`. */
  readonly source: string
  readonly legs: SavableLegs
  /** Whether events of this leg wait to be published. */
  readonly isWaiting: (callId: string) => boolean
  readonly clock: Clock
  readonly random: Random
  readonly log: Log | undefined
}

/** Keeps the open legs of one source in the store. */
export interface OpenLegRecorder {
  /**
   * Reads the legs of earlier processes and restores them. Rejects if the store is not available: call it again.
   *
   * @param signal aborts when the source is closed: then it rejects at once, even if the store does not answer
   */
  load(signal: AbortSignal): Promise<void>
  /** A leg changed: writes or removes it soon. */
  touch(callId: string): void
  /** An event of this leg will not be published by this process: its row stays as it is. */
  keep(callId: string): void
  /** Writes what has changed, for at most `ms` milliseconds, and stops. */
  close(ms: number): Promise<void>
}

/** Legs in one page, and changes in one write. */
const BATCH = 1_000
/** Upper bound of the backoff. */
const MAX_DELAY_MS = 5_000
/** Codes of errors that do not concern the legs: retried until the source is closed. */
const TRANSIENT_CODES: ReadonlySet<string | undefined> = new Set(['StoreUnavailable', 'Closing', 'Internal'])

/** Creates a recorder without legs. */
export function createOpenLegRecorder(deps: OpenLegRecorderDeps): OpenLegRecorder {
  const { store, source, legs, isWaiting, clock, random } = deps
  const log = safeLog(deps.log)
  /** Legs to write or remove. */
  const changed = new Set<string>()
  /** Legs that may have a row. */
  const stored = new Set<string>()
  const closing = new AbortController()
  let writing: Promise<void> | undefined
  /** Number of legs in the write in flight. */
  let inFlight = 0

  /** Takes up to a batch of changes; legs whose events wait are touched again when these are published. */
  const takeChanges = (): OpenLegChanges => {
    const put = []
    const remove: string[] = []
    for (const callId of changed) {
      if (put.length + remove.length >= BATCH) break
      changed.delete(callId)
      if (isWaiting(callId)) continue
      const saved = legs.save(callId)
      const leg = saved && encodeLeg(callId, saved)
      if (leg) put.push(leg)
      else if (stored.has(callId)) remove.push(callId)
    }
    return { put, remove }
  }

  /** Returns whether the write may succeed if it is repeated. */
  const reportFailure = (thrown: unknown, attempt: number): boolean => {
    const isTransient = TRANSIENT_CODES.has(errorCode(thrown))
    const fields = { source, error: sanitizeError(thrown) }
    if (!isTransient) log.error(fields, 'open legs are not stored')
    else if (attempt === 1) log.warn(fields, 'storing open legs failed: it is retried')
    return isTransient
  }

  const writeChanges = async (): Promise<void> => {
    for (let failures = 0; changed.size > 0 && !closing.signal.aborted; ) {
      await clock.yield()
      const changes = takeChanges()
      const { put, remove } = changes
      if (put.length + remove.length === 0) continue
      // A write whose outcome is unknown may have been committed.
      for (const { callId } of put) stored.add(callId)
      try {
        inFlight = put.length + remove.length
        await store.write(source, changes)
        for (const callId of remove) stored.delete(callId)
        failures = 0
      } catch (thrown) {
        failures += 1
        if (!reportFailure(thrown, failures)) continue
        for (const { callId } of put) changed.add(callId)
        for (const callId of remove) changed.add(callId)
        inFlight = 0
        await clock.sleep(retryDelayMs(failures, random.fraction(), MAX_DELAY_MS), closing.signal)
      } finally {
        inFlight = 0
      }
    }
    writing = undefined
  }

  const touch = (callId: string) => {
    changed.add(callId)
    if (!closing.signal.aborted) writing ??= writeChanges()
  }

  return {
    async load(signal) {
      let restored = 0
      let unusable = 0
      let later = 0
      for (let after: string | undefined; ; ) {
        const page = await orClosed(store.list(source, after, BATCH), signal)
        for (const row of page) {
          // Read by an earlier call, which failed at a later page.
          if (stored.has(row.callId)) continue
          if (isOfLaterVersion(row)) {
            later += 1
            continue
          }
          stored.add(row.callId)
          const saved = decodeLeg(row)
          if (saved && legs.restore(row.callId, saved)) restored += 1
          else {
            unusable += 1
            touch(row.callId)
          }
        }
        if (page.length < BATCH) break
        after = page.at(-1)?.callId
      }
      if (restored > 0) log.info({ source, legs: restored }, 'continuing legs that were open at the last end')
      if (later > 0)
        log.warn({ source, legs: later }, 'stored legs of a later version are left to nodes of that version')
      if (unusable > 0)
        log.warn({ source, legs: unusable }, 'stored legs cannot be continued: they are removed')
    },
    touch,
    keep: (callId) => void changed.delete(callId),
    async close(ms) {
      const done = new AbortController()
      const finished = (async () => {
        // A touch while the last write ended starts another one.
        while (writing) await writing
        done.abort()
      })()
      if (writing) await clock.sleep(ms, done.signal)
      closing.abort()
      const legsLeft = changed.size + inFlight
      if (legsLeft > 0) log.warn({ source, legs: legsLeft }, 'the last changes of open legs are not stored')
      if (done.signal.aborted) await finished
    },
  }
}

/** Settles as the promise does, or rejects when the signal aborts first. */
function orClosed<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(new Error('closed'))
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
