/** Exports a store's rows for a migration to another store, and undoes such a migration. */
import type {
  ExportedEvent,
  ExportedKind,
  ExportedRows,
  ExportedRowTypes,
  ExportSource,
  StoreExport,
} from 'hookswitch/store'
import { createAccountKeys } from './account-keys.js'
import { recordOf } from './attempts.js'
import { type DatabasePath, locateFile } from './database-path.js'
import { loadDriver, type SqliteHandle } from './driver.js'
import { createEndpoints } from './endpoints.js'
import { createTimeReader } from './engine-state.js'
import { corruptError, invalidOptionError, toStoreError } from './errors.js'
import {
  type MigrationMarker,
  migratedError,
  readMigrationMarker,
  writeMigrationMarker,
} from './migration-marker.js'
import { type OwnerConnection, openConnection } from './open.js'
import { type DocRow, statementsOf } from './query.js'
import { createDeliveryRows, type DeliveryRow, ENDED_COLUMNS, WAITING_COLUMNS } from './rows.js'
import { startsIn } from './starts.js'

/** Options of `sqliteExportSource` and `undoMigration`. */
export interface SqliteExportOptions {
  /** Path of the database file, required. */
  readonly path: string
}

/**
 * Opens an SQLite store for its migration to another store. No other process can open the file until the source is
 * closed.
 *
 * @throws HookswitchError `InvalidOption` (field `path`) if the file does not exist, is not a store of ours or was migrated
 *   before; `StoreUnavailable` while a service uses it; `StoreCorrupt`
 * @example
 * const source = sqliteExportSource({ path: 'hookswitch.db' })
 * await migrateToPostgres(source, { connectionString }).finally(source.close)
 */
export function sqliteExportSource(options: SqliteExportOptions): ExportSource {
  const { db, location, close } = openExclusively('sqliteExportSource', options)
  const { path } = location
  const setMarker = (marker: MigrationMarker | undefined) => {
    try {
      writeMigrationMarker(db, marker)
    } catch (thrown) {
      throw toStoreError(thrown, path)
    }
  }
  try {
    const marker = readMigrationMarker(db)
    if (marker?.isDone) throw migratedError(marker, location)
    return {
      name: path,
      lastPosition: statementsOf(db)
        .prepareQuery<{
          readonly value: number
        }>(`select max(value, ifnull((select max(position) from hookswitch_event), 0),
          ifnull((select max(position) from hookswitch_waiting), 0),
          ifnull((select max(position) from hookswitch_attempt), 0)) as value
        from hookswitch_meta where name = 'position'`)
        .get()!.value,
      ...storeTime(db),
      pendingExport: marker && { id: marker.id, to: marker.to },
      rows: () => exportRows(db, path),
      begin: ({ id, to }) => setMarker({ id, to, isDone: false }),
      end: ({ id, to }) => setMarker({ id, to, isDone: true }),
      abandon: () => setMarker(undefined),
      close,
    }
  } catch (thrown) {
    close()
    throw toStoreError(thrown, path)
  }
}

/** Store time, while something depends on it (`engine-state.ts`). */
function storeTime(db: SqliteHandle): { readonly storeMs?: number } {
  const { read, isNeeded } = createTimeReader(statementsOf(db))
  const offsetMs = read('store_time_offset') ?? 0
  const machineMs = Date.now()
  const storeMs = Math.max(machineMs + offsetMs, read('store_time') ?? 0)
  return isNeeded(machineMs) ? { storeMs } : {}
}

/**
 * Makes a file usable again whose migration was completed or interrupted. The other store must then no longer be used:
 * deliveries that are pending in both would be sent twice.
 *
 * @returns the target of the migration; `undefined`: there was none
 * @throws HookswitchError as `sqliteExportSource`
 */
export function undoMigration(options: SqliteExportOptions): StoreExport['to'] | undefined {
  const { db, location, close } = openExclusively('undoMigration', options)
  try {
    const marker = readMigrationMarker(db)
    writeMigrationMarker(db, undefined)
    return marker?.to
  } catch (thrown) {
    throw toStoreError(thrown, location.path)
  } finally {
    close()
  }
}

interface OpenFile {
  readonly db: SqliteHandle
  readonly location: DatabasePath
  close(): void
}

