import type { Account } from './account.js'

/**
 * The port to accounts. The store implements it over its own tables; a host that already has accounts passes its own
 * implementation as the option `directory`.
 *
 * A rejection fails only the request that caused the call, with 503. Results are cached for at most 2 s (positive ones
 * only) unless the host calls `hs.accounts.changed(id)`.
 */
export interface Directory {
  /** The account, then its parent, and so on to the root; empty when the account is unknown. */
  lineage(accountId: string): Promise<readonly Account[]>
  /** Ids of all accounts below this one, without its own. */
  descendants(accountId: string): Promise<readonly string[]>
  /** Accounts with this realm. `realm` is lower-cased and trimmed. */
  accountsByRealm(realm: string): Promise<readonly Account[]>
  /** Accounts with this name. `name` is lower-cased and reduced to letters and digits. */
  accountsByName(name: string): Promise<readonly Account[]>
  /** The account that has this API key. */
  holderOfApiKey(apiKey: string): Promise<
    | {
        /** The account that the credential belongs to. */
        readonly accountId: string
        /** Absent: the account itself, by its API key. */
        readonly userId?: string
        /** Any string that changes when the credential changes. */
        readonly credentialVersion: string
      }
    | undefined
  >
  /**
   * The user of one of these accounts for whom `digest` is the lower-case hex of the MD5 or SHA-1 of
   * `username:password`. Also called with an empty list of accounts, and must then take as long.
   */
  holderOfCredentials(
    accountIds: readonly string[],
    method: 'md5' | 'sha',
    digest: string,
  ): ReturnType<Directory['holderOfApiKey']>
  /**
   * The current version of that holder's credential; `undefined` when it no longer exists. Tokens of `hs.auth.issue` depend on
   * it too, so a host without credentials of its own returns a constant text for whoever exists.
   */
  credentialVersion(accountId: string, userId: string | undefined): Promise<string | undefined>
  /**
   * What a user may do; `undefined` counts as `admin`. Absent: all users of this directory are admins, as accounts are
   * for the holder of their API key.
   */
  privLevelOf?(accountId: string, userId: string): Promise<'user' | 'admin' | undefined>
  /** The account's API key in clear, for its owner. */
  readApiKey(accountId: string): Promise<string | undefined>
  /** Generates and stores a new API key, which invalidates the old one. Absent: this directory does not rotate keys. */
  rotateApiKey?(accountId: string): Promise<string>
}

/** The owner of a credential: an account by its API key, or one of its users. */
export type CredentialHolder = NonNullable<Awaited<ReturnType<Directory['holderOfApiKey']>>>
