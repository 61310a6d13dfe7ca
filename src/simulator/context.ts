/** Builds everything a run consists of, before its first task runs. */

import type { Log } from '../ports.js'
import type { Store } from '../store/contract.js'
import { memoryStore } from '../store/memory.js'
import { type SeededRandom, seededRandom } from '../testkit/random.js'
import { type Cluster, createCluster } from './cluster.js'
import { createConnect } from './connect.js'
import { createRunHistory, type RunHistory } from './history.js'
import { createNemesis, type Nemesis } from './nemesis.js'
import { createNodeLife } from './node-life.js'
import { createObserver } from './observer.js'
import {
  DEFAULT_CAPS,
  drawMaxPendingPerWebhook,
  drawShape,
  type Shape,
  type SimulationOptions,
} from './options.js'
import { drawReceivers, type Receiver } from './receivers.js'
import { createRunQueue, type RunQueue } from './run-queue.js'
import { createSecrets, type Secrets } from './secrets.js'
import { createTrace, type Trace } from './trace.js'
import { createTrackedState, type TrackedState } from './tracked-state.js'
import { createViolationLog, type ViolationLog } from './violation.js'

/** The components of a run. */
export interface SimulationContext {
  readonly random: SeededRandom
  /** Deliveries that may wait for one webhook. */
  readonly maxPendingPerWebhook: number
  readonly shape: Shape
  readonly queue: RunQueue
  readonly trace: Trace
  readonly history: RunHistory
  readonly tracked: TrackedState
  readonly violations: ViolationLog
  readonly secrets: Secrets
  readonly coverage: Map<string, number>
  readonly store: Store
  readonly receivers: readonly Receiver[]
  readonly nemesis: Nemesis
  readonly cluster: Cluster
  /** Wall clock at moment 0, Unix ms. */
  readonly startMs: number
  /** Counts an occurrence in `coverage`. */
  cover(name: string): void
}

/** 2026-01-01T00:00:00Z. */
const START_MS = 1_767_225_600_000
const silent: Log = { debug() {}, info() {}, warn() {}, error() {} }
/** Nothing may be removed before the checks at the end. */
const RETENTION = { attemptsPerWebhook: 1_000_000, attemptsInAll: 100_000_000 }
const SERVICE = {
  secret: 'a secret of the simulated service',
  // The cache allocates its capacity on creation, and a run creates many nodes.
  tokenCacheSize: 100,
  attemptsPerWebhook: RETENTION.attemptsPerWebhook,
  // Longer than any `wall leap`: a clock a month behind writes attempts that are a month old.
  retentionDays: 3650,
}
/** Largest initial error of a node's wall clock, ms, and its largest drift. */
const MAX_AHEAD_MS = 2000
const MAX_DRIFT = 1e-4

export async function createSimulationContext(
  seed: number | string,
  options: SimulationOptions,
): Promise<SimulationContext> {
  const random = seededRandom(seed)
  const given = options.store?.()
  const shape = drawShape(random.stream('shape'), options, given?.supports.sharedBetweenNodes === false)
  const queue = createRunQueue()
  const trace = createTrace(options.keepsTrace ?? false)
  const history = createRunHistory()
  const tracked = createTrackedState()
  const violations = createViolationLog()
  const secrets = createSecrets()
  const coverage = new Map<string, number>()
  const cover = (name: string) => void coverage.set(name, (coverage.get(name) ?? 0) + 1)
  const startMs = START_MS

  const storeIds = { node: 0, generation: 1 }
  const storeClock = createNodeLife(queue, startMs, storeIds, { aheadMs: 0, drift: 0 }).clock
  const realStore = given ?? memoryStore({ shared: shape.isShared, clock: storeClock, ...RETENTION })
  await realStore.open({ clock: storeClock, log: silent })
  const store = options.faultInjector?.store?.(realStore) ?? realStore
  const receivers = drawReceivers(random.stream('receivers'))
  const common = { queue, trace, history, startMs, cover }
  const nemesis = createNemesis({
    ...common,
    receivers,
    isShared: shape.isShared,
    crashes: options.crashes ?? new Map(),
  })
  const caps = { ...DEFAULT_CAPS, ...options.caps }
  const maxPendingPerWebhook =
    options.maxPendingPerWebhook ?? drawMaxPendingPerWebhook(random.stream('limits'))
  const observer = createObserver({
    ...common,
    tracked,
    violations,
    secrets,
    caps,
    receivers: receivers.length,
  })
  const clocks = random.stream('clocks')
  const cluster = createCluster(
    {
      ...common,
      random: random.stream('nodes'),
      store,
      faultInjector: options.faultInjector ?? {},
      log: secrets.log,
      options: {
        ...SERVICE,
        inFlightPerEndpoint: caps.perEndpoint,
        inFlightPerAccount: caps.perAccount,
        inFlight: caps.total,
        maxPendingPerWebhook,
      },
      connect: createConnect({
        queue,
        violations,
        receivers,
        approve: options.faultInjector?.approve,
        hostileDns: nemesis.hostileDns,
      }),
      storeEffectOf: nemesis.storeEffectOf,
      networkEffectOf: nemesis.networkEffectOf,
      notificationDelayMs: nemesis.notificationDelayMs,
      leaseMs: options.leaseSeconds === undefined ? undefined : options.leaseSeconds * 1000,
      executed: observer.executed,
      requestStarted: observer.requestStarted,
      sent: observer.sent,
      drawClockErrors: () => ({
        aheadMs: Math.round((2 * clocks.fraction() - 1) * MAX_AHEAD_MS),
        drift: (2 * clocks.fraction() - 1) * MAX_DRIFT,
      }),
      closed: observer.closed,
    },
    shape.nodes,
  )
  return {
    ...common,
    maxPendingPerWebhook,
    random,
    shape,
    tracked,
    violations,
    secrets,
    coverage,
    store,
    receivers,
    nemesis,
    cluster,
  }
}
