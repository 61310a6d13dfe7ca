import type { Account } from './account.js'
import type { ApiKeyRow } from './api-key.js'
import type { User } from './user.js'

export type { ApiKeyRow } from './api-key.js'

/**
 * The storage port of accounts, their API keys and their users. Used when the host provides no directory.
 * Every promise may reject with `StoreUnavailable`.
 */
export interface AccountStore {
  /** Inserts account, key and users in one transaction. Rejects with `Conflict` (field `id` or `realm`) when taken. */
  insert(account: Account, apiKey: ApiKeyRow, users: readonly User[]): Promise<void>
  /** Replaces the account's row. Rejects with `Conflict` (field `realm`), `NotFound`. */
  update(account: Account): Promise<void>
  /**
   * Removes account, key and users. The id is never reused: a later account would inherit the attempts stored under it.
   * Rejects with `Conflict` while the account has children, `NotFound`.
   */
  remove(accountId: string): Promise<void>
  /** The account, then its ancestors up to the root; empty when unknown. Stops at a cycle. */
  lineage(accountId: string): Promise<readonly Account[]>
  /** Ids of all accounts below this one, without its own. */
  descendants(accountId: string): Promise<readonly string[]>
  /** The account with this realm, compared in the form of `normalizeRealm`; empty when there is none. */
  byRealm(realm: string): Promise<readonly Account[]>
  /** The accounts whose `normalizeAccountName(name)` equals `nameKey`: names need not be unique. */
  byName(nameKey: string): Promise<readonly Account[]>
  /** All accounts, sorted by id. */
  list(): Promise<readonly Account[]>

  /** Inserts or replaces a user by id. Rejects with `Conflict` (field `username`), `NotFound` (the account). */
  putUser(user: User): Promise<void>
  /** Removes a user. Resolves to false when the account has no user with this id. */
  removeUser(accountId: string, userId: string): Promise<boolean>
  /** The account's users, sorted by user name. */
  users(accountId: string): Promise<readonly User[]>
  /** One of the account's users by id; `undefined` when unknown. */
  user(accountId: string, userId: string): Promise<User | undefined>
  /**
   * The user of one of these accounts who has one of these credential keys (`User.credentialKeys`);
   * `undefined`: none.
   */
  userByCredential(
    accountIds: readonly string[],
    credentialKeys: readonly string[],
  ): Promise<User | undefined>

  /** The account's stored API key; `undefined` when the account is unknown. */
  apiKey(accountId: string): Promise<ApiKeyRow | undefined>
  /** The stored API key with this hash (`ApiKeyRow.hash`), of any account; `undefined`: none. */
  apiKeyByHash(hash: string): Promise<ApiKeyRow | undefined>
  /** Replaces the account's key. */
  putApiKey(row: ApiKeyRow): Promise<void>
}
