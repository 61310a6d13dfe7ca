/** Credentials: digests of `username:password` as clients send them, and the keys they are stored under. Pure. */
import type { SecretCipher } from '../values/encryption.js'
import { constantTimeEqual, md5, sha1 } from '../values/hash.js'
import type { User } from './user.js'

/** How a client hashes `username:password`: MD5, or SHA-1 under the name `sha` (KAZOO `cb_user_auth`). */
export type CredentialMethod = 'md5' | 'sha'

const HASH: Readonly<Record<CredentialMethod, (text: string) => string>> = { md5, sha: sha1 }
const SYNTAX: Readonly<Record<CredentialMethod, RegExp>> = { md5: /^[0-9a-f]{32}$/, sha: /^[0-9a-f]{40}$/ }
const METHODS: readonly CredentialMethod[] = ['md5', 'sha']

/** The digest that a client sent, in lower case; `undefined` when it is not a hex digest of that method. */
export function parseCredentialDigest(method: CredentialMethod, text: string): string | undefined {
  const lower = text.toLowerCase()
  return SYNTAX[method].test(lower) ? lower : undefined
}

/** Includes the account, so that equal credentials in two accounts have different keys. */
function keyText(accountId: string, method: CredentialMethod, digest: string): string {
  return `credential:${accountId}:${method}:${digest}`
}

/**
 * Derives the keys that are stored for a user's password: one fingerprint, under the first secret, of each digest that
 * a client may send. Some clients hash the user name as typed and some lower-cased, so both are stored (KAZOO stores
 * only one).
 */
export function deriveCredentialKeys(
  cipher: SecretCipher,
  accountId: string,
  username: string,
  password: string,
): readonly string[] {
  const names = new Set([username, username.toLowerCase()])
  const keys = [...names].flatMap((name) =>
    METHODS.map(
      (method) => cipher.fingerprints(keyText(accountId, method, HASH[method](`${name}:${password}`)))[0]!,
    ),
  )
  return [...new Set(keys)]
}

/** Derives every key under which a digest may be stored in these accounts: one per account and secret. */
export function deriveLookupKeys(
  cipher: SecretCipher,
  accountIds: readonly string[],
  method: CredentialMethod,
  digest: string,
): readonly string[] {
  return accountIds.flatMap((accountId) => cipher.fingerprints(keyText(accountId, method, digest)))
}

/** What a password is checked against. */
type Credentials = Pick<User, 'accountId' | 'username' | 'credentialKeys'>

/** True when the user has one of these keys. The duration does not depend on which key matches. */
export function hasCredential(user: Pick<User, 'credentialKeys'>, lookupKeys: readonly string[]): boolean {
  let found = false
  for (const storedKey of user.credentialKeys) {
    for (const key of lookupKeys) found = constantTimeEqual(storedKey, key) || found
  }
  return found
}

/** True when the user can sign in with this password, under whichever secret it was stored. */
export function hasPassword(cipher: SecretCipher, user: Credentials, password: string): boolean {
  if (user.username === undefined) return false
  const digest = md5(`${user.username.toLowerCase()}:${password}`)
  return hasCredential(user, deriveLookupKeys(cipher, [user.accountId], 'md5', digest))
}
