/**
 * Writes what happens on this node for the streams of others, as far as they watch it.
 *
 * Theory of operation
 *
 * - While nobody watches, an item is dropped by one comparison, and nothing is written or read.
 * - Items wait at most 50 ms, and are written in batches, one after the other. Publishers and deliveries never wait for that.
 *   Items beyond the limit are dropped and counted; the count is written instead.
 * - A batch whose outcome is unknown is written again under its number. A batch that cannot be written is left out: readers
 *   notice that its number is missing.
 */
import type { Account } from '../accounts/account.js'
import { createCoalescingTask } from '../delivery/coalescing-task.js'
import { LIVE_RETENTION_MS, type LiveBatch, type LiveItem, type LiveStore } from '../delivery/live-store.js'
import { waitAtMost } from '../delivery/worker/wait-group.js'
import { errorCode, reasonOf } from '../errors.js'
import type { Clock, Log } from '../ports.js'
import { accountOf, type LiveNews, liveItemOf } from './live-news.js'
import { LiveFilter } from './live-watches.js'

interface LiveWriterDeps {
  readonly store: Pick<LiveStore, 'watched' | 'put' | 'forget'>
  /** Id of this instance. */
  readonly instance: string
  readonly clock: Clock
  readonly log: Pick<Log, 'warn'>
  /** The account, then its ancestors. */
  lineage(accountId: string): Promise<readonly Account[]>
}

interface LiveWriter {
  /** Something happened on this node. Never waits. */
  offer(news: Exclude<LiveNews, { readonly type: 'dropped' }>): void
  /** What other nodes watch may have changed. */
  refresh(): void
  /** Writes what waits, for at most two seconds, and ends. */
  close(): Promise<void>
}

/** Time in which items gather, ms. */
const GATHER_MS = 50
/** Items that may wait. */
const MAX_WAITING = 2_000
/** Changes of webhooks may wait beside them. */
const MAX_WAITING_CHANGES = 2 * MAX_WAITING
const MAX_BATCH_ITEMS = 500
/** Characters after which a batch is full. */
const MAX_BATCH_SIZE = 262_144
/** Accounts whose dropped items are counted. */
const MAX_COUNTED = 1_000
const RETRY_MS = 1_000
const CLOSE_MS = 2_000

export function createLiveWriter(deps: LiveWriterDeps): LiveWriter {
  const { store, instance, clock, log } = deps
  const closing = new AbortController()
  let filter = new LiveFilter([])
  let waiting: LiveNews[] = []
  /** Number of events that were dropped, by account. */
  const dropped = new Map<string, number>()
  /** Number of the last batch. */
  let last = 0
  /** Batches that are stored, oldest first. */
  let written: { readonly number: number; readonly atMs: number }[] = []
  let isForgetting = false

  const writing = createCoalescingTask(write, (begin) => {
    void clock.sleep(GATHER_MS, closing.signal).then(begin)
  })
  const refreshing = createCoalescingTask(async () => {
    try {
      filter = new LiveFilter(await store.watched(instance))
    } catch {
      // The callers of the store report the outage.
      void clock.sleep(RETRY_MS, closing.signal).then(() => {
        if (!closing.signal.aborted) refreshing.trigger()
      })
    }
  })

  function drop({ type }: LiveNews, accountId: string): void {
    const count = dropped.get(accountId)
    if (type !== 'event' || (count === undefined && dropped.size >= MAX_COUNTED)) last += 1
    else dropped.set(accountId, (count ?? 0) + 1)
  }

  async function isWanted(news: LiveNews): Promise<boolean> {
    if (news.type === 'dropped') return true
    const accountId = accountOf(news)
    const wanted = filter.wants(news.type, accountId)
    if (wanted !== 'lineage') return wanted
    try {
      return filter.wantsBelow(news.type, await deps.lineage(accountId))
    } catch {
      // Readers check the lineage themselves.
      return true
    }
  }

  /** Takes what fits into one batch. */
  async function takeItems(): Promise<readonly LiveItem[]> {
    const items: LiveItem[] = []
    let size = 0
    for (const [accountId, count] of dropped) {
      if (items.length >= MAX_BATCH_ITEMS) break
      dropped.delete(accountId)
      items.push(liveItemOf({ type: 'dropped', accountId, count }))
    }
    let taken = 0
    for (const news of waiting) {
      if (items.length >= MAX_BATCH_ITEMS || size >= MAX_BATCH_SIZE) break
      taken += 1
      if (!(await isWanted(news))) continue
      const item = liveItemOf(news)
      size += item.json.length
      items.push(item)
    }
    waiting = waiting.slice(taken)
    return items
  }

  async function write(): Promise<void> {
    while (waiting.length > 0 || dropped.size > 0) {
      const items = await takeItems()
      if (items.length === 0) continue
      last += 1
      await put({ writer: instance, number: last, items })
    }
  }

  async function put(batch: LiveBatch): Promise<void> {
    for (;;) {
      try {
        await store.put(batch, oldNumber())
        written.push({ number: batch.number, atMs: clock.monotonic() })
        if (!isForgetting) void forget()
        return
      } catch (thrown) {
        const isRepeatable = errorCode(thrown) === 'StoreUnavailable'
        const reason = reasonOf(thrown)
        if (!isRepeatable) log.warn({ reason }, 'items for the streams of other nodes were lost')
        if (!isRepeatable || closing.signal.aborted || filter.isEmpty) return
        await clock.sleep(RETRY_MS, closing.signal)
      }
    }
  }

  /** The newest batch that nobody reads any more; 0: none. */
  function oldNumber(): number {
    const untilMs = clock.monotonic() - LIVE_RETENTION_MS
    const old = written.filter(({ atMs }) => atMs <= untilMs)
    written = written.slice(old.length)
    return old.at(-1)?.number ?? 0
  }

  /** Removes the last batches when nothing follows them. */
  async function forget(): Promise<void> {
    isForgetting = true
    while (written.length > 0 && !closing.signal.aborted) {
      await clock.sleep(LIVE_RETENTION_MS, closing.signal)
      const number = closing.signal.aborted ? 0 : oldNumber()
      // The retention of the store removes what this does not.
      if (number > 0) await store.forget(instance, number).catch(() => {})
    }
    isForgetting = false
  }

  return {
    offer(news) {
      if (filter.isEmpty || closing.signal.aborted) return
      const accountId = accountOf(news)
      if (!filter.wants(news.type, accountId)) return
      if (waiting.length >= (news.type === 'event' ? MAX_WAITING : MAX_WAITING_CHANGES)) drop(news, accountId)
      else waiting.push(news)
      writing.trigger()
    },
    refresh: refreshing.trigger,
    async close() {
      closing.abort()
      // What gathers begins to be written.
      await clock.yield()
      await waitAtMost(CLOSE_MS, clock, writing.idle())
    },
  }
}
