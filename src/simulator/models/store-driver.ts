/** Executes the calls of the store model on a real store, and reduces the results to the form of the reference. */

import type { DeliveryStore, Settlement } from '../../delivery/delivery-store.js'
import { errorCode } from '../../errors.js'
import type { Store } from '../../store/contract.js'
import {
  newAccount,
  newApiKey,
  newDelivery,
  newEvent,
  newRecord,
  newToken,
  newUser,
  newWebhook,
} from '../../testkit/conformance/sample-data.js'
import type { Webhook } from '../../webhooks/webhook.js'
import type { SettlementCall, StoreCall, WebhookRow } from './store-calls.js'

const ACCOUNT = 'account'
/** Maximum number of pages of a list, so that a cursor that does not advance ends the run. */
const MAX_PAGES = 1_000

/** What the driver remembers between calls. */
export interface StoreDriverState {
  readonly leaseMs: number
  /** Positions of the records it has read, which the reference does not have. */
  readonly positions: Map<string, number>
}

/** Executes a call. An expected error is a result: its code. */
export async function execute(store: Store, call: StoreCall, state: StoreDriverState): Promise<unknown> {
  try {
    return (await executeCall(store, call, state)) ?? null
  } catch (thrown) {
    const code = errorCode(thrown)
    if (code === undefined) throw thrown
    const { field } = thrown as { field?: string }
    // The contract names the field only where the caller chooses its value.
    const isNamed = field !== undefined && /account$|user$/.test(call.do) && call.do !== 'remove account'
    return isNamed ? `${code} of the ${field}` : code
  }
}

async function executeCall(store: Store, call: StoreCall, state: StoreDriverState): Promise<unknown> {
  const { leaseMs, positions } = state
  const { deliveries, webhooks } = store
  const { now } = call
  switch (call.do) {
    case 'own':
    case 'renew':
      return formatShards(await deliveries[call.do](call.owner, leaseMs))
    case 'own too early': {
      const owned = formatShards(await deliveries.own(call.owner, leaseMs))
      await deliveries.release(call.owner)
      return owned
    }
    case 'release':
      return deliveries.release(call.owner)
    case 'accept': {
      const events = call.events.map(({ id, callId, key, hash, untilMs }) => ({
        ...newEvent({ id, callId, accountId: ACCOUNT }),
        ...(key === undefined ? {} : { idempotency: { key, bodyHash: hash!, untilMs: untilMs! } }),
      }))
      const rows = call.deliveries.map(({ id, eventId, webhookId, epoch, lane }) => {
        const event = events.find((one) => one.id === eventId)!
        return newDelivery(newWebhook({ id: webhookId }), event, { id, epoch, lane })
      })
      const { maxPending } = call
      const accepted = await deliveries.accept({ events, deliveries: rows, maxPending }, now)
      return accepted.map(({ id, sequence, duplicate }) => ({ id, number: sequence, duplicate }))
    }
    case 'claim': {
      const { owner, endpoints, limit } = call
      const { claims } = await deliveries.claim({ owner, endpoints, limit, now })
      return claims.map(({ delivery: { id, fence, attempts } }) => ({ id, fence, attempts }))
    }
    case 'settle': {
      const settlements = call.settlements.map((one) => toSettlement(call.owner, one, now))
      const results = await deliveries.settle(settlements, now)
      return results.map((result) =>
        result.kind === 'settled' && result.disabled ? 'settled and disabled' : result.kind,
      )
    }
    case 'insert':
      return webhooks.insert(toWebhook(call.webhook))
    case 'replace':
      return webhooks.replace(toWebhook(call.webhook), call.revision)
    case 'read': {
      const webhook = await webhooks.read(call.accountId, call.id)
      return webhook && toRow(webhook)
    }
    case 'list':
      return (await webhooks.list([ACCOUNT])).map(({ id }) => id)
    case 'pending':
      return deliveries.pending()
    case 'ready': {
      const ready = (await deliveries.ready(call.owner)).filter(({ dueMs }) => dueMs !== undefined)
      const rows = ready.map(({ webhookId, dueMs }) => ({ id: webhookId, inMs: Math.max(0, dueMs! - now) }))
      return rows.sort((a, b) => (a.id < b.id ? -1 : 1))
    }
    case 'stale':
    case 'orphans':
      return (await deliveries[call.do](call.owner, 1_000)).map(({ id }) => id).sort()
    case 'deliveries':
      return readDeliveries(deliveries, call)
    case 'attempts':
      return readAttempts(deliveries, call)
    case 'page': {
      const cursor = call.last === undefined ? {} : { cursor: positions.get(call.last)! }
      const rows = await deliveries.attempts({
        accountId: ACCOUNT,
        ascending: true,
        limit: call.size,
        ...cursor,
      })
      for (const { id, position } of rows) positions.set(id, position)
      return rows.map(({ id }) => id)
    }
    case 'prune':
      return repeatUntilNone(() =>
        deliveries.prune({ attemptsPerWebhook: call.keep, beforeMs: call.beforeMs, limit: 3 }, now),
      )
    case 'erase':
      // `erase` has no `now` argument: the renewal gives the store the time.
      await deliveries.renew(call.owner, leaseMs)
      return repeatUntilNone(() => deliveries.erase({ accountId: ACCOUNT, callIds: [call.callId] }, 2))
    default:
      return executeRowCall(store, call)
  }
}

