/**
 * The reference of the store model: a naive store over plain lists. Every decision scans everything, so that it is
 * evidently correct.
 */

import type {
  AccountCall,
  DeliveryCall,
  EventCall,
  SettlementCall,
  StoreCall,
  TokenCall,
  WebhookRow,
} from './store-calls.js'

type ReferenceDelivery = Omit<DeliveryCall, 'eventId'> & {
  state: string
  fence: number
  attempts: number
  due?: number | undefined
  term?: number
  reason?: string | undefined
  endedMs?: number
}

/** The state of the reference; all lists are in order of insertion. */
export interface ReferenceStore {
  readonly shared: boolean
  readonly leaseMs: number
  lease: { owner: string; untilMs: number; term: number }
  webhooks: WebhookRow[]
  deliveries: ReferenceDelivery[]
  records: { id: string; webhookId: string; callId: string; atMs: number }[]
  /** Ids of all records ever written: the position of a reader whose last record is pruned. */
  recorded: string[]
  keys: (EventCall & { sequence: number })[]
  numbers: Record<string, number>
  tokens: TokenCall[]
  accounts: (AccountCall & { users: { id: string; username: string }[] })[]
  /** Ids of removed accounts, which cannot be reused. */
  removed: string[]
}

export function createReferenceStore(shared: boolean, leaseMs: number): ReferenceStore {
  const lease = { owner: '', untilMs: 0, term: 0 }
  const empty = { webhooks: [], deliveries: [], records: [], recorded: [], keys: [], numbers: {} }
  return { shared, leaseMs, lease, ...empty, tokens: [], accounts: [], removed: [] }
}

/**
 * Executes a call on the reference and returns the result that the store must have. `actual` is the store's result: only
 * a claim uses it, because a store may choose among heads with equal due times.
 */
export function expectedResult(m: ReferenceStore, call: StoreCall, actual: unknown): unknown {
  const { now } = call
  const webhookById = (id: string) => m.webhooks.find((webhook) => webhook.id === id)
  const hasLease = m.lease.owner !== '' && (!m.shared || now < m.lease.untilMs)
  const owns = (owner: string) => hasLease && m.lease.owner === owner
  const isStale = (row: ReferenceDelivery) =>
    row.state === 'waiting' && row.epoch < webhookById(row.webhookId)!.epoch
  const dueRows = ({ id, epoch, deleted }: WebhookRow) =>
    m.deliveries.filter(
      (row) => !deleted && row.webhookId === id && row.epoch === epoch && row.due !== undefined,
    )
  switch (call.do) {
    case 'own':
      m.lease = {
        owner: call.owner,
        untilMs: now + m.leaseMs,
        term: m.lease.term + (owns(call.owner) ? 0 : 1),
      }
      return 'all shards'
    case 'renew':
      if (m.shared) return expectedResult(m, { ...call, do: 'own' }, actual)
      return owns(call.owner) ? 'all shards' : 'no shard'
    case 'own too early':
      return 'no shard'
    case 'release':
      if (m.lease.owner === call.owner) m.lease.owner = ''
      return null
    case 'accept': {
      const findByKey = <E extends EventCall>({ key }: EventCall, among: readonly E[]) =>
        among.find((event) => key !== undefined && event.key === key && now < event.untilMs!)
      const originals = call.events.map(
        (event, at) => findByKey(event, m.keys) ?? findByKey(event, call.events.slice(0, at)),
      )
      if (originals.some((original, at) => original && original.hash !== call.events[at]!.hash))
        return 'Conflict'
      const added = call.deliveries.filter(
        ({ eventId }) => !originals[call.events.findIndex(({ id }) => id === eventId)],
      )
      const pending = m.deliveries.filter(isPending).length
      if (added.length > 0 && pending + added.length > call.maxPending) return 'QueueFull'
      for (const { eventId: _, ...row } of added) {
        m.deliveries.push({ ...row, state: 'waiting', fence: 0, attempts: 0 })
      }
      promoteHeads(m, now)
      return call.events.map((event) => {
        const first = findByKey(event, m.keys)
        if (first) return { id: first.id, number: first.sequence, duplicate: true }
        const sequence = (m.numbers[event.callId] ?? 0) + 1
        m.numbers[event.callId] = sequence
        if (event.key) m.keys = [...m.keys.filter(({ key }) => key !== event.key), { ...event, sequence }]
        return { id: event.id, number: sequence, duplicate: false }
      })
    }
    case 'claim': {
      const taken = Array.isArray(actual) ? (actual as { id: string }[]).map(({ id }) => id) : []
      let left = call.limit
      const claims = call.endpoints.flatMap(({ webhookId, slots, retriesFirst }) => {
        const webhook = owns(call.owner) ? webhookById(webhookId) : undefined
        const { pausedUntilMs = 0, openings = 0 } = webhook?.health ?? {}
        const due = webhook && pausedUntilMs <= now ? dueRows(webhook).filter((row) => row.due! <= now) : []
        // Among equal due times, those that the store claimed come first.
        due.sort((a, b) => a.due! - b.due! || +taken.includes(b.id) - +taken.includes(a.id))
        const max = Math.min(slots, left, openings > 0 ? 1 : slots)
        const firstAttempts = openings > 0 ? due : due.filter(({ attempts }) => attempts === 0)
        const retries = openings > 0 ? [] : due.filter(({ attempts }) => attempts > 0)
        const half = Math.min(firstAttempts.length, retriesFirst ? Math.floor(max / 2) : Math.ceil(max / 2))
        const retryCount = Math.min(retries.length, max - half)
        const chosen = [...firstAttempts.slice(0, max - retryCount), ...retries.slice(0, retryCount)]
        left -= chosen.length
        for (const row of chosen) {
          Object.assign(row, { state: 'in_flight', fence: row.fence + 1, due: undefined, term: m.lease.term })
        }
        return chosen.map(({ id, fence, attempts }) => ({ id, fence, attempts }))
      })
      return claims.sort((a, b) => taken.indexOf(a.id) - taken.indexOf(b.id))
    }
    case 'settle':
      return call.settlements.map((one) => (owns(call.owner) ? settle(m, one, now) : 'fenced'))
    case 'replace': {
      const webhook = webhookById(call.webhook.id)
      if (!webhook || webhook.deleted || webhook.revision !== call.revision) return false
      const keepsHealth = webhook.uri === call.webhook.uri && (webhook.enabled || !call.webhook.enabled)
      m.webhooks[m.webhooks.indexOf(webhook)] =
        keepsHealth && webhook.health ? { ...call.webhook, health: webhook.health } : call.webhook
      return true
    }
    case 'pending':
      return m.deliveries.filter(isPending).length
    case 'ready':
      return (owns(call.owner) ? m.webhooks : []).flatMap((webhook) => {
        const dueMs = Math.min(...dueRows(webhook).map((row) => row.due!))
        const inMs = Math.max(dueMs, webhook.health?.pausedUntilMs ?? now, now) - now
        return dueMs < Infinity ? [{ id: webhook.id, inMs }] : []
      })
    case 'stale':
      return m.deliveries
        .filter((row) => owns(call.owner) && isStale(row))
        .map(({ id }) => id)
        .sort()
    case 'orphans': {
      const isOrphan = ({ state, term }: ReferenceDelivery) => state === 'in_flight' && term !== m.lease.term
      return m.deliveries
        .filter((row) => owns(call.owner) && isOrphan(row))
        .map(({ id }) => id)
        .sort()
    }
    case 'deliveries': {
      const rows = m.deliveries.filter(({ webhookId }) => webhookId === call.webhookId)
      const read = rows.map((row) => {
        const { id, attempts, fence, state, reason } = row
        if (isStale(row)) return { id, state: 'cancelled', reason: 'cancelled', attempts, fence, ahead: 0 }
        const ahead = isPending(row) ? aheadOf(m, row).filter((other) => !isStale(other)).length : 0
        return { id, state, reason, attempts, fence, ahead }
      })
      return call.ascending ? read : read.reverse()
    }
    default:
      return expectedRows(m, call)
  }
}

