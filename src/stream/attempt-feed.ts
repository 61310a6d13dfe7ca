/**
 * Brings recorded attempts to open streams.
 *
 * Theory of operation
 *
 * - The log of attempts is the source. Where one process has the store, a settlement only says which account has new
 *   records, and they are read from the log: in order, each with its position, at most 40 times per second.
 * - Where several nodes share the store, the node's own records are sent at once, without a position, and one read per second
 *   finds those of others. Positions become visible out of order, so each read goes back over those that were first seen in
 *   the last 10 s, and skips the ids that were sent. A stream resumes at a position that is 10 s old.
 * - Nothing is read, and nothing is remembered, while no stream is open.
 */

import type { AttemptRecord } from '../delivery/attempt-record.js'
import { createCoalescingTask } from '../delivery/coalescing-task.js'
import type { LoggedAttempt } from '../delivery/delivery-queries.js'
import { type CallParties, partiesOf } from '../delivery/payload.js'
import type { QueueStore } from '../delivery/queue-store.js'
import { reasonOf } from '../errors.js'
import type { Clock, Log } from '../ports.js'
import { streamAttemptJson } from '../wire/stream-json.js'
import type { LiveRecord, OpenStream } from './open-stream.js'
import { contentOf } from './subscriber.js'

interface AttemptFeedDeps {
  readonly store: Pick<QueueStore, 'attemptLog'>
  readonly clock: Clock
  readonly log: Pick<Log, 'warn'>
  readonly isShared: boolean
  /** All open streams. */
  streams(): Iterable<OpenStream>
  /** Streams that contain the account and whose readers may see it now. */
  streamsOf(accountId: string): Promise<readonly OpenStream[]>
  /** Calls back with the streams of an account, in the order of the calls. */
  deliver(accountId: string, send: (streams: readonly OpenStream[]) => void): void
}

interface AttemptFeed {
  /** This node has stored a record. @param body of its delivery, if it is in memory */
  recorded(record: AttemptRecord, body?: string): void
  /** This node may have stored a record of this account. */
  changed(accountId: string): void
  /** A stream was opened at a position. */
  opened(stream: OpenStream): void
  /** To be called every second while a stream is open. */
  tick(): void
  /** No stream is open any more. */
  clear(): void
}

/** Pause before the log is read, ms: settlements in it share the read. */
const READ_DELAY_MS = 25
const PAGE_SIZE = 500
/** Parts of the log per read of all accounts. */
const MAX_PAGES = 20
/** How long a record may take to become visible after one with a higher position, ms. @internal */
export const LOOKBACK_MS = 10_000
/** Positions that the first read goes back: it has no older one. */
const FIRST_LOOKBACK = 10_000

const liveOf = (record: AttemptRecord, call: CallParties | undefined, position?: number): LiveRecord => ({
  record,
  content: contentOf('attempt', streamAttemptJson(record, call)),
  ...(position !== undefined && { position }),
})

