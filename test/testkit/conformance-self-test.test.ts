import { describe, expect, it } from 'vitest'
import { STORE_FAULTS } from '../mutants/stores/index.js'
import { type StoreFault, smallParts } from '../mutants/stores/store-fault.js'
import { brokenRules, rulesOf } from './conformance-self-test-harness.js'

const RULES = { single: rulesOf(false), shared: rulesOf(true) }
const groupsOf = (rules: typeof RULES.single) => new Set(rules.map(({ group }) => group))
const SINGLE_GROUPS = groupsOf(RULES.single)
const SHARED_GROUPS = groupsOf(RULES.shared)

/** Each defect with each group of rules that must notice it. */
const FAULTS = STORE_FAULTS.flatMap((fault) =>
  fault.caughtBy
    .filter((check) => SINGLE_GROUPS.has(check) || SHARED_GROUPS.has(check))
    .map((group) => ({ what: fault.what, group, fault })),
)

/** The rules that each defect breaks, per defect and group. */
const results = new Map<string, Promise<readonly string[]>>()

/** The rules of a group that a defect breaks. A group for stores that several nodes share runs on such a store. */
function resultOf({ what, group, fault }: { what: string; group: string; fault: StoreFault }) {
  const name = `${group}: ${what}`
  const result = results.get(name) ?? brokenRules(!SINGLE_GROUPS.has(group), { ...fault, group })
  results.set(name, result)
  return result
}

describe('the conformance suite', () => {
  it.each([false, true])('passes for a correct store (shared: %s)', async (isShared) => {
    expect(await brokenRules(isShared)).toEqual([])
  })

  it('passes where each node has its own store object', async () => {
    expect(await brokenRules(true, {}, true)).toEqual([])
  })

  it('passes for a correct store that loads in small parts', async () => {
    expect(await brokenRules(false, { breakStore: smallParts })).toEqual([])
  })

  it.each(FAULTS.map((fault) => [`${fault.what} (${fault.group})`, fault] as const))(
    'notices that %s',
    async (_name, fault) => {
      expect(await resultOf(fault)).not.toEqual([])
    },
  )

  it('has no rule that passes for every defect', async () => {
    const broken = new Set<string>()
    for (const fault of FAULTS) for (const rule of await resultOf(fault)) broken.add(rule)
    const rules = new Set([...RULES.single, ...RULES.shared].map(({ name }) => name))
    expect([...rules].filter((rule) => !broken.has(rule))).toEqual([])
  })
})
