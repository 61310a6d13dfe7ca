/**
 * Theory of operation of the simulator.
 *
 * One run is one seed. It moves through four phases in virtual time: warm-up, workload with faults, healing, checks.
 *
 * - `run-queue` owns time: every timer, network hop and store round trip is a task in it. Between two tasks all promise
 *   continuations run to their end, so the order of everything is decided by the queue and the seed.
 * - `cluster` owns the nodes. A node is a real `createHookswitch` whose clock, randomness, store and sender are
 *   simulated (`node-life`, `faulty-store`, `network`, `connect`). All nodes share one real store.
 * - `publishers`, `admin-actors`, `registers` and `clients` are the workload. They record what they did and were
 *   answered in `history`.
 * - `nemesis` applies the planned faults and heals everything at the end of the workload.
 * - `observer` checks every store operation when the store has executed it, against `tracked-state`. `oracle` checks
 *   the whole run when everything is quiet, against `history` and `final-state`, which is read through the public API.
 *   Neither uses the decisions of the service.
 *
 * Determinism: every draw comes from a stream of the seed that is named after its user. Renaming a stream, or drawing
 * in another order, changes every run, including those of `test/simulator/seeds.json`.
 *
 * Crashes: a crash takes away a node's timers, notifications and pending answers at once. What it sent stays on its
 * way, what the store executed stays, and its open publishes end with an unknown outcome. The node starts again with
 * fresh memory, a new clock error and a new random stream.
 */

import { callGenerator } from '../testkit/calls.js'
import { type AdminActors, createAdminActors } from './admin-actors.js'
import { createClients } from './clients.js'
import { createSimulationContext, type SimulationContext } from './context.js'
import { type Fault, planFaults } from './faults.js'
import { type FinalState, readFinalState } from './final-state.js'
import type { SimulationOptions } from './options.js'
import { checkInvariants } from './oracle.js'
import { createPublishers, type Publishers } from './publishers.js'
import { createRegisters } from './registers.js'
import type { TraceStep } from './trace.js'
import type { Violation } from './violation.js'

