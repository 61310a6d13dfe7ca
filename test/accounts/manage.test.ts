import { describe, expect, it } from 'vitest'
import { createAccount, getAccount, updateAccount } from '../../src/accounts/manage.js'
import { storeDirectory } from '../../src/accounts/store-directory.js'
import { addUser, removeUser, setPassword } from '../../src/accounts/users.js'
import { createSecretCipher } from '../../src/values/encryption.js'
import { createAccountHarness } from './account-harness.js'

const acme = { id: 'acme', name: 'Acme', realm: 'acme.test' }

describe('creating an account', () => {
  it('generates a missing id and key, and returns the key', async () => {
    const deps = createAccountHarness()
    const created = await createAccount(deps, { name: 'Acme', realm: 'ACME.test' })
    expect(created.id).toMatch(/^[0-9a-f]{32}$/)
    expect(created.apiKey).toMatch(/^[0-9a-f]{64}$/)
    const { apiKey, ...account } = created
    expect(await getAccount(deps, created.id)).toEqual(account)
    expect(await storeDirectory(deps).readApiKey(created.id)).toBe(apiKey)
  })

  it('returns its users sorted by name, without their credentials', async () => {
    const deps = createAccountHarness()
    const created = await createAccount(deps, {
      ...acme,
      users: [
        { username: 'zoe', password: 'pw' },
        { username: 'Bob', password: 'pw', id: 'u1' },
      ],
    })
    const nowMs = deps.clock.now()
    expect(created.users).toEqual([
      { id: 'u1', accountId: 'acme', username: 'Bob', createdMs: nowMs, modifiedMs: nowMs },
      { id: expect.any(String), accountId: 'acme', username: 'zoe', createdMs: nowMs, modifiedMs: nowMs },
    ])
  })

  it('rejects an id, a realm or a key that is already in use', async () => {
    const deps = createAccountHarness()
    const { apiKey } = await createAccount(deps, acme)
    await expect(createAccount(deps, { ...acme, realm: 'other.test' })).rejects.toMatchObject({
      code: 'Conflict',
      field: 'id',
    })
    await expect(createAccount(deps, { name: 'B', realm: 'Acme.Test ' })).rejects.toMatchObject({
      code: 'Conflict',
      field: 'realm',
    })
    const duplicate = createAccount(deps, { name: 'B', realm: 'b.test', apiKey })
    await expect(duplicate).rejects.toMatchObject({ code: 'Conflict', field: 'apiKey' })
    await expect(duplicate).rejects.not.toThrow(apiKey)
    expect(await deps.accounts.list()).toHaveLength(1)
  })

  it('rejects a parent that does not exist', async () => {
    await expect(
      createAccount(createAccountHarness(), { ...acme, parentId: 'nobody' }),
    ).rejects.toMatchObject({
      code: 'InvalidInput',
      field: 'parentId',
    })
  })

  it('rejects the account itself as its parent', async () => {
    await expect(createAccount(createAccountHarness(), { ...acme, parentId: 'acme' })).rejects.toMatchObject({
      code: 'InvalidInput',
      field: 'parentId',
    })
  })
})

describe('updating an account', () => {
  it('leaves omitted fields unchanged', async () => {
    const deps = createAccountHarness()
    const created = await createAccount(deps, { ...acme, users: [{ username: 'bob', password: 'pw' }] })
    await deps.clock.advance(1_000)
    const changed = await updateAccount(deps, 'acme', { enabled: false })
    const { apiKey: _, ...before } = created
    const modifiedMs = created.modifiedMs + 1_000
    expect(changed).toEqual({ ...before, enabled: false, modifiedMs, revision: 2 })
    expect(await getAccount(deps, 'acme')).toEqual(changed)
  })

  it('rejects a parent below the account, at any depth', async () => {
    const deps = createAccountHarness()
    await createAccount(deps, acme)
    await createAccount(deps, { id: 'child', name: 'C', realm: 'c.test', parentId: 'acme' })
    await createAccount(deps, { id: 'grandchild', name: 'G', realm: 'g.test', parentId: 'child' })
    for (const parentId of ['acme', 'child', 'grandchild', 'nobody']) {
      await expect(updateAccount(deps, 'acme', { parentId })).rejects.toMatchObject({
        code: 'InvalidInput',
        field: 'parentId',
      })
    }
    await updateAccount(deps, 'grandchild', { parentId: 'acme' })
    await updateAccount(deps, 'grandchild', { parentId: null })
    expect(await getAccount(deps, 'grandchild')).not.toHaveProperty('parentId')
  })

  it.each(['getAccount', 'updateAccount', 'readApiKey', 'rotateApiKey', 'addUser'] as const)(
    '%s rejects with NotFound and the id for an unknown account',
    async (name) => {
      const deps = createAccountHarness()
      const operations = {
        getAccount: () => getAccount(deps, 'x'),
        updateAccount: () => updateAccount(deps, 'x', {}),
        readApiKey: () => storeDirectory(deps).readApiKey('x'),
        rotateApiKey: () => storeDirectory(deps).rotateApiKey('x'),
        addUser: () => addUser(deps, 'x', { username: 'bob', password: 'pw' }),
      }
      await expect(operations[name]()).rejects.toMatchObject({ code: 'NotFound', id: 'x' })
    },
  )
})

