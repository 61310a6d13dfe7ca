/**
 * Theory of operation of the memory store.
 *
 * Every method is one synchronous run over this state, so it is atomic and needs no locks. A method that can reject
 * checks everything first and writes afterwards.
 *
 * Ownership: `rows` has every delivery by id; an `Endpoint` (a webhook as a receiver) owns its lanes, queues and logs;
 * a `Shard` owns the set of its deliveries in flight. A `Row` links all places where its delivery is, so that each
 * transition costs O(log n) and scans nothing.
 *
 * Invariants:
 * - A pending delivery is in exactly one lane. The head of a lane is waiting or in flight; the others wait.
 * - A waiting delivery is in the queue of its epoch. Only a waiting head has a due time, and only then is it in a heap.
 *   Claims read the queue of the webhook's current epoch; `stale` reads the older ones.
 * - A delivery in flight is in `Shard.inFlight` with the term in which it was claimed. A later term makes it an orphan.
 * - An ended delivery is in `Endpoint.ended`; retention removes it from there.
 * - Positions grow with every write over the whole store and are the cursors of all lists.
 *
 * A crash leaves nothing: the state ends with the process (`durable: false`). When a node of a shared store ends
 * without `release`, its leases expire, the next owner raises the term, and finds the deliveries in flight as orphans.
 */

import type { AttemptRecord } from '../../delivery/attempt-record.js'
import type { ReadyEndpoint } from '../../delivery/delivery-store.js'
import type { Delivery } from '../../delivery/lifecycle.js'
import type { HeapItem } from '../../values/heap.js'
import { originOf } from '../../values/origin.js'
import type { Webhook } from '../../webhooks/webhook.js'
import { SHARDS, shardOf } from '../shards.js'
import { createPositionLog, type PositionLog } from './position-log.js'

/** An accepted event; lives as long as a delivery of it. */
export interface StoredEvent {
  readonly id: string
  /** Complete, with the sequence number. */
  readonly bodies: readonly string[]
  readonly traceparent: string | undefined
}

/** A delivery and its links. `delivery` is replaced, never modified: callers hold references to it. */
export interface Row extends HeapItem {
  delivery: Delivery
  readonly event: StoredEvent
  readonly endpoint: Endpoint
  /** Its call in the webhook's account. */
  readonly call: Call | undefined
  /** Its lane and its neighbours there, until it ends. */
  lane: Lane | undefined
  lanePrevious: Row | undefined
  laneNext: Row | undefined
  /** Its neighbours in the queue of its epoch, while it waits. */
  waitPrevious: Row | undefined
  waitNext: Row | undefined
  /** The term of its shard in which it was claimed, while it is in flight. */
  term: number
  /** Its position in `Endpoint.ended`, once it has ended. */
  endedPosition: number
}

/** A linked list of the pending deliveries of one lane; never empty. */
export interface Lane {
  readonly key: string
  head: Row
  tail: Row
}

/** The waiting deliveries of one endpoint and epoch. */
export interface Queue {
  readonly epoch: number
  /** Heaps of lane heads by due time: without and with earlier attempts. */
  readonly firstAttempts: Row[]
  readonly retries: Row[]
  /** Linked list of all waiting deliveries, heads or not. */
  oldest: Row | undefined
  newest: Row | undefined
}

/** An attempt record and its delivery. */
export interface AttemptEntry {
  readonly record: AttemptRecord
  readonly row: Row
}

/** A webhook and its deliveries. */
export interface Endpoint {
  webhook: Webhook
  origin: string
  readonly shard: number
  readonly lanes: Map<string, Lane>
  /** Ascending by epoch; only the last can be of the webhook's current epoch. */
  queues: Queue[]
  /** All deliveries, pending or ended. */
  readonly deliveries: PositionLog<Row>
  readonly ended: PositionLog<Row>
  readonly attempts: PositionLog<AttemptEntry>
}

/** The lease of a shard, and its deliveries in flight. */
export interface Shard {
  owner: string | undefined
  aliveUntilMs: number
  leaving: boolean
  /** Incremented whenever the shard gets an owner: a delivery claimed in an earlier term is an orphan. */
  term: number
  readonly inFlight: Set<Row>
}

/** A call of one account: its last sequence number and its legs. */
export interface Call {
  readonly accountId: string
  readonly callId: string
  sequence: number
  lastMs: number
  /** Call ids of the other legs, in the order in which they appeared. */
  others: string[] | undefined
  /** Number of stored deliveries and attempts of this call. */
  retainedRows: number
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

/** All webhooks and deliveries of a memory store. */
export interface State {
  readonly limits: Limits
  readonly shared: boolean
  readonly shards: readonly Shard[]
  /** Live nodes, with the store time (ms) at which their lease expires. */
  readonly nodes: Map<string, number>
  readonly endpoints: Map<string, Endpoint>
  /** Endpoints of webhooks that are not deleted, by account, then hook. */
  readonly liveByHook: Map<string, Map<string, Set<Endpoint>>>
  /** All endpoints by account; an account can read the attempts of deleted webhooks too. */
  readonly endpointsByAccount: Map<string, Endpoint[]>
  /** By delivery id, in the order of positions. */
  readonly rows: Map<string, Row>
  /** By account, then call. */
  readonly calls: Map<string, Map<string, Call>>
  /** The order in which `pruneCalls` examines calls. */
  readonly callQueue: PositionLog<Call>
  /** By account, then key. */
  readonly keys: Map<string, Map<string, IdempotencyKey>>
  readonly keyQueue: PositionLog<{
    readonly accountId: string
    readonly key: string
    readonly untilMs: number
  }>
  /** Attempts and ended deliveries over all endpoints. */
  attemptCount: number
  endedCount: number
  /** Endpoints that may have waiting deliveries of older epochs. */
  readonly stale: Set<Endpoint>
  readonly listeners: Set<(ready: readonly ReadyEndpoint[] | undefined) => void>
  pendingCount: number
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
    liveByHook: new Map(),
    endpointsByAccount: new Map(),
    rows: new Map(),
    calls: new Map(),
    callQueue: createPositionLog(),
    keys: new Map(),
    keyQueue: createPositionLog(),
    attemptCount: 0,
    endedCount: 0,
    stale: new Set(),
    listeners: new Set(),
    pendingCount: 0,
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
    deliveries: createPositionLog(),
    ended: createPositionLog(),
    attempts: createPositionLog(),
  }
}

/** The next store-wide position: orders everything that is written. */
export function nextPosition(state: State): number {
  state.lastPosition += 1
  return state.lastPosition
}

/** The inner map of a key, created if absent. */
export function innerMap<A, B, T>(outer: Map<A, Map<B, T>>, key: A): Map<B, T> {
  let map = outer.get(key)
  if (!map) {
    map = new Map()
    outer.set(key, map)
  }
  return map
}

/** Deletes an entry of an inner map, and the inner map with its last entry. */
export function deleteInner<A, B, T>(outer: Map<A, Map<B, T>>, key: A, innerKey: B): void {
  const map = outer.get(key)
  if (map?.delete(innerKey) && map.size === 0) outer.delete(key)
}