const isPending = ({ state }: ReferenceDelivery) => state === 'waiting' || state === 'in_flight'

/** Pending deliveries of the same lane that come first. */
function aheadOf(m: ReferenceStore, row: ReferenceDelivery): ReferenceDelivery[] {
  const earlier = m.deliveries.slice(0, m.deliveries.indexOf(row))
  return earlier.filter(
    (other) => other.webhookId === row.webhookId && other.lane === row.lane && isPending(other),
  )
}

/** Gives the head of each lane its due time. */
function promoteHeads(m: ReferenceStore, now: number): void {
  for (const row of m.deliveries) {
    if (row.state === 'waiting' && row.due === undefined && aheadOf(m, row).length === 0) row.due = now
  }
}

function settle(m: ReferenceStore, s: SettlementCall, now: number): string {
  const row = m.deliveries.find((one) => one.id === s.id && one.webhookId === s.webhookId)
  if (row?.state !== s.from || row.fence !== s.fence) return 'fenced'
  Object.assign(row, { state: s.to, attempts: s.attempts, reason: s.reason, due: undefined, endedMs: now })
  if (s.to === 'waiting' && aheadOf(m, row).length === 0) row.due = s.dueMs
  promoteHeads(m, now)
  if (s.record) {
    m.records.push({ id: s.record, webhookId: s.webhookId, callId: s.callId, atMs: now })
    m.recorded.push(s.record)
  }
  const at = m.webhooks.findIndex(({ id }) => id === s.webhookId)
  const { health: before, ...webhook } = m.webhooks[at]!
  if (webhook.epoch !== s.epoch) return 'settled'
  const health = s.health === undefined ? before : (s.health ?? undefined)
  const next: WebhookRow = health === undefined ? webhook : { ...webhook, health }
  const isDisabled = s.disable === true && webhook.enabled
  const { epoch, revision } = webhook
  m.webhooks[at] = isDisabled ? { ...next, enabled: false, epoch: epoch + 1, revision: revision + 1 } : next
  return isDisabled ? 'settled and disabled' : 'settled'
}

