import { callGenerator } from '../calls.js'
import { type Answers, readAnswers } from './answers.js'
import { createClients } from './clients.js'
import { createEditors, type Editors } from './editors.js'
import { type Fault, planFaults } from './faults.js'
import type { Finding } from './finding.js'
import type { SimulationOptions } from './options.js'
import { judge } from './oracle.js'
import { createPublishers, type Publishers } from './publishers.js'
import { createRegisters } from './registers.js'
import type { TraceStep } from './trace.js'
import { createWorld, type World } from './world.js'

/** What came of a run. */
export interface Simulation {
  readonly seed: string
  /** The same for every run of this seed and these options, in every process. */
  readonly hash: string
  /** Broken invariants; empty: all held. */
  readonly findings: readonly Finding[]
  readonly counts: Readonly<Record<CountName, number>>
  /** How often each fault, failure and transition was met. */
  readonly coverage: ReadonlyMap<string, number>
  readonly faults: readonly Fault[]
  /** What happened to any of these, or all; empty without `keepsStory`. */
  story(...whom: readonly string[]): readonly TraceStep[]
}

type CountName =
  | 'nodes'
  | 'calls'
  | 'publishes'
  | 'deliveries'
  | 'requests'
  | 'faults'
  | 'steps'
  | 'seconds'
  /** Store operations until everything was prepared, until all had come to its end, and in all. */
  | 'prepared'
  | 'worked'
  | 'operations'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const WARM_UP_MS = 20_000
/** So long everything may take to come to its end once nothing is wrong any more. */
const PATIENCE_MS = 3 * 3_600_000
/** So long it stays quiet before it is judged. */
const QUIET_MS = 30_000
/** A quiet node waits for its lease, for what is next due, and for old rows. */
const MOST_TIMERS = 4
/** Faults, edits and clients come so many times as often as in a run of an hour: a short one has need of them. */
const MOST_HASTE = 4
const LEAST_HASTE = 0.1

/**
 * Runs nodes, receivers, hosts and clients in virtual time, makes things go wrong, and judges what was seen.
 *
 * @example
 * const { findings, hash } = await simulate(1, { minutes: 10, nodes: 3, faults: 'all' })
 */
export async function simulate(seed: number | string, options: SimulationOptions = {}): Promise<Simulation> {
  const world = await createWorld(seed, options)
  const { queue, findings, trace, coverage, ledger, cluster } = world
  let isOver = false
  const running = queue.run(() => isOver)
  const done = course(world, options).finally(() => {
    isOver = true
  })
  await running
  const { faults, publishers, answers, prepared, worked } = await done
  await world.store.close()
  const counts = {
    nodes: world.shape.nodes,
    calls: publishers.calls(),
    publishes: ledger.publishes.length,
    deliveries: answers.deliveries.size,
    requests: ledger.sights.length,
    faults: faults.length,
    steps: queue.steps(),
    seconds: Math.round(queue.now() / 1000),
    prepared,
    worked,
    operations: cluster.operations(),
  }
  const { list } = findings
  return {
    seed: world.random.seed,
    hash: trace.hash(),
    findings: list,
    counts,
    coverage,
    faults,
    story: trace.story,
  }
}

/** Warm-up, trouble, healing, judgement. */
async function course(world: World, options: SimulationOptions) {
  const { minutes = 10, without = {} } = options
  const { queue, cluster, nemesis, random, shape, book, findings, ledger, receivers } = world
  await Promise.all(cluster.nodes.map((node) => cluster.start(node)))
  const editors = createEditors({ ...world, random: random.stream('editors') })
  await editors.prepare()
  const prepared = cluster.operations()
  const endMs = WARM_UP_MS + minutes * MINUTE_MS
  const haste = Math.max(LEAST_HASTE, Math.min(MOST_HASTE, 60 / minutes))
  const publishers = beginWork(world, options, editors, endMs, haste)

  const span = { fromMs: WARM_UP_MS, toMs: endMs }
  const faults = planFaults(random.stream('faults'), shape.kinds, span, shape.nodes, haste)
  const wanted = faults.filter(({ number }) => !without.faults?.has(number))
  nemesis.strike(wanted, cluster)
  await queue.sleep(endMs - queue.now())
  nemesis.heal()
  await quiet(world, publishers)
  const worked = cluster.operations()
  const answers = await ask(world, editors)
  const isUntroubled = wanted.length === 0 && !options.crashes?.size
  const spotless = new Set(receivers.filter((one) => one.isSpotless()).map(({ name }) => name))
  const leaseMs = (options.leaseSeconds ?? 30) * 1000
  judge({ ledger, book, answers, findings, isUntroubled, spotless, leaseMs, fired: world.fired })
  judgeRest(world)
  await Promise.all(cluster.nodes.map((node) => cluster.close(node, 5000)))
  return { faults, publishers, answers, prepared, worked }
}

function beginWork(
  world: World,
  options: SimulationOptions,
  editors: Editors,
  endMs: number,
  haste: number,
): Publishers {
  const { queue, random, startMs } = world
  const { callsPerDay = 3000, without = {} } = options
  const publishers = createPublishers({
    ...world,
    random: random.stream('publishers'),
    isWanted: (call) => !without.calls?.has(call),
  })
  const calls = callGenerator({
    random: random.stream('workload'),
    accounts: editors.accounts,
    callsPerSecond: (callsPerDay * 1000) / DAY_MS,
    startMs: startMs + queue.now(),
  })
  publishers.begin(calls, endMs)
  editors.begin(endMs, haste)
  createRegisters({ ...world, random: random.stream('registers') }).begin(endMs, haste)
  createClients({ ...world, random: random.stream('clients'), keys: editors.keys }).begin(endMs, haste)
  return publishers
}

/** Waits until nothing is left to be done, or patience is, and somebody is there who can be asked. */
async function quiet({ queue, store, cluster }: World, publishers: Publishers): Promise<void> {
  const patientMs = queue.now() + PATIENCE_MS
  do await queue.sleep(5000)
  while (queue.now() < patientMs && (publishers.unkept() > 0 || (await store.deliveries.pending()) > 0))
  do await queue.sleep(QUIET_MS)
  while (queue.now() < patientMs + QUIET_MS && cluster.up().length === 0)
}

/** What the service says for itself. */
function ask({ cluster, ledger, findings }: World, editors: Editors): Promise<Answers> {
  const [one] = cluster.up()
  if (!one) throw new Error('no node is up when everything is quiet')
  return readAnswers(one.hs, editors.accounts, ledger.webhooks.values(), findings)
}

/** What is left of a run when everything is quiet: no secret in what was written, no heap of timers. */
function judgeRest({ cluster, findings, queue, secrets }: World): void {
  for (const where of secrets.leaks()) findings.add('I13', queue.now(), `a secret was written into ${where}`)
  for (const { life } of cluster.up()) {
    if (life.sleepers() <= MOST_TIMERS) continue
    findings.add(
      'I24',
      queue.now(),
      `${life.name} has ${life.sleepers()} timers when everything is quiet`,
      life.name,
    )
  }
}
