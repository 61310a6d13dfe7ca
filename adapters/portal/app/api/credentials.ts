/**
 * Takes the place of `adapters/client/credentials` in the build of the page, which logs in with SHA-1 only: the client's
 * own hashes are a fifth of the page. The screen that needs SHA-1 brings it.
 */

export type { UserLogin } from 'hookswitch/client'

let digest: ((bytes: Uint8Array) => string) | undefined

/** Sets SHA-1, which returns hex digits. */
export function setDigest(sha1: (bytes: Uint8Array) => string): void {
  digest = sha1
}

/** @throws for `md5` */
export function hashCredentials(username: string, password: string, method?: 'md5' | 'sha'): string {
  if (method !== 'sha' || !digest) throw new Error('the page logs in with the method sha')
  return digest(new TextEncoder().encode(`${username}:${password}`))
}
