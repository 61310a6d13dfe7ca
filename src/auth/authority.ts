/** Decides what a caller may do. Pure. Sources: KAZOO `cb_simple_authz`, `crossbar_owner_authz`. */
import { isSelfOrAncestor } from '../accounts/access.js'
import type { Account } from '../accounts/account.js'
import type { Caller } from './authenticate.js'

/**
 * What a request needs:
 *
 * - `read`: an admin anywhere in its authority, a user or a token of the role `read` in its own account
 * - `write`: an admin; also a user, if `restrictUsers` is off
 * - `admin`: an admin
 * - `self`: an admin, or the user of the path itself, with a token of a login
 * - `ancestor`: an admin of an account above, or an operator
 * - `operator`: an operator
 */
export type Access = 'read' | 'write' | 'admin' | 'self' | 'ancestor' | 'operator'

/** Options that decide about authority. */
export interface AuthorityOptions {
  /** Ids of the accounts whose admins may act on every account. */
  readonly operators: readonly string[]
  /** True: a user without admin rights only reads its own account and changes its own document. */
  readonly restrictUsers: boolean
}

/** The caller's rights, as far as they depend on neither the request nor the tree. */
export interface CallerRights {
  readonly isAdmin: boolean
  /** An admin of one of the accounts `operators`. */
  readonly isOperator: boolean
  /** Changes nothing, or as a user without admin rights nothing but its own document. */
  readonly isReadOnly: boolean
}

export function rightsOf(
  { accountId, privLevel, role }: Pick<Caller, 'accountId' | 'privLevel' | 'role'>,
  { operators, restrictUsers }: AuthorityOptions,
): CallerRights {
  const isAdmin = privLevel !== 'user' && role !== 'read'
  return {
    isAdmin,
    isOperator: isAdmin && operators.includes(accountId),
    isReadOnly: role === 'read' || (!isAdmin && restrictUsers),
  }
}

/** The account and user of a request. */
export interface AccessTarget {
  readonly accountId: string
  readonly userId?: string
}

/** Whether an account is in the caller's authority: its own, one below it, or for an operator any. */
export function isWithin(
  caller: Pick<Caller, 'accountId'>,
  { isOperator }: CallerRights,
  accountId: string,
  lineage: readonly Account[],
): boolean {
  return isOperator || accountId === caller.accountId || isSelfOrAncestor(caller.accountId, lineage)
}

/** Whether a caller may use this access on an account within its authority. */
export function isAllowed(
  caller: Pick<Caller, 'accountId' | 'userId' | 'role'>,
  { isAdmin, isOperator }: CallerRights,
  { restrictUsers }: Pick<AuthorityOptions, 'restrictUsers'>,
  access: Access,
  { accountId, userId }: AccessTarget,
): boolean {
  const isOwn = accountId === caller.accountId
  if (access === 'operator') return isOperator
  if (isAdmin) return access !== 'ancestor' || !isOwn
  if (access === 'read') return isOwn || !restrictUsers
  // Not even its own user: a new password would be a login with all rights of that user.
  if (caller.role === 'read') return false
  switch (access) {
    case 'write':
      return !restrictUsers
    case 'self':
      return isOwn && userId !== undefined && userId === caller.userId
    default:
      return false
  }
}
