import { describe, expect, it } from 'vitest'
import { errorCode } from '../../src/errors.js'
import { memoryStore } from '../../src/store/memory.js'
import { manualClock } from '../../src/testkit/clock.js'
import { newEvent } from '../../src/testkit/conformance/sample-data.js'
import { log, openStore, settlement } from './memory/fixture.js'

const DAY_MS = 86_400_000

describe('memoryStore', () => {
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
    const [one, two] = [await webhook(), await webhook()]
    const made: string[] = []
    for (const target of [one, two, one, one, two, two]) made.push(await owner.deliver(target))
    expect(await attemptsOf(one)).toEqual([made[2], made[3]])
    expect(await attemptsOf(two)).toEqual([made[4], made[5]])
    expect(await store.deliveries.delivery('account', made[1]!)).toBeUndefined()
  })

  it('retains a delivery while one of its records is stored, and a waiting one without any', async () => {
    const { store, webhook, node, attemptsOf } = await openStore({ attemptsPerWebhook: 2 })
    const owner = await node()
    const target = await webhook()
    const [retried, waiting] = [await owner.accept(target), await owner.accept(target)]
    const again = { state: 'waiting', attempts: 1, tries: 1, interruptions: 0, dueMs: 1 } as const
    await owner.end(settlement(waiting, { next: again }), settlement(retried, { next: again }))
    await owner.end(settlement(retried, { attempts: 1 }))
    expect(await attemptsOf(target)).toEqual([retried.id, retried.id])
    await owner.deliver(target)
    expect((await store.deliveries.delivery('account', retried.id))?.state).toBe('delivered')
    await owner.deliver(target)
    expect(await store.deliveries.delivery('account', retried.id)).toBeUndefined()
    expect((await store.deliveries.delivery('account', waiting.id))?.attempts).toBe(1)
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
    const own = (one: typeof store) => one.deliveries.own('node', 1).catch(errorCode)
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
