/** Carries out the planned faults, decides their effects on store operations and requests, and heals them. */

import type { SeededRandom } from '../testkit/random.js'
import type { Cluster, SimulatedNode } from './cluster.js'
import { BEHAVIOUR_WEIGHTS, JUMPS_MS, LEAPS_MS, NETWORK_EFFECTS, STORE_EFFECTS } from './fault-catalogue.js'
import type { Fault, FaultKind } from './faults.js'
import type { StoreEffect, StoreOperation } from './faulty-store.js'
import type { RunHistory } from './history.js'
import type { NetworkEffect } from './network.js'
import type { NodeLife } from './node-life.js'
import type { Receiver } from './receivers.js'
import type { RunQueue } from './run-queue.js'
import type { Trace } from './trace.js'

interface NemesisDeps {
  readonly queue: RunQueue
  readonly trace: Trace
  readonly history: RunHistory
  readonly receivers: readonly Receiver[]
  readonly startMs: number
  /** Whether several nodes may use the store: then a node polls without notifications too. */
  readonly isShared: boolean
  /** Store operations, by number, before or after which their node crashes. */
  readonly crashes: ReadonlyMap<number, 'before' | 'after'>
  /** A fault of this kind has taken effect. */
  cover(kind: string): void
}

export interface Nemesis {
  /** Schedules these faults. */
  strike(faults: readonly Fault[], cluster: Cluster): void
  /** Ends all faults, makes all receivers healthy, and starts the nodes that are down. */
  heal(): void
  storeEffectOf(operation: StoreOperation): StoreEffect | undefined
  networkEffectOf(life: NodeLife): NetworkEffect | undefined
  /** Delay of a store notification to this node; undefined: it is lost. */
  notificationDelayMs(life: NodeLife): number | undefined
  /** The random stream of hostile DNS answers while that fault is active. */
  hostileDns(): SeededRandom | undefined
}

/** How long a node stays down after a crash at a given operation. */
const RESTART_MS = 1000

interface ActiveFault {
  readonly fault: Fault
  readonly random: SeededRandom
}

