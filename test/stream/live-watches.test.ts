import type { LiveWatch } from 'hookswitch/store'
import { describe, expect, it } from 'vitest'
import { combineWatches, LiveFilter, MAX_WATCHES } from '../../src/stream/live-watches.js'

const watch = (accountId: string, changes: Partial<LiveWatch> = {}): LiveWatch => ({
  accountId,
  descendants: false,
  kinds: ['event'],
  ...changes,
})
const lineage = (...ids: string[]) => ids.map((id) => ({ id }))

describe('what an instance watches', () => {
  it('is one watch per account, the same for the same readers in any order', () => {
    const watches = [
      watch('b', { kinds: ['webhook'] }),
      watch('a'),
      watch('b', { descendants: true }),
      watch('a'),
    ]
    const combined = [watch('a'), watch('b', { descendants: true, kinds: ['event', 'webhook'] })]
    expect(combineWatches(watches)).toEqual(combined)
    expect(combineWatches(watches.toReversed())).toEqual(combined)
    expect(combineWatches([])).toEqual([])
  })

  it('is every account where it would name more than a thousand', () => {
    const many = Array.from({ length: MAX_WATCHES }, (_, n) => watch(`a${n}`))
    expect(combineWatches(many)).toHaveLength(MAX_WATCHES)
    const more = combineWatches([...many, watch('webhooks', { kinds: ['webhook'] })])
    expect(more).toEqual([watch('', { descendants: true, kinds: ['event', 'webhook'] })])
    const filter = new LiveFilter(more)
    expect([filter.wants('event', 'any'), filter.wants('webhook', 'any')]).toEqual([true, true])
  })
})

describe('the filter of items', () => {
  it('wants items of watched accounts, by kind, and needs the lineage only where that may matter', () => {
    const filter = new LiveFilter([
      watch('a'),
      watch('tree', { descendants: true, kinds: ['webhook'] }),
      watch('a', { kinds: ['webhook'] }),
    ])
    expect(filter.isEmpty).toBe(false)
    expect(filter.wants('event', 'a')).toBe(true)
    expect(filter.wants('webhook', 'a')).toBe(true)
    expect(filter.wants('event', 'below')).toBe(false)
    expect(filter.wants('webhook', 'below')).toBe('lineage')
    expect(filter.wants('webhook', 'tree')).toBe(true)
    expect(filter.wantsBelow('webhook', lineage('below', 'tree'))).toBe(true)
    expect(filter.wantsBelow('webhook', lineage('below', 'a'))).toBe(false)
    expect(filter.wantsBelow('event', lineage('below', 'tree'))).toBe(false)
  })

  it('wants nothing while nobody watches', () => {
    const filter = new LiveFilter([])
    expect([filter.isEmpty, filter.wants('event', 'a')]).toEqual([true, false])
  })
})
