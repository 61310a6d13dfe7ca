import { isSelfOrAncestor } from '../accounts/access.js'
import type { LineageCache } from '../accounts/lineage-cache.js'
import { isId } from '../values/ids.js'
import { forbidden } from './auth-errors.js'
import type { Caller } from './authenticate.js'

/**
 * Allows the caller to act on its own account and on the accounts below it.
 *
 * @throws `Forbidden` for every other account, existing or not, `StoreUnavailable`
 */
export async function authorize(
  deps: { readonly lineages: Pick<LineageCache, 'lineage'> },
  caller: Pick<Caller, 'accountId'>,
  accountId: string,
): Promise<void> {
  if (accountId === caller.accountId) return
  const lineage = isId(accountId) ? await deps.lineages.lineage(accountId) : []
  if (!isSelfOrAncestor(caller.accountId, lineage)) throw forbidden()
}
