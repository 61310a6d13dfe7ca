import type { TokenRow } from '../../auth/token-store.js'
import { type HeapItem, heapPush, heapRemove } from '../../values/heap.js'
import { deleteInner, innerMap } from './state.js'

interface TokenEntry extends HeapItem {
  readonly row: TokenRow
}

/** The tokens port: tokens indexed by hash, by account and by expiry. */
export function memoryTokens() {
  const byHash = new Map<string, TokenEntry>()
  const byAccount = new Map<string, Map<string, TokenEntry>>()
  const byExpiry: TokenEntry[] = []

  const remove = (entry: TokenEntry) => {
    byHash.delete(entry.row.hash)
    deleteInner(byAccount, entry.row.accountId, entry.row.hash)
    heapRemove(byExpiry, entry)
  }

  return {
    issue(row: TokenRow): void {
      const before = byHash.get(row.hash)
      if (before) remove(before)
      const entry: TokenEntry = { row, dueMs: row.expiresMs, position: 0, heapIndex: -1 }
      byHash.set(row.hash, entry)
      innerMap(byAccount, row.accountId).set(row.hash, entry)
      heapPush(byExpiry, entry)
    },
    read: (hash: string): TokenRow | undefined => byHash.get(hash)?.row,
    revoke(hash: string): boolean {
      const entry = byHash.get(hash)
      if (entry) remove(entry)
      return entry !== undefined
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
