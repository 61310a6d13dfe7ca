import { randomBytes } from 'node:crypto'
import { HookswitchError } from './errors.js'
import type { Store } from './store/contract.js'

const EPHEMERAL_SECRET_BYTES = 32

/**
 * The key for secrets at rest: given, kept by the store, or, where nothing outlives the process, made up.
 *
 * @throws `InvalidOption` for a durable store that keeps none of its own
 */
export async function secretsOf(
  store: Store,
  given: readonly string[] | undefined,
): Promise<readonly string[]> {
  if (given) return given
  if (store.secret) return [await store.secret()]
  if (!store.supports.durable) return [randomBytes(EPHEMERAL_SECRET_BYTES).toString('hex')]
  throw new HookswitchError('InvalidOption', 'secret is required: this store keeps none of its own', {
    field: 'secret',
  })
}
