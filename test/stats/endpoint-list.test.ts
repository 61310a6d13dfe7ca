import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { type EndpointListDeps, listWaitingEndpoints } from '../../src/stats/endpoint-list.js'
import { newWebhook } from '../../src/testkit/conformance/sample-data.js'

/** Failing webhooks `w0`, `w1`, …; `here`: what waits for those that this node knows, `elsewhere`: for the others. */
function depsWith(
  count: number,
  here: Readonly<Record<string, number>>,
  elsewhere: Readonly<Record<string, number>> = {},
) {
  const webhooks = Array.from({ length: count }, (_, index) =>
    newWebhook({ id: `w${index}`, health: { failuresInRow: 1, failingSinceMs: 1 } }),
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
    storeNow: () => 2,
  } as unknown as EndpointListDeps
  return { deps, asked }
}

describe('the webhooks for which most deliveries wait', () => {
  it('are sorted by what this node knows, and by the store for those of other nodes', async () => {
    const { deps, asked } = depsWith(4, { w0: 3, w3: 70 }, { w1: 9 })
    const { endpoints, isTruncated } = await listWaitingEndpoints(deps, { limit: 200 })
    expect(endpoints.map(({ id, pending }) => [id, pending])).toEqual([
      ['w3', 70],
      ['w1', 9],
      ['w0', 3],
      ['w2', 0],
    ])
    expect(isTruncated).toBe(false)
    // The backlog of `w1` is read to sort, then that of all that are listed.
    expect(asked).toEqual(['w1', 'w3', 'w1', 'w0', 'w2'])
  })

  it('are as many as requested', async () => {
    const { deps } = depsWith(3, { w2: 1 })
    const { endpoints, isTruncated } = await listWaitingEndpoints(deps, { limit: 1 })
    expect(endpoints.map(({ id }) => id)).toEqual(['w2'])
    expect(isTruncated).toBe(true)
  })

  it('are those of 5,000', async () => {
    const { deps } = depsWith(5_001, { w5000: 9, w4999: 8 })
    const { endpoints, isTruncated } = await listWaitingEndpoints(deps, { limit: 1 })
    expect(endpoints.map(({ id }) => id)).toEqual(['w4999'])
    expect(isTruncated).toBe(true)
  })
})
