import assert from 'node:assert/strict'
import type { Settlement } from '../../delivery/delivery-store.js'
import { type DefineRule, type Fixture, idsOf } from './fixture.js'
import { keyOf, type Queued } from './node.js'
import { newRecord } from './sample-data.js'

async function settleKinds(fixture: Fixture, ...ended: Settlement[]): Promise<string[]> {
  return (await fixture.node.commit({ ended })).ended.map(({ kind }) => kind)
}

const attemptsOf = (fixture: Fixture, deliveryId: string) => fixture.attempts({ deliveryId })

/** A settlement without an attempt record. */
export function withoutRecord({ record: _none, ...settlement }: Settlement): Settlement {
  return settlement
}

/** The first failure of a delivery as all reads of a row return it. */
async function storedFailures(
  { store }: Fixture,
  { id, webhookId }: Queued,
): Promise<(number | undefined)[]> {
  const { deliveries } = store
  const list = { accountId: 'account', webhookId, limit: 99 }
  const rows = [
    await deliveries.delivery('account', id),
    (await deliveries.deliveries(list)).find((row) => row.id === id),
    (await deliveries.search(list)).deliveries.find((row) => row.id === id),
  ]
  return rows.map((row) => {
    assert.ok(row, 'the delivery is stored')
    return row.failedMs
  })
}

/** The same of a waiting delivery: also what a queue is built from. */
async function waitingFailures(fixture: Fixture, delivery: Queued): Promise<(number | undefined)[]> {
  const row = (await fixture.node.load()).rows.find(({ position }) => position === delivery.position)
  const [content] = await fixture.store.deliveries.bodies([keyOf(delivery)])
  assert.ok(row && content, 'the delivery waits')
  return [row.failedMs || undefined, content.delivery.failedMs, ...(await storedFailures(fixture, delivery))]
}

const ENDS = ['delivered', 'exhausted', 'expired', 'cancelled', 'quarantined'] as const

