import type { CallIndexStore, CallNumber, UnwantedEvent } from '../../delivery/call-index-store.js'
import { erasedCallsOf, isCovered } from '../engine/erasure.js'
import type { State } from './state.js'

/** Rows of one kind, oldest first, with look-ups. */
function createRows<
  Value extends { readonly accountId: string; readonly callId: string; readonly acceptedMs: number },
>(keysOf: (row: Value) => readonly string[]) {
  type Row = Value & { readonly place: number }
  const rows = new Set<Row>()
  const byKey = new Map<string, Set<Row>>()
  let lastPlace = 0
  /** Of an account, or of all. */
  const ofAccount = (accountId?: string): ReadonlySet<Row> =>
    accountId === undefined ? rows : (byKey.get(`account/${accountId}`) ?? new Set())
  function excess(keep: number, accountId?: string): number {
    const found = ofAccount(accountId)
    let left = found.size - keep
    if (left > 0) for (const { place } of found) if (--left === 0) return place
    return 0
  }
  /** Removes up to `limit` of these rows. */
  function remove(selected: Iterable<Row>, limit: number): number {
    let removed = 0
    for (const row of selected) {
      if (removed >= limit) break
      removed += 1
      rows.delete(row)
      for (const key of keysOf(row)) {
        const found = byKey.get(key)!
        found.delete(row)
        if (found.size === 0) byKey.delete(key)
      }
    }
    return removed
  }
  /** Removes up to `limit` of the oldest rows, as long as they are too old, or up to the place. */
  function prune(
    { beforeMs = Number.NEGATIVE_INFINITY, upTo }: { readonly beforeMs?: number; readonly upTo: number },
    limit: number,
    accountId?: string,
  ): number {
    const isExpired = ({ place, acceptedMs }: Row) => place <= upTo || acceptedMs < beforeMs
    return remove(takeWhile(ofAccount(accountId), isExpired), limit)
  }
  return {
    rows,
    excess,
    remove,
    prune,
    /** Removes all but the newest `keep`. */
    keepNewest: (keep: number, accountId?: string) =>
      prune({ upTo: excess(keep, accountId) }, Number.POSITIVE_INFINITY, accountId),
    add(value: Value): void {
      const row = { ...value, place: ++lastPlace }
      rows.add(row)
      for (const key of keysOf(row)) {
        const found = byKey.get(key)
        if (found) found.add(row)
        else byKey.set(key, new Set([row]))
      }
    },
    /** Newest first. */
    find: (key: string): readonly Row[] => [...(byKey.get(key) ?? [])].reverse(),
  }
}

function* takeWhile<Row>(rows: Iterable<Row>, isWanted: (row: Row) => boolean): Generator<Row> {
  for (const row of rows) {
    if (!isWanted(row)) return
    yield row
  }
}

/** Rows of each kind that are kept, whatever `prune` allows: they are in memory. */
const MAX_ROWS = 100_000
const MAX_PER_ACCOUNT = 10_000

/** The port of the call index. */
export function memoryCallIndex(state: State) {
  const events = createRows<UnwantedEvent>(({ id, accountId, callId }) => [
    `event/${id}`,
    `call/${callId}`,
    `account/${accountId}`,
  ])
  const numbers = createRows<CallNumber>(({ number, callId, accountId }) => [
    `call/${callId}`,
    `number/${number}`,
    `number/${number}/${accountId}`,
    `account/${accountId}`,
  ])
  const byKind = { events, numbers }
  const eventOf = ({ place: _, ...event }: UnwantedEvent & { readonly place: number }) => event
  const callOf = ({ accountId, callId, source, acceptedMs }: CallNumber) => ({
    accountId,
    callId,
    source,
    acceptedMs,
  })
  type Synchronous = {
    readonly [Name in keyof CallIndexStore]: (
      ...args: Parameters<CallIndexStore[Name]>
    ) => Awaited<ReturnType<CallIndexStore[Name]>>
  }
  return {
    write(batch) {
      for (const event of batch.events)
        if (state.events.has(event.id) && events.find(`event/${event.id}`).length === 0) events.add(event)
      for (const number of batch.numbers) if (state.events.has(number.eventId)) numbers.add(number)
      for (const kind of ['events', 'numbers'] as const) {
        for (const accountId of new Set(batch[kind].map((row) => row.accountId)))
          byKind[kind].keepNewest(MAX_PER_ACCOUNT, accountId)
        byKind[kind].keepNewest(MAX_ROWS)
      }
    },
    events({ accountId, callIds, eventId, limit }) {
      const found =
        eventId !== undefined
          ? events.find(`event/${eventId}`)
          : callIds !== undefined
            ? callIds
                .flatMap((callId) => events.find(`call/${callId}`))
                .sort((a, b) => b.acceptedMs - a.acceptedMs)
            : events.find(`account/${accountId}`)
      return found
        .filter((event) => accountId === undefined || event.accountId === accountId)
        .slice(0, limit)
        .map(eventOf)
    },
    calls({ accountId, numbers: wanted = [], callId, limit }) {
      const ofAccount = accountId === undefined ? '' : `/${accountId}`
      const found = [
        ...wanted.flatMap((number) => numbers.find(`number/${number}${ofAccount}`)),
        ...(callId === undefined ? [] : numbers.find(`call/${callId}`)),
      ]
      return found
        .filter((call) => accountId === undefined || call.accountId === accountId)
        .sort((a, b) => b.acceptedMs - a.acceptedMs)
        .slice(0, limit)
        .map(callOf)
    },
    erase(erasure, limit) {
      const what = erasedCallsOf(erasure)
      const matches = ({ accountId, callId }: { readonly accountId: string; readonly callId: string }) =>
        accountId === what.accountId && isCovered(what, callId)
      const removed = events.remove([...events.rows].filter(matches), limit)
      return removed + numbers.remove([...numbers.rows].filter(matches), limit - removed)
    },
    excess: (kind, keep, accountId) => byKind[kind].excess(keep, accountId),
    trim: (kind, accountId, upTo, limit) => byKind[kind].prune({ upTo }, limit, accountId),
    prune: (limits, limit) => events.prune(limits.events, limit) + numbers.prune(limits.numbers, limit),
  } satisfies Synchronous
}
