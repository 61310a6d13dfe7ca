import type { Log } from '../../ports.js'
import type { Store } from '../../store/contract.js'
import { memoryStore } from '../../store/memory.js'
import { type SeededRandom, seededRandom } from '../random.js'
import { type Book, newBook } from './book.js'
import { type Cluster, createCluster } from './cluster.js'
import { type Findings, newFindings } from './finding.js'
import { type Ledger, newLedger } from './ledger.js'
import { createConnect } from './names.js'
import { createNemesis, type Nemesis } from './nemesis.js'
import { nodeLife } from './node-life.js'
import { drawShape, type Shape, type SimulationOptions, USUAL_CAPS } from './options.js'
import { drawReceivers, type Receiver } from './receivers.js'
import { type RunQueue, runQueue } from './run-queue.js'
import { newSecrets, type Secrets } from './secrets.js'
import { newTrace, type Trace } from './trace.js'
import { createWatch } from './watch.js'

/** Everything that a run is made of, at its first moment. */
export interface World {
  readonly random: SeededRandom
  readonly shape: Shape
  readonly queue: RunQueue
  readonly trace: Trace
  readonly ledger: Ledger
  readonly book: Book
  readonly findings: Findings
  readonly secrets: Secrets
  readonly coverage: Map<string, number>
  readonly store: Store
  readonly receivers: readonly Receiver[]
  readonly nemesis: Nemesis
  readonly cluster: Cluster
  /** Wall clock at moment 0, Unix ms. */
  readonly startMs: number
  fired(what: string): void
}

/** 2026-01-01T00:00:00Z. */
const START_MS = 1_767_225_600_000
const silent: Log = { debug() {}, info() {}, warn() {}, error() {} }
/** What is judged at the end must still be there. */
const KEPT = { attemptsPerWebhook: 1_000_000, attemptsInAll: 100_000_000 }
const SERVICE = {
  secret: 'a secret of the simulated service',
  // A cache takes its room when it is made, and lives are short here.
  tokenCacheSize: 100,
  attemptsPerWebhook: KEPT.attemptsPerWebhook,
  // A clock that is a month behind writes attempts that are a month old.
  retentionDays: 3650,
}
/** Clocks of nodes are up to so far from the truth. */
const MOST_AHEAD_MS = 2000
const MOST_DRIFT = 1e-4

export async function createWorld(seed: number | string, options: SimulationOptions): Promise<World> {
  const random = seededRandom(seed)
  const given = options.store?.()
  const shape = drawShape(random.stream('shape'), options, given?.supports.sharedBetweenNodes === false)
  const queue = runQueue()
  const trace = newTrace(options.keepsStory ?? false)
  const [ledger, book, findings, secrets] = [newLedger(), newBook(), newFindings(), newSecrets()]
  const coverage = new Map<string, number>()
  const fired = (what: string) => void coverage.set(what, (coverage.get(what) ?? 0) + 1)
  const startMs = START_MS

  const storeClock = nodeLife(queue, startMs, { node: 0, life: 1 }, { aheadMs: 0, drift: 0 }).clock
  const kept = given ?? memoryStore({ shared: shape.isShared, clock: storeClock, ...KEPT })
  await kept.open({ clock: storeClock, log: silent })
  const store = options.doctor?.store?.(kept) ?? kept
  const receivers = drawReceivers(random.stream('receivers'))
  const common = { queue, trace, ledger, startMs, fired }
  const nemesis = createNemesis({ ...common, receivers, crashes: options.crashes ?? new Map() })
  const caps = { ...USUAL_CAPS, ...options.caps }
  const watch = createWatch({ ...common, book, findings, secrets, caps, receivers: receivers.length })
  const clocks = random.stream('clocks')
  const cluster = createCluster(
    {
      ...common,
      random: random.stream('nodes'),
      store,
      doctor: options.doctor ?? {},
      log: secrets.log,
      options: {
        ...SERVICE,
        inFlightPerEndpoint: caps.perEndpoint,
        inFlightPerAccount: caps.perAccount,
        inFlight: caps.inAll,
      },
      connect: createConnect({
        queue,
        findings,
        receivers,
        approve: options.doctor?.approve,
        lieOf: nemesis.lieOf,
      }),
      storeFateOf: nemesis.storeFateOf,
      networkFateOf: nemesis.networkFateOf,
      noticeMs: nemesis.noticeMs,
      leaseMs: options.leaseSeconds === undefined ? undefined : options.leaseSeconds * 1000,
      carriedOut: watch.carriedOut,
      watch: watch.sending,
      clockErrors: () => ({
        aheadMs: Math.round((2 * clocks.fraction() - 1) * MOST_AHEAD_MS),
        drift: (2 * clocks.fraction() - 1) * MOST_DRIFT,
      }),
      closed: watch.closed,
    },
    shape.nodes,
  )
  return { ...common, random, shape, book, findings, secrets, coverage, store, receivers, nemesis, cluster }
}
