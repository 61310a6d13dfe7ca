import { createFifoQueue } from '../../values/fifo-queue.js'
import { dequeue, enqueue, unqueue } from '../../values/linked-queue.js'
import { charge, type RateLimit, refill, type TokenBucket } from '../../values/token-bucket.js'
import type {
  EndpointGroup,
  ScheduledAccount,
  ScheduledEndpoint,
  ScheduledOrigin,
  ScheduledZone,
} from './endpoint-registry.js'
import {
  CLASSES,
  createSlotCounts,
  DOUBTFUL,
  FAST,
  freeSlots,
  groupLimit,
  type InFlightRequest,
  isUntried,
  maxSlots,
  mayProbeOneMore,
  NOT_SENT,
  type PriorityClass,
  priorityOf,
  SILENT,
  SLOW,
  slotsHeld,
  UNKNOWN,
} from './priority.js'
import { addFailure, addFastAnswer, confirmFailures, isProvenZone } from './reputation.js'
import { changeUse, createCompetitors, fewSlots, isOverShare, mayHoldMore } from './slot-time.js'

/** Limits on the requests in flight of one node. */
export interface Caps {
  readonly perEndpoint: number
  readonly perAccount: number
  readonly perOrigin: number
  readonly total: number
  /** Probes of paused endpoints: beside the others. */
  readonly probes: number
}

/**
 * Divides free slots among due endpoints: round-robin by priority class, account and endpoint, within all
 * caps and within the shares of classes, accounts and zones. While several accounts compete, those that have used more slot
 * time than their share go after the others, whatever their classes, and some slots stay free for accounts that hold few
 * (`slot-time.ts`).
 */
export interface FairQueue {
  /** Queues a due endpoint. */
  add(endpoint: ScheduledEndpoint, now: number): void
  /** Updates the class of an endpoint. */
  reclassify(endpoint: ScheduledEndpoint, now: number): void
  /**
   * Allocates up to `free` slots, then up to `prefetch` that will be free soon, to fast endpoints of accounts that have not used
   * more than their share, and only while no slower endpoint waits. `allocated` of each returned endpoint holds its number
   * until `clearAllocations`.
   */
  allocate(now: number, free: number, prefetch: number): ReadonlySet<ScheduledEndpoint>
  /** Gives allocated slots back: those that are used count as requests in flight. */
  clearAllocations(served: ReadonlySet<ScheduledEndpoint>): void
  /** Counts one more request in flight. */
  countStart(endpoint: ScheduledEndpoint, now: number): void
  /** The time of a request in flight begins: it is sent. */
  countSent(endpoint: ScheduledEndpoint, now: number): void
  /** Counts one request in flight less. */
  countEnd(request: InFlightRequest<ScheduledEndpoint>, now: number): void
  /** Updates the reputation of account and zone after a request that was answered, and the class of the endpoint. */
  countAnswer(request: InFlightRequest<ScheduledEndpoint>, isFast: boolean, now: number): void
  /**
   * Updates the reputation of account and zone after a request that became overdue or failed, and the class of the
   * endpoint. `isFirst`: it is counted for the first time.
   */
  countSilence(request: InFlightRequest<ScheduledEndpoint>, isFirst: boolean, now: number): void
  /**
   * When the silent class may start its next request, if the last `allocate` had to leave some waiting for that;
   * store time, ms.
   */
  nextStartMs(): number | undefined
  /** Whether an endpoint waits for a slot. */
  hasWaiting(): boolean
  isFull(endpoint: ScheduledEndpoint): boolean
  /**
   * The limit that an endpoint has reached; `share`: what is left of all slots is for accounts that hold fewer; `priority`: the
   * share of its priority class, or of its account or zone in that class.
   */
  limitReached(
    endpoint: ScheduledEndpoint,
  ): 'endpoint' | 'account' | 'origin' | 'share' | 'priority' | undefined
}

/**
 * The order in which the classes are served, by round. In every second round the faster class comes first; in the
 * others one of the slower ones, each in its turn, so that none starves.
 */
