import { describe, expect, it } from 'vitest'
import { createAccount } from '../../src/accounts/manage.js'
import { storeDirectory } from '../../src/accounts/store-directory.js'
import { createAccountHarness, md5Of, sha1Of } from './account-harness.js'

async function createDirectory() {
  const deps = createAccountHarness()
  const created = await createAccount(deps, {
    id: 'acme',
    name: 'Acme Telecom',
    realm: 'acme.test',
    users: [{ id: 'u1', username: 'Bob', password: 'pw' }],
  })
  return { deps, directory: storeDirectory(deps), apiKey: created.apiKey }
}

describe('storeDirectory', () => {
  it('finds the holder of an API key, whose version changes when the key is rotated', async () => {
    const { directory, apiKey } = await createDirectory()
    const holder = await directory.holderOfApiKey(apiKey)
    expect(holder).toEqual({ accountId: 'acme', credentialVersion: expect.any(String) })
    expect(await directory.credentialVersion('acme', undefined)).toBe(holder!.credentialVersion)
    const next = await directory.rotateApiKey('acme')
    expect(await directory.holderOfApiKey(apiKey)).toBeUndefined()
    expect(await directory.credentialVersion('acme', undefined)).not.toBe(holder!.credentialVersion)
    expect(await directory.readApiKey('acme')).toBe(next)
  })

  it('finds the user of credentials by either digest', async () => {
    const { directory } = await createDirectory()
    for (const holder of [
      await directory.holderOfCredentials(['other', 'acme'], 'md5', md5Of('bob:pw')),
      await directory.holderOfCredentials(['acme'], 'sha', sha1Of('Bob:pw')),
    ]) {
      expect(holder).toMatchObject({ accountId: 'acme', userId: 'u1' })
      expect(await directory.credentialVersion('acme', 'u1')).toBe(holder!.credentialVersion)
    }
    expect(await directory.holderOfCredentials(['acme'], 'md5', md5Of('bob:no'))).toBeUndefined()
    expect(await directory.holderOfCredentials(['other'], 'md5', md5Of('bob:pw'))).toBeUndefined()
    expect(await directory.credentialVersion('acme', 'u2')).toBeUndefined()
  })

  it('makes the same store calls whether it finds a holder or not', async () => {
    const { deps, directory, apiKey } = await createDirectory()
    const storeCalls = async (work: () => Promise<unknown>) => {
      deps.calls.length = 0
      await work()
      return deps.calls.map((call) => (call as [string])[0])
    }
    const digest = md5Of('bob:pw')
    expect(await storeCalls(() => directory.holderOfCredentials([], 'md5', digest))).toEqual(
      await storeCalls(() => directory.holderOfCredentials(['acme'], 'md5', digest)),
    )
    expect(await storeCalls(() => directory.holderOfApiKey('not a key'))).toEqual(
      await storeCalls(() => directory.holderOfApiKey(apiKey)),
    )
  })

  it('rejects rows of another account or another key from a faulty store', async () => {
    const { deps, apiKey } = await createDirectory()
    const row = await deps.accounts.apiKey('acme')
    const user = await deps.accounts.user('acme', 'u1')
    const overFaultyStore = storeDirectory({
      ...deps,
      accounts: { ...deps.accounts, apiKeyByHash: async () => row, userByCredential: async () => user },
    })
    expect(await overFaultyStore.holderOfApiKey(apiKey)).toBeDefined()
    expect(await overFaultyStore.holderOfApiKey('f'.repeat(64))).toBeUndefined()
    expect(await overFaultyStore.holderOfCredentials(['acme'], 'md5', md5Of('bob:pw'))).toBeDefined()
    expect(await overFaultyStore.holderOfCredentials(['acme'], 'md5', md5Of('bob:no'))).toBeUndefined()
    expect(await overFaultyStore.holderOfCredentials(['other'], 'md5', md5Of('bob:pw'))).toBeUndefined()
    expect(await overFaultyStore.holderOfCredentials([], 'md5', md5Of('bob:pw'))).toBeUndefined()
  })

  it('finds no account by a name without letters or digits', async () => {
    const { deps, directory } = await createDirectory()
    await createAccount(deps, { name: '***', realm: 'stars.test' })
    expect(await directory.accountsByName('')).toEqual([])
    expect(await directory.accountsByName('acmetelecom')).toMatchObject([{ id: 'acme' }])
  })
})
