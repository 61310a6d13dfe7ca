import type { OpenLeg, OpenLegChanges, OpenLegErasure } from '../../legs/open-leg-store.js'
import { isMentioned } from '../effective-state.js'
import { deleteInner, innerMap } from './state.js'

interface StoredLeg {
  readonly leg: OpenLeg
  readonly addedMs: number
}

/** The port of open legs: legs by source, then call id. */
export function memoryOpenLegs() {
  const bySource = new Map<string, Map<string, StoredLeg>>()
  /** Call ids of a source in order, so that a list of many pages sorts them once. Removed at each change. */
  const sorted = new Map<string, readonly string[]>()

  const sortedIds = (source: string): readonly string[] => {
    const ids = sorted.get(source) ?? [...(bySource.get(source)?.keys() ?? [])].sort()
    sorted.set(source, ids)
    return ids
  }

  /** Removes up to `limit` legs for which `matches` returns true. */
  const removeWhere = (matches: (stored: StoredLeg) => boolean, limit: number): number => {
    let removed = 0
    for (const [source, legs] of bySource) {
      for (const [callId, stored] of legs) {
        if (removed >= limit) return removed
        if (!matches(stored)) continue
        sorted.delete(source)
        deleteInner(bySource, source, callId)
        removed += 1
      }
    }
    return removed
  }

  return {
    write(source: string, { put, remove }: OpenLegChanges, now: number): void {
      sorted.delete(source)
      for (const callId of remove) deleteInner(bySource, source, callId)
      if (put.length === 0) return
      const legs = innerMap(bySource, source)
      for (const leg of put) legs.set(leg.callId, { leg, addedMs: legs.get(leg.callId)?.addedMs ?? now })
    },
    list(source: string, after: string | undefined, limit: number): readonly OpenLeg[] {
      const ids = sortedIds(source)
      const from = after === undefined ? 0 : ids.findIndex((callId) => callId > after)
      if (from < 0) return []
      return ids.slice(from, from + limit).map((callId) => bySource.get(source)!.get(callId)!.leg)
    },
    erase: ({ accountId, callIds }: OpenLegErasure, limit: number): number =>
      removeWhere(({ leg }) => leg.accountId === accountId && (callIds?.includes(leg.callId) ?? true), limit),
    mentions(accountId: string, text: string): readonly string[] {
      const found = new Set<string>()
      for (const legs of bySource.values()) {
        for (const { leg } of legs.values()) {
          if (leg.accountId !== accountId) continue
          if (isMentioned(leg.callId, text) || isMentioned(leg.state, text)) found.add(leg.callId)
        }
      }
      return [...found]
    },
    prune: (beforeMs: number, limit: number): number =>
      removeWhere(({ addedMs }) => addedMs < beforeMs, limit),
  }
}
