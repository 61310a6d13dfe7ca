import type { LineageCache } from '../accounts/lineage-cache.js'
import { isId } from '../values/ids.js'
import { forbidden, ownAccountDeletion } from './auth-errors.js'
import type { Caller } from './authenticate.js'
import {
  type Access,
  type AccessTarget,
  type AuthorityOptions,
  isAllowed,
  isWithin,
  rightsOf,
} from './authority.js'

/** Authority as it was before accounts had operators and users had levels. */
const DEFAULTS: AuthorityOptions = { operators: [], restrictUsers: true }

/**
 * Allows an admin to act on its own account and on the accounts below it, a user on its own account within `access`,
 * and an operator on every account. Costs at most one look-up of the account's lineage.
 *
 * @param access default `read`
 * @returns whether the account exists; false only for operators, who alone may learn it
 * @throws `Forbidden` for every other account, existing or not, `StoreUnavailable`
 */
export async function authorize(
  deps: {
    readonly lineages: Pick<LineageCache, 'lineage'>
    readonly authority?: AuthorityOptions
  },
  caller: Pick<Caller, 'accountId' | 'userId' | 'privLevel' | 'role'>,
  target: string | AccessTarget,
  access: Access = 'read',
): Promise<boolean> {
  const options = deps.authority ?? DEFAULTS
  const { accountId, ...rest } = typeof target === 'string' ? { accountId: target } : target
  const rights = rightsOf(caller, options)
  const isOwn = accountId === caller.accountId
  const lineage = isOwn || !isId(accountId) ? [] : await deps.lineages.lineage(accountId)
  if (!isWithin(caller, rights, accountId, lineage)) throw forbidden()
  if (!isAllowed(caller, rights, options, access, { accountId, ...rest })) {
    throw isOwn && access === 'ancestor' && rights.isAdmin ? ownAccountDeletion(accountId) : forbidden()
  }
  return isOwn || lineage.length > 0
}
