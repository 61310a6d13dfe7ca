/** A directory of the host with the accounts of the golden files, which can neither change accounts nor rotate keys. */
import { createHash } from 'node:crypto'
import type { Directory } from 'hookswitch'

interface HostAccount {
  readonly id: string
  readonly name: string
  readonly realm: string
  readonly parentId?: string
  readonly resellerId?: string
  readonly isReseller?: boolean
  readonly apiKey?: string
  readonly users?: readonly { readonly id: string; readonly username: string; readonly password: string }[]
}

/** @param disabledId account that is disabled once `disable` was called */
export function hostDirectory(accounts: readonly HostAccount[]): {
  directory: Directory
  disable(id: string): void
} {
  const disabled = new Set<string>()
  const byId = new Map(accounts.map((account) => [account.id, account]))
  const accountOf = ({ apiKey: _, users: __, ...account }: HostAccount) => ({
    isReseller: false,
    ...account,
    enabled: !disabled.has(account.id),
    language: 'en-us',
    createdMs: Date.UTC(2026, 0, 1),
    modifiedMs: Date.UTC(2026, 0, 1),
  })
  const lineage = (id: string | undefined): HostAccount[] => {
    const account = id === undefined ? undefined : byId.get(id)
    return account ? [account, ...lineage(account.parentId)] : []
  }
  const digestOf = (method: string, text: string) =>
    createHash(method === 'sha' ? 'sha1' : method)
      .update(text)
      .digest('hex')
  return {
    disable: (id) => void disabled.add(id),
    directory: {
      lineage: async (id) => lineage(id).map(accountOf),
      descendants: async (id) =>
        accounts
          .filter((other) => lineage(other.parentId).some((above) => above.id === id))
          .map((below) => below.id),
      accountsByRealm: async (realm) => accounts.filter((account) => account.realm === realm).map(accountOf),
      accountsByName: async (name) =>
        accounts
          .filter((account) => account.name.toLowerCase().replace(/[^a-z0-9]/g, '') === name)
          .map(accountOf),
      async holderOfApiKey(key) {
        const holder = accounts.find(({ apiKey }) => apiKey === key)
        return holder && { accountId: holder.id, credentialVersion: '1' }
      },
      async holderOfCredentials(ids, method, digest) {
        for (const { id: accountId, users = [] } of accounts.filter(({ id }) => ids.includes(id))) {
          const user = users.find(
            ({ username, password }) => digestOf(method, `${username}:${password}`) === digest,
          )
          if (user) return { accountId, userId: user.id, credentialVersion: '1' }
        }
        return undefined
      },
      credentialVersion: async () => '1',
      readApiKey: async (id) => byId.get(id)?.apiKey,
    },
  }
}
