import type { Account } from 'hookswitch'
import { manualClock, until } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { accountLookup } from '../../../adapters/cli/account-lookup.js'

const account = (id: string): Account => ({ id, realm: `${id}.example` }) as Account
const inTable = (table: Readonly<Record<string, string>>) => (key: string) => table[key]

function underTest() {
  const state = { accounts: [account('a')], reads: 0, nowMs: 0, fails: false, warnings: 0 }
  const list = async () => {
    state.reads += 1
    if (state.fails) throw new Error('the store is unavailable')
    return state.accounts
  }
  const log = { warn: () => (state.warnings += 1) }
  const clock = { monotonic: () => state.nowMs, sleep: () => new Promise<void>(() => {}) }
  return { state, lookup: accountLookup(list, log, clock) }
}

describe('accountLookup', () => {
  it('finds an account by realm or by id', async () => {
    const lookup = await underTest().lookup
    expect(lookup.by('realm', inTable)('a.example')).toBe('a')
    expect(lookup.by('id', inTable)('a')).toBe('a')
  })

  it('finds the realm of an account, also of one that was created later', async () => {
    const { state, lookup } = underTest()
    const { realmOf } = await lookup
    expect([realmOf('a'), realmOf(undefined), realmOf('b')]).toEqual(['a.example', undefined, undefined])
    state.accounts = [account('a'), account('b')]
    state.nowMs = 1_000
    await until(() => realmOf('b') === 'b.example')
  })

  it('reads the accounts again after a failed lookup, at most once per second', async () => {
    const { state, lookup } = underTest()
    const find = (await lookup).by('realm', inTable)
    state.accounts = [account('a'), account('b')]
    expect(find('b.example')).toBeUndefined()
    expect(state.reads).toBe(1)
    state.nowMs = 1_000
    for (let lookups = 0; lookups < 10; lookups += 1) find('b.example')
    await until(() => find('b.example') === 'b')
    expect(state.reads).toBe(2)
  })

  it('uses the last known accounts while they cannot be read', async () => {
    const { state, lookup } = underTest()
    const find = (await lookup).by('id', inTable)
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

  it('shares one table between calls with the same `make` and builds it again only for a changed list', async () => {
    const { state, lookup } = underTest()
    let made = 0
    const counted = (table: Readonly<Record<string, string>>) => {
      made += 1
      return inTable(table)
    }
    const finds = await Promise.all([1, 2, 3].map(async () => (await lookup).by('realm', counted)))
    const findWithAll = () => finds.map((find) => find('b.example'))
    findWithAll()
    expect(made).toBe(1)
    state.accounts = [account('a')]
    state.nowMs = 1_000
    findWithAll()
    await until(() => state.reads === 2)
    await new Promise((resolve) => setImmediate(resolve))
    findWithAll()
    expect(made).toBe(1)
    state.accounts = [account('a'), account('b')]
    state.nowMs = 2_000
    await until(() => findWithAll().every((id) => id === 'b'))
    expect(made).toBe(2)
  })

  it('waits ten times the duration of a read before the next read', async () => {
    const clock = manualClock()
    let reads = 0
    const slow = async () => {
      reads += 1
      await clock.sleep(500)
      return [account('a')]
    }
    const reading = accountLookup(slow, { warn() {} }, clock)
    await clock.advance(500)
    const find = (await reading).by('realm', inTable)
    await clock.advance(4_999)
    find('b.example')
    expect(reads).toBe(1)
    await clock.advance(1)
    find('b.example')
    expect(reads).toBe(2)
  })

  it('abandons a read that hangs after ten seconds, and reads again later', async () => {
    const clock = manualClock()
    let reads = 0
    const warnings: unknown[] = []
    const list = async () => {
      reads += 1
      if (reads === 2) await new Promise(() => {})
      return reads < 3 ? [account('a')] : [account('b')]
    }
    const log = { warn: (fields: unknown) => void warnings.push(fields) }
    const find = (await accountLookup(list, log, clock)).by('realm', inTable)
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
