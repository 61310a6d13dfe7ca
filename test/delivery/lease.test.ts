import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import type { DeliveryStore, Ownership } from '../../src/delivery/delivery-store.js'
import { createLease, LEASE_MS } from '../../src/delivery/lease.js'
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
    gains: 0,
    grants: 1,
  }
  async function grant(_: string, leaseMs: number): Promise<Ownership> {
    state.calls.push(clock.monotonic())
    if (state.fails) throw new Error('unavailable')
    const storeMs = clock.now() + aheadMs
    const shards = [...state.shards]
    if (state.delayMs > 0) await clock.sleep(state.delayMs)
    return {
      shards,
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
  } as unknown as DeliveryStore
  const lease = createLease({ store, clock, log: silentLog, owner: 'node' }, isShared, () => {
    state.gains++
  })
  return { clock, lease, state }
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
    await lease.stop()
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
    await lease.stop()
  })

  it('allows no attempt after 20 seconds without renewal, and calls onGain when it does again', async () => {
    const { clock, lease, state } = createLeaseHarness()
    await lease.start()
    state.fails = true
    await clock.advance(LEASE_MS - 10_001)
    expect(lease.canStart()).toBe(true)
    await clock.advance(1)
    expect(lease.canStart()).toBe(false)
    expect(state.gains).toBe(0)
    state.fails = false
    await clock.advance(10_000)
    expect(lease.canStart()).toBe(true)
    expect(state.gains).toBe(1)
    await lease.stop()
  })

  it('calls onGain when a slow answer arrives after the previous lease has ended', async () => {
    const { clock, lease, state } = createLeaseHarness()
    await lease.start()
    state.delayMs = 15_000
    await clock.advance(20_000)
    expect(lease.canStart()).toBe(false)
    await clock.advance(5_000)
    expect(lease.canStart()).toBe(true)
    expect(state.gains).toBe(1)
    await lease.stop()
  })

  it('calls onGain when it ended while the machine was suspended, although the monotonic clock stood still', async () => {
    const { clock, lease, state } = createLeaseHarness()
    await lease.start()
    await clock.advance(10_000)
    expect(state.gains).toBe(0)
    clock.jumpWall(3_600_000)
    await clock.advance(10_000)
    expect(lease.canStart()).toBe(true)
    expect(state.gains).toBe(1)
    await clock.advance(10_000)
    expect(state.gains).toBe(1)
    await lease.stop()
  })

  it('calls onGain for gained shards, not for owned or lost ones', async () => {
    const { clock, lease, state } = createLeaseHarness()
    await lease.start()
    state.shards = [1, 2]
    await clock.advance(10_000)
    expect(state.gains).toBe(0)
    state.shards = [1, 2, 9]
    await clock.advance(10_000)
    expect(state.gains).toBe(1)
    await lease.stop()
  })

  it('is requested every second while it has no shard', async () => {
    const { clock, lease, state } = createLeaseHarness()
    state.shards = []
    await lease.start()
    await clock.advance(3500)
    expect(state.calls).toEqual([0, 1000, 2000, 3000])
    state.shards = [7]
    await clock.advance(500)
    expect(state.gains).toBe(1)
    await clock.advance(9999)
    expect(state.calls).toHaveLength(5)
    await lease.stop()
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
    await lease.stop()
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
    expect(state.gains).toBe(1)
    await lease.stop()
  })

  it('is not requested without a pause when the granted time is too short', async () => {
    const { clock, lease, state } = createLeaseHarness()
    state.grants = 0
    await lease.start()
    await clock.advance(3500)
    expect(state.calls).toEqual([0, 1000, 2000, 3000])
    expect(lease.canStart()).toBe(false)
    await lease.stop()
  })

  it('uses monotonic time: a wall clock that jumps neither ends nor prolongs it', async () => {
    const { clock, lease } = createLeaseHarness(false)
    await lease.start()
    const before = lease.now()
    clock.jumpWall(-600_000)
    expect(lease.canStart()).toBe(true)
    expect(lease.now()).toBe(before)
    await lease.stop()
  })

  it('uses store time, whatever its difference from the local clock', async () => {
    const { clock, lease } = createLeaseHarness(true, 600_000)
    await lease.start()
    expect(lease.now()).toBe(clock.now() + 600_000)
    expect(lease.canStart()).toBe(true)
    await lease.stop()
  })

  it('lasts forever without renewal where the store is not shared', async () => {
    const { clock, lease, state } = createLeaseHarness(false)
    await lease.start()
    await clock.advance(86_400_000)
    expect(lease.canStart()).toBe(true)
    expect(state.calls).toHaveLength(1)
    await lease.stop()
  })

  it('can be stopped while the store is unavailable', async () => {
    const { lease, state } = createLeaseHarness()
    await lease.start()
    state.fails = true
    await expect(lease.stop()).resolves.toBeUndefined()
  })
})
