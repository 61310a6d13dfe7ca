import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { createLeaseKeeper, LEASE_MS } from '../../src/delivery/lease.js'
import { createNodeClock } from '../../src/delivery/node-clock.js'
import type { NodeLease, QueueStore } from '../../src/delivery/queue-store.js'
import { silentLog } from './harness.js'

/** A lease on a store that grants what the test sets; its clock is `aheadMs` ahead. */
function createLeaseHarness(isShared = true, aheadMs = 0) {
  const clock = manualClock()
  const state = {
    shards: [1, 2, 3],
    fails: false,
    delayMs: 0,
    releases: 0,
    calls: [] as number[],
    grants: 1,
  }
  const granted: NodeLease[] = []
  async function grant(owner: string, leaseMs: number): Promise<NodeLease> {
    state.calls.push(clock.monotonic())
    if (state.fails) throw new Error('unavailable')
    const storeMs = clock.now() + aheadMs
    const shards = [...state.shards]
    if (state.delayMs > 0) await clock.sleep(state.delayMs)
    return {
      owner,
      fence: 1,
      node: 3,
      position: 0,
      shards,
      leaving: [],
      pendingElsewhere: 0,
      storeMs,
      aliveUntilMs: isShared ? storeMs + state.grants * leaseMs : Number.POSITIVE_INFINITY,
    }
  }
  const store = {
    own: grant,
    renew: grant,
    async release() {
      state.releases++
      if (state.fails) throw new Error('unavailable')
    },
  } as unknown as QueueStore
  const deps = { store, clock: createNodeClock(clock, silentLog), log: silentLog, owner: 'node' }
  const lease = createLeaseKeeper(deps, isShared, (grant) => granted.push(grant))
  return { clock, lease, state, granted }
}

