/**
 * Accounts over those of a store: what is written stays in memory. Shows what a list of accounts would change, and what the
 * store would refuse, before anything is written. It leaves out what only a transaction can decide, such as changes by other
 * nodes.
 */
import { HookswitchError, notFound } from '../errors.js'
import { type Account, normalizeRealm } from './account.js'
import type { AccountStore, ApiKeyRow } from './account-store.js'
import { type User, userNameKey } from './user.js'

/** The part of a store that a list of accounts needs. */
type ListStore = Pick<
  AccountStore,
  'insert' | 'update' | 'wasRemoved' | 'lineage' | 'byRealm' | 'list' | 'putUser' | 'users' | 'apiKeyByHash'
>

/** The accounts, and what was written of them. */
interface AccountOverlay {
  /** Has no other method of a store. */
  readonly accounts: ListStore
  /** Ids of accounts that would be inserted. */
  readonly created: ReadonlySet<string>
  /** Ids of stored accounts that would be changed, or their users. */
  readonly changed: ReadonlySet<string>
}

const taken = (field: string, sentence: string) => new HookswitchError('Conflict', sentence, { field })

/** The users of an account. */
interface StoredUsers {
  readonly byId: Map<string, User>
  readonly idByName: Map<string, string>
}

const storedUsers = (users: readonly User[]): StoredUsers => ({
  byId: new Map(users.map((user) => [user.id, user])),
  idByName: new Map(users.map((user) => [userNameKey(user), user.id])),
})

/** A store without accounts. */
export const NO_ACCOUNTS: ListStore = {
  async insert() {},
  async update() {},
  async putUser() {},
  wasRemoved: async () => false,
  lineage: async () => [],
  byRealm: async () => [],
  list: async () => [],
  users: async () => [],
  apiKeyByHash: async () => undefined,
}

/** @param stored the store, which is only read */
export function overlayAccounts(stored: ListStore): AccountOverlay {
  const written = new Map<string, Account>()
  const idByRealm = new Map<string, string>()
  const keys = new Map<string, ApiKeyRow>()
  const usersOf = new Map<string, StoredUsers>()
  const created = new Set<string>()
  const changed = new Set<string>()

  const accountOf = async (id: string): Promise<Account | undefined> =>
    written.get(id) ?? (await stored.lineage(id))[0]
  const put = (account: Account) => {
    written.set(account.id, account)
    idByRealm.set(normalizeRealm(account.realm), account.id)
  }
  async function byRealm(realm: string): Promise<readonly Account[]> {
    const key = normalizeRealm(realm)
    const own = written.get(idByRealm.get(key) ?? '')
    if (own && normalizeRealm(own.realm) === key) return [own]
    return (await stored.byRealm(realm)).filter(({ id }) => !written.has(id))
  }
  async function rejectTakenRealm({ id, realm }: Account): Promise<void> {
    const holders = await byRealm(realm)
    if (holders.some((holder) => holder.id !== id)) throw taken('realm', 'this realm is taken')
  }
  async function users(accountId: string): Promise<StoredUsers> {
    const own = usersOf.get(accountId)
    if (own) return own
    const read = await stored.users(accountId)
    const loaded = usersOf.get(accountId) ?? storedUsers(read)
    usersOf.set(accountId, loaded)
    return loaded
  }

  return {
    created,
    changed,
    accounts: {
      async insert(account, apiKey, newUsers) {
        if (await accountOf(account.id)) throw taken('id', 'this id is taken')
        if (await stored.wasRemoved(account.id))
          throw taken('id', 'this id was used before and is not reused')
        await rejectTakenRealm(account)
        // Others of the list were inserted meanwhile.
        const holder = idByRealm.get(normalizeRealm(account.realm))
        if (
          holder !== undefined &&
          normalizeRealm(written.get(holder)!.realm) === normalizeRealm(account.realm)
        )
          throw taken('realm', 'this realm is taken')
        if (keys.has(apiKey.hash)) throw taken('apiKey', 'this API key is taken')
        created.add(account.id)
        put(account)
        keys.set(apiKey.hash, apiKey)
        usersOf.set(account.id, storedUsers(newUsers))
      },
      async update(account, { acyclic = false } = {}) {
        if (!(await accountOf(account.id))) throw notFound(account.id, 'account')
        await rejectTakenRealm(account)
        const above = acyclic && account.parentId !== undefined ? await lineage(account.parentId) : []
        if (above.some(({ id }) => id === account.id))
          throw taken('parentId', 'the parent is below the account')
        if (!created.has(account.id)) changed.add(account.id)
        put(account)
      },
      wasRemoved: stored.wasRemoved,
      lineage,
      byRealm,
      async list() {
        return [...(await stored.list()).filter(({ id }) => !written.has(id)), ...written.values()]
      },
      async putUser(user) {
        const { byId, idByName } = await users(user.accountId)
        const holder = idByName.get(userNameKey(user)) ?? user.id
        if (holder !== user.id) throw taken('username', 'this user name is taken')
        const before = byId.get(user.id)
        if (before) idByName.delete(userNameKey(before))
        byId.set(user.id, user)
        idByName.set(userNameKey(user), user.id)
        if (!created.has(user.accountId)) changed.add(user.accountId)
      },
      users: async (accountId) => [...(await users(accountId)).byId.values()],
      apiKeyByHash: async (hash) => keys.get(hash) ?? stored.apiKeyByHash(hash),
    },
  }

  async function lineage(accountId: string): Promise<readonly Account[]> {
    const line = new Map<string, Account>()
    let next: string | undefined = accountId
    while (next !== undefined && !line.has(next)) {
      const account: Account | undefined = await accountOf(next)
      if (!account) break
      line.set(next, account)
      next = account.parentId
    }
    return [...line.values()]
  }
}
