import type { CallIndexStore, CallNumber, UnwantedEvent } from '../../delivery/call-index-store.js'
import { erasedCallsOf, isCovered } from '../engine/erasure.js'
import type { State } from './state.js'

/** Rows of one kind, oldest first, with look-ups. */
function createRows<
  Row extends { readonly accountId: string; readonly callId: string; readonly acceptedMs: number },
>(keysOf: (row: Row) => readonly string[]) {
  const rows = new Set<Row>()
  const byKey = new Map<string, Set<Row>>()
  return {
    rows,
    add(row: Row): void {
      rows.add(row)
      for (const key of keysOf(row)) {
        const found = byKey.get(key)
        if (found) found.add(row)
        else byKey.set(key, new Set([row]))
      }
    },
    /** Newest first. */
    find: (key: string): readonly Row[] => [...(byKey.get(key) ?? [])].reverse(),
    /** Removes up to `limit` of these rows. */
    remove(selected: Iterable<Row>, limit: number): number {
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
    },
  }
}

/** Oldest rows first, as long as they are too old or too many. */
function* expired<Row extends { readonly acceptedMs: number }>(
  rows: ReadonlySet<Row>,
  { beforeMs, max }: { readonly beforeMs: number; readonly max: number },
): Generator<Row> {
  let excess = rows.size - max
  for (const row of rows) {
    if (excess <= 0 && row.acceptedMs >= beforeMs) return
    excess -= 1
    yield row
  }
}

/** Rows of each kind that are kept, whatever `prune` allows: they are in memory. */
const MAX_ROWS = 100_000

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
  ])
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
  const port: Synchronous = {
    write(batch) {
      for (const event of batch.events)
        if (state.events.has(event.id) && events.find(`event/${event.id}`).length === 0)
          events.add({ ...event })
      for (const number of batch.numbers) if (state.events.has(number.eventId)) numbers.add({ ...number })
      const max = { beforeMs: Number.NEGATIVE_INFINITY, max: MAX_ROWS }
      port.prune({ events: max, numbers: max }, Number.POSITIVE_INFINITY)
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
      return found.filter((event) => accountId === undefined || event.accountId === accountId).slice(0, limit)
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
    trim: (accountId, keep, limit) =>
      events.remove(events.find(`account/${accountId}`).slice(keep).reverse(), limit),
    prune: (limits, limit) =>
      events.remove(expired(events.rows, limits.events), limit) +
      numbers.remove(expired(numbers.rows, limits.numbers), limit),
  }
  return port
}
