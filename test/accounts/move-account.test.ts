import { describe, expect, it } from 'vitest'
import type { AccountStore } from '../../src/accounts/account-store.js'
import { createChildAccount, type EditAccountDeps, moveAccount } from '../../src/accounts/edit-account.js'
import { createAccount, updateAccount } from '../../src/accounts/manage.js'
import { createAccountHarness } from './account-harness.js'

function createHarness(): EditAccountDeps {
  const accountRules = {
    uniqueAccountNames: true,
    accountRealmSuffix: 'test',
    defaultTimezone: 'Etc/UTC',
    subaccounts: true,
  }
  return { ...createAccountHarness(), accountRules }
}

/** Creates a chain of accounts, the first without a parent. */
async function createChain(deps: EditAccountDeps, ids: readonly string[]): Promise<void> {
  for (const [index, id] of ids.entries()) {
    const parent = ids[index - 1]
    const below = parent === undefined ? {} : { parentId: parent }
    await createAccount(deps, { id, name: id, realm: `${id}.test`, ...below })
  }
}

const idsFrom = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`)

/** Calls `meanwhile` once, between the reads of a change and its write. */
function beforeUpdate(deps: EditAccountDeps, meanwhile: () => Promise<unknown>): EditAccountDeps {
  let isDone = false
  const update: AccountStore['update'] = async (...args) => {
    if (!isDone) {
      isDone = true
      await meanwhile()
    }
    return deps.accounts.update(...args)
  }
  return { ...deps, accounts: { ...deps.accounts, update } }
}

describe('moving an account', () => {
  it('is forbidden to itself and below itself', async () => {
    const deps = createHarness()
    await createChain(deps, ['a', 'b', 'c'])
    for (const to of ['a', 'b', 'c']) {
      await expect(moveAccount(deps, 'a', to)).rejects.toMatchObject({ code: 'Forbidden' })
    }
  })

  it('forms no circle with a move on another node', async () => {
    const deps = createHarness()
    await createChain(deps, ['a'])
    await createChain(deps, ['b'])
    const slow = beforeUpdate(deps, () => moveAccount(deps, 'b', 'a'))
    await expect(moveAccount(slow, 'a', 'b')).rejects.toMatchObject({ code: 'Forbidden' })
    expect(await deps.accounts.lineage('b')).toHaveLength(2)
    expect(await deps.accounts.lineage('a')).toHaveLength(1)
  })

  it('counts the levels that move along', async () => {
    const deps = createHarness()
    await createChain(deps, idsFrom('deep', 14))
    await createChain(deps, idsFrom('moved', 3))
    const move = moveAccount(deps, 'moved1', 'deep14')
    await expect(move).rejects.toMatchObject({ code: 'InvalidInput', field: 'account' })
    expect(await moveAccount(deps, 'moved1', 'deep13')).toMatchObject({ parentId: 'deep13' })
    await expect(createChildAccount(deps, 'moved3', { fields: { name: 'x' } }, true)).rejects.toMatchObject({
      field: 'account',
    })
  })

  it('names an unknown account', async () => {
    const deps = createHarness()
    await createChain(deps, ['a'])
    await expect(moveAccount(deps, 'a', 'nobody')).rejects.toMatchObject({ code: 'NotFound', id: 'nobody' })
    await expect(moveAccount(deps, 'nobody', 'a')).rejects.toMatchObject({ code: 'NotFound', id: 'nobody' })
  })
})

describe('a changed parent', () => {
  it('forms no circle with a move on another node', async () => {
    const deps = createHarness()
    await createChain(deps, ['a'])
    await createChain(deps, ['b'])
    const slow = beforeUpdate(deps, () => updateAccount(deps, 'b', { parentId: 'a' }))
    const change = updateAccount(slow, 'a', { parentId: 'b' })
    await expect(change).rejects.toMatchObject({ code: 'InvalidInput', field: 'parentId' })
  })

  it('stays changed while another node changes the name', async () => {
    const deps = createHarness()
    await createChain(deps, ['a'])
    await createChain(deps, ['b'])
    const slow = beforeUpdate(deps, () => moveAccount(deps, 'a', 'b'))
    expect(await updateAccount(slow, 'a', { name: 'New' })).toMatchObject({ name: 'New', parentId: 'b' })
  })
})
