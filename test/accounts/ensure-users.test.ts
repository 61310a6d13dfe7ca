import { describe, expect, it } from 'vitest'
import type { UserInput } from '../../src/accounts/account-input.js'
import { deriveLookupKeys } from '../../src/accounts/credential.js'
import { createUser, deleteUser, editUser } from '../../src/accounts/edit-user.js'
import { ensureAccount, ensureAccounts } from '../../src/accounts/ensure.js'
import { createAccount, getAccount } from '../../src/accounts/manage.js'
import { removeUser, setPassword } from '../../src/accounts/users.js'
import { createSecretCipher } from '../../src/values/encryption.js'
import { createAccountHarness, md5Of, SECRET } from './account-harness.js'

type Harness = ReturnType<typeof createAccountHarness>

const listed = (...users: readonly UserInput[]) => ({ id: 'acme', name: 'Acme', realm: 'acme.test', users })
const alice = { username: 'Alice', password: 'listed' }

/** The id of the user who can sign in with this name and password; `undefined`: nobody. */
async function login(deps: Harness, username: string, password: string): Promise<string | undefined> {
  const keys = deriveLookupKeys(deps.cipher, ['acme'], 'md5', md5Of(`${username}:${password}`))
  return (await deps.accounts.userByCredential(['acme'], keys))?.id
}

const idOf = async (deps: Harness, username: string) => (await deps.accounts.userByName('acme', username))!.id

/** Changes a user as over HTTP. */
async function patch(deps: Harness, username: string, fields: Readonly<Record<string, unknown>>) {
  const options = { mode: 'merge', isSelf: false } as const
  await editUser(deps, 'acme', await idOf(deps, username), { fields }, options)
}

const writesOf = (deps: Harness) =>
  deps.calls.filter((call) => ['insert', 'update', 'putUser'].includes((call as [string])[0])).length

describe.each([
  ['without an id', alice],
  ['with an id', { ...alice, id: 'u1' }],
])('a listed user %s', (_, user) => {
  it.each([
    ['over HTTP', (deps: Harness) => patch(deps, 'alice', { password: 'own' })],
    ['by the host', (deps: Harness) => setPassword(deps, 'acme', 'alice', 'own')],
  ])('keeps a password that was set %s', async (_by, change) => {
    const deps = createAccountHarness()
    await ensureAccount(deps, listed(user))
    await change(deps)
    await patch(deps, 'alice', { firstName: 'A' })
    const writes = writesOf(deps)
    await ensureAccount(deps, listed(user))
    expect(writesOf(deps)).toBe(writes)
    expect(await login(deps, 'alice', 'own')).toBe(await idOf(deps, 'alice'))
    expect(await login(deps, 'alice', 'listed')).toBeUndefined()
  })

  it('gets another listed password, once', async () => {
    const deps = createAccountHarness()
    await ensureAccount(deps, listed(user))
    await patch(deps, 'alice', { password: 'own' })
    await patch(deps, 'alice', { password: 'own again' })
    const again = listed({ ...user, password: 'listed later' })
    await ensureAccount(deps, again)
    expect(await login(deps, 'alice', 'listed later')).toBe(await idOf(deps, 'alice'))
    expect(await login(deps, 'alice', 'own again')).toBeUndefined()
    await patch(deps, 'alice', { password: 'own at last' })
    await ensureAccount(deps, again)
    expect(await login(deps, 'alice', 'own at last')).toBe(await idOf(deps, 'alice'))
  })

  it('gets its other listed fields at each start, without its listed password', async () => {
    const deps = createAccountHarness()
    await ensureAccount(deps, listed(user))
    await patch(deps, 'alice', { password: 'own', email: 'own@acme.test' })
    await ensureAccount(deps, listed({ ...user, email: 'listed@acme.test' }))
    expect(await deps.accounts.userByName('acme', 'alice')).toMatchObject({ email: 'listed@acme.test' })
    expect(await login(deps, 'alice', 'own')).toBe(await idOf(deps, 'alice'))
  })

  it('keeps the name and the lack of a login that it was given', async () => {
    const deps = createAccountHarness()
    await ensureAccount(deps, listed(user))
    await patch(deps, 'alice', { username: 'alicia', password: 'own' })
    await ensureAccount(deps, listed(user))
    expect((await getAccount(deps, 'acme')).users).toMatchObject([{ username: 'alicia' }])
    await patch(deps, 'alicia', { username: null })
    await ensureAccount(deps, listed(user))
    expect(await deps.accounts.users('acme')).toMatchObject([{ credentialKeys: [] }])
  })

  it('keeps its own password when the secret of the service is replaced', async () => {
    const deps = createAccountHarness()
    await ensureAccount(deps, listed(user))
    await patch(deps, 'alice', { password: 'own' })
    const both = { ...deps, cipher: createSecretCipher(['the secret of next year', SECRET]) }
    await ensureAccount(both, listed(user))
    const next = { ...deps, cipher: createSecretCipher(['the secret of next year']) }
    await ensureAccount(next, listed(user))
    expect(await login(deps, 'alice', 'own')).toBe(await idOf(deps, 'alice'))
    expect(await login(next, 'alice', 'listed')).toBeUndefined()
  })

  it.each([
    ['over HTTP', async (deps: Harness) => deleteUser(deps, 'acme', await idOf(deps, 'alice'))],
    ['by the host', (deps: Harness) => removeUser(deps, 'acme', 'Alice')],
  ])('stays removed that was removed %s', async (_by, remove) => {
    const deps = createAccountHarness()
    const list = listed(user, { username: 'bob', password: 'pw' })
    await ensureAccount(deps, list)
    const id = await idOf(deps, 'alice')
    await remove(deps)
    await ensureAccounts(deps, [list])
    expect((await getAccount(deps, 'acme')).users).toMatchObject([{ username: 'bob' }])
    expect(deps.logged).toEqual([{ accountId: 'acme', userId: id }])
  })

  it('that another node changes meanwhile keeps that change', async () => {
    const deps = createAccountHarness()
    await ensureAccount(deps, listed(user))
    const { putUser } = deps.accounts
    let isChanged = false
    const slow = {
      ...deps,
      accounts: {
        ...deps.accounts,
        async putUser(...args: Parameters<typeof putUser>) {
          if (!isChanged) {
            isChanged = true
            await patch(deps, 'alice', { password: 'own' })
          }
          return putUser(...args)
        },
      },
    }
    await ensureAccount(slow, listed({ ...user, email: 'a@acme.test' }))
    expect(await deps.accounts.userByName('acme', 'alice')).toMatchObject({ email: 'a@acme.test' })
    expect(await login(deps, 'alice', 'own')).toBe(await idOf(deps, 'alice'))
  })
})

describe('a user that the list names later', () => {
  it('gets the listed password, and keeps the one that is set afterwards', async () => {
    const deps = createAccountHarness()
    await createAccount(deps, listed())
    const fields = { firstName: 'A', lastName: 'B', username: 'alice', password: 'own' }
    await createUser(deps, 'acme', { fields }, false)
    await ensureAccount(deps, listed(alice))
    expect(await login(deps, 'alice', 'listed')).toBe(await idOf(deps, 'alice'))
    await patch(deps, 'alice', { password: 'own again' })
    await ensureAccount(deps, listed(alice))
    expect(await login(deps, 'alice', 'own again')).toBe(await idOf(deps, 'alice'))
  })
})
