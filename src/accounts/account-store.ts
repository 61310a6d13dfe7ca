import type { Account } from './account.js'
import type { ApiKeyRow } from './api-key.js'
import type { User } from './user.js'

export type { ApiKeyRow } from './api-key.js'

/**
 * The storage door of accounts, used when the host brings no directory of its own.
 * Every promise may reject with `StoreUnavailable`.
 */
export interface AccountStore {
  /** Account, key and users in one transaction. Rejects with `Conflict` (field `id` or `realm`) when taken. */
  insert(account: Account, apiKey: ApiKeyRow, users: readonly User[]): Promise<void>
  /** Replaces the account's row. Rejects with `Conflict` (field `realm`), `NotFound`. */
  update(account: Account): Promise<void>
  /** Removes account, key and users. Its id is never given again: its attempts would be its successor's. Rejects with `Conflict` while it has children, `NotFound`. */
  remove(accountId: string): Promise<void>
  /** The account, then its ancestors up to the root; empty when unknown. Ends at a cycle. */
  lineage(accountId: string): Promise<readonly Account[]>
  /** Ids of all accounts below this one, without it. */
  descendants(accountId: string): Promise<readonly string[]>
  byRealm(realm: string): Promise<readonly Account[]>
  /** By `nameKey(name)`. */
  byName(nameKey: string): Promise<readonly Account[]>
  /** All accounts, sorted by id. */
  list(): Promise<readonly Account[]>

  /** Inserts or replaces by id. Rejects with `Conflict` (field `username`), `NotFound` (the account). */
  putUser(user: User): Promise<void>
  removeUser(accountId: string, userId: string): Promise<boolean>
  /** Sorted by username. */
  users(accountId: string): Promise<readonly User[]>
  user(accountId: string, userId: string): Promise<User | undefined>
  /** The user of one of these accounts that has one of these credential keys. */
  userByCredential(
    accountIds: readonly string[],
    credentialKeys: readonly string[],
  ): Promise<User | undefined>

  apiKey(accountId: string): Promise<ApiKeyRow | undefined>
  apiKeyByHash(hash: string): Promise<ApiKeyRow | undefined>
  /** Replaces the account's key. */
  putApiKey(row: ApiKeyRow): Promise<void>
}
