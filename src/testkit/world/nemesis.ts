import type { SeededRandom } from '../random.js'
import type { Cluster, SimulatedNode } from './cluster.js'
import { JUMPS_MS, LEAPS_MS, MANNERS, NETWORK_FATES, STORE_FATES } from './fates.js'
import type { Fault, FaultKind } from './faults.js'
import type { Ledger } from './ledger.js'
import type { NetworkFate } from './network.js'
import type { NodeLife } from './node-life.js'
import type { Receiver } from './receivers.js'
import type { RunQueue } from './run-queue.js'
import type { StoreFate, StoreOperation } from './store-door.js'
import type { Trace } from './trace.js'

export interface NemesisDoors {
  readonly queue: RunQueue
  readonly trace: Trace
  readonly ledger: Ledger
  readonly receivers: readonly Receiver[]
  readonly startMs: number
  /** Store operations, by number, before or after which their node dies. */
  readonly crashes: ReadonlyMap<number, 'before' | 'after'>
  /** A fault of this kind had its way. */
  fired(kind: string): void
}

/** Makes things go wrong, and mends them. */
export interface Nemesis {
  /** Begins with these faults. */
  strike(faults: readonly Fault[], cluster: Cluster): void
  /** Nothing goes wrong any more; what is down is started. */
  heal(): void
  storeFateOf(operation: StoreOperation): StoreFate | undefined
  networkFateOf(life: NodeLife): NetworkFate | undefined
  noticeMs(life: NodeLife): number | undefined
  /** Set while name servers lie: what they draw from. */
  lieOf(): SeededRandom | undefined
}

/** After a crash at a given operation. */
const AGAIN_MS = 1000

/** A fault that is at work now. */
interface Active {
  readonly fault: Fault
  readonly draw: SeededRandom
}

