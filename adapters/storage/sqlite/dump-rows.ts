import type { AttemptRecord, Moved, MovedEvent, MovedKind, MovedRows } from 'hookswitch/store'
import { accountKeys } from './account-keys.js'
import type { SqliteHandle } from './driver.js'
import { endpoints } from './endpoints.js'
import { damaged, storeError } from './errors.js'
import { type DocRow, query } from './query.js'
import { COLUMNS, rows, type StoredRow } from './rows.js'

/** Rows of a batch: some 300 KB as a rule, 32 MB at most. */
const BATCH = 500

/** Where the rows of each kind are, and what becomes of one. */
type Readers = {
  readonly [Kind in MovedKind]: { readonly sql: string; readonly read: (row: never) => Moved[Kind] }
}

interface EventRow extends Omit<MovedEvent, 'bodies'> {
  readonly variants: number
  readonly body: string
}

const doc = <Row>({ doc }: DocRow) => JSON.parse(doc) as Row

/** What is null in a table is absent in a row. */
const present = <Row>(row: Row) =>
  Object.fromEntries(Object.entries(row as object).filter(([, value]) => value !== null)) as Row

type Text = string | null

function readersOf(db: SqliteHandle, path: string): Readers {
  const accounts = accountKeys(db)
  const webhooks = endpoints(db, accounts)
  const { of } = rows(db, accounts, webhooks)
  const others = query<{ readonly body: string }>(
    db,
    'select body from hookswitch_body where event = ? order by variant',
  )
  const ofAccount = 'left join hookswitch_account_key k on k.key = '

  /** A row whose columns are named as its properties. */
  function plain<Row extends { readonly accountId: string }>(row: Row): Row {
    if ((row.accountId as Text) === null) throw damaged(path, 'a row is of no account')
    return present(row)
  }

  return {
    accounts: { sql: 'select doc from hookswitch_account order by id', read: doc },
    removedAccounts: {
      sql: 'select id from hookswitch_gone_account order by id',
      read: ({ id }: { readonly id: string }) => id,
    },
    apiKeys: { sql: 'select doc from hookswitch_api_key order by account_id', read: doc },
    users: { sql: 'select doc from hookswitch_user order by account_id, id', read: doc },
    tokens: { sql: 'select doc from hookswitch_token order by hash', read: doc },
    webhooks: {
      sql: 'select key from hookswitch_webhook order by key',
      read: ({ key }: { readonly key: number }) => webhooks.byKey(key)!.webhook,
    },
    calls: {
      sql: `select k.id as "accountId", c.call_id as "callId", c.sequence, c.last_ms as "lastMs",
          coalesce(c.others, '[]') as others
        from hookswitch_call c ${ofAccount} c.account order by c.key`,
      read: (row: Moved['calls'] & { readonly others: string }) => ({
        ...plain(row),
        others: JSON.parse(row.others),
      }),
    },
    events: {
      sql: `select e.key as position, e.id, k.id as "accountId", e.call_id as "callId", e.hook,
          e.timestamp_ms as "timestampMs", e.variants, e.traceparent, e.body
        from hookswitch_event e ${ofAccount} e.account order by e.key`,
      read(row: EventRow) {
        const { variants, body, ...event } = plain(row)
        const more = variants > 1 ? others.all(event.position) : []
        if (more.length !== variants - 1) throw damaged(path, 'an event has lost a body')
        return { ...event, bodies: [body, ...more.map((other) => other.body)] }
      },
    },
    deliveries: {
      sql: `select ${COLUMNS} from hookswitch_delivery d left join hookswitch_event e on e.key = d.event
        order by d.position`,
      read(stored: StoredRow) {
        const endpoint = webhooks.byKey(stored.webhook)
        if (!endpoint || (stored.eventId as Text) === null) {
          throw damaged(path, 'a delivery has no webhook, or no event')
        }
        const { position, event: eventPosition, delivery } = of(stored, endpoint)
        return { position, eventPosition, delivery }
      },
    },
    attempts: {
      sql: 'select position, doc from hookswitch_attempt order by position',
      read: ({ position, doc }: DocRow & { readonly position: number }) => ({
        position,
        record: JSON.parse(doc) as AttemptRecord,
      }),
    },
    idempotencyKeys: {
      sql: `select k.id as "accountId", i.key, i.event_id as "eventId", i.sequence, i.body_hash as "bodyHash",
          i.until_ms as "untilMs", c.call_id as "callId"
        from hookswitch_idempotency i ${ofAccount} i.account left join hookswitch_call c on c.key = i.call
        order by i.account, i.key`,
      read: plain,
    },
    inboxEntries: {
      sql: `select event_id as id, account_id as "accountId", call_id as "callId", event, traceparent
        from hookswitch_inbox order by id`,
      read: plain,
    },
  }
}

/**
 * Everything in the file, as it stands in one moment.
 *
 * @param db in no transaction
 * @throws HookswitchError `StoreCorrupt` for a row without what it refers to, `StoreUnavailable`
 */
export function* dumpedRows(db: SqliteHandle, path: string): Generator<MovedRows> {
  // Kept until the end: `@photostructure/sqlite` 1.2 lets a statement be collected under its iterator, and crashes.
  const readers = Object.entries(readersOf(db, path)).map(([kind, { sql, read }]) => ({
    kind,
    statement: db.prepare(sql),
    read: read as (row: unknown) => unknown,
  }))
  db.exec('begin')
  try {
    for (const { kind, statement, read } of readers) {
      let batch: unknown[] = []
      for (const row of statement.iterate()) {
        batch.push(read(row))
        if (batch.length < BATCH) continue
        yield { kind, rows: batch } as unknown as MovedRows
        batch = []
      }
      if (batch.length > 0) yield { kind, rows: batch } as unknown as MovedRows
    }
  } catch (thrown) {
    throw storeError(thrown, path)
  } finally {
    db.exec('commit')
  }
}
