import type { Account } from '../accounts/account.js'
import type { AccountChange, AccountInput, UserInput } from '../accounts/account-input.js'
import type { Directory } from '../accounts/directory.js'
import { ensureAccounts, previewAccounts } from '../accounts/ensure.js'
import { type KeyedMutex, keyedMutex } from '../accounts/keyed-mutex.js'
import { type AccountDeps, type AccountView, createAccount, getAccount } from '../accounts/manage.js'
import { addUser, type UserView } from '../accounts/users.js'
import { HookswitchError, notFound } from '../errors.js'
import { TREE } from './account-admin.js'
import {
  invalidateAccount,
  type RevocationDeps,
  removeAccountAndRevoke,
  removeUserAndRevoke,
  rotateKeyAndRevoke,
  setPasswordAndRevoke,
  updateAccountAndInvalidate,
} from './revocation.js'

/** The account operations for the host, which is trusted: nothing is authorized here. */
export interface AccountService {
  /** Creates an account; only here is its API key part of the result. Throws `InvalidInput`, `Conflict`. */
  create(input: AccountInput): Promise<AccountView & { readonly apiKey: string }>
  /** Throws `NotFound`. */
  get(accountId: string): Promise<AccountView>
  /** All accounts, sorted by id, without their users. */
  list(): Promise<readonly Account[]>
  /** Throws `InvalidInput`, `Conflict`, `NotFound`. */
  update(accountId: string, change: AccountChange): Promise<AccountView>
  /** Throws `NotFound`, `Conflict` while there are accounts below it. */
  remove(accountId: string): Promise<void>
  /** Throws `InvalidInput`, `Conflict`, `NotFound`. */
  addUser(accountId: string, input: UserInput): Promise<UserView>
  /** `user`: the id, or else the user name in any case. Throws `NotFound`. */
  removeUser(accountId: string, user: string): Promise<void>
  /** `user`: the id, or else the user name in any case. Throws `InvalidInput`, `NotFound`. */
  setPassword(accountId: string, user: string, password: string): Promise<void>
  /** Throws `NotFound`. */
  readApiKey(accountId: string): Promise<string>
  /** Throws `NotFound`, `Unsupported`. */
  rotateApiKey(accountId: string): Promise<string>
  /**
   * Creates or updates the accounts of a list that is read at every start; resolves to their ids. Throws `InvalidInput`,
   * `Conflict`; then nothing has changed.
   */
  ensure(inputs: readonly AccountInput[]): Promise<readonly string[]>
  /** What `ensure` would do: indexes in the list of accounts that it would create or change. Throws as `ensure`. */
  previewEnsure(inputs: readonly AccountInput[]): Promise<{
    /** Indexes, in the list, of accounts that would be created. */
    readonly created: readonly number[]
    /** Indexes of accounts that would be changed, or their users. */
    readonly changed: readonly number[]
  }>
  /** Ids of all accounts below this one, without its own. */
  descendants(accountId: string): Promise<readonly string[]>
  /** For a host with its own directory: reports a change of this account, which takes effect on this node at once. */
  changed(accountId: string): void
}

interface AccountServiceDeps extends RevocationDeps {
  readonly directory: Directory
  /** The store's own accounts; absent when the host provides a directory. */
  readonly accountDeps?: AccountDeps
  /** Serializes the changes of an account on this node. Default: a new mutex. */
  readonly mutex?: KeyedMutex
  /** Called after accounts of a list were written, with the ids of those that were created and changed. */
  onListed?(created: readonly string[], changed: readonly string[]): void
}

/**
 * Binds the account operations to their dependencies. Changes of one account are serialised on this node. When the
 * host provides a directory, operations that change or list the store's own accounts reject with `Unsupported`.
 */
export function accountService(deps: AccountServiceDeps): AccountService {
  const { mutex = keyedMutex() } = deps
  const storeDeps = async (): Promise<RevocationDeps & AccountDeps> => {
    if (deps.accountDeps) return { ...deps, ...deps.accountDeps }
    throw new HookswitchError('Unsupported', "accounts are managed by the host's directory", {
      field: 'directory',
    })
  }
  const change = <T>(accountId: string, work: (bound: RevocationDeps & AccountDeps) => Promise<T>) =>
    mutex(accountId, async () => work(await storeDeps()))
  const changeTree = <T>(work: (bound: RevocationDeps & AccountDeps) => Promise<T>) =>
    mutex(TREE, async () => work(await storeDeps()))

  return {
    async create(input) {
      try {
        return await createAccount(await storeDeps(), input)
      } finally {
        // A load in progress may have found that this account does not exist.
        deps.lineages.invalidate()
      }
    },
    get: async (accountId) => getAccount(await storeDeps(), accountId),
    list: async () => (await storeDeps()).accounts.list(),
    update: (accountId, input) =>
      changeTree(() => change(accountId, (bound) => updateAccountAndInvalidate(bound, accountId, input))),
    remove: (accountId) =>
      changeTree(() => change(accountId, (bound) => removeAccountAndRevoke(bound, accountId))),
    addUser: (accountId, input) => change(accountId, (bound) => addUser(bound, accountId, input)),
    removeUser: (accountId, user) =>
      change(accountId, (bound) => removeUserAndRevoke(bound, accountId, user)),
    setPassword: (accountId, user, password) =>
      change(accountId, (bound) => setPasswordAndRevoke(bound, accountId, user, password)),
    async readApiKey(accountId) {
      const apiKey = await deps.directory.readApiKey(accountId)
      if (apiKey === undefined) throw notFound(accountId, 'account')
      return apiKey
    },
    rotateApiKey: (accountId) => mutex(accountId, () => rotateKeyAndRevoke(deps, accountId)),
    ensure: (inputs) =>
      changeTree(async (bound) => {
        try {
          return await ensureAccounts(bound, inputs, deps.onListed)
        } finally {
          deps.lineages.invalidate()
          deps.tokenCache.invalidateAll()
        }
      }),
    async previewEnsure(inputs) {
      const { created, changed } = await previewAccounts(await storeDeps(), inputs)
      return { created, changed }
    },
    descendants: (accountId) => deps.directory.descendants(accountId),
    changed: (accountId) => invalidateAccount(deps, accountId),
  }
}
