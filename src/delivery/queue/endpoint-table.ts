import { createLinkedQueue, dequeue, enqueue, unqueue } from '../../values/linked-queue.js'
import { originOf } from '../../values/origin.js'
import type { Webhook } from '../../webhooks/webhook.js'
import { AccountShare } from './account-share.js'
import { QueueEndpoint } from './queue-endpoint.js'

/** Limit of cached endpoints without pending deliveries, with their webhooks; about 2 KB each. */
const MAX_IDLE = 10_000

/** The endpoints of a queue, by id and by number. */
export class EndpointTable {
  private readonly byId = new Map<string, QueueEndpoint>()
  private readonly byIndex: (QueueEndpoint | undefined)[] = []
  private readonly freeIndexes: number[] = []
  /** Shares of the accounts that have endpoints here. */
  private readonly accounts = new Map<string, AccountShare>()
  /** The first one is idle longest. */
  private readonly idle = createLinkedQueue<QueueEndpoint>()

  constructor(private readonly shardOf: (webhookId: string) => number) {}

  find(webhookId: string): QueueEndpoint | undefined {
    return this.byId.get(webhookId)
  }

  /** The endpoint with a number that an entry has. */
  at(index: number): QueueEndpoint {
    return this.byIndex[index]!
  }

  /** Deliveries that wait for the webhooks of an account. */
  backlogOf(accountId: string): number {
    return this.accounts.get(accountId)?.backlog ?? 0
  }

  get size(): number {
    return this.byId.size
  }

  /** Deliveries that wait for the webhooks of the account with the most. */
  largestBacklog(): number {
    let largest = 0
    for (const { backlog } of this.accounts.values()) if (backlog > largest) largest = backlog
    return largest
  }

  all(): Iterable<QueueEndpoint> {
    return this.byId.values()
  }

  /** Adds an endpoint, or replaces its webhook unless the known row has a higher revision. */
  set(webhook: Webhook): QueueEndpoint {
    const found = this.byId.get(webhook.id)
    const endpoint = found ?? this.insert(new QueueEndpoint(webhook, this.shardOf(webhook.id)))
    if (webhook.revision < endpoint.webhook.revision) return endpoint
    if (!found || webhook.settings.uri !== endpoint.webhook.settings.uri)
      endpoint.origin = originOf(webhook.settings.uri)
    endpoint.webhook = webhook
    return endpoint
  }

  /** The endpoint that is known by the id of this one; this one if it was evicted. */
  restore(endpoint: QueueEndpoint): QueueEndpoint {
    return endpoint.index >= 0 ? endpoint : (this.byId.get(endpoint.id) ?? this.insert(endpoint))
  }

  /** Something is waiting or taken. */
  setActive(endpoint: QueueEndpoint): void {
    if (endpoint.queue === this.idle) unqueue(endpoint)
  }

  /** Nothing is waiting or taken, and the endpoint was used just now. */
  setIdle(endpoint: QueueEndpoint): void {
    endpoint.newestEpoch = 0
    if (endpoint.queue) unqueue(endpoint)
    enqueue(this.idle, endpoint)
  }

  /** Evicts the endpoints that are idle longest. Separate, because those that were just set are not used yet. */
  evictIdle(): void {
    while (this.idle.length > MAX_IDLE) this.evict(dequeue(this.idle)!)
  }

  /** Forgets an idle endpoint. */
  forget(endpoint: QueueEndpoint): void {
    if (endpoint.queue) unqueue(endpoint)
    this.evict(endpoint)
  }

  private insert(endpoint: QueueEndpoint): QueueEndpoint {
    endpoint.index = this.freeIndexes.pop() ?? this.byIndex.length
    endpoint.position = endpoint.index
    this.byIndex[endpoint.index] = endpoint
    this.byId.set(endpoint.id, endpoint)
    const { accountId } = endpoint.account
    const account = this.accounts.get(accountId)
    if (account) endpoint.account = account
    else this.accounts.set(accountId, endpoint.account)
    endpoint.account.endpoints++
    return endpoint
  }

  private evict(endpoint: QueueEndpoint): void {
    this.byId.delete(endpoint.id)
    this.byIndex[endpoint.index] = undefined
    this.freeIndexes.push(endpoint.index)
    endpoint.index = -1
    const { account } = endpoint
    if (--account.endpoints === 0) this.accounts.delete(account.accountId)
    endpoint.account = new AccountShare(account.accountId)
  }
}
