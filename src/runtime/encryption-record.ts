/**
 * The encryption record: which service secrets have encrypted something in a store, so that a node with another secret
 * refuses to start. Pure, apart from the nonces.
 *
 * - `current` has one check value for each secret that may have encrypted something. A node needs all of them.
 * - `retired` has one for each secret that was rotated out. A node may decrypt with it, but not encrypt.
 * - `lookupKeys`, encrypted under a current secret, are the HMAC keys of retired secrets. The lookup keys of passwords
 *   are HMACs that cannot be made again without the password, so they outlive the secret.
 */
import { HookswitchError } from '../errors.js'
import { createSecretCipher, deriveLookupKey, type SecretCipher } from '../values/encryption.js'

/** The stored record, parsed. */
export interface EncryptionRecord {
  /** A check value for each secret in use: a ciphertext that only this secret decrypts. */
  readonly current: readonly string[]
  /** The same for secrets that were rotated out. */
  readonly retired: readonly string[]
  /** Ciphertext of the lookup keys of retired secrets, as a JSON array of hex strings. */
  readonly lookupKeys?: string
}

const CHECK_PURPOSE = 'service-secret-check'
const CHECK_TEXT = 'hookswitch'
const LOOKUP_PURPOSE = 'service-secret-lookup-keys'
const NONCE_BYTES = 12

/** Generates random bytes. */
export type RandomBytes = (count: number) => Uint8Array

/** Parses the stored text of a record. @throws `StoreCorrupt` for text that `formatRecord` cannot have written */
export function parseRecord(text: string): EncryptionRecord {
  try {
    const { version, current, retired, lookupKeys } = JSON.parse(text)
    if (version === 1 && isTextList(current) && current.length > 0 && isTextList(retired)) {
      return { current, retired, ...(typeof lookupKeys === 'string' && { lookupKeys }) }
    }
  } catch {
    // Not JSON: reported below.
  }
  const sentence =
    'the encryption record of the store is damaged, or of a newer version: restore a backup, or update the package'
  throw new HookswitchError('StoreCorrupt', sentence)
}

const isTextList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((text) => typeof text === 'string')

/** The record as the store keeps it. */
export function formatRecord(record: EncryptionRecord): string {
  return JSON.stringify({ version: 1, ...record })
}

/** Creates a check value for a secret. */
export function createCheck(secret: string, random: RandomBytes): string {
  return createSecretCipher([secret]).encrypt(CHECK_TEXT, CHECK_PURPOSE, random(NONCE_BYTES))
}

/** Whether one of these check values was created with this secret. */
function matchesCheck(secret: string, checks: readonly string[]): boolean {
  const cipher = createSecretCipher([secret])
  return checks.some((check) => cipher.decrypt(check, CHECK_PURPOSE) !== undefined)
}

/**
 * What a node with these secrets has to do before it may use the store: nothing, or write a record that has a check value
 * for its first secret too.
 *
 * @param secrets the first encrypts, all decrypt
 * @returns the record to write; `undefined`: the stored one is right
 * @throws `InvalidOption` (field `secret`) when a secret in use is missing, or the first was rotated out
 */
export function recordForNode(
  record: EncryptionRecord,
  secrets: readonly string[],
  random: RandomBytes,
): EncryptionRecord | undefined {
  const missing = record.current.filter((check) => !secrets.some((secret) => matchesCheck(secret, [check])))
  if (missing.length === record.current.length) {
    throw wrongSecret(
      'is not the one that this store is encrypted with: use the one that it was first started with, or last rotated to',
    )
  }
  if (missing.length > 0) {
    throw wrongSecret(
      'is one of several that this store is encrypted with, until rotate-secret ends: give all of them',
    )
  }
  const [first] = secrets as readonly [string]
  if (matchesCheck(first, record.current)) return undefined
  if (matchesCheck(first, record.retired)) {
    throw wrongSecret('was rotated out of this store: put the current one first')
  }
  return { ...record, current: [...record.current, createCheck(first, random)] }
}

/**
 * The record in which both secrets are in use, from which on no node with only one of them starts.
 *
 * @returns `undefined`: the stored one is right
 * @throws `InvalidOption` (field `from`) when `from` is not a secret of this store
 */
export function recordOfRotation(
  record: EncryptionRecord,
  from: string,
  to: string,
  random: RandomBytes,
): EncryptionRecord | undefined {
  const isToCurrent = matchesCheck(to, record.current)
  const isFromCurrent = matchesCheck(from, record.current)
  // An earlier rotation has ended; this one only looks for what a forgotten node has written since.
  const isRepeated = isToCurrent && matchesCheck(from, record.retired)
  if (!isFromCurrent && !isRepeated) {
    throw new HookswitchError('InvalidOption', 'from is not the secret that this store is encrypted with', {
      field: 'from',
    })
  }
  if (isToCurrent) return undefined
  return {
    ...record,
    current: [...record.current, createCheck(to, random)],
    retired: record.retired.filter((check) => !matchesCheck(to, [check])),
  }
}

/**
 * The record after the rotation: `from` is retired, and its lookup key is kept.
 *
 * @returns `undefined`: `from` is retired already
 */
export function recordAfterRotation(
  record: EncryptionRecord,
  from: string,
  to: string,
  random: RandomBytes,
): EncryptionRecord | undefined {
  if (!matchesCheck(from, record.current)) return undefined
  const lookupKeys = new Set([
    ...readLookupKeys(record, createSecretCipher([to, from])),
    deriveLookupKey(from),
  ])
  // The node derives it from the secret.
  lookupKeys.delete(deriveLookupKey(to))
  return {
    current: record.current.filter((check) => !matchesCheck(from, [check])),
    retired: [...record.retired, createCheck(from, random)],
    lookupKeys: createSecretCipher([to]).encrypt(
      JSON.stringify([...lookupKeys]),
      LOOKUP_PURPOSE,
      random(NONCE_BYTES),
    ),
  }
}

/**
 * The lookup keys of retired secrets, hex.
 *
 * @throws `StoreCorrupt` when the cipher, which has every current secret, does not decrypt them
 */
export function readLookupKeys({ lookupKeys }: EncryptionRecord, cipher: SecretCipher): readonly string[] {
  if (lookupKeys === undefined) return []
  const text = cipher.decrypt(lookupKeys, LOOKUP_PURPOSE)
  if (text === undefined) {
    throw new HookswitchError(
      'StoreCorrupt',
      'the encryption record of the store is damaged: restore a backup',
    )
  }
  return JSON.parse(text) as string[]
}

/** The error for a secret that does not fit the store. */
function wrongSecret(problem: string): HookswitchError {
  return new HookswitchError('InvalidOption', `secret ${problem}`, { field: 'secret' })
}
