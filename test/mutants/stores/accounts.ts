import type { Account } from '../../../src/accounts/account.js'
import type { User } from '../../../src/accounts/user.js'
import type { TokenRow } from '../../../src/auth/token-store.js'
import { errorCode, HookswitchError } from '../../../src/errors.js'
import type { Webhook } from '../../../src/webhooks/webhook.js'
import { faultsOf, STORE_MODEL, type StoreFault } from './store-fault.js'

const accountFault = faultsOf('accounts', 'accounts')
const userFault = faultsOf('users', 'accounts')
const tokenFault = faultsOf('tokens', 'tokens')
const webhookFault = faultsOf('webhooks', 'webhooks')

/** Resolves instead of rejecting with this code. */
async function ignoring<Result>(code: string, result: Promise<Result>): Promise<Result | undefined> {
  try {
    return await result
  } catch (thrown) {
    if (errorCode(thrown) === code) return undefined
    throw thrown
  }
}

const copy = <Row>(rows: readonly Row[]): Row[] => rows.map((row) => ({ ...row }))

/** Defects of accounts and API keys. */
export const brokenAccounts: readonly StoreFault[] = [
  accountFault('an account is inserted without its users', (store) => ({
    insert: (account, key, _users, conditions) => store.insert(account, key, [], conditions),
  })),
  accountFault('a taken realm is no error', (store) => ({
    insert: async (account, ...rest) =>
      (await store.byRealm(account.realm)).length > 0 ? undefined : store.insert(account, ...rest),
  })),
  accountFault('an updated account keeps its realm', (store) => ({
    async update(account, conditions) {
      const [current] = await store.lineage(account.id)
      return store.update({ ...account, realm: current?.realm ?? account.realm }, conditions)
    },
  })),
  accountFault('an update to its own realm is a conflict', (store) => ({
    async update(account, conditions) {
      const [current] = await store.byRealm(account.realm)
      if (current?.name === 'Other' || account.name === 'Other')
        return store.update({ ...account, realm: `${account.realm}.other` }, conditions)
      return store.update(account, conditions)
    },
  })),
  accountFault('an account is removed before its children', (store) => ({
    remove: async (...args) => (await ignoring('Conflict', store.remove(...args))) ?? [],
  })),
  accountFault('the id of a removed account is free', (store) => ({
    insert: async (account, ...rest) => {
      if (!(await store.wasRemoved(account.id))) return store.insert(account, ...rest)
    },
  })),
  accountFault('a lineage begins with the root', (store) => ({
    lineage: async (accountId) => (await store.lineage(accountId)).toReversed(),
  })),
  accountFault('concurrent queries get the lineage of the first one', (store) => {
    let current: ReturnType<typeof store.lineage> | undefined
    return {
      lineage(accountId) {
        current ??= store.lineage(accountId).finally(() => {
          current = undefined
        })
        return current
      },
    }
  }),
  accountFault('callers share the rows of a lineage', (store) => {
    const known = new Map<string, readonly Account[]>()
    return {
      async lineage(accountId) {
        const found = known.get(accountId) ?? copy(await store.lineage(accountId))
        known.set(accountId, found)
        return found
      },
    }
  }),
  accountFault('descendants are children only', (store) => ({
    async descendants(accountId) {
      const all = await store.descendants(accountId)
      const lineages = await Promise.all(all.map((id) => store.lineage(id)))
      return all.filter((_, index) => lineages[index]![1]?.id === accountId)
    },
  })),
  accountFault('an account in a cycle is its own descendant', (store) => ({
    async descendants(accountId) {
      const all = await store.descendants(accountId)
      const lineages = await Promise.all(all.map((id) => store.lineage(id)))
      const [own] = await store.lineage(accountId)
      const isCycle = lineages.some((lineage) => lineage[0]?.id === own?.parentId)
      return isCycle ? [...all, accountId] : all
    },
  })),
  accountFault('one account of a name is found', (store) => ({
    byName: async (key) => (await store.byName(key)).slice(0, 1),
  })),
  accountFault('no account is found by its realm', () => ({ byRealm: async () => [] })),
  accountFault('accounts are listed without regard to case', (store) => ({
    list: async () =>
      [...(await store.list())].sort((a, b) => (a.id.toLowerCase() < b.id.toLowerCase() ? -1 : 1)),
  })),
  accountFault('a replaced API key stays valid', (store) => {
    const keys = new Map<string, Awaited<ReturnType<typeof store.apiKeyByHash>>>()
    return {
      async putApiKey(row) {
        const before = await store.apiKey(row.accountId)
        if (before) keys.set(before.hash, before)
        return store.putApiKey(row)
      },
      apiKeyByHash: async (hash) => (await store.apiKeyByHash(hash)) ?? keys.get(hash),
    }
  }),
  accountFault('the webhooks of a removed account stay', (store, { webhooks }) => ({
    async remove(accountId, options) {
      const before = await webhooks.list([accountId])
      await store.remove(accountId, options)
      for (const webhook of before) await webhooks.insert({ ...webhook, id: `${webhook.id}-again` })
      return before.map(({ id }) => id)
    },
  })),
  accountFault('a removed account is forgotten', () => ({ wasRemoved: async () => false })),
  accountFault('revisions of accounts are not compared', (store) => ({
    update: (account, { revision: _ignored, ...conditions } = {}) => store.update(account, conditions),
  })),
  accountFault('names are never unique', (store) => ({
    insert: (account, key, users, { uniqueName: _ignored, ...conditions } = {}) =>
      store.insert(account, key, users, conditions),
    update: (account, { uniqueName: _ignored, ...conditions } = {}) => store.update(account, conditions),
  })),
  accountFault('a required parent may be missing', (store) => ({
    insert: (account, key, users, { requireParent: _ignored, ...conditions } = {}) =>
      store.insert(account, key, users, conditions),
  })),
  accountFault('an account may be below itself', (store) => ({
    update: (account, { acyclic: _ignored, ...conditions } = {}) => store.update(account, conditions),
  })),
  accountFault('the parents are checked before the write', (store) => ({
    async update(account, { acyclic, ...conditions } = {}) {
      const lineage = acyclic && account.parentId ? await store.lineage(account.parentId) : []
      if (lineage.some(({ id }) => id === account.id)) {
        throw new HookswitchError('Conflict', 'below itself', { field: 'parentId' })
      }
      return store.update(account, conditions)
    },
  })),
  accountFault('an insert has no maximum depth', (store) => ({
    insert: (account, key, users, { maxDepth: _ignored, ...conditions } = {}) =>
      store.insert(account, key, users, conditions),
  })),
  accountFault('pages of accounts are always ascending', (store) => ({
    accountPage: (query) => store.accountPage({ ...query, ascending: true }),
  })),
  accountFault('pages of accounts ignore the prefix', (store) => ({
    accountPage: ({ prefix: _ignored, ...query }) => store.accountPage(query),
  })),
  accountFault('descendants are counted without a maximum', (store) => ({
    countDescendants: (accountIds) => store.countDescendants(accountIds, 1e9),
  })),
]

