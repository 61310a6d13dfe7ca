/**
 * Reads what happens on other nodes for the readers of this one.
 *
 * Theory of operation
 *
 * - While this node has readers, it registers every 5 s which accounts it watches, and reads what others wrote: once per second,
 *   and soon after a hint. Otherwise it does nothing.
 * - The cursor is the last number of each writer. A missing number, or a time without reading or registration, means that an
 *   unknown number of items is lost.
 */

import { createCoalescingTask } from '../delivery/coalescing-task.js'
import { LIVE_RETENTION_MS, type LiveStore, type LiveWatch } from '../delivery/live-store.js'
import { waitAtMost } from '../delivery/worker/wait-group.js'
import { reasonOf } from '../errors.js'
import type { Clock, Log } from '../ports.js'
import { type LiveNews, parseLiveItem } from './live-news.js'

interface LiveReaderDeps {
  readonly store: Pick<LiveStore, 'watch' | 'ends' | 'read'>
  /** Id of this instance. */
  readonly instance: string
  readonly clock: Clock
  readonly log: Pick<Log, 'warn'>
  /** What the readers of this node watch now. */
  watches(): readonly LiveWatch[]
  /** Whether a reader of this node may want items of an account. */
  isWatched(accountId: string): boolean
  /** Something happened on another node. */
  receive(news: LiveNews): void
  /** An unknown number of items, of unknown accounts, is lost. */
  lost(): void
}

interface LiveReader {
  /** The readers of this node, or what they want, have changed. */
  refresh(): void
  /** There may be items. */
  hint(): void
  /** Ends the registration. Waits for the store for at most two seconds. */
  close(): Promise<void>
}

const TICK_MS = 1_000
/** Time between two repetitions of what is watched, ms. */
const RENEW_MS = 5_000
/** How long others write for this node after the last repetition, ms. */
const WATCH_TTL_MS = 15_000
/** Pause before items are read, ms: batches of several writers share the read. */
const READ_DELAY_MS = 25
/** Writers that have written nothing for so long are forgotten, ms: they have no batch that is still read. */
const FORGET_WRITER_MS = 10 * LIVE_RETENTION_MS
const CLOSE_MS = 2_000

export function createLiveReader(deps: LiveReaderDeps): LiveReader {
  const { store, instance, clock, log } = deps
  /** The last number that was read of each writer. Replaced, not cleared: a read in progress belongs to earlier readers. */
  let cursors = new Map<string, { readonly number: number; readonly seenMs: number }>()
  /** What is registered, as JSON, and since when; `undefined`: nothing. */
  let registered: { readonly watches: string; readonly sinceMs: number } | undefined
  /** True: a statement failed, perhaps because the store has lost what this node watches. */
  let isInterrupted = false
  /** True: others may have written items that this node cannot read, or may have written none for it. */
  let mayHaveLost = false
  let readMs = 0
  let ticking: AbortController | undefined
  let isClosed = false

  const watching = createCoalescingTask(() => attempt(register))
  const reading = createCoalescingTask(
    () => attempt(read),
    (begin) => void clock.sleep(READ_DELAY_MS).then(begin),
  )

  async function attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (thrown) {
      if (!isInterrupted && !isClosed) {
        const reason = reasonOf(thrown)
        log.warn({ reason }, 'reading events of other nodes for streams failed, retrying')
      }
      isInterrupted = true
      mayHaveLost = true
    }
  }

  async function register(): Promise<void> {
    const watches = isClosed ? [] : deps.watches()
    const text = JSON.stringify(watches)
    const nowMs = clock.monotonic()
    if (watches.length === 0) {
      if (registered || isInterrupted) await store.watch(instance, [], 0)
      registered = undefined
      isInterrupted = mayHaveLost = false
      cursors = new Map()
      ticking?.abort()
      ticking = undefined
      if (!isClosed && deps.watches().length > 0) refresh()
      return
    }
    if (registered && nowMs - registered.sinceMs >= WATCH_TTL_MS) mayHaveLost = true
    if (registered?.watches === text && nowMs - registered.sinceMs < RENEW_MS && !isInterrupted) return
    if (!registered) {
      const ends = await store.ends(instance)
      cursors = new Map(Array.from(ends, ([writer, number]) => [writer, { number, seenMs: nowMs }]))
      readMs = nowMs
    }
    await store.watch(instance, watches, WATCH_TTL_MS)
    isInterrupted = false
    registered = { watches: text, sinceMs: nowMs }
  }

  async function read(): Promise<void> {
    if (!registered) return
    const nowMs = clock.monotonic()
    if (nowMs - readMs >= LIVE_RETENTION_MS) mayHaveLost = true
    const own = cursors
    for (;;) {
      const after = new Map(Array.from(cursors, ([writer, { number }]) => [writer, number]))
      const { batches, hasMore } = await store.read(instance, after)
      if (cursors !== own) return
      if (mayHaveLost && !isInterrupted) {
        mayHaveLost = false
        deps.lost()
      }
      for (const { writer, number, items } of batches) {
        const last = cursors.get(writer)
        if (last && number !== last.number + 1) deps.lost()
        cursors.set(writer, { number, seenMs: nowMs })
        for (const { accountId, json } of items) {
          const news = deps.isWatched(accountId) ? parseLiveItem(json) : undefined
          if (news) deps.receive(news)
        }
      }
      readMs = nowMs
      if (!hasMore) break
      await clock.yield()
    }
    for (const [writer, cursor] of cursors)
      if (nowMs - cursor.seenMs >= FORGET_WRITER_MS) cursors.delete(writer)
  }

  async function run(signal: AbortSignal): Promise<void> {
    for (;;) {
      await clock.sleep(TICK_MS, signal)
      if (signal.aborted) return
      watching.trigger()
      reading.trigger()
    }
  }

  function refresh(): void {
    if (isClosed) return
    watching.trigger()
    if (ticking) return
    ticking = new AbortController()
    void run(ticking.signal)
  }

  return {
    refresh,
    hint() {
      if (registered) reading.trigger()
    },
    async close() {
      isClosed = true
      ticking?.abort()
      watching.trigger()
      await clock.yield()
      await waitAtMost(CLOSE_MS, clock, Promise.all([watching.idle(), reading.idle()]))
    },
  }
}
