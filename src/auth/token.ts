/** Access tokens: generation, syntax, lookup hash and expiry. Pure; revocation and caching are decided elsewhere. */
import { customRandom, urlAlphabet } from 'nanoid'
import type { CredentialHolder } from '../accounts/directory.js'
import { sha256 } from '../values/hash.js'

/** What a token may be issued for. */
export const TOKEN_ROLES = Object.freeze(['admin', 'read'] as const)

/** A stored token. The token itself is not stored. */
export interface TokenRow {
  /** SHA-256 of the token, hex. */
  readonly hash: string
  /** Id of the account that the token gives access to. */
  readonly accountId: string
  /** The user to whom it was issued; absent: the account, by its API key. */
  readonly userId?: string
  /** Version of the credential it was issued for; tokens of older versions are invalid. */
  readonly credentialVersion: string
  /** Unix ms. */
  readonly issuedMs: number
  /** Unix ms; valid iff `now < expiresMs`. */
  readonly expiresMs: number
  /** It only reads, whatever its user may do; absent: it does what its user or account may do. */
  readonly role?: 'read'
}

/** Characters in a token. With an alphabet of 64, 43 characters hold 258 random bits. */
const TOKEN_LENGTH = 43

const SYNTAX = /^[A-Za-z0-9_-]{43}$/

/** Generates a token from a source of random bytes: 43 characters that need no escaping in a header or URL. */
export function generateToken(bytes: (count: number) => Uint8Array): string {
  return customRandom(urlAlphabet, TOKEN_LENGTH, bytes)()
}

/** True for a string with the syntax of a token; anything else is rejected without a lookup. */
export function isWellFormedToken(text: unknown): text is string {
  return typeof text === 'string' && SYNTAX.test(text)
}

/** The hash under which a token is stored and looked up. A plain hash suffices, since a token has 256 random bits. */
export function hashToken(token: string): string {
  return sha256(token)
}

/** Builds the row of a token issued to this holder at `nowMs` (Unix ms) for `ttlMs`. */
export function newTokenRow(token: string, holder: CredentialHolder, nowMs: number, ttlMs: number): TokenRow {
  return {
    hash: hashToken(token),
    accountId: holder.accountId,
    ...(holder.userId === undefined ? {} : { userId: holder.userId }),
    credentialVersion: holder.credentialVersion,
    issuedMs: nowMs,
    expiresMs: nowMs + ttlMs,
  }
}

/**
 * Whether the token has not expired: after a day by default (the specification, 8). Compares with the wall clock alone,
 * which all nodes share; setting the clock back after the issue does not invalidate the token.
 */
export function isUnexpired(row: TokenRow, nowMs: number): boolean {
  return nowMs < row.expiresMs
}
