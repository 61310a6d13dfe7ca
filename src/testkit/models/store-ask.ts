import type { Settlement } from '../../delivery/delivery-store.js'
import { errorCode } from '../../errors.js'
import {
  newAccount,
  newApiKey,
  newDelivery,
  newEvent,
  newRecord,
  newToken,
  newUser,
  newWebhook,
} from '../../store/conformance/fixtures.js'
import type { Store } from '../../store/contract.js'
import type { Webhook } from '../../webhooks/webhook.js'
import type { HookRow, SettlementCall, StoreCall } from './store-calls.js'
import { pagesOfAttempts, pagesOfDeliveries } from './store-pages.js'

export const ACCOUNT = 'account'

/** What whoever asks keeps between the calls. */
export interface Asker {
  readonly leaseMs: number
  /** Where in the lists the records are that it has read: no naive store knows that. */
  readonly positions: Map<string, number>
}

/** Asks a real store; its answer in the form in which the naive one answers. A refusal is an answer too. */
export async function ask(store: Store, call: StoreCall, asker: Asker): Promise<unknown> {
  try {
    return (await asked(store, call, asker)) ?? null
  } catch (thrown) {
    const code = errorCode(thrown)
    if (code === undefined) throw thrown
    const { field } = thrown as { field?: string }
    // Which field is to blame is promised where it is the caller's choice.
    const isNamed = field !== undefined && /account$|user$/.test(call.do) && call.do !== 'remove account'
    return isNamed ? `${code} of the ${field}` : code
  }
}

async function asked(store: Store, call: StoreCall, asker: Asker): Promise<unknown> {
  const { leaseMs, positions } = asker
  const { deliveries, webhooks } = store
  const { now } = call
  switch (call.do) {
    case 'own':
    case 'renew':
      return shards(await deliveries[call.do](call.owner, leaseMs))
    case 'ask too early': {
      const given = shards(await deliveries.own(call.owner, leaseMs))
      await deliveries.release(call.owner)
      return given
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
      const accepted = await deliveries.accept({ events, deliveries: rows, maxPending: call.most }, now)
      return accepted.map(({ id, sequence, duplicate }) => ({ id, number: sequence, duplicate }))
    }
    case 'claim': {
      const { owner, endpoints, limit } = call
      const { claims } = await deliveries.claim({ owner, endpoints, limit, now })
      return claims.map(({ delivery: { id, fence, attempts } }) => ({ id, fence, attempts }))
    }
    case 'settle': {
      const settlements = call.settlements.map((one) => settlementOf(call.owner, one, now))
      const settled = await deliveries.settle(settlements, now)
      return settled.map((one) =>
        one.kind === 'settled' && one.disabled ? 'settled, and disabled' : one.kind,
      )
    }
    case 'insert':
      return webhooks.insert(webhookOf(call.hook))
    case 'replace':
      return webhooks.replace(webhookOf(call.hook), call.revision)
    case 'read': {
      const webhook = await webhooks.read(call.accountId, call.id)
      return webhook && hookOf(webhook)
    }
    case 'list':
      return (await webhooks.list([ACCOUNT])).map(({ id }) => id)
    case 'pending':
      return deliveries.pending()
    case 'ready': {
      const ready = (await deliveries.ready(call.owner)).filter(({ dueMs }) => dueMs !== undefined)
      const told = ready.map(({ webhookId, dueMs }) => ({ id: webhookId, inMs: Math.max(0, dueMs! - now) }))
      return told.sort((a, b) => (a.id < b.id ? -1 : 1))
    }
    case 'stale':
    case 'orphans':
      return (await deliveries[call.do](call.owner, 1_000)).map(({ id }) => id).sort()
    case 'deliveries':
      return pagesOfDeliveries(deliveries, ACCOUNT, call)
    case 'attempts':
      return pagesOfAttempts(deliveries, ACCOUNT, call)
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
      return untilNone(() =>
        deliveries.prune({ attemptsPerWebhook: call.keep, beforeMs: call.beforeMs, limit: 3 }, now),
      )
    case 'erase':
      // Told of the time, since an erasure is not.
      await deliveries.renew(call.owner, leaseMs)
      return untilNone(() => deliveries.erase({ accountId: ACCOUNT, callIds: [call.callId] }, 2))
    default:
      return askRows(store, call)
  }
}

async function askRows({ tokens, accounts }: Store, call: StoreCall): Promise<unknown> {
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
    case 'move account':
      return accounts.update(newAccount(call.account))
    case 'remove account':
      return accounts.remove(call.id)
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
      throw new Error(`nobody knows how to ask a store '${call.do}'`)
  }
}

function settlementOf(owner: string, s: SettlementCall, now: number): Settlement {
  const { id: deliveryId, webhookId, fence, attempts, epoch, health } = s
  const event = newEvent({ id: 'any', callId: s.callId })
  const delivery = newDelivery(newWebhook({ id: webhookId }), event, { id: deliveryId })
  const was = { ...delivery, attempts: attempts - 1, fence } as Parameters<typeof newRecord>[0]
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
    ...(s.record !== undefined && { record: newRecord(was, { id: s.record, atMs: now }) }),
    endpoint: {
      epoch,
      ...(health !== undefined && { health }),
      ...(s.disable && { disable: { reason: 'gone', atMs: now } }),
    },
  }
}

function webhookOf({ name, uri, ordering, enabled, deleted, ...row }: HookRow): Webhook {
  const settings = { name, uri, ordering, enabled }
  return newWebhook({ ...row, accountId: ACCOUNT, settings, ...(deleted && { deletedMs: 1 }) })
}

function hookOf({ id, settings, revision, epoch, health }: Webhook): HookRow {
  const { name, uri, ordering, enabled } = settings
  return { id, name, uri, ordering, enabled, revision, epoch, ...(health && { health }) }
}

const shards = ({ shards: all }: { shards: readonly number[] }) =>
  all.length === 64 ? 'all shards' : all.length === 0 ? 'no shard' : `${all.length} shards`

async function untilNone(remove: () => Promise<number>): Promise<void> {
  for (let rounds = 0; (await remove()) > 0; rounds += 1) {
    if (rounds > 1_000) throw new Error('it says each time that it removed something, and never ends')
  }
}
