import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AccountInput } from '../../src/accounts/account-input.js'
import { ensureAccount, ensureAccounts, topologicalOrder } from '../../src/accounts/ensure.js'
import { getAccount } from '../../src/accounts/manage.js'
import { storeDirectory } from '../../src/accounts/store-directory.js'
import { createSecretCipher } from '../../src/values/encryption.js'
import { propertyRuns } from '../support/property-runs.js'
import { createAccountHarness, SECRET } from './account-harness.js'

const key = 'k'.repeat(64)
const acme = {
  id: 'acme',
  name: 'Acme',
  realm: 'Acme.test',
  apiKey: key,
  users: [{ username: 'bob', password: 'pw' }],
}

const writes = (calls: readonly unknown[]) =>
  calls
    .map((call) => (call as [string])[0])
    .filter((name) => ['insert', 'update', 'putUser', 'putApiKey', 'remove', 'removeUser'].includes(name))

describe('accounts ensured at every start', () => {
  it('are created by the first start and not written by the second', async () => {
    const deps = createAccountHarness()
    expect(await ensureAccount(deps, acme)).toBe('acme')
    expect(writes(deps.calls)).toEqual(['insert'])
    expect(await ensureAccount(deps, acme)).toBe('acme')
    expect(writes(deps.calls)).toEqual(['insert'])
  })

  it('keep a rotated key', async () => {
    const deps = createAccountHarness()
    await ensureAccount(deps, acme)
    const rotated = await storeDirectory(deps).rotateApiKey('acme')
    await ensureAccount(deps, { ...acme, name: 'Acme Ltd' })
    expect(await storeDirectory(deps).readApiKey('acme')).toBe(rotated)
    expect((await getAccount(deps, 'acme')).name).toBe('Acme Ltd')
  })

  it('are found by realm when they have no id', async () => {
    const deps = createAccountHarness()
    const { id: _, ...nameless } = acme
    const accountId = await ensureAccount(deps, nameless)
    expect(await ensureAccount(deps, { ...nameless, realm: ' ACME.TEST', enabled: false })).toBe(accountId)
    expect((await getAccount(deps, accountId)).enabled).toBe(false)
  })

  it.each([
    ['with an id', acme],
    ['without an id', { ...acme, id: undefined }],
  ])('are updated when another node creates them first: %s', async (_, { id, ...rest }) => {
    const deps = createAccountHarness()
    const input = { ...rest, ...(id === undefined ? {} : { id }) }
    const { insert } = deps.accounts
    let otherNodesId: string | undefined
    const late = {
      ...deps,
      accounts: {
        ...deps.accounts,
        async insert(...args: Parameters<typeof insert>) {
          otherNodesId ??= await ensureAccount(deps, { ...input, name: 'As it was', users: [] })
          return insert(...args)
        },
      },
    }
    expect(await ensureAccount(late, input)).toBe(otherNodesId)
    expect(await getAccount(deps, otherNodesId!)).toMatchObject({
      name: 'Acme',
      users: [{ username: 'bob' }],
    })
  })

  it('keep omitted fields and users', async () => {
    const deps = createAccountHarness()
    await ensureAccount(deps, { ...acme, language: 'de-de', enabled: false, isReseller: true })
    await ensureAccount(deps, { id: 'acme', name: 'Acme', realm: 'acme.test' })
    expect(await getAccount(deps, 'acme')).toMatchObject({
      language: 'de-de',
      enabled: false,
      isReseller: true,
      users: [{ username: 'bob' }],
    })
  })

  it('get new users, and new passwords with a new credential version', async () => {
    const deps = createAccountHarness()
    await ensureAccount(deps, acme)
    const [before] = await deps.accounts.users('acme')
    await ensureAccount(deps, {
      ...acme,
      users: [
        { username: 'bob', password: 'other' },
        { username: 'eve', password: 'pw' },
      ],
    })
    const [bob, eve] = await deps.accounts.users('acme')
    expect(bob).toMatchObject({ id: before!.id, username: 'bob' })
    expect(bob!.credentialVersion).not.toBe(before!.credentialVersion)
    expect(eve!.username).toBe('eve')
  })

  it('keep a credential version when the keys are only rewritten under a new first secret', async () => {
    const deps = createAccountHarness()
    await ensureAccount(deps, acme)
    const [before] = await deps.accounts.users('acme')
    await ensureAccount({ ...deps, cipher: createSecretCipher(['the secret of next year', SECRET]) }, acme)
    const [after] = await deps.accounts.users('acme')
    expect(after!.credentialKeys).not.toEqual(before!.credentialKeys)
    expect(after!.credentialVersion).toBe(before!.credentialVersion)
  })

  it('keep a credential version when only the case of the user name changes', async () => {
    const deps = createAccountHarness()
    await ensureAccount(deps, acme)
    const [before] = await deps.accounts.users('acme')
    await ensureAccount(deps, { ...acme, users: [{ username: 'Bob', password: 'pw' }] })
    const [after] = await deps.accounts.users('acme')
    expect(after).toMatchObject({ username: 'Bob', credentialVersion: before!.credentialVersion })
    expect(after!.credentialKeys).toHaveLength(4)
  })

  it('may precede their parents in the list', async () => {
    const deps = createAccountHarness()
    const ids = await ensureAccounts(deps, [
      { id: 'c', name: 'C', realm: 'c.test', parentId: 'b' },
      { id: 'b', name: 'B', realm: 'b.test', parentId: 'a' },
      { id: 'a', name: 'A', realm: 'a.test' },
    ])
    expect(ids).toEqual(['c', 'b', 'a'])
    expect((await deps.accounts.lineage('c')).map(({ id }) => id)).toEqual(['c', 'b', 'a'])
  })

  it('that are invalid are reported with their index in the list', async () => {
    const deps = createAccountHarness()
    await expect(ensureAccounts(deps, [acme, { name: 'B' } as AccountInput])).rejects.toMatchObject({
      code: 'InvalidInput',
      field: '1.realm',
    })
    await expect(ensureAccounts(deps, [acme, null as never])).rejects.toMatchObject({
      code: 'InvalidInput',
      field: '1',
    })
    await expect(
      ensureAccounts(deps, [acme, { id: 'b', name: 'B', realm: 'acme.test' }]),
    ).rejects.toMatchObject({ code: 'Conflict', field: '1.realm' })
    await expect(ensureAccounts(deps, acme as never)).rejects.toMatchObject({
      code: 'InvalidInput',
      field: '',
    })
  })

  it('that form a cycle are rejected with the field parentId of one of them', async () => {
    await expect(
      ensureAccounts(createAccountHarness(), [
        { id: 'a', name: 'A', realm: 'a.test', parentId: 'b' },
        { id: 'b', name: 'B', realm: 'b.test', parentId: 'a' },
      ]),
    ).rejects.toMatchObject({ code: 'InvalidInput', field: expect.stringMatching(/^[01]\.parentId$/) })
  })
})

