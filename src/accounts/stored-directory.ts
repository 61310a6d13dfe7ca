import { equalInConstantTime } from '../values/digest.js'
import { apiKeyHash, isApiKey } from './api-key.js'
import { credentialLookupKeys, hasCredential } from './credential.js'
import type { Directory } from './directory.js'
import type { AccountDoors } from './doors.js'
import { readApiKey, rotateApiKey } from './manage.js'

/** Stands in where there is nothing to look up: no id has a dot, so that nothing is found, as slowly as ever. */
const NOBODY = '.nobody'

/** The directory over the store's own accounts, for hosts that bring none. */
export function storedDirectory(doors: AccountDoors): Required<Directory> {
  const { accounts, box } = doors
  return {
    lineage: (accountId) => accounts.lineage(accountId),
    descendants: (accountId) => accounts.descendants(accountId),
    accountsByRealm: (realm) => accounts.byRealm(realm),
    accountsByName: async (name) => (name === '' ? [] : accounts.byName(name)),

    async holderOfApiKey(apiKey) {
      const hash = apiKeyHash(isApiKey(apiKey) ? apiKey : NOBODY)
      const row = await accounts.apiKeyByHash(hash)
      if (!row || !equalInConstantTime(row.hash, hash)) return undefined
      return { accountId: row.accountId, credentialVersion: row.version }
    },

    async holderOfCredentials(accountIds, method, digest) {
      const ids = accountIds.length > 0 ? accountIds : [NOBODY]
      const keys = credentialLookupKeys(box, ids, method, digest)
      const user = await accounts.userByCredential(ids, keys)
      if (!user || !accountIds.includes(user.accountId) || !hasCredential(user, keys)) return undefined
      return { accountId: user.accountId, userId: user.id, credentialVersion: user.credentialVersion }
    },

    async credentialVersion(accountId, userId) {
      if (userId === undefined) return (await accounts.apiKey(accountId))?.version
      return (await accounts.user(accountId, userId))?.credentialVersion
    },

    readApiKey: (accountId) => readApiKey(doors, accountId),
    rotateApiKey: (accountId) => rotateApiKey(doors, accountId),
  }
}