export function createAttemptFeed(deps: AttemptFeedDeps): AttemptFeed {
  const { store, clock, log, isShared } = deps
  /** Accounts with records that have not been read. */
  let changed = new Set<string>()
  /** Up to where the log of an account has been read. */
  const cursors = new Map<string, number>()
  /** The ends of the log as this node saw them, oldest first: one is older than `LOOKBACK_MS`. */
  let ends: { readonly position: number; readonly seenMs: number }[] = []
  /** When the ids of records were sent, oldest first. */
  const sent = new Map<string, number>()
  let isPollDue = false

  const reading = createCoalescingTask(
    async () => {
      try {
        await (isShared ? poll() : readChanged())
      } catch (thrown) {
        const [open] = deps.streams()
        if (!open) return
        const reason = reasonOf(thrown)
        log.warn({ reason }, 'reading attempts for streams failed, retrying')
      }
    },
    (begin) => void clock.sleep(READ_DELAY_MS).then(begin),
  )

  /** Notes that a record is sent now; false: it was sent before. */
  function isFirst(recordId: string): boolean {
    if (sent.has(recordId)) return false
    sent.set(recordId, clock.monotonic())
    return true
  }

  async function readChanged(): Promise<void> {
    const accounts = changed
    changed = new Set()
    for (const accountId of accounts) {
      try {
        await readAccount(accountId)
      } catch (thrown) {
        for (const rest of accounts) changed.add(rest)
        throw thrown
      }
      accounts.delete(accountId)
    }
    if (!isPollDue) return
    isPollDue = false
    // A settlement that is stored now is known within the time after which the position is used.
    noteEnd((await store.attemptLog({ accountIds: [], limit: 1 })).position)
  }

  async function readAccount(accountId: string): Promise<void> {
    for (;;) {
      const before = await deps.streamsOf(accountId)
      if (before.length === 0) return void cursors.delete(accountId)
      const after = cursors.get(accountId) ?? Math.min(...before.map(({ startPosition }) => startPosition))
      const page = await store.attemptLog({ accountIds: [accountId], after, limit: PAGE_SIZE })
      const streams = await deps.streamsOf(accountId)
      for (const record of page.attempts) send(streams, record)
      cursors.set(accountId, page.position)
      for (const stream of streams) if (!stream.hasDescendants) advance(stream, page.position)
      if (page.attempts.length < PAGE_SIZE) return
      await clock.yield()
    }
  }

  function send(streams: readonly OpenStream[], record: LoggedAttempt): void {
    if (streams.length === 0) return
    const live = liveOf(record, record.call, record.position)
    for (const stream of streams) {
      // The records of one account are in order: a reader that resumes here has all before.
      if (!isShared && !stream.hasDescendants) advance(stream, record.position)
      stream.record(live)
    }
  }

  function advance(stream: OpenStream, position: number): void {
    if (!stream.held && position > stream.position) stream.position = position
  }

  async function poll(): Promise<void> {
    if (!isPollDue) return
    isPollDue = false
    const accountIds = new Set<string>()
    for (const stream of deps.streams()) {
      if (stream.types.includes('attempt')) for (const id of stream.accountIds) accountIds.add(id)
    }
    if (accountIds.size === 0 || ends.length === 0) return
    const ids = [...accountIds]
    let after = ends[0]!.position
    for (let page = 0; ; page += 1) {
      const { attempts, position } = await store.attemptLog({ accountIds: ids, after, limit: PAGE_SIZE })
      for (const record of attempts) {
        if (sent.has(record.id)) continue
        const streams = await deps.streamsOf(record.accountId)
        if (streams.length > 0 && isFirst(record.id)) send(streams, record)
      }
      after = position
      if (attempts.length < PAGE_SIZE) break
      if (page < MAX_PAGES) continue
      after = (await store.attemptLog({ accountIds: [], limit: 1 })).position
      ends = []
      for (const stream of deps.streams()) stream.drop(null)
      break
    }
    noteEnd(after)
  }

  function noteEnd(position: number): void {
    const nowMs = clock.monotonic()
    const isOld = ({ seenMs }: { readonly seenMs: number }) => nowMs - seenMs >= LOOKBACK_MS
    ends.push({ position, seenMs: nowMs })
    while (ends.length > 1 && isOld(ends[1]!)) ends.shift()
    for (const [id, sentMs] of sent) {
      if (nowMs - sentMs < 3 * LOOKBACK_MS) break
      sent.delete(id)
    }
    // The first end is a guess until it is old.
    if (isOld(ends[0]!)) for (const stream of deps.streams()) advance(stream, ends[0]!.position)
  }

  function noteChange(accountId: string): void {
    if (isShared) return
    changed.add(accountId)
    reading.trigger()
  }

  return {
    recorded(record, body) {
      if (!isShared) return noteChange(record.accountId)
      deps.deliver(record.accountId, (streams) => {
        if (streams.length === 0 || !isFirst(record.id)) return
        const live = liveOf(record, body === undefined ? undefined : partiesOf(body))
        for (const stream of streams) stream.record(live)
      })
    },
    changed: noteChange,
    opened({ accountIds, position, isResumed }) {
      if (isShared) {
        const back = isResumed ? FIRST_LOOKBACK : 0
        if (ends.length === 0)
          ends.push({ position: Math.max(0, position - back), seenMs: clock.monotonic() })
        return
      }
      for (const accountId of accountIds) changed.add(accountId)
      reading.trigger()
    },
    tick() {
      isPollDue = isShared || [...deps.streams()].some(({ hasDescendants }) => hasDescendants)
      if (isPollDue || changed.size > 0) reading.trigger()
    },
    clear() {
      changed.clear()
      cursors.clear()
      sent.clear()
      ends = []
    },
  }
}
