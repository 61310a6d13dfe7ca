import { describe, expect, it } from 'vitest'
import { exhaust, type FaultInjector } from '../../src/simulator/index.js'
import type { Acceptance, AcceptanceResult, Group } from '../../src/store/index.js'

/** Two or three events for a few webhooks. */
const SCENARIO = { minutes: 0.1, callsPerDay: 15_000, faults: 'none' } as const

describe('a crash at any store operation', { timeout: 120_000 }, () => {
  it('before or after each store operation of a short run, on one node', async () => {
    const { runs, failed } = await exhaust(6, { ...SCENARIO, nodes: 1 })
    expect(failed?.run.violations).toBeUndefined()
    expect(runs).toBeGreaterThan(60)
  })

  it('before or after each store operation of a short run, on two nodes', async () => {
    const { runs, failed } = await exhaust(3, { ...SCENARIO, nodes: 2 })
    expect(failed?.run.violations).toBeUndefined()
    expect(runs).toBeGreaterThan(60)
  })

  it('is reported when it loses an event', async () => {
    const { failed } = await exhaust(3, { ...SCENARIO, nodes: 1, faultInjector: writesLater() })
    expect(failed?.options.crashes?.size).toBe(1)
    // A lost event also leaves a gap in the sequence of its call.
    expect(['I1', 'I5', 'I17']).toContain(failed?.run.violations[0]?.invariant)
  })
})

/** A node that acknowledges an event and writes it 50 ms later. */
function writesLater(): FaultInjector {
  const numbers = new Map<string, number>()
  function next({ events }: Acceptance): number {
    const { callId = '' } = events[0]!
    const sequence = (numbers.get(callId) ?? 0) + 1
    numbers.set(callId, sequence)
    return sequence
  }
  return {
    nodeStore(store, life) {
      if (life.generation === 1) numbers.clear()
      return {
        ...store,
        deliveries: {
          ...store.deliveries,
          async commit(group) {
            const { accepted } = group
            if (accepted.length > 0) {
              void life.clock.sleep(50).then(() => store.deliveries.commit(acceptedOf(group)))
            }
            const result = await store.deliveries.commit({ ...group, accepted: [] })
            if (result.kind !== 'committed') return result
            return {
              ...result,
              accepted: accepted.map((acceptance) => acknowledged(acceptance, next(acceptance))),
            }
          },
        },
      }
    },
  }
}

/** What a group accepts, as a group of its own. */
const acceptedOf = ({ version, now, accepted, pending }: Group): Group => ({
  lease: undefined,
  version,
  now,
  accepted,
  ended: [],
  finished: [],
  pending,
  isRepeat: false,
})

/** The result of an acceptance that is not written. */
function acknowledged({ events }: Acceptance, sequence: number): AcceptanceResult {
  return {
    kind: 'accepted',
    events: events.map(({ id }) => ({ id, sequence, duplicate: false })),
    mayHaveGap: false,
  }
}