/** Defects of users. */
export const brokenUsers: readonly StoreFault[] = [
  userFault('users are listed backwards', (store) => ({
    users: async (accountId) => (await store.users(accountId)).toReversed(),
  })),
  userFault('a taken username is no error', (store) => ({
    putUser: async (...args) => {
      await ignoring('Conflict', store.putUser(...args))
    },
  })),
  userFault('a user keeps its first name', (store) => {
    const names = new Map<string, string>()
    return {
      putUser(user, conditions) {
        const username = names.get(user.id) ?? user.username
        if (username !== undefined) names.set(user.id, username)
        return store.putUser(username === undefined ? user : { ...user, username }, conditions)
      },
    }
  }),
  userFault('a user of an unknown account is ignored', (store) => ({
    putUser: async (...args) => {
      await ignoring('NotFound', store.putUser(...args))
    },
  })),
  userFault('a user is found by its first credential key only', (store) => ({
    putUser: (user, conditions) =>
      store.putUser({ ...user, credentialKeys: user.credentialKeys.slice(0, 1) }, conditions),
  })),
  userFault('a replaced credential key stays valid', (store) => {
    const users = new Map<string, User>()
    return {
      putUser(user, conditions) {
        for (const key of user.credentialKeys) if (!users.has(key)) users.set(key, user)
        return store.putUser(user, conditions)
      },
      async userByCredential(accountIds, keys) {
        const found = await store.userByCredential(accountIds, keys)
        const old = keys.map((key) => users.get(key)).find(Boolean)
        return found ?? (old && accountIds.includes(old.accountId) ? old : undefined)
      },
    }
  }),
  userFault('a credential key belongs to its first user', (store) => {
    const owners = new Map<string, string>()
    return {
      putUser(user, conditions) {
        const credentialKeys = user.credentialKeys.filter((key) => (owners.get(key) ?? user.id) === user.id)
        for (const key of credentialKeys) owners.set(key, user.id)
        return store.putUser({ ...user, credentialKeys }, conditions)
      },
    }
  }),
  userFault('users are read without a check of the account', (store) => {
    const owners = new Map<string, string>()
    return {
      putUser(user, conditions) {
        owners.set(user.id, user.accountId)
        return store.putUser(user, conditions)
      },
      user: (accountId, userId) => store.user(owners.get(userId) ?? accountId, userId),
    }
  }),
  userFault('usernames are found in their case only', (store) => ({
    async userByName(accountId, username) {
      const user = await store.userByName(accountId, username)
      return user?.username === username ? user : undefined
    },
  })),
  userFault('pages of users are always ascending', (store) => ({
    userPage: (accountId, query) => store.userPage(accountId, { ...query, ascending: true }),
  })),
]