/** Opens an existing file and locks it for this process. */
function openExclusively(call: string, options: SqliteExportOptions): OpenFile {
  const location = locateFile(call, options)
  const use = ({ db, close }: OwnerConnection): OpenFile => {
    let isOpen = true
    return {
      db,
      location,
      close() {
        if (isOpen) close(false)
        isOpen = false
      },
    }
  }
  return openConnection(location, loadDriver(), use, { check: (db) => assertHasTables(db, location) })
}

/** Rejects an empty file, and a host's file in which our tables were never created. */
function assertHasTables(db: SqliteHandle, { path, field }: DatabasePath): void {
  const table = db.prepare("select 1 from sqlite_schema where name = 'hookswitch_meta'").get()
  if (table === undefined) throw invalidOptionError(field, `contains no hookswitch store: ${path}`)
}

/** Rows per batch: usually some 300 KB, at most 32 MB. */
const BATCH_SIZE = 500

/** For each kind of rows: where they are, and how one is read. */
type Readers = {
  readonly [Kind in ExportedKind]: {
    readonly sql: string
    readonly read: (row: never) => ExportedRowTypes[Kind]
  }
}

interface EventRow extends Omit<ExportedEvent, 'bodies'> {
  readonly variants: number
  readonly body: string
}

const parseDoc = <Row>({ doc }: DocRow) => JSON.parse(doc) as Row

/** Omits null columns: an absent property of an exported row is null in the table. */
const withoutNulls = <Row>(row: Row) =>
  Object.fromEntries(Object.entries(row as object).filter(([, value]) => value !== null)) as Row

type NullableText = string | null

