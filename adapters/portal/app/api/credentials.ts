/**
 * Takes the place of `adapters/client/credentials` in the build of the page, which logs in with SHA-1 only: the client's
 * own hashes are a fifth of the page.
 */
import { sha1 } from '../text/sha1.js'

export type { UserLogin } from 'hookswitch/client'

/** @throws for `md5` */
export function hashCredentials(username: string, password: string, method?: 'md5' | 'sha'): string {
  if (method !== 'sha') throw new Error('the page logs in with the method sha')
  return sha1(new TextEncoder().encode(`${username}:${password}`))
}
