import type { StoreCall, WebhookRow } from './store-calls.js'

/** A claim that the client holds, or has settled. */
export interface HeldClaim {
  readonly id: string
  readonly webhookId: string
  readonly callId: string
  readonly epoch: number
  readonly fence: number
  readonly attempts: number
}

/**
 * The client of the store in a model run. It knows only the results it has received, so it can send calls while others
 * are in progress. Commands choose their calls from its state.
 */
export interface StoreClient {
  readonly shared: boolean
  readonly leaseMs: number
  now: number
  owner: string
  /** Nodes that owned the shards earlier. */
  readonly formerOwners: string[]
  readonly webhooks: WebhookRow[]
  readonly held: HeldClaim[]
  readonly settled: HeldClaim[]
  /** All deliveries it tried to accept, by id. */
  readonly deliveries: Map<string, Omit<HeldClaim, 'fence' | 'attempts'>>
  lastRead: string | undefined
  /** It has called `prune`: deleted webhooks may be gone. */
  pruned: boolean
  /** A new id: `d1`, `d2`, … */
  newId(kind: string): string
}

export function createStoreClient(shared: boolean, leaseMs: number, now: number): StoreClient {
  const created: Record<string, number> = {}
  return {
    shared,
    leaseMs,
    now,
    owner: '',
    formerOwners: [],
    webhooks: [],
    held: [],
    settled: [],
    deliveries: new Map(),
    lastRead: undefined,
    pruned: false,
    newId(kind) {
      created[kind] = (created[kind] ?? 0) + 1
      return `${kind}${created[kind]}`
    },
  }
}

/** Updates the client before a call is sent. */
export function trackCall(client: StoreClient, call: StoreCall): void {
  if (call.do === 'own' && call.owner !== client.owner) {
    if (client.owner !== '') client.formerOwners.push(client.owner)
    client.owner = call.owner
  }
  if (call.do === 'accept') {
    for (const { id, webhookId, callId, epoch } of call.deliveries) {
      client.deliveries.set(id, { id, webhookId, callId, epoch })
    }
  }
  if (call.do === 'prune') client.pruned = true
  if (call.do === 'settle' && call.owner === client.owner) {
    for (const { id, fence, from } of call.settlements) {
      const at = client.held.findIndex((claim) => claim.id === id && claim.fence === fence)
      if (from === 'in_flight' && at >= 0) client.settled.push(...client.held.splice(at, 1))
    }
  }
}

/** Updates the client when a result arrives. */
export function trackResult(client: StoreClient, call: StoreCall, result: unknown): void {
  const put = (webhook: WebhookRow) => {
    const at = client.webhooks.findIndex(({ id }) => id === webhook.id)
    if (at < 0) client.webhooks.push(webhook)
    else if (client.webhooks[at]!.revision < webhook.revision) client.webhooks[at] = webhook
  }
  if (call.do === 'insert' || (call.do === 'replace' && result === true)) put(call.webhook)
  if (call.do === 'read' && result !== null) put(result as WebhookRow)
  if (call.do === 'page') client.lastRead = (result as string[]).at(-1) ?? client.lastRead
  if (call.do === 'claim' && Array.isArray(result)) {
    for (const { id, fence, attempts } of result as HeldClaim[]) {
      const delivery = client.deliveries.get(id)
      if (delivery) client.held.push({ ...delivery, fence, attempts })
    }
  }
}
