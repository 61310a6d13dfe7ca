/** What a store is asked, as data: the naive model answers it, the store carries it out, the story tells it. */
export type StoreCall = { readonly now: number } & (
  | { readonly do: 'own' | 'renew' | 'ask too early' | 'release'; readonly owner: string }
  | {
      readonly do: 'accept'
      readonly events: readonly EventCall[]
      readonly deliveries: readonly DeliveryCall[]
      readonly most: number
    }
  | {
      readonly do: 'claim'
      readonly owner: string
      readonly endpoints: readonly EndpointCall[]
      readonly limit: number
    }
  | { readonly do: 'settle'; readonly owner: string; readonly settlements: readonly SettlementCall[] }
  | { readonly do: 'insert'; readonly hook: HookRow }
  | { readonly do: 'replace'; readonly hook: HookRow; readonly revision: number }
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
  /** The next page of a list that is read while others write: behind this record, which may be gone. */
  | { readonly do: 'page'; readonly size: number; readonly last: string | undefined }
  | { readonly do: 'prune'; readonly keep: number; readonly beforeMs: number }
  | { readonly do: 'erase'; readonly owner: string; readonly callId: string }
  | { readonly do: 'issue'; readonly token: TokenCall }
  | { readonly do: 'read token' | 'revoke'; readonly hash: string }
  | { readonly do: 'revoke all'; readonly accountId: string; readonly holder: string | null | undefined }
  | { readonly do: 'prune tokens' }
  | { readonly do: 'add account' | 'move account'; readonly account: AccountCall }
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
  readonly room: number
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
  /** Id of the attempt's record. */
  readonly record?: string
  readonly epoch: number
  /** null: clean; absent: as before. */
  readonly health?: HealthRow | null
  readonly disable?: boolean
}

export interface HealthRow {
  readonly failuresInRow: number
  readonly pausedUntilMs?: number
  readonly openings?: number
}

/** What of a webhook a model needs. */
export interface HookRow {
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
