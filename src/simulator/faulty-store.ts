/**
 * The shared store as one life of a node sees it. Every operation is numbered, and may be delayed, fail before or after
 * it is executed, or be the last one before a crash.
 */

import { HookswitchError } from '../errors.js'
import type { Store } from '../store/contract.js'
import type { NodeLife } from './node-life.js'
import type { RunQueue } from './run-queue.js'

/** The effect of faults on one store operation. */
export interface StoreEffect {
  /** Delay until the operation reaches the store. */
  readonly beforeMs?: number
  /** Delay until its result reaches the node. */
  readonly afterMs?: number
  /** It fails: not executed, or executed without an answer. */
  readonly fails?: 'before' | 'after'
  /** Its node crashes before or after it is executed. */
  readonly crashes?: 'before' | 'after'
}

export interface StoreOperation {
  /** 1, 2, … over the whole run. */
  readonly number: number
  readonly name: string
  readonly life: NodeLife
}

export interface FaultyStoreDeps {
  readonly queue: RunQueue
  readonly life: NodeLife
  /** The shared store. The simulation opens and closes it; nodes do not. */
  readonly store: Store
  /** Undefined: no effect. */
  effectOf(operation: StoreOperation): StoreEffect | undefined
  nextNumber(): number
  /** Called as soon as the store has executed an operation. */
  executed(operation: StoreOperation, args: readonly unknown[], result: unknown): void
  crash(life: NodeLife): void
  /** Delay of a store notification to this node; undefined: it is lost. */
  notificationDelayMs(life: NodeLife): number | undefined
  /** Length of granted leases, ms; undefined: as requested. */
  readonly leaseMs: number | undefined
  /** Called when the node opens its store. Before that it loads modules. */
  opening(): void
}

export interface FaultyStore {
  readonly store: Store
  /** After lost notifications: notifies the node to poll. */
  restoreNotifications(): void
  /** Number of active subscriptions of the node. */
  listeners(): number
  end(): void
}

type Method = (...args: unknown[]) => unknown
type Listener = Parameters<Store['deliveries']['subscribe']>[0]

export function createFaultyStore(deps: FaultyStoreDeps): FaultyStore {
  const { queue, life, store } = deps
  const listeners = new Set<Listener>()
  const unsubscribes: (() => void)[] = []

  function call(name: string, method: Method, args: unknown[]): Promise<unknown> {
    if (!life.isAlive()) return new Promise(() => {})
    if (name === 'open') deps.opening()
    const operation = { number: deps.nextNumber(), name, life }
    const effect = deps.effectOf(operation)
    const isLease = name === 'own' || name === 'renew'
    if (isLease && deps.leaseMs !== undefined) args[1] = deps.leaseMs
    const execute = () =>
      Promise.resolve(method(...args)).then((result) => {
        deps.executed(operation, args, result)
        return result
      })
    return effect ? executeWith(effect, operation, execute) : execute()
  }

  function executeWith(
    { beforeMs = 0, afterMs = 0, fails, crashes }: StoreEffect,
    { name }: StoreOperation,
    execute: () => Promise<unknown>,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const answer = (settle: () => void) => void queue.after(afterMs, () => life.deliver(settle))
      const fail = () => answer(() => reject(unavailable(name)))
      const begin = () => {
        if (crashes === 'before') return deps.crash(life)
        if (fails === 'before') return fail()
        execute().then(
          (result) => {
            if (crashes === 'after') deps.crash(life)
            else if (fails === 'after') fail()
            else answer(() => resolve(result))
          },
          (thrown) => answer(() => reject(thrown)),
        )
      }
      // An operation on its way reaches the store even if its node crashes meanwhile.
      if (beforeMs > 0) queue.after(beforeMs, begin)
      else begin()
    })
  }

  function wrapped<Port extends object>(port: Port): Port {
    const entries = Object.entries(port as Record<string, Method>)
    return Object.fromEntries(
      entries.map(([name, method]) => [name, (...args: unknown[]) => call(name, method, args)]),
    ) as Port
  }

  function subscribe(listener: Listener): () => void {
    listeners.add(listener)
    const unsubscribe = store.deliveries.subscribe(() => {
      const delayMs = deps.notificationDelayMs(life)
      if (delayMs === undefined) return
      const notify = () => life.deliver(() => listeners.has(listener) && listener())
      if (delayMs > 0) queue.after(delayMs, notify)
      else notify()
    })
    unsubscribes.push(unsubscribe)
    return () => {
      listeners.delete(listener)
      unsubscribe()
    }
  }

  return {
    store: {
      supports: store.supports,
      open: () => call('open', async () => {}, []) as Promise<void>,
      // Closing a node's connections does not affect the shared store.
      close: async () => {},
      accounts: wrapped(store.accounts),
      tokens: wrapped(store.tokens),
      openLegs: wrapped(store.openLegs),
      replays: wrapped(store.replays),
      // Nothing is held in a simulation: no fault is drawn for it.
      holds: store.holds,
      encryption: wrapped(store.encryption),
      stats: wrapped(store.stats),
      // No delivery depends on it.
      callIndex: store.callIndex,
      webhooks: wrapped(store.webhooks),
      deliveries: { ...wrapped(store.deliveries), subscribe },
    },
    restoreNotifications() {
      life.deliver(() => {
        for (const listener of listeners) listener()
      })
    },
    listeners: () => listeners.size,
    end() {
      listeners.clear()
      for (const unsubscribe of unsubscribes) unsubscribe()
    },
  }
}

function unavailable(name: string): HookswitchError {
  return new HookswitchError('StoreUnavailable', `simulated: ${name} failed`, { retryAfterSeconds: 1 })
}