export function createNemesis(deps: NemesisDeps): Nemesis {
  const { queue, trace, history, receivers, isShared, crashes } = deps
  const active = new Set<ActiveFault>()
  let cluster: Cluster
  let isHealed = false
  // Fast paths: most operations run while no fault concerns them.
  let hasStoreFault = false
  let hasNetworkFault = false
  let hasDeafFault = false
  let hasHostileDns = false

  const nodeOf = ({ node }: Fault) => cluster.nodes[node - 1]!

  function updateFlags(): void {
    const kinds = new Set([...active].map(({ fault }) => fault.kind))
    hasStoreFault = [...kinds].some((kind) => kind.startsWith('store') || kind === 'crash point')
    hasNetworkFault = [...kinds].some((kind) => kind.startsWith('network'))
    hasDeafFault = kinds.has('deaf')
    hasHostileDns = kinds.has('dns hostile')
  }

  function activate(fault: Fault): ActiveFault {
    const entry = { fault, random: fault.random }
    active.add(entry)
    updateFlags()
    return entry
  }

  function deactivate(entry: ActiveFault): void {
    active.delete(entry)
    updateFlags()
  }

  /** Activates a fault for its length, and records it as a disruption. */
  function lasting(fault: Fault, onEnd = () => {}): void {
    const entry = activate(fault)
    const disruption = { kind: fault.kind, atMs: queue.now(), untilMs: queue.now() + fault.lastsMs }
    history.disruptions.push(disruption)
    queue.after(fault.lastsMs, () => {
      if (!active.has(entry)) return
      deactivate(entry)
      onEnd()
    })
  }

  function restoreNotifications(): void {
    if (!isShared) cluster.restoreNotifications()
  }

  function startAfter(node: SimulatedNode, ms: number): void {
    queue.after(ms, () => {
      if (!node.current) void cluster.start(node).then(() => !node.current && startAfter(node, 1000))
    })
  }

  function crash(fault: Fault): void {
    const node = nodeOf(fault)
    if (!node.current) return
    cluster.crash(node.current.life)
    startAfter(node, fault.lastsMs)
  }

  const STRIKES: Readonly<Record<FaultKind, (fault: Fault) => void>> = {
    crash,
    'crash point': (fault) => void activate(fault),
    restart(fault) {
      const node = nodeOf(fault)
      void cluster.close(node, fault.random.pick([0, 100, 5000])).then(() => startAfter(node, fault.lastsMs))
    },
    pause: (fault) => pause(fault, false),
    suspend: (fault) => pause(fault, true),
    'wall jump': (fault) => jumpWall(fault, JUMPS_MS),
    'wall leap': (fault) => jumpWall(fault, LEAPS_MS),
    'store out': lasting,
    'store unheard': lasting,
    'store slow': lasting,
    'store busy': lasting,
    'store cut off': lasting,
    deaf: (fault) => lasting(fault, restoreNotifications),
    'network down': lasting,
    'network bad': lasting,
    'dns hostile': lasting,
    'receivers change'(fault) {
      const receiver = fault.random.pick(receivers)
      receiver.become(fault.random.weighted(BEHAVIOUR_WEIGHTS))
      trace.step(queue.now(), `becomes ${receiver.behaviour()}`, receiver.name)
    },
  }

  function jumpWall(fault: Fault, sizesMs: readonly number[]): void {
    const life = nodeOf(fault).current?.life
    if (!life) return
    const ms = fault.random.pick(sizesMs)
    trace.step(queue.now(), `wall clock jumps by ${ms} ms`, life.name)
    life.jumpWall(ms)
  }

  function pause(fault: Fault, isFrozen: boolean): void {
    const node = nodeOf(fault)
    const disruption = cluster.pause(node, isFrozen)
    if (!disruption) return
    const life = node.current!.life
    queue.after(fault.lastsMs, () => {
      disruption.untilMs = queue.now()
      if (node.current?.life === life) cluster.resume(node)
    })
  }

  function crashPointEffect({ life }: StoreOperation): StoreEffect | undefined {
    for (const entry of active) {
      const { fault, random } = entry
      if (fault.kind !== 'crash point' || fault.node !== life.node || !random.chance(0.1)) continue
      deactivate(entry)
      deps.cover('crash point')
      startAfter(nodeOf(fault), fault.lastsMs + 1)
      return { beforeMs: random.exponential(1), crashes: random.pick(['before', 'after'] as const) }
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
          if (fault.kind !== 'crash point') deps.cover(fault.kind)
          STRIKES[fault.kind](fault)
        })
      }
    },
    heal() {
      isHealed = true
      // Only notifications of a store that is not shared are made up for: they cannot be lost inside one process. Nodes must
      // recover from everything else by themselves.
      const wasDeaf = hasDeafFault
      active.clear()
      updateFlags()
      for (const receiver of receivers) receiver.become('healthy')
      for (const node of cluster.nodes) {
        cluster.resume(node)
        if (!node.current) startAfter(node, 0)
      }
      if (wasDeaf) restoreNotifications()
    },
    storeEffectOf(operation) {
      const side = crashes.get(operation.number)
      if (side) {
        startAfter(cluster.nodes[operation.life.node - 1]!, RESTART_MS)
        return { crashes: side }
      }
      if (!hasStoreFault) return undefined
      const crashEffect = crashPointEffect(operation)
      if (crashEffect) return crashEffect
      for (const { fault, random } of active) {
        const effect = STORE_EFFECTS[fault.kind]?.(random, fault.node === operation.life.node)
        if (effect) return effect
      }
      return undefined
    },
    networkEffectOf(life) {
      if (!hasNetworkFault) return undefined
      for (const { fault, random } of active) {
        if (fault.kind === 'network down' && fault.node === life.node) return 'black hole'
        if (fault.kind === 'network bad' && random.chance(0.3)) {
          const effect = random.pick(NETWORK_EFFECTS)
          deps.cover(effect)
          return effect
        }
      }
      return undefined
    },
    notificationDelayMs(life) {
      if (!hasDeafFault) return 0
      for (const { fault, random } of active) {
        if (fault.kind !== 'deaf') continue
        return fault.node === life.node ? undefined : random.exponential(20)
      }
      return 0
    },
    hostileDns() {
      if (!hasHostileDns) return undefined
      for (const { fault, random } of active) if (fault.kind === 'dns hostile') return random
      return undefined
    },
  }
}
