import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import type { DeliveryStore, Ownership } from '../../src/delivery/delivery-store.js'
import { LEASE_MS, nodeLease } from '../../src/delivery/lease.js'
import { storeTime } from '../../src/delivery/store-time.js'
import { silent } from './world.js'

/** A store that grants what the test says, on a clock of its own; and a lease on it. */
function leaseWorld(shared = true, ahead = 0) {
  const clock = manualClock()
  const state = {
    shards: [1, 2, 3],
    fails: false,
    delayMs: 0,
    releases: 0,
    asked: [] as number[],
    gains: 0,
    grants: 1,
  }
  async function grant(_: string, leaseMs: number): Promise<Ownership> {
    state.asked.push(clock.monotonic())
    if (state.fails) throw new Error('out')
    const storeMs = clock.now() + ahead
    const shards = [...state.shards]
    if (state.delayMs > 0) await clock.sleep(state.delayMs)
    return {
      shards,
      storeMs,
      aliveUntilMs: shared ? storeMs + state.grants * leaseMs : Number.POSITIVE_INFINITY,
    }
  }
  const store = {
    own: grant,
    renew: grant,
    async release() {
      state.releases++
      if (state.fails) throw new Error('out')
    },
  } as unknown as DeliveryStore
  const lease = nodeLease({ store, clock, log: silent, owner: 'node' }, shared, () => {
    state.gains++
  })
  return { clock, lease, state }
}

