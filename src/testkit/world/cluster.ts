import { createHookswitch, type Hookswitch } from '../../hookswitch.js'
import type { HookswitchOptions } from '../../options.js'
import type { Log } from '../../ports.js'
import type { Store } from '../../store/contract.js'
import type { SeededRandom } from '../random.js'
import type { Doctor } from './doctor.js'
import type { Disruption, Ledger } from './ledger.js'
import { type NetworkDoors, networkSender } from './network.js'
import { type ClockErrors, type NodeLife, nodeLife } from './node-life.js'
import type { RunQueue } from './run-queue.js'
import { type StoreDoor, type StoreDoorDoors, storeDoor } from './store-door.js'
import type { Trace } from './trace.js'

/** A node of the simulated cluster: one life after the other. */
export interface SimulatedNode {
  readonly number: number
  /** Undefined: it is down. */
  current: Running | undefined
  lives: number
}

/** A node that is up, or on its way up or down. */
export interface Running {
  readonly life: NodeLife
  readonly hs: Hookswitch
  readonly sender: ReturnType<typeof networkSender>
  state: 'starting' | 'up' | 'closing'
}

export interface ClusterDoors extends Pick<NetworkDoors, 'connect' | 'watch'> {
  readonly queue: RunQueue
  readonly trace: Trace
  readonly ledger: Ledger
  readonly random: SeededRandom
  readonly store: Store
  readonly startMs: number
  readonly doctor: Doctor
  readonly log: Log
  readonly options: Partial<HookswitchOptions<Store>>
  readonly storeFateOf: StoreDoorDoors['fateOf']
  readonly networkFateOf: NetworkDoors['fateOf']
  readonly noticeMs: StoreDoorDoors['noticeMs']
  readonly leaseMs: StoreDoorDoors['leaseMs']
  readonly carriedOut: StoreDoorDoors['carriedOut']
  clockErrors(node: number): ClockErrors
  /** A life closed in good order; how many of its listeners the store still tells. */
  closed(running: Running, listeners: number): void
}

export interface Cluster {
  readonly nodes: readonly SimulatedNode[]
  /** Resolves when it is up, or could not start. */
  start(node: SimulatedNode): Promise<void>
  /** The process is gone from one moment to the next. */
  crash(life: NodeLife): void
  close(node: SimulatedNode, drainMs: number): Promise<void>
  pause(node: SimulatedNode, isFrozen: boolean): Disruption | undefined
  resume(node: SimulatedNode): void
  hearAgain(): void
  /** Those that may be asked something now. */
  up(): readonly Running[]
  /** Store operations so far. */
  operations(): number
}

export function createCluster(doors: ClusterDoors, count: number): Cluster {
  const { queue, trace, ledger } = doors
  const nodes: SimulatedNode[] = Array.from({ length: count }, (_, index) => ({
    number: index + 1,
    current: undefined,
    lives: 0,
  }))
  const storeDoors = new Map<NodeLife, StoreDoor>()
  let operations = 0

  function begin(node: SimulatedNode): Running & { loaded(): void } {
    node.lives += 1
    const ids = { node: node.number, life: node.lives }
    const life = nodeLife(queue, doors.startMs, ids, doors.clockErrors(node.number))
    let loaded = () => {}
    const door = storeDoor({
      queue,
      life,
      store: doors.store,
      fateOf: doors.storeFateOf,
      nextNumber: () => ++operations,
      carriedOut(operation, args, result) {
        trace.step(queue.now(), operation.name, life.name)
        doors.carriedOut(operation, args, result)
      },
      crash,
      noticeMs: doors.noticeMs,
      leaseMs: doors.leaseMs,
      // Code is loaded in real time: nothing else moves until it is there.
      opened() {
        loaded = queue.hold()
      },
      owned: () => loaded(),
    })
    storeDoors.set(life, door)
    const random = doors.random.stream(life.name)
    const sender = networkSender(
      { ...doors, fateOf: doors.networkFateOf, random: random.stream('network') },
      life,
    )
    const { doctor, log, options } = doors
    const chance = random.stream('service')
    const hs = createHookswitch({
      store: doctor.asks?.(door.store, life) ?? door.store,
      sender: doctor.sender?.(sender, life) ?? sender,
      clock: doctor.clock?.(life.clock, life) ?? life.clock,
      random: doctor.random?.(chance, life) ?? chance,
      log,
      ...options,
    })
    return { life, hs, sender, state: 'starting', loaded: () => loaded() }
  }

  async function start(node: SimulatedNode): Promise<void> {
    const running = begin(node)
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

  function end(node: SimulatedNode, running: Running): void {
    running.life.kill()
    storeDoors.get(running.life)?.end()
    storeDoors.delete(running.life)
    if (node.current === running) node.current = undefined
    for (const publish of ledger.open) {
      if (publish.node !== running.life.name) continue
      publish.outcome = 'unknown'
      publish.end()
    }
  }

  function crash(life: NodeLife): void {
    const node = nodes.find(({ current }) => current?.life === life)
    if (!node?.current) return
    trace.step(queue.now(), 'crashes', life.name)
    ledger.disruptions.push({ kind: 'crash', atMs: queue.now(), untilMs: queue.now(), node: life.name })
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
      ledger.disruptions.push(closing)
      await running.hs.close({ drainMs })
      closing.untilMs = queue.now()
      trace.step(queue.now(), 'is closed', name)
      doors.closed(running, storeDoors.get(running.life)?.listeners() ?? 0)
      end(node, running)
    },
    pause(node, isFrozen) {
      const running = node.current
      if (!running || running.life.isPaused()) return undefined
      const { name } = running.life
      trace.step(queue.now(), isFrozen ? 'is suspended' : 'is stopped', name)
      running.life.pause(isFrozen)
      const pause: Disruption = { kind: 'pause', atMs: queue.now(), untilMs: Infinity, node: name }
      ledger.disruptions.push(pause)
      return pause
    },
    resume(node) {
      const life = node.current?.life
      if (!life?.isPaused()) return
      trace.step(queue.now(), 'goes on', life.name)
      life.resume()
    },
    hearAgain() {
      for (const door of storeDoors.values()) door.hearAgain()
    },
    up() {
      const found: Running[] = []
      for (const { current } of nodes) {
        if (current?.state === 'up' && !current.life.isPaused()) found.push(current)
      }
      return found
    },
    operations: () => operations,
  }
}