function createReaders(db: SqliteHandle, path: string): Readers {
  const statements = statementsOf(db)
  const { prepareQuery } = statements
  const accounts = createAccountKeys(statements)
  const webhooks = createEndpoints(statements, accounts, () => {})
  const { fromRow } = createDeliveryRows(statements, accounts, webhooks)
  const otherBodies = prepareQuery<{ readonly body: string }>(
    'select body from hookswitch_body where event = ? order by variant',
  )
  /** Number of the attempt that was last started, by key of the webhook and position. */
  const started = new Map<string, number>()
  for (const { deliveries } of prepareQuery<{ readonly deliveries: string }>(
    'select deliveries from hookswitch_start order by term, key',
  ).all()) {
    for (const [webhook, position, attempt] of startsIn(deliveries)) {
      started.set(`${webhook}/${position}`, attempt)
    }
  }
  const joinEvent = 'left join hookswitch_event e on e.position = coalesce(d.event, d.position)'
  const joinAccount = 'left join hookswitch_account_key k on k.key = '

  /** Reads a row whose columns are named like the properties. */
  function readColumns<Row extends { readonly accountId: string }>(row: Row): Row {
    if ((row.accountId as NullableText) === null) throw corruptError(path, 'a row has no account')
    return withoutNulls(row)
  }

  return {
    accounts: { sql: 'select doc from hookswitch_account order by id', read: parseDoc },
    removedAccounts: {
      sql: 'select id from hookswitch_gone_account order by id',
      read: ({ id }: { readonly id: string }) => id,
    },
    removedUsers: {
      sql: 'select account_id as "accountId", id from hookswitch_gone_user order by account_id, id',
      read: (row: ExportedRowTypes['removedUsers']) => row,
    },
    apiKeys: { sql: 'select doc from hookswitch_api_key order by account_id', read: parseDoc },
    users: { sql: 'select doc from hookswitch_user order by account_id, id', read: parseDoc },
    tokens: { sql: 'select doc from hookswitch_token order by hash', read: parseDoc },
    webhooks: {
      sql: 'select key from hookswitch_webhook order by key',
      read: ({ key }: { readonly key: number }) => webhooks.byKey(key)!.webhook,
    },
    calls: {
      sql: `select k.id as "accountId", c.call_id as "callId", c.sequence, c.last_ms as "lastMs",
          coalesce(c.others, '[]') as others
        from hookswitch_call c ${joinAccount} c.account order by c.key`,
      read: (row: ExportedRowTypes['calls'] & { readonly others: string }) => ({
        ...readColumns(row),
        others: JSON.parse(row.others),
      }),
    },
    events: {
      // Those without deliveries are only for the repeat of a group.
      sql: `select e.position, e.id, k.id as "accountId", e.call_id as "callId", e.hook,
          e.timestamp_ms as "timestampMs", e.sequence, e.variants, e.traceparent, e.body
        from hookswitch_event e ${joinAccount} e.account where e.variants > 0 order by e.position`,
      read(row: EventRow) {
        const { variants, body, ...event } = readColumns(row)
        const others = variants > 1 ? otherBodies.all(event.position) : []
        if (others.length !== variants - 1) throw corruptError(path, 'a body of an event is missing')
        return { ...event, bodies: [body, ...others.map((other) => other.body)] }
      },
    },
    deliveries: {
      sql: `select ${WAITING_COLUMNS} from hookswitch_waiting d ${joinEvent}
        union all select ${ENDED_COLUMNS} from hookswitch_attempt d ${joinEvent} where d.state is not null
        order by 1, 3`,
      read(row: DeliveryRow) {
        const endpoint = webhooks.byKey(row.webhook)
        if (!endpoint || (row.eventId as NullableText) === null) {
          throw corruptError(path, 'the webhook or the event of a delivery is missing')
        }
        const { position, event: eventPosition, dueMs, attempts } = row
        const { delivery } = fromRow(row)
        const isStarted = started.get(`${row.webhook}/${position}`) === attempts + 1
        return {
          position,
          eventPosition,
          delivery: {
            ...delivery,
            ...(isStarted && { state: 'in_flight' as const }),
            ...(dueMs !== null && { dueMs }),
          },
        }
      },
    },
    attempts: {
      sql: `select a.key, a.webhook, a.id, a.at_ms as "atMs", a.doc, r.request, e.id as "eventId", e.hook,
          e.call_id as "callId"
        from hookswitch_attempt a left join hookswitch_request r on r.key = a.request
        left join hookswitch_event e on e.position = coalesce(a.event, a.position)
        where a.doc is not null order by a.key`,
      read(row: Parameters<typeof recordOf>[0] & { readonly key: number; readonly webhook: number }) {
        const endpoint = webhooks.byKey(row.webhook)
        if (!endpoint || (row.eventId as NullableText) === null || (row.request as NullableText) === null) {
          throw corruptError(path, 'the webhook, the event or the request of an attempt is missing')
        }
        return { position: row.key, record: recordOf(row, endpoint.webhook) }
      },
    },
    idempotencyKeys: {
      sql: `select k.id as "accountId", i.key, i.event_id as "eventId", i.sequence, i.body_hash as "bodyHash",
          i.until_ms as "untilMs", c.call_id as "callId"
        from hookswitch_idempotency i ${joinAccount} i.account left join hookswitch_call c on c.key = i.call
        order by i.account, i.key`,
      read: readColumns,
    },
    inboxEntries: {
      sql: `select event_id as id, account_id as "accountId", call_id as "callId", event, traceparent
        from hookswitch_inbox order by id`,
      read: readColumns,
    },
    openLegs: {
      sql: `select source, call_id as "callId", account_id as "accountId", added_ms as "addedMs", state
        from hookswitch_open_leg order by source, call_id`,
      read: readColumns,
    },
    holds: {
      sql: 'select scope from hookswitch_hold order by scope',
      read: ({ scope }: { readonly scope: string }) => scope,
    },
    encryptionRecords: {
      sql: 'select record from hookswitch_encryption',
      read: ({ record }: { readonly record: string }) => record,
    },
  }
}

/**
 * Reads all rows, in one read transaction.
 *
 * @param db in no transaction
 * @throws HookswitchError `StoreCorrupt` for a row that refers to a missing one, `StoreUnavailable`
 */
function* exportRows(db: SqliteHandle, path: string): Generator<ExportedRows> {
  // Statements are referenced until the end: `@photostructure/sqlite` 1.2 crashes when a statement is garbage-collected
  // while its iterator is in use.
  const readers = Object.entries(createReaders(db, path)).map(([kind, { sql, read }]) => ({
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
        if (batch.length < BATCH_SIZE) continue
        yield { kind, rows: batch } as unknown as ExportedRows
        batch = []
      }
      if (batch.length > 0) yield { kind, rows: batch } as unknown as ExportedRows
    }
  } catch (thrown) {
    throw toStoreError(thrown, path)
  } finally {
    db.exec('commit')
  }
}
