// biome-ignore-all assist/source/organizeImports: doors and values, then the steps in the order in which they happen
import type { Log } from '../ports.js'
import type { ClaimResult } from './delivery-store.js'
import { nodeLease } from './lease.js'
import { keepLooking } from './recovery.js'
import { createSchedule, type Schedule } from './fairness.js'
import type { Caps } from './turns.js'
import type { Overview } from './roster.js'
import { createAlarm } from './alarm.js'
import { oneAtATime } from './one-at-a-time.js'
import { type ConductDoors, type ConductOptions, createConduct } from './conduct.js'
import { waitAtMost } from './drain.js'

export interface DispatcherDoors extends ConductDoors {
  readonly log: Log
}

export interface DispatcherOptions
  extends Pick<ConductOptions, 'attemptDeadlineMs' | 'healthRules' | 'recordSuccesses'> {
  readonly caps: Caps
  /** Whether other nodes may work on the store. */
  readonly shared: boolean
}

/** The way of an event after its acceptance: due → claim → attempt → outcome → settle, again and again. */
export interface Dispatcher {
  /** Under which name this node works on the store. */
  readonly owner: string
  /** Takes shards, ends what former nodes left, begins to send. */
  start(): Promise<void>
  /** Looks for work now: for hosts that wrote to the store in a transaction of their own. */
  wake(): void
  /** A webhook was disabled or deleted: what of it is not on the wire yet is not sent. */
  withdraw(webhookId: string): void
  /** Store time as this node knows it, ms. */
  now(): number
  /** Requests in flight to a webhook from this node. */
  inFlight(webhookId: string): number
  /** Which cap holds an endpoint back now, if one does. */
  fullAt(webhookId: string): ReturnType<Schedule['fullAt']> | 'all'
  /** How this node stands. */
  overview(): Overview & { readonly inFlight: number }
  /** Stops claiming, waits up to `drainMs` for what is in flight, cuts and releases the rest. */
  close(drainMs: number): Promise<void>
}

/** Rounds that claim nothing although something seemed due, before the store is given a rest. */
const EMPTY_ROUNDS = 3
const REST_MS = 250

export function createDispatcher(doors: DispatcherDoors, options: DispatcherOptions): Dispatcher {
  const { store, clock, log, sender } = doors
  const { caps } = options
  const owner = doors.newId()
  const schedule = createSchedule(caps)
  const lease = nodeLease({ store, clock, log, owner }, options.shared, () => look())
  const alarm = createAlarm(clock, lease.now, () => wake())
  /** `close` began: nothing new is started. */
  const stopping = new AbortController()
  /** The time to drain is over. */
  const cut = new AbortController()
  const conduct = createConduct(
    doors,
    { ...options, owner, now: lease.now, cut: cut.signal },
    schedule,
    (isUnsure) => (isUnsure ? look() : wake()),
  )
  let unsubscribe = () => {}
  let started: Promise<void> | undefined

  const room = () => caps.inAll - conduct.running

  /** Asks the store for what `endpoints` have due; how many claims that were. Throws what the store throws. */
  async function claim(endpoints: ReturnType<Schedule['pick']>, limit: number, now: number): Promise<number> {
    const since = schedule.tick()
    conduct.claiming()
    let result: ClaimResult | undefined
    try {
      result = await store.claim({ owner, endpoints, limit, now })
      conduct.begin(result)
      return result.claims.length
    } finally {
      schedule.claimed(endpoints, result?.endpoints, since)
    }
  }

  /** Claims until nothing is due or there is no room. One at a time: the store's answers stay in order. */
  async function pump(): Promise<void> {
    let emptyRounds = 0
    while (!stopping.signal.aborted && lease.mayStart()) {
      const now = lease.now()
      const free = room()
      const endpoints = free > 0 ? schedule.pick(now, free) : []
      if (endpoints.length === 0) break
      try {
        emptyRounds = (await claim(endpoints, free, now)) > 0 ? 0 : emptyRounds + 1
      } catch (thrown) {
        log.warn(
          { reason: thrown instanceof Error ? thrown.message : 'unknown' },
          'claiming failed, trying again',
        )
        emptyRounds = EMPTY_ROUNDS
        // It may have been carried out all the same: then what it took is an orphan.
        look()
      }
      if (emptyRounds >= EMPTY_ROUNDS) await clock.sleep(REST_MS, stopping.signal)
    }
    arm()
  }

  // Once in a turn of the event loop: what is ready by then is claimed and written together, in less than one by one.
  const pumping = oneAtATime(pump, (begin) => void clock.yield().then(begin))

  function wake(): void {
    if (!stopping.signal.aborted) pumping.soon()
  }

  /** To the next due time, unless nothing may start: then what ends, or the renewed lease, wakes. */
  function arm(): void {
    const mayStart = !stopping.signal.aborted && lease.mayStart() && room() > 0
    alarm.set(mayStart ? schedule.nextDueMs() : undefined)
  }

  const looking = keepLooking(
    {
      store,
      owner,
      contextOf: conduct.contextOf,
      persist: conduct.save,
      withdraw: conduct.withdraw,
      clock,
      log,
      stopping: stopping.signal,
    },
    (endpoints) => {
      for (const endpoint of endpoints) schedule.learn(endpoint)
      wake()
    },
  )
  const look = () => void looking.look()

  async function begin(): Promise<void> {
    await lease.start()
    unsubscribe = store.subscribe((ready) => {
      if (ready === undefined) return look()
      for (const endpoint of ready) schedule.learn(endpoint)
      wake()
    })
    await looking.look()
  }

  return {
    owner,
    start() {
      started = begin()
      return started
    },
    wake: look,
    withdraw: conduct.withdraw,
    now: lease.now,
    inFlight: schedule.inFlight,
    fullAt: (webhookId) => schedule.fullAt(webhookId) ?? (room() > 0 ? undefined : 'all'),
    overview: () => ({ inFlight: conduct.running, ...schedule.overview(lease.now()) }),
    async close(drainMs) {
      stopping.abort()
      // A start that still waits for the store ends now.
      await started?.catch(() => {})
      unsubscribe()
      alarm.set(undefined)
      // A store that does not answer a claim must not hold the close beyond its time.
      await waitAtMost(drainMs, clock, pumping.rest().then(conduct.none))
      cut.abort()
      try {
        await sender.close()
      } catch (thrown) {
        // The lease is given back, and the store closed, all the same.
        log.warn({ reason: String(thrown) }, 'the sender could not be closed')
      }
      await conduct.none()
      await looking.rest()
      await lease.stop()
    },
  }
}
