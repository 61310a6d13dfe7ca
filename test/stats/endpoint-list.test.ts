import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { type EndpointListDeps, type ImpactPlace, listByImpact } from '../../src/stats/endpoint-list.js'
import { newWebhook } from '../../src/testkit/conformance/sample-data.js'

/** Failing webhooks `w0`, `w1`, …; `here`: what waits for those that this node knows, `elsewhere`: for the others. */
function depsWith(
  count: number,
  here: Readonly<Record<string, number>>,
  elsewhere: Readonly<Record<string, number>> = {},
  exhausted: readonly number[] = [],
) {
  const webhooks = Array.from({ length: count }, (_, index) =>
    newWebhook({
      id: `w${index}`,
      health: { failuresInRow: 1, failingSinceMs: 0, exhausted: exhausted[index] ?? 0 },
    }),
  )
  const asked: string[] = []
  const deps = {
    webhooks: {
      unhealthy: async (limit: number, afterId?: string) => {
        const from = afterId === undefined ? 0 : Number(afterId.slice(1)) + 1
        return webhooks.slice(from, from + limit)
      },
    },
    deliveries: {
      activity: async (ids: readonly string[]) => {
        asked.push(...ids)
        return new Map(ids.map((id) => [id, { pending: elsewhere[id] ?? here[id] ?? 0 }]))
      },
    },
    waitingFor: ({ id }: { readonly id: string }) => (id in elsewhere ? undefined : (here[id] ?? 0)),
    clock: manualClock(),
    storeNow: () => 10_000,
  } as unknown as EndpointListDeps
  return { deps, asked }
}

describe('the webhooks that hurt most', () => {
  it('are sorted by what this node knows, and by the store for those of other nodes', async () => {
    const { deps, asked } = depsWith(4, { w0: 3, w3: 70 }, { w1: 9 })
    const { endpoints, isTruncated } = await listByImpact(deps, { limit: 200 })
    expect(endpoints.map(({ id, pending, impact }) => [id, pending, impact])).toEqual([
      ['w3', 70, 710],
      ['w1', 9, 100],
      ['w0', 3, 40],
      ['w2', 0, 10],
    ])
    expect(isTruncated).toBe(false)
    // The backlog of `w1` is read to sort, then that of all that are listed.
    expect(asked).toEqual(['w1', 'w3', 'w1', 'w0', 'w2'])
  })

  it('are also those whose deliveries were given up, and that fail for long', async () => {
    const { deps } = depsWith(3, { w0: 4 }, {}, [0, 9, 4])
    const { endpoints } = await listByImpact(deps, { limit: 9 })
    // Those of one impact stay in the order of their ids.
    expect(endpoints.map(({ id }) => id)).toEqual(['w1', 'w0', 'w2'])
  })

  it('follow page by page, each once', async () => {
    const { deps } = depsWith(7, { w2: 5, w4: 5, w6: 1 })
    const pages: string[][] = []
    let after: ImpactPlace | undefined
    do {
      const { endpoints, next } = await listByImpact(deps, { limit: 3, ...(after && { after }) })
      pages.push(endpoints.map(({ id }) => id))
      after = next
    } while (after)
    expect(pages).toEqual([['w2', 'w4', 'w6'], ['w0', 'w1', 'w3'], ['w5']])
  })

  it('are those of 5,000', async () => {
    const { deps } = depsWith(5_001, { w5000: 9, w4999: 8 })
    const { endpoints, next } = await listByImpact(deps, { limit: 1 })
    expect(endpoints.map(({ id }) => id)).toEqual(['w4999'])
    const last = { ...next!, impact: 10, id: 'w998' }
    expect(await listByImpact(deps, { limit: 1, after: last })).toMatchObject({ isTruncated: true })
  })
})
