import { createHookswitch, memoryStore } from 'hookswitch'
import { expect, it, onTestFinished } from 'vitest'
import { handleUnlisted, readListed } from '../../../adapters/cli/unlisted-accounts.js'

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
  return { hs, warnings, log: { debug: ignore, info: ignore, warn, error: ignore } }
}

it('accounts that an earlier file listed are named in a warning, and others are not', async () => {
  const { hs, warnings, log } = await started()
  await hs.accounts.create(account('by-hand'))
  await hs.accounts.ensure([account('one'), account('two')])
  expect(await readListed(hs)).toEqual(['one', 'two'])
  await handleUnlisted(hs, ['two'], { prune: false, log })
  expect(warnings).toEqual([
    {
      fields: { accounts: ['two'], count: 1 },
      message: '--accounts no longer lists these accounts; --accounts-prune removes them',
    },
  ])
  expect((await hs.accounts.list()).map(({ id }) => id)).toEqual(['by-hand', 'one', 'two'])
})

it('pruning removes them from below, and keeps those with others below them', async () => {
  const { hs, warnings, log } = await started()
  await hs.accounts.ensure([
    account('one'),
    account('two', 'one'),
    account('three'),
    account('four', 'three'),
  ])
  await hs.accounts.create(account('by-hand', 'four'))
  await handleUnlisted(hs, await readListed(hs), { prune: true, log })
  expect((await hs.accounts.list()).map(({ id }) => id)).toEqual(['by-hand', 'four', 'three'])
  expect(warnings.map(({ fields }) => fields)).toEqual([
    { accounts: ['two', 'one'], count: 2 },
    { accounts: ['four', 'three'], count: 2 },
  ])
})
