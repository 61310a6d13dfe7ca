/**
 * Accounts and users as clients of the HTTP API manage them. The HTTP API authorizes; here each change also invalidates
 * what depends on it: tokens, caches, deliveries. Where the host provides a directory, reads come from it and everything
 * else rejects with `Unsupported`.
 */
import { type Account, searchKeyOf } from '../accounts/account.js'
import type { AccountQuery, ListPosition, PageQuery } from '../accounts/account-store.js'
import type { Directory } from '../accounts/directory.js'
import type { UncheckedDocument } from '../accounts/document.js'
import {
  type AccountRules,
  createChildAccount,
  type EditAccountDeps,
  type EditOptions,
  editAccount,
  moveAccount,
  type NewAccountDocument,
} from '../accounts/edit-account.js'
import { createUser, deleteUser, editUser, type NewUserDocument, readUser } from '../accounts/edit-user.js'
import type { KeyedMutex } from '../accounts/keyed-mutex.js'
import type { AccountDeps } from '../accounts/manage.js'
import type { User } from '../accounts/user.js'
import { errorCode, HookswitchError, notFound } from '../errors.js'
import { compareCodePoints } from '../values/code-points.js'
import { deleteTokens, type RevocationDeps, removeAccountAndRevoke, thenInvalidate } from './revocation.js'

/** A change of a document, as webhooks of the hook `object` receive it. */
export interface DocumentChange {
  readonly accountId: string
  /** Id of the account or user. */
  readonly id: string
  readonly type: 'account' | 'user'
  readonly action: 'doc_created' | 'doc_edited' | 'doc_deleted'
}

/** A document before and after a change. */
interface Edited<Document> {
  readonly before: Document
  readonly after: Document
}

/** Accounts and users as documents. Exported because declarations name it. */
export interface AccountAdmin {
  /** The account, then its ancestors, not cached. Throws `NotFound`. */
  lineage(accountId: string): Promise<readonly [Account, ...Account[]]>
  /** One page of accounts, sorted by name, then id. */
  page(query: AccountQuery): Promise<readonly Account[]>
  /** For each account the number of accounts below it, at most `max`. */
  countDescendants(accountIds: readonly string[], max: number): Promise<readonly number[]>
  /** Throws `InvalidInput`, `NotFound`, `Conflict`. */
  create(parentId: string, input: NewAccountDocument, isOperator: boolean): Promise<Account>
  /** Throws `InvalidInput`, `NotFound`, `RevisionConflict`. */
  edit(
    accountId: string,
    input: UncheckedDocument,
    options: EditOptions & { readonly mayEnable: boolean },
  ): Promise<Edited<Account>>
  /** Throws `InvalidInput`, `NotFound`, `Forbidden`. */
  move(accountId: string, to: unknown): Promise<Account>
  /**
   * Resolves to the account as it was, then its ancestors. Throws `NotFound`, `RevisionConflict`, `Conflict` (field
   * `descendants`).
   */
  remove(accountId: string, revision?: number): Promise<readonly Account[]>
  /** Whether the account existed and was removed; true where the host keeps the accounts, since only it knows. */
  wasRemoved(accountId: string): Promise<boolean>

  /** One page of the account's users, sorted by last name, first name and id. */
  users(accountId: string, query: PageQuery): Promise<readonly User[]>
  /** Throws `NotFound`. */
  user(accountId: string, userId: string): Promise<User>
  /** Throws `InvalidInput`, `NotFound`, `Conflict`. */
  createUser(accountId: string, input: NewUserDocument, mayChooseId: boolean): Promise<User>
  /** Throws `InvalidInput`, `NotFound`, `RevisionConflict`, `Forbidden`. */
  editUser(
    accountId: string,
    userId: string,
    input: UncheckedDocument,
    options: EditOptions & { readonly isSelf: boolean },
  ): Promise<Edited<User>>
  /** Throws `NotFound`, `RevisionConflict`. */
  removeUser(accountId: string, userId: string, revision?: number): Promise<User>
}

interface AccountAdminDeps extends RevocationDeps {
  readonly directory: Directory
  /** The store's own accounts; absent when the host provides a directory. */
  readonly accountDeps?: AccountDeps
  readonly accountRules: AccountRules
  /** Serializes the changes of an account on this node; shared with the host's operations. */
  readonly mutex: KeyedMutex
  /** Called after a document was changed, before the change is answered. Never rejects. */
  documentChanged?(change: DocumentChange): Promise<void>
  /** Called after an account was removed. Never rejects. */
  onRemoved?(accountId: string): Promise<void>
}

/** Not an id: changes of the tree on this node share this mutex key and do not wait for each other in the store. */
export const TREE = '.tree'

