import { createHookswitch, errorCode, memoryStore } from 'hookswitch'
import { describe, expect, it, onTestFinished } from 'vitest'
import { findUnlisted, handleUnlisted } from '../../../adapters/cli/unlisted-accounts.js'
import { type GivenFlags, settingsOf } from './settings-of.js'

const account = (id: string, parentId?: string) => ({
  id,
  name: id,
  realm: `${id}.example`,
  ...(parentId && { parentId }),
})

async function started() {
  const hs = createHookswitch({ store: memoryStore() })
  await hs.start()
  onTestFinished(() => hs.close())
  const warnings: { fields: object; message: string }[] = []
  const ignore = () => {}
  const warn = (fields: object, message: string) => void warnings.push({ fields, message })
  const listedNow = async (accounts: readonly object[], flags: GivenFlags = {}) =>
    findUnlisted(hs.accounts, { path: 'a.json', accounts }, await settingsOf(flags))
  const ids = async () => (await hs.accounts.list()).map(({ id }) => id)
  return { hs, warnings, listedNow, ids, log: { debug: ignore, info: ignore, warn, error: ignore } }
}

it('accounts that an earlier file listed are named in a warning, and others are not', async () => {
  const { hs, warnings, listedNow, ids, log } = await started()
  await hs.accounts.create(account('by-hand'))
  await hs.accounts.ensure([account('one'), account('two'), account('three')])
  // One entry has another realm now, one no id.
  const unlisted = await listedNow([
    { ...account('one'), realm: 'other' },
    { name: 't', realm: 'THREE.example ' },
  ])
  expect(unlisted).toEqual({ ids: ['two'], isPruned: false })
  await handleUnlisted(hs.accounts, unlisted, log)
  expect(warnings).toEqual([
    {
      fields: { accounts: ['two'], count: 1 },
      message: '--accounts no longer lists these accounts; --accounts-prune removes them',
    },
  ])
  expect(await ids()).toEqual(['by-hand', 'one', 'three', 'two'])
})

describe('--accounts-prune', () => {
  const PRUNE = { accountsPrune: true, accountsPruneLimit: '4' }

  it('removes accounts from below, and keeps those with others below them', async () => {
    const { hs, warnings, listedNow, ids, log } = await started()
    await hs.accounts.ensure([
      account('one'),
      account('two', 'one'),
      account('three'),
      account('four', 'three'),
    ])
    await hs.accounts.create(account('by-hand', 'four'))
    await handleUnlisted(hs.accounts, await listedNow([], PRUNE), log)
    expect(await ids()).toEqual(['by-hand', 'four', 'three'])
    expect(warnings.map(({ fields }) => fields)).toEqual([
      { accounts: ['two', 'one'], count: 2 },
      { accounts: ['four', 'three'], count: 2 },
    ])
  })

  it('refuses more than a tenth of the listed accounts, or than --accounts-prune-limit', async () => {
    const { hs, listedNow } = await started()
    const accounts = Array.from({ length: 20 }, (_, nth) => account(`a${nth}`))
    await hs.accounts.ensure(accounts)
    await hs.accounts.create(account('by-hand'))
    const pruned = (left: number, flags: GivenFlags) =>
      listedNow(accounts.slice(0, left), { accountsPrune: true, ...flags }).then(
        ({ ids, isPruned }) => isPruned && ids.length,
        (thrown: Error) => [errorCode(thrown), thrown.message],
      )
    expect(await pruned(18, {})).toBe(2)
    expect(await pruned(17, {})).toEqual([
      'InvalidInput',
      '--accounts: a.json: 3 accounts are no longer listed, and --accounts-prune removes at most a tenth of 20; ' +
        'nothing was changed: restore them, or pass --accounts-prune-limit 3',
    ])
    expect(await pruned(17, { accountsPruneLimit: '3' })).toBe(3)
    expect(await pruned(17, { accountsPruneLimit: '2' })).toEqual([
      'InvalidInput',
      expect.stringContaining('3 accounts are no longer listed, and --accounts-prune removes at most 2;'),
    ])
  })

  it('refuses to remove an operator without --accounts-prune-limit', async () => {
    const { hs, listedNow } = await started()
    const accounts = Array.from({ length: 10 }, (_, nth) => account(`a${nth}`))
    await hs.accounts.ensure(accounts)
    const flags = { accountsPrune: true, operators: ['a9'] }
    await expect(listedNow(accounts.slice(0, 9), flags)).rejects.toThrow(
      "--accounts: a.json: the operator 'a9' is no longer listed, and --accounts-prune would remove it; nothing was " +
        'changed: restore them, or pass --accounts-prune-limit 1',
    )
    expect(await listedNow(accounts.slice(0, 9), { ...flags, accountsPruneLimit: '1' })).toEqual({
      ids: ['a9'],
      isPruned: true,
    })
  })
})