export function createNemesis(doors: NemesisDoors): Nemesis {
  const { queue, trace, ledger, receivers, crashes } = doors
  const active = new Set<Active>()
  let cluster: Cluster
  let isHealed = false
  let hasStore = false
  let hasNetwork = false
  let hasDeaf = false
  let hasLies = false

  const nodeOf = ({ node }: Fault) => cluster.nodes[node - 1]!

  function count(): void {
    const kinds = new Set([...active].map(({ fault }) => fault.kind))
    hasStore = [...kinds].some((kind) => kind.startsWith('store') || kind === 'crash point')
    hasNetwork = [...kinds].some((kind) => kind.startsWith('network'))
    hasDeaf = kinds.has('deaf')
    hasLies = kinds.has('dns hostile')
  }

  function begin(fault: Fault): Active {
    const entry = { fault, draw: fault.random }
    active.add(entry)
    count()
    return entry
  }

  function finish(entry: Active): void {
    active.delete(entry)
    count()
  }

  /** Lasts for its time, and is a disruption for as long. */
  function lasting(fault: Fault, after = () => {}): void {
    const entry = begin(fault)
    const disruption = { kind: fault.kind, atMs: queue.now(), untilMs: queue.now() + fault.lastsMs }
    ledger.disruptions.push(disruption)
    queue.after(fault.lastsMs, () => {
      if (!active.has(entry)) return
      finish(entry)
      after()
    })
  }

  function startAgain(node: SimulatedNode, ms: number): void {
    queue.after(ms, () => {
      if (!node.current) void cluster.start(node).then(() => !node.current && startAgain(node, 1000))
    })
  }

  function crash(fault: Fault): void {
    const node = nodeOf(fault)
    if (!node.current) return
    cluster.crash(node.current.life)
    startAgain(node, fault.lastsMs)
  }

  const STRIKES: Readonly<Record<FaultKind, (fault: Fault) => void>> = {
    crash,
    'crash point': (fault) => void begin(fault),
    restart(fault) {
      const node = nodeOf(fault)
      void cluster.close(node, fault.random.pick([0, 100, 5000])).then(() => startAgain(node, fault.lastsMs))
    },
    pause: (fault) => stop(fault, false),
    suspend: (fault) => stop(fault, true),
    'wall jump': (fault) => jump(fault, JUMPS_MS),
    'wall leap': (fault) => jump(fault, LEAPS_MS),
    'store out': lasting,
    'store unheard': lasting,
    'store slow': lasting,
    'store busy': lasting,
    'store cut off': lasting,
    deaf: (fault) => lasting(fault, () => cluster.hearAgain()),
    'network down': lasting,
    'network bad': lasting,
    'dns hostile': lasting,
    'receivers change'(fault) {
      const receiver = fault.random.pick(receivers)
      receiver.become(fault.random.weighted(MANNERS))
      trace.step(queue.now(), `becomes ${receiver.manner()}`, receiver.name)
    },
  }

  function jump(fault: Fault, sizesMs: readonly number[]): void {
    const life = nodeOf(fault).current?.life
    if (!life) return
    const ms = fault.random.pick(sizesMs)
    trace.step(queue.now(), `wall clock jumps by ${ms} ms`, life.name)
    life.jumpWall(ms)
  }

  function stop(fault: Fault, isFrozen: boolean): void {
    const node = nodeOf(fault)
    const pause = cluster.pause(node, isFrozen)
    if (!pause) return
    const life = node.current!.life
    queue.after(fault.lastsMs, () => {
      pause.untilMs = queue.now()
      if (node.current?.life === life) cluster.resume(node)
    })
  }

  function crashPoint({ life }: StoreOperation): StoreFate | undefined {
    for (const entry of active) {
      const { fault, draw } = entry
      if (fault.kind !== 'crash point' || fault.node !== life.node || !draw.chance(0.1)) continue
      finish(entry)
      doors.fired('crash point')
      startAgain(nodeOf(fault), fault.lastsMs + 1)
      return { beforeMs: draw.exponential(1), crashes: draw.pick(['before', 'after'] as const) }
    }
    return undefined
  }

  return {
    strike(faults, given) {
      cluster = given
      for (const fault of faults) {
        queue.after(fault.atMs - queue.now(), () => {
          if (isHealed) return
          trace.step(queue.now(), `fault ${fault.number}: ${fault.kind}`, String(fault.node))
          if (fault.kind !== 'crash point') doors.fired(fault.kind)
          STRIKES[fault.kind](fault)
        })
      }
    },
    heal() {
      isHealed = true
      // Only who was deaf is told to look: what else makes nodes look is theirs to know.
      const wasDeaf = hasDeaf
      active.clear()
      count()
      for (const receiver of receivers) receiver.become('healthy')
      for (const node of cluster.nodes) {
        cluster.resume(node)
        if (!node.current) startAgain(node, 0)
      }
      if (wasDeaf) cluster.hearAgain()
    },
    storeFateOf(operation) {
      const dies = crashes.get(operation.number)
      if (dies) {
        startAgain(cluster.nodes[operation.life.node - 1]!, AGAIN_MS)
        return { crashes: dies }
      }
      if (!hasStore) return undefined
      const crash = crashPoint(operation)
      if (crash) return crash
      for (const { fault, draw } of active) {
        const fate = STORE_FATES[fault.kind]?.(draw, fault.node === operation.life.node)
        if (fate) return fate
      }
      return undefined
    },
    networkFateOf(life) {
      if (!hasNetwork) return undefined
      for (const { fault, draw } of active) {
        if (fault.kind === 'network down' && fault.node === life.node) return 'black hole'
        if (fault.kind === 'network bad' && draw.chance(0.3)) {
          const fate = draw.pick(NETWORK_FATES)
          doors.fired(fate)
          return fate
        }
      }
      return undefined
    },
    noticeMs(life) {
      if (!hasDeaf) return 0
      for (const { fault, draw } of active) {
        if (fault.kind !== 'deaf') continue
        return fault.node === life.node ? undefined : draw.exponential(20)
      }
      return 0
    },
    lieOf() {
      if (!hasLies) return undefined
      for (const { fault, draw } of active) if (fault.kind === 'dns hostile') return draw
      return undefined
    },
  }
}
