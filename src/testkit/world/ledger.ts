import type { CallEvent } from '../call-legs.js'

/** What was seen of a run from outside: what publishers were told, what receivers got, what was asked of webhooks. */
export interface Ledger {
  readonly publishes: Publish[]
  /** Those of `publishes` that have not ended. */
  readonly open: Set<Publish>
  readonly sights: Sight[]
  /** Webhooks whose receiver said that it is gone for good. */
  readonly gone: Set<string>
  readonly webhooks: Map<string, WebhookHistory>
  readonly disruptions: Disruption[]
  readonly registers: Register[]
}

/** A webhook that several change and read at once: its name, and the path of its URI. */
export interface Register {
  readonly id: string
  /** What a read tells at first: name and path. */
  readonly first: string
  readonly steps: RegisterStep[]
}

/** One thing that was asked of a register, and what was told. */
export interface RegisterStep {
  readonly kind: 'write name' | 'write path' | 'read' | 'remove'
  /** What was written, or read. */
  mark: string
  readonly fromMs: number
  /** Infinity: nobody heard of its end. */
  toMs: number
  /** `gone`: there is no such webhook; `refused`: not carried out; `unknown`: perhaps, perhaps later. */
  outcome: 'done' | 'gone' | 'refused' | 'unknown'
}

/** One call of `publish`. */
export interface Publish {
  readonly atMs: number
  readonly node: string
  readonly key: string
  readonly event: CallEvent
  /** `unknown`: it ended with its node, or with an error that leaves open whether it was kept. */
  outcome: 'open' | 'kept' | 'refused' | 'unknown'
  doneMs: number
  eventId: string
  sequence: number
  isDuplicate: boolean
  code: string
  /** Tells its publisher that it has ended. */
  end(): void
}

/** One request as its receiver saw it. */
export interface Sight {
  readonly atMs: number
  readonly node: string
  readonly webhook: string
  readonly account: string
  readonly delivery: string
  readonly attempt: number
  /** Of the signature, Unix seconds. */
  readonly timestamp: number
  readonly body: string
  /** What it was answered; 0: nothing. */
  status: number
  /** When the node knew. */
  doneMs: number
  /** Whether the answer reached the node that had sent it. */
  isHeard: boolean
}

/** What a webhook was told to be. From `atMs` on perhaps, from `doneMs` on for certain. */
export interface WebhookChange {
  readonly atMs: number
  doneMs: number
  readonly wish: WebhookWish
  /** `unknown`: it may have been carried out. */
  outcome: 'open' | 'done' | 'failed' | 'unknown'
}

export interface WebhookWish {
  readonly hook: string
  readonly enabled: boolean
  readonly includeSubaccounts: boolean
  readonly includeInternalLegs: boolean
  readonly retries: number
  readonly ordering: 'call' | 'none'
  readonly httpVerb: 'post' | 'put' | 'get'
  readonly format: 'json' | 'form-data'
  readonly maxAgeSeconds?: number
  readonly isDeleted: boolean
}

export interface WebhookHistory {
  readonly id: string
  readonly accountId: string
  readonly receiver: string
  readonly changes: WebhookChange[]
  /** When the service disabled it, as its listeners were told. */
  readonly disabledMs: number[]
}

/** What may explain that something was done twice, or late. */
export interface Disruption {
  readonly kind: string
  readonly atMs: number
  untilMs: number
  /** Absent: everybody. */
  readonly node?: string
}

export function newLedger(): Ledger {
  return {
    publishes: [],
    open: new Set(),
    sights: [],
    gone: new Set(),
    webhooks: new Map(),
    disruptions: [],
    registers: [],
  }
}
