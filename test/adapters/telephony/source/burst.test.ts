import { createHookswitch, type Hookswitch, HookswitchError, memoryStore } from 'hookswitch'
import { scriptedReceiver, status, until } from 'hookswitch/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { burstOf, startPipeline } from './burst.js'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

describe('a burst of events', () => {
  it('that the service cannot take at first is published completely and in order', async () => {
    const receiver = scriptedReceiver({ script: [status(204)] })
    await receiver.start()
    cleanups.push(() => receiver.close())
    const hs = createHookswitch({ store: memoryStore(), allowLocal: true })
    await hs.start()
    cleanups.push(() => hs.close())
    await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
    await hs.webhooks.create('acme', { name: 'All', uri: receiver.url('/'), hook: 'all' })
    let calls = 0
    let refusals = 0
    const publish: Hookswitch['publish'] = (async (event: never) => {
      // The store takes events more slowly than they come.
      calls += 1
      if (calls % 3 !== 0) return hs.publish(event)
      refusals += 1
      throw new HookswitchError('QueueFull', 'the store cannot take more now', { retryAfterSeconds: 1 })
    }) as never
    const { push, counts, close, rejected } = startPipeline({ ...hs, publish })
    push({ updates: burstOf(40), problems: [] })
    const requests = await receiver.next(160)
    await until(() => counts().published === 160)
    await close(1_000)
    expect(refusals).toBeGreaterThan(0)
    expect(rejected).toEqual([])
    const byLeg = new Map<string, string[]>()
    for (const { body } of requests) {
      const { call_id, hook_event } = JSON.parse(body)
      byLeg.set(call_id, [...(byLeg.get(call_id) ?? []), hook_event])
    }
    const lifecycle = ['channel_create', 'channel_answer', 'channel_hold', 'channel_destroy']
    expect([...byLeg.values()]).toEqual(Array.from({ length: 40 }, () => lifecycle))
  })
})
