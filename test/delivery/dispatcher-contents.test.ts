import { describe, expect, it } from 'vitest'
import { aWebhook } from './fixtures.js'
import { createHarness, responseWith } from './harness.js'

describe('deliveries whose contents are not in memory', () => {
  it('are read in time: all are sent, in the order of their lanes, with few of them in memory', async () => {
    const webhooks = [aWebhook(), aWebhook({ ordering: 'none' }, { id: 'w2' })]
    const harness = await createHarness(webhooks)
    for (let call = 0; call < 200; call++) await harness.publish(`call-${call % 7}`)
    let mostKeys = 0
    const store = {
      ...harness.faults.store,
      async bodies(keys: Parameters<typeof harness.faults.store.bodies>[0]) {
        mostKeys = Math.max(mostKeys, keys.length)
        await harness.clock.sleep(1)
        return harness.faults.store.bodies(keys)
      },
    }
    const node = harness.node({ caps: { total: 4, perEndpoint: 2 } }, { store })
    await node.start()
    await harness.clock.advance(2000)
    expect(await harness.pending()).toBe(0)
    expect(mostKeys).toBeLessThanOrEqual(16)
    const { requests } = harness.sender
    expect(requests).toHaveLength(400)
    const last = new Map<string, number>()
    for (const { group, body } of requests) {
      const { call_id: call, sequence } = JSON.parse(body!)
      if (group !== 'w1') continue
      expect(sequence).toBe((last.get(call) ?? 0) + 1)
      last.set(call, sequence)
    }
    await node.close(0)
  })

  it('are read again when that fails, without a busy loop meanwhile', async () => {
    const harness = await createHarness([aWebhook({ ordering: 'none' })])
    for (let call = 0; call < 100; call++) await harness.publish(`call-${call}`)
    let calls = 0
    const store = {
      ...harness.faults.store,
      bodies(keys: Parameters<typeof harness.faults.store.bodies>[0]) {
        calls++
        return harness.faults.store.bodies(keys)
      },
    }
    harness.faults.failing.add('bodies')
    const node = harness.node({ caps: { total: 2 } }, { store })
    await node.start()
    await harness.clock.advance(10_000)
    expect(harness.sender.requests).toHaveLength(0)
    expect(calls).toBeLessThanOrEqual(101)
    harness.faults.failing.clear()
    await harness.clock.advance(1000)
    expect(harness.sender.requests).toHaveLength(100)
    await node.close(0)
  })

  it('set no timer while they are read', async () => {
    const harness = await createHarness([aWebhook({ ordering: 'none' })])
    for (let call = 0; call < 100; call++) await harness.publish(`call-${call}`)
    const store = { ...harness.faults.store, bodies: () => new Promise<never>(() => {}) }
    const node = harness.node({ caps: { total: 2 } }, { store })
    await node.start()
    await harness.clock.settle()
    expect(harness.clock.sleepers().count).toBe(0)
    await node.close(0)
  })

  it('of a disabled webhook are cancelled, however many they are, and delay no other webhook', async () => {
    const stale = Array.from({ length: 12 }, (_, n) => aWebhook({ ordering: 'none' }, { id: `stale-${n}` }))
    const harness = await createHarness([...stale, aWebhook({}, { id: 'w2', accountId: 'sub' })])
    for (let call = 0; call < 300; call++) await harness.publish(`call-${call}`)
    for (const { id } of stale) {
      const row = (await harness.store.webhooks.read('acc', id))!
      const settings = { ...row.settings, enabled: false }
      await harness.store.webhooks.replace({ ...row, settings, revision: 2, epoch: 2 }, 1)
    }
    await harness.publish('other', { accountId: 'sub' })
    let groups = 0
    let groupsBeforeSent: number | undefined
    const store = {
      ...harness.faults.store,
      commit(group: Parameters<typeof harness.faults.store.commit>[0]) {
        groups++
        return harness.faults.store.commit(group)
      },
    }
    harness.sender.script = () => {
      groupsBeforeSent ??= groups
      return responseWith(200)
    }
    const node = harness.node({}, { store })
    await node.start()
    await harness.clock.advance(1000)
    expect(groupsBeforeSent).toBeLessThanOrEqual(3)
    expect(harness.sent()).toEqual(['other'])
    expect(node.pending()).toBe(0)
    for (const { id } of stale)
      expect(new Set((await harness.deliveries(id)).map(({ state }) => state))).toEqual(
        new Set(['cancelled']),
      )
    expect(harness.emitted.filter(({ name }) => name === 'cancelled')).toHaveLength(12 * 300)
    await node.close(0)
  })
})
