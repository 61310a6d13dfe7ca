/**
 * Moves deliveries from the tables of migration 1 to those of migration 5. Each transaction moves the oldest events with
 * everything that belongs to them, and deletes their old rows: a crash leaves both tables complete, and the file does not
 * grow much.
 *
 * A delivery that was in flight becomes one that waits, with a start: `load` names it as interrupted.
 */
import { type AttemptRecord, type Delivery, encodeRecord, laneKey, laneKindOf } from 'hookswitch/store'
import { isWhole, shortDeliveryId } from './delivery-ids.js'
import type { SqliteHandle } from './driver.js'
import { formatOf } from './formats.js'
import { idHashKey } from './hash-key.js'
import { inTransaction, prepareChange, prepareQuery } from './query.js'
import { createRequests } from './requests.js'
import { DELIVERED } from './state-codes.js'

/** Events that are read at once. */
const BATCH_SIZE = 500
/**
 * Batches per transaction, as long as their bodies are small. Ids are at random places of their indexes: with few of them in a
 * transaction, nearly each one writes a page of its own.
 */
const MAX_BATCHES = 100
/** Characters of bodies in a transaction: the write-ahead log holds them until its end. */
const MAX_TRANSACTION_SIZE = 2 ** 25
/** Pages in memory while rows are moved, in KiB: the indexes of a million ids. */
const CACHE_KIB = 2 ** 17
/** The old code of deliveries in flight; lower ones are of waiting deliveries, higher ones of ended deliveries. */
const IN_FLIGHT = 2
const TEST_LANE = 3

interface OldEvent {
  readonly key: number
  readonly id: string
  readonly account: number
  readonly call: number | null
  readonly callId: string | null
  readonly hook: string
  readonly timestampMs: number
  readonly variants: number
  readonly traceparent: string | null
  readonly body: string
  /** The last number of its call. */
  readonly lastSequence: number | null
}

interface OldDelivery {
  readonly position: number
  readonly webhook: number
  readonly epoch: number
  readonly state: number
  readonly dueMs: number | null
  readonly attempts: number
  readonly tries: number
  readonly interruptions: number
  readonly variant: number
  readonly acceptedMs: number
  readonly endedMs: number | null
  readonly lastAttempt: number | null
  readonly id: string
  readonly encoding: Delivery['encoding']
  readonly httpVerb: Delivery['httpVerb']
  readonly reason: string | null
  readonly replayOf: string | null
  readonly lane: string | null
}

interface OldAttempt {
  readonly position: number
  readonly before: number | null
  readonly doc: string
}

/**
 * @param db in no transaction, with the tables of migration 5
 * @param maxBatches batches of 500 events per transaction
 */
export function moveQueue(db: SqliteHandle, maxBatches = MAX_BATCHES): void {
  const { cacheSize } = db.prepare('select cache_size as "cacheSize" from pragma_cache_size').get() as {
    readonly cacheSize: number
  }
  db.exec(`pragma cache_size = -${CACHE_KIB}`)
  const moveBatch = createMove(db)
  let isDone = false
  while (!isDone) {
    inTransaction(db, () => {
      let size = 0
      for (let batch = 0; !isDone && batch < maxBatches && size < MAX_TRANSACTION_SIZE; batch += 1) {
        const moved = moveBatch()
        isDone = moved.events < BATCH_SIZE
        size += moved.size
      }
    })
  }
  db.exec(`pragma cache_size = ${cacheSize}`)
}

