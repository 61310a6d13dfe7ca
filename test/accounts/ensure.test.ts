import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AccountInput } from '../../src/accounts/account-input.js'
import { ensureAccount, ensureAccounts, parentsFirst } from '../../src/accounts/ensure.js'
import { getAccount, readApiKey, rotateApiKey } from '../../src/accounts/manage.js'
import { secretBox } from '../../src/values/seal.js'
import { accountWorld, SECRET } from './account-world.js'

const key = 'k'.repeat(64)
const acme = {
  id: 'acme',
  name: 'Acme',
  realm: 'Acme.test',
  apiKey: key,
  users: [{ username: 'bob', password: 'pw' }],
}

const writes = (heard: readonly unknown[]) =>
  heard
    .map((call) => (call as [string])[0])
    .filter((name) => ['insert', 'update', 'putUser', 'putApiKey', 'remove', 'removeUser'].includes(name))

describe('accounts that are ensured at every start', () => {
  it('are created at the first and not touched at the second', async () => {
    const doors = accountWorld()
    expect(await ensureAccount(doors, acme)).toBe('acme')
    expect(writes(doors.heard)).toEqual(['insert'])
    expect(await ensureAccount(doors, acme)).toBe('acme')
    expect(writes(doors.heard)).toEqual(['insert'])
  })

  it('keep a key that was rotated since', async () => {
    const doors = accountWorld()
    await ensureAccount(doors, acme)
    const rotated = await rotateApiKey(doors, 'acme')
    await ensureAccount(doors, { ...acme, name: 'Acme Ltd' })
    expect(await readApiKey(doors, 'acme')).toBe(rotated)
    expect((await getAccount(doors, 'acme')).name).toBe('Acme Ltd')
  })

  it('are left as they are by a service with another secret', async () => {
    const doors = accountWorld()
    await ensureAccount(doors, acme)
    const before = writes(doors.heard)
    const other = { ...doors, box: secretBox(['a secret that never sealed anything here']) }
    await expect(ensureAccount(other, { ...acme, name: 'Acme Ltd' })).rejects.toMatchObject({
      code: 'InvalidOption',
      field: 'secret',
    })
    await expect(ensureAccounts(other, [acme])).rejects.toThrow('not the one that this store was begun with')
    // Neither is a new one made, which nobody else could open.
    const another = { ...acme, id: 'another', realm: 'another.test' }
    await expect(ensureAccounts(other, [another, acme])).rejects.toMatchObject({ field: 'secret' })
    expect(writes(doors.heard)).toEqual(before)
    const rotated = { ...doors, box: secretBox(['a secret that never sealed anything here', SECRET]) }
    expect(await ensureAccount(rotated, acme)).toBe('acme')
  })

  it('are found by realm where they have no id', async () => {
    const doors = accountWorld()
    const { id: _, ...nameless } = acme
    const accountId = await ensureAccount(doors, nameless)
    expect(await ensureAccount(doors, { ...nameless, realm: ' ACME.TEST', enabled: false })).toBe(accountId)
    expect((await getAccount(doors, accountId)).enabled).toBe(false)
  })

  it.each([
    ['with an id', acme],
    ['without an id', { ...acme, id: undefined }],
  ])('are brought up to date where another node was quicker: %s', async (_, { id, ...rest }) => {
    const doors = accountWorld()
    const input = { ...rest, ...(id === undefined ? {} : { id }) }
    const { insert } = doors.accounts
    let quicker: string | undefined
    const late = {
      ...doors,
      accounts: {
        ...doors.accounts,
        async insert(...args: Parameters<typeof insert>) {
          quicker ??= await ensureAccount(doors, { ...input, name: 'As it was', users: [] })
          return insert(...args)
        },
      },
    }
    expect(await ensureAccount(late, input)).toBe(quicker)
    expect(await getAccount(doors, quicker!)).toMatchObject({ name: 'Acme', users: [{ username: 'bob' }] })
  })

  it('keep fields and users that are left out', async () => {
    const doors = accountWorld()
    await ensureAccount(doors, { ...acme, language: 'de-de' })
    await ensureAccount(doors, { id: 'acme', name: 'Acme', realm: 'acme.test' })
    expect(await getAccount(doors, 'acme')).toMatchObject({ language: 'de-de', users: [{ username: 'bob' }] })
  })

  it('get new users, and new passwords with a new credential version', async () => {
    const doors = accountWorld()
    await ensureAccount(doors, acme)
    const [before] = await doors.accounts.users('acme')
    await ensureAccount(doors, {
      ...acme,
      users: [
        { username: 'bob', password: 'other' },
        { username: 'eve', password: 'pw' },
      ],
    })
    const [bob, eve] = await doors.accounts.users('acme')
    expect(bob).toMatchObject({ id: before!.id, username: 'bob' })
    expect(bob!.credentialVersion).not.toBe(before!.credentialVersion)
    expect(eve!.username).toBe('eve')
  })

  it('keep a credential whose keys are only written anew under a new first secret', async () => {
    const doors = accountWorld()
    await ensureAccount(doors, acme)
    const [before] = await doors.accounts.users('acme')
    await ensureAccount({ ...doors, box: secretBox(['the secret of next year', SECRET]) }, acme)
    const [after] = await doors.accounts.users('acme')
    expect(after!.credentialKeys).not.toEqual(before!.credentialKeys)
    expect(after!.credentialVersion).toBe(before!.credentialVersion)
  })

  it('keep a credential when only the case of the user name changes', async () => {
    const doors = accountWorld()
    await ensureAccount(doors, acme)
    const [before] = await doors.accounts.users('acme')
    await ensureAccount(doors, { ...acme, users: [{ username: 'Bob', password: 'pw' }] })
    const [after] = await doors.accounts.users('acme')
    expect(after).toMatchObject({ username: 'Bob', credentialVersion: before!.credentialVersion })
    expect(after!.credentialKeys).toHaveLength(4)
  })

  it('may stand in the list before their parents', async () => {
    const doors = accountWorld()
    const ids = await ensureAccounts(doors, [
      { id: 'c', name: 'C', realm: 'c.test', parentId: 'b' },
      { id: 'b', name: 'B', realm: 'b.test', parentId: 'a' },
      { id: 'a', name: 'A', realm: 'a.test' },
    ])
    expect(ids).toEqual(['c', 'b', 'a'])
    expect((await doors.accounts.lineage('c')).map(({ id }) => id)).toEqual(['c', 'b', 'a'])
  })

  it('that are wrong are named by their place in the list', async () => {
    const doors = accountWorld()
    await expect(ensureAccounts(doors, [acme, { name: 'B' } as AccountInput])).rejects.toMatchObject({
      code: 'InvalidInput',
      field: '1.realm',
    })
    await expect(ensureAccounts(doors, [acme, null as never])).rejects.toMatchObject({
      code: 'InvalidInput',
      field: '1',
    })
    await expect(
      ensureAccounts(doors, [acme, { id: 'b', name: 'B', realm: 'acme.test' }]),
    ).rejects.toMatchObject({ code: 'Conflict', field: '1.realm' })
    await expect(ensureAccounts(doors, acme as never)).rejects.toMatchObject({
      code: 'InvalidInput',
      field: '',
    })
  })

  it('in a circle are refused by the parent of one of them', async () => {
    await expect(
      ensureAccounts(accountWorld(), [
        { id: 'a', name: 'A', realm: 'a.test', parentId: 'b' },
        { id: 'b', name: 'B', realm: 'b.test', parentId: 'a' },
      ]),
    ).rejects.toMatchObject({ code: 'InvalidInput', field: expect.stringMatching(/^[01]\.parentId$/) })
  })
})

describe('the order of a list', () => {
  it('has every place once, and every parent before its children, in any forest', () => {
    const forests = fc.array(fc.nat(), { maxLength: 20 }).chain((picks) =>
      fc
        .shuffledSubarray(
          picks.map((_, index) => index),
          { minLength: picks.length },
        )
        .map((order) => ({ picks, order })),
    )
    fc.assert(
      fc.property(forests, ({ picks, order }) => {
        const inputs = order.map((node): AccountInput => {
          const parent = (picks[node]! % (node + 1)) - 1
          return {
            id: `a${node}`,
            name: 'A',
            realm: `a${node}`,
            ...(parent < 0 ? {} : { parentId: `a${parent}` }),
          }
        })
        const places = parentsFirst(inputs)
        expect([...places].sort((a, b) => a - b)).toEqual(inputs.map((_, index) => index))
        const done = new Set<string | undefined>([undefined])
        for (const place of places) {
          expect(done).toContain(inputs[place]!.parentId)
          done.add(inputs[place]!.id)
        }
      }),
      { numRuns: 200 },
    )
  })
})