describe('the lease of a node', () => {
  it('allows attempts from its start, and is renewed every ten seconds', async () => {
    const { clock, lease, state } = createLeaseHarness()
    expect(lease.canStart()).toBe(false)
    await lease.start()
    expect(lease.canStart()).toBe(true)
    await clock.advance(35_000)
    expect(state.calls).toEqual([0, 10_000, 20_000, 30_000])
    expect(lease.canStart()).toBe(true)
    await lease.stop(true)
    expect(state.releases).toBe(1)
    expect(clock.sleepers().count).toBe(0)
  })

  it('is renewed in thirds of the granted time, and allows no attempt in the last third', async () => {
    const { clock, lease, state } = createLeaseHarness()
    state.grants = 8
    await lease.start()
    await clock.advance(4 * LEASE_MS)
    expect(state.calls).toEqual([0, 80_000])
    state.fails = true
    await clock.advance(80_000 + 160_000 - 4 * LEASE_MS - 1)
    expect(lease.canStart()).toBe(true)
    await clock.advance(1)
    expect(lease.canStart()).toBe(false)
    await lease.stop(true)
  })

  it('allows no attempt after 20 seconds without renewal, until it is renewed', async () => {
    const { clock, lease, state, granted } = createLeaseHarness()
    await lease.start()
    state.fails = true
    await clock.advance(LEASE_MS - 10_001)
    expect(lease.canStart()).toBe(true)
    await clock.advance(1)
    expect(lease.canStart()).toBe(false)
    expect(granted).toHaveLength(1)
    state.fails = false
    await clock.advance(10_000)
    expect(lease.canStart()).toBe(true)
    expect(granted).toHaveLength(2)
    await lease.stop(true)
  })

  it('is renewed at once on request: a group was refused', async () => {
    const { clock, lease, state } = createLeaseHarness()
    await lease.start()
    await clock.advance(2500)
    lease.renew()
    await clock.settle()
    expect(state.calls).toEqual([0, 2500])
    await clock.advance(10_000)
    expect(state.calls).toEqual([0, 2500, 12_500])
    await lease.stop(true)
  })

  it('passes on each grant as the store gave it', async () => {
    const { clock, lease, state, granted } = createLeaseHarness()
    await lease.start()
    state.shards = [1, 9]
    await clock.advance(10_000)
    expect(granted.map(({ shards }) => shards)).toEqual([
      [1, 2, 3],
      [1, 9],
    ])
    await lease.stop(true)
  })

  it('is requested every second while it has no shard', async () => {
    const { clock, lease, state, granted } = createLeaseHarness()
    state.shards = []
    await lease.start()
    await clock.advance(3500)
    expect(state.calls).toEqual([0, 1000, 2000, 3000])
    state.shards = [7]
    await clock.advance(500)
    expect(granted.at(-1)?.shards).toEqual([7])
    await clock.advance(9999)
    expect(state.calls).toHaveLength(5)
    await lease.stop(true)
  })

  it('is not prolonged by a late answer', async () => {
    const { clock, lease, state } = createLeaseHarness()
    state.delayMs = 15_000
    const started = lease.start()
    await clock.advance(15_000)
    await started
    expect(lease.canStart()).toBe(true)
    state.fails = true
    await clock.advance(4999)
    expect(lease.canStart()).toBe(true)
    await clock.advance(1)
    expect(lease.canStart()).toBe(false)
    await lease.stop(true)
  })

  it('is renewed again at once when the answer arrives after its end', async () => {
    const { clock, lease, state } = createLeaseHarness()
    await lease.start()
    state.delayMs = 60_000
    await clock.advance(10_000 + 60_000)
    expect(state.calls).toEqual([0, 10_000, 70_000])
    expect(lease.canStart()).toBe(false)
    state.delayMs = 0
    await clock.advance(60_000)
    expect(state.calls).toEqual([0, 10_000, 70_000, 130_000])
    expect(lease.canStart()).toBe(true)
    await lease.stop(true)
  })

  it('is not requested without a pause when the granted time is too short', async () => {
    const { clock, lease, state } = createLeaseHarness()
    state.grants = 0
    await lease.start()
    await clock.advance(3500)
    expect(state.calls).toEqual([0, 1000, 2000, 3000])
    expect(lease.canStart()).toBe(false)
    await lease.stop(true)
  })

  it('uses monotonic time: a wall clock that jumps neither ends nor prolongs it', async () => {
    const { clock, lease } = createLeaseHarness(false)
    await lease.start()
    const before = lease.now()
    clock.jumpWall(-600_000)
    expect(lease.canStart()).toBe(true)
    expect(lease.now()).toBe(before)
    await lease.stop(true)
  })

  it('uses store time, whatever its difference from the local clock', async () => {
    const { clock, lease } = createLeaseHarness(true, 600_000)
    await lease.start()
    expect(lease.now()).toBe(clock.now() + 600_000)
    expect(lease.canStart()).toBe(true)
    await lease.stop(true)
  })

  it('does not set store time back when a renewal is answered late', async () => {
    const { clock, lease, state } = createLeaseHarness(true, 5_000)
    await lease.start()
    state.delayMs = 8_000
    await clock.advance(10_000)
    await clock.advance(8_000)
    expect(state.calls).toEqual([0, 10_000])
    expect(lease.now()).toBe(clock.now() + 5_000)
    await lease.stop(true)
  })

  it('lasts forever without renewal where the store is not shared', async () => {
    const { clock, lease, state } = createLeaseHarness(false)
    await lease.start()
    await clock.advance(86_400_000)
    expect(lease.canStart()).toBe(true)
    expect(state.calls).toHaveLength(1)
    await lease.stop(true)
  })

  it('is not released when something may be in flight: it ends by itself', async () => {
    const { clock, lease, state } = createLeaseHarness()
    await lease.start()
    await lease.stop(false)
    expect(state.releases).toBe(0)
    expect(clock.sleepers().count).toBe(0)
  })

  it('can be stopped while the store is unavailable', async () => {
    const { lease, state } = createLeaseHarness()
    await lease.start()
    state.fails = true
    await expect(lease.stop(true)).resolves.toBeUndefined()
  })
})