/** Webhooks, attempt records, removal and tokens. */
function expectedRows(m: ReferenceStore, call: StoreCall): unknown {
  const { now } = call
  const webhookById = (id: string) => m.webhooks.find((webhook) => webhook.id === id)
  switch (call.do) {
    case 'insert':
      if (webhookById(call.webhook.id)) return 'Conflict'
      m.webhooks.push(call.webhook)
      return null
    case 'read': {
      const webhook = webhookById(call.id)
      return call.accountId !== 'account' || !webhook || webhook.deleted ? null : webhook
    }
    case 'list': {
      const live = m.webhooks.filter(({ deleted }) => !deleted)
      return live.sort((a, b) => (`${a.name} ${a.id}` < `${b.name} ${b.id}` ? -1 : 1)).map(({ id }) => id)
    }
    case 'attempts': {
      const { webhookId, callId } = call
      const found = m.records.filter(
        (record) =>
          (webhookId === undefined || record.webhookId === webhookId) &&
          (callId === undefined || record.callId === callId),
      )
      return (call.ascending ? found : found.reverse()).map(({ id }) => id)
    }
    case 'page': {
      const from = call.last ? m.recorded.indexOf(call.last) : -1
      const after = m.records.map(({ id }) => id).filter((id) => m.recorded.indexOf(id) > from)
      return after.slice(0, call.size)
    }
    case 'prune': {
      const newest = m.webhooks.flatMap(({ id }) =>
        m.records.filter(({ webhookId }) => webhookId === id).slice(-call.keep),
      )
      m.records = m.records.filter((record) => newest.includes(record) && record.atMs >= call.beforeMs)
      m.deliveries = m.deliveries.filter((row) => isPending(row) || row.endedMs! >= call.beforeMs)
      return null
    }
    case 'erase':
      m.deliveries = m.deliveries.filter(({ callId }) => callId !== call.callId)
      m.records = m.records.filter(({ callId }) => callId !== call.callId)
      m.keys = m.keys.filter(({ callId }) => callId !== call.callId)
      delete m.numbers[call.callId]
      promoteHeads(m, now)
      return null
    case 'issue':
      m.tokens.push(call.token)
      return null
    case 'read token':
      return m.tokens.find(({ hash }) => hash === call.hash) ?? null
    case 'revoke':
      return removeTokens(m, ({ hash }) => hash === call.hash) > 0
    case 'revoke all':
      return removeTokens(
        m,
        ({ accountId, userId = null }) =>
          accountId === call.accountId && (call.holder === undefined || userId === call.holder),
      )
    case 'prune tokens':
      return removeTokens(m, ({ expiresMs }) => expiresMs <= now)
    default:
      return expectedAccounts(m, call)
  }
}

function removeTokens(
  m: ReferenceStore,
  matches: (token: ReferenceStore['tokens'][number]) => boolean,
): number {
  const count = m.tokens.length
  m.tokens = m.tokens.filter((token) => !matches(token))
  return count - m.tokens.length
}

function expectedAccounts(m: ReferenceStore, call: StoreCall): unknown {
  const accountById = (id: string | undefined) => m.accounts.find((account) => account.id === id)
  switch (call.do) {
    case 'add account': {
      const { account } = call
      if (accountById(account.id) || m.removed.includes(account.id)) return 'Conflict of the id'
      if (m.accounts.some(({ realm }) => realm === account.realm)) return 'Conflict of the realm'
      m.accounts.push({ ...account, users: [] })
      return null
    }
    case 'update account': {
      const before = accountById(call.account.id)
      if (!before) return 'NotFound'
      if (m.accounts.some((other) => other !== before && other.realm === call.account.realm))
        return 'Conflict of the realm'
      m.accounts[m.accounts.indexOf(before)] = { ...call.account, users: before.users }
      return null
    }
    case 'remove account':
      if (!accountById(call.id)) return 'NotFound'
      if (m.accounts.some(({ parentId }) => parentId === call.id)) return 'Conflict'
      m.accounts = m.accounts.filter(({ id }) => id !== call.id)
      m.removed.push(call.id)
      return null
    case 'find account': {
      const account = accountById(call.id)
      if (!account) return null
      const users = account.users.map(({ username }) => username).sort()
      return { id: account.id, realm: account.realm, parent: accountById(account.parentId)?.id, users }
    }
    case 'put user': {
      const account = accountById(call.accountId)
      if (!account) return 'NotFound'
      const others = account.users.filter(({ id }) => id !== call.id)
      if (others.some(({ username }) => username === call.username)) return 'Conflict of the username'
      account.users = [...others, { id: call.id, username: call.username }]
      return null
    }
    case 'remove user': {
      const account = accountById(call.accountId)
      const exists = account?.users.some(({ id }) => id === call.id) === true
      if (account) account.users = account.users.filter(({ id }) => id !== call.id)
      return exists
    }
    default:
      throw new Error(`the reference does not implement '${call.do}'`)
  }
}
