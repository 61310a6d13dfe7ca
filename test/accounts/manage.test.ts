import { describe, expect, it } from 'vitest'
import {
  createAccount,
  getAccount,
  listAccounts,
  readApiKey,
  removeAccount,
  rotateApiKey,
  updateAccount,
} from '../../src/accounts/manage.js'
import { addUser, removeUser, setPassword } from '../../src/accounts/users.js'
import { secretBox } from '../../src/values/seal.js'
import { accountWorld } from './account-world.js'

const acme = { id: 'acme', name: 'Acme', realm: 'acme.test' }

describe('making an account', () => {
  it('gives it an id and a key where it brings none, and shows the key this once', async () => {
    const doors = accountWorld()
    const made = await createAccount(doors, { name: 'Acme', realm: 'ACME.test' })
    expect(made.id).toMatch(/^[0-9a-f]{32}$/)
    expect(made.apiKey).toMatch(/^[0-9a-f]{64}$/)
    const { apiKey, ...account } = made
    expect(await getAccount(doors, made.id)).toEqual(account)
    expect(await readApiKey(doors, made.id)).toBe(apiKey)
  })

  it('shows its users by name, in order, without anything of their passwords', async () => {
    const doors = accountWorld()
    const made = await createAccount(doors, {
      ...acme,
      users: [
        { username: 'zoe', password: 'pw' },
        { username: 'Bob', password: 'pw', id: 'u1' },
      ],
    })
    const nowMs = doors.clock.now()
    expect(made.users).toEqual([
      { id: 'u1', accountId: 'acme', username: 'Bob', createdMs: nowMs, modifiedMs: nowMs },
      { id: expect.any(String), accountId: 'acme', username: 'zoe', createdMs: nowMs, modifiedMs: nowMs },
    ])
  })

  it('refuses an id, a realm or a key that is taken', async () => {
    const doors = accountWorld()
    const { apiKey } = await createAccount(doors, acme)
    await expect(createAccount(doors, { ...acme, realm: 'other.test' })).rejects.toMatchObject({
      code: 'Conflict',
      field: 'id',
    })
    await expect(createAccount(doors, { name: 'B', realm: 'Acme.Test ' })).rejects.toMatchObject({
      code: 'Conflict',
      field: 'realm',
    })
    const thief = createAccount(doors, { name: 'B', realm: 'b.test', apiKey })
    await expect(thief).rejects.toMatchObject({ code: 'Conflict', field: 'apiKey' })
    await expect(thief).rejects.not.toThrow(apiKey)
    expect(await listAccounts(doors)).toHaveLength(1)
  })

  it('refuses a parent that does not exist', async () => {
    await expect(createAccount(accountWorld(), { ...acme, parentId: 'nobody' })).rejects.toMatchObject({
      code: 'InvalidInput',
      field: 'parentId',
    })
  })

  it('refuses to be its own parent', async () => {
    await expect(createAccount(accountWorld(), { ...acme, parentId: 'acme' })).rejects.toMatchObject({
      code: 'InvalidInput',
      field: 'parentId',
    })
  })
})

describe('changing an account', () => {
  it('leaves what is not named', async () => {
    const doors = accountWorld()
    const made = await createAccount(doors, { ...acme, users: [{ username: 'bob', password: 'pw' }] })
    await doors.clock.advance(1_000)
    const changed = await updateAccount(doors, 'acme', { enabled: false })
    const { apiKey: _, ...before } = made
    expect(changed).toEqual({ ...before, enabled: false, modifiedMs: made.modifiedMs + 1_000 })
    expect(await getAccount(doors, 'acme')).toEqual(changed)
  })

  it('refuses a parent below itself, at any depth', async () => {
    const doors = accountWorld()
    await createAccount(doors, acme)
    await createAccount(doors, { id: 'child', name: 'C', realm: 'c.test', parentId: 'acme' })
    await createAccount(doors, { id: 'grandchild', name: 'G', realm: 'g.test', parentId: 'child' })
    for (const parentId of ['acme', 'child', 'grandchild', 'nobody']) {
      await expect(updateAccount(doors, 'acme', { parentId })).rejects.toMatchObject({
        code: 'InvalidInput',
        field: 'parentId',
      })
    }
    await updateAccount(doors, 'grandchild', { parentId: 'acme' })
    await updateAccount(doors, 'grandchild', { parentId: null })
    expect(await getAccount(doors, 'grandchild')).not.toHaveProperty('parentId')
  })

  it.each(['getAccount', 'updateAccount', 'removeAccount', 'readApiKey', 'rotateApiKey', 'addUser'] as const)(
    '%s says NotFound, with the id, for an unknown account',
    async (name) => {
      const doors = accountWorld()
      const verbs = {
        getAccount: () => getAccount(doors, 'x'),
        updateAccount: () => updateAccount(doors, 'x', {}),
        removeAccount: () => removeAccount(doors, 'x'),
        readApiKey: () => readApiKey(doors, 'x'),
        rotateApiKey: () => rotateApiKey(doors, 'x'),
        addUser: () => addUser(doors, 'x', { username: 'bob', password: 'pw' }),
      }
      await expect(verbs[name]()).rejects.toMatchObject({ code: 'NotFound', id: 'x' })
    },
  )
})

