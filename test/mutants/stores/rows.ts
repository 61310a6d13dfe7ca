import type { StoredAttempt } from '../../../src/delivery/attempt-record.js'
import type { AttemptQuery, DeliveryQuery, StoredDelivery } from '../../../src/delivery/delivery-queries.js'
import { positionAt } from '../../../src/delivery/positions.js'
import type { QueueStore } from '../../../src/delivery/queue-store.js'
import type { Health } from '../../../src/webhooks/health.js'
import { onDelivery } from './settlements.js'
import {
  faultsOf,
  filterRows,
  onAcceptance,
  onCommitted,
  onGroup,
  onLoad,
  STORE_MODEL,
  type StoreFault,
} from './store-fault.js'

const epochFault = faultsOf('epochs', 'deliveries')
const healthFault = faultsOf('health', 'deliveries')
const deliveryFault = faultsOf('deliveries', 'deliveries')
const attemptFault = faultsOf('attempts', 'deliveries')
const legFault = faultsOf('legs', 'deliveries')
const pruneFault = faultsOf('pruning', 'deliveries')
const erasureFault = faultsOf('erasure', 'deliveries')

const asWaiting = (row: StoredDelivery): StoredDelivery =>
  row.state === 'cancelled' && row.endedMs === undefined ? { ...row, state: 'waiting' } : row

/** Defects of epochs. */
export const brokenEpochs: readonly StoreFault[] = [
  epochFault(
    'deliveries of an older epoch are listed as waiting',
    (store) => ({
      deliveries: async (query) => (await store.deliveries(query)).map(asWaiting),
    }),
    [STORE_MODEL],
  ),
  epochFault(
    'a delivery of an older epoch starts',
    onCommitted((result) => ({ ...result, notStarted: [] })),
    [STORE_MODEL],
  ),
  epochFault('deliveries of an older epoch are not accepted', (store) => ({
    async commit(group) {
      const epochs = new Map<string, number>()
      for (const { deliveries } of group.accepted)
        for (const { webhookId } of deliveries)
          epochs.set(webhookId, (await store.webhookOf(webhookId))?.epoch ?? 0)
      return onAcceptance((acceptance) => ({
        ...acceptance,
        deliveries: acceptance.deliveries.filter(({ webhookId, epoch }) => epoch >= epochs.get(webhookId)!),
      }))(store).commit(group)
    },
  })),
  epochFault('deliveries of deleted webhooks cannot be read', (store) => ({
    async delivery(accountId, id) {
      const row = await store.delivery(accountId, id)
      return row && (await store.webhookOf(row.webhookId))?.deletedMs === undefined ? row : undefined
    },
  })),
  faultsOf('epochs', 'webhooks')('every replacement raises the epoch', (webhooks) => ({
    replace: (webhook, revision) => webhooks.replace({ ...webhook, epoch: webhook.epoch + 1 }, revision),
  })),
  epochFault('all deliveries of a disabled webhook are cancelled', (store) => ({
    async delivery(accountId, id) {
      const row = await store.delivery(accountId, id)
      const webhook = row && (await store.webhookOf(row.webhookId))
      return row?.state === 'waiting' && !webhook?.settings.enabled ? { ...row, state: 'cancelled' } : row
    },
  })),
]

const onEndpoint = (
  change: (
    endpoint: NonNullable<Parameters<QueueStore['commit']>[0]['ended'][number]['endpoint']>,
    index: number,
  ) => typeof endpoint | undefined,
) =>
  onGroup((group) => ({
    ...group,
    ended: group.ended.map(({ endpoint, ...settlement }, index) => {
      const changed = endpoint && change(endpoint, index)
      return changed ? { ...settlement, endpoint: changed } : settlement
    }),
  }))

