import type { TokenRow } from '../../auth/token-store.js'
import { push, type Scheduled, takeOut } from './heap.js'
import { inner, removeInner } from './state.js'

interface Kept extends Scheduled {
  readonly row: TokenRow
}

/** Tokens by hash, by account, and by when they expire. */
export function memoryTokens() {
  const byHash = new Map<string, Kept>()
  const byAccount = new Map<string, Map<string, Kept>>()
  const byExpiry: Kept[] = []

  const remove = (kept: Kept) => {
    byHash.delete(kept.row.hash)
    removeInner(byAccount, kept.row.accountId, kept.row.hash)
    takeOut(byExpiry, kept)
  }

  return {
    issue(row: TokenRow): void {
      const before = byHash.get(row.hash)
      if (before) remove(before)
      const kept: Kept = { row, dueMs: row.expiresMs, position: 0, heapIndex: -1 }
      byHash.set(row.hash, kept)
      inner(byAccount, row.accountId).set(row.hash, kept)
      push(byExpiry, kept)
    },
    read: (hash: string): TokenRow | undefined => byHash.get(hash)?.row,
    revoke(hash: string): boolean {
      const kept = byHash.get(hash)
      if (kept) remove(kept)
      return kept !== undefined
    },
    revokeAll(accountId: string, holder?: string | null): number {
      const ofAccount = [...(byAccount.get(accountId)?.values() ?? [])]
      const revoked = ofAccount.filter(({ row }) => holder === undefined || (row.userId ?? null) === holder)
      revoked.forEach(remove)
      return revoked.length
    },
    pruneTokens(now: number, limit: number): number {
      let removed = 0
      for (; removed < limit && byExpiry[0] && byExpiry[0].dueMs <= now; removed += 1) remove(byExpiry[0])
      return removed
    },
  }
}
