import { describe, expect, it } from 'vitest'
import { openStore, settlement } from './fixture.js'

/** What the memory store has beyond the rules of the conformance suite. */
describe('the queue of the memory store', () => {
  it('never gives two nodes one number, however many came before', async () => {
    const { store, node } = await openStore({ shared: true })
    const first = await node('first')
    const numbers = new Set<number>()
    for (let index = 0; index < 130; index += 1) {
      numbers.add((await node(`other ${index}`)).lease.node)
      await store.deliveries.release(`other ${index}`)
    }
    expect(numbers.size).toBe(127)
    expect(numbers).not.toContain(first.lease.node)
  })

  it('prunes nothing for erased ends without a record', async () => {
    const { store, webhook, node, now } = await openStore()
    const [owner, target] = [await node(), await webhook()]
    const { record: _none, ...withoutRecord } = settlement(await owner.accept(target, { callId: 'gone' }))
    await owner.end(withoutRecord)
    await store.deliveries.erase({ accountId: 'account', callIds: ['gone'] }, 9)
    const limits = { attemptsPerWebhook: 9, beforeMs: now() + 1, limit: 9 }
    expect(await store.deliveries.prune(limits, now())).toBe(0)
  })

  it('requires a reload after too many changes to list', async () => {
    const { store, webhook, node } = await openStore()
    const [owner, target] = [await node(), await webhook()]
    for (let revision = 1; revision <= 10_001; revision += 1)
      await store.webhooks.replace({ ...target, revision: revision + 1 }, revision)
    expect(await store.deliveries.changes(owner.lease, owner.version)).toMatchObject({ mustReload: true })
    expect(await store.deliveries.changes(owner.lease, 10_001)).toMatchObject({ mustReload: false })
    expect(await store.deliveries.changes(owner.lease, 10_002)).toMatchObject({ mustReload: true })
  })

  it('refuses a replay of an event whose last delivery was removed', async () => {
    const { webhook, node } = await openStore({ attemptsPerWebhook: 1 })
    const [owner, target] = [await node(), await webhook()]
    const acceptance = owner.acceptance([target])
    const [original, event] = [acceptance.deliveries[0]!, acceptance.events[0]!]
    await owner.write({ accepted: [acceptance], ended: [settlement(original)] })
    await owner.deliver(target)
    expect((await owner.write({ accepted: [owner.replay(target, original, event)] })).accepted).toMatchObject(
      [{ kind: 'refused', error: { code: 'NotFound', id: event.id } }],
    )
  })

  it('lists deliveries by position, whatever the order in which they were stored', async () => {
    const { store, webhook, node } = await openStore()
    const [owner, target] = [await node(), await webhook()]
    const made = Array.from({ length: 40 }, () => owner.acceptance([target]))
    const shuffled = [
      ...made.filter((_, index) => index % 3 > 0),
      ...made.filter((_, index) => index % 3 === 0),
    ]
    await owner.write({ accepted: shuffled })
    const query = { accountId: 'account', webhookId: target.id, ascending: true, limit: 99 }
    const rows = await store.deliveries.deliveries(query)
    expect(rows.map(({ position }) => position)).toEqual(made.map(({ events }) => events[0]!.position))
    const page = await store.deliveries.search({ limit: 5, cursor: rows[20]!.position })
    expect(page.deliveries.map(({ id }) => id)).toEqual(
      rows
        .slice(15, 20)
        .reverse()
        .map(({ id }) => id),
    )
  })
})