/** Defects of health. */
export const brokenHealth: readonly StoreFault[] = [
  healthFault(
    'health is not written',
    onEndpoint(({ health: _lost, ...endpoint }) => endpoint),
    [STORE_MODEL],
  ),
  healthFault(
    'clean health is not written',
    onEndpoint(({ health, ...endpoint }) => (health ? { ...endpoint, health } : endpoint)),
  ),
  {
    ...faultsOf('health', 'webhooks')('unhealthy lists webhooks of the page before again', (webhooks) => ({
      unhealthy: (limit) => webhooks.unhealthy(limit),
    })),
  },
  faultsOf('health', 'webhooks')('ids lists webhooks of the page before again', (webhooks) => ({
    ids: (limit) => webhooks.ids(limit),
  })),
  healthFault(
    'loads have no health',
    onLoad((part) => ({
      ...part,
      webhooks: part.webhooks.map(({ health: _none, ...webhook }) => webhook),
    })),
  ),
  healthFault(
    'the first settlement of a group decides the health',
    onEndpoint((endpoint, index) => (index === 0 ? endpoint : undefined)),
  ),
  healthFault(
    'a disabled webhook is not reported',
    onCommitted((result) => ({ ...result, ended: result.ended.map(({ kind }) => ({ kind })) })),
    [STORE_MODEL],
  ),
  healthFault('every settlement that disables reports the webhook', (store) => ({
    async commit(group) {
      const result = await store.commit(group)
      if (result.kind !== 'committed') return result
      const ended = await Promise.all(
        result.ended.map(async (settlement, index) => {
          const { endpoint, webhookId } = group.ended[index]!
          const disabled = endpoint?.disable && (await store.webhookOf(webhookId))
          return settlement.kind === 'settled' && disabled ? { ...settlement, disabled } : settlement
        }),
      )
      return { ...result, ended }
    },
  })),
  healthFault('a fenced settlement writes its health', (store) => ({
    async commit(group) {
      const ended = await Promise.all(
        group.ended.map(async (settlement) => {
          const [claim] = await store.bodies([
            { webhookId: settlement.webhookId, position: settlement.position! },
          ])
          return { ...settlement, expect: { ...settlement.expect, attempts: claim?.delivery.attempts ?? 0 } }
        }),
      )
      return store.commit({ ...group, ended })
    },
  })),
  faultsOf('health', 'webhooks')('a replacement restores the health that it contains', (webhooks) => {
    const replaced = new Map<string, Health | undefined>()
    return {
      replace(webhook, revision) {
        replaced.set(webhook.id, webhook.health)
        return webhooks.replace(webhook, revision)
      },
      async read(accountId, id) {
        const webhook = await webhooks.read(accountId, id)
        const health = replaced.get(id)
        return webhook && health ? { ...webhook, health } : webhook
      },
    }
  }),
  faultsOf('health', 'webhooks')('a webhook that is resumed stays paused', (webhooks) => {
    const paused = new Map<string, Health>()
    return {
      async replace(webhook, revision) {
        const before = await webhooks.read(webhook.accountId, webhook.id)
        if (before?.health && webhook.resumedRevision !== before.resumedRevision)
          paused.set(webhook.id, before.health)
        return webhooks.replace(webhook, revision)
      },
      async read(accountId, id) {
        const webhook = await webhooks.read(accountId, id)
        const health = paused.get(id)
        return webhook && health ? { ...webhook, health } : webhook
      },
    }
  }),
]

const onList = (change: (query: DeliveryQuery) => DeliveryQuery) => (store: QueueStore) => ({
  deliveries: (query: DeliveryQuery) => store.deliveries(change(query)),
})

/** Ids of deliveries that ended without a record. */
function trackSlimEnds(store: QueueStore) {
  const slim = new Set<string>()
  return {
    slim,
    commit: (group: Parameters<QueueStore['commit']>[0]) => {
      for (const { deliveryId, record, next } of group.ended)
        if (!record && next.state !== 'waiting') slim.add(deliveryId)
      return store.commit(group)
    },
  }
}