describe('the API key of an account', () => {
  it('and its version change with a rotation', async () => {
    const deps = createAccountHarness()
    const { apiKey } = await createAccount(deps, acme)
    const before = await deps.accounts.apiKey('acme')
    const next = await storeDirectory(deps).rotateApiKey('acme')
    expect(next).not.toBe(apiKey)
    expect(await storeDirectory(deps).readApiKey('acme')).toBe(next)
    expect((await deps.accounts.apiKey('acme'))?.version).not.toBe(before?.version)
  })

  it('that no service secret decrypts is reported with the account, but without the key', async () => {
    const deps = createAccountHarness()
    const { apiKey } = await createAccount(deps, acme)
    const other = storeDirectory({ ...deps, cipher: createSecretCipher(['quite another secret']) })
    const reading = other.readApiKey('acme')
    await expect(reading).rejects.toMatchObject({ code: 'StoreCorrupt', field: 'secret' })
    await expect(reading).rejects.not.toThrow(apiKey)
  })
})

describe('the users of an account', () => {
  it('are found by id, or by name in any case', async () => {
    const deps = createAccountHarness()
    await createAccount(deps, acme)
    await addUser(deps, 'acme', { id: 'u1', username: 'Bob', password: 'pw' })
    expect(await setPassword(deps, 'acme', 'u1', 'new')).toBe('u1')
    expect(await setPassword(deps, 'acme', 'bOB', 'newer')).toBe('u1')
    expect(await removeUser(deps, 'acme', 'BOB')).toBe('u1')
    await expect(removeUser(deps, 'acme', 'BOB')).rejects.toMatchObject({ code: 'NotFound', id: 'BOB' })
    await expect(setPassword(deps, 'acme', 'u1', 'x')).rejects.toMatchObject({ code: 'NotFound' })
  })

  it('are not overwritten by a new user with the same id or name', async () => {
    const deps = createAccountHarness()
    await createAccount(deps, acme)
    await addUser(deps, 'acme', { id: 'u1', username: 'Bob', password: 'pw' })
    const existing = await deps.accounts.user('acme', 'u1')
    await expect(addUser(deps, 'acme', { id: 'u1', username: 'eve', password: 'x' })).rejects.toMatchObject({
      code: 'Conflict',
      field: 'id',
    })
    await expect(addUser(deps, 'acme', { username: 'bob', password: 'x' })).rejects.toMatchObject({
      code: 'Conflict',
      field: 'username',
    })
    expect(await deps.accounts.user('acme', 'u1')).toEqual(existing)
  })

  it('get a new credential version when a password is set, even the same one', async () => {
    const deps = createAccountHarness()
    await createAccount(deps, acme)
    const { id } = await addUser(deps, 'acme', { username: 'bob', password: 'pw' })
    const before = await deps.accounts.user('acme', id)
    await setPassword(deps, 'acme', id, 'pw')
    const after = await deps.accounts.user('acme', id)
    expect(after?.credentialKeys).toEqual(before?.credentialKeys)
    expect(after?.credentialVersion).not.toBe(before?.credentialVersion)
    await expect(setPassword(deps, 'acme', id, '')).rejects.toMatchObject({
      code: 'InvalidInput',
      field: 'password',
    })
  })
})
