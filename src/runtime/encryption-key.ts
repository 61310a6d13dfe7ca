import { randomBytes } from 'node:crypto'
import { HookswitchError } from '../errors.js'
import type { Store } from '../store/contract.js'
import type { EncryptionStore } from '../store/encryption-store.js'
import { createSecretCipher, type SecretCipher } from '../values/encryption.js'
import {
  createCheck,
  type EncryptionRecord,
  formatRecord,
  parseRecord,
  type RandomBytes,
  readLookupKeys,
  recordForNode,
} from './encryption-record.js'

const GENERATED_KEY_BYTES = 32

/**
 * The encryption keys for secrets at rest: those of the option `secret`, else the store's own key, else, for a store
 * that is not durable, a random key for the lifetime of the process.
 *
 * @param configured keys of the option `secret`; the first encrypts, all decrypt
 * @throws `InvalidOption` for a durable store that has no key
 */
export async function readEncryptionKeys(
  store: Store,
  configured: readonly string[] | undefined,
): Promise<readonly string[]> {
  if (configured) return configured
  if (store.secret) return [await store.secret()]
  if (!store.supports.durable) return [randomBytes(GENERATED_KEY_BYTES).toString('hex')]
  throw new HookswitchError('InvalidOption', 'secret is required: this store has no encryption key', {
    field: 'secret',
  })
}

/**
 * Checks the secrets against the store's encryption record, and writes the record at the first start. Resolves to the
 * cipher of this instance.
 *
 * @param secrets the first encrypts, all decrypt
 * @throws `InvalidOption` (field `secret`) when they are not those of the store, `StoreCorrupt` for a damaged record, and for a lost one
 */
export async function openCipher(
  store: Store,
  secrets: readonly string[],
  random: RandomBytes,
): Promise<SecretCipher> {
  const record = await openRecord(store, secrets, random)
  return createSecretCipher(secrets, readLookupKeys(record, createSecretCipher(secrets)))
}

/** The record that these secrets fit, written if necessary. */
export async function openRecord(
  { encryption }: Pick<Store, 'encryption'>,
  secrets: readonly string[],
  random: RandomBytes,
): Promise<EncryptionRecord> {
  for (;;) {
    const text = await encryption.record()
    const stored = text === undefined ? undefined : parseRecord(text)
    if (!stored) await refuseEncryptedRows(encryption)
    const next = stored
      ? recordForNode(stored, secrets, random)
      : { current: [createCheck(secrets[0]!, random)], retired: [] }
    if (!next) return stored!
    // Otherwise another node was first.
    if (await encryption.replaceRecord(formatRecord(next), text)) return next
  }
}

/** Without its record a store would take any secret for its own. */
async function refuseEncryptedRows(encryption: EncryptionStore): Promise<void> {
  for (const kind of ['apiKey', 'webhook'] as const) {
    if ((await encryption.encryptedRows(kind, undefined, 1)).length === 0) continue
    const sentence = 'the store has encrypted rows and no encryption record: restore both from one backup'
    throw new HookswitchError('StoreCorrupt', sentence)
  }
}
