/** The reference of the service model: a naive service over plain lists. All times are ms since its start. */

import {
  type Behaviour,
  RETRIES,
  RETRY_MS,
  type ServiceCall,
  SLOW_MS,
  TOKEN_TTL_SECONDS,
} from './service-calls.js'

interface ReferenceDelivery {
  readonly webhook: string
  readonly lane: string
  readonly event: string
  readonly epoch: number
  state: 'waiting' | 'in_flight' | 'delivered' | 'exhausted' | 'cancelled' | 'quarantined'
  /** While waiting, when it is due; in flight, when its response arrives. Unset behind others in its lane. */
  atMs?: number | undefined
  tries: number
  interruptions: number
}

/** The state of the reference; all lists are in order of insertion. */
export interface ReferenceService {
  nowMs: number
  accounts: { id: string; parent?: string; enabled: boolean; key: number; password: number }[]
  tokens: { name: string; account: string; by: 'key' | 'password'; version: number; untilMs: number }[]
  webhooks: {
    id: string
    account: string
    hook: string
    includeSubaccounts: boolean
    name: string
    enabled: boolean
    isDeleted: boolean
    revision: number
    epoch: number
    behaviour: Behaviour
  }[]
  keys: { account: string; key: string; body: string; event: string; number: number }[]
  numbers: Record<string, number>
  deliveries: ReferenceDelivery[]
  /** Requests in order, by webhook and lane: the event and the time. */
  requests: Record<string, string[]>
}

export function createReferenceService(): ReferenceService {
  const account = (id: string, parent?: string) => ({
    id,
    enabled: true,
    key: 0,
    password: 0,
    ...(parent && { parent }),
  })
  const accounts = [account('root'), account('branch', 'root'), account('other')]
  return {
    nowMs: 0,
    accounts,
    tokens: [],
    webhooks: [],
    keys: [],
    numbers: {},
    deliveries: [],
    requests: {},
  }
}

/** Executes a call on the reference and returns the result that the service must have. */
export function expectedServiceResult(m: ReferenceService, call: ServiceCall): unknown {
  const accountById = (id: string) => m.accounts.find((account) => account.id === id)!
  switch (call.do) {
    case 'sign in': {
      const { enabled, ...account } = accountById(call.account)
      if (!call.isValid) return 'InvalidCredentials'
      if (!enabled) return 'AccountLocked'
      const name = `token ${m.tokens.length + 1}`
      const untilMs = m.nowMs + TOKEN_TTL_SECONDS * 1_000
      m.tokens.push({ name, account: call.account, by: call.by, version: account[call.by], untilMs })
      return name
    }
    case 'use': {
      const token = m.tokens.find(({ name }) => name === call.token)!
      const { enabled, ...account } = accountById(token.account)
      const isValid = enabled && account[token.by] === token.version && m.nowMs < token.untilMs
      return isValid ? `${token.account}, by ${token.by}` : 'InvalidCredentials'
    }
    case 'sign out':
      m.tokens.find(({ name }) => name === call.token)!.untilMs = 0
      return null
    case 'rotate the key':
      accountById(call.account).key += 1
      return null
    case 'set the password':
      accountById(call.account).password += 1
      return null
    case 'enable':
      accountById(call.account).enabled = call.enabled
      return null
    case 'create': {
      const { webhook, account, hook, includeSubaccounts } = call
      m.webhooks.push({
        id: webhook,
        account,
        hook,
        includeSubaccounts,
        name: webhook,
        enabled: true,
        isDeleted: false,
        revision: 1,
        epoch: 1,
        behaviour: 'succeeds',
      })
      return 'revision 1'
    }
    case 'patch':
    case 'remove': {
      const webhook = m.webhooks.find(({ id }) => id === call.webhook)!
      if (webhook.isDeleted) return 'NotFound'
      if (call.revision !== undefined && call.revision !== webhook.revision) return 'RevisionConflict'
      const result = `revision ${webhook.revision + (call.do === 'patch' ? 1 : 0)}`
      const wasEnabled = webhook.enabled
      webhook.revision += 1
      if (call.do === 'patch') Object.assign(webhook, call.change)
      else webhook.isDeleted = true
      if (webhook.isDeleted || (wasEnabled && !webhook.enabled)) webhook.epoch += 1
      cancelStale(m)
      return result
    }
    case 'list': {
      const live = m.webhooks.filter(({ account, isDeleted }) => account === call.account && !isDeleted)
      const rows = live.sort((a, b) => (a.name < b.name ? -1 : 1))
      return rows.map(({ id, name, enabled, revision }) => ({ id, name, enabled, revision }))
    }
    case 'publish': {
      const { account, call: callId, hook, key, event } = call
      const body = `${callId} ${hook}`
      const first = m.keys.find((entry) => entry.account === account && entry.key === key)
      if (first && first.body !== body) return 'Conflict'
      if (first) return { id: first.event, number: first.number, duplicate: true }
      const lane = `${account}/${callId}`
      const number = (m.numbers[lane] ?? 0) + 1
      m.numbers[lane] = number
      if (key !== undefined) m.keys.push({ account, key, body, event, number })
      for (const webhook of m.webhooks) {
        const isOfParent = webhook.account === accountById(account).parent && webhook.includeSubaccounts
        const isConcerned = webhook.account === account || isOfParent
        const isActive = webhook.enabled && !webhook.isDeleted && accountById(webhook.account).enabled
        if (!isConcerned || !isActive || (webhook.hook !== 'all' && webhook.hook !== hook)) continue
        const { id, epoch } = webhook
        m.deliveries.push({
          webhook: id,
          lane,
          event,
          epoch,
          state: 'waiting',
          tries: 0,
          interruptions: 0,
        })
      }
      advanceTo(m, m.nowMs)
      return { id: event, number, duplicate: false }
    }
    case 'change receiver':
      m.webhooks.find(({ id }) => id === call.webhook)!.behaviour = call.behaviour
      return null
  }
}

