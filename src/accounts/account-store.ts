import type { Account } from './account.js'
import type { ApiKeyRow } from './api-key.js'
import type { User } from './user.js'

export type { ApiKeyRow } from './api-key.js'

/** Where a page of a sorted list continues: the sort key and the id of the last row of the page before. */
export type ListPosition = readonly [sortKey: string, id: string]

/** One page of a sorted list. Texts are compared by code points. */
export interface PageQuery {
  /** Only rows behind this one, in the requested order. */
  readonly after?: ListPosition
  /** True: in ascending order of the sort key. */
  readonly ascending: boolean
  /** Maximum number of rows. */
  readonly limit: number
}

/** One page of accounts, sorted by name, then id. */
export interface AccountQuery extends PageQuery {
  /** Only accounts directly below this one. */
  readonly childrenOf?: string
  /** Only accounts below this one, on every level. */
  readonly descendantsOf?: string
  /**
   * Only accounts whose normalized name (`normalizeAccountName`), realm (`normalizeRealmForSearch`) or id begins with
   * this text, which is normalized likewise.
   */
  readonly prefix?: { readonly of: 'name' | 'realm' | 'id'; readonly text: string }
}

/** Conditions that the store checks in the transaction that writes an account. */
export interface AccountConditions {
  /** Revision of the stored account; any other rejects with `RevisionConflict`. */
  readonly revision?: number
  /** Rejects with `Conflict` (field `name`) when another account has the same normalized name. */
  readonly uniqueName?: boolean
  /** Rejects with `NotFound` when the parent does not exist. */
  readonly requireParent?: boolean
  /**
   * Rejects with `Conflict` (field `parentId`) when the parent is the account or below it. Of concurrent updates with this
   * condition, on all nodes, each sees the parents that the others have written.
   */
  readonly acyclic?: boolean
  /**
   * Rejects with `Conflict` (field `depth`) when the account or one below it would have more accounts than this in its
   * lineage, also because of concurrent writes with this condition.
   */
  readonly maxDepth?: number
}

/** Conditions that the store checks in the transaction that writes a user. */
export interface UserConditions {
  /** Revision of the stored user; any other rejects with `RevisionConflict`. */
  readonly revision?: number
  /** Rejects with `Conflict` (field `id`) when the account has, or ever had, a user with this id. */
  readonly isNew?: boolean
}

/** The time of a removal, and its condition. */
export interface RemovalOptions {
  /** Wall clock, Unix ms. */
  readonly nowMs: number
  /** Revision of the stored account or user; any other rejects with `RevisionConflict`. Default: any. */
  readonly revision?: number
}

/**
 * The storage port of accounts, their API keys and their users. Used when the host provides no directory.
 * Every promise may reject with `StoreUnavailable`.
 */
export interface AccountStore {
  /**
   * Inserts account, key and users in one transaction. Rejects with `Conflict` (field `id`, `realm`, `apiKey` or `username`)
   * when taken. Of a list of accounts thousands are inserted at the same time: a store may write them together, but the
   * refusal of one must not affect the others.
   */
  insert(
    account: Account,
    apiKey: ApiKeyRow,
    users: readonly User[],
    conditions?: AccountConditions,
  ): Promise<void>
  /** Replaces the account's row. Rejects with `Conflict` (field `realm`), `NotFound`. */
  update(account: Account, conditions?: AccountConditions): Promise<void>
  /**
   * Removes account, key and users and deletes the account's webhooks, in one transaction. The id is never reused: a
   * later account would inherit the attempts stored under it. Resolves to the ids of the deleted webhooks. Rejects with
   * `Conflict` while the account has children, `NotFound`.
   */
  remove(accountId: string, options: RemovalOptions): Promise<readonly string[]>
  /** Whether an account had this id and was removed. */
  wasRemoved(accountId: string): Promise<boolean>
  /** The account, then its ancestors up to the root; empty when unknown. Stops at a cycle. */
  lineage(accountId: string): Promise<readonly Account[]>
  /** Ids of all accounts below this one, without its own. */
  descendants(accountId: string): Promise<readonly string[]>
  /** For each account, the number of accounts below it on all levels, at most `max`. */
  countDescendants(accountIds: readonly string[], max: number): Promise<readonly number[]>
  /** One page of accounts, sorted by name, then id. Its cost does not grow with the accounts of other subtrees. */
  accountPage(query: AccountQuery): Promise<readonly Account[]>
  /** The account with this realm, compared in the form of `normalizeRealm`; empty when there is none. */
  byRealm(realm: string): Promise<readonly Account[]>
  /** The accounts whose `normalizeAccountName(name)` equals `nameKey`: names need not be unique. */
  byName(nameKey: string): Promise<readonly Account[]>
  /** All accounts, sorted by id. */
  list(): Promise<readonly Account[]>

  /** Inserts or replaces a user by id. Rejects with `Conflict` (field `username`), `NotFound` (the account). */
  putUser(user: User, conditions?: UserConditions): Promise<void>
  /** Removes a user. Resolves to false when the account has no user with this id. */
  removeUser(
    accountId: string,
    userId: string,
    conditions?: Pick<UserConditions, 'revision'>,
  ): Promise<boolean>
  /** The account's users, sorted by user name. */
  users(accountId: string): Promise<readonly User[]>
  /** One page of the account's users, sorted by `userSortKey`, then id. */
  userPage(accountId: string, query: PageQuery): Promise<readonly User[]>
  /** The account's user with this name, in any case; `undefined`: none. */
  userByName(accountId: string, username: string): Promise<User | undefined>
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
  /** Replaces the account's key. Rejects with `Conflict` (field `apiKey`) when another account has it. */
  putApiKey(row: ApiKeyRow): Promise<void>
}