/** Defects of delivery queries. */
export const brokenDeliveries: readonly StoreFault[] = [
  deliveryFault(
    'a page of deliveries includes the row at its cursor',
    onList((query) => (query.cursor === undefined ? query : { ...query, cursor: query.cursor + 1 })),
  ),
  deliveryFault(
    'deliveries are not filtered by state',
    onList(({ states: _ignored, ...query }) => query),
  ),
  deliveryFault(
    'deliveries are not filtered by time',
    onList(({ fromMs: _from, toMs: _to, ...query }) => query),
  ),
  deliveryFault(
    'a list of deliveries goes on behind the end of its part',
    onList(({ end: _end, ...query }) => query),
  ),
  faultsOf('replays', 'deliveries')(
    'a range of deliveries is one of positions',
    onList(({ end = Number.MAX_SAFE_INTEGER, ...query }) => ({
      ...query,
      ...(query.ascending && query.toMs !== undefined && { end: Math.min(end, positionAt(query.toMs)) }),
    })),
  ),
  deliveryFault('a part of deliveries ends with the last row', (store) => ({
    async listPart(query) {
      const part = await store.listPart(query)
      return query.list === 'deliveries' ? { ...part, hasMore: false } : part
    },
  })),
  deliveryFault('a page of a search ends at its limit', (store) => ({
    async search(query) {
      const { deliveries, cursor } = await store.search(query)
      return { deliveries: deliveries.slice(0, query.limit), ...(cursor !== undefined && { cursor }) }
    },
  })),
  deliveryFault('an event is found for every account', (store) => ({
    eventOf: (_accountId, eventId) => store.eventOf(undefined, eventId),
  })),
  deliveryFault('a delivery is read only by its account', (store) => ({
    delivery: (accountId = '', id) => store.delivery(accountId, id),
  })),
  deliveryFault('a search ignores the call', (store) => ({
    search: ({ callId: _ignored, ...query }) => store.search(query),
  })),
  deliveryFault(
    'deliveries have no numbers',
    onDelivery(() => ({ sequence: 0 })),
  ),
  deliveryFault('a search compares the stored state', (store) => ({
    async search({ states, ...query }) {
      const found = await store.search({ ...query, limit: 1e9 })
      const deliveries = found.deliveries.filter((row) => !states || states.includes(asWaiting(row).state))
      return { deliveries: deliveries.slice(0, query.limit) }
    },
  })),
  deliveryFault(
    'the time of the end is lost',
    onDelivery((row) => (row.endedMs === undefined ? {} : { endedMs: row.acceptedMs })),
  ),
  deliveryFault('an end without a record is in no list', (store) => {
    const { slim, commit } = trackSlimEnds(store)
    return {
      commit,
      deliveries: async (query) => (await store.deliveries(query)).filter(({ id }) => !slim.has(id)),
    }
  }),
]

const onAttempts = (change: (query: AttemptQuery) => AttemptQuery) => (store: QueueStore) => ({
  attempts: (query: AttemptQuery) => store.attempts(change(query)),
})

