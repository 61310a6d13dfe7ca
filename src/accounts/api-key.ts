import { sha256 } from '../values/digest.js'
import type { SecretBox } from '../values/seal.js'

/** An account's API key at rest: findable by its hash, readable only with the service's secret. */
export interface ApiKeyRow {
  readonly accountId: string
  /** SHA-256 of the key, hex. */
  readonly hash: string
  /** AES-256-GCM ciphertext of the key. */
  readonly sealed: string
  /** Changes at every rotation. */
  readonly version: string
}

/** Random bytes in a key that we make. */
export const API_KEY_BYTES = 32

/** Random bytes that sealing a key needs. */
export const API_KEY_NONCE_BYTES = 12

/** Ours are 64 lower hex (KAZOO's form); a host that moves in may bring keys of its own. */
const SYNTAX = /^[A-Za-z0-9_-]{32,128}$/

/** True for a well-formed API key: 32 to 128 of `A-Z a-z 0-9 _ -`. */
export function isApiKey(text: string): boolean {
  return SYNTAX.test(text)
}

/** The key that 32 random bytes spell: 64 lower-case hex digits. */
export function apiKeyText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

/** What a key is looked up by. */
export function apiKeyHash(apiKey: string): string {
  return sha256(apiKey)
}

/** The key at rest: its hash for look-up, and sealed, because its owner may read it back (the specification, 4). */
export function apiKeyRow(
  box: SecretBox,
  accountId: string,
  apiKey: string,
  version: string,
  nonce: Uint8Array,
): ApiKeyRow {
  return { accountId, hash: apiKeyHash(apiKey), sealed: box.seal(apiKey, purpose(accountId), nonce), version }
}

/** The key in clear; `undefined` when none of the service's secrets sealed it for this account. */
export function openApiKey(box: SecretBox, row: ApiKeyRow): string | undefined {
  return box.open(row.sealed, purpose(row.accountId))
}

function purpose(accountId: string): string {
  return `api-key:${accountId}`
}
