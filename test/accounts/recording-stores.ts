import type { AccountStore, RemovalOptions } from '../../src/accounts/account-store.js'
import type { TokenRow } from '../../src/auth/token.js'
import type { TokenStore } from '../../src/auth/token-store.js'
import { memoryAccounts } from '../../src/store/memory/accounts.js'

/** An account store in memory that records every call in `calls`. */
export function recordingAccountStore(calls: unknown[] = []): AccountStore {
  const accounts = memoryAccounts()
  const synchronous = {
    ...accounts,
    remove(accountId: string, removal: RemovalOptions) {
      accounts.remove(accountId, removal)
      return []
    },
  }
  const entries = Object.entries(synchronous).map(([name, method]) => [
    name,
    async (...args: unknown[]) => (method as (...args: unknown[]) => unknown)(...args),
  ])
  return recordCalls(calls, Object.fromEntries(entries) as AccountStore)
}

/** A token store over a Map that records every call in `calls`. */
export function recordingTokenStore(calls: unknown[] = []): TokenStore {
  const rows = new Map<string, TokenRow>()
  return recordCalls<TokenStore>(calls, {
    async issue(row) {
      rows.set(row.hash, row)
    },
    read: async (hash) => rows.get(hash),
    revoke: async (hash) => rows.delete(hash),
    async revokeAll(accountId, holder) {
      const revoked = [...rows.values()].filter(
        (row) => row.accountId === accountId && (holder === undefined || (row.userId ?? null) === holder),
      )
      for (const row of revoked) rows.delete(row.hash)
      return revoked.length
    },
    async pruneTokens(now, limit) {
      const expired = [...rows.values()].filter((row) => row.expiresMs <= now).slice(0, limit)
      for (const row of expired) rows.delete(row.hash)
      return expired.length
    },
  })
}

/** Wraps a port so that each call is recorded with its arguments. */
function recordCalls<Port extends object>(calls: unknown[], port: Port): Port {
  const entries = Object.entries(port).map(([name, call]) => [
    name,
    (...args: unknown[]) => {
      calls.push([name, ...args])
      return (call as (...args: unknown[]) => unknown)(...args)
    },
  ])
  return Object.fromEntries(entries) as Port
}