/** Defects of attempts. */
export const brokenAttempts: readonly StoreFault[] = [
  attemptFault('the last success is the newest record', (store) => ({
    async lastSuccesses(ids) {
      const found = new Map<string, number>()
      for (const webhookId of ids) {
        const accountId = (await store.webhookOf(webhookId))?.accountId ?? ''
        const [newest] = await store.attempts({ accountId, webhookId, limit: 1 })
        if (newest) found.set(webhookId, newest.atMs)
      }
      return found
    },
  })),
  attemptFault('a part of the attempts of an account begins at its cursor', (store) => ({
    async listPart({ rows = 1_000, ...query }) {
      const part = await store.listPart({ rows, ...query })
      if (query.list !== 'attempts' || query.webhookId !== undefined) return part
      const { cursor, end, hasMore } = part
      const last = query.ascending ? Math.min(end, cursor + rows) : Math.max(end, cursor - rows)
      return { cursor, end: last, hasMore: hasMore || last !== end }
    },
  })),
  attemptFault('the log of attempts skips the record after a part', (store) => ({
    async attemptLog(query) {
      const page = await store.attemptLog(query)
      return { ...page, position: page.position + (page.attempts.length === query.limit ? 1 : 0) }
    },
  })),
  attemptFault('the log of attempts loses the class of the failure', (store) => ({
    async attemptLog(query) {
      const page = await store.attemptLog(query)
      return {
        ...page,
        attempts: page.attempts.map(({ clientError: _lost, ...attempt }) => attempt),
      }
    },
  })),
  attemptFault('slim attempts have no number', (store) => ({
    attempts: async (query) =>
      (await store.attempts(query)).map((attempt) => (query.slim ? { ...attempt, attempt: 0 } : attempt)),
  })),
  attemptFault('the log of attempts names no parties', (store) => ({
    async attemptLog(query) {
      const page = await store.attemptLog(query)
      return { ...page, attempts: page.attempts.map(({ call: _lost, ...attempt }) => attempt) }
    },
  })),
  attemptFault('the body of another variant is read', (store) => ({
    eventBodies: (keys) => store.eventBodies(keys.map((key) => ({ ...key, variant: 0 }))),
  })),
  ...(['cause', 'detail', 'outOfOrder', 'late', 'call'] as const).map((name) =>
    attemptFault(`attempts lose ${name}`, (store) => ({
      attempts: async (query) =>
        (await store.attempts(query)).map(({ [name]: _lost, ...attempt }) => attempt as StoredAttempt),
    })),
  ),
  attemptFault('every attempt has a request body', (store) => ({
    attempts: async (query) =>
      (await store.attempts(query)).map((attempt) => ({ requestBody: '', ...attempt })),
  })),
  attemptFault('request bodies are truncated to 8,191 characters', (store) => ({
    attempts: async (query) =>
      (await store.attempts(query)).map((attempt) =>
        attempt.requestBody === undefined
          ? attempt
          : { ...attempt, requestBody: attempt.requestBody.slice(0, 8_191) },
      ),
  })),
  attemptFault(
    'attempts are always listed newest first',
    onAttempts(({ ascending: _ignored, ...query }) => query),
  ),
  attemptFault('attempts of deleted webhooks are not listed', (store) => ({
    async attempts(query) {
      const rows = await store.attempts({ ...query, limit: 1e9 })
      const webhooks = await Promise.all(rows.map(({ webhookId }) => store.webhookOf(webhookId)))
      return rows.filter((_, index) => webhooks[index]?.deletedMs === undefined).slice(0, query.limit)
    },
  })),
  attemptFault('a page includes the row at its cursor', (store) => ({
    attempts: (query) =>
      store.attempts(
        query.cursor === undefined ? query : { ...query, cursor: query.cursor + (query.ascending ? -1 : 1) },
      ),
  })),
  attemptFault(
    'attempts are not filtered by the kind of their event',
    onAttempts(({ hooks: _ignored, ...query }) => query),
  ),
  attemptFault(
    'attempts are not filtered by call',
    onAttempts(({ callIds: _ignored, ...query }) => query),
  ),
  attemptFault('only the last attempt of a delivery is found', (store) => ({
    attempts: (query) => store.attempts(query.deliveryId === undefined ? query : { ...query, limit: 1 }),
  })),
  attemptFault('attempts of a webhook are read without a check of the account', (store) => ({
    async attempts(query) {
      const webhook = query.webhookId === undefined ? undefined : await store.webhookOf(query.webhookId)
      return store.attempts({ ...query, accountId: webhook?.accountId ?? query.accountId })
    },
  })),
]

/** Defects of legs. */
export const brokenLegs: readonly StoreFault[] = [
  legFault('a call comes last in its own list', (store) => ({
    legs: async (accountId, callId) => (await store.legs(accountId, callId)).toReversed(),
  })),
  legFault('a call does not exist before its second leg', (store) => ({
    async legs(accountId, callId) {
      const legs = await store.legs(accountId, callId)
      return legs.length > 1 ? legs : []
    },
  })),
  legFault('the legs of legs are legs', (store) => ({
    async legs(accountId, callId) {
      const legs = await store.legs(accountId, callId)
      const more = await Promise.all(legs.map((leg) => store.legs(accountId, leg)))
      return [...new Set([...legs, ...more.flat()])]
    },
  })),
  legFault('all accounts share their calls', (store) => ({
    async legs(accountId, callId) {
      const legs = await store.legs(accountId, callId)
      return legs.length > 0 ? legs : store.legs('child', callId)
    },
  })),
  legFault(
    'an event without a call has a number',
    onAcceptance((acceptance) => ({
      ...acceptance,
      events: acceptance.events.map((event) => ({ ...event, numbered: true, callId: event.callId ?? '' })),
    })),
  ),
]

type Prune = QueueStore['prune']

/** Calls back before a call of `prune`. */
const whenPruned = (store: QueueStore, work: (...args: Parameters<Prune>) => Promise<void> | void) => ({
  async prune(...args: Parameters<Prune>) {
    await work(...args)
    return store.prune(...args)
  },
})

