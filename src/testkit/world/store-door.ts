import type { ClaimRequest, ClaimResult, Ownership } from '../../delivery/delivery-store.js'
import { HookswitchError } from '../../errors.js'
import type { Store } from '../../store/contract.js'
import { shardOf } from '../../store/shards.js'
import type { NodeLife } from './node-life.js'
import type { RunQueue } from './run-queue.js'
import { unsureClaims } from './unsure-claims.js'

/** What becomes of one store operation. */
export interface StoreFate {
  /** Until it reaches the store. */
  readonly beforeMs?: number
  /** Until its answer is back. */
  readonly afterMs?: number
  /** It fails: not carried out, or carried out but nobody hears of it. */
  readonly fails?: 'before' | 'after'
  /** Its node dies: before it is carried out, or after. */
  readonly crashes?: 'before' | 'after'
}

/** A store operation on its way. */
export interface StoreOperation {
  /** 1, 2, … in the whole run. */
  readonly number: number
  readonly name: string
  readonly life: NodeLife
}

export interface StoreDoorDoors {
  readonly queue: RunQueue
  readonly life: NodeLife
  /** Opened by the world; a node neither opens nor closes it. */
  readonly store: Store
  /** Undefined: nothing happens to it. */
  fateOf(operation: StoreOperation): StoreFate | undefined
  nextNumber(): number
  /** Called when the store has carried it out, before anything else happens. */
  carriedOut(operation: StoreOperation, args: readonly unknown[], result: unknown): void
  crash(life: NodeLife): void
  /** How long a notice of the store takes to this node; undefined: it is lost, until `deaf` is told. */
  noticeMs(life: NodeLife): number | undefined
  /** How long leases are that the store grants, ms; undefined: as long as nodes ask for. */
  readonly leaseMs: number | undefined
  /** Called when the node has opened its store, and when it first asks for its shards: in between it loads code. */
  opened(): void
  owned(): void
}

/** The store as one life of a node sees it, and the way to end its notices. */
export interface StoreDoor {
  readonly store: Store
  /** After a time without notices: the node is told to look for itself. */
  hearAgain(): void
  /** How many of the node's listeners the store still tells. */
  listeners(): number
  end(): void
}

type Method = (...args: unknown[]) => Promise<unknown>
type Listener = Parameters<Store['deliveries']['subscribe']>[0]

/** Every operation of a node on the store goes through here, is numbered, and may be delayed, fail, or be its last. */
export function storeDoor(doors: StoreDoorDoors): StoreDoor {
  const { queue, life, store } = doors
  const listeners = new Set<Listener>()
  const stops: (() => void)[] = []
  const unsure = unsureClaims(store.deliveries)
  /** Shards of this node, as the store last told. */
  let mine = new Set<number>()

  function call(name: string, method: Method, args: unknown[]): Promise<unknown> {
    if (!life.isAlive()) return new Promise(() => {})
    if (name === 'own') doors.owned()
    const operation = { number: doors.nextNumber(), name, life }
    const fate = doors.fateOf(operation)
    const isLease = name === 'own' || name === 'renew'
    if (isLease && doors.leaseMs !== undefined) args[1] = doors.leaseMs
    const carryOut = () =>
      method(...args).then((result) => {
        if (isLease) mine = new Set((result as Ownership).shards)
        doors.carriedOut(operation, args, result)
        return result
      })
    return fate ? suffer(fate, operation, args, carryOut) : carryOut()
  }

  function suffer(
    { beforeMs = 0, afterMs = 0, fails, crashes }: StoreFate,
    { name }: StoreOperation,
    args: readonly unknown[],
    carryOut: () => Promise<unknown>,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const answer = (settle: () => void) => void queue.after(afterMs, () => life.deliver(settle))
      const fail = () => answer(() => reject(unavailable(name)))
      const begin = () => {
        if (crashes === 'before') return doors.crash(life)
        if (fails === 'before') return fail()
        carryOut().then(
          (result) => {
            if (crashes === 'after') doors.crash(life)
            else if (fails === 'after') {
              if (name === 'claim') unsure.add(args[0] as ClaimRequest, result as ClaimResult)
              fail()
            } else answer(() => resolve(result))
          },
          (thrown) => answer(() => reject(thrown)),
        )
      }
      // What is on its way arrives, also when who sent it is dead by then.
      if (beforeMs > 0) queue.after(beforeMs, begin)
      else begin()
    })
  }

  function wrapped<Door extends object>(door: Door): Door {
    const entries = Object.entries(door as Record<string, Method>)
    return Object.fromEntries(
      entries.map(([name, method]) => [name, (...args: unknown[]) => call(name, method, args)]),
    ) as Door
  }

  function subscribe(listener: Listener): () => void {
    listeners.add(listener)
    const stop = store.deliveries.subscribe((all) => {
      // As on PostgreSQL, a node is told of its own: the memory store, which all share here, tells everybody.
      const ready = all?.filter(({ webhookId }) => mine.has(shardOf(webhookId)))
      if (ready?.length === 0) return
      const delayMs = doors.noticeMs(life)
      if (delayMs === undefined) return
      const tell = () => life.deliver(() => listeners.has(listener) && listener(ready))
      if (delayMs > 0) queue.after(delayMs, tell)
      else tell()
    })
    stops.push(stop)
    return () => {
      listeners.delete(listener)
      stop()
    }
  }

  return {
    store: {
      supports: store.supports,
      open: () => call('open', async () => {}, []).then(doors.opened),
      // The connections of a node that goes are its own: nothing that the store does holds them.
      close: async () => {},
      accounts: wrapped(store.accounts),
      tokens: wrapped(store.tokens),
      webhooks: wrapped(store.webhooks),
      deliveries: { ...wrapped({ ...store.deliveries, orphans: unsure.orphans }), subscribe },
    },
    hearAgain() {
      life.deliver(() => {
        for (const listener of listeners) listener(undefined)
      })
    },
    listeners: () => listeners.size,
    end() {
      listeners.clear()
      for (const stop of stops) stop()
    },
  }
}

function unavailable(name: string): HookswitchError {
  return new HookswitchError('StoreUnavailable', `simulated: ${name} failed`, { retryAfterSeconds: 1 })
}