/** Defects of tokens. */
export const brokenTokens: readonly StoreFault[] = [
  tokenFault('a token loses its user', (store) => ({
    issue: ({ userId: _lost, ...token }) => store.issue(token),
  })),
  tokenFault('an expired token cannot be read', (store) => ({
    async read(hash) {
      const token = await store.read(hash)
      return token && token.expiresMs > 1 ? token : undefined
    },
  })),
  tokenFault(
    'a revoked token can be read',
    (store) => {
      const issued = new Map<string, TokenRow>()
      return {
        issue(token) {
          issued.set(token.hash, token)
          return store.issue(token)
        },
        read: async (hash) => (await store.read(hash)) ?? issued.get(hash),
      }
    },
    ['I12'],
  ),
  tokenFault('a revoked token is counted when it expires', (store) => {
    let revoked = 0
    return {
      async revoke(hash) {
        revoked += 1
        return store.revoke(hash)
      },
      pruneTokens: async (now, limit) => (await store.pruneTokens(now, limit)) + revoked,
    }
  }),
  tokenFault('a token is pruned 1 ms late', (store) => ({
    pruneTokens: (now, limit) => store.pruneTokens(now - 1, limit),
  })),
]

/** Defects of webhooks. */
export const brokenWebhooks: readonly StoreFault[] = [
  webhookFault('a webhook loses its unknown keys', (store) => ({
    insert: ({ extra: _lost, ...webhook }) => store.insert(webhook),
  })),
  webhookFault('an id may be taken in another account', (store) => ({
    insert: async (webhook) => {
      await ignoring('Conflict', store.insert(webhook))
    },
  })),
  webhookFault('webhooks are listed by id', (store) => ({
    list: async (accountIds) => [...(await store.list(accountIds))].sort((a, b) => (a.id < b.id ? -1 : 1)),
  })),
  webhookFault('webhooks with hook all are not candidates', (store) => ({
    candidates: async (accountIds, hook) =>
      (await store.candidates(accountIds, hook)).filter(({ settings }) => settings.hook === hook),
  })),
  webhookFault('candidates are remembered', (store) => {
    const known = new Map<string, readonly Webhook[]>()
    return {
      async candidates(accountIds, hook) {
        const name = `${accountIds} ${hook}`
        const found = known.get(name) ?? (await store.candidates(accountIds, hook))
        known.set(name, found)
        return found
      },
    }
  }),
  webhookFault('a change of the hook is not seen by candidates', (store) => {
    const hooks = new Map<string, string>()
    return {
      insert(webhook) {
        hooks.set(webhook.id, webhook.settings.hook)
        return store.insert(webhook)
      },
      async candidates(accountIds, hook) {
        const all = await store.list(accountIds)
        return all.filter(({ id }) => hooks.get(id) === hook)
      },
    }
  }),
  webhookFault('no webhook is replaced', () => ({ replace: async () => true })),
  webhookFault(
    'a replacement of a stale revision is written',
    (store) => ({
      async replace(webhook) {
        const current = await store.read(webhook.accountId, webhook.id)
        return store.replace(webhook, current?.revision ?? 0)
      },
    }),
    [STORE_MODEL, 'I21'],
    {
      // Two edits of one webhook at the same time, the first of which was given up as unanswered: one run of twenty.
      seed: 39,
      otherSeeds: 100,
      options: { minutes: 30, faults: ['store slow'] },
    },
  ),
  webhookFault('concurrent replacements all succeed', (store) => ({
    async replace(webhook, revision) {
      const before = await store.read(webhook.accountId, webhook.id)
      await store.replace(webhook, revision)
      return before?.revision === revision
    },
  })),
  webhookFault('the replacement of an unknown webhook inserts it', (store) => ({
    async replace(webhook, revision) {
      const isUnknown = !(await store.read(webhook.accountId, webhook.id))
      if (isUnknown) await ignoring('Conflict', store.insert(webhook))
      return isUnknown || store.replace(webhook, revision)
    },
  })),
  webhookFault(
    'a deleted webhook is still read',
    (_, { deliveries }) => ({
      async read(accountId, id) {
        const webhook = await deliveries.webhookOf(id)
        return webhook?.accountId === accountId ? webhook : undefined
      },
    }),
    [STORE_MODEL],
  ),
  webhookFault('rows that were returned change with the store', (store) => {
    const returned = new Map<string, Webhook>()
    return {
      async read(accountId, id) {
        const webhook = await store.read(accountId, id)
        if (webhook) returned.set(id, returned.get(id) ?? { ...webhook })
        return webhook && Object.assign(returned.get(id)!, webhook)
      },
      async replace(webhook, revision) {
        const isReplaced = await store.replace(webhook, revision)
        const row = returned.get(webhook.id)
        if (isReplaced && row) Object.assign(row, webhook)
        return isReplaced
      },
    }
  }),
]
