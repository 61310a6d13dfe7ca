/** The history of a run as seen from outside: publishes, requests that receivers got, changes of webhooks, disruptions. */

import type { CallEvent } from '../testkit/generated-call.js'

export interface RunHistory {
  readonly publishes: PublishCall[]
  /** The publishes that have not ended. */
  readonly open: Set<PublishCall>
  readonly requests: ReceivedRequest[]
  /** Webhooks whose receiver answered 410. */
  readonly gone: Set<string>
  readonly webhooks: Map<string, WebhookHistory>
  /** In order of their begin. */
  readonly disruptions: Disruption[]
  readonly registers: Register[]
}

/** A webhook that several clients read and write concurrently: a register of its name and the path of its URI. */
export interface Register {
  readonly id: string
  /** Initial value: name and path. */
  readonly first: string
  readonly steps: RegisterStep[]
}

/** One operation on a register and its result. */
export interface RegisterStep {
  readonly kind: 'write name' | 'write path' | 'read' | 'remove'
  /** The value written or read. */
  value: string
  readonly fromMs: number
  /** Infinity: no answer arrived. */
  toMs: number
  /** `not found`: the webhook does not exist; `rejected`: not executed; `unknown`: perhaps executed, perhaps later. */
  outcome: 'done' | 'not found' | 'rejected' | 'unknown'
}

/** One call of `publish`. */
export interface PublishCall {
  readonly atMs: number
  readonly node: string
  readonly key: string
  readonly event: CallEvent
  /** `unknown`: its node crashed, or the error does not tell whether the event was accepted. */
  outcome: 'open' | 'accepted' | 'rejected' | 'unknown'
  doneMs: number
  eventId: string
  sequence: number
  isDuplicate: boolean
  code: string
  /** Resolves the publisher's call. */
  end(): void
}

/** One request as its receiver saw it. */
export interface ReceivedRequest {
  readonly atMs: number
  readonly node: string
  readonly webhook: string
  readonly account: string
  readonly delivery: string
  readonly attempt: number
  /** Signature timestamp, Unix seconds. */
  readonly timestamp: number
  readonly body: string
  /** Status of the response; 0: none. */
  status: number
  /** When the sending node got the result. */
  doneMs: number
  /** Whether the response reached the sending node. */
  isAcknowledged: boolean
}

/** One change of a webhook. It may apply from `atMs` on, and applies from `doneMs` on. */
export interface WebhookChange {
  readonly atMs: number
  doneMs: number
  readonly input: WebhookInput
  /** `unknown`: perhaps executed. */
  outcome: 'open' | 'done' | 'failed' | 'unknown'
}

export interface WebhookInput {
  readonly hook: string
  readonly only?: readonly string[]
  /** The only field that webhooks of the simulation filter by. */
  readonly filter?: { readonly not: { readonly suffix: { readonly from: string } } }
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
  /** When settlements of the service disabled it. */
  readonly disabledMs: number[]
}

/** A disruption that can explain duplicates and delays. */
export interface Disruption {
  readonly kind: string
  readonly atMs: number
  untilMs: number
  /** Absent: all nodes. */
  readonly node?: string
}

export function createRunHistory(): RunHistory {
  return {
    publishes: [],
    open: new Set(),
    requests: [],
    gone: new Set(),
    webhooks: new Map(),
    disruptions: [],
    registers: [],
  }
}