describe('the key of an account', () => {
  it('is another one after a rotation, with another version', async () => {
    const doors = accountWorld()
    const { apiKey } = await createAccount(doors, acme)
    const before = await doors.accounts.apiKey('acme')
    const next = await rotateApiKey(doors, 'acme')
    expect(next).not.toBe(apiKey)
    expect(await readApiKey(doors, 'acme')).toBe(next)
    expect((await doors.accounts.apiKey('acme'))?.version).not.toBe(before?.version)
  })

  it('that no secret of the service opens any more is named as such, without the key', async () => {
    const doors = accountWorld()
    const { apiKey } = await createAccount(doors, acme)
    const reading = readApiKey({ ...doors, box: secretBox(['quite another secret']) }, 'acme')
    await expect(reading).rejects.toMatchObject({ code: 'StoreCorrupt', field: 'secret' })
    await expect(reading).rejects.not.toThrow(apiKey)
  })
})

describe('the users of an account', () => {
  it('are found by id or by name in any case', async () => {
    const doors = accountWorld()
    await createAccount(doors, acme)
    await addUser(doors, 'acme', { id: 'u1', username: 'Bob', password: 'pw' })
    expect(await setPassword(doors, 'acme', 'u1', 'new')).toBe('u1')
    expect(await setPassword(doors, 'acme', 'bOB', 'newer')).toBe('u1')
    expect(await removeUser(doors, 'acme', 'BOB')).toBe('u1')
    await expect(removeUser(doors, 'acme', 'BOB')).rejects.toMatchObject({ code: 'NotFound', id: 'BOB' })
    await expect(setPassword(doors, 'acme', 'u1', 'x')).rejects.toMatchObject({ code: 'NotFound' })
  })

  it('are not overwritten by a new one of the same id or name', async () => {
    const doors = accountWorld()
    await createAccount(doors, acme)
    await addUser(doors, 'acme', { id: 'u1', username: 'Bob', password: 'pw' })
    const kept = await doors.accounts.user('acme', 'u1')
    await expect(addUser(doors, 'acme', { id: 'u1', username: 'eve', password: 'x' })).rejects.toMatchObject({
      code: 'Conflict',
      field: 'id',
    })
    await expect(addUser(doors, 'acme', { username: 'bob', password: 'x' })).rejects.toMatchObject({
      code: 'Conflict',
      field: 'username',
    })
    expect(await doors.accounts.user('acme', 'u1')).toEqual(kept)
  })

  it('have another credential after setting a password, even the same one', async () => {
    const doors = accountWorld()
    await createAccount(doors, acme)
    const { id } = await addUser(doors, 'acme', { username: 'bob', password: 'pw' })
    const before = await doors.accounts.user('acme', id)
    await setPassword(doors, 'acme', id, 'pw')
    const after = await doors.accounts.user('acme', id)
    expect(after?.credentialKeys).toEqual(before?.credentialKeys)
    expect(after?.credentialVersion).not.toBe(before?.credentialVersion)
    await expect(setPassword(doors, 'acme', id, '')).rejects.toMatchObject({
      code: 'InvalidInput',
      field: 'password',
    })
  })
})
