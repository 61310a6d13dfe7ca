import assert from 'node:assert/strict'
import type { AttemptRecord, StoredAttempt } from '../../delivery/attempt-record.js'
import type { AttemptQuery } from '../../delivery/delivery-queries.js'
import type { NewEvent } from '../../delivery/delivery-store.js'
import type { Webhook } from '../../webhooks/webhook.js'
import { type DefineRule, type Fixture, idsOf, valuesOf } from './fixture.js'
import { acceptanceOf } from './node.js'
import { readByParts } from './parts.js'
import { newDelivery, newEvent, newRecord, WALL_MS } from './sample-data.js'

const DAY_MS = 86_400_000

/** Accepts one event and settles its delivery with an attempt record. Returns the record's id. */
async function acceptAndRecord(
  fixture: Fixture,
  webhook: Webhook,
  changes: Partial<AttemptRecord> = {},
  event: Partial<NewEvent> = {},
): Promise<string> {
  const [delivery] = await fixture.accept(webhook, event)
  const written = newRecord(delivery!, changes)
  await fixture.settle(delivery!, 'exhausted', { record: written })
  return written.id
}

async function acceptAndRecordMany(fixture: Fixture, webhook: Webhook, count: number): Promise<string[]> {
  const written: string[] = []
  for (let index = 0; index < count; index += 1) written.push(await acceptAndRecord(fixture, webhook))
  return written
}

async function listIds(fixture: Fixture, query: Partial<AttemptQuery> = {}): Promise<string[]> {
  const { deliveries } = fixture.store
  const whole = { accountId: 'account', limit: 100, ...query }
  const found = await deliveries.attempts(whole)
  const inParts = await readByParts(fixture, 'attempts', whole, 2, (part) => deliveries.attempts(part))
  assert.deepEqual(idsOf(inParts), idsOf(found), 'the parts of a list have all of its rows')
  return idsOf(found)
}

