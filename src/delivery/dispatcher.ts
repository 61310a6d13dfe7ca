// biome-ignore-all assist/source/organizeImports: doors and values, then the steps in the order in which they happen
import type { Clock, Log, Random } from '../ports.js'
import { type HealthRules, isProbed } from '../webhooks/health.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { Tell } from './delivery-events.js'
import type { Claim, ClaimResult, DeliveryStore, Settlement } from './delivery-store.js'
import type { Delivery } from './lifecycle.js'
import { nodeLease } from './lease.js'
import { keepLooking } from './recovery.js'
import { type Caps, createSchedule } from './fairness.js'
import { createAlarm } from './alarm.js'
import { oneAtATime } from './one-at-a-time.js'
import { type AttemptDoors, attempt } from './attempt.js'
import { outageWatch } from './outage.js'
import { isExpired, type RetryRules } from './retry.js'
import { type SettleContext, settleAttempt, settleInterrupted, settleUnsent } from './settle.js'
import { recentHealth } from './recent-health.js'
import { together } from './together.js'
import { persist } from './settler.js'
import { allEnded, waitAtMost } from './drain.js'

export interface DispatcherDoors extends AttemptDoors {
  readonly store: DeliveryStore
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly tell: Tell
  newId(): string
  rulesOf(webhook: Webhook): RetryRules
}

export interface DispatcherOptions {
  readonly caps: Caps
  /** Milliseconds for one attempt, everything included. */
  readonly attemptDeadlineMs: number
  /** Whether other nodes may work on the store. */
  readonly shared: boolean
  readonly healthRules: HealthRules
}

/** The way of an event after its acceptance: due → claim → attempt → outcome → settle, again and again. */
export interface Dispatcher {
  /** Takes shards, ends what former nodes left, begins to send. */
  start(): Promise<void>
  /** Looks for work now: for hosts that wrote to the store in a transaction of their own. */
  wake(): void
  /** Store time as this node knows it, ms. */
  now(): number
  /** Requests in flight to a webhook from this node. */
  inFlight(webhookId: string): number
  /** Stops claiming, waits up to `drainMs` for what is in flight, cuts and releases the rest. */
  close(drainMs: number): Promise<void>
}

/** Rounds that claim nothing although something seemed due, before the store is given a rest. */
const EMPTY_ROUNDS = 3
const REST_MS = 250