/** Defects of pruning. */
export const brokenPruning: readonly StoreFault[] = [
  pruneFault('prune removes rows of any age', (store) => ({
    prune: (limits, now) => store.prune({ ...limits, beforeMs: now + 1 }, now),
  })),
  pruneFault('attempts of all deliveries count', (store) => ({
    async prune(limits, now) {
      const { deliveries } = await store.search({ limit: 1e9 })
      const rows = await store.attempts({ accountId: 'account', limit: 1e9 })
      const states = new Map(deliveries.map(({ id, state }) => [id, state]))
      const others = rows.filter(({ deliveryId }) => states.get(deliveryId) !== 'delivered').length
      const attemptsPerWebhook = Math.max(0, limits.attemptsPerWebhook - others)
      return store.prune({ ...limits, attemptsPerWebhook }, now)
    },
  })),
  pruneFault(
    'nothing is removed by number',
    (store) => ({
      prune: (limits, now) => store.prune({ ...limits, attemptsPerWebhook: 1e9 }, now),
    }),
    [STORE_MODEL],
  ),
  pruneFault('prune keeps rows that are too old', (store) => ({
    prune: (limits, now) => store.prune({ ...limits, beforeMs: 0 }, now),
  })),
  pruneFault('an end without a record goes with the oldest attempts', (store) => {
    const { slim, commit } = trackSlimEnds(store)
    let isPruned = false
    return {
      commit,
      delivery: async (accountId, id) =>
        isPruned && slim.has(id) ? undefined : store.delivery(accountId, id),
      ...whenPruned(store, () => {
        isPruned = true
      }),
    }
  }),
  pruneFault('pruned attempts are found by their call', (store) => {
    const known = new Map<string, Awaited<ReturnType<QueueStore['attempts']>>>()
    return {
      attempts: async (query) => known.get(String(query.callIds)) ?? store.attempts(query),
      ...whenPruned(store, async () => {
        for (const call of ['a', 'b'])
          if (!known.has(call))
            known.set(call, await store.attempts({ accountId: 'account', callIds: [call], limit: 99 }))
      }),
    }
  }),
  pruneFault('prune restarts the numbers of calls', (store) => {
    let pruned = 0
    return {
      ...onAcceptance((acceptance) => ({
        ...acceptance,
        events: acceptance.events.map((event) => ({ ...event, callId: `${event.callId}-${pruned}` })),
      }))(store),
      ...whenPruned(store, () => {
        pruned = 1
      }),
    }
  }),
  pruneFault('prune removes waiting deliveries', (store) => {
    let isPruned = false
    return {
      async load(...args) {
        const part = await store.load(...args)
        return part && isPruned ? { ...part, waiting: filterRows(part.waiting, () => false) } : part
      },
      ...whenPruned(store, () => {
        isPruned = true
      }),
    }
  }),
  pruneFault('prune exceeds its limit', (store) => ({
    prune: (limits, now) => store.prune({ ...limits, limit: limits.limit + 1 }, now),
  })),
  pruneFault('prune removes idempotency keys within their window', (store) => {
    let pruned = 0
    return {
      ...onAcceptance((acceptance) => ({
        ...acceptance,
        events: acceptance.events.map((event) =>
          event.idempotency
            ? { ...event, idempotency: { ...event.idempotency, key: `${event.idempotency.key} ${pruned}` } }
            : event,
        ),
      }))(store),
      ...whenPruned(store, () => {
        pruned = 1
      }),
    }
  }),
]

/** Defects of erasure. */
export const brokenErasure: readonly StoreFault[] = [
  erasureFault('nothing is erased', () => ({ erase: async () => 0 }), [STORE_MODEL]),
  erasureFault('erasing a call erases the whole account', (store) => ({
    erase: ({ accountId }, limit) => store.erase({ accountId }, limit),
  })),
  erasureFault('erasing an account erases calls of other accounts with the same id', (store) => ({
    async erase(erasure, limit) {
      const others = await store.erase({ ...erasure, accountId: 'stranger' }, limit)
      return others + (await store.erase(erasure, limit))
    },
  })),
  erasureFault('mentions finds a number in every call', (store) => ({
    mentions: (accountId, _text, cursor, limit) => store.mentions(accountId, '5', cursor, limit),
  })),
  erasureFault('scrub removes other rows', (store) => ({
    async scrub() {
      while ((await store.erase({ accountId: 'account' }, 99)) > 0) {}
    },
  })),
]
