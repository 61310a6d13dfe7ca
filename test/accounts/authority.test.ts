import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Account } from '../../src/accounts/account.js'
import { hasAuthority, isUsable } from '../../src/accounts/authority.js'

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

/** Account n + 1 hangs below one of the accounts before it, or is a root of its own. */
const trees = fc
  .array(fc.nat(), { minLength: 1, maxLength: 12 })
  .map((picks) => picks.map((pick, index) => ({ index, parent: (pick % (index + 1)) - 1 })))

describe('authority', () => {
  it('reaches an account itself and every account below it, in any tree, and no other', () => {
    fc.assert(
      fc.property(trees, (nodes) => {
        const accounts = nodes.map(({ index, parent }) =>
          account(`a${index}`, parent < 0 ? undefined : `a${parent}`),
        )
        const lineage = (index: number): Account[] => {
          const parent = nodes[index]!.parent
          return [accounts[index]!, ...(parent < 0 ? [] : lineage(parent))]
        }
        // By walking down from the caller, the other way round than the code.
        const below = (index: number): Set<number> => {
          const all = new Set([index])
          for (const node of nodes) if (all.has(node.parent)) all.add(node.index)
          return all
        }
        for (const caller of nodes) {
          const reach = below(caller.index)
          for (const target of nodes) {
            expect(hasAuthority(`a${caller.index}`, lineage(target.index))).toBe(reach.has(target.index))
          }
        }
      }),
      { numRuns: 200 },
    )
  })

  it('reaches no account that does not exist', () => {
    expect(hasAuthority('a1', [])).toBe(false)
  })
})

describe('an account', () => {
  it('is usable iff it exists and is itself enabled, whatever its ancestors are', () => {
    expect(isUsable([account('a', 'p'), account('p', undefined, false)])).toBe(true)
    expect(isUsable([account('a', 'p', false), account('p')])).toBe(false)
    expect(isUsable([])).toBe(false)
  })
})
