import type { Account } from 'hookswitch'
import { manualClock, until } from 'hookswitch/testkit'
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
  const clock = { monotonic: () => state.nowMs, sleep: () => new Promise<void>(() => {}) }
  return { state, known: knownAccounts(list, log, clock) }
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

  it('is looked up in one table, made once for all who ask in one way and for each new list', async () => {
    const { state, known } = underTest()
    let made = 0
    const counted = (table: Readonly<Record<string, string>>) => {
      made += 1
      return byKey(table)
    }
    const finds = await Promise.all([1, 2, 3].map(async () => (await known).lookUp('realm', counted)))
    const askAll = () => finds.map((find) => find('b.example'))
    askAll()
    expect(made).toBe(1)
    state.accounts = [account('a')]
    state.nowMs = 1_000
    askAll()
    await until(() => state.reads === 2)
    await new Promise((resolve) => setImmediate(resolve))
    askAll()
    expect(made).toBe(1)
    state.accounts = [account('a'), account('b')]
    state.nowMs = 2_000
    await until(() => askAll().every((id) => id === 'b'))
    expect(made).toBe(2)
  })

  it('is not asked again before ten times what a read took', async () => {
    const clock = manualClock()
    let reads = 0
    const slow = async () => {
      reads += 1
      await clock.sleep(500)
      return [account('a')]
    }
    const reading = knownAccounts(slow, { warn() {} }, clock)
    await clock.advance(500)
    const find = (await reading).lookUp('realm', byKey)
    await clock.advance(4_999)
    find('b.example')
    expect(reads).toBe(1)
    await clock.advance(1)
    find('b.example')
    expect(reads).toBe(2)
  })

  it('is asked again after a read that hangs, which is given up after ten seconds', async () => {
    const clock = manualClock()
    let reads = 0
    const warnings: unknown[] = []
    const list = async () => {
      reads += 1
      if (reads === 2) await new Promise(() => {})
      return reads < 3 ? [account('a')] : [account('b')]
    }
    const log = { warn: (fields: unknown) => void warnings.push(fields) }
    const find = (await knownAccounts(list, log, clock)).lookUp('realm', byKey)
    await clock.advance(1_000)
    find('b.example')
    await clock.advance(9_999)
    expect(warnings).toEqual([])
    await clock.advance(1)
    await clock.settle()
    expect(warnings).toEqual([{ error: 'Error: no answer within 10 seconds' }])
    await clock.advance(100_000)
    find('b.example')
    await clock.settle()
    expect(find('b.example')).toBe('b')
  })
})
