import { join } from 'node:path'
import { sqliteExportSource } from 'hookswitch/sqlite'
import type { ExportedDelivery, NewDelivery, Webhook } from 'hookswitch/store'
import { expect, it, onTestFinished } from 'vitest'
import { newDelivery, newEvent, newWebhook } from '../../../src/testkit/conformance/sample-data.js'
import { commitGroup, type EngineStore, openEngine, placed, settlementOf } from './sqlite-engine-store.js'
import { temporaryFolder } from './sqlite-harness.js'

const NOW = 1_735_689_600_000

/** A delivery that failed, and a replay of it. */
function failAndReplay(store: EngineStore): { webhook: Webhook; original: NewDelivery; replay: NewDelivery } {
  const webhook = newWebhook()
  const event = newEvent()
  const original = newDelivery(webhook, event)
  return store.inTransaction((engine) => {
    engine.webhooks.insert(webhook)
    commitGroup(engine, { accepted: [placed([event], [original])] }, NOW)
    commitGroup(engine, { ended: [settlementOf(original, 0, 'exhausted')] }, NOW)
    const replay = newDelivery(webhook, event, {
      replayOf: original.id,
      originalPosition: original.position!,
    })
    commitGroup(engine, { accepted: [placed([], [replay])] }, NOW + 1)
    return { webhook, original, replay }
  })
}

it('an export names the position of the original, of a replay that waits and of one that has ended', async () => {
  const path = join(temporaryFolder(), 'x.db')
  const store = openEngine(NOW, path)
  const [first, second] = [failAndReplay(store), failAndReplay(store)]
  store.inTransaction((engine) =>
    commitGroup(engine, { ended: [settlementOf(first.replay, 0, 'delivered')] }, NOW),
  )
  await store.close()
  const source = sqliteExportSource({ path })
  onTestFinished(source.close)
  const exported = new Map<string, ExportedDelivery>()
  for await (const { kind, rows } of source.rows()) {
    if (kind === 'deliveries') for (const row of rows) exported.set(row.delivery.id, row)
  }
  for (const { original, replay } of [first, second]) {
    expect(exported.get(original.id)?.delivery).not.toHaveProperty('originalPosition')
    expect(exported.get(replay.id)?.delivery).toMatchObject({
      replayOf: original.id,
      originalPosition: original.position,
    })
  }
})
