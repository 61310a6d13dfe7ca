import { HookswitchError, notFound } from '../errors.js'
import { constantTimeEqual } from '../values/hash.js'
import {
  API_KEY_BYTES,
  API_KEY_NONCE_BYTES,
  decryptApiKey,
  encryptApiKey,
  formatApiKey,
  hashApiKey,
  isApiKey,
} from './api-key.js'
import { deriveLookupKeys, hasCredential } from './credential.js'
import type { Directory } from './directory.js'
import type { AccountDeps } from './manage.js'

/** Looked up instead when there is nothing to look up. No id contains a dot, so it finds nothing in the same time. */
const NOBODY = '.nobody'

/** The directory over the store's own accounts, for hosts that provide none. */
export function storeDirectory(deps: AccountDeps): Required<Directory> {
  const { accounts, cipher } = deps
  return {
    lineage: (accountId) => accounts.lineage(accountId),
    descendants: (accountId) => accounts.descendants(accountId),
    accountsByRealm: (realm) => accounts.byRealm(realm),
    accountsByName: async (name) => (name === '' ? [] : accounts.byName(name)),

    async holderOfApiKey(apiKey) {
      const hash = hashApiKey(isApiKey(apiKey) ? apiKey : NOBODY)
      const row = await accounts.apiKeyByHash(hash)
      if (!row || !constantTimeEqual(row.hash, hash)) return undefined
      return { accountId: row.accountId, credentialVersion: row.version }
    },

    async holderOfCredentials(accountIds, method, digest) {
      const ids = accountIds.length > 0 ? accountIds : [NOBODY]
      const keys = deriveLookupKeys(cipher, ids, method, digest)
      const user = await accounts.userByCredential(ids, keys)
      if (!user || !accountIds.includes(user.accountId) || !hasCredential(user, keys)) return undefined
      if (user.enabled === false) return undefined
      return { accountId: user.accountId, userId: user.id, credentialVersion: user.credentialVersion }
    },

    async credentialVersion(accountId, userId) {
      if (userId === undefined) return (await accounts.apiKey(accountId))?.version
      const user = await accounts.user(accountId, userId)
      return user?.enabled === false ? undefined : user?.credentialVersion
    },

    privLevelOf: async (accountId, userId) => (await accounts.user(accountId, userId))?.privLevel,

    /** @throws `NotFound`; `StoreCorrupt` when none of the service secrets decrypts the key */
    async readApiKey(accountId) {
      const row = await accounts.apiKey(accountId)
      if (!row) throw notFound(accountId, 'account')
      const apiKey = decryptApiKey(cipher, row)
      if (apiKey === undefined) {
        throw new HookswitchError(
          'StoreCorrupt',
          `the option secret does not decrypt the API key of account ${accountId}: was the secret that encrypted it removed?`,
          { field: 'secret' },
        )
      }
      return apiKey
    },

    /** @throws `NotFound` */
    async rotateApiKey(accountId) {
      const [account] = await accounts.lineage(accountId)
      if (!account) throw notFound(accountId, 'account')
      const apiKey = formatApiKey(deps.random.bytes(API_KEY_BYTES))
      const version = deps.newId()
      const nonce = deps.random.bytes(API_KEY_NONCE_BYTES)
      await accounts.putApiKey(encryptApiKey(cipher, accountId, apiKey, version, nonce))
      return apiKey
    },
  }
}
