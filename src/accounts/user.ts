/**
 * What a user may do: an `admin` manages its account and all accounts below; a `user` reads its own account (option
 * `restrictUsers`) and changes its own document.
 */
export type PrivLevel = 'user' | 'admin'

/** A user of an account, who can trade a digest of `username:password` for a token. The password is never stored. */
export interface User {
  /** 1–64 characters of `A-Z a-z 0-9 _ -`, unique within the account. */
  readonly id: string
  /** Id of the account of the user. */
  readonly accountId: string
  /** As typed; unique within the account when lower-cased. Absent: the user cannot sign in. */
  readonly username?: string
  /** Absent: the user name, if the host created the user without it. */
  readonly firstName?: string
  /** Absent: `-`. */
  readonly lastName?: string
  /** E-mail address; need not be unique. */
  readonly email?: string
  /** False: the user cannot sign in, and its tokens are invalid. Absent: true. */
  readonly enabled?: boolean
  /** Absent: `admin`, as for every user that a host creates without it. */
  readonly privLevel?: PrivLevel
  /** Time zone, kept as given. */
  readonly timezone?: string
  /** Language tag, kept as given. */
  readonly language?: string
  /** Stored for user interfaces, which then ask for a new password. Absent: false. */
  readonly requirePasswordUpdate?: boolean
  /** Stored only. Absent: false. */
  readonly verified?: boolean
  /** Unknown public keys of clients of the HTTP API: stored and shown. Absent: none. */
  readonly extra?: Readonly<Record<string, unknown>>
  /**
   * Lookup keys: HMAC-SHA-256 under the service secret of the MD5 and SHA-1 of `username:password`, with the user name
   * as typed and lower-cased. The digests themselves would be as good as the password to this API.
   */
  readonly credentialKeys: readonly string[]
  /**
   * The credential keys of the password that the list of accounts named last (`ensureAccounts`), since another password was
   * set. Nobody can sign in with them. Absent: the user has no other password than the listed one.
   */
  readonly listedKeys?: readonly string[]
  /** Changes with every change of the password, which invalidates tokens issued for an older version. */
  readonly credentialVersion: string
  /** Creation time: wall clock, Unix ms. */
  readonly createdMs: number
  /** Time of the last change of the user: wall clock, Unix ms. */
  readonly modifiedMs: number
  /** 1, 2, …: incremented by every change of the user, but not by sign-ins. Absent: 1. */
  readonly revision?: number
}

/** The key by which user names are unique within an account. No user name contains a colon. */
export function userNameKey(user: Pick<User, 'id' | 'username'>): string {
  return user.username === undefined ? `:${user.id}` : user.username.toLowerCase()
}

/** First and last name as shown: user interfaces sort by both, so they are always strings. */
export function displayNames(user: Pick<User, 'id' | 'username' | 'firstName' | 'lastName'>): {
  readonly firstName: string
  readonly lastName: string
} {
  return { firstName: user.firstName ?? user.username ?? user.id, lastName: user.lastName ?? '-' }
}

/** The key by which lists of users are sorted, before their ids: last name, then first name. */
export function userSortKey(user: Pick<User, 'id' | 'username' | 'firstName' | 'lastName'>): string {
  const { firstName, lastName } = displayNames(user)
  return `${lastName} ${firstName}`
}

/** The revision of a user; 1 if it was stored before users had revisions. */
export function userRevision(user: Pick<User, 'revision'>): number {
  return user.revision ?? 1
}
