import assert from 'node:assert/strict'
import type { AttemptRecord, StoredAttempt } from '../../delivery/attempt-record.js'
import type { AttemptQuery } from '../../delivery/delivery-queries.js'
import type { NewEvent } from '../../delivery/delivery-store.js'
import type { Webhook } from '../../webhooks/webhook.js'
import { newRecord, WALL_MS } from './fixtures.js'
import { ids, type Promised, type Workbench } from './workbench.js'

/** One event sent once, with this record of it; the record's id. */
async function record(
  bench: Workbench,
  webhook: Webhook,
  changes: Partial<AttemptRecord> = {},
  event: Partial<NewEvent> = {},
): Promise<string> {
  await bench.accept(webhook, event)
  const { delivery } = await bench.claimOne(webhook)
  const written = newRecord(delivery, changes)
  await bench.settle(delivery, 'exhausted', { record: written })
  return written.id
}

async function records(bench: Workbench, webhook: Webhook, count: number): Promise<string[]> {
  const written: string[] = []
  for (let index = 0; index < count; index += 1) written.push(await record(bench, webhook))
  return written
}

async function list(bench: Workbench, query: Partial<AttemptQuery> = {}): Promise<string[]> {
  return ids(await bench.store.deliveries.attempts({ accountId: 'account', limit: 100, ...query }))
}

