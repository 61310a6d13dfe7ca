/** The calls of the store model as data: the driver executes them, the reference predicts them, the trace formats them. */
import type { Ordering } from '../../webhooks/webhook.js'

export type StoreCall = { readonly now: number } & (
  | { readonly do: 'own' | 'renew' | 'own too early' | 'release'; readonly owner: string }
  | GroupCall
  | { readonly do: 'hand over'; readonly lease: LeaseRow; readonly shards: ShardSet }
  | { readonly do: 'load' | 'complete the takeover'; readonly lease: LeaseRow; readonly shards: ShardSet }
  /** A load that the node does not apply. */
  | { readonly do: 'inspect'; readonly lease: LeaseRow; readonly shards: ShardSet }
  | { readonly do: 'poll'; readonly lease: LeaseRow }
  | { readonly do: 'changes'; readonly lease: LeaseRow; readonly since: number }
  | { readonly do: 'bodies'; readonly ids: readonly string[] }
  | { readonly do: 'insert'; readonly webhook: WebhookRow }
  | { readonly do: 'replace'; readonly webhook: WebhookRow; readonly revision: number }
  | { readonly do: 'read'; readonly accountId: string; readonly id: string }
  | { readonly do: 'list' }
  | { readonly do: 'deliveries'; readonly webhookId: string }
  | { readonly do: 'attempts' }
  | { readonly do: 'prune'; readonly keep: number; readonly beforeMs: number }
  | { readonly do: 'erase'; readonly callId: string }
)

/** A set of shards as ranges: `0-31,40`. */
export type ShardSet = string

/** A lease as the client got it. */
export interface LeaseRow {
  readonly owner: string
  readonly fence: number
}

/** A group. Its parts are applied in this order. */
export interface GroupCall {
  readonly do: 'commit'
  readonly now: number
  readonly owner: string
  /** Absent: the node has no lease. */
  readonly lease?: LeaseRow
  readonly version: number
  readonly accepted: readonly AcceptanceCall[]
  readonly ended: readonly SettlementCall[]
  readonly starting?: { readonly key: number; readonly deliveries: readonly StartCall[] }
  readonly finished: readonly number[]
  readonly isRepeat: boolean
}

export interface AcceptanceCall {
  readonly events: readonly EventCall[]
  readonly deliveries: readonly DeliveryCall[]
}

export interface EventCall {
  readonly id: string
  readonly position: number
  readonly callId: string
  readonly key?: string
  readonly hash?: string
  readonly untilMs?: number
}

export interface DeliveryCall {
  readonly id: string
  readonly position: number
  readonly eventId: string
  readonly callId: string
  readonly webhookId: string
  readonly epoch: number
  readonly lane: string
  /** Id and position of the delivery that it repeats, which is no replay; its event is stored already. */
  readonly replayOf?: string
  readonly originalPosition?: number
}

export interface SettlementCall {
  readonly id: string
  readonly webhookId: string
  readonly callId: string
  readonly position: number
  /** The number of attempts that the stored delivery must have. */
  readonly from: number
  readonly to: 'waiting' | 'delivered' | 'exhausted' | 'expired' | 'cancelled' | 'quarantined'
  readonly dueMs?: number
  readonly attempts: number
  readonly interruptions: number
  readonly failedMs?: number
  readonly reason?: string
  /** Id of the attempt record. */
  readonly record?: string
  readonly epoch: number
  /** null: clean; absent: unchanged. */
  readonly health?: HealthRow | null
  readonly disable?: boolean
}

export interface StartCall {
  readonly id: string
  readonly webhookId: string
  readonly position: number
  readonly attempt: number
  readonly epoch: number
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
  readonly ordering: Ordering
  readonly enabled: boolean
  readonly revision: number
  readonly epoch: number
  readonly deleted?: boolean
  readonly health?: HealthRow
}

/** The result of `own` and `renew`. */
export interface LeaseResult {
  readonly fence: number
  readonly position: number
  readonly shards: ShardSet
  readonly leaving: ShardSet
}

export type GroupResultRow =
  | 'fenced'
  | 'outdated'
  | {
      readonly accepted: readonly AcceptanceResultRow[]
      readonly ended: readonly string[]
      readonly notStarted: readonly string[]
      readonly version: number
    }

/** The code of the error of a refused acceptance, or its events. */
export type AcceptanceResultRow =
  | string
  | {
      readonly events: readonly {
        readonly id: string
        readonly number: number
        readonly duplicate: boolean
      }[]
      readonly mayHaveGap: boolean
    }

/** A waiting delivery as a node loads it. */
export interface WaitingRow {
  readonly id: string
  readonly number: number
  readonly dueMs: number
  readonly epoch: number
  readonly attempts: number
  readonly interruptions: number
  readonly failedMs: number
}

/** The result of `load` and `poll`; null: the lease has ended. */
export interface LoadResult {
  readonly version: number
  /** By webhook and lane, in order. */
  readonly lanes: Readonly<Record<string, readonly WaitingRow[]>>
  readonly webhooks: readonly RevisionRow[]
  /** Deliveries and numbers of attempts; empty for `poll`. */
  readonly interrupted: readonly string[]
}

/** The result of `changes`; null: the lease has ended. */
export interface ChangesResult {
  readonly version: number
  readonly webhooks: readonly RevisionRow[]
  /** Ids of deliveries. */
  readonly removed: readonly string[]
  readonly mustReload: boolean
}

/** The id of a webhook and the revision of the row that was read. */
export interface RevisionRow {
  readonly id: string
  readonly revision: number
}

export function shardSet(shards: readonly number[]): ShardSet {
  const ranges: string[] = []
  const sorted = [...shards].sort((a, b) => a - b)
  for (let from = 0; from < sorted.length; ) {
    let to = from
    while (sorted[to + 1] === sorted[to]! + 1) to += 1
    ranges.push(from === to ? String(sorted[from]) : `${sorted[from]}-${sorted[to]}`)
    from = to + 1
  }
  return ranges.join()
}

export function shardsIn(set: ShardSet): number[] {
  if (set === '') return []
  return set.split(',').flatMap((range) => {
    const [from = 0, to = from] = range.split('-').map(Number)
    return Array.from({ length: to - from + 1 }, (_, index) => from + index)
  })
}