export function accountAdmin(deps: AccountAdminDeps): AccountAdmin {
  const { directory, mutex } = deps
  const own = (): EditAccountDeps & AccountAdminDeps => {
    if (deps.accountDeps) return { ...deps, ...deps.accountDeps }
    throw new HookswitchError('Unsupported', 'accounts are kept by the host', { field: 'directory' })
  }
  const changed = async (
    type: DocumentChange['type'],
    action: DocumentChange['action'],
    accountId: string,
    id: string,
  ) => deps.documentChanged?.({ type, action, accountId, id })

  /** Runs a change of a user, and invalidates what this node's caches hold about the account. */
  const changeUser = <T>(
    accountId: string,
    work: (bound: EditAccountDeps & AccountAdminDeps) => Promise<T>,
  ) =>
    mutex(accountId, async () => {
      const bound = own()
      return thenInvalidate(deps, accountId, () => work(bound))
    })

  return {
    async lineage(accountId) {
      const lineage = await directory.lineage(accountId)
      if (lineage.length === 0) throw notFound(accountId, 'account')
      return lineage as readonly [Account, ...Account[]]
    },
    page: async (query) =>
      deps.accountDeps ? deps.accountDeps.accounts.accountPage(query) : directoryPage(directory, query),
    countDescendants: async (accountIds, max) => {
      if (deps.accountDeps) return deps.accountDeps.accounts.countDescendants(accountIds, max)
      const all = await Promise.all(accountIds.map((id) => directory.descendants(id)))
      return all.map(({ length }) => Math.min(length, max))
    },

    async create(parentId, input, isOperator) {
      const account = await mutex(TREE, async () => {
        const bound = own()
        return thenInvalidate(deps, parentId, () => createChildAccount(bound, parentId, input, isOperator))
      })
      await changed('account', 'doc_created', account.id, account.id)
      return account
    },
    async edit(accountId, input, options) {
      const edited = await mutex(accountId, async () => {
        const bound = own()
        return thenInvalidate(deps, accountId, () => editAccount(bound, accountId, input, options))
      })
      await changed('account', 'doc_edited', accountId, accountId)
      return edited
    },
    async move(accountId, to) {
      const account = await mutex(TREE, () =>
        mutex(accountId, async () => {
          const bound = own()
          return thenInvalidate(deps, accountId, () => moveAccount(bound, accountId, to))
        }),
      )
      await changed('account', 'doc_edited', accountId, accountId)
      return account
    },
    async remove(accountId, revision) {
      const lineage = await mutex(TREE, () =>
        mutex(accountId, async () => {
          const bound = own()
          const found = await bound.accounts.lineage(accountId)
          if (found.length === 0) throw notFound(accountId, 'account')
          await removeAccountAndRevoke(bound, accountId, revision).catch((thrown: unknown) => {
            throw errorCode(thrown) === 'Conflict' ? hasDescendants() : thrown
          })
          return found
        }),
      )
      await deps.onRemoved?.(accountId)
      // The account takes no events any more: webhooks of its parent learn of it.
      const [, parent] = lineage
      if (parent) await changed('account', 'doc_deleted', parent.id, accountId)
      return lineage
    },
    wasRemoved: async (accountId) => (await deps.accountDeps?.accounts.wasRemoved(accountId)) ?? true,

    users: async (accountId, query) => own().accounts.userPage(accountId, query),
    user: async (accountId, userId) => readUser(own(), accountId, userId),
    async createUser(accountId, input, mayChooseId) {
      const user = await changeUser(accountId, (bound) => createUser(bound, accountId, input, mayChooseId))
      await changed('user', 'doc_created', accountId, user.id)
      return user
    },
    async editUser(accountId, userId, input, options) {
      const edited = await changeUser(accountId, async (bound) => {
        const { before, after } = await editUser(bound, accountId, userId, input, options)
        if (before.credentialVersion !== after.credentialVersion) await deleteTokens(deps, accountId, userId)
        return { before, after }
      })
      await changed('user', 'doc_edited', accountId, userId)
      return edited
    },
    async removeUser(accountId, userId, revision) {
      const user = await changeUser(accountId, async (bound) => {
        const removed = await deleteUser(bound, accountId, userId, revision)
        await deleteTokens(deps, accountId, userId)
        return removed
      })
      await changed('user', 'doc_deleted', accountId, userId)
      return user
    },
  }
}

function hasDescendants(): HookswitchError {
  return new HookswitchError('Conflict', 'account has descendants', { field: 'descendants' })
}

/** Accounts of a directory that are read at the same time. */
const DIRECTORY_READS = 16

/** A page from a host's directory, which has no pages: reads every account below the given one. */
async function directoryPage(directory: Directory, query: AccountQuery): Promise<readonly Account[]> {
  const { childrenOf, descendantsOf, prefix, after, ascending, limit } = query
  const of = childrenOf ?? descendantsOf
  if (of === undefined) {
    throw new HookswitchError('Unsupported', 'accounts are kept by the host', { field: 'directory' })
  }
  const ids = await directory.descendants(of)
  const accounts: Account[] = []
  for (let from = 0; from < ids.length; from += DIRECTORY_READS) {
    const lineages = await Promise.all(
      ids.slice(from, from + DIRECTORY_READS).map((id) => directory.lineage(id)),
    )
    for (const [account] of lineages) {
      if (account && (childrenOf === undefined || account.parentId === childrenOf)) accounts.push(account)
    }
  }
  const sign = ascending ? 1 : -1
  const compare = (a: ListPosition, b: ListPosition) =>
    sign * (compareCodePoints(a[0], b[0]) || compareCodePoints(a[1], b[1]))
  const keyOf = ({ name = '', id }: Account): ListPosition => [name, id]
  return accounts
    .filter(
      (account) =>
        (!prefix || searchKeyOf(account, prefix.of).startsWith(prefix.text)) &&
        (!after || compare(keyOf(account), after) > 0),
    )
    .sort((a, b) => compare(keyOf(a), keyOf(b)))
    .slice(0, limit)
}
