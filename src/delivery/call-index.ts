/**
 * Notes which accepted events no webhook wanted, and the numbers of calls, and writes them to the call index.
 *
 * Theory of operation
 *
 * - Noting is synchronous and follows the commit of the event, so that `publish` waits for nothing. What was noted is written
 *   together, a second after the first note or as soon as there are 1,000 rows, one batch at a time.
 * - A batch that the store did not take is repeated. At most 20,000 rows wait; what comes on top is lost, and logged.
 * - A crash loses what was noted in the last second. No delivery depends on it.
 * - Of a call each number is written once, as long as this node remembers the call: 10,000 calls, each until its end.
 * - An account has a share of the rows, so that it displaces its own oldest ones and not those of others. The oldest are removed
 *   each time this node has noted a tenth of the share. It counts from a value that differs with the time, so that
 *   accounts of nodes that restart often are trimmed too.
 */
import { LRUCache } from 'lru-cache'
import { errorCode, reasonOf } from '../errors.js'
import type { Clock, Log } from '../ports.js'
import { normalizeNumber } from '../values/phone-number.js'
import { OBJECT_HOOK } from '../webhooks/catalogue.js'
import type { CallIndexKind, CallIndexStore, CallNumber, UnwantedEvent } from './call-index-store.js'
import type { AcceptedEvent } from './delivery-store.js'
import type { CheckedEvent } from './event.js'

/** Most rows that are kept of one account. @internal */
export const MAX_PER_ACCOUNT: Readonly<Record<CallIndexKind, number>> = { events: 10_000, numbers: 1_000_000 }
/** Most of them in all. */
export const MAX_ROWS: typeof MAX_PER_ACCOUNT = { events: 1_000_000, numbers: 10_000_000 }

const FLUSH_INTERVAL_MS = 1_000
/** Rows of one batch, of each kind. @internal */
export const MAX_BATCH_ROWS = 1_000
/** Rows of each kind that wait to be written. @internal */
export const MAX_WAITING_ROWS = 20_000
/** Part of the share of an account that is noted until its oldest rows are removed. */
const TRIM_PART = 0.1
/** Rows that one call removes, and calls after each flush: together more than one batch adds. */
const TRIM_ROWS = 500
const TRIMS_PER_FLUSH = 4
/** Calls, hashes and accounts that are remembered; about 200 bytes each. */
const MAX_CACHED = 10_000
/** Numbers of one call. */
const MAX_NUMBERS = 20
/** Characters of a party that is remembered. */
const MAX_CACHED_LENGTH = 128
const LOG_INTERVAL_MS = 60_000
/** Longest wait for the last batch at the end, ms. */
const LAST_BATCH_MS = 2_000
/** 48 bits: a safe integer. */
const HASH_DIGITS = 12

/** What `createCallIndex` returns. */
export interface CallIndex {
  /** Notes an event that was accepted, and is no duplicate. */
  note(event: CheckedEvent, accepted: AcceptedEvent, isWanted: boolean, source: string): void
  /** Writes everything that was noted, as far as the store takes it. Never rejects. */
  flush(): Promise<void>
  /** Writes what was noted, in one try of at most 2 s. Later notes are lost. */
  close(): Promise<void>
  /** The hashes of a number or name, under all keys of the installation; empty: it is none. */
  hashesOf(text: string): readonly number[]
}

interface CallIndexDeps {
  readonly store: Pick<CallIndexStore, 'write' | 'excess' | 'trim'>
  readonly clock: Clock
  readonly log: Log
  /** The time of the store, Unix ms. */
  storeNow(): number
  /** Lookup keys of a text, the one of the current secret first (`SecretCipher.fingerprints`). */
  readonly fingerprints: (text: string) => readonly string[]
}

/** The fields of an event that name its parties. */
const PARTIES = [
  'from',
  'to',
  'request',
  'callerIdNumber',
  'calleeIdNumber',
  'originalNumber',
  'otherLegDestinationNumber',
  'transferTo',
  'fromUser',
  'toUser',
] as const satisfies readonly (keyof CheckedEvent)[]
type Parties = Partial<Record<(typeof PARTIES)[number], string | undefined>>

/** A call that was noted: its parties as they were last, and the numbers that were written. */
interface NotedCall {
  readonly accountId: string
  readonly callId: string
  parties: Parties
  readonly numbers: number[]
}

