/** A user of an account: can trade `md5(username:password)` for a token. The password itself is never kept. */
export interface User {
  readonly id: string
  readonly accountId: string
  /** As typed; unique in the account when lower-cased. */
  readonly username: string
  /**
   * Look-up keys: HMAC-SHA-256 under the service's secret of the md5 and sha1 of `username:password`, with the
   * user name as typed and lower-cased. The digests themselves would be the password to this API.
   */
  readonly credentialKeys: readonly string[]
  /** Raised by every change of the password: tokens issued for an older version are dead. */
  readonly credentialVersion: string
  readonly createdMs: number
  readonly modifiedMs: number
}
