import type { Account } from '../accounts/account.js'
import type { AccountChange, AccountInput, UserInput } from '../accounts/account-input.js'
import type { Directory } from '../accounts/directory.js'
import type { AccountDoors } from '../accounts/doors.js'
import { ensureAccounts } from '../accounts/ensure.js'
import {
  type AccountView,
  type CreatedAccount,
  createAccount,
  getAccount,
  listAccounts,
} from '../accounts/manage.js'
import { turns } from '../accounts/turns.js'
import { addUser, type UserView } from '../accounts/users.js'
import { HookswitchError, notFound } from '../errors.js'
import {
  forgetAccount,
  type RevocationDoors,
  removeAccountAndRevoke,
  removeUserAndRevoke,
  rotateKeyAndRevoke,
  setPasswordAndRevoke,
  updateAccountAndForget,
} from './revocation.js'

/** The accounts as the host manages them: it is trusted, nothing is authorized here. */
export interface AccountVerbs {
  /** Makes an account; its API key comes along this once. Throws `InvalidInput`, `Conflict`. */
  create(input: AccountInput): Promise<CreatedAccount>
  /** Throws `NotFound`. */
  get(accountId: string): Promise<AccountView>
  /** All, sorted by id, without their users. */
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
  /** Creates or updates the accounts of a list that is read at every start; resolves to their ids. */
  ensure(inputs: readonly AccountInput[]): Promise<readonly string[]>
  /** Ids of all accounts below this one, without it. */
  descendants(accountId: string): Promise<readonly string[]>
  /** For a host with a directory of its own: this account is no longer as it was; takes effect at once here. */
  changed(accountId: string): void
}

export interface AccountVerbDoors extends RevocationDoors {
  readonly directory: Directory
  /** The store's own accounts; absent where the host brings a directory. */
  readonly stored?: AccountDoors
}

/** Not an id: moves in the tree take turns among all accounts, so that two of them cannot make a circle. */
const TREE = '.tree'

/**
 * The verbs of accounts, bound to their doors. Changes of one account take turns. Where the host brings a directory,
 * those that would change or list the store's own accounts reject with `Unsupported`.
 */
export function accountVerbs(doors: AccountVerbDoors): AccountVerbs {
  const inTurn = turns()
  const own = async (): Promise<RevocationDoors & AccountDoors> => {
    if (doors.stored) return { ...doors, ...doors.stored }
    throw new HookswitchError('Unsupported', "accounts are managed by the host's directory", {
      field: 'directory',
    })
  }
  const change = <T>(accountId: string, work: (mine: RevocationDoors & AccountDoors) => Promise<T>) =>
    inTurn(accountId, async () => work(await own()))
  const create = async (input: AccountInput) => {
    try {
      return await createAccount(await own(), input)
    } finally {
      // Who asked a moment ago was told that there is no such account.
      doors.lineages.changed()
    }
  }
  const changeTree = <T>(work: (mine: RevocationDoors & AccountDoors) => Promise<T>) =>
    inTurn(TREE, async () => work(await own()))

  return {
    create,
    get: async (accountId) => getAccount(await own(), accountId),
    list: async () => listAccounts(await own()),
    update: (accountId, wanted) =>
      changeTree(() => change(accountId, (mine) => updateAccountAndForget(mine, accountId, wanted))),
    remove: (accountId) =>
      changeTree(() => change(accountId, (mine) => removeAccountAndRevoke(mine, accountId))),
    addUser: (accountId, input) => change(accountId, (mine) => addUser(mine, accountId, input)),
    removeUser: (accountId, user) => change(accountId, (mine) => removeUserAndRevoke(mine, accountId, user)),
    setPassword: (accountId, user, password) =>
      change(accountId, (mine) => setPasswordAndRevoke(mine, accountId, user, password)),
    async readApiKey(accountId) {
      const apiKey = await doors.directory.readApiKey(accountId)
      if (apiKey === undefined) throw notFound(accountId)
      return apiKey
    },
    rotateApiKey: (accountId) => inTurn(accountId, () => rotateKeyAndRevoke(doors, accountId)),
    ensure: (inputs) =>
      changeTree(async (mine) => {
        try {
          return await ensureAccounts(mine, inputs)
        } finally {
          doors.lineages.changed()
          doors.live.forgetAll()
        }
      }),
    descendants: (accountId) => doors.directory.descendants(accountId),
    changed: (accountId) => forgetAccount(doors, accountId),
  }
}
