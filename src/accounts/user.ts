/** A user of an account, who can trade a digest of `username:password` for a token. The password is never stored. */
export interface User {
  /** 1–64 characters of `A-Z a-z 0-9 _ -`, unique within the account. */
  readonly id: string
  /** Id of the account of the user. */
  readonly accountId: string
  /** As typed; unique within the account when lower-cased. */
  readonly username: string
  /**
   * Lookup keys: HMAC-SHA-256 under the service secret of the MD5 and SHA-1 of `username:password`, with the user name
   * as typed and lower-cased. The digests themselves would be as good as the password to this API.
   */
  readonly credentialKeys: readonly string[]
  /** Changes with every change of the password, which invalidates tokens issued for an older version. */
  readonly credentialVersion: string
  /** Creation time: wall clock, Unix ms. */
  readonly createdMs: number
  /** Time of the last change of the user: wall clock, Unix ms. */
  readonly modifiedMs: number
}
