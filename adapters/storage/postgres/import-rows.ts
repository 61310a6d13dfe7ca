/** Converts exported rows, which know no store, into rows of this store's tables. Pure. */
import {
  type ExportedKind,
  type ExportedRows,
  type ExportedRowTypes,
  inboxShard,
  normalizeAccountName,
  normalizeRealm,
  userNameKey,
} from 'hookswitch/store'
import { stateNumberOf, webhookColumns } from './rows.js'
import type { ImportTable, ImportTableRow } from './sql/import-tables.js'
import { sortKeyOf } from './webhooks.js'

/** Rows of one table. */
export type TableRows = {
  readonly [Table in ImportTable]: { readonly table: Table; readonly rows: readonly ImportTableRow<Table>[] }
}[ImportTable]

type Conversions = {
  readonly [Kind in ExportedKind]: (rows: readonly ExportedRowTypes[Kind][]) => readonly TableRows[]
}

export function tableRowsOf(batch: ExportedRows): readonly TableRows[] {
  return (CONVERSIONS[batch.kind] as (rows: ExportedRows['rows']) => readonly TableRows[])(batch.rows)
}

const CONVERSIONS: Conversions = {
  accounts: (rows) => [
    {
      table: 'account',
      rows: rows.map((account) => ({
        id: account.id,
        realmKey: normalizeRealm(account.realm),
        nameKey: normalizeAccountName(account.name),
        parentId: account.parentId,
        doc: JSON.stringify(account),
      })),
    },
  ],
  removedAccounts: (rows) => [{ table: 'goneAccount', rows: rows.map((id) => ({ id })) }],
  removedUsers: (rows) => [{ table: 'goneUser', rows }],
  apiKeys: (rows) => [
    {
      table: 'apiKey',
      rows: rows.map((key) => ({ accountId: key.accountId, hash: key.hash, doc: JSON.stringify(key) })),
    },
  ],
  users: (rows) => [
    {
      table: 'accountUser',
      rows: rows.map((user) => ({
        accountId: user.accountId,
        id: user.id,
        nameKey: userNameKey(user),
        doc: JSON.stringify(user),
      })),
    },
    {
      table: 'credential',
      rows: rows.flatMap(({ accountId, id: userId, credentialKeys }) =>
        credentialKeys.map((key) => ({ accountId, key, userId })),
      ),
    },
  ],
  tokens: (rows) => [
    {
      table: 'token',
      rows: rows.map((token) => ({
        hash: token.hash,
        accountId: token.accountId,
        userId: token.userId,
        expiresMs: token.expiresMs,
        doc: JSON.stringify(token),
      })),
    },
  ],
  webhooks: (rows) => [
    {
      table: 'webhook',
      rows: rows.map((webhook) => {
        const { id, accountId, settings, revision, epoch, deletedMs } = webhook
        const columns = webhookColumns(webhook)
        const { hook, name } = settings
        const sortKey = sortKeyOf(name)
        return { id, accountId, hook, revision, epoch, deletedMs, ...columns, sortKey }
      }),
    },
  ],
  calls: (rows) => [
    { table: 'call', rows: rows.map(({ others: _, ...call }) => call) },
    {
      table: 'callLeg',
      rows: rows.flatMap(({ accountId, callId, others }) =>
        others.map((other) => ({ accountId, callId, other })),
      ),
    },
  ],
  events: (rows) => [
    {
      table: 'event',
      rows: rows.flatMap(({ bodies, callId, traceparent, ...event }) =>
        bodies.map((body, variant) => ({ ...event, callId, traceparent, variant, body })),
      ),
    },
  ],
  deliveries: (rows) => [{ table: 'delivery', rows: rows.map(deliveryRow) }],
  attempts: (rows) => [
    {
      table: 'attempt',
      rows: rows.map(({ position, record }) => {
        const { atMs, accountId, deliveryId, callId, webhookId, ...rest } = record
        return { position, atMs, accountId, deliveryId, callId, webhookId, doc: JSON.stringify(rest) }
      }),
    },
  ],
  idempotencyKeys: (rows) => [
    { table: 'idempotency', rows: rows.map(({ callId, ...key }) => ({ callId, ...key })) },
  ],
  inboxEntries: (rows) => [
    {
      table: 'inbox',
      rows: rows.map((entry) => ({
        shard: inboxShard(entry),
        eventId: entry.id,
        accountId: entry.accountId,
        callId: entry.callId,
        event: entry.event,
        traceparent: entry.traceparent,
      })),
    },
  ],
  openLegs: (rows) => [{ table: 'openLeg', rows: rows.map((leg) => ({ ...leg })) }],
  encryptionRecords: (rows) => [{ table: 'encryption', rows: rows.map((record) => ({ id: 1, record })) }],
}

/** A delivery in flight becomes a start that was interrupted. */
function deliveryRow({
  position,
  eventPosition,
  delivery,
}: ExportedRowTypes['deliveries']): ImportTableRow<'delivery'> {
  return {
    position,
    event: eventPosition,
    dueMs: delivery.dueMs,
    acceptedMs: delivery.acceptedMs,
    endedMs: delivery.endedMs,
    webhookId: delivery.webhookId,
    variant: delivery.variant,
    epoch: delivery.epoch,
    attempts: delivery.attempts,
    tries: delivery.tries,
    interruptions: delivery.interruptions,
    state: stateNumberOf(delivery.state),
    id: delivery.id,
    lane: delivery.lane,
    encoding: delivery.encoding,
    httpVerb: delivery.httpVerb,
    replayOf: delivery.replayOf,
    reason: delivery.reason,
    failedMs: delivery.failedMs,
  }
}
