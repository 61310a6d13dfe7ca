/**
 * A node gave up its lease by its own clock, and abandoned what it was sending. The store granted the same lease again, but
 * some of its shards were to go to another node. Nothing settled the abandoned attempts there: the hand-over made the store
 * forget their starts, and the next owner sent them again under the same number.
 */
import { describe, expect, it } from 'vitest'
import { LEASE_MS } from '../../src/delivery/lease.js'
import { aWebhook } from '../delivery/fixtures.js'
import { createHarness, headerOf, responseWith } from '../delivery/harness.js'

const WEBHOOKS = Array.from({ length: 30 }, (_, index) =>
  aWebhook({ uri: `https://hook-${index}.example/` }, { id: `hook-${index}` }),
)

describe('a lease that is granted again with shards to give up', () => {
  it('leaves an interrupted attempt of what was in flight there', async () => {
    const harness = await createHarness(WEBHOOKS, true)
    const { clock, sender } = harness
    sender.script = () => undefined
    let isFenced = false
    const { store } = harness.faults
    const leaving = harness.node(
      {},
      {
        store: {
          ...store,
          commit: (group) =>
            isFenced && group.lease ? Promise.resolve({ kind: 'fenced' }) : store.commit(group),
        },
      },
    )
    await leaving.start()
    await harness.publish('a')
    await clock.settle()
    expect(sender.open).toHaveLength(WEBHOOKS.length)
    const two = harness.node()
    await two.start()
    isFenced = true
    await harness.publish('b')
    await clock.settle()
    isFenced = false
    await clock.advance(2000)
    sender.script = () => responseWith(200)
    for (const { answer } of [...sender.open]) answer(responseWith(200))
    await clock.advance(LEASE_MS)
    const attempts = await harness.attempts()
    for (const { id } of WEBHOOKS) {
      const numbers = sender.requests
        .filter(({ url, body }) => String(url).includes(`//${id}.`) && body?.includes('"call_id":"a"'))
        .map((request) => headerOf(request, 'x-hook-attempt'))
      expect(numbers).toEqual(['1', '2'])
      const [first] = attempts.filter(({ webhookId }) => webhookId === id)
      expect(first).toMatchObject({ attempt: 1, reason: 'interrupted' })
    }
    const closing = [leaving.close(0), two.close(0)]
    await clock.advance(5000)
    await Promise.all(closing)
  })
})