describe('a long list', () => {
  const inputOf = (nth: number): AccountInput => ({ id: `a${nth}`, name: 'A', realm: `a${nth}.test` })
  const inputs = (count: number) => Array.from({ length: count }, (_, nth) => inputOf(nth))

  /** A store that inserts a turn of the event loop later. `waiting`: calls of `insert` without an answer, now and at most. */
  function slowHarness() {
    const deps = createAccountHarness()
    const waiting = { now: 0, most: 0 }
    const insert: typeof deps.accounts.insert = async (...insertion) => {
      waiting.now += 1
      waiting.most = Math.max(waiting.most, waiting.now)
      await deps.clock.yield()
      waiting.now -= 1
      return deps.accounts.insert(...insertion)
    }
    return { ...deps, accounts: { ...deps.accounts, insert }, waiting }
  }

  it('is ensured many at a time, with a bound on those that wait for the store', async () => {
    const deps = slowHarness()
    const list = inputs(6_000)
    expect(await ensureAccounts(deps, list)).toEqual(list.map(({ id }) => id))
    expect(await deps.accounts.list()).toHaveLength(6_000)
    expect(deps.waiting.most).toBeGreaterThan(50)
    expect(deps.waiting.most).toBeLessThanOrEqual(4_000)
  })

  it('is rejected with the first of several errors in its order, once nothing is being written any more', async () => {
    const deps = slowHarness()
    await ensureAccount(deps, { ...inputOf(0), id: 'other', realm: 'taken.test' })
    const list = inputs(1_000).map((input, nth) =>
      nth === 150 || nth === 160 || nth === 900 ? { ...input, realm: 'Taken.test' } : input,
    )
    await expect(ensureAccounts(deps, list)).rejects.toMatchObject({ code: 'Conflict', field: '150.realm' })
    expect(deps.waiting.now).toBe(0)
    const written = writes(deps.calls).length
    for (let turn = 0; turn < 10; turn += 1) await deps.clock.yield()
    expect(writes(deps.calls)).toHaveLength(written)
  })

  it('has parents before children, however far apart they are', async () => {
    const deps = slowHarness()
    const children = inputs(500).map((input) => ({ ...input, parentId: 'parent' }))
    await ensureAccounts(deps, [...children, { id: 'parent', name: 'P', realm: 'parent.test' }])
    expect(await deps.accounts.descendants('parent')).toHaveLength(500)
  })

  it('that is stored already is not written', async () => {
    const deps = createAccountHarness()
    const list = inputs(300).map((input) => ({ ...input, users: [{ username: 'bob', password: 'pw' }] }))
    await ensureAccounts(deps, list)
    const written = writes(deps.calls).length
    await ensureAccounts(deps, list)
    expect(writes(deps.calls)).toHaveLength(written)
  })
})

describe('topologicalOrder', () => {
  it('contains every index once, and every parent before its children, for any forest', () => {
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
        const indexes = topologicalOrder(inputs)
        expect([...indexes].sort((a, b) => a - b)).toEqual(inputs.map((_, index) => index))
        const done = new Set<string | undefined>([undefined])
        for (const index of indexes) {
          expect(done).toContain(inputs[index]!.parentId)
          done.add(inputs[index]!.id)
        }
      }),
      { numRuns: propertyRuns(200) },
    )
  })
})
