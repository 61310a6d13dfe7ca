import { randomBytes } from 'node:crypto'
import { HookswitchError } from '../errors.js'
import type { Store } from '../store/contract.js'

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
