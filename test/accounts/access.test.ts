import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isAccountEnabled, isSelfOrAncestor } from '../../src/accounts/access.js'
import type { Account } from '../../src/accounts/account.js'
import { propertyRuns } from '../support/property-runs.js'

function account(id: string, parentId?: string, enabled = true): Account {
  return {
    id,
    name: id,
    realm: `${id}.test`,
    ...(parentId === undefined ? {} : { parentId }),
    enabled,
    language: 'en-us',
    isReseller: false,
    createdMs: 0,
    modifiedMs: 0,
  }
}

/** Each account has one of the earlier accounts as parent, or is a root. */
const trees = fc
  .array(fc.nat(), { minLength: 1, maxLength: 12 })
  .map((picks) => picks.map((pick, index) => ({ index, parent: (pick % (index + 1)) - 1 })))

describe('isSelfOrAncestor', () => {
  it('holds for an account itself and every account below it, in any tree, and for no other', () => {
    fc.assert(
      fc.property(trees, (nodes) => {
        const accounts = nodes.map(({ index, parent }) =>
          account(`a${index}`, parent < 0 ? undefined : `a${parent}`),
        )
        const lineage = (index: number): Account[] => {
          const parent = nodes[index]!.parent
          return [accounts[index]!, ...(parent < 0 ? [] : lineage(parent))]
        }
        // Walks down from the caller, in the opposite direction to the code.
        const below = (index: number): Set<number> => {
          const all = new Set([index])
          for (const node of nodes) if (all.has(node.parent)) all.add(node.index)
          return all
        }
        for (const caller of nodes) {
          const reach = below(caller.index)
          for (const target of nodes) {
            expect(isSelfOrAncestor(`a${caller.index}`, lineage(target.index))).toBe(reach.has(target.index))
          }
        }
      }),
      { numRuns: propertyRuns(200) },
    )
  })

  it('does not hold for an account that does not exist', () => {
    expect(isSelfOrAncestor('a1', [])).toBe(false)
  })
})

describe('isAccountEnabled', () => {
  it('holds iff the account exists and is itself enabled, regardless of its ancestors', () => {
    expect(isAccountEnabled([account('a', 'p'), account('p', undefined, false)])).toBe(true)
    expect(isAccountEnabled([account('a', 'p', false), account('p')])).toBe(false)
    expect(isAccountEnabled([])).toBe(false)
  })
})
