/** Hashes user name and password as `user_auth` expects them. Web Crypto has no MD5, and none of it on plain HTTP. */
import { md5, sha1 } from '@noble/hashes/legacy.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

/** A user of an account, selected by its realm or its name. */
export interface UserLogin {
  /** Name of the user, in any case. */
  readonly username: string
  /** Password of the user. */
  readonly password: string
  /** Realm of the account. */
  readonly realm?: string | undefined
  /** Name of the account, as an alternative to its realm. */
  readonly accountName?: string | undefined
  /** Digest of the credentials. Default is `md5`, KAZOO's. */
  readonly method?: 'md5' | 'sha' | undefined
}

/** Returns the hex digest of `username:password`: 32 digits for `md5`, 40 for `sha`. */
export function hashCredentials(username: string, password: string, method: 'md5' | 'sha' = 'md5'): string {
  const bytes = utf8ToBytes(`${username}:${password}`)
  return bytesToHex(method === 'sha' ? sha1(bytes) : md5(bytes))
}
