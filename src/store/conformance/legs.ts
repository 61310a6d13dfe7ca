import assert from 'node:assert/strict'
import { newEvent } from './fixtures.js'
import type { Promised, Workbench } from './workbench.js'

async function legs(bench: Workbench, accountId: string, callId: string): Promise<string[]> {
  return [...(await bench.store.deliveries.legs(accountId, callId))].sort()
}

export function legPromises(promised: Promised): void {
  promised('a call is known by its first event, the call itself first in the list', async (bench) => {
    assert.deepEqual(await legs(bench, 'account', 'a'), [])
    await bench.acceptEvents(newEvent({ callId: 'a' }), newEvent({ callId: 'a', otherLegCallId: 'b' }))
    assert.equal((await bench.store.deliveries.legs('account', 'a'))[0], 'a')
    assert.equal((await bench.store.deliveries.legs('account', 'b'))[0], 'b')
  })

  promised('the other legs of a call are found from either side, each once', async (bench) => {
    await bench.acceptEvents(newEvent({ callId: 'a' }))
    assert.deepEqual(await legs(bench, 'account', 'a'), ['a'])
    await bench.acceptEvents(
      newEvent({ callId: 'a', otherLegCallId: 'b' }),
      newEvent({ callId: 'b', otherLegCallId: 'a' }),
      newEvent({ callId: 'a', otherLegCallId: 'b' }),
    )
    assert.deepEqual(await legs(bench, 'account', 'a'), ['a', 'b'])
    assert.deepEqual(await legs(bench, 'account', 'b'), ['a', 'b'])
  })

  promised(
    'a call that was transferred has several other legs, and they are no legs of each other',
    async (bench) => {
      await bench.acceptEvents(
        newEvent({ callId: 'a', otherLegCallId: 'b' }),
        newEvent({ callId: 'a', otherLegCallId: 'c' }),
      )
      assert.deepEqual(await legs(bench, 'account', 'a'), ['a', 'b', 'c'])
      assert.deepEqual(await legs(bench, 'account', 'c'), ['a', 'c'])
    },
  )

  promised('an account knows the calls of its events and of its deliveries, no others', async (bench) => {
    const webhook = await bench.webhook({ accountId: 'parent' })
    await bench.accept(webhook, { accountId: 'child', callId: 'a', otherLegCallId: 'b' })
    await bench.acceptEvents(newEvent({ accountId: 'child', callId: 'quiet' }))
    assert.deepEqual(await legs(bench, 'child', 'a'), ['a', 'b'])
    assert.deepEqual(await legs(bench, 'parent', 'a'), ['a', 'b'])
    assert.deepEqual(await legs(bench, 'parent', 'quiet'), [])
    assert.deepEqual(await legs(bench, 'stranger', 'a'), [])
  })

  promised('an event of no call is of no leg', async (bench) => {
    const { callId: _none, ...event } = newEvent({ numbered: false })
    const [accepted] = await bench.acceptEvents(event)
    assert.deepEqual(accepted, { id: event.id, sequence: 0, duplicate: false })
  })
}