const CLASS_ORDERS: readonly (readonly PriorityClass[])[] = CLASSES.slice(1).flatMap((first) => [
  CLASSES,
  [first, ...CLASSES.filter((priority) => priority !== first)],
])

/**
 * Requests to silent endpoints that may start per second and at once. A receiver that refuses connections holds its
 * slot for a moment only: without this limit thousands of them would use the processor alone (0.3 ms or more each).
 * An answer returns the token, so receivers that work again are not limited.
 */
const SILENT_STARTS: RateLimit = { burst: 10, refillPerSecond: 50 }

/**
 * @param oldestOverdueMs see `priorityOf`
 * @param defer called with an endpoint that left its queue because it is not due, or is full
 */
export function createFairQueue(
  caps: Caps,
  oldestOverdueMs: () => number,
  defer: (endpoint: ScheduledEndpoint) => void,
): FairQueue {
  const accountQueues = CLASSES.map(() => createFifoQueue<ScheduledAccount>())
  const total = createSlotCounts()
  const few = fewSlots(caps.total)
  /** The part of `total` that belongs to small accounts: each holds at most `few` slots. */
  const ofSmall = createSlotCounts()
  const competitors = createCompetitors()
  /** Accounts that competed for slots at the last `allocate`. */
  let competing = 0
  /** Whether accounts that have used more than their share are served now, or passed over. */
  let servesOverShare = true
  let hasPassedOver = false
  /** Origins with endpoints that wait for one of their slots. */
  const waitingOrigins = new Set<ScheduledOrigin>()
  /** Zones with endpoints that wait for their share. */
  const waitingZones = new Set<ScheduledZone>()
  let silentStarts: TokenBucket | undefined
  /** Slots that the selection in progress has allocated to silent endpoints. */
  let silentAllocated = 0
  let nextStartMs: number | undefined
  /** Calls of `allocate` that allocated a slot. */
  let rounds = 0
  let additions = 0
  /** Slots above `caps.total` that the fast class may use: those that will be free soon. */
  let prefetchSlots = 0
  /** The time of the last `allocate`. */
  let allocatedMs = 0

  const isFull = ({ isProbed, limit, inFlight, allocated }: ScheduledEndpoint) =>
    inFlight + allocated >= (isProbed ? 1 : Math.min(limit, caps.perEndpoint))

  /**
   * Slots that a class may still use. Small accounts divide by class what the large ones leave, if that is more. Otherwise the
   * receivers of a few large accounts, which become slow when they have taken their slots, would take the shares of all slower
   * classes.
   */
  function freeInAll(priority: PriorityClass, isLarge: boolean): number {
    const cap = caps.total + prefetchSlots
    const free = freeSlots(total, priority, cap)
    if (isLarge || few === 0 || priority === FAST) return free
    const ofLarge = slotsHeld(total, FAST) - slotsHeld(ofSmall, FAST)
    return ofLarge === 0 ? free : Math.max(free, freeSlots(ofSmall, priority, cap - ofLarge))
  }
  const limitOf = ({ isLarge }: ScheduledAccount, priority: PriorityClass, isProven: boolean) =>
    groupLimit(priority, freeInAll(priority, isLarge), maxSlots(priority, caps.total), isProven)

  /** The slots that count towards `groupLimit`: all open probes, or those of the class. */
  const groupSlots = ({ slots, probes }: EndpointGroup, priority: PriorityClass) =>
    isUntried(priority) ? probes : slots[priority]!

  /** Whether the free slots are for accounts that hold fewer. */
  const isAtShare = (account: ScheduledAccount) =>
    competing > 1 && !mayHoldMore(slotsHeld(account.slots, FAST), freeInAll(FAST, true), caps.total)

  function hasAccountSlot(account: ScheduledAccount, priority: PriorityClass): boolean {
    if (freeSlots(account.slots, priority, caps.perAccount) <= 0) return false
    if (isAtShare(account)) return false
    if (priority === FAST || groupSlots(account, priority) < limitOf(account, priority, true)) return true
    const young = account.slots[UNKNOWN]! + account.slots[DOUBTFUL]!
    return (
      isUntried(priority) &&
      mayProbeOneMore(young, freeInAll(priority, account.isLarge), maxSlots(priority, caps.total))
    )
  }

  /** The slots of a class that the zone of an endpoint may still take. */
  function zoneRoom(
    { account, origin: { zone } }: ScheduledEndpoint,
    priority: PriorityClass,
    now: number,
  ): number {
    if (priority === FAST) return Number.POSITIVE_INFINITY
    return limitOf(account, priority, isProvenZone(zone.reputation, now)) - groupSlots(zone, priority)
  }

  /** Counts slots that an endpoint uses more, or less. */
  function countSlots({ priority, account, origin }: ScheduledEndpoint, change: number): void {
    account.slots[priority]! += change
    origin.zone.slots[priority]! += change
    total[priority]! += change
    if (!account.isLarge) ofSmall[priority]! += change
    const isLarge = slotsHeld(account.slots, FAST) > few
    if (isLarge === account.isLarge) return
    account.isLarge = isLarge
    for (const level of CLASSES) ofSmall[level]! += isLarge ? -account.slots[level]! : account.slots[level]!
  }

  function countProbes({ account, origin }: ScheduledEndpoint, change: number): void {
    account.probes += change
    origin.zone.probes += change
  }

  function queueAccount(account: ScheduledAccount, priority: PriorityClass, now: number): void {
    accountQueues[priority]!.push(account)
    competitors.add(account.use, now)
  }

  function queueByClass(endpoint: ScheduledEndpoint, now: number): void {
    additions++
    const { account, priority } = endpoint
    enqueue(account.due[priority]!, endpoint)
    if (account.isQueued[priority]) return
    account.isQueued[priority] = true
    queueAccount(account, priority, now)
  }

  /** Updates the class of an endpoint; moves its slots along, and the endpoint if it waits in a queue of its class. */
  function reclassify(endpoint: ScheduledEndpoint, now: number): void {
    const { account, origin, queue, priority: before } = endpoint
    const { zone } = origin
    const priority = priorityOf(endpoint, account.reputation, zone.reputation, oldestOverdueMs(), now)
    const isDowngraded =
      priority === DOUBTFUL ||
      (priority === SILENT && endpoint.lastAnswer === undefined && !endpoint.isFailing)
    if (isDowngraded !== endpoint.isDowngraded) {
      endpoint.isDowngraded = isDowngraded
      for (const { downgraded } of [account, zone]) {
        if (isDowngraded) downgraded.add(endpoint)
        else downgraded.delete(endpoint)
      }
    }
    if (priority === before) return
    const held = endpoint.slots + endpoint.allocated
    if (held > 0) {
      for (const slots of [account.slots, zone.slots, total]) {
        slots[before]! -= held
        slots[priority]! += held
      }
      if (!account.isLarge) {
        ofSmall[before]! -= held
        ofSmall[priority]! += held
      }
    }
    endpoint.priority = priority
    if (!queue || queue === origin.waiting) return
    unqueue(endpoint)
    queueByClass(endpoint, now)
  }

  function reclassifyDowngraded({ downgraded }: EndpointGroup, now: number): void {
    for (const endpoint of [...downgraded]) reclassify(endpoint, now)
  }

  function add(endpoint: ScheduledEndpoint, now: number): void {
    reclassify(endpoint, now)
    queueByClass(endpoint, now)
  }

  /**
   * Queues as many of the endpoints that wait for an origin as it has free slots. Not all of them may get
   * one, since their account or class may have none: while slots are left, `allocate` admits the next ones.
   */
  function admitToOrigin(origin: ScheduledOrigin, now: number): void {
    let free = caps.perOrigin - origin.inFlight - origin.allocated
    for (; free > 0 && origin.waiting.length > 0; free--) add(dequeue(origin.waiting)!, now)
    if (origin.waiting.length === 0) waitingOrigins.delete(origin)
  }

  /** The same for a zone, by class. Endpoints whose class has changed are queued in their new one. */
  function admitToZone(zone: ScheduledZone, now: number): void {
    let left = 0
    for (const priority of CLASSES) {
      const waiting = zone.waiting[priority]!
      if (waiting.length === 0) continue
      let admitted = 0
      for (let { first } = waiting; first; first = waiting.first) {
        reclassify(first, now)
        if (first.queue !== waiting) continue
        if (zoneRoom(first, priority, now) <= admitted) break
        admitted++
        unqueue(first)
        queueByClass(first, now)
      }
      left += waiting.length
    }
    if (left === 0) waitingZones.delete(zone)
  }

  /** Allocates one slot to the next endpoint of this account and class that can take it; null: none can. */
  function allocateSlot(
    account: ScheduledAccount,
    priority: PriorityClass,
    now: number,
  ): ScheduledEndpoint | null {
    if (!hasAccountSlot(account, priority)) return null
    const due = account.due[priority]!
    for (let endpoint = dequeue(due); endpoint; endpoint = dequeue(due)) {
      reclassify(endpoint, now)
      const { origin } = endpoint
      const { zone } = origin
      if (endpoint.priority !== priority) {
        queueByClass(endpoint, now)
      } else if (endpoint.isProbed || endpoint.dueMs > now || isFull(endpoint)) {
        defer(endpoint)
      } else if (origin.inFlight + origin.allocated >= caps.perOrigin) {
        enqueue(origin.waiting, endpoint)
        waitingOrigins.add(origin)
      } else if (zoneRoom(endpoint, priority, now) <= 0) {
        enqueue(zone.waiting[priority]!, endpoint)
        waitingZones.add(zone)
      } else {
        enqueue(due, endpoint)
        endpoint.allocated++
        origin.allocated++
        countSlots(endpoint, 1)
        if (isUntried(priority)) countProbes(endpoint, 1)
        if (priority === SILENT) silentAllocated++
        return endpoint
      }
    }
    return null
  }

  /** Whether a class may start one more request now. */
  function isPaced(priority: PriorityClass): boolean {
    return priority === SILENT && silentStarts!.tokens - silentAllocated < 1
  }

  /** Serves the accounts of a class round-robin; returns the number of slots left. */
  function allocateClass(
    priority: PriorityClass,
    now: number,
    free: number,
    served: Set<ScheduledEndpoint>,
  ): number {
    const queue = accountQueues[priority]!
    let left = free
    let skipped = 0
    while (left > 0 && skipped < queue.length && freeInAll(priority, false) > 0) {
      if (isPaced(priority)) {
        const missing = 1 - silentStarts!.tokens + silentAllocated
        nextStartMs = now + Math.ceil((missing * 1_000) / SILENT_STARTS.refillPerSecond)
        break
      }
      const account = queue.shift()!
      const isPassedOver = !servesOverShare && isOverShare(account.use, competing, caps.total, now)
      if (isPassedOver) hasPassedOver = true
      const endpoint = isPassedOver ? null : allocateSlot(account, priority, now)
      if (endpoint) {
        served.add(endpoint)
        left--
      }
      if (account.due[priority]!.length > 0) {
        queueAccount(account, priority, now)
        skipped = endpoint ? 0 : skipped + 1
      } else account.isQueued[priority] = false
    }
    return left
  }

  /** Allocates slots that will be free soon. An endpoint that waits for its zone could use a free slot. */
  function allocatePrefetch(now: number, prefetch: number, served: Set<ScheduledEndpoint>): void {
    for (const origin of waitingOrigins) admitToOrigin(origin, now)
    const hasSlower =
      waitingZones.size > 0 || accountQueues.some(({ length }, priority) => priority !== FAST && length > 0)
    if (hasSlower) return
    // Those ahead already hold slots above the total.
    prefetchSlots = prefetch + Math.max(0, slotsHeld(total, FAST) - caps.total)
    servesOverShare = competing <= 1
    allocateClass(FAST, now, prefetch, served)
    prefetchSlots = 0
  }

  return {
    add,
    reclassify,
    allocate(now, free, prefetch) {
      const served = new Set<ScheduledEndpoint>()
      const order = CLASS_ORDERS[rounds % CLASS_ORDERS.length]!
      let left = Math.min(free, caps.total)
      allocatedMs = now
      nextStartMs = undefined
      silentAllocated = 0
      silentStarts = refillStarts(silentStarts, now)
      competing = competitors.count(now)
      // An endpoint that is queued during a pass may belong to a class that the pass has served already:
      // repeat.
      for (let before = -1; before !== additions && left > 0; ) {
        before = additions
        for (const origin of waitingOrigins) admitToOrigin(origin, now)
        for (const zone of waitingZones) admitToZone(zone, now)
        hasPassedOver = false
        servesOverShare = competing <= 1
        for (const priority of order) left = allocateClass(priority, now, left, served)
        if (!hasPassedOver) continue
        servesOverShare = true
        for (const priority of order) left = allocateClass(priority, now, left, served)
      }
      if (prefetch > 0) allocatePrefetch(now, prefetch, served)
      if (served.size > 0) rounds++
      return served
    },
    clearAllocations(served) {
      for (const endpoint of served) {
        const { priority, allocated } = endpoint
        countSlots(endpoint, -allocated)
        if (isUntried(priority)) countProbes(endpoint, -allocated)
        endpoint.allocated = endpoint.origin.allocated = 0
      }
    },
    countStart(endpoint, now) {
      const { priority } = endpoint
      countSlots(endpoint, 1)
      endpoint.slots++
      endpoint.origin.inFlight++
      if (isUntried(priority)) {
        endpoint.probes++
        countProbes(endpoint, 1)
      } else if (priority === SILENT)
        silentStarts = charge(refillStarts(silentStarts, now), 1, now, SILENT_STARTS)
    },
    countSent: ({ account }, now) => changeUse(account.use, 1, now),
    countEnd({ endpoint, priority, sentMs }, now) {
      if (sentMs !== NOT_SENT) changeUse(endpoint.account.use, -1, now)
      countSlots(endpoint, -1)
      endpoint.slots--
      endpoint.origin.inFlight--
      if (!isUntried(priority)) return
      endpoint.probes--
      countProbes(endpoint, -1)
    },
    countAnswer({ endpoint, priority }, isFast, now) {
      const { account, origin } = endpoint
      if (priority === SILENT) silentStarts = charge(refillStarts(silentStarts, now), -1, now, SILENT_STARTS)
      if (isFast) {
        const wasProven = isProvenZone(origin.zone.reputation, now)
        if (addFastAnswer(account.reputation, now)) reclassifyDowngraded(account, now)
        addFastAnswer(origin.zone.reputation, now)
        if (!wasProven && isProvenZone(origin.zone.reputation, now)) reclassifyDowngraded(origin.zone, now)
      }
      reclassify(endpoint, now)
    },
    countSilence({ endpoint, priority }, isFirst, now) {
      const isNews = isFirst && priority !== SLOW && priority !== SILENT
      for (const { reputation } of [endpoint.account, endpoint.origin.zone]) {
        if (isNews) addFailure(reputation, now)
        else confirmFailures(reputation, now)
      }
      reclassify(endpoint, now)
    },
    nextStartMs: () => nextStartMs,
    hasWaiting: () =>
      waitingOrigins.size > 0 || waitingZones.size > 0 || accountQueues.some(({ length }) => length > 0),
    isFull,
    limitReached(endpoint) {
      const { account, origin, priority } = endpoint
      if (isFull(endpoint)) return 'endpoint'
      if (slotsHeld(account.slots, FAST) >= caps.perAccount) return 'account'
      if (origin.inFlight >= caps.perOrigin) return 'origin'
      if (isAtShare(account) && freeInAll(FAST, true) > 0) return 'share'
      const hasSlot =
        hasAccountSlot(account, priority) &&
        freeInAll(priority, account.isLarge) > 0 &&
        zoneRoom(endpoint, priority, allocatedMs) > 0
      return hasSlot ? undefined : 'priority'
    },
  }
}

/** Refills the tokens of silent endpoints. A clock that was set back must not stop them: the bucket is then full. */
function refillStarts(bucket: TokenBucket | undefined, now: number): TokenBucket {
  return refill(bucket && bucket.atMs <= now ? bucket : undefined, now, SILENT_STARTS)
}
