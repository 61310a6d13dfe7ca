import assert from 'node:assert/strict'
import type { Webhook } from '../../webhooks/webhook.js'
import { type DefineRule, type Fixture, idsOf } from './fixture.js'
import { ended, replay } from './replays.js'
import { withoutRecord } from './settle.js'

/** Ids of what is stored of these webhooks. */
async function storedIds({ store }: Fixture): Promise<Set<string>> {
  return new Set(idsOf((await store.deliveries.search({ limit: 99 })).deliveries))
}

const EVENTS = 200
const BODY_LENGTH = 8_192

/** Text that no compression shortens much. */
function noise(seed: number): string {
  let state = seed
  let text = ''
  while (text.length < BODY_LENGTH) {
    // The generator of Numerical Recipes (3rd edition, 7.1).
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    text += state.toString(36)
  }
  return text
}

/** Accepts events with long bodies and ends their deliveries. */
async function fill(fixture: Fixture, webhook: Webhook): Promise<void> {
  for (let from = 0; from < EVENTS; from += 50) {
    const prepared = Array.from({ length: 50 }, (_, index) =>
      fixture.prepare(webhook, { bodies: [{ head: noise(from + index) }] }),
    )
    const deliveries = prepared.flatMap((acceptance) => acceptance.deliveries)
    await fixture.node.commit({
      accepted: prepared.map(({ acceptance }) => acceptance),
      ended: deliveries.map((delivery) => fixture.settlement(delivery, 'exhausted')),
    })
  }
}

/** Rules of the size of the history. */
export function historyRules(rule: DefineRule): void {
  rule('pruneOldest removes what was delivered, then other ends, oldest first', async (fixture) => {
    const [first, second] = [await fixture.webhook(), await fixture.webhook({ accountId: 'other' })]
    const made: Record<string, string> = {}
    const note = async (name: string, id: string) => {
      made[id] = name
      await fixture.advance(1_000)
    }
    const lost = await ended(fixture, first, 'exhausted')
    await note('exhausted', lost.delivery.id)
    for (const [name, webhook] of [
      ['delivered 1', first],
      ['delivered 2', second],
    ] as const)
      await note(name, (await ended(fixture, webhook, 'delivered')).delivery.id)
    const [waiting, retried] = await fixture.acceptMany(second, 2)
    await note('waiting', waiting!.id)
    await fixture.retry(retried!)
    await note('retried', retried!.id)
    const copy = await replay(fixture, lost)
    await fixture.settle(copy, 'delivered')
    await note('replay', copy.id)
    await note('expired', (await ended(fixture, second, 'expired')).delivery.id)
    const [slim] = await fixture.accept(first)
    await fixture.node.commit({ ended: [withoutRecord(fixture.settlement(slim!, 'delivered'))] })
    await note('delivered 3', slim!.id)

    const removed: (string | undefined)[] = []
    for (;;) {
      const before = await storedIds(fixture)
      const count = await fixture.store.deliveries.pruneOldest(1)
      const after = await storedIds(fixture)
      const gone = [...before].filter((id) => !after.has(id))
      assert.equal(gone.length, count)
      if (count === 0) break
      removed.push(...gone.map((id) => made[id]))
    }
    assert.deepEqual(removed, ['delivered 1', 'delivered 2', 'delivered 3', 'exhausted', 'replay', 'expired'])
    const attempts = async (accountId: string) =>
      (await fixture.store.deliveries.attempts({ accountId, limit: 9 })).map(({ deliveryId }) => deliveryId)
    assert.deepEqual([await attempts('account'), await attempts('other')], [[], [retried!.id]])
    assert.deepEqual(idsOf(await fixture.waiting()), idsOf([waiting!, retried!]))
  })

  rule('pruneOldest removes whole deliveries, up to its limit', async (fixture) => {
    const webhook = await fixture.webhook()
    for (let index = 0; index < 3; index += 1) {
      const [delivery] = await fixture.accept(webhook)
      await fixture.settle(await fixture.retry(await fixture.retry(delivery!)), 'delivered')
    }
    await ended(fixture, webhook, 'exhausted')
    const attempts = async () => (await fixture.attempts()).length
    const counts: number[] = []
    const left: number[] = [await attempts()]
    do {
      counts.push(await fixture.store.deliveries.pruneOldest(2))
      left.push(await attempts())
    } while (counts.at(-1)! > 0)
    assert.deepEqual(
      [counts, left],
      [
        [2, 2, 0],
        [10, 4, 0, 0],
      ],
    )
  })

  rule('historyBytes grows with what is stored, and shrinks when it is removed', async (fixture) => {
    const webhook = await fixture.webhook()
    const { deliveries } = fixture.store
    const empty = await deliveries.historyBytes()
    // It cannot tell.
    if (empty === undefined) return
    const whole = EVENTS * BODY_LENGTH
    await fill(fixture, webhook)
    const full = (await deliveries.historyBytes())!
    const grown = full - empty
    // A store may compress, and estimate.
    assert.ok(grown > whole / 4 && grown < whole * 4, `${grown} for about ${whole} bytes`)
    while ((await deliveries.pruneOldest(EVENTS / 4)) > 0) {}
    const pruned = (await deliveries.historyBytes())!
    assert.ok(pruned - empty < grown / 2, `${pruned - empty} when nothing is left`)
    await fill(fixture, webhook)
    while ((await deliveries.erase({ accountId: 'account' }, EVENTS)) > 0) {}
    const erased = (await deliveries.historyBytes())!
    assert.ok(erased - empty < grown / 2, `${erased - empty} when everything is erased`)
  })
}
