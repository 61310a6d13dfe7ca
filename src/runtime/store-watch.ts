/**
 * Tells whether the store answers, from the calls that this node makes anyway.
 *
 * - The store is away when calls fail with `StoreUnavailable` and none was answered for `AWAY_MS`. While calls fail, it is
 *   asked at once and then once a second. So the node notices its return without requests of clients.
 * - A question that `ask` has put and that is not answered for as long counts too, for `problem` alone: after a pause of the
 *   whole process it would be wrong for an instant, and no request may be refused for that.
 * - A failed commit is reported separately, because the store may still answer reads: the disk is full, the database is
 *   read-only. It counts for `WRITE_FAILED_MS`; then the next commit shows whether it is over.
 */
import { errorCode } from '../errors.js'
import type { Clock } from '../ports.js'
import type { Store } from '../store/contract.js'

/** What the store cannot do now. */
interface StoreProblem {
  /** Since when, in Unix milliseconds. */
  readonly sinceMs: number
  /** One sentence, without secrets. */
  readonly reason: string
}

/** A watched store. */
export interface StoreWatch {
  /** The same store; its calls are observed. */
  readonly store: Store
  /** Whether requests are refused at once: the store is known to be away. */
  isAway(): boolean
  /** What hinders the node; `undefined`: nothing. */
  problem(): StoreProblem | undefined
  /** When a commit succeeded last, Unix ms; `undefined`: none has. */
  lastCommitMs(): number | undefined
  /** Asks the store whether it answers, unless a question is open. `problem` tells the result later. Does not throw. */
  ask(): void
  /** Asks no more. */
  stop(): void
}

/** How long the store does not answer until it is away, ms. */
const AWAY_MS = 5_000
/** Between two questions to a store that does not answer, ms. */
const ASK_MS = 1_000
/** How long a failed commit counts, ms. */
const WRITE_FAILED_MS = 15_000
/** The hash of no token. */
const NO_TOKEN = '0'.repeat(64)

const PORTS = [
  'accounts',
  'tokens',
  'webhooks',
  'deliveries',
  'openLegs',
  'replays',
  'holds',
  'encryption',
  'stats',
  'inbox',
  'live',
] as const

type Call = (...args: unknown[]) => unknown

/** When a problem began, kept in both clocks: computed anew, the time would change by a millisecond. */
interface Beginning {
  /** Monotonic, ms. */
  readonly beganMs: number
  /** Unix, ms. */
  readonly sinceMs: number
}

/** @param clock only its `monotonic`, `now` and `sleep` are used */
export function watchStore(store: Store, clock: Pick<Clock, 'monotonic' | 'now' | 'sleep'>): StoreWatch {
  const stopping = new AbortController()
  /** Monotonic, ms. */
  let answeredMs = clock.monotonic()
  let failed: (Beginning & { readonly reason: string }) | undefined
  let writeFailed: (Beginning & { readonly lastMs: number; readonly reason: string }) | undefined
  let lastCommitMs: number | undefined
  let askedMs: number | undefined
  let isAsking = false

  function ended(startMs: number, thrown: unknown, isCommit: boolean): void {
    const now = clock.monotonic()
    if (isCommit && thrown === undefined) lastCommitMs = clock.now()
    if (errorCode(thrown) !== 'StoreUnavailable') {
      answeredMs = now
      failed = undefined
      if (isCommit) writeFailed = undefined
      return
    }
    const { message } = thrown as Error
    if (isCommit) writeFailed = { ...(writeFailed ?? beginningAt(now)), lastMs: now, reason: message }
    failed = { ...(failed ?? beginningAt(Math.max(startMs, answeredMs))), reason: message }
    void askUntilAnswered()
  }

  function observe(call: () => unknown, isCommit: boolean): unknown {
    const startMs = clock.monotonic()
    let result: unknown
    try {
      result = call()
    } catch (thrown) {
      ended(startMs, thrown, isCommit)
      throw thrown
    }
    if (result instanceof Promise)
      result.then(
        () => ended(startMs, undefined, isCommit),
        (thrown: unknown) => ended(startMs, thrown, isCommit),
      )
    else ended(startMs, undefined, isCommit)
    return result
  }

  /** A port whose methods call those that the given one has at that time. */
  function watched(port: object, name: (typeof PORTS)[number]): object {
    const methods = port as Record<string, Call>
    const copy = Object.create(port)
    for (const method of methodsOf(port)) {
      // It asks nothing of the store.
      if (method === 'subscribe') continue
      const isCommit = name === 'deliveries' && method === 'commit'
      const value = (...args: unknown[]) => observe(() => methods[method]!(...args), isCommit)
      Object.defineProperty(copy, method, { value, enumerable: true })
    }
    return copy
  }

  function ask(): void {
    if (askedMs !== undefined || stopping.signal.aborted) return
    askedMs = clock.monotonic()
    const answered = () => {
      askedMs = undefined
    }
    const question = async () => observedStore.tokens.read(NO_TOKEN)
    void question().then(answered, answered)
  }

  async function askUntilAnswered(): Promise<void> {
    if (isAsking) return
    isAsking = true
    // At once: where nobody else asks, a single call that took too long must not look like a store that is away.
    while (failed && !stopping.signal.aborted) {
      ask()
      await clock.sleep(ASK_MS, stopping.signal)
    }
    isAsking = false
  }

  // A getter of a class may read private fields, which this object does not have.
  const observedStore: Store = Object.create(store, {
    supports: { value: store.supports, enumerable: true },
  })
  for (const name of PORTS) {
    const port = store[name]
    if (port) Object.defineProperty(observedStore, name, { value: watched(port, name), enumerable: true })
  }

  const isSince = (sinceMs: number | undefined) =>
    sinceMs !== undefined && clock.monotonic() - sinceMs >= AWAY_MS
  const at = (monotonicMs: number) => Math.round(clock.now() - (clock.monotonic() - monotonicMs))
  const beginningAt = (beganMs: number): Beginning => ({ beganMs, sinceMs: at(beganMs) })

  return {
    store: observedStore,
    isAway: () => isSince(failed?.beganMs),
    problem() {
      if (failed && isSince(failed.beganMs)) return { sinceMs: failed.sinceMs, reason: failed.reason }
      if (askedMs !== undefined && isSince(Math.max(askedMs, answeredMs)))
        return { sinceMs: at(Math.max(askedMs, answeredMs)), reason: 'the store does not answer' }
      if (writeFailed && clock.monotonic() - writeFailed.lastMs < WRITE_FAILED_MS)
        return { sinceMs: writeFailed.sinceMs, reason: writeFailed.reason }
      return undefined
    },
    lastCommitMs: () => lastCommitMs,
    ask,
    stop: () => stopping.abort(),
  }
}

function methodsOf(port: object): ReadonlySet<string> {
  const names = new Set<string>()
  for (let level = port; level !== Object.prototype && level !== null; level = Object.getPrototypeOf(level))
    for (const name of Object.getOwnPropertyNames(level))
      if (name !== 'constructor' && typeof (port as Record<string, unknown>)[name] === 'function')
        names.add(name)
  return names
}
