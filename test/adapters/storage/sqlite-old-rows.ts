/** Rows as the store of schema versions 1 to 4 wrote them, by its statements. */
import type { AttemptRecord, Delivery, Webhook } from 'hookswitch/store'
import type { SqliteHandle } from '../../../adapters/storage/sqlite/driver.js'
import { hashKey } from '../../../adapters/storage/sqlite/hash-key.js'

const STATES = ['waiting', 'retrying', 'in_flight', 'delivered', 'exhausted', 'expired', 'cancelled']

export interface OldEvent {
  readonly id: string
  readonly accountId: string
  readonly callId?: string
  readonly timestampMs?: number
  readonly bodies: readonly string[]
  readonly traceparent?: string
  readonly isNumbered?: boolean
}

export interface OldDelivery {
  readonly id: string
  readonly webhook: Webhook
  readonly state: 'waiting' | 'retrying' | 'in_flight' | 'delivered' | 'exhausted' | 'expired' | 'cancelled'
  readonly dueMs?: number
  readonly attempts?: number
  readonly interruptions?: number
  readonly variant?: number
  readonly encoding?: Delivery['encoding']
  readonly replayOf?: string
  /** Absent: a lane to itself. */
  readonly lane?: string
  readonly reason?: string
  readonly endedMs?: number
  /** Oldest first. */
  readonly records?: readonly AttemptRecord[]
}

/** Writes rows into the tables of an old file. Positions are of one counter, as they were. */
export function oldWriter(db: SqliteHandle) {
  let position = 0
  const accounts = new Map<string, number>()
  const calls = new Map<string, { readonly key: number; sequence: number }>()
  const webhooks = new Map<string, number>()
  const events = new Map<string, { readonly key: number; readonly call: number | null }>()
  const insertAccount = db.prepare('insert into hookswitch_account_key (id) values (?)')
  const insertCall = db.prepare(
    'insert into hookswitch_call (account, call_key, sequence, last_ms, call_id) values (?, ?, ?, ?, ?)',
  )
  const updateCall = db.prepare('update hookswitch_call set sequence = ?, last_ms = ? where key = ?')
  const insertEvent = db.prepare(`insert into hookswitch_event
    (key, id, account, call, call_id, hook, timestamp_ms, variants, traceparent, body)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const insertBody = db.prepare('insert into hookswitch_body (event, variant, body) values (?, ?, ?)')
  const insertDelivery = db.prepare(`insert into hookswitch_delivery
    (position, id_key, webhook, event, epoch, state, due_ms, attempts, tries, interruptions, fence, lane_key, variant,
    accepted_ms, call, id, encoding, http_verb, replay_of, lane, reason, ended_ms, last_attempt, term)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
  const insertAttempt = db.prepare(`insert into hookswitch_attempt
    (position, webhook, call, delivery, before, at_ms, doc) values (?, ?, ?, ?, ?, ?, ?)`)
  const insertWebhook = db.prepare(`insert into hookswitch_webhook
    (key, id, account, hook, epoch, deleted_ms, health, doc) values (?, ?, ?, ?, ?, ?, ?, ?)`)
  const insertKey = db.prepare(`insert into hookswitch_idempotency
    (account, key, event_id, sequence, body_hash, until_ms, call) values (?, ?, ?, ?, ?, ?, ?)`)

  function accountKey(id: string): number {
    const known = accounts.get(id)
    if (known !== undefined) return known
    const key = Number(insertAccount.run(id).lastInsertRowid)
    accounts.set(id, key)
    return key
  }

  function nextPosition(): number {
    position += 1
    return position
  }

  return {
    webhook(webhook: Webhook): Webhook {
      const { health = null, ...row } = webhook
      const key = nextPosition()
      const account = accountKey(webhook.accountId)
      const json = health && JSON.stringify(health)
      insertWebhook.run(key, row.id, account, row.settings.hook, row.epoch, null, json, JSON.stringify(row))
      webhooks.set(webhook.id, key)
      return webhook
    },
    event(event: OldEvent, nowMs: number): void {
      const { id, accountId, callId, timestampMs = nowMs, bodies, traceparent, isNumbered = true } = event
      const account = accountKey(accountId)
      let call: number | null = null
      if (callId !== undefined) {
        const name = `${account}/${callId}`
        let found = calls.get(name)
        if (!found) {
          const { lastInsertRowid } = insertCall.run(account, hashKey(callId), 0, nowMs, callId)
          found = { key: Number(lastInsertRowid), sequence: 0 }
          calls.set(name, found)
        }
        if (isNumbered) found.sequence += 1
        updateCall.run(found.sequence, nowMs, found.key)
        call = found.key
      }
      const key = nextPosition()
      const hook = 'channel_create'
      const first = [key, id, account, call, callId ?? null, hook, timestampMs, bodies.length] as const
      insertEvent.run(...first, traceparent ?? null, bodies[0]!)
      for (const [variant, body] of bodies.entries()) if (variant > 0) insertBody.run(key, variant, body)
      events.set(id, { key, call })
    },
    delivery(eventId: string, delivery: OldDelivery, nowMs: number): void {
      const { id, webhook, state, attempts = 0, interruptions = 0, variant = 0, records = [] } = delivery
      const { encoding = 'json', replayOf = null, lane = null, reason = null, endedMs = null } = delivery
      const { dueMs = null } = delivery
      const { key: event, call } = events.get(eventId)!
      const webhookKey = webhooks.get(webhook.id)!
      const mine = nextPosition()
      let before: number | null = null
      for (const record of records) {
        const next = nextPosition()
        insertAttempt.run(next, webhookKey, call, mine, before, record.atMs, JSON.stringify(record))
        before = next
      }
      const laneKey = lane === null || endedMs !== null ? null : hashKey(lane)
      const counts = [attempts, attempts, interruptions] as const
      const [fence, term] = state === 'in_flight' ? [1, 1] : [0, null]
      const verb = webhook.settings.httpVerb
      insertDelivery.run(
        ...[mine, hashKey(id), webhookKey, event, webhook.epoch, STATES.indexOf(state), dueMs, ...counts],
        ...[
          fence,
          laneKey,
          variant,
          nowMs,
          null,
          id,
          encoding,
          verb,
          replayOf,
          lane,
          reason,
          endedMs,
          before,
          term,
        ],
      )
    },
    key(
      accountId: string,
      key: string,
      eventId: string,
      sequence: number,
      bodyHash: string,
      untilMs: number,
    ) {
      insertKey.run(
        accountKey(accountId),
        key,
        eventId,
        sequence,
        bodyHash,
        untilMs,
        events.get(eventId)!.call,
      )
    },
    end(nowMs: number): void {
      db.exec(`update hookswitch_meta set value = ${position + 100_000} where name = 'position';
        update hookswitch_meta set value = 1 where name = 'term';
        insert or replace into hookswitch_meta values ('store_time', ${nowMs}), ('store_time_offset', 0)`)
    },
  }
}
