import type { Account } from 'hookswitch'
import { until } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { knownAccounts } from '../../../adapters/cli/known-accounts.js'

const account = (id: string): Account => ({ id, realm: `${id}.example` }) as Account
const byKey = (table: Readonly<Record<string, string>>) => (key: string) => table[key]

function underTest() {
  const state = { accounts: [account('a')], reads: 0, nowMs: 0, fails: false, warnings: 0 }
  const list = async () => {
    state.reads += 1
    if (state.fails) throw new Error('store is out')
    return state.accounts
  }
  const log = { warn: () => (state.warnings += 1) }
  return { state, known: knownAccounts(list, log, () => state.nowMs) }
}

describe('whose call it is', () => {
  it('is looked up by realm or by id', async () => {
    const known = await underTest().known
    expect(known.lookUp('realm', byKey)('a.example')).toBe('a')
    expect(known.lookUp('id', byKey)('a')).toBe('a')
  })

  it('is asked again when nobody is known, once a second at most', async () => {
    const { state, known } = underTest()
    const find = (await known).lookUp('realm', byKey)
    state.accounts = [account('a'), account('b')]
    expect(find('b.example')).toBeUndefined()
    expect(state.reads).toBe(1)
    state.nowMs = 1_000
    for (let asked = 0; asked < 10; asked += 1) find('b.example')
    await until(() => find('b.example') === 'b')
    expect(state.reads).toBe(2)
  })

  it('stays what it was while the accounts cannot be read', async () => {
    const { state, known } = underTest()
    const find = (await known).lookUp('id', byKey)
    state.fails = true
    state.nowMs = 1_000
    find('b')
    await until(() => state.warnings === 1)
    expect(find('a')).toBe('a')
    state.fails = false
    state.accounts = [account('b')]
    state.nowMs = 2_000
    find('c')
    await until(() => find('b') === 'b')
    expect(find('a')).toBeUndefined()
  })
})