/** Returns a function that moves some events, and returns their number and the characters of their first bodies. */
function createMove(db: SqliteHandle): () => { readonly events: number; readonly size: number } {
  const requests = createRequests(db)
  const oldEvents = prepareQuery<OldEvent>(
    db,
    `select e.key, e.id, e.account, e.call, e.call_id as "callId", e.hook, e.timestamp_ms as "timestampMs", e.variants,
      e.traceparent, e.body, c.sequence as "lastSequence"
    from hookswitch_old_event e left join hookswitch_call c on c.key = e.call order by e.key limit ? + 0`,
  )
  const laterEvents = prepareQuery<{ readonly count: number }>(
    db,
    'select count(*) as count from hookswitch_old_event where call = ? and key > ?',
  )
  const oldDeliveries = prepareQuery<OldDelivery>(
    db,
    `select position, webhook, epoch, state, due_ms as "dueMs", attempts, tries, interruptions, variant,
      accepted_ms as "acceptedMs", ended_ms as "endedMs", last_attempt as "lastAttempt", id, encoding,
      http_verb as "httpVerb", reason, replay_of as "replayOf", lane
    from hookswitch_delivery where event = ? order by position`,
  )
  const oldAttempt = prepareQuery<OldAttempt>(
    db,
    'select position, before, doc from hookswitch_old_attempt where position = ?',
  )
  const insertEvent = prepareChange(
    db,
    `insert into hookswitch_event
      (position, id_key, id, account, call, call_id, sequence, hook, timestamp_ms, variants, traceparent, body)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const insertWaiting = prepareChange(
    db,
    `insert into hookswitch_waiting
      (position, webhook, event, lane, sequence, epoch, attempts, tries, interruptions, due_ms, accepted_ms, variant,
      format, id, reason, replay_of)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const insertAttempt = prepareChange(
    db,
    `insert into hookswitch_attempt (key, position, webhook, event, at_ms, variant, format, id, request, doc)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const setEnd = prepareChange(
    db,
    `update hookswitch_attempt set state = ?, attempts = ?, tries = ?, interruptions = ?, epoch = ?, lane = ?,
      accepted_ms = ?, ended_ms = ?, reason = ?, replay_of = ?
    where key = ?`,
  )
  const insertId = prepareChange(
    db,
    'insert into hookswitch_delivery_id (id_key, webhook, position) values (?, ?, ?)',
  )
  const insertStart = prepareChange(
    db,
    `insert into hookswitch_start (term, key, deliveries)
    values (0, (select ifnull(max(key), 0) + 1 from hookswitch_start where term = 0), ?)`,
  )
  const removeAttempt = prepareChange(db, 'delete from hookswitch_old_attempt where position = ?')
  const removeDeliveries = prepareChange(db, 'delete from hookswitch_delivery where event = ?')
  const removeEvent = prepareChange(db, 'delete from hookswitch_old_event where key = ?')

  /** Moves the records of a delivery. Returns the newest one. */
  function moveAttempts(
    { lastAttempt, webhook, variant }: OldDelivery,
    position: number,
    event: number | null,
    format: number,
    short: string,
  ): { readonly key: number; readonly record: AttemptRecord } | undefined {
    let newest: { readonly key: number; readonly record: AttemptRecord } | undefined
    for (let next = lastAttempt; next !== null; ) {
      // The oldest records are removed first.
      const found = oldAttempt.get(next)
      if (!found) break
      const record = JSON.parse(found.doc) as AttemptRecord
      const { atMs, request, doc } = encodeRecord(record)
      const key = requests.keyOf(webhook, request)
      insertAttempt(next, position, webhook, event, atMs, variant, format, short, key, doc)
      removeAttempt(next)
      newest ??= { key: next, record }
      next = found.before
    }
    return newest
  }

  function moveDelivery(
    delivery: OldDelivery,
    position: number,
    { key: event, id: eventId }: OldEvent,
    sequence: number,
    starts: number[],
  ): void {
    const { webhook, id, epoch, state, attempts, tries, interruptions, variant, reason, replayOf } = delivery
    const { acceptedMs, endedMs, dueMs } = delivery
    const lane = delivery.lane === null ? 0 : laneKey(delivery.lane)
    const format = formatOf(delivery, delivery.lane === null ? 0 : laneKindOf(delivery.lane))
    const short = shortDeliveryId(id, eventId)
    const eventPosition = position === event ? null : event
    if (isWhole(short)) insertId(idHashKey(id), webhook, position)
    const newest = moveAttempts(delivery, position, eventPosition, format, short)
    const counts = [attempts, tries, interruptions] as const
    if (state <= IN_FLIGHT) {
      const due = attempts + interruptions === 0 ? null : dueMs
      const order = replayOf === null ? sequence : 0
      const place = [position, webhook, eventPosition, lane, order, epoch] as const
      insertWaiting(...place, ...counts, due, acceptedMs, variant, format, short, reason, replayOf)
      if (state === IN_FLIGHT) starts.push(webhook, position, attempts + 1, epoch)
      return
    }
    // The end has no record of itself if successes are not recorded. Keys and old positions are of one counter.
    const isRecorded =
      newest !== undefined &&
      (newest.record.attempt ?? attempts) === attempts &&
      (state === DELIVERED) === (newest.record.result === 'success')
    const key = isRecorded ? newest.key : delivery.position
    const end = endedMs ?? acceptedMs
    if (!isRecorded)
      insertAttempt(key, position, webhook, eventPosition, end, variant, format, short, null, null)
    setEnd(state, ...counts, epoch, lane, acceptedMs, end, reason, replayOf, key)
  }

  function moveEvent(event: OldEvent, starts: number[]): void {
    const { key, id, account, call, callId, lastSequence, hook, timestampMs, variants } = event
    const deliveries = oldDeliveries.all(key)
    const isTest = deliveries.some(({ lane }) => lane !== null && laneKindOf(lane) === TEST_LANE)
    // Numbers were not stored. These are in the right order, and below that of the next event.
    const sequence =
      call === null || lastSequence === null || lastSequence === 0 || isTest
        ? 0
        : Math.max(1, lastSequence - laterEvents.get(call, key)!.count)
    const isSent = deliveries.length > 0 ? variants : 0
    const columns = [idHashKey(id), id, account, call, callId, sequence, hook, timestampMs] as const
    insertEvent(key, ...columns, isSent, event.traceparent, event.body)
    const webhooks = new Set<number>()
    for (const delivery of deliveries) {
      const { webhook, position, replayOf } = delivery
      const isFirst = replayOf === null && !webhooks.has(webhook)
      webhooks.add(webhook)
      moveDelivery(delivery, isFirst ? key : position, event, sequence, starts)
    }
    removeDeliveries(key)
    removeEvent(key)
  }

  return () => {
    const starts: number[] = []
    const events = oldEvents.all(BATCH_SIZE)
    for (const event of events) moveEvent(event, starts)
    if (starts.length > 0) insertStart(JSON.stringify(starts))
    return { events: events.length, size: events.reduce((sum, { body }) => sum + body.length, 0) }
  }
}
