import fc from 'fast-check'
import { errorCode } from 'hookswitch'
import { describe, expect, it } from 'vitest'
import type { AccountInput } from '../../src/accounts/account-input.js'
import { ensureAccounts, previewAccounts } from '../../src/accounts/ensure.js'
import { propertyRuns } from '../support/property-runs.js'
import { createAccountHarness } from './account-harness.js'

const WRITES = ['insert', 'update', 'putUser', 'putApiKey', 'remove', 'removeUser']
const writes = (deps: ReturnType<typeof createAccountHarness>) =>
  deps.calls.filter((call) => WRITES.includes((call as unknown as [string])[0])).length

const account = (id: string, more: Partial<AccountInput> = {}): AccountInput => ({
  id,
  name: id,
  realm: `${id}.example`,
  ...more,
})

describe('a list of accounts in which one takes the realm of another', () => {
  it.each<[string, readonly AccountInput[]]>([
    ['behind it', [account('a', { realm: 'later.example' }), account('new', { realm: 'a.example' })]],
    ['before it', [account('new', { realm: 'a.example' }), account('a', { realm: 'later.example' })]],
    [
      'and so on',
      [
        account('new', { realm: 'a.example' }),
        account('a', { realm: 'b.example' }),
        account('b', { realm: 'later.example' }),
      ],
    ],
  ])('is applied: %s', async (_, list) => {
    const deps = createAccountHarness()
    await ensureAccounts(deps, [account('a'), account('b')])
    expect(await ensureAccounts(deps, list)).toEqual(list.map(({ id }) => id))
    for (const { id, realm } of list) expect((await deps.accounts.byRealm(realm))[0]?.id).toBe(id)
  })

  it('is refused if none gives its realm up first', async () => {
    const deps = createAccountHarness()
    await ensureAccounts(deps, [account('a'), account('b')])
    const list = [account('a', { realm: 'b.example' }), account('b', { realm: 'a.example' })]
    await expect(ensureAccounts(deps, list)).rejects.toMatchObject({ code: 'Conflict', field: '0.realm' })
  })
})

describe('a list of accounts with one that is refused', () => {
  it.each<[string, readonly AccountInput[], string]>([
    ['a realm of another account', [account('new'), account('b', { realm: 'a.example' })], 'Conflict'],
    ['a parent that does not exist', [account('new'), account('b', { parentId: 'none' })], 'InvalidInput'],
    ['a parent below the account', [account('new'), account('a', { parentId: 'below' })], 'InvalidInput'],
    ['an API key of another account', [account('new'), account('c', { apiKey: 'k'.repeat(40) })], 'Conflict'],
    ['the id of a removed account', [account('new'), account('gone')], 'Conflict'],
  ])('changes nothing: %s', async (_, list, code) => {
    const deps = createAccountHarness()
    await ensureAccounts(deps, [
      account('a', { apiKey: 'k'.repeat(40) }),
      account('b'),
      account('below', { parentId: 'a' }),
      account('gone'),
    ])
    await deps.accounts.remove('gone', { nowMs: 1 })
    const before = writes(deps)
    for (const attempt of [previewAccounts, ensureAccounts]) {
      const thrown = await attempt(deps, list).then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      expect(errorCode(thrown)).toBe(code)
    }
    expect(writes(deps)).toBe(before)
    expect(await deps.accounts.lineage('new')).toEqual([])
  })

  it('is refused on an empty store too, before anything is written', async () => {
    const deps = createAccountHarness()
    const list = [account('a', { apiKey: 'k'.repeat(40) }), account('b', { apiKey: 'k'.repeat(40) })]
    await expect(ensureAccounts(deps, list)).rejects.toMatchObject({ code: 'Conflict' })
    expect(writes(deps)).toBe(0)
  })
})

describe('the preview of a list', () => {
  const user = fc.record({
    username: fc.constantFrom('u', 'v', 'U'),
    password: fc.constantFrom('p', 'q'),
  })
  const input = fc
    .record(
      {
        id: fc.constantFrom('a', 'b', 'c', 'd'),
        name: fc.constantFrom('N', 'M'),
        realm: fc.constantFrom('a.example', 'b.example', 'c.example', 'd.example'),
        parentId: fc.constantFrom('a', 'b', 'c'),
        enabled: fc.boolean(),
        users: fc.uniqueArray(user, { maxLength: 2, selector: ({ username }) => username.toLowerCase() }),
      },
      { requiredKeys: ['name', 'realm'] },
    )
    .map((fields) => fields as AccountInput)
  const lists = fc.array(fc.array(input, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 })

  it('is what ensure does: the same errors, and writes exactly where it names changes', async () => {
    await fc.assert(
      fc.asyncProperty(lists, async (all) => {
        const deps = createAccountHarness()
        for (const list of all) {
          const before = writes(deps)
          const preview = await previewAccounts(deps, list).catch(errorCode)
          expect(writes(deps)).toBe(before)
          const ids = await ensureAccounts(deps, list).catch(errorCode)
          if (typeof preview !== 'object' || typeof ids !== 'object') {
            expect([list, ids]).toEqual([list, preview])
            expect(writes(deps)).toBe(before)
            continue
          }
          const isChange = preview.created.length + preview.changed.length > 0
          expect([list, writes(deps) > before]).toEqual([list, isChange])
          // The second time there is nothing to do, unless the list contradicts itself.
          const isRepetitive = new Set(ids).size < ids.length
          if (!isRepetitive)
            expect(await previewAccounts(deps, list)).toMatchObject({ ids, created: [], changed: [] })
        }
      }),
      { numRuns: propertyRuns(200) },
    )
  })
})
