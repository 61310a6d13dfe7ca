import { describe, expect, it } from 'vitest'
import { errorCode } from '../../src/errors.js'
import { eventOf } from '../../src/store/memory/queries.js'
import type { State } from '../../src/store/memory/state.js'
import { memoryStore } from '../../src/store/memory.js'
import { manualClock } from '../../src/testkit/clock.js'
import { newEvent } from '../../src/testkit/conformance/sample-data.js'
import { log, openStore, settlement } from './memory/fixture.js'

const DAY_MS = 86_400_000
const WAITS = { state: 'waiting', attempts: 1, tries: 1, interruptions: 0, dueMs: 1 } as const
const EXHAUSTED = { state: 'exhausted', attempts: 1, tries: 1, interruptions: 0 } as const
const CANCELLED = { state: 'cancelled', attempts: 0, tries: 0, interruptions: 0 } as const
const DELIVERED = { state: 'delivered', attempts: 1, tries: 1, interruptions: 0 } as const

describe('memoryStore', () => {
  it('examines no delivery to find an event', () => {
    const rows = {
      values() {
        throw new Error('all deliveries are examined')
      },
    }
    const found = { accountId: 'account', hook: 'channel_create' }
    const events = new Map([['known', { ...found, rows: 1, position: 1 }]])
    const state = { rows, events, endpointsByAccount: new Map() } as unknown as State
    expect(eventOf(state, undefined, 'known')).toEqual(found)
    expect(eventOf(state, 'account', 'known')).toBeUndefined()
    expect(eventOf(state, undefined, 'unknown')).toBeUndefined()
  })

  it('retains the newest attempts and their deliveries of each webhook up to a limit', async () => {
    const { store, webhook, node, attemptsOf } = await openStore({ attemptsPerWebhook: 3 })
    const owner = await node()
    const [busy, quiet] = [await webhook(), await webhook()]
    const first = await owner.deliver(quiet)
    const made: string[] = []
    for (let index = 0; index < 8; index += 1) made.push(await owner.deliver(busy))
    expect(await attemptsOf(busy)).toEqual(made.slice(5))
    expect(await attemptsOf(quiet)).toEqual([first])
    const query = { accountId: 'account', webhookId: busy.id, ascending: true, limit: 9 }
    expect((await store.deliveries.deliveries(query)).map((row) => row.id)).toEqual(made.slice(5))
    expect(await store.deliveries.delivery('account', made[0]!)).toBeUndefined()
  })

  it('retains the newest attempts and their deliveries over all webhooks up to a limit', async () => {
    const { store, webhook, node, attemptsOf } = await openStore({ attemptsInAll: 4 })
    const owner = await node()
    const [first, second] = [await webhook(), await webhook()]
    const made: string[] = []
    for (const target of [first, second, first, first, second, second]) made.push(await owner.deliver(target))
    expect(await attemptsOf(first)).toEqual([made[2], made[3]])
    expect(await attemptsOf(second)).toEqual([made[4], made[5]])
    expect(await store.deliveries.delivery('account', made[1]!)).toBeUndefined()
  })

  it('removes what was delivered with all its attempts, lowest position first', async () => {
    const { store, webhook, node, attemptsOf } = await openStore({ attemptsPerWebhook: 3 })
    const owner = await node()
    const target = await webhook()
    const retried = await owner.accept(target)
    const first = await owner.deliver(target)
    await owner.end(settlement(retried, { next: WAITS }))
    await owner.end(settlement(retried, { attempts: 1 }))
    expect(await attemptsOf(target)).toEqual([first, retried.id, retried.id])
    const second = await owner.deliver(target)
    expect(await attemptsOf(target)).toEqual([first, second])
    expect(await store.deliveries.delivery('account', retried.id)).toBeUndefined()
  })

  it('retains what was not delivered, and replays, whatever the limit of a webhook', async () => {
    const { store, webhook, node, attemptsOf } = await openStore({ attemptsPerWebhook: 1 })
    const owner = await node()
    const target = await webhook()
    const acceptance = owner.acceptance([target])
    const [original, event] = [acceptance.deliveries[0]!, acceptance.events[0]!]
    await owner.write({ accepted: [acceptance], ended: [settlement(original, { next: EXHAUSTED })] })
    const [waiting, slim] = [await owner.accept(target), await owner.accept(target)]
    const { record: _none, ...withoutRecord } = settlement(slim, { next: CANCELLED })
    await owner.end(settlement(waiting, { next: WAITS }), withoutRecord)
    const replays = [1, 2].map(() => owner.replay(target, original, event))
    const replayed = replays.map(({ deliveries }) => deliveries[0]!)
    await owner.write({ accepted: replays, ended: replayed.map((replay) => settlement(replay)) })
    const delivered = [await owner.deliver(target), await owner.deliver(target)]
    const kept = [original.id, waiting.id, ...replayed.map(({ id }) => id), delivered[1]]
    expect(await attemptsOf(target)).toEqual(kept)
    expect((await store.deliveries.delivery('account', slim.id))?.state).toBe('cancelled')
    expect((await store.deliveries.delivery('account', original.id))?.replays?.hasRecovered).toBe(true)
  })

  it('above the limit over all, removes what was delivered before the rest, and never a waiting delivery', async () => {
    const { store, webhook, node, attemptsOf } = await openStore({ attemptsInAll: 4 })
    const owner = await node()
    const [dead, fine] = [await webhook(), await webhook()]
    const [first, second, third] = [
      await owner.accept(dead),
      await owner.accept(dead),
      await owner.accept(dead),
    ]
    await owner.end(settlement(first, { next: WAITS }), settlement(second, { next: EXHAUSTED }))
    await owner.deliver(fine)
    const last = await owner.deliver(fine)
    await owner.end(settlement(third, { next: EXHAUSTED }))
    expect(await attemptsOf(fine)).toEqual([last])
    const more = [await owner.accept(fine), await owner.accept(fine), await owner.accept(fine)]
    for (const delivery of more) await owner.end(settlement(delivery, { next: EXHAUSTED }))
    expect(await attemptsOf(dead)).toEqual([third.id])
    expect(await attemptsOf(fine)).toEqual(more.map(({ id }) => id))
    expect(await store.deliveries.delivery('account', second.id)).toBeUndefined()
    expect(await store.deliveries.delivery('account', first.id)).toMatchObject({
      state: 'waiting',
      attempts: 1,
    })
  })

  it('retains ends without a record over all webhooks up to a limit, and what was delivered goes first', async () => {
    const { store, webhook, node } = await openStore({ attemptsInAll: 3 })
    const owner = await node()
    const [first, second] = [await webhook(), await webhook()]
    const end = async (target: typeof first, next: typeof CANCELLED | typeof DELIVERED) => {
      const delivery = await owner.accept(target)
      const { record: _none, ...withoutRecord } = settlement(delivery, { next })
      await owner.end(withoutRecord)
      return delivery.id
    }
    const lost = [await end(first, CANCELLED), await end(second, CANCELLED)]
    await end(first, DELIVERED)
    const stored = async () => {
      const { deliveries } = await store.deliveries.search({ limit: 9 })
      return deliveries.map(({ id }) => id).reverse()
    }
    const newest = await end(second, DELIVERED)
    expect(await stored()).toEqual([...lost, newest])
    const more = [await end(first, CANCELLED), await end(first, CANCELLED)]
    expect(await stored()).toEqual([lost[1], ...more])
  })

  it('retains ends without a record up to the limits of their own, and not past the retention time', async () => {
    const { store, webhook, node, clock, attemptsOf } = await openStore({ attemptsPerWebhook: 3 })
    const owner = await node()
    const target = await webhook()
    const recorded = await owner.deliver(target)
    const slim: string[] = []
    for (let index = 0; index < 5; index += 1) {
      const delivery = await owner.accept(target)
      const { record: _none, ...withoutRecord } = settlement(delivery)
      await owner.end(withoutRecord)
      slim.push(delivery.id)
    }
    expect(await attemptsOf(target)).toEqual([recorded])
    const query = { accountId: 'account', webhookId: target.id, ascending: true, limit: 9 }
    const ids = async () => (await store.deliveries.deliveries(query)).map((row) => row.id)
    expect(await ids()).toEqual([recorded, ...slim.slice(2)])
    const limits = { attemptsPerWebhook: 9, limit: 9 }
    await store.deliveries.prune({ ...limits, beforeMs: clock.now() }, clock.now())
    expect((await ids()).filter((id) => id !== recorded)).toEqual(slim.slice(2))
    await clock.advance(1)
    await store.deliveries.prune({ ...limits, beforeMs: clock.now() }, clock.now())
    expect(await ids()).toEqual([])
  })

  it('shows the body of every retained attempt', async () => {
    const { store, webhook, node } = await openStore({ attemptsPerWebhook: 3 })
    const owner = await node()
    const target = await webhook()
    for (let index = 0; index < 8; index += 1) await owner.deliver(target)
    const rows = await store.deliveries.attempts({ accountId: 'account', limit: 9 })
    expect(rows.map((row) => row.requestBody?.includes('"sequence":1'))).toEqual([true, true, true])
  })

  it('removes the numbers and legs of a call after a day without an event, not before', async () => {
    const { store, node, now } = await openStore()
    const owner = await node()
    const next = async (at: number) => {
      const event = { ...newEvent({ callId: 'a', otherLegCallId: 'b' }), position: owner.positions.next(at) }
      const accepted = [{ events: [event], deliveries: [] }]
      const [result] = (await owner.write({ accepted, now: at })).accepted
      return result?.kind === 'accepted' && result.events[0]?.sequence
    }
    const limits = { attemptsPerWebhook: 9, beforeMs: 0, limit: 9 }
    expect([await next(now()), await next(now() + DAY_MS / 2)]).toEqual([1, 2])
    expect(await store.deliveries.prune(limits, now() + DAY_MS)).toBe(0)
    expect(await store.deliveries.legs('account', 'b')).toEqual(['b', 'a'])
    expect(await store.deliveries.prune(limits, now() + 1.5 * DAY_MS)).toBe(2)
    expect(await store.deliveries.legs('account', 'b')).toEqual([])
    expect(await next(now() + 2 * DAY_MS)).toBe(1)
  })

  it('removes idle calls behind one that is active', async () => {
    const { store, node, now } = await openStore()
    const owner = await node()
    const accept = (callId: string, at: number) => {
      const event = { ...newEvent({ callId }), position: owner.positions.next(at) }
      return owner.write({ accepted: [{ events: [event], deliveries: [] }], now: at })
    }
    for (const callId of ['active', 'idle', 'also idle']) await accept(callId, now())
    await accept('active', now() + DAY_MS)
    const limits = { attemptsPerWebhook: 9, beforeMs: 0, limit: 9 }
    expect(await store.deliveries.prune(limits, now() + DAY_MS)).toBe(2)
    expect(await store.deliveries.legs('account', 'active')).toEqual(['active'])
    expect(await store.deliveries.legs('account', 'idle')).toEqual([])
  })

  it('is unavailable until it is opened, and again after close until it is reopened', async () => {
    const { store, clock } = await openStore()
    const fresh = memoryStore()
    const own = (opened: typeof store) => opened.deliveries.own('node', 1).catch(errorCode)
    expect(await own(fresh)).toBe('StoreUnavailable')
    await store.close()
    expect(await own(store)).toBe('StoreUnavailable')
    await store.open({ clock, log })
    expect(await own(store)).toMatchObject({ owner: 'node', aliveUntilMs: Number.POSITIVE_INFINITY })
  })

  it('is closed by the last of the nodes that share it, and uses the clock of the first', async () => {
    const store = memoryStore({ shared: true })
    const [first, second] = [manualClock({ nowMs: 1_000 }), manualClock({ nowMs: 601_000 })]
    await store.open({ clock: first, log })
    await store.open({ clock: second, log })
    expect((await store.deliveries.own('node', 1)).storeMs).toBe(1_000)
    await store.close()
    expect((await store.deliveries.own('node', 1)).storeMs).toBe(1_000)
    await store.close()
    expect(await store.deliveries.own('node', 1).catch(errorCode)).toBe('StoreUnavailable')
  })

  it('does not notice when the wall clock is set while it runs', async () => {
    const { store, clock } = await openStore()
    const { storeMs } = await store.deliveries.own('node', 1)
    clock.jumpWall(3_600_000)
    expect((await store.deliveries.own('node', 1)).storeMs).toBe(storeMs)
    await clock.advance(5)
    expect((await store.deliveries.own('node', 1)).storeMs).toBe(storeMs + 5)
  })

  it('rejects an invalid option and names it', () => {
    for (const option of ['attemptsPerWebhook', 'attemptsInAll']) {
      for (const value of [0, -1, 1.5, Number.NaN]) {
        expect(() => memoryStore({ [option]: value })).toThrow(
          expect.objectContaining({ code: 'InvalidOption', field: option }),
        )
      }
    }
  })
})
