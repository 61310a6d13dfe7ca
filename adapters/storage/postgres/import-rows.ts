/** Converts exported rows, which know no store, into rows of this store's tables. Pure. */
import {
  type ExportedKind,
  type ExportedRows,
  type ExportedRowTypes,
  inboxShard,
  laneKey,
  normalizeAccountName,
  normalizeRealm,
  userNameKey,
} from 'hookswitch/store'
import { storedDeliveryId } from './delivery-id.js'
import { attemptDoc, formOf, stateNumberOf, webhookColumns } from './rows.js'
import type { ImportTable, ImportTableRow } from './sql/import-tables.js'
import { sortKeyOf } from './webhooks.js'

/** Rows of one table. */
type TableRows = {
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
      rows: rows.map(({ bodies: [body], callId, traceparent, ...event }) => ({
        ...event,
        callId,
        traceparent,
        body,
      })),
    },
    {
      table: 'body',
      rows: rows.flatMap(({ position: event, bodies }) =>
        bodies.slice(1).map((body, index) => ({ event, variant: index + 1, body })),
      ),
    },
  ],
  deliveries: (rows) => [{ table: 'delivery', rows: rows.map(deliveryRow) }],
  attempts: (rows) => [
    {
      table: 'attempt',
      rows: rows.map(({ position, record }) => {
        const { atMs, attempt: n, accountId, callId, webhookId, eventId, hook, deliveryId } = record
        const id = storedDeliveryId(deliveryId, eventId)
        const doc = attemptDoc(record)
        return { position, atMs, n, accountId, callId, webhookId, eventId, hook, deliveryId, id, doc }
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
  holds: (rows) => [{ table: 'hold', rows: rows.map((scope) => ({ scope })) }],
  encryptionRecords: (rows) => [{ table: 'encryption', rows: rows.map((record) => ({ id: 1, record })) }],
}

/** A delivery in flight becomes a start that was interrupted. */
function deliveryRow({
  position,
  eventPosition: event,
  delivery,
}: ExportedRowTypes['deliveries']): ImportTableRow<'delivery'> {
  const { id: deliveryId, eventId, webhookId, lane, state, dueMs, acceptedMs, endedMs, failedMs } = delivery
  const { epoch, attempts, tries, interruptions, variant, replayOf, reason } = delivery
  return {
    position,
    event,
    webhookId,
    lane: laneKey(lane),
    dueMs,
    acceptedMs,
    endedMs,
    epoch,
    attempts,
    tries,
    interruptions,
    variant,
    form: formOf(delivery),
    state: stateNumberOf(state),
    deliveryId,
    id: storedDeliveryId(deliveryId, eventId),
    replayOf,
    reason,
    failedMs,
  }
}