/** Rules of settlements and their fence. */
export function settleRules(rule: DefineRule): void {
  rule('a settlement writes state, counts, reason, end and attempt record together', async (fixture) => {
    const [, delivery] = await fixture.webhookWith(1)
    await fixture.advance(250)
    const record = newRecord(delivery, { atMs: fixture.now() })
    await fixture.settle(delivery, 'exhausted', { next: { reason: 'timeout', tries: 1 }, record })
    const stored = await fixture.delivery(delivery.id)
    assert.deepEqual(
      [stored?.state, stored?.attempts, stored?.tries, stored?.reason, stored?.endedMs, stored?.dueMs],
      ['exhausted', 1, 1, 'timeout', fixture.now(), undefined],
    )
    assert.deepEqual([stored?.position, stored?.ahead], [delivery.position, 0])
    const attempts = await attemptsOf(fixture, delivery.id)
    assert.deepEqual(idsOf(attempts), [record.id])
  })

  rule('a retry waits until its due time, with its counts', async (fixture) => {
    const [webhook, delivery] = await fixture.webhookWith(1)
    const dueMs = fixture.now() + 2_000
    const next = { dueMs, attempts: 1, tries: 0, interruptions: 2, reason: 'interrupted' }
    await fixture.settle(delivery, 'waiting', { next })
    const stored = await fixture.delivery(delivery.id)
    assert.deepEqual(
      [stored?.state, stored?.dueMs, stored?.attempts, stored?.tries, stored?.interruptions, stored?.reason],
      ['waiting', dueMs, 1, 0, 2, 'interrupted'],
    )
    assert.equal(stored?.endedMs, undefined)
    const [row] = (await fixture.node.load()).rows
    assert.deepEqual([row?.dueMs, row?.attempts, row?.tries, row?.interruptions], [dueMs, 1, 0, 2])
    const waiting = await fixture.waitingOne(webhook)
    assert.deepEqual(
      [waiting.state, waiting.attempts, waiting.tries, waiting.interruptions],
      ['waiting', 1, 0, 2],
    )
  })

  rule('a settlement without a reason removes the previous one', async (fixture) => {
    const [, delivery] = await fixture.webhookWith(1)
    const retried = await fixture.retry(delivery, { reason: 'timeout', dueMs: fixture.now() })
    await fixture.settle(retried, 'delivered')
    assert.equal((await fixture.delivery(delivery.id))?.reason, undefined)
  })

  rule('the first failure of a delivery is that of its last settlement, or none', async (fixture) => {
    const [, accepted, other] = await fixture.webhookWith(2)
    assert.deepEqual(await waitingFailures(fixture, accepted), Array(5).fill(undefined))
    const firstMs = fixture.now()
    let delivery = accepted
    // A store does not know which one is the first: it writes what it gets.
    for (const failedMs of [firstMs, firstMs + 1, firstMs - 60_000, undefined, firstMs]) {
      await fixture.advance(1_000)
      delivery = await fixture.retry(delivery, failedMs === undefined ? {} : { failedMs })
      assert.deepEqual(await waitingFailures(fixture, delivery), Array(5).fill(failedMs))
    }
    const next = { attempts: delivery.attempts, failedMs: firstMs + 7 }
    await fixture.node.commit({ ended: [withoutRecord(fixture.settlement(delivery, 'waiting', { next }))] })
    assert.deepEqual(await waitingFailures(fixture, delivery), Array(5).fill(firstMs + 7))
    assert.deepEqual(await waitingFailures(fixture, other!), Array(5).fill(undefined))
  })

  rule('the first failure of a delivery stays readable after its end', async (fixture) => {
    const webhook = await fixture.webhook()
    const failedMs = fixture.now()
    for (const state of ENDS) {
      for (const isRecorded of [true, false]) {
        for (const last of [{ failedMs: failedMs + 1 }, {}]) {
          const [accepted] = await fixture.accept(webhook)
          const delivery = await fixture.retry(accepted!, { failedMs })
          const end = fixture.settlement(delivery, state, { next: last })
          await fixture.node.commit({ ended: [isRecorded ? end : withoutRecord(end)] })
          assert.deepEqual(await storedFailures(fixture, delivery), Array(3).fill(last.failedMs))
        }
      }
    }
  })

  rule('a delivery can wait again without an attempt record', async (fixture) => {
    const [, delivery] = await fixture.webhookWith(1)
    const next = { attempts: 0, tries: 0, dueMs: fixture.now() + 7 }
    const returned = withoutRecord(fixture.settlement(delivery, 'waiting', { next }))
    assert.deepEqual(await settleKinds(fixture, returned), ['settled'])
    assert.deepEqual(await attemptsOf(fixture, delivery.id), [])
    const [row] = (await fixture.node.load()).rows
    assert.deepEqual([row?.attempts, row?.dueMs], [0, fixture.now() + 7])
  })

  for (const state of ENDS) {
    rule(`a delivery that ends as ${state} waits no more and stays readable`, async (fixture) => {
      const [, delivery, other] = await fixture.webhookWith(2)
      await fixture.settle(delivery, state, { next: { reason: state } })
      const { rows } = await fixture.node.load()
      assert.deepEqual(rows.map(keyOf), [keyOf(other!)])
      assert.deepEqual(await fixture.store.deliveries.bodies([keyOf(delivery)]), [undefined])
      const stored = await fixture.delivery(delivery.id)
      assert.deepEqual([stored?.state, stored?.reason, stored?.endedMs], [state, state, fixture.now()])
      assert.equal((await attemptsOf(fixture, delivery.id)).length, 1)
    })
  }

  rule('a settlement that expects other attempts is fenced and writes nothing', async (fixture) => {
    const [webhook, delivery] = await fixture.webhookWith(1)
    const early = fixture.settlement({ ...delivery, attempts: 1 }, 'delivered')
    assert.deepEqual(await settleKinds(fixture, early), ['fenced'])
    await fixture.retry(delivery)
    const late = fixture.settlement(delivery, 'delivered', {
      endpoint: { epoch: 1, health: { failuresInRow: 9 } },
    })
    assert.deepEqual(await settleKinds(fixture, late), ['fenced'])
    assert.equal(await fixture.state(webhook, delivery.id), 'waiting')
    assert.equal((await attemptsOf(fixture, delivery.id)).length, 1)
    assert.equal((await fixture.store.deliveries.webhookOf(webhook.id))?.health, undefined)
    assert.equal((await fixture.waitingOne(webhook)).attempts, 1)
  })

  rule('a settlement of an unknown delivery, or with another webhook, is fenced', async (fixture) => {
    const [webhook, other] = [await fixture.webhook(), await fixture.webhook()]
    const [delivery] = await fixture.accept(webhook)
    const settlement = fixture.settlement(delivery!, 'delivered')
    const wrong = [
      { ...settlement, deliveryId: 'unknown', position: delivery!.position + 64 },
      { ...settlement, webhookId: other.id },
    ]
    assert.deepEqual(await settleKinds(fixture, ...wrong), ['fenced', 'fenced'])
    assert.equal(await fixture.state(webhook, delivery!.id), 'waiting')
    assert.deepEqual(await attemptsOf(fixture, delivery!.id), [])
  })

  rule('a terminal state never changes', async (fixture) => {
    const webhook = await fixture.webhook()
    for (const state of ENDS) {
      const [delivery] = await fixture.accept(webhook)
      await fixture.settle(delivery!, state)
      const ended = await fixture.delivery(delivery!.id)
      const again = [delivery!, { ...delivery!, attempts: 1 }].flatMap((known) => [
        fixture.settlement(known, 'waiting'),
        fixture.settlement(known, 'delivered'),
      ])
      assert.deepEqual(await settleKinds(fixture, ...again), Array(4).fill('fenced'))
      assert.deepEqual(await fixture.delivery(delivery!.id), ended)
      assert.deepEqual(await fixture.waiting(webhook), [])
      assert.equal((await attemptsOf(fixture, delivery!.id)).length, 1)
    }
  })

  rule('each settlement of a group is fenced separately', async (fixture) => {
    const [webhook, first, second] = await fixture.webhookWith(2)
    const ended = [
      fixture.settlement(first, 'delivered', { expect: { attempts: 7 } }),
      fixture.settlement(second!, 'delivered'),
      fixture.settlement(second!, 'exhausted'),
    ]
    assert.deepEqual(await settleKinds(fixture, ...ended), ['fenced', 'settled', 'fenced'])
    assert.equal(await fixture.state(webhook, first.id), 'waiting')
    assert.equal(await fixture.state(webhook, second!.id), 'delivered')
    assert.deepEqual(await settleKinds(fixture), [])
  })

  rule('a delivery may be settled by the group that accepts it', async (fixture) => {
    const webhook = await fixture.webhook()
    const { acceptance, deliveries } = fixture.prepare(webhook)
    const { accepted, ended } = await fixture.node.commit({
      accepted: [acceptance],
      ended: [fixture.settlement(deliveries[0]!, 'cancelled')],
    })
    assert.equal(accepted[0]?.kind, 'accepted')
    assert.deepEqual(ended, [{ kind: 'settled' }])
    assert.equal(await fixture.state(webhook, deliveries[0]!.id), 'cancelled')
    assert.deepEqual(await fixture.waiting(webhook), [])
  })

  rule('rows that were returned do not change afterwards', async (fixture) => {
    const [, delivery] = await fixture.webhookWith(1)
    const stored = await fixture.delivery(delivery.id)
    const [content] = await fixture.store.deliveries.bodies([keyOf(delivery)])
    const copies = structuredClone([stored, content])
    const retried = await fixture.retry(delivery)
    await fixture.settle(retried, 'delivered')
    assert.deepEqual([stored, content], copies)
  })
}
