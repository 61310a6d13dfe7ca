import { readFileSync } from 'node:fs'
import { postgresStore } from 'hookswitch/postgres'
import { laneKey } from 'hookswitch/store'
import type { ManualClock } from 'hookswitch/testkit'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { manualClock } from '../../../src/testkit/clock.js'
import { acceptanceOf } from '../../../src/testkit/conformance/node.js'
import { newDelivery, newEvent } from '../../../src/testkit/conformance/sample-data.js'
import { postgresForTests } from './pg-cluster.js'
import { hookedPool, log, openNode, type QueryHooks, type QueueNode } from './postgres-queue-harness.js'
import { createSchemaAt } from './postgres-schema-version.js'

const server = await postgresForTests()
afterAll(() => server?.end())

/** Rows that version 0.1 wrote: waiting, in flight, retrying and ended deliveries, attempts, keys, numbers, replays. */
const ROWS = readFileSync(new URL('postgres-version-6.sql', import.meta.url), 'utf8')

describe.skipIf(!server)('the migration of a schema of version 0.1', () => {
  const direct = server!
  let schema: string
  let clock: ManualClock

  beforeEach(async () => {
    clock = manualClock()
    schema = direct.freshSchema()
    await createSchemaAt(direct, schema, 6, `update store_clock set last_ms = 0; ${ROWS}`)
  })

  /** Opens a node after the time of the rows. */
  async function open(owner = 'node-1'): Promise<QueueNode> {
    clock.advance(3_600_000)
    const node = await openNode(direct, { schema, clock, owner })
    await node.own()
    await node.load()
    return node
  }
  const tables = async () =>
    (await direct.sql('select relname from pg_class where relnamespace = $1::regnamespace and relkind = $2', [
      `"${schema}"`,
      'r',
    ])) as { relname: string }[]

  it('is refused in one sentence, and changes nothing, while a node of the older version runs', async () => {
    const living =
      'extract(epoch from clock_timestamp()) * 1000 + 20000 + (select offset_ms from store_clock)'
    const run = (text: string) => direct.sql(`set search_path to "${schema}"; ${text}`)
    await run('update store_clock set offset_ms = 3600000')
    await run(`insert into node (owner, alive_until_ms) values ('old', ${living})`)
    const before = (await tables()).map(({ relname }) => relname)
    await expect(open()).rejects.toMatchObject({
      code: 'StoreUnavailable',
      message: `nodes of an older version still use the schema ${schema} (1 running), whose tables this version changes: stop all nodes first (one that was killed counts for up to 30 seconds)`,
    })
    expect((await tables()).map(({ relname }) => relname)).toEqual(before)
    // It ended without giving its lease back.
    await run(`update node set alive_until_ms = ${living} - 20001 where owner = 'old'`)
    expect((await open()).loaded.rows.length).toBeGreaterThan(0)
  })

  it('is refused for the schemas before the store had a clock too', async () => {
    const older = direct.freshSchema()
    const living = 'extract(epoch from clock_timestamp()) * 1000 + 20000'
    await createSchemaAt(direct, older, 5, `insert into node values ('a', ${living}), ('b', ${living})`)
    await expect(openNode(direct, { schema: older, clock, owner: 'new' })).rejects.toThrow(
      `nodes of an older version still use the schema ${older} (2 running)`,
    )
  })

  it('keeps what waits, in order, and finds what was in flight as interrupted', async () => {
    const node = await open()
    const { rows, interrupted } = node.loaded
    const claims = await node.store.deliveries.bodies(rows)
    const waiting = claims.map((claim, index) => [
      claim!.delivery.id,
      rows[index]!.attempts,
      rows[index]!.lane === 0 ? 0 : 1,
      claim!.body,
    ])
    expect(waiting).toEqual([
      ['replay-waiting', 1, 1, '{"id":"delivered","sequence":1}'],
      ['delivery-retrying-webhook-a', 1, 1, '{"id":"retrying","sequence":1}'],
      ['delivery-behind-1-webhook-a', 0, 1, '{"id":"behind-1","sequence":2}'],
      ['delivery-behind-2-webhook-a', 0, 1, '{"id":"behind-2","sequence":3}'],
      ['delivery-flying-webhook-a', 0, 1, '{"id":"flying","sequence":1}'],
      ['delivery-test', 0, 1, '{"test":true}'],
      ['delivery-waiting-webhook-b', 0, 0, 'id=waiting&sequence=1'],
    ])
    const ofCall = rows.slice(1, 4)
    expect(new Set(ofCall.map(({ lane }) => lane))).toEqual(new Set([laneKey('account/call-\u{1f600}é')]))
    expect(ofCall.map(({ dueMs }) => dueMs > 0)).toEqual([true, false, false])
    const flying = [4, 6].map((index) => rows[index]!)
    expect(interrupted).toHaveLength(2)
    expect(interrupted).toEqual(
      expect.arrayContaining(
        flying.map(({ webhookId, position }) => ({ webhookId, position, attempt: 1, epoch: 1 })),
      ),
    )
    await node.close()
  })

  it('keeps ended deliveries, attempts, legs and entries of the inbox', async () => {
    const node = await open()
    const { deliveries, inbox } = node.store
    const listed = await deliveries.deliveries({
      accountId: 'account',
      webhookId: 'webhook-a',
      ascending: true,
      limit: 20,
    })
    const ended = listed.filter(({ state }) => state !== 'waiting')
    expect(ended.map(({ id, state, attempts, lane }) => [id, state, attempts, lane])).toEqual([
      ['delivery-delivered-webhook-a', 'delivered', 2, 'account/call-1'],
      ['delivery-exhausted-webhook-a', 'exhausted', 1, 'account/call-1'],
      ['delivery-slim-webhook-a', 'delivered', 1, 'account/call-1'],
      ['replay-ended', 'delivered', 1, 'replay/0'],
    ])
    expect(ended.every(({ endedMs, acceptedMs }) => endedMs! >= acceptedMs)).toBe(true)
    expect(ended[1]).toMatchObject({
      reason: 'bad response code',
      eventId: 'event-exhausted',
      callId: 'call-1',
    })
    for (const one of listed) expect(await deliveries.delivery('account', one.id)).toEqual(one)
    const attempts = await deliveries.attempts({
      accountId: 'account',
      deliveryId: 'delivery-delivered-webhook-a',
      limit: 9,
    })
    expect(
      attempts.map(({ id, attempt, result, requestBody }) => [id, attempt, result, requestBody]),
    ).toEqual([
      ['record-delivery-delivered-webhook-a-2', 2, 'success', '{"id":"delivered","sequence":1}'],
      ['record-delivery-delivered-webhook-a-1', 1, 'failure', '{"id":"delivered","sequence":1}'],
    ])
    const cancelled = await deliveries.delivery('account', 'delivery-cancelled-webhook-gone')
    expect(cancelled).toMatchObject({ state: 'cancelled', attempts: 0 })
    // Its delivery was pruned before.
    const pruned = await deliveries.attempts({ accountId: 'parent', callIds: ['call-7'], limit: 9 })
    expect(pruned.map(({ deliveryId, eventId, callId }) => [deliveryId, eventId, callId])).toEqual([
      ['delivery-pruned-webhook-b', 'event-pruned', 'call-7'],
    ])
    expect(await deliveries.legs('account', 'call-1')).toEqual(['call-1', 'leg-1'])
    expect(await deliveries.legs('account', 'leg-6')).toEqual(['leg-6', 'call-6'])
    expect(await deliveries.legs('parent', 'call-4')).toEqual(['call-4'])
    expect((await inbox!.staged(node.owner, 9)).map(({ id }) => id)).toEqual(['event-staged'])
    await node.close()
  })

  it('keeps recorded responses with characters that PostgreSQL does not decode', async () => {
    const bodies = ['oo\0ps', 'cut \ud83d', '\\u0000', '\\\0\0', '\ude00', '\u{1f600}']
    let at = 0
    const rows = ROWS.replace(
      /"responseBody":"oops"/g,
      () => `"responseBody":${JSON.stringify(bodies[at++ % bodies.length])}`,
    )
    const other = direct.freshSchema()
    await createSchemaAt(direct, other, 6, `update store_clock set last_ms = 0; ${rows}`)
    const node = await openNode(direct, { schema: other, clock, owner: 'node-1' })
    const { deliveries } = node.store
    const found = [
      ...(await deliveries.attempts({ accountId: 'account', limit: 99 })),
      ...(await deliveries.attempts({ accountId: 'parent', limit: 99 })),
    ]
    expect(new Set(found.map(({ responseBody }) => responseBody))).toEqual(new Set(bodies))
    expect(found.find(({ id }) => id === 'record-delivery-delivered-webhook-a-1')).toMatchObject({
      responseBody: 'oo\0ps',
      eventId: 'event-delivered',
      hook: 'channel_create',
      attempt: 1,
    })
    await node.close()
  })

  it('continues numbers, keys and positions, and replays what ended before', async () => {
    const node = await open()
    const numberOf = async (callId: string) => (await node.acceptEvents(newEvent({ callId })))[0]!.sequence
    expect([
      await numberOf('call-1'),
      await numberOf('call-6'),
      await numberOf('call-7'),
      await numberOf('new'),
    ]).toEqual([4, 3, 2, 1])
    const [{ until }] = (await direct.sql(`select until_ms as until from "${schema}".idempotency`)) as [
      { until: number },
    ]
    const keyed = newEvent({
      callId: 'call-1',
      idempotency: { key: 'key-1', bodyHash: 'hash-1', untilMs: until },
    })
    expect(await node.acceptEvents(keyed)).toEqual([{ id: 'event-delivered', sequence: 1, duplicate: true }])
    const webhook = (await node.store.deliveries.webhookOf('webhook-a'))!
    const event = newEvent({ id: 'event-exhausted', callId: 'call-1' })
    const replay = newDelivery(webhook, event, {
      id: 'replay-new',
      lane: 'replay/new',
      replayOf: 'delivery-exhausted-webhook-a',
    })
    expect(await node.acceptOne(acceptanceOf([], [replay]))).toMatchObject({ kind: 'accepted' })
    const [newest] = await node.store.deliveries.deliveries({
      accountId: 'account',
      webhookId: 'webhook-a',
      limit: 1,
    })
    expect(newest).toMatchObject({ id: 'replay-new', eventId: 'event-exhausted' })
    await node.close()
  })

  it('erases and prunes converted rows', async () => {
    const node = await open()
    const { deliveries } = node.store
    for (const accountId of ['account', 'parent', 'child'])
      while ((await deliveries.erase({ accountId }, 3)) > 0) {}
    const limits = { attemptsPerWebhook: 1, beforeMs: clock.now(), limit: 100 }
    clock.advance(100 * 86_400_000)
    while ((await deliveries.prune(limits, clock.now())) > 0) {}
    const counts = await direct.sql(`select (select count(*)::int from "${schema}".event) as events,
      (select count(*)::int from "${schema}".waiting) as waiting, (select count(*)::int from "${schema}".attempt) as attempts`)
    expect(counts).toEqual([{ events: 0, waiting: 0, attempts: 0 }])
    await node.close()
  })

  it.each(['before', 'after'] as const)('is repeated after a crash %s any of its commits', async (when) => {
    for (let commits = 0; ; commits += 1) {
      let left = commits
      const hooks: QueryHooks = {
        [when](text: string) {
          if (text === 'COMMIT' && left-- === 0) throw new Error('Connection terminated unexpectedly')
        },
      }
      const pool = hookedPool(direct.url, hooks)
      const store = postgresStore({ pool, schema, clock })
      const outcome = await store.open({ clock, log }).then(
        () => 'open',
        () => 'crashed',
      )
      await store.close()
      await pool.end()
      if (outcome === 'open') break
    }
    const node = await open()
    expect(node.loaded.rows).toHaveLength(7)
    expect(node.loaded.interrupted).toHaveLength(2)
    expect((await tables()).filter(({ relname }) => relname.startsWith('old_'))).toEqual([])
    await node.close()
  })
})