const isPending = ({ state }: ReferenceDelivery) => state === 'waiting' || state === 'in_flight'

/** Cancels waiting deliveries of webhooks that were disabled or removed since. */
function cancelStale(m: ReferenceService): void {
  for (const delivery of m.deliveries) {
    const isStale = delivery.epoch < m.webhooks.find(({ id }) => id === delivery.webhook)!.epoch
    if (isStale && delivery.state === 'waiting') delivery.state = 'cancelled'
  }
  advanceTo(m, m.nowMs)
}

/** The process ended: deliveries in flight wait again; three crashes in a row quarantine one. */
export function interrupt(m: ReferenceService, isCrash: boolean): void {
  for (const delivery of m.deliveries) {
    if (delivery.state !== 'in_flight') continue
    if (isCrash) delivery.interruptions += 1
    delivery.state = delivery.interruptions >= 3 ? 'quarantined' : 'waiting'
    delivery.atMs = m.nowMs
  }
  cancelStale(m)
}

/** Advances time, from one due delivery or response to the next. */
export function advanceTo(m: ReferenceService, endMs: number): void {
  for (;;) {
    const isHead = (delivery: ReferenceDelivery) =>
      delivery ===
      m.deliveries.find(
        (other) => isPending(other) && other.webhook === delivery.webhook && other.lane === delivery.lane,
      )
    const heads = m.deliveries.filter(isHead)
    for (const head of heads) head.atMs ??= m.nowMs
    const next = heads.sort((a, b) => a.atMs! - b.atMs!)[0]
    if (!next || next.atMs! > endMs) break
    m.nowMs = Math.max(m.nowMs, next.atMs!)
    sendOrComplete(m, next)
  }
  m.nowMs = endMs
}

function sendOrComplete(m: ReferenceService, delivery: ReferenceDelivery): void {
  const { behaviour } = m.webhooks.find(({ id }) => id === delivery.webhook)!
  if (delivery.state === 'in_flight') {
    delivery.state = 'delivered'
    return
  }
  const lane = `${delivery.webhook} ${delivery.lane}`
  m.requests[lane] = [...(m.requests[lane] ?? []), `${delivery.event} at ${m.nowMs}`]
  if (behaviour === 'succeeds') delivery.state = 'delivered'
  else if (behaviour === 'is slow') Object.assign(delivery, { state: 'in_flight', atMs: m.nowMs + SLOW_MS })
  else {
    if (behaviour === 'rejects') delivery.tries += 1
    delivery.interruptions = 0
    if (delivery.tries > RETRIES) delivery.state = 'exhausted'
    delivery.atMs = m.nowMs + RETRY_MS
  }
}
