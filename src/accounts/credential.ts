import { equalInConstantTime, md5, sha1 } from '../values/digest.js'
import type { SecretBox } from '../values/seal.js'
import type { User } from './user.js'

/** How a client hashed `username:password`: MD5, or SHA-1 under the name `sha` (KAZOO `cb_user_auth`). */
export type CredentialMethod = 'md5' | 'sha'

const HASH: Readonly<Record<CredentialMethod, (text: string) => string>> = { md5, sha: sha1 }
const SYNTAX: Readonly<Record<CredentialMethod, RegExp>> = { md5: /^[0-9a-f]{32}$/, sha: /^[0-9a-f]{40}$/ }
const METHODS: readonly CredentialMethod[] = ['md5', 'sha']

/** The digest a client sent, in lower case; `undefined` when it is no hex digest of that method. */
export function credentialDigest(method: CredentialMethod, text: string): string | undefined {
  const lower = text.toLowerCase()
  return SYNTAX[method].test(lower) ? lower : undefined
}

/** Bound to the account, so that equal credentials in two accounts cannot be seen to be equal. */
function keyText(accountId: string, method: CredentialMethod, digest: string): string {
  return `credential:${accountId}:${method}:${digest}`
}

/**
 * What is stored of a user's password: one fingerprint, under the first secret, of each digest that a client may
 * send. Some clients hash the user name as typed and some lower-cased, so both are kept (KAZOO keeps one only).
 */
export function credentialKeys(
  box: SecretBox,
  accountId: string,
  username: string,
  password: string,
): readonly string[] {
  const names = new Set([username, username.toLowerCase()])
  const keys = [...names].flatMap((name) =>
    METHODS.map(
      (method) => box.fingerprints(keyText(accountId, method, HASH[method](`${name}:${password}`)))[0]!,
    ),
  )
  return [...new Set(keys)]
}

/** Every key under which a digest may be stored in these accounts: one per account and secret. */
export function credentialLookupKeys(
  box: SecretBox,
  accountIds: readonly string[],
  method: CredentialMethod,
  digest: string,
): readonly string[] {
  return accountIds.flatMap((accountId) => box.fingerprints(keyText(accountId, method, digest)))
}

/** True when the user has one of these keys; the time it takes does not tell which. */
export function hasCredential(user: User, lookupKeys: readonly string[]): boolean {
  let found = false
  for (const own of user.credentialKeys) {
    for (const key of lookupKeys) found = equalInConstantTime(own, key) || found
  }
  return found
}

/** True when the user could sign in with this password, whichever secret it was stored under. */
export function hasPassword(box: SecretBox, user: User, password: string): boolean {
  const digest = md5(`${user.username.toLowerCase()}:${password}`)
  return hasCredential(user, credentialLookupKeys(box, [user.accountId], 'md5', digest))
}
