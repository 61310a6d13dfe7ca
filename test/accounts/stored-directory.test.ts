import { describe, expect, it } from 'vitest'
import { createAccount } from '../../src/accounts/manage.js'
import { storedDirectory } from '../../src/accounts/stored-directory.js'
import { accountWorld, md5Of, sha1Of } from './account-world.js'

async function world() {
  const doors = accountWorld()
  const made = await createAccount(doors, {
    id: 'acme',
    name: 'Acme Telecom',
    realm: 'acme.test',
    users: [{ id: 'u1', username: 'Bob', password: 'pw' }],
  })
  return { doors, directory: storedDirectory(doors), apiKey: made.apiKey }
}

describe('the directory over the store', () => {
  it('knows the holder of an API key, and its version until the key is rotated', async () => {
    const { directory, apiKey } = await world()
    const holder = await directory.holderOfApiKey(apiKey)
    expect(holder).toEqual({ accountId: 'acme', credentialVersion: expect.any(String) })
    expect(await directory.credentialVersion('acme', undefined)).toBe(holder!.credentialVersion)
    const next = await directory.rotateApiKey('acme')
    expect(await directory.holderOfApiKey(apiKey)).toBeUndefined()
    expect(await directory.credentialVersion('acme', undefined)).not.toBe(holder!.credentialVersion)
    expect(await directory.readApiKey('acme')).toBe(next)
  })

  it('knows the user of credentials by either digest', async () => {
    const { directory } = await world()
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

  it('asks the store as much for nobody as for somebody', async () => {
    const { doors, directory, apiKey } = await world()
    const asked = async (work: () => Promise<unknown>) => {
      doors.heard.length = 0
      await work()
      return doors.heard.map((call) => (call as [string])[0])
    }
    const digest = md5Of('bob:pw')
    expect(await asked(() => directory.holderOfCredentials([], 'md5', digest))).toEqual(
      await asked(() => directory.holderOfCredentials(['acme'], 'md5', digest)),
    )
    expect(await asked(() => directory.holderOfApiKey('no key at all'))).toEqual(
      await asked(() => directory.holderOfApiKey(apiKey)),
    )
  })

  it('does not believe a store that answers with another account or another key', async () => {
    const { doors, apiKey } = await world()
    const row = await doors.accounts.apiKey('acme')
    const user = await doors.accounts.user('acme', 'u1')
    const careless = storedDirectory({
      ...doors,
      accounts: { ...doors.accounts, apiKeyByHash: async () => row, userByCredential: async () => user },
    })
    expect(await careless.holderOfApiKey(apiKey)).toBeDefined()
    expect(await careless.holderOfApiKey('f'.repeat(64))).toBeUndefined()
    expect(await careless.holderOfCredentials(['acme'], 'md5', md5Of('bob:pw'))).toBeDefined()
    expect(await careless.holderOfCredentials(['acme'], 'md5', md5Of('bob:no'))).toBeUndefined()
    expect(await careless.holderOfCredentials(['other'], 'md5', md5Of('bob:pw'))).toBeUndefined()
    expect(await careless.holderOfCredentials([], 'md5', md5Of('bob:pw'))).toBeUndefined()
  })

  it('finds no account by a name without letters and digits', async () => {
    const { doors, directory } = await world()
    await createAccount(doors, { name: '***', realm: 'stars.test' })
    expect(await directory.accountsByName('')).toEqual([])
    expect(await directory.accountsByName('acmetelecom')).toMatchObject([{ id: 'acme' }])
  })
})
