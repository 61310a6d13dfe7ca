import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import type { DeliveryStore, Settlement } from '../../src/delivery/delivery-store.js'
import { POLICY_PRESETS } from '../../src/delivery/policy.js'
import { cancelStale, recoverOrphans, startRecovery } from '../../src/delivery/recovery.js'
import { HEALTH_PRESETS } from '../../src/webhooks/health.js'
import type { Webhook } from '../../src/webhooks/webhook.js'
import { aDelivery, aWebhook } from './fixtures.js'
import { silentLog } from './harness.js'

const ids = (count: number) => Array.from({ length: count }, (_, index) => `d${index}`)

/** A store with these orphans and stale deliveries, until they are settled. */
function createRecoveryHarness(
  orphans: readonly string[],
  stale: readonly string[],
  webhook: Webhook | undefined = aWebhook(),
) {
  const clock = manualClock()
  const left = { orphans: new Set(orphans), stale: new Set(stale) }
  const written: Settlement[] = []
  const batches: number[] = []
  const cancelled: string[] = []
  const state = { settles: true, ready: 0, failing: 0 }
  const store = {
    async orphans(_: string, limit: number) {
      if (state.failing-- > 0) throw new Error('unavailable')
      return [...left.orphans].slice(0, limit).map((id) => aDelivery({ id }))
    },
    stale: async (_: string, limit: number) =>
      [...left.stale].slice(0, limit).map((id) => aDelivery({ id, state: 'waiting' })),
    webhookOf: async () => webhook,
    async ready() {
      state.ready++
      return [{ webhookId: 'w1', accountId: 'acc', dueMs: 5 }]
    },
  } as unknown as DeliveryStore
  const stop = new AbortController()
  const deps = {
    store,
    owner: 'node',
    clock,
    log: silentLog,
    stopping: stop.signal,
    settleContext: (of: Webhook) => ({
      owner: 'node',
      recordId: 'r',
      webhook: of,
      rules: { policy: POLICY_PRESETS.telephony, functions: {}, retries: 2 },
      healthRules: HEALTH_PRESETS.standard,
      isOutage: false,
      now: 1,
      wallMs: 2,
      random: 0,
    }),
    async writeSettlements(writes: readonly { readonly settlement: Settlement }[]) {
      batches.push(writes.length)
      for (const { settlement } of writes) {
        written.push(settlement)
        if (!state.settles) continue
        left.orphans.delete(settlement.deliveryId)
        left.stale.delete(settlement.deliveryId)
      }
    },
    cancelUnsent(webhookId: string) {
      cancelled.push(webhookId)
    },
  }
  return { clock, deps, left, written, batches, cancelled, state, stop }
}

describe('the recovery of deliveries', () => {
  it('returns orphans to waiting in batches, with interrupted attempts', async () => {
    const { deps, written, batches } = createRecoveryHarness(ids(250), [])
    expect(await recoverOrphans(deps)).toBe(250)
    expect(batches).toEqual([100, 100, 50])
    expect(new Set(written.map(({ next }) => next.state))).toEqual(new Set(['waiting']))
    expect(new Set(written.map(({ record }) => record?.reason))).toEqual(new Set(['interrupted']))
  })

  it('cancels deliveries that wait for a webhook with a newer epoch', async () => {
    const { deps, written, cancelled } = createRecoveryHarness([], ids(3))
    expect(await cancelStale(deps)).toBe(3)
    expect(cancelled).toEqual(['w1'])
    expect(written.map(({ next, expect: was }) => [next.state, was.state])).toEqual(
      new Array(3).fill(['cancelled', 'waiting']),
    )
  })

  it('tries a delivery that cannot be settled once per scan', async () => {
    const { deps, batches, state } = createRecoveryHarness(ids(30), [])
    state.settles = false
    expect(await recoverOrphans(deps)).toBe(30)
    expect(batches).toEqual([30])
  })

  it('leaves deliveries of an unknown webhook unchanged', async () => {
    const { deps, written } = createRecoveryHarness(ids(2), [])
    const store = { ...deps.store, webhookOf: async () => undefined }
    expect(await recoverOrphans({ ...deps, store })).toBe(2)
    expect(written).toEqual([])
  })

  it('stops between batches when the node stops', async () => {
    const { deps, batches, stop } = createRecoveryHarness(ids(500), [])
    const writeSettlements = async (writes: Parameters<typeof deps.writeSettlements>[0]) => {
      stop.abort()
      return deps.writeSettlements(writes)
    }
    expect(await recoverOrphans({ ...deps, writeSettlements })).toBe(100)
    expect(batches).toEqual([100])
  })
})

describe('a scan', () => {
  it('settles orphans and stale deliveries, then reports the ready endpoints', async () => {
    const { deps, left } = createRecoveryHarness(ids(2), ids(1))
    const found: unknown[] = []
    await startRecovery(deps, (endpoints) => {
      expect(left.orphans.size + left.stale.size).toBe(0)
      found.push(...endpoints)
    }).scan()
    expect(found).toEqual([{ webhookId: 'w1', accountId: 'acc', dueMs: 5 }])
  })

  it('runs once more for any number of requests during a scan', async () => {
    const { deps, state } = createRecoveryHarness([], [])
    const recovery = startRecovery(deps, () => {})
    await Promise.all([recovery.scan(), recovery.scan(), recovery.scan()])
    expect(state.ready).toBe(2)
  })

  it('is never lost, at whatever moment it is requested', async () => {
    for (let moment = 0; moment < 40; moment++) {
      const { deps, state } = createRecoveryHarness([], [])
      const recovery = startRecovery(deps, () => {})
      void recovery.scan()
      for (let turn = 0; turn < moment; turn++) await null
      const before = state.ready
      await recovery.scan()
      expect(state.ready).toBeGreaterThan(before)
    }
  })

  it('is retried until the store is available or the node stops', async () => {
    const { clock, deps, state, stop } = createRecoveryHarness([], [])
    state.failing = 3
    const recovery = startRecovery(deps, () => {})
    const scanned = recovery.scan()
    await clock.advance(749)
    expect(state.ready).toBe(0)
    await clock.advance(1)
    await scanned
    expect(state.ready).toBe(1)
    state.failing = Number.POSITIVE_INFINITY
    const second = recovery.scan()
    await clock.settle()
    stop.abort()
    await second
    await recovery.idle()
    expect(clock.sleepers().count).toBe(0)
  })
})
