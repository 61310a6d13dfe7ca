import { customRandom, urlAlphabet } from 'nanoid'
import type { CredentialHolder } from '../accounts/directory.js'
import { sha256 } from '../values/digest.js'

/** An issued token at rest. The token itself is known to its bearer alone. */
export interface TokenRow {
  /** SHA-256 of the token, hex. */
  readonly hash: string
  readonly accountId: string
  /** Whom it was issued to; absent: the account, by its API key. */
  readonly userId?: string
  /** Of the credential that was traded for it: a token of an older credential is dead. */
  readonly credentialVersion: string
  readonly issuedMs: number
  /** Dead from this moment on: valid iff `now < expiresMs`. */
  readonly expiresMs: number
}

/** Characters of a token: 64 different ones, so that 43 hold 258 random bits. */
const TOKEN_LENGTH = 43

const SYNTAX = /^[A-Za-z0-9_-]{43}$/

/** A new token over a source of random bytes: 43 characters that need no escaping in a header or URL. */
export function newToken(bytes: (count: number) => Uint8Array): string {
  return customRandom(urlAlphabet, TOKEN_LENGTH, bytes)()
}

/** True for what looks like a token of ours; nothing else is worth a look-up. */
export function isToken(text: unknown): text is string {
  return typeof text === 'string' && SYNTAX.test(text)
}

/** What a token is stored and looked up by. It has 256 random bits, so that a plain hash keeps it secret. */
export function tokenHash(token: string): string {
  return sha256(token)
}

/** The row of a token issued now to this holder, for `ttlMs`. */
export function tokenRow(token: string, holder: CredentialHolder, nowMs: number, ttlMs: number): TokenRow {
  return {
    hash: tokenHash(token),
    accountId: holder.accountId,
    ...(holder.userId === undefined ? {} : { userId: holder.userId }),
    credentialVersion: holder.credentialVersion,
    issuedMs: nowMs,
    expiresMs: nowMs + ttlMs,
  }
}

/**
 * Whether the token's time is not over: a day by default (the specification, 8). By the wall clock alone, which all
 * nodes share; one that was set back after the issue does not make the token invalid.
 */
export function isLive(row: TokenRow, nowMs: number): boolean {
  return nowMs < row.expiresMs
}
