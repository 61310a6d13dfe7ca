/** API keys: syntax, lookup hash and encrypted storage. Pure. */
import type { SecretCipher } from '../values/encryption.js'
import { sha256 } from '../values/hash.js'

/** A stored API key: found by its hash, readable only with the service secret. */
export interface ApiKeyRow {
  /** Id of the account, which has exactly one key. */
  readonly accountId: string
  /** SHA-256 of the key, hex. */
  readonly hash: string
  /** AES-256-GCM ciphertext of the key. */
  readonly sealed: string
  /** Changes at every rotation. */
  readonly version: string
}

/** Random bytes in a generated key. */
export const API_KEY_BYTES = 32

/** Length of the random nonce for encrypting a key, in bytes. */
export const API_KEY_NONCE_BYTES = 12

/** Generated keys are 64 lower-case hex digits (KAZOO's form); a host that migrates may import other keys. */
const SYNTAX = /^[A-Za-z0-9_-]{32,128}$/

/** True for a well-formed API key: 32 to 128 of `A-Z a-z 0-9 _ -`. */
export function isApiKey(text: string): boolean {
  return SYNTAX.test(text)
}

/** Formats 32 random bytes as an API key: 64 lower-case hex digits. */
export function formatApiKey(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

/** The hash under which a key is stored and looked up. */
export function hashApiKey(apiKey: string): string {
  return sha256(apiKey)
}

/**
 * Builds the stored form of a key: hashed for lookup, and encrypted because its owner may read it back (the
 * specification, 4).
 *
 * @param nonce `API_KEY_NONCE_BYTES` random bytes
 */
export function encryptApiKey(
  cipher: SecretCipher,
  accountId: string,
  apiKey: string,
  version: string,
  nonce: Uint8Array,
): ApiKeyRow {
  return {
    accountId,
    hash: hashApiKey(apiKey),
    sealed: cipher.encrypt(apiKey, apiKeyPurpose(accountId), nonce),
    version,
  }
}

/** Returns the key in clear; `undefined` when none of the service secrets decrypts it for this account. */
export function decryptApiKey(cipher: SecretCipher, row: ApiKeyRow): string | undefined {
  return cipher.decrypt(row.sealed, apiKeyPurpose(row.accountId))
}

/** Associated data that binds a ciphertext to the account. */
export function apiKeyPurpose(accountId: string): string {
  return `api-key:${accountId}`
}
