/** Live items for a memory store, so that nodes of one process exchange them. */

import type { Erasure } from '../../src/delivery/erasure-store.js'
import { LIVE_RETENTION_MS, type LiveListener, type LiveWatch } from '../../src/delivery/live-store.js'
import type { Group } from '../../src/delivery/queue-store.js'
import type { Clock } from '../../src/ports.js'
import type { Store } from '../../src/store/contract.js'

interface StoredItem {
  readonly accountId: string
  readonly callId: string | undefined
  readonly json: string
}

interface Batch {
  readonly writer: string
  readonly number: number
  readonly atMs: number
  items: readonly StoredItem[]
}

const BATCHES_PER_READ = 8

/** @param clock default: the real one */
export function addLiveItems(
  memory: Store,
  clock: Pick<Clock, 'monotonic'> = { monotonic: () => performance.now() },
): Store {
  const { deliveries } = memory
  const watches = new Map<string, { readonly list: readonly LiveWatch[]; readonly untilMs: number }>()
  const listeners = new Set<LiveListener>()
  const events = new Map<string, { readonly accountId: string; readonly callId?: string | undefined }>()
  let batches: Batch[] = []
  const isCovered = (
    { accountId, callIds }: Erasure,
    item: { readonly accountId: string; readonly callId?: string | undefined },
  ) =>
    item.accountId === accountId && (!callIds || (item.callId !== undefined && callIds.includes(item.callId)))
  const othersOf = (own: string) => {
    const untilMs = clock.monotonic() - 2 * LIVE_RETENTION_MS
    return batches.filter(({ writer, atMs }) => writer !== own && atMs > untilMs)
  }
  /** Rejects as the memory store does when it is closed. */
  const rejectClosed = () => deliveries.nodes()
  const forget = (own: string, upTo: number) => {
    batches = batches.filter(({ writer, number }) => writer !== own || number > upTo)
  }

  return {
    ...memory,
    supports: { ...memory.supports, liveItems: true },
    deliveries: {
      ...deliveries,
      commit(group: Group) {
        for (const { events: added } of group.accepted) for (const event of added) events.set(event.id, event)
        return deliveries.commit(group)
      },
      async erase(what, limit) {
        for (const [id, event] of events) if (isCovered(what, event)) events.delete(id)
        for (const batch of batches) batch.items = batch.items.filter((item) => !isCovered(what, item))
        return deliveries.erase(what, limit)
      },
    },
    live: {
      async watch(reader, list, ttlMs) {
        await rejectClosed()
        if (list.length === 0) watches.delete(reader)
        else watches.set(reader, { list, untilMs: clock.monotonic() + ttlMs })
        for (const { onWatched } of listeners) onWatched()
      },
      async watched(writer) {
        await rejectClosed()
        const nowMs = clock.monotonic()
        return [...watches].flatMap(([reader, { list, untilMs }]) =>
          reader !== writer && untilMs > nowMs ? list : [],
        )
      },
      async put({ writer, number, items }, upTo) {
        await rejectClosed()
        forget(writer, upTo)
        if (batches.some((batch) => batch.writer === writer && batch.number === number)) return
        const kept = items.flatMap(({ accountId, callId, eventId, json }) =>
          eventId === undefined || events.has(eventId) ? [{ accountId, callId, json }] : [],
        )
        batches.push({ writer, number, atMs: clock.monotonic(), items: kept })
        for (const { onItems } of listeners) onItems()
      },
      async forget(writer, number) {
        await rejectClosed()
        forget(writer, number)
      },
      async ends(reader) {
        await rejectClosed()
        return new Map(othersOf(reader).map(({ writer, number }) => [writer, number]))
      },
      async read(reader, after) {
        await rejectClosed()
        const turns = new Map<string, number>()
        const found = othersOf(reader)
          .filter(({ writer, number }) => number > (after.get(writer) ?? 0))
          .map((batch) => {
            const turn = (turns.get(batch.writer) ?? 0) + 1
            turns.set(batch.writer, turn)
            return { turn, batch }
          })
          .sort((a, b) => a.turn - b.turn)
          .slice(0, BATCHES_PER_READ)
        return {
          batches: found.map(({ batch: { writer, number, items } }) => ({
            writer,
            number,
            items: items.map(({ accountId, json }) => ({ accountId, json })),
          })),
          hasMore: found.length === BATCHES_PER_READ,
        }
      },
      subscribe(listener) {
        const own = { ...listener }
        listeners.add(own)
        return () => {
          listeners.delete(own)
        }
      },
    },
  }
}