/** Without a loop: this runs for each event. */
const hasParties = (a: Parties, b: Parties) =>
  a.from === b.from &&
  a.to === b.to &&
  a.request === b.request &&
  a.callerIdNumber === b.callerIdNumber &&
  a.calleeIdNumber === b.calleeIdNumber &&
  a.originalNumber === b.originalNumber &&
  a.otherLegDestinationNumber === b.otherLegDestinationNumber &&
  a.transferTo === b.transferTo &&
  a.fromUser === b.fromUser &&
  a.toUser === b.toUser

// Bounded by size: `max` would allocate the memory of all entries at once.
const newCache = <Value extends {}>() =>
  new LRUCache<string, Value>({ maxSize: MAX_CACHED, sizeCalculation: () => 1 })

/** @param limits `unwantedRetentionSeconds` is read at each note; 0: unwanted events are not noted */
export function createCallIndex(
  deps: CallIndexDeps,
  limits: { readonly unwantedRetentionSeconds: number },
): CallIndex {
  const { store, clock, log, fingerprints, storeNow } = deps
  const stopping = new AbortController()
  /** By call id, the one that has been known longest first. */
  const calls = new Map<string, NotedCall>()
  const hashes = newCache<number>()
  /** Rows of accounts since their oldest ones were removed. */
  const counts = { events: newCache<number>(), numbers: newCache<number>() }
  /** Accounts whose oldest rows are removed, by kind; up to which place, once that is known. */
  const toTrim = {
    events: new Map<string, number | undefined>(),
    numbers: new Map<string, number | undefined>(),
  }
  let events: UnwantedEvent[] = []
  let numbers: CallNumber[] = []
  let lost = 0
  let nextLogMs = Number.NEGATIVE_INFINITY
  let isTimerSet = false
  let flushing: Promise<void> | undefined

  function setTimer(): void {
    if (isTimerSet || stopping.signal.aborted) return
    isTimerSet = true
    void clock.sleep(FLUSH_INTERVAL_MS, stopping.signal).then(() => {
      isTimerSet = false
      if (!stopping.signal.aborted) void flush()
    })
  }

  function add<Row>(rows: Row[], row: Row): void {
    if (rows.length >= MAX_WAITING_ROWS || stopping.signal.aborted) {
      lost += 1
      return
    }
    rows.push(row)
    if (rows.length % MAX_BATCH_ROWS === 0 && !flushing) void flush()
    else setTimer()
  }

  function count(kind: CallIndexKind, accountId: string): void {
    const most = MAX_PER_ACCOUNT[kind] * TRIM_PART
    const noted = (counts[kind].get(accountId) ?? clock.now() % most) + 1
    counts[kind].set(accountId, noted % most)
    if (noted >= most && !toTrim[kind].has(accountId)) toTrim[kind].set(accountId, undefined)
  }

  function remember(call: NotedCall): void {
    calls.delete(call.callId)
    calls.set(call.callId, call)
    if (calls.size <= MAX_CACHED) return
    for (const oldest of calls.keys()) {
      calls.delete(oldest)
      return
    }
  }

  /** The hash of the number of a party; 0: it has none. */
  function hashOf(party: string): number {
    let hash = hashes.get(party)
    if (hash === undefined) {
      const number = normalizeNumber(party)
      hash = number === undefined ? 0 : toHash(fingerprints(`${PURPOSE}${number}`)[0]!)
      if (party.length <= MAX_CACHED_LENGTH) hashes.set(party, hash)
    }
    return hash
  }

  function noteNumbers(event: CheckedEvent, eventId: string, source: string): void {
    const { accountId, callId } = event
    let call = calls.get(callId)
    if (call?.accountId === accountId && hasParties(call.parties, event)) return
    // A copy: an event may be large.
    const parties: Parties = {
      from: event.from,
      to: event.to,
      request: event.request,
      callerIdNumber: event.callerIdNumber,
      calleeIdNumber: event.calleeIdNumber,
      originalNumber: event.originalNumber,
      otherLegDestinationNumber: event.otherLegDestinationNumber,
      transferTo: event.transferTo,
      fromUser: event.fromUser,
      toUser: event.toUser,
    }
    if (call?.accountId !== accountId) {
      call = { accountId, callId, parties: {}, numbers: [] }
      remember(call)
    }
    // Long texts are not remembered: there may be one of 64 KiB in each event.
    call.parties = PARTIES.some((name) => (parties[name]?.length ?? 0) > MAX_CACHED_LENGTH) ? {} : parties
    const acceptedMs = Math.floor(storeNow())
    const write = (number: number) => {
      call.numbers.push(number)
      add(numbers, { number, accountId, callId, source, acceptedMs, eventId })
      count('numbers', accountId)
    }
    for (const name of PARTIES) {
      const party = parties[name]
      const number = party === undefined ? 0 : hashOf(party)
      if (number !== 0 && !call.numbers.includes(number) && call.numbers.length < MAX_NUMBERS) write(number)
    }
    if (call.numbers.length === 0) write(0)
  }

  function noteUnwanted(event: CheckedEvent, { id, sequence }: AcceptedEvent, source: string): void {
    const { accountId, callId, hook, timestampMs, isInternalLeg = false } = event
    const acceptedMs = Math.floor(storeNow())
    add(events, { id, accountId, callId, hook, sequence, timestampMs, acceptedMs, source, isInternalLeg })
    count('events', accountId)
  }

  function warn(fields: Readonly<Record<string, unknown>>, message: string): void {
    if (clock.monotonic() < nextLogMs) return
    nextLogMs = clock.monotonic() + LOG_INTERVAL_MS
    log.warn(fields, message)
  }

  /** Returns false if the store did not answer: the batch is repeated. */
  async function write(batch: Parameters<CallIndexStore['write']>[0]): Promise<boolean> {
    try {
      await store.write(batch)
      return true
    } catch (thrown) {
      const reason = reasonOf(thrown)
      if (errorCode(thrown) === 'StoreUnavailable') {
        warn({ reason }, 'the call index could not be written, retrying')
        return false
      }
      // Another try would fail too.
      lost += batch.events.length + batch.numbers.length
      warn({ reason }, 'rows of the call index were refused by the store and are lost')
      return true
    }
  }

  /** Removes some of the oldest rows; the rest after later flushes, so that searches do not wait long for one. */
  async function trimAccounts(): Promise<void> {
    let left = TRIMS_PER_FLUSH
    for (const kind of ['events', 'numbers'] as const)
      for (const [accountId, known] of toTrim[kind]) {
        const upTo = known ?? (await store.excess(kind, MAX_PER_ACCOUNT[kind], accountId))
        toTrim[kind].set(accountId, upTo)
        let hasMore = upTo > 0
        for (; hasMore && left > 0; left -= 1) {
          hasMore = (await store.trim(kind, accountId, upTo, TRIM_ROWS)) >= TRIM_ROWS
          await clock.yield()
        }
        if (hasMore) return
        toTrim[kind].delete(accountId)
      }
  }

  /** Writes what waits now. Rows that are noted meanwhile wait for the next second: there may be some after each batch. */
  async function writeAll(): Promise<void> {
    for (let left = Math.max(events.length, numbers.length); left > 0; left -= MAX_BATCH_ROWS) {
      const batch = { events: events.slice(0, MAX_BATCH_ROWS), numbers: numbers.slice(0, MAX_BATCH_ROWS) }
      if (!(await write(batch))) return
      events = events.slice(batch.events.length)
      numbers = numbers.slice(batch.numbers.length)
    }
    if (lost > 0) {
      log.warn({ rows: lost }, 'the call index lacks rows: too many waited to be written')
      lost = 0
    }
    await trimAccounts()
  }

  function flush(): Promise<void> {
    flushing ??= writeAll()
      // Removing the oldest is repeated with the next ones.
      .catch(() => {})
      .finally(() => {
        flushing = undefined
        if (events.length > 0 || numbers.length > 0) setTimer()
      })
    return flushing
  }

  /** Writes everything that was noted: a flush in progress may have begun before the last note. */
  async function flushAll(): Promise<void> {
    await flushing
    await flush()
  }

  return {
    note(event, accepted, isWanted, source) {
      const isNoted = !isWanted && limits.unwantedRetentionSeconds > 0
      if (isNoted) noteUnwanted(event, accepted, source)
      // A document has no numbers, and its events come from the service itself.
      if ((isWanted || isNoted) && event.hook !== OBJECT_HOOK) noteNumbers(event, accepted.id, source)
      // Its last event, as a rule: one that follows writes the numbers once more.
      if (event.hook === 'channel_destroy') calls.delete(event.callId)
    },
    flush: flushAll,
    async close() {
      const last = flushAll()
      stopping.abort()
      const limit = new AbortController()
      await Promise.race([last, clock.sleep(LAST_BATCH_MS, limit.signal)])
      limit.abort()
    },
    hashesOf(text) {
      const number = normalizeNumber(text)
      return number === undefined ? [] : [...new Set(fingerprints(`${PURPOSE}${number}`).map(toHash))]
    },
  }
}

/** Keeps these hashes apart from other lookup keys of the installation. */
const PURPOSE = 'number\n'

const toHash = (fingerprint: string): number => Number.parseInt(fingerprint.slice(0, HASH_DIGITS), 16) + 1
