import { describe, expect, it } from 'vitest'
import { type Doctor, exhaust } from '../../src/testkit/world/index.js'

/** Two or three events, on their way to a few webhooks. */
const SCENARIO = { minutes: 0.1, callsPerDay: 15_000, faults: 'none' } as const

describe('a crash at any moment', { timeout: 120_000 }, () => {
  it('before or after each store operation of a short run, on one node', async () => {
    const { runs, failed } = await exhaust(6, { ...SCENARIO, nodes: 1 })
    expect(failed?.run.findings).toBeUndefined()
    expect(runs).toBeGreaterThan(60)
  })

  it('before or after each store operation of a short run, on two nodes', async () => {
    const { runs, failed } = await exhaust(3, { ...SCENARIO, nodes: 2 })
    expect(failed?.run.findings).toBeUndefined()
    expect(runs).toBeGreaterThan(60)
  })

  it('is found where it loses something', async () => {
    const { failed } = await exhaust(3, { ...SCENARIO, nodes: 1, doctor: writesLater() })
    expect(failed?.options.crashes?.size).toBe(1)
    // What is lost leaves a gap in its call, too.
    expect(['I1', 'I5']).toContain(failed?.run.findings[0]?.invariant)
  })
})

/** A node that says of an event that it is kept, and writes it a moment later. */
function writesLater(): Doctor {
  const numbers = new Map<string, number>()
  return {
    asks(store, life) {
      if (life.life === 1) numbers.clear()
      return {
        ...store,
        deliveries: {
          ...store.deliveries,
          async accept(acceptance, now) {
            void life.clock.sleep(50).then(() => store.deliveries.accept(acceptance, now))
            return acceptance.events.map(({ id, callId = '' }) => {
              const sequence = (numbers.get(callId) ?? 0) + 1
              numbers.set(callId, sequence)
              return { id, sequence, duplicate: false }
            })
          },
        },
      }
    },
  }
}