/** Rules of attempt records and their queries. */
export function attemptRules(rule: DefineRule): void {
  rule('the last success of a webhook is that of its newest successful record', async (fixture) => {
    const [webhook, other, failing] = [
      await fixture.webhook(),
      await fixture.webhook({ accountId: 'other' }),
      await fixture.webhook(),
    ]
    const success = { result: 'success', responseBody: 'fine' } as const
    await acceptAndRecord(fixture, webhook, { ...success, atMs: WALL_MS + 1 })
    await acceptAndRecord(fixture, webhook, { ...success, atMs: WALL_MS + 2 })
    await acceptAndRecord(fixture, other, { ...success, atMs: WALL_MS + 3 })
    const misleading = '{"result":"success"}'
    await acceptAndRecord(fixture, webhook, { atMs: WALL_MS + 4, responseBody: misleading })
    await acceptAndRecord(fixture, failing, { atMs: WALL_MS + 5, responseBody: misleading })
    const ids = [webhook.id, other.id, failing.id, 'unknown']
    const found = await fixture.store.deliveries.lastSuccesses(ids)
    assert.deepEqual(
      new Map(found),
      new Map([
        [webhook.id, WALL_MS + 2],
        [other.id, WALL_MS + 3],
      ]),
    )
    assert.equal((await fixture.store.deliveries.lastSuccesses([])).size, 0)
  })

  rule('an attempt record is read back completely, with a position and the request body', async (fixture) => {
    const webhook = await fixture.webhook()
    await fixture.accept(webhook)
    const { body, ...delivery } = await fixture.waitingOne(webhook)
    const written = newRecord(delivery, {
      clientError: 'timeout',
      cause: 'timeout_answer',
      detail: 'The server did not answer in time.',
      outOfOrder: true,
      late: true,
      responseBody: '\u{1F4DE}',
      durationMs: 0.5,
    })
    await fixture.settle(delivery, 'exhausted', { record: written })
    const [read] = await fixture.attempts({ limit: 5 })
    assert.ok(Number.isSafeInteger(read?.position))
    assert.deepEqual(read, { ...written, position: read?.position, requestBody: body })
  })

  rule('an attempt record has no more than was written', async (fixture) => {
    const webhook = await fixture.webhook()
    for (const part of [
      { detail: 'A header of the response is folded.', result: 'success' },
      { cause: 'refused', clientError: 'connection' },
      { late: true },
      { outOfOrder: true },
    ] as const) {
      const [delivery] = await fixture.accept(webhook)
      const written = newRecord(delivery!, part)
      await fixture.settle(delivery!, 'exhausted', { record: written })
      const [read] = await fixture.attempts({ limit: 1 })
      const { position: _position, requestBody: _body, ...stored } = read!
      assert.deepEqual(stored, written)
    }
  })

  rule('attempts of post, put and patch alone have a request body', async (fixture) => {
    for (const httpVerb of ['post', 'put', 'patch', 'get', 'delete'] as const) {
      const webhook = await fixture.webhook({ settings: { httpVerb } })
      await acceptAndRecord(fixture, webhook)
      const [read] = await fixture.attempts({ webhookId: webhook.id, limit: 1 })
      assert.equal(read?.requestBody !== undefined, httpVerb.startsWith('p'), httpVerb)
    }
    const [webhook, delivery] = await fixture.webhookWith(1)
    const { attempt: _none, ...end } = newRecord(delivery, { reason: 'expired' })
    await fixture.settle(delivery, 'expired', { record: end })
    const [read] = await fixture.attempts({ webhookId: webhook.id, limit: 1 })
    assert.deepEqual(read, { ...end, position: read?.position })
  })

  rule('attempts name the parties of the call, whatever the method and encoding', async (fixture) => {
    const call = { from: '+4930', to: 'ann@sip.example.com', direction: 'inbound', callerName: 'Ann' }
    const bodies = [
      '{"call_direction":"inbound","from":"+4930","to":"ann@sip.example.com","caller_id_name":"Ann"}',
      'call_direction=inbound&from=%2B4930&to=ann%40sip.example.com&caller_id_name=Ann',
    ]
    const { deliveries } = fixture.store
    for (const httpVerb of ['post', 'get'] as const) {
      for (const head of bodies) {
        const webhook = await fixture.webhook({ accountId: httpVerb, settings: { httpVerb } })
        await acceptAndRecord(fixture, webhook, {}, { bodies: [{ head }] })
        const query = { accountId: httpVerb, webhookId: webhook.id, limit: 1 }
        const [listed] = await deliveries.attempts(query)
        assert.deepEqual(listed?.call, call)
      }
      const { attempts } = await deliveries.attemptLog({ accountIds: [httpVerb], after: 0, limit: 9 })
      assert.deepEqual(valuesOf(attempts, 'call'), [call, call])
    }
    await acceptAndRecord(fixture, await fixture.webhook({ accountId: 'other' }))
    assert.equal((await deliveries.attempts({ accountId: 'other', limit: 1 }))[0]?.call, undefined)
  })

  rule('the parties of a call are those in the body of the own delivery', async (fixture) => {
    const [first, second] = [await fixture.webhook(), await fixture.webhook({ accountId: 'other' })]
    const event = newEvent({ bodies: [{ head: '{"from":"1"}' }, { head: '{"from":"2"}' }] })
    const made = [newDelivery(first, event), newDelivery(second, event, { variant: 1 })]
    await fixture.acceptOne(acceptanceOf(event, made))
    for (const webhook of [first, second]) {
      const delivery = await fixture.waitingOne(webhook)
      await fixture.settle(delivery, 'exhausted', { record: newRecord(delivery) })
    }
    const { deliveries } = fixture.store
    const partiesOf = async (accountId: string) =>
      (await deliveries.attempts({ accountId, limit: 9 })).map(({ call }) => call)
    assert.deepEqual(await partiesOf('account'), [{ from: '1' }])
    assert.deepEqual(await partiesOf('other'), [{ from: '2' }])
    const { attempts } = await deliveries.attemptLog({ accountIds: ['other'], after: 0, limit: 9 })
    assert.deepEqual(valuesOf(attempts, 'call'), [{ from: '2' }])
    const long = await fixture.webhook({ accountId: 'long' })
    const head = JSON.stringify({ from: '3', vars: { text: 'x'.repeat(20_000) } })
    await acceptAndRecord(fixture, long, {}, { bodies: [{ head }] })
    assert.deepEqual(await partiesOf('long'), [{ from: '3' }])
    const keys = [1, 0, 2].map((variant) => ({ eventId: event.id, variant }))
    const bodies = await deliveries.eventBodies([...keys, { eventId: 'unknown', variant: 0 }])
    assert.deepEqual(bodies, ['{"from":"2"}', '{"from":"1"}', undefined, undefined])
    assert.deepEqual(await deliveries.eventBodies([]), [])
  })

  rule('slim attempts may lack headers and bodies, and nothing else', async (fixture) => {
    await acceptAndRecord(fixture, await fixture.webhook(), { responseBody: 'fine' })
    const read = async (query: Partial<AttemptQuery>) => {
      const [attempt] = await fixture.attempts({ limit: 1, ...query })
      const { requestHeaders: _, requestBody: __, responseHeaders: ___, responseBody, ...rest } = attempt!
      return { responseBody, rest }
    }
    const whole = await read({})
    assert.equal(whole.responseBody, 'fine')
    assert.deepEqual((await read({ slim: true })).rest, whole.rest)
    assert.deepEqual(await read({ slim: false }), whole)
  })

  rule('a request body is truncated to 8 KiB of UTF-8 without splitting a character', async (fixture) => {
    const webhook = await fixture.webhook()
    for (const [head, kept] of [
      ['x'.repeat(8_192), 8_192],
      ['x'.repeat(8_193), 8_192],
      ['\u{1F4DE}'.repeat(2_049), 4_096],
      [`x${'\u20AC'.repeat(3_000)}`, 1 + 2_730],
    ] as const) {
      const id = await acceptAndRecord(fixture, webhook, {}, { bodies: [{ head }] })
      const [read] = await fixture.attempts({ webhookId: webhook.id, limit: 1 })
      assert.equal(read?.id, id)
      assert.equal(read?.requestBody, head.slice(0, kept))
    }
  })

  rule('attempts are listed newest first, or oldest first with ascending', async (fixture) => {
    const written = await acceptAndRecordMany(fixture, await fixture.webhook(), 4)
    assert.deepEqual(await listIds(fixture), [...written].reverse())
    assert.deepEqual(await listIds(fixture, { ascending: true }), written)
    assert.deepEqual(await listIds(fixture, { limit: 2 }), [written[3], written[2]])
  })

  rule('the attempts of all webhooks of an account, deleted ones too, have one order', async (fixture) => {
    const [first, second, gone] = [await fixture.webhook(), await fixture.webhook(), await fixture.webhook()]
    const written: string[] = []
    for (const webhook of [first, gone, second, first, second, gone, first])
      written.push(await acceptAndRecord(fixture, webhook))
    await fixture.remove(gone)
    assert.deepEqual(await listIds(fixture, { ascending: true }), written)
    assert.deepEqual(await listIds(fixture, { limit: 3 }), written.slice(4).reverse())
    assert.deepEqual(await listIds(fixture, { webhookId: gone.id }), [written[5], written[1]])
  })

  rule('failures alone are listed in the same order, with the same conditions', async (fixture) => {
    const [webhookA, webhookB] = [await fixture.webhook(), await fixture.webhook()]
    // A failure whose receiver answers with what the record of a success may contain.
    const body = '[1,"result":"success"'
    const failed = { result: 'failure', status: 503, responseBody: body } as const
    const succeeded = { result: 'success', status: 204, responseBody: body } as const
    const written: string[] = []
    for (const [webhook, record, callId] of [
      [webhookA, failed, 'a'],
      [webhookA, succeeded, 'a'],
      [webhookB, failed, 'a'],
      [webhookA, failed, 'b'],
      [webhookB, succeeded, 'b'],
      [webhookA, failed, 'a'],
    ] as const)
      written.push(await acceptAndRecord(fixture, webhook, record, { callId }))
    const [first, , second, third, , fourth] = written
    const failures = (query: Partial<AttemptQuery> = {}) => listIds(fixture, { onlyFailures: true, ...query })
    assert.deepEqual(await failures(), [fourth, third, second, first])
    assert.deepEqual(await failures({ ascending: true, limit: 2 }), [first, second])
    assert.deepEqual(await failures({ webhookId: webhookA.id }), [fourth, third, first])
    assert.deepEqual(await failures({ callIds: ['a'], ascending: true }), [first, second, fourth])
    const [newest] = await fixture.attempts({ limit: 1 })
    const { position: cursor, deliveryId } = newest!
    assert.deepEqual(await failures({ webhookId: webhookA.id, cursor }), [third, first])
    assert.deepEqual(await failures({ deliveryId }), [fourth])
    assert.deepEqual(await failures({ fromMs: newest!.atMs + 1 }), [])
    assert.equal((await listIds(fixture, { onlyFailures: false })).length, 6)
  })

  for (const ascending of [false, true]) {
    rule(
      `${ascending ? 'ascending' : 'descending'} pages neither skip nor repeat attempts while records are added`,
      async (fixture) => {
        const webhooks = [await fixture.webhook(), await fixture.webhook()]
        const before = [
          ...(await acceptAndRecordMany(fixture, webhooks[0]!, 3)),
          ...(await acceptAndRecordMany(fixture, webhooks[1]!, 4)),
        ]
        const seen: StoredAttempt[] = []
        for (;;) {
          const cursor = seen.at(-1)?.position
          const from = cursor === undefined ? {} : { cursor }
          const page = await fixture.attempts({ ascending, limit: 2, ...from })
          seen.push(...page)
          if (page.length < 2) break
          if (seen.length < 8) await acceptAndRecord(fixture, webhooks[seen.length % 2]!)
        }
        const positions = seen.map((row) => (ascending ? row.position : -row.position))
        assert.deepEqual(
          positions,
          [...new Set(positions)].sort((a, b) => a - b),
        )
        assert.deepEqual(
          idsOf(seen).filter((id) => before.includes(id)),
          ascending ? before : [...before].reverse(),
        )
      },
    )
  }

  rule('attempts are filtered by webhook, delivery, calls and time, combined or alone', async (fixture) => {
    const [first, second] = [await fixture.webhook(), await fixture.webhook()]
    const a = await acceptAndRecord(fixture, first, { atMs: 1_000 }, { callId: 'a' })
    const b = await acceptAndRecord(fixture, first, { atMs: 2_000 }, { callId: 'b' })
    const c = await acceptAndRecord(fixture, second, { atMs: 3_000 }, { callId: 'c' })
    const d = await acceptAndRecord(fixture, second, { atMs: 4_000 }, { callId: 'a' })
    const all = await fixture.attempts()
    const deliveryId = all.find((row) => row.id === c)!.deliveryId
    assert.deepEqual(await listIds(fixture, { webhookId: first.id }), [b, a])
    assert.deepEqual(await listIds(fixture, { deliveryId }), [c])
    assert.deepEqual(await listIds(fixture, { deliveryId, webhookId: first.id }), [])
    assert.deepEqual(await listIds(fixture, { callIds: ['a'] }), [d, a])
    assert.deepEqual(await listIds(fixture, { callIds: ['a', 'b', 'a', 'unknown'] }), [d, b, a])
    assert.deepEqual(await listIds(fixture, { callIds: ['a'], webhookId: second.id }), [d])
    assert.deepEqual(await listIds(fixture, { callIds: [] }), [])
    assert.deepEqual(await listIds(fixture, { fromMs: 2_000, toMs: 3_000 }), [c, b])
    assert.deepEqual(await listIds(fixture, { fromMs: 2_001 }), [d, c])
    assert.deepEqual(await listIds(fixture, { toMs: 999 }), [])
    assert.deepEqual(
      await listIds(fixture, { callIds: ['a', 'c'], toMs: 3_500, ascending: true, limit: 1 }),
      [a],
    )
    assert.deepEqual(await listIds(fixture, { webhookId: 'unknown' }), [])
    assert.deepEqual(await listIds(fixture, { deliveryId: 'unknown' }), [])
  })

  rule('attempts are listed by the kind of their event', async (fixture) => {
    const webhook = await fixture.webhook()
    const hooks = ['channel_create', 'channel_answer', 'channel_create', 'channel_destroy']
    const ids: string[] = []
    for (const hook of hooks) ids.push(await acceptAndRecord(fixture, webhook, {}, { hook }))
    const [first, second, third, last] = ids
    for (const ofWebhook of [{}, { webhookId: webhook.id }]) {
      const listed = (kinds: string[]) => listIds(fixture, { hooks: kinds, ascending: true, ...ofWebhook })
      assert.deepEqual(await listed(['channel_create']), [first, third])
      assert.deepEqual(await listed(['channel_destroy', 'channel_answer']), [second, last])
      assert.deepEqual(await listed(['channel_bridge']), [])
      assert.deepEqual(await listed([]), [])
    }
    const recent = { hooks: ['channel_create'], limit: 1 }
    assert.deepEqual(await listIds(fixture, recent), [third])
  })

  rule('the parts of a list have the attempts of a range, however far apart they are', async (fixture) => {
    const [webhook, other] = [await fixture.webhook(), await fixture.webhook()]
    const days: string[][] = []
    for (let day = 0; day < 5; day += 1) {
      const ids: string[] = []
      for (let nth = 0; nth < 3; nth += 1) {
        const atMs = WALL_MS + day * DAY_MS + nth
        ids.push(await acceptAndRecord(fixture, nth === 1 ? other : webhook, { atMs }))
      }
      days.push(ids)
    }
    const range = { fromMs: WALL_MS + 2 * DAY_MS, toMs: WALL_MS + 3 * DAY_MS }
    const [first, second, third] = days[2]!
    const expected = [first!, second!, third!, days[3]![0]!]
    assert.deepEqual(await listIds(fixture, { ...range, ascending: true }), expected)
    assert.deepEqual(await listIds(fixture, range), expected.toReversed())
    assert.deepEqual(await listIds(fixture, { ...range, webhookId: other.id }), [second])
    const between = { fromMs: WALL_MS + 2 * DAY_MS + 9, toMs: WALL_MS + 3 * DAY_MS - 9 }
    assert.deepEqual(await listIds(fixture, { ...between, webhookId: webhook.id }), [])
    assert.deepEqual(await listIds(fixture, { ...between, ascending: true }), [])
  })

  rule('a part of the attempts of an account begins with its next one', async (fixture) => {
    const [webhook, other] = [await fixture.webhook(), await fixture.webhook({ accountId: 'stranger' })]
    const { deliveries } = fixture.store
    await acceptAndRecordMany(fixture, other, 5)
    const id = await acceptAndRecord(fixture, webhook)
    await acceptAndRecordMany(fixture, other, 5)
    for (const ascending of [true, false]) {
      const list = { accountId: 'account', ascending }
      const { cursor, end, hasMore } = await deliveries.listPart({ list: 'attempts', ...list, rows: 2 })
      assert.deepEqual(idsOf(await deliveries.attempts({ ...list, cursor, end, limit: 9 })), [id])
      const after = { cursor: end, rows: 2 }
      if (hasMore)
        assert.equal((await deliveries.listPart({ list: 'attempts', ...list, ...after })).hasMore, false)
      const whole = await deliveries.listPart({ list: 'attempts', ...list, rows: 1_000 })
      assert.equal(whole.hasMore, false, 'a part that has all attempts is the last one')
    }
  })

  rule('the log of attempts has the records of several accounts, lowest position first', async (fixture) => {
    const [first, other, stranger] = [
      await fixture.webhook(),
      await fixture.webhook({ accountId: 'other' }),
      await fixture.webhook({ accountId: 'stranger' }),
    ]
    const { deliveries } = fixture.store
    const start = await deliveries.attemptLog({ accountIds: [], limit: 1 })
    assert.deepEqual(start.attempts, [])
    const written: string[] = []
    for (const webhook of [first, other, first, stranger, other]) {
      const id = await acceptAndRecord(fixture, webhook)
      if (webhook !== stranger) written.push(id)
    }
    await fixture.remove(first)
    const accountIds = ['account', 'other', 'account', 'unknown']
    const read = await deliveries.attemptLog({ accountIds, after: start.position, limit: 9 })
    assert.deepEqual(idsOf(read.attempts), written)
    for (const { id, accountId, position } of read.attempts) {
      const listed = await deliveries.attempts({ accountId, limit: 9 })
      assert.equal(listed.find((row) => row.id === id)?.position, position)
    }
    assert.deepEqual(await deliveries.attemptLog({ accountIds: [], after: start.position, limit: 9 }), {
      attempts: [],
      position: read.position,
    })
  })

  rule('parts of the log of attempts neither skip nor repeat a record', async (fixture) => {
    const webhooks = [await fixture.webhook(), await fixture.webhook({ accountId: 'other' })]
    const { deliveries } = fixture.store
    const written: string[] = []
    for (let index = 0; index < 5; index += 1)
      written.push(await acceptAndRecord(fixture, webhooks[index % 2]!))
    const read: string[] = []
    let after = 0
    for (let part = 0; part < 9; part += 1) {
      const page = await deliveries.attemptLog({ accountIds: ['account', 'other'], after, limit: 2 })
      read.push(...idsOf(page.attempts))
      assert.ok(page.attempts.every(({ position }) => position > after && position <= page.position))
      if (page.attempts.length === 2) assert.equal(page.position, page.attempts[1]!.position)
      assert.ok(page.position >= after)
      after = page.position
      if (part === 1) written.push(await acceptAndRecord(fixture, webhooks[0]!))
    }
    assert.deepEqual(read, written)
    written.push(await acceptAndRecord(fixture, webhooks[1]!))
    const { attempts: rest } = await deliveries.attemptLog({
      accountIds: ['account', 'other'],
      after,
      limit: 2,
    })
    assert.deepEqual(idsOf(rest), written.slice(-1))
  })

  rule('a record of the log is that of the list, except for headers and bodies', async (fixture) => {
    const webhook = await fixture.webhook()
    const failure = { clientError: 'tls', cause: 'certificate_name', detail: 'It is for another name.' }
    await acceptAndRecord(fixture, webhook, { ...failure, durationMs: 0.5 }, { callId: 'call' })
    const { deliveries } = fixture.store
    const [listed] = await deliveries.attempts({ accountId: 'account', limit: 1 })
    const page = await deliveries.attemptLog({ accountIds: ['account'], after: 0, limit: 1 })
    const withoutDetails = (row: object | undefined) => {
      const { requestHeaders, requestBody, responseHeaders, responseBody, ...rest } = row as StoredAttempt
      return rest
    }
    assert.deepEqual(withoutDetails(page.attempts[0]), withoutDetails(listed))
  })

  rule('all attempts of a delivery are found by its id', async (fixture) => {
    const [, accepted] = await fixture.webhookWith(1)
    let delivery = accepted
    for (let attempt = 0; attempt < 3; attempt += 1) delivery = await fixture.retry(delivery)
    const rows = await fixture.attempts({ deliveryId: delivery.id })
    assert.deepEqual(valuesOf(rows, 'attempt'), [3, 2, 1])
  })

  rule('no query returns attempts of another account', async (fixture) => {
    const webhook = await fixture.webhook({ accountId: 'parent' })
    await acceptAndRecord(fixture, webhook, {}, { accountId: 'child', callId: 'call' })
    const [row] = await fixture.store.deliveries.attempts({ accountId: 'parent', limit: 9 })
    assert.ok(row)
    for (const accountId of ['child', 'stranger']) {
      for (const filter of [
        {},
        { webhookId: webhook.id },
        { deliveryId: row.deliveryId },
        { callIds: ['call'] },
        { webhookId: webhook.id, callIds: ['call'], deliveryId: row.deliveryId },
      ]) {
        assert.deepEqual(await listIds(fixture, { accountId, ...filter }), [])
      }
    }
  })
}