export function attemptPromises(promised: Promised): void {
  promised('a record is read back whole, with a position and the body that was sent', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook)
    const { delivery, body } = await bench.claimOne(webhook)
    const written = newRecord(delivery, {
      clientError: 'timeout',
      responseBody: '\u{1F4DE}',
      durationMs: 0.5,
    })
    await bench.settle(delivery, 'exhausted', { record: written })
    const [read] = await bench.store.deliveries.attempts({ accountId: 'account', limit: 5 })
    assert.ok(Number.isSafeInteger(read?.position))
    assert.deepEqual(read, { ...written, position: read?.position, requestBody: body })
  })

  promised(
    'a body is shown for post, put and patch, not for get and delete, nor for an end without a request',
    async (bench) => {
      for (const httpVerb of ['post', 'put', 'patch', 'get', 'delete'] as const) {
        const webhook = await bench.webhook({ settings: { httpVerb } })
        await record(bench, webhook)
        const [read] = await bench.store.deliveries.attempts({
          accountId: 'account',
          webhookId: webhook.id,
          limit: 1,
        })
        assert.equal(read?.requestBody !== undefined, httpVerb.startsWith('p'), httpVerb)
      }
      const webhook = await bench.webhook()
      await bench.accept(webhook)
      const { delivery } = await bench.claimOne(webhook)
      const { attempt: _none, ...end } = newRecord(delivery, { reason: 'expired' })
      await bench.settle(delivery, 'expired', { record: end })
      const [read] = await bench.store.deliveries.attempts({
        accountId: 'account',
        webhookId: webhook.id,
        limit: 1,
      })
      assert.deepEqual(read, { ...end, position: read?.position })
    },
  )

  promised('a long body is cut at 8 KiB of UTF-8, between characters', async (bench) => {
    const webhook = await bench.webhook()
    for (const [head, kept] of [
      ['x'.repeat(8_192), 8_192],
      ['x'.repeat(8_193), 8_192],
      ['\u{1F4DE}'.repeat(2_049), 4_096],
      [`x${'\u20AC'.repeat(3_000)}`, 1 + 2_730],
    ] as const) {
      const id = await record(bench, webhook, {}, { bodies: [{ head }] })
      const [read] = await bench.store.deliveries.attempts({
        accountId: 'account',
        webhookId: webhook.id,
        limit: 1,
      })
      assert.equal(read?.id, id)
      assert.equal(read?.requestBody, head.slice(0, kept))
    }
  })

  promised('attempts come newest first, or oldest first when asked', async (bench) => {
    const written = await records(bench, await bench.webhook(), 4)
    assert.deepEqual(await list(bench), [...written].reverse())
    assert.deepEqual(await list(bench, { ascending: true }), written)
    assert.deepEqual(await list(bench, { limit: 2 }), [written[3], written[2]])
  })

  promised(
    'the list of an account is that of all its webhooks, in one order, deleted ones too',
    async (bench) => {
      const [one, two, gone] = [await bench.webhook(), await bench.webhook(), await bench.webhook()]
      const written: string[] = []
      for (const webhook of [one, gone, two, one, two, gone, one]) written.push(await record(bench, webhook))
      await bench.store.webhooks.replace({ ...gone, deletedMs: WALL_MS, revision: 2, epoch: 2 }, 1)
      assert.deepEqual(await list(bench, { ascending: true }), written)
      assert.deepEqual(await list(bench, { limit: 3 }), written.slice(4).reverse())
      assert.deepEqual(await list(bench, { webhookId: gone.id }), [written[5], written[1]])
    },
  )

  for (const ascending of [false, true]) {
    promised(
      `pages ${ascending ? 'upwards' : 'downwards'} neither skip nor repeat while records are added`,
      async (bench) => {
        const webhooks = [await bench.webhook(), await bench.webhook()]
        const before = [
          ...(await records(bench, webhooks[0]!, 3)),
          ...(await records(bench, webhooks[1]!, 4)),
        ]
        const seen: StoredAttempt[] = []
        for (;;) {
          const cursor = seen.at(-1)?.position
          const page = await bench.store.deliveries.attempts({
            accountId: 'account',
            ascending,
            limit: 2,
            ...(cursor === undefined ? {} : { cursor }),
          })
          seen.push(...page)
          if (page.length < 2) break
          if (seen.length < 8) await record(bench, webhooks[seen.length % 2]!)
        }
        const positions = seen.map((row) => (ascending ? row.position : -row.position))
        assert.deepEqual(
          positions,
          [...new Set(positions)].sort((a, b) => a - b),
        )
        assert.deepEqual(
          ids(seen).filter((id) => before.includes(id)),
          ascending ? before : [...before].reverse(),
        )
      },
    )
  }

  promised(
    'attempts are filtered by webhook, delivery, calls and time, in every combination',
    async (bench) => {
      const [one, two] = [await bench.webhook(), await bench.webhook()]
      const a = await record(bench, one, { atMs: 1_000 }, { callId: 'a' })
      const b = await record(bench, one, { atMs: 2_000 }, { callId: 'b' })
      const c = await record(bench, two, { atMs: 3_000 }, { callId: 'c' })
      const d = await record(bench, two, { atMs: 4_000 }, { callId: 'a' })
      const all = await bench.store.deliveries.attempts({ accountId: 'account', limit: 9 })
      const deliveryId = all.find((row) => row.id === c)!.deliveryId
      assert.deepEqual(await list(bench, { webhookId: one.id }), [b, a])
      assert.deepEqual(await list(bench, { deliveryId }), [c])
      assert.deepEqual(await list(bench, { deliveryId, webhookId: one.id }), [])
      assert.deepEqual(await list(bench, { callIds: ['a'] }), [d, a])
      assert.deepEqual(await list(bench, { callIds: ['a', 'b', 'a', 'unknown'] }), [d, b, a])
      assert.deepEqual(await list(bench, { callIds: ['a'], webhookId: two.id }), [d])
      assert.deepEqual(await list(bench, { callIds: [] }), [])
      assert.deepEqual(await list(bench, { fromMs: 2_000, toMs: 3_000 }), [c, b])
      assert.deepEqual(await list(bench, { fromMs: 2_001 }), [d, c])
      assert.deepEqual(await list(bench, { toMs: 999 }), [])
      assert.deepEqual(await list(bench, { callIds: ['a', 'c'], toMs: 3_500, ascending: true, limit: 1 }), [
        a,
      ])
      assert.deepEqual(await list(bench, { webhookId: 'unknown' }), [])
      assert.deepEqual(await list(bench, { deliveryId: 'unknown' }), [])
    },
  )

  promised('all attempts of one delivery are found by it', async (bench) => {
    const webhook = await bench.webhook()
    const [id] = await bench.accept(webhook)
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const { delivery } = await bench.claimOne(webhook)
      await bench.settle(delivery, 'waiting', { next: { dueMs: bench.now() } })
    }
    const rows = await bench.store.deliveries.attempts({ accountId: 'account', deliveryId: id!, limit: 9 })
    assert.deepEqual(
      rows.map((row) => row.attempt),
      [3, 2, 1],
    )
  })

  promised('one account sees no attempt of another, whatever it asks for', async (bench) => {
    const webhook = await bench.webhook({ accountId: 'parent' })
    await record(bench, webhook, {}, { accountId: 'child', callId: 'call' })
    const [row] = await bench.store.deliveries.attempts({ accountId: 'parent', limit: 9 })
    assert.ok(row)
    for (const accountId of ['child', 'stranger']) {
      for (const filter of [
        {},
        { webhookId: webhook.id },
        { deliveryId: row.deliveryId },
        { callIds: ['call'] },
        { webhookId: webhook.id, callIds: ['call'], deliveryId: row.deliveryId },
      ]) {
        assert.deepEqual(await list(bench, { accountId, ...filter }), [])
      }
    }
  })
}
