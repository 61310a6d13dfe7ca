import type { Account } from './account.js'
import type { CredentialMethod } from './credential.js'

/** Who signed in: an account by its API key, or one of its users. */
export interface CredentialHolder {
  readonly accountId: string
  /** Absent: the account itself, by its API key. */
  readonly userId?: string
  /** Of the credential: any string that changes when the credential does. */
  readonly credentialVersion: string
}

/**
 * The door to accounts. The store brings one of its own; a host that has accounts already passes its own as the
 * option `directory` and keeps its own tables.
 *
 * A rejection is answered 503 and hurts only the request that asked. Answers are cached for at most 2 s
 * (positive ones only) unless the host says `hs.accounts.changed(id)`.
 */
export interface Directory {
  /** The account, then its parent, and so on to the root; empty when the account is unknown. */
  lineage(accountId: string): Promise<readonly Account[]>
  /** Ids of all accounts below this one, without it. */
  descendants(accountId: string): Promise<readonly string[]>
  /** Accounts with this realm; `realm` comes lower-cased and trimmed. */
  accountsByRealm(realm: string): Promise<readonly Account[]>
  /** Accounts with this name; `name` comes reduced to letters and digits, lower-cased. */
  accountsByName(name: string): Promise<readonly Account[]>
  /** Whose API key this is. */
  holderOfApiKey(apiKey: string): Promise<CredentialHolder | undefined>
  /**
   * The user of one of these accounts for whom `digest` is the lower-case hex of md5 or sha1 of
   * `username:password`. Called with no account too, and must then take as long.
   */
  holderOfCredentials(
    accountIds: readonly string[],
    method: CredentialMethod,
    digest: string,
  ): Promise<CredentialHolder | undefined>
  /** The version of that holder's credential now; `undefined` when it is gone. */
  credentialVersion(accountId: string, userId: string | undefined): Promise<string | undefined>
  /** The account's API key in clear, for its owner to read. */
  readApiKey(accountId: string): Promise<string | undefined>
  /** Makes and keeps a new API key; the old one is dead at once. Absent: this directory does not rotate keys. */
  rotateApiKey?(accountId: string): Promise<string>
}
