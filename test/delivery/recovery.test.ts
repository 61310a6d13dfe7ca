import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { createAlarm } from '../../src/delivery/alarm.js'
import type { DeliveryStore, Settlement } from '../../src/delivery/delivery-store.js'
import { POLICY_PRESETS } from '../../src/delivery/policy.js'
import { endStale, keepLooking, recoverOrphans } from '../../src/delivery/recovery.js'
import { HEALTH_PRESETS } from '../../src/webhooks/health.js'
import type { Webhook } from '../../src/webhooks/webhook.js'
import { aDelivery, aWebhook } from './fixtures.js'
import { silent } from './world.js'

const ids = (count: number) => Array.from({ length: count }, (_, index) => `d${index}`)

/** A store that holds these orphans and stale deliveries until they are settled. */
function recoveryWorld(
  orphans: readonly string[],
  stale: readonly string[],
  webhook: Webhook | undefined = aWebhook(),
) {
  const clock = manualClock()
  const left = { orphans: new Set(orphans), stale: new Set(stale) }
  const written: Settlement[] = []
  const batches: number[] = []
  const withdrawn: string[] = []
  const state = { settles: true, ready: 0, failing: 0 }
  const store = {
    async orphans(_: string, limit: number) {
      if (state.failing-- > 0) throw new Error('out')
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
  const doors = {
    store,
    owner: 'node',
    clock,
    log: silent,
    stopping: stop.signal,
    contextOf: (of: Webhook) => ({
      owner: 'node',
      recordId: 'r',
      webhook: of,
      rules: { policy: POLICY_PRESETS.telephony, functions: {}, retries: 2 },
      healthRules: HEALTH_PRESETS.standard,
      outage: false,
      now: 1,
      wallMs: 2,
      roll: 0,
    }),
    async persist(pairs: readonly { readonly settlement: Settlement }[]) {
      batches.push(pairs.length)
      for (const { settlement } of pairs) {
        written.push(settlement)
        if (!state.settles) continue
        left.orphans.delete(settlement.deliveryId)
        left.stale.delete(settlement.deliveryId)
      }
    },
    withdraw(webhookId: string) {
      withdrawn.push(webhookId)
    },
  }
  return { clock, doors, left, written, batches, withdrawn, state, stop }
}

describe('what a former node left', () => {
  it('in flight waits again, recorded as interrupted, in batches', async () => {
    const { doors, written, batches } = recoveryWorld(ids(250), [])
    expect(await recoverOrphans(doors)).toBe(250)
    expect(batches).toEqual([100, 100, 50])
    expect(new Set(written.map(({ next }) => next.state))).toEqual(new Set(['waiting']))
    expect(new Set(written.map(({ record }) => record?.reason))).toEqual(new Set(['interrupted']))
  })

  it('waiting for a webhook of another epoch is ended', async () => {
    const { doors, written, withdrawn } = recoveryWorld([], ids(3))
    expect(await endStale(doors)).toBe(3)
    expect(withdrawn).toEqual(['w1'])
    expect(written.map(({ next, expect: was }) => [next.state, was.state])).toEqual(
      new Array(3).fill(['cancelled', 'waiting']),
    )
  })

  it('and cannot be settled, is tried once a look and no more', async () => {
    const { doors, batches, state } = recoveryWorld(ids(30), [])
    state.settles = false
    expect(await recoverOrphans(doors)).toBe(30)
    expect(batches).toEqual([30])
  })

  it('of a webhook that nobody knows is left alone', async () => {
    const { doors, written } = recoveryWorld(ids(2), [])
    const store = { ...doors.store, webhookOf: async () => undefined }
    expect(await recoverOrphans({ ...doors, store })).toBe(2)
    expect(written).toEqual([])
  })

  it('is left to the next node by one that stops', async () => {
    const { doors, batches, stop } = recoveryWorld(ids(500), [])
    const persist = async (pairs: Parameters<typeof doors.persist>[0]) => {
      stop.abort()
      return doors.persist(pairs)
    }
    expect(await recoverOrphans({ ...doors, persist })).toBe(100)
    expect(batches).toEqual([100])
  })
})

describe('looking for work', () => {
  it('ends what was left, then tells what is not idle', async () => {
    const { doors, left } = recoveryWorld(ids(2), ids(1))
    const found: unknown[] = []
    await keepLooking(doors, (endpoints) => {
      expect(left.orphans.size + left.stale.size).toBe(0)
      found.push(...endpoints)
    }).look()
    expect(found).toEqual([{ webhookId: 'w1', accountId: 'acc', dueMs: 5 }])
  })

  it('once more for any number of wishes that come meanwhile, not for each', async () => {
    const { doors, state } = recoveryWorld([], [])
    const looking = keepLooking(doors, () => {})
    await Promise.all([looking.look(), looking.look(), looking.look()])
    expect(state.ready).toBe(2)
  })

  it('is never forgotten, at whatever moment it is wished', async () => {
    for (let moment = 0; moment < 40; moment++) {
      const { doors, state } = recoveryWorld([], [])
      const looking = keepLooking(doors, () => {})
      void looking.look()
      for (let turn = 0; turn < moment; turn++) await null
      const before = state.ready
      await looking.look()
      expect(state.ready).toBeGreaterThan(before)
    }
  })

  it('goes on until the store is there, or the node stops', async () => {
    const { clock, doors, state, stop } = recoveryWorld([], [])
    state.failing = 3
    const looking = keepLooking(doors, () => {})
    const looked = looking.look()
    await clock.advance(749)
    expect(state.ready).toBe(0)
    await clock.advance(1)
    await looked
    expect(state.ready).toBe(1)
    state.failing = Number.POSITIVE_INFINITY
    const second = looking.look()
    await clock.settle()
    stop.abort()
    await second
    await looking.rest()
    expect(clock.sleepers().count).toBe(0)
  })
})

describe('an alarm', () => {
  it('rings once, at the moment that was set last', async () => {
    const clock = manualClock({ nowMs: 0 })
    const rung: number[] = []
    const alarm = createAlarm(clock, clock.now, () => void rung.push(clock.now()))
    alarm.set(100)
    alarm.set(50)
    alarm.set(50)
    await clock.advance(200)
    expect(rung).toEqual([50])
    alarm.set(300)
    alarm.set(undefined)
    expect(clock.sleepers().count).toBe(0)
    await clock.advance(200)
    expect(rung).toEqual([50])
    alarm.set(10)
    await clock.settle()
    expect(rung).toEqual([50, 400])
  })

  it('can be set again while it rings', async () => {
    const clock = manualClock({ nowMs: 0 })
    let rung = 0
    const alarm = createAlarm(clock, clock.now, () => {
      rung++
      if (rung < 3) alarm.set(rung * 100 + 100)
    })
    alarm.set(100)
    await clock.advance(1000)
    expect(rung).toBe(3)
  })
})