export function createDispatcher(doors: DispatcherDoors, options: DispatcherOptions): Dispatcher {
  const { store, clock, random, log } = doors
  const owner = doors.newId()
  const schedule = createSchedule(options.caps)
  const lease = nodeLease({ store, clock, log, owner }, options.shared, () => look())
  const alarm = createAlarm(clock, lease.now, () => wake())
  const health = recentHealth()
  const outages = outageWatch()
  const running = new Set<Promise<void>>()
  /** `close` began: nothing new is started. */
  const stopping = new AbortController()
  /** The time to drain is over. */
  const cut = new AbortController()
  let unsubscribe = () => {}
  let started: Promise<void> | undefined

  function contextOf(webhook: Webhook): SettleContext {
    return {
      owner,
      recordId: doors.newId(),
      webhook,
      rules: doors.rulesOf(webhook),
      healthRules: options.healthRules,
      outage: outages.isOutage(clock.monotonic()),
      now: lease.now(),
      wallMs: clock.now(),
      roll: random.fraction(),
    }
  }

  const save = (pairs: readonly { delivery: Delivery; settlement: Settlement }[]) =>
    persist(doors, pairs, health.newest, lease.now, cut.signal)

  /** Settles a group and tells the schedule what it changed. */
  async function settle(pairs: readonly { delivery: Delivery; settlement: Settlement }[]): Promise<void> {
    const since = schedule.tick()
    const settled = await save(pairs)
    pairs.forEach(({ delivery }, index) => {
      const result = settled?.[index]
      if (result?.kind === 'settled') schedule.learn(result.endpoint, since)
      // Written after all, by a try that seemed to fail, or no longer ours: only the store knows how it stands.
      if (result?.kind === 'fenced') look()
      schedule.ended(delivery.webhookId, delivery.accountId)
      if (schedule.inFlight(delivery.webhookId) === 0) health.idle(delivery.webhookId)
    })
  }
  const settleSoon = together(clock, settle)

  async function run(claim: Claim, webhook: Webhook): Promise<void> {
    const { delivery } = claim
    const attempted = await attempt(doors, claim, webhook, options.attemptDeadlineMs).catch(
      (thrown: unknown) => {
        log.error({ reason: String(thrown), deliveryId: delivery.id }, 'a request could not be made')
      },
    )
    if (attempted) outages.saw(webhook.settings.uri, attempted.observation, clock.monotonic())
    const context = contextOf(webhook)
    // As after a crash: a delivery that cannot be made is set aside after a few rounds, not kept in flight for ever.
    if (!attempted) return settle([{ delivery, settlement: settleInterrupted(delivery, 'lost', context) }])
    if (cut.signal.aborted && attempted.observation.kind !== 'response') {
      return settle([{ delivery, settlement: settleInterrupted(delivery, 'cut', context) }])
    }
    const { settlement } = settleAttempt(delivery, attempted, health.of(webhook), context)
    health.decided(settlement)
    schedule.probing(webhook.id, webhook.accountId, isProbed(health.of(webhook)))
    return settleSoon({ delivery, settlement })
  }

  function track(work: Promise<void>): void {
    const end = () => {
      // Only now is there room for another.
      running.delete(tracked)
      wake()
    }
    const tracked = work.then(end, (thrown: unknown) => {
      log.error({ reason: String(thrown) }, 'a delivery failed inside the dispatcher')
      end()
    })
    running.add(tracked)
  }

  /** Starts what was claimed; what is too old is ended in one group, unsent. */
  function startClaims({ claims, webhooks }: ClaimResult): void {
    const aged: { delivery: Delivery; settlement: Settlement }[] = []
    for (const claim of claims) {
      const { delivery } = claim
      const webhook = webhooks.get(delivery.webhookId)!
      schedule.started(delivery.webhookId, delivery.accountId)
      schedule.probing(webhook.id, webhook.accountId, isProbed(health.of(webhook)))
      health.busy(delivery.webhookId)
      const { maxAgeSeconds } = webhook.settings
      const isOld = isExpired(delivery.eventTimestampMs, maxAgeSeconds, clock.now())
      if (isOld && delivery.replayOf === undefined) {
        aged.push({ delivery, settlement: settleUnsent(delivery, 'aged', contextOf(webhook)) })
      } else track(run(claim, webhook))
    }
    if (aged.length > 0) track(settle(aged))
  }

  /** Claims until nothing is due or there is no room. One at a time: the store's answers stay in order. */
  async function pump(): Promise<void> {
    let emptyRounds = 0
    while (!stopping.signal.aborted && lease.mayStart()) {
      const now = lease.now()
      const free = options.caps.inAll - running.size
      const endpoints = free > 0 ? schedule.pick(now, free) : []
      if (endpoints.length === 0) break
      const since = schedule.tick()
      health.claiming()
      try {
        const result = await store.claim({ owner, endpoints, limit: free, now })
        schedule.claimed(endpoints, result.endpoints, since)
        startClaims(result)
        emptyRounds = result.claims.length > 0 ? 0 : emptyRounds + 1
      } catch (thrown) {
        log.warn(
          { reason: thrown instanceof Error ? thrown.message : 'unknown' },
          'claiming failed, trying again',
        )
        emptyRounds = EMPTY_ROUNDS
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
    const mayStart = !stopping.signal.aborted && lease.mayStart() && running.size < options.caps.inAll
    alarm.set(mayStart ? schedule.nextDueMs() : undefined)
  }

  const looking = keepLooking(
    { store, owner, contextOf, persist: save, clock, log, stopping: stopping.signal },
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
    start() {
      started = begin()
      return started
    },
    wake: look,
    now: lease.now,
    inFlight: schedule.inFlight,
    async close(drainMs) {
      stopping.abort()
      // A start that still waits for the store ends now.
      await started?.catch(() => {})
      unsubscribe()
      alarm.set(undefined)
      // A store that does not answer a claim must not hold the close beyond its time.
      await waitAtMost(
        drainMs,
        clock,
        pumping.rest().then(() => allEnded(running)),
      )
      cut.abort()
      try {
        await doors.sender.close()
      } catch (thrown) {
        // The lease is given back, and the store closed, all the same.
        log.warn({ reason: String(thrown) }, 'the sender could not be closed')
      }
      await allEnded(running)
      await looking.rest()
      await lease.stop()
    },
  }
}
