import { hasAuthority } from '../accounts/authority.js'
import type { LineageCache } from '../accounts/lineage-cache.js'
import { isId } from '../values/ids.js'
import type { Caller } from './authenticate.js'
import { forbidden } from './refusals.js'

/**
 * Lets the caller act on its own account and on those below it.
 *
 * @throws `Forbidden` for every other account, existing or not, `StoreUnavailable`
 */
export async function authorize(
  doors: { readonly lineages: Pick<LineageCache, 'lineage'> },
  caller: Pick<Caller, 'accountId'>,
  accountId: string,
): Promise<void> {
  if (accountId === caller.accountId) return
  const lineage = isId(accountId) ? await doors.lineages.lineage(accountId) : []
  if (!hasAuthority(caller.accountId, lineage)) throw forbidden()
}