/** The result of a run. */
export interface SimulationResult {
  /** As passed to `simulate`, as a string. */
  readonly seed: string
  /** Hash of the trace: equal for every run of this seed and these options, in every process. */
  readonly hash: string
  /** Broken invariants; empty if all hold. */
  readonly violations: readonly Violation[]
  /**
   * Numbers of nodes, calls, publishes, deliveries, requests, faults, tasks (`steps`) and simulated seconds, and of
   * store operations at the end of the preparation (`prepared`), of the workload (`worked`) and of the run
   * (`operations`).
   */
  readonly counts: Readonly<
    Record<
      | 'nodes'
      | 'calls'
      | 'publishes'
      | 'deliveries'
      | 'requests'
      | 'faults'
      | 'steps'
      | 'seconds'
      | 'prepared'
      | 'worked'
      | 'operations',
      number
    >
  >
  /** How often each fault, failure and state transition occurred. */
  readonly coverage: ReadonlyMap<string, number>
  /** The planned faults, in order of time. */
  readonly faults: readonly Fault[]
  /** Trace steps that concern any of these ids, or all steps without ids; empty without `keepsTrace`. */
  stepsOf(...subjects: readonly string[]): readonly TraceStep[]
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const WARM_UP_MS = 20_000
/** How long the pending deliveries may take to end after the healing. */
const DRAIN_TIMEOUT_MS = 3 * 3_600_000
/** How long the run stays quiet before the checks. */
const QUIET_MS = 30_000
/** An idle node waits for its lease renewal, the next due time, retention, and replay jobs of other nodes. */
const MAX_IDLE_TIMERS = 5
/** Faults, edits and clients are more frequent in a run shorter than an hour, so that it meets enough of them. */
const MAX_RATE_FACTOR = 4
const MIN_RATE_FACTOR = 0.1

/**
 * Runs nodes, receivers, hosts and API clients in virtual time, injects faults, and checks the invariants.
 *
 * @param seed decides everything that happens
 * @example
 * const { violations, hash } = await simulate(1, { minutes: 10, nodes: 3, faults: 'all' })
 */
export async function simulate(
  seed: number | string,
  options: SimulationOptions = {},
): Promise<SimulationResult> {
  const context = await createSimulationContext(seed, options)
  const { queue, violations, trace, coverage, history, cluster } = context
  let isOver = false
  const running = queue.run(() => isOver)
  const done = runPhases(context, options).finally(() => {
    isOver = true
  })
  await running
  const { faults, publishers, finalState, prepared, worked } = await done
  await context.store.close()
  const counts = {
    nodes: context.shape.nodes,
    calls: publishers.calls(),
    publishes: history.publishes.length,
    deliveries: finalState.deliveries.size,
    requests: history.requests.length,
    faults: faults.length,
    steps: queue.steps(),
    seconds: Math.round(queue.now() / 1000),
    prepared,
    worked,
    operations: cluster.operations(),
  }
  return {
    seed: context.random.seed,
    hash: trace.hash(),
    violations: violations.list,
    counts,
    coverage,
    faults,
    stepsOf: trace.stepsOf,
  }
}

/** Warm-up, workload with faults, healing, checks. */
async function runPhases(context: SimulationContext, options: SimulationOptions) {
  const { minutes = 10, without = {} } = options
  const { queue, cluster, nemesis, random, shape, tracked, violations, history, receivers } = context
  await Promise.all(cluster.nodes.map((node) => cluster.start(node)))
  const adminActors = createAdminActors({ ...context, random: random.stream('editors') })
  await adminActors.prepare()
  const prepared = cluster.operations()
  const endMs = WARM_UP_MS + minutes * MINUTE_MS
  const rateFactor = Math.max(MIN_RATE_FACTOR, Math.min(MAX_RATE_FACTOR, 60 / minutes))
  const publishers = startWorkload(context, options, adminActors, endMs, rateFactor)

  const span = { fromMs: WARM_UP_MS, toMs: endMs }
  const faults = planFaults(random.stream('faults'), shape.kinds, span, shape.nodes, rateFactor)
  const included = faults.filter(({ number }) => !without.faults?.has(number))
  nemesis.strike(included, cluster)
  await queue.sleep(endMs - queue.now())
  nemesis.heal()
  await waitUntilQuiet(context, publishers)
  const worked = cluster.operations()
  const finalState = await queryFinalState(context, adminActors)
  const hasNoFaults = included.length === 0 && !options.crashes?.size
  const alwaysHealthy = new Set(
    receivers.filter((receiver) => receiver.wasAlwaysHealthy()).map(({ name }) => name),
  )
  const leaseMs = (options.leaseSeconds ?? 30) * 1000
  const { cover, maxPendingPerWebhook, startMs, store } = context
  const storeStartMs = store.supports.sharedBetweenNodes ? startMs : undefined
  checkInvariants({
    history,
    tracked,
    finalState,
    violations,
    hasNoFaults,
    alwaysHealthy,
    leaseMs,
    maxPendingPerWebhook,
    storeStartMs,
    cover,
  })
  checkLeftovers(context)
  await Promise.all(cluster.nodes.map((node) => cluster.close(node, 5000)))
  return { faults, publishers, finalState, prepared, worked }
}

function startWorkload(
  context: SimulationContext,
  options: SimulationOptions,
  adminActors: AdminActors,
  endMs: number,
  rateFactor: number,
): Publishers {
  const { queue, random, startMs } = context
  const { callsPerDay = 3000, without = {} } = options
  const publishers = createPublishers({
    ...context,
    random: random.stream('publishers'),
    isIncluded: (call) => !without.calls?.has(call),
  })
  const calls = callGenerator({
    random: random.stream('workload'),
    accounts: adminActors.accounts,
    callsPerSecond: (callsPerDay * 1000) / DAY_MS,
    startMs: startMs + queue.now(),
  })
  publishers.begin(calls, endMs)
  adminActors.begin(endMs, rateFactor)
  createRegisters({ ...context, random: random.stream('registers') }).begin(endMs, rateFactor)
  createClients({ ...context, random: random.stream('clients'), keys: adminActors.keys }).begin(
    endMs,
    rateFactor,
  )
  return publishers
}

/** Waits until nothing is pending (or the timeout has passed), and a node is up. */
async function waitUntilQuiet({ queue, tracked, cluster }: SimulationContext, publishers: Publishers) {
  const deadlineMs = queue.now() + DRAIN_TIMEOUT_MS
  do await queue.sleep(5000)
  while (queue.now() < deadlineMs && (publishers.unaccepted() > 0 || tracked.lanes.size > 0))
  do await queue.sleep(QUIET_MS)
  while (queue.now() < deadlineMs + QUIET_MS && cluster.up().length === 0)
}

/** Reads the final state through the API of one node. */
function queryFinalState(
  { cluster, history, violations }: SimulationContext,
  adminActors: AdminActors,
): Promise<FinalState> {
  const [first] = cluster.up()
  if (!first) throw new Error('no node is up when everything is quiet')
  return readFinalState(first.hs, adminActors.accounts, history.webhooks.values(), violations)
}

/** Checks that no secret was written anywhere, and that idle nodes have few timers. */
function checkLeftovers({ cluster, violations, queue, secrets }: SimulationContext): void {
  for (const where of secrets.leaks())
    violations.add('I13', queue.now(), `a secret was written into ${where}`)
  for (const { life } of cluster.up()) {
    if (life.sleepers() <= MAX_IDLE_TIMERS) continue
    const message = `${life.name} has ${life.sleepers()} timers when everything is quiet`
    violations.add('I24', queue.now(), message, life.name)
  }
}
