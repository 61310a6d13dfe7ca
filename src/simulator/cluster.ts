/** The simulated nodes: starts, crashes, pauses and closes them. Each is a real service over simulated dependencies. */

import { createHookswitch, type Hookswitch } from '../hookswitch.js'
import type { HookswitchOptions } from '../options/options.js'
import type { Log } from '../ports.js'
import type { Store } from '../store/contract.js'
import type { SeededRandom } from '../testkit/random.js'
import type { FaultInjector } from './fault-injector.js'
import { createFaultyStore, type FaultyStore, type FaultyStoreDeps } from './faulty-store.js'
import type { Disruption, RunHistory } from './history.js'
import { createNetworkSender, type NetworkDeps } from './network.js'
import { type ClockErrors, createNodeLife, type NodeLife } from './node-life.js'
import type { RunQueue } from './run-queue.js'
import type { Trace } from './trace.js'

/** A node of the cluster; it lives once per start. */
export interface SimulatedNode {
  readonly number: number
  /** Undefined while the node is down. */
  current: RunningNode | undefined
  generations: number
}

/** A node that is up, starting or closing. */
export interface RunningNode {
  readonly life: NodeLife
  readonly hs: Hookswitch
  readonly sender: ReturnType<typeof createNetworkSender>
  state: 'starting' | 'up' | 'closing'
}

interface ClusterDeps extends Pick<NetworkDeps, 'connect' | 'requestStarted' | 'sent'> {
  readonly queue: RunQueue
  readonly trace: Trace
  readonly history: RunHistory
  readonly random: SeededRandom
  readonly store: Store
  /** Wall clock at moment 0, Unix ms. */
  readonly startMs: number
  readonly faultInjector: FaultInjector
  readonly log: Log
  readonly options: Partial<HookswitchOptions>
  readonly storeEffectOf: FaultyStoreDeps['effectOf']
  readonly networkEffectOf: NetworkDeps['effectOf']
  readonly notificationDelayMs: FaultyStoreDeps['notificationDelayMs']
  readonly leaseMs: FaultyStoreDeps['leaseMs']
  readonly executed: FaultyStoreDeps['executed']
  drawClockErrors(node: number): ClockErrors
  /** A node has closed; `listeners` counts its subscriptions that are still active. */
  closed(running: RunningNode, listeners: number): void
}

export interface Cluster {
  readonly nodes: readonly SimulatedNode[]
  /** Resolves when the node is up, or has failed to start. */
  start(node: SimulatedNode): Promise<void>
  /** Ends a node without any cleanup. */
  crash(life: NodeLife): void
  close(node: SimulatedNode, drainMs: number): Promise<void>
  /** Stops a process; `isFrozen`: suspends its machine, so that its monotonic clock stops. */
  pause(node: SimulatedNode, isFrozen: boolean): Disruption | undefined
  resume(node: SimulatedNode): void
  /** Ends a time without store notifications: every node polls. */
  restoreNotifications(): void
  /** Nodes that answer requests now. */
  up(): readonly RunningNode[]
  /** Number of store operations so far. */
  operations(): number
}

export function createCluster(deps: ClusterDeps, count: number): Cluster {
  const { queue, trace, history } = deps
  const nodes: SimulatedNode[] = Array.from({ length: count }, (_, index) => ({
    number: index + 1,
    current: undefined,
    generations: 0,
  }))
  const faultyStores = new Map<NodeLife, FaultyStore>()
  let operations = 0

  function create(node: SimulatedNode): RunningNode & { loaded(): void } {
    node.generations += 1
    const ids = { node: node.number, generation: node.generations }
    const life = createNodeLife(queue, deps.startMs, ids, deps.drawClockErrors(node.number))
    // Modules are loaded in real time: virtual time stops until they are there.
    const loaded = queue.hold()
    const faultyStore = createFaultyStore({
      queue,
      life,
      store: deps.store,
      effectOf: deps.storeEffectOf,
      nextNumber: () => ++operations,
      executed(operation, args, result) {
        trace.step(queue.now(), operation.name, life.name)
        deps.executed(operation, args, result)
      },
      crash,
      notificationDelayMs: deps.notificationDelayMs,
      leaseMs: deps.leaseMs,
      opening: loaded,
    })
    faultyStores.set(life, faultyStore)
    const random = deps.random.stream(life.name)
    const sender = createNetworkSender(
      { ...deps, effectOf: deps.networkEffectOf, random: random.stream('network') },
      life,
    )
    const { faultInjector, log, options } = deps
    const serviceRandom = random.stream('service')
    const hs = createHookswitch({
      store: faultInjector.nodeStore?.(faultyStore.store, life) ?? faultyStore.store,
      sender: faultInjector.sender?.(sender, life) ?? sender,
      clock: faultInjector.clock?.(life.clock, life) ?? life.clock,
      random: faultInjector.random?.(serviceRandom, life) ?? serviceRandom,
      log,
      ...options,
    })
    return { life, hs, sender, state: 'starting', loaded }
  }

  async function start(node: SimulatedNode): Promise<void> {
    const running = create(node)
    node.current = running
    trace.step(queue.now(), 'starts', running.life.name)
    try {
      await running.hs.start()
      running.state = 'up'
      trace.step(queue.now(), 'is up', running.life.name)
    } catch {
      trace.step(queue.now(), 'cannot start', running.life.name)
      end(node, running)
    } finally {
      running.loaded()
    }
  }

  function end(node: SimulatedNode, running: RunningNode): void {
    running.life.kill()
    faultyStores.get(running.life)?.end()
    faultyStores.delete(running.life)
    if (node.current === running) node.current = undefined
    for (const publish of history.open) {
      if (publish.node !== running.life.name) continue
      publish.outcome = 'unknown'
      publish.end()
    }
  }

  function crash(life: NodeLife): void {
    const node = nodes.find(({ current }) => current?.life === life)
    if (!node?.current) return
    trace.step(queue.now(), 'crashes', life.name)
    history.disruptions.push({ kind: 'crash', atMs: queue.now(), untilMs: queue.now(), node: life.name })
    end(node, node.current)
  }

  return {
    nodes,
    start,
    crash,
    async close(node, drainMs) {
      const running = node.current
      if (running?.state !== 'up') return
      running.state = 'closing'
      const { name } = running.life
      trace.step(queue.now(), 'closes', name)
      const closing: Disruption = { kind: 'close', atMs: queue.now(), untilMs: Infinity, node: name }
      history.disruptions.push(closing)
      await running.hs.close({ drainMs })
      closing.untilMs = queue.now()
      trace.step(queue.now(), 'is closed', name)
      deps.closed(running, faultyStores.get(running.life)?.listeners() ?? 0)
      end(node, running)
    },
    pause(node, isFrozen) {
      const running = node.current
      if (!running || running.life.isPaused()) return undefined
      const { name } = running.life
      trace.step(queue.now(), isFrozen ? 'is suspended' : 'is paused', name)
      running.life.pause(isFrozen)
      const pause: Disruption = { kind: 'pause', atMs: queue.now(), untilMs: Infinity, node: name }
      history.disruptions.push(pause)
      return pause
    },
    resume(node) {
      const life = node.current?.life
      if (!life?.isPaused()) return
      trace.step(queue.now(), 'resumes', life.name)
      life.resume()
    },
    restoreNotifications() {
      for (const faultyStore of faultyStores.values()) faultyStore.restoreNotifications()
    },
    up() {
      const found: RunningNode[] = []
      for (const { current } of nodes) {
        if (current?.state === 'up' && !current.life.isPaused()) found.push(current)
      }
      return found
    },
    operations: () => operations,
  }
}
