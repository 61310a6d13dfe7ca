/** The calls of the store model as data: the driver executes them, the reference predicts them, the trace formats them. */

export type StoreCall = { readonly now: number } & (
  | { readonly do: 'own' | 'renew' | 'own too early' | 'release'; readonly owner: string }
  | {
      readonly do: 'accept'
      readonly events: readonly EventCall[]
      readonly deliveries: readonly DeliveryCall[]
      readonly maxPending: number
    }
  | {
      readonly do: 'claim'
      readonly owner: string
      readonly endpoints: readonly EndpointCall[]
      readonly limit: number
    }
  | { readonly do: 'settle'; readonly owner: string; readonly settlements: readonly SettlementCall[] }
  | { readonly do: 'insert'; readonly webhook: WebhookRow }
  | { readonly do: 'replace'; readonly webhook: WebhookRow; readonly revision: number }
  | { readonly do: 'read'; readonly accountId: string; readonly id: string }
  | { readonly do: 'list' | 'pending' }
  | { readonly do: 'ready' | 'stale' | 'orphans'; readonly owner: string }
  | {
      readonly do: 'deliveries'
      readonly webhookId: string
      readonly ascending: boolean
      readonly size: number
    }
  | {
      readonly do: 'attempts'
      readonly webhookId: string | undefined
      readonly callId: string | undefined
      readonly ascending: boolean
      readonly size: number
    }
  /** The next page of attempts, read while others write: after this record, which may be pruned. */
  | { readonly do: 'page'; readonly size: number; readonly last: string | undefined }
  | { readonly do: 'prune'; readonly keep: number; readonly beforeMs: number }
  | { readonly do: 'erase'; readonly owner: string; readonly callId: string }
  | { readonly do: 'issue'; readonly token: TokenCall }
  | { readonly do: 'read token' | 'revoke'; readonly hash: string }
  | { readonly do: 'revoke all'; readonly accountId: string; readonly holder: string | null | undefined }
  | { readonly do: 'prune tokens' }
  | { readonly do: 'add account' | 'update account'; readonly account: AccountCall }
  | { readonly do: 'remove account' | 'find account'; readonly id: string }
  | { readonly do: 'put user'; readonly accountId: string; readonly id: string; readonly username: string }
  | { readonly do: 'remove user'; readonly accountId: string; readonly id: string }
)

export interface EventCall {
  readonly id: string
  readonly callId: string
  readonly key?: string
  readonly hash?: string
  readonly untilMs?: number
}

export interface DeliveryCall {
  readonly id: string
  readonly eventId: string
  readonly callId: string
  readonly webhookId: string
  readonly epoch: number
  readonly lane: string
}

export interface EndpointCall {
  readonly webhookId: string
  readonly slots: number
  readonly retriesFirst: boolean
}

export interface SettlementCall {
  readonly id: string
  readonly webhookId: string
  readonly callId: string
  readonly from: 'in_flight' | 'waiting'
  readonly fence: number
  readonly to: 'waiting' | 'delivered' | 'exhausted' | 'expired' | 'cancelled' | 'quarantined'
  readonly dueMs?: number
  readonly attempts: number
  readonly reason?: string
  /** Id of the attempt record. */
  readonly record?: string
  readonly epoch: number
  /** null: clean; absent: unchanged. */
  readonly health?: HealthRow | null
  readonly disable?: boolean
}

export interface HealthRow {
  readonly failuresInRow: number
  readonly pausedUntilMs?: number
  readonly openings?: number
}

/** The fields of a webhook that the model uses. */
export interface WebhookRow {
  readonly id: string
  readonly name: string
  readonly uri: string
  readonly ordering: 'call' | 'none'
  readonly enabled: boolean
  readonly revision: number
  readonly epoch: number
  readonly deleted?: boolean
  readonly health?: HealthRow
}

export interface TokenCall {
  readonly hash: string
  readonly accountId: string
  readonly userId?: string
  readonly expiresMs: number
}

export interface AccountCall {
  readonly id: string
  readonly realm: string
  readonly parentId?: string
}
