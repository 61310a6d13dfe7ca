import type { AttemptRecord } from '../../delivery/attempt-record.js'
import type { ReadyEndpoint } from '../../delivery/delivery-store.js'
import type { Delivery } from '../../delivery/lifecycle.js'
import { originOf } from '../../values/origin.js'
import type { Webhook } from '../../webhooks/webhook.js'
import { SHARDS, shardOf } from '../shards.js'
import type { Scheduled } from './heap.js'
import { type PositionLog, positionLog } from './position-log.js'

/** An accepted event: kept by the deliveries of it that are kept. */
export interface StoredEvent {
  readonly id: string
  /** Whole: the number is filled in. */
  readonly bodies: readonly string[]
  readonly traceparent: string | undefined
}

/** A delivery in its places. The delivery itself is replaced, never changed: it was handed out. */
export interface Row extends Scheduled {
  delivery: Delivery
  readonly event: StoredEvent
  readonly endpoint: Endpoint
  /** Its call as the webhook's account knows it. */
  readonly call: Call | undefined
  /** Until it has ended: its lane, and its neighbours there. */
  lane: Lane | undefined
  laneBefore: Row | undefined
  laneBehind: Row | undefined
  /** While it waits: its neighbours among those that wait in the same epoch. */
  waitBefore: Row | undefined
  waitBehind: Row | undefined
  /** While it is in flight: under which term of its shard it was claimed. */
  term: number
  /** Since it has ended: its place in the order of ending. */
  endedPosition: number
}

/** Exists only while it is not empty. */
export interface Lane {
  readonly key: string
  head: Row
  tail: Row
}

/** What waits of one endpoint and epoch. */
export interface Queue {
  readonly epoch: number
  /** Heads of lanes, by due time: never tried, and tried before. */
  readonly firstAttempts: Row[]
  readonly retries: Row[]
  /** All that wait, heads or not. */
  oldest: Row | undefined
  newest: Row | undefined
}

/** An attempt that is kept, and whose it is. */
export interface Kept {
  readonly record: AttemptRecord
  readonly row: Row
}

/** A webhook and all that is sent to it. */
export interface Endpoint {
  webhook: Webhook
  origin: string
  readonly shard: number
  readonly lanes: Map<string, Lane>
  /** In the order of their epochs; only the last can be the webhook's own. */
  queues: Queue[]
  /** All kept deliveries, pending or ended. */
  readonly deliveries: PositionLog<Row>
  readonly ended: PositionLog<Row>
  readonly attempts: PositionLog<Kept>
}

/** Who works on a shard. */
export interface Shard {
  owner: string | undefined
  aliveUntilMs: number
  leaving: boolean
  /** Raised whenever it gets an owner: what was claimed in an earlier term is an orphan. */
  term: number
  readonly inFlight: Set<Row>
}

export interface Call {
  readonly accountId: string
  readonly callId: string
  sequence: number
  lastMs: number
  /** Other legs, in the order in which they were seen. */
  others: string[] | undefined
  /** Deliveries and attempts of it that are there. */
  kept: number
}

export interface IdempotencyKey {
  readonly id: string
  readonly sequence: number
  readonly bodyHash: string
  readonly untilMs: number
  readonly callId: string | undefined
}

export interface Limits {
  readonly attemptsPerWebhook: number
  readonly attemptsInAll: number
}

/** Everything the memory store keeps of webhooks and deliveries. */
export interface State {
  readonly limits: Limits
  readonly shared: boolean
  readonly shards: readonly Shard[]
  /** Nodes that work here, or want to: until when they are alive. */
  readonly nodes: Map<string, number>
  readonly endpoints: Map<string, Endpoint>
  /** Live webhooks by account, then hook. */
  readonly listening: Map<string, Map<string, Set<Endpoint>>>
  /** Endpoints by account, deleted ones too: whose attempts an account may see. */
  readonly ofAccount: Map<string, Endpoint[]>
  readonly rows: Map<string, Row>
  /** By account, then call. */
  readonly calls: Map<string, Map<string, Call>>
  /** Those to be looked at for forgetting, longest known first. */
  readonly callQueue: PositionLog<Call>
  /** By account, then key. */
  readonly keys: Map<string, Map<string, IdempotencyKey>>
  readonly keyQueue: PositionLog<{
    readonly accountId: string
    readonly key: string
    readonly untilMs: number
  }>
  /** How many attempts and ended deliveries all endpoints have together. */
  attempts: number
  ended: number
  /** May have waiting deliveries of older epochs. */
  readonly stale: Set<Endpoint>
  readonly listeners: Set<(ready: readonly ReadyEndpoint[] | undefined) => void>
  pending: number
  lastPosition: number
}

export function newState(limits: Limits, shared: boolean): State {
  const shard = (): Shard => ({
    owner: undefined,
    aliveUntilMs: 0,
    leaving: false,
    term: 0,
    inFlight: new Set(),
  })
  return {
    limits,
    shared,
    shards: Array.from({ length: SHARDS }, shard),
    nodes: new Map(),
    endpoints: new Map(),
    listening: new Map(),
    ofAccount: new Map(),
    rows: new Map(),
    calls: new Map(),
    callQueue: positionLog(),
    keys: new Map(),
    keyQueue: positionLog(),
    attempts: 0,
    ended: 0,
    stale: new Set(),
    listeners: new Set(),
    pending: 0,
    lastPosition: 0,
  }
}

export function newEndpoint(webhook: Webhook): Endpoint {
  return {
    webhook,
    origin: originOf(webhook.settings.uri),
    shard: shardOf(webhook.id),
    lanes: new Map(),
    queues: [],
    deliveries: positionLog(),
    ended: positionLog(),
    attempts: positionLog(),
  }
}

/** Grows with everything that is written: the order of the whole store. */
export function nextPosition(state: State): number {
  state.lastPosition += 1
  return state.lastPosition
}

/** What stands under two keys, made when it is not there. */
export function inner<A, B, T>(outer: Map<A, Map<B, T>>, key: A): Map<B, T> {
  let map = outer.get(key)
  if (!map) {
    map = new Map()
    outer.set(key, map)
  }
  return map
}

/** Removes what stands under two keys, and the inner map with its last entry. */
export function removeInner<A, B, T>(outer: Map<A, Map<B, T>>, key: A, innerKey: B): void {
  const map = outer.get(key)
  if (map?.delete(innerKey) && map.size === 0) outer.delete(key)
}