async function executeRowCall({ tokens, accounts }: Store, call: StoreCall): Promise<unknown> {
  switch (call.do) {
    case 'issue': {
      const { hash, accountId, userId, expiresMs } = call.token
      return tokens.issue(newToken(accountId, { hash, expiresMs, ...(userId !== undefined && { userId }) }))
    }
    case 'read token': {
      const row = await tokens.read(call.hash)
      return row && { hash: row.hash, accountId: row.accountId, userId: row.userId, expiresMs: row.expiresMs }
    }
    case 'revoke':
      return tokens.revoke(call.hash)
    case 'revoke all':
      return call.holder === undefined
        ? tokens.revokeAll(call.accountId)
        : tokens.revokeAll(call.accountId, call.holder)
    case 'prune tokens':
      return tokens.pruneTokens(call.now, 1_000)
    case 'add account':
      return accounts.insert(newAccount(call.account), newApiKey(call.account.id), [])
    case 'update account':
      return accounts.update(newAccount(call.account))
    case 'remove account':
      await accounts.remove(call.id, { nowMs: 0 })
      return undefined
    case 'find account': {
      const [account, parent] = await accounts.lineage(call.id)
      if (!account) return null
      const users = (await accounts.users(call.id)).map(({ username }) => username)
      const [byRealm] = await accounts.byRealm(account.realm)
      return { id: byRealm?.id, realm: account.realm, parent: parent?.id, users }
    }
    case 'put user': {
      const { id, accountId, username } = call
      return accounts.putUser(newUser(accountId, { id: `${accountId}-${id}`, username }))
    }
    case 'remove user':
      return accounts.removeUser(call.accountId, `${call.accountId}-${call.id}`)
    default:
      throw new Error(`the driver does not implement '${call.do}'`)
  }
}

function toSettlement(owner: string, s: SettlementCall, now: number): Settlement {
  const { id: deliveryId, webhookId, fence, attempts, epoch, health } = s
  const event = newEvent({ id: 'any', callId: s.callId })
  const delivery = newDelivery(newWebhook({ id: webhookId }), event, { id: deliveryId })
  const before = { ...delivery, attempts: attempts - 1, fence } as Parameters<typeof newRecord>[0]
  return {
    owner,
    deliveryId,
    webhookId,
    expect: { state: s.from, fence },
    next: {
      state: s.to,
      attempts,
      tries: attempts,
      interruptions: 0,
      ...(s.dueMs !== undefined && { dueMs: s.dueMs }),
      ...(s.reason !== undefined && { reason: s.reason }),
    },
    ...(s.record !== undefined && { record: newRecord(before, { id: s.record, atMs: now }) }),
    endpoint: {
      epoch,
      ...(health !== undefined && { health }),
      ...(s.disable && { disable: { reason: 'gone', atMs: now } }),
    },
  }
}

function toWebhook({ name, uri, ordering, enabled, deleted, ...row }: WebhookRow): Webhook {
  const settings = { name, uri, ordering, enabled }
  return newWebhook({ ...row, accountId: ACCOUNT, settings, ...(deleted && { deletedMs: 1 }) })
}

function toRow({ id, settings, revision, epoch, health }: Webhook): WebhookRow {
  const { name, uri, ordering, enabled } = settings
  return { id, name, uri, ordering, enabled, revision, epoch, ...(health && { health }) }
}

const formatShards = ({ shards }: { shards: readonly number[] }) =>
  shards.length === 64 ? 'all shards' : shards.length === 0 ? 'no shard' : `${shards.length} shards`

async function repeatUntilNone(remove: () => Promise<number>): Promise<void> {
  for (let rounds = 0; (await remove()) > 0; rounds += 1) {
    if (rounds > 1_000) throw new Error('the store reports removed rows without end')
  }
}

/** The deliveries of a webhook, read page by page. */
async function readDeliveries(
  store: DeliveryStore,
  { webhookId, ascending, size }: Extract<StoreCall, { do: 'deliveries' }>,
): Promise<unknown> {
  const query = { accountId: ACCOUNT, webhookId, ascending, limit: size }
  const rows = await readPages((cursor) => store.deliveries({ ...query, ...cursor }), size)
  return rows.map(({ id, state, reason, attempts, fence, ahead }) => ({
    id,
    state,
    reason,
    attempts,
    fence,
    ahead,
  }))
}

/** Ids of attempt records, read page by page. */
async function readAttempts(
  store: DeliveryStore,
  { webhookId, callId, ascending, size }: Extract<StoreCall, { do: 'attempts' }>,
): Promise<unknown> {
  const query = {
    accountId: ACCOUNT,
    ascending,
    limit: size,
    ...(webhookId !== undefined && { webhookId }),
    ...(callId !== undefined && { callIds: [callId] }),
  }
  const rows = await readPages((cursor) => store.attempts({ ...query, ...cursor }), size)
  return rows.map(({ id }) => id)
}

async function readPages<Row extends { readonly position: number }>(
  page: (cursor: { cursor?: number }) => Promise<readonly Row[]>,
  size: number,
): Promise<Row[]> {
  const rows: Row[] = []
  for (let count = 0; count < MAX_PAGES; count += 1) {
    const last = rows.at(-1)
    const more = await page(last ? { cursor: last.position } : {})
    rows.push(...more)
    if (more.length < size) return rows
  }
  throw new Error(`a list has more than ${MAX_PAGES} pages of ${size}`)
}