describe('the lease of a node', () => {
  it('may be used from its start, and is renewed every ten seconds', async () => {
    const { clock, lease, state } = leaseWorld()
    expect(lease.mayStart()).toBe(false)
    await lease.start()
    expect(lease.mayStart()).toBe(true)
    await clock.advance(35_000)
    expect(state.asked).toEqual([0, 10_000, 20_000, 30_000])
    expect(lease.mayStart()).toBe(true)
    await lease.stop()
    expect(state.releases).toBe(1)
    expect(clock.sleepers().count).toBe(0)
  })

  it('is renewed in thirds of what the store granted, and starts nothing in the last one', async () => {
    const { clock, lease, state } = leaseWorld()
    state.grants = 8
    await lease.start()
    await clock.advance(4 * LEASE_MS)
    expect(state.asked).toEqual([0, 80_000])
    state.fails = true
    await clock.advance(80_000 + 160_000 - 4 * LEASE_MS - 1)
    expect(lease.mayStart()).toBe(true)
    await clock.advance(1)
    expect(lease.mayStart()).toBe(false)
    await lease.stop()
  })

  it('starts nothing when it could not be renewed for 20 seconds, and tells when it may again', async () => {
    const { clock, lease, state } = leaseWorld()
    await lease.start()
    state.fails = true
    await clock.advance(LEASE_MS - 10_001)
    expect(lease.mayStart()).toBe(true)
    await clock.advance(1)
    expect(lease.mayStart()).toBe(false)
    expect(state.gains).toBe(0)
    state.fails = false
    await clock.advance(10_000)
    expect(lease.mayStart()).toBe(true)
    expect(state.gains).toBe(1)
    await lease.stop()
  })

  it('tells that it may start again when a slow answer came after the lease before had ended', async () => {
    const { clock, lease, state } = leaseWorld()
    await lease.start()
    state.delayMs = 15_000
    await clock.advance(20_000)
    expect(lease.mayStart()).toBe(false)
    await clock.advance(5_000)
    expect(lease.mayStart()).toBe(true)
    expect(state.gains).toBe(1)
    await lease.stop()
  })

  it('tells that it ended while the machine was suspended, though no time passed here', async () => {
    const { clock, lease, state } = leaseWorld()
    await lease.start()
    await clock.advance(10_000)
    expect(state.gains).toBe(0)
    clock.jumpWall(3_600_000)
    await clock.advance(10_000)
    expect(lease.mayStart()).toBe(true)
    expect(state.gains).toBe(1)
    await clock.advance(10_000)
    expect(state.gains).toBe(1)
    await lease.stop()
  })

  it('tells of shards that were gained, not of those it had or lost', async () => {
    const { clock, lease, state } = leaseWorld()
    await lease.start()
    state.shards = [1, 2]
    await clock.advance(10_000)
    expect(state.gains).toBe(0)
    state.shards = [1, 2, 9]
    await clock.advance(10_000)
    expect(state.gains).toBe(1)
    await lease.stop()
  })

  it('asks every second while it has no shard', async () => {
    const { clock, lease, state } = leaseWorld()
    state.shards = []
    await lease.start()
    await clock.advance(3500)
    expect(state.asked).toEqual([0, 1000, 2000, 3000])
    state.shards = [7]
    await clock.advance(500)
    expect(state.gains).toBe(1)
    await clock.advance(9999)
    expect(state.asked).toHaveLength(5)
    await lease.stop()
  })

  it('is not longer for an answer that came late', async () => {
    const { clock, lease, state } = leaseWorld()
    state.delayMs = 15_000
    const started = lease.start()
    await clock.advance(15_000)
    await started
    expect(lease.mayStart()).toBe(true)
    state.fails = true
    await clock.advance(4999)
    expect(lease.mayStart()).toBe(true)
    await clock.advance(1)
    expect(lease.mayStart()).toBe(false)
    await lease.stop()
  })

  it('whose answer came when it was of no use any more is asked for again at once', async () => {
    const { clock, lease, state } = leaseWorld()
    await lease.start()
    state.delayMs = 60_000
    await clock.advance(10_000 + 60_000)
    expect(state.asked).toEqual([0, 10_000, 70_000])
    expect(lease.mayStart()).toBe(false)
    state.delayMs = 0
    await clock.advance(60_000)
    expect(state.asked).toEqual([0, 10_000, 70_000, 130_000])
    expect(lease.mayStart()).toBe(true)
    expect(state.gains).toBe(1)
    await lease.stop()
  })

  it('that is granted for too short a time is not asked for without a pause', async () => {
    const { clock, lease, state } = leaseWorld()
    state.grants = 0
    await lease.start()
    await clock.advance(3500)
    expect(state.asked).toEqual([0, 1000, 2000, 3000])
    expect(lease.mayStart()).toBe(false)
    await lease.stop()
  })

  it('is judged by monotonic time: a wall clock that jumps neither ends nor prolongs it', async () => {
    const { clock, lease } = leaseWorld(false)
    await lease.start()
    const before = lease.now()
    clock.jumpWall(-600_000)
    expect(lease.mayStart()).toBe(true)
    expect(lease.now()).toBe(before)
    await lease.stop()
  })

  it('is in the time of the store, however far that is from the own clock', async () => {
    const { clock, lease } = leaseWorld(true, 600_000)
    await lease.start()
    expect(lease.now()).toBe(clock.now() + 600_000)
    expect(lease.mayStart()).toBe(true)
    await lease.stop()
  })

  it('is for ever, and never renewed, where one node has the store to itself', async () => {
    const { clock, lease, state } = leaseWorld(false)
    await lease.start()
    await clock.advance(86_400_000)
    expect(lease.mayStart()).toBe(true)
    expect(state.asked).toHaveLength(1)
    await lease.stop()
  })

  it('can be given up while the store is out: it ends by itself', async () => {
    const { lease, state } = leaseWorld()
    await lease.start()
    state.fails = true
    await expect(lease.stop()).resolves.toBeUndefined()
  })
})

describe('store time', () => {
  it('is the clock of the store when it was seen, and goes on with the monotonic one', async () => {
    const clock = manualClock({ nowMs: 1000 })
    const time = storeTime(clock)
    expect(time.now()).toBe(1000)
    time.seen(5000)
    clock.jumpWall(99_999)
    await clock.advance(250)
    expect(time.now()).toBe(5250)
  })

  it('is in whole milliseconds: it is written into stores', () => {
    const clock = { ...manualClock({ nowMs: 7 }), monotonic: () => 0.75 }
    let monotonic = 0.75
    const time = storeTime({ ...clock, monotonic: () => monotonic })
    monotonic = 3.5
    expect(time.now()).toBe(9)
  })
})
