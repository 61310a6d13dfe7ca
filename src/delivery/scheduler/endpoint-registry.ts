import { createLinkedQueue, type LinkedQueue, type QueueItem, unqueue } from '../../values/linked-queue.js'
import { zoneOf } from '../../values/zone.js'
import type { ReadyEndpoint } from '../delivery-store.js'
import {
  type AnswerHistory,
  CLASSES,
  createSlotCounts,
  type PriorityClass,
  type SlotCounts,
  UNKNOWN,
} from './priority.js'
import { createReputation, isEmpty, type Reputation } from './reputation.js'
import { createSlotUse, type SlotUse } from './slot-time.js'

/**
 * The endpoints of this node that have something waiting or in flight, with their accounts, origins and zones,
 * and the counters that caps and fairness need. Memory is proportional to that, not to the number of webhooks. Of idle
 * endpoints only the answers are remembered: of `MAX_IDLE_ANSWERED` endpoints that answered fast, of `MAX_IDLE_OTHERS`
 * others, and the reputation of as many zones and accounts, with the slot time that the accounts used. So
 * endpoints that do not answer, however many are created, displace no good history.
 */
export interface EndpointRegistry {
  readonly size: number
  find(webhookId: string): ScheduledEndpoint | undefined
  /** Adds an endpoint or updates it: a changed origin moves it with its requests in flight. */
  upsert(input: Omit<ReadyEndpoint, 'dueMs'>): ScheduledEndpoint
  /** Ids of the endpoints of an origin that are paused because they fail. */
  probedOf(originId: string): readonly string[]
  /** Removes an endpoint without requests in flight. */
  remove(endpoint: ScheduledEndpoint): void
  all(): Iterable<ScheduledEndpoint>
}

/**
 * An endpoint is in one queue at most: of its account and class (due, waits for a slot), of its zone and class
 * (the zone holds its share), or of its origin (the origin is at its cap). In none, it waits for its due time or
 * for the end of one of its requests.
 */
export interface ScheduledEndpoint extends AnswerHistory, QueueItem<ScheduledEndpoint> {
  readonly id: string
  readonly account: ScheduledAccount
  origin: ScheduledOrigin
  /** Store time of its earliest due delivery, ms; `IDLE`: nothing waits. */
  dueMs: number
  /** Requests in flight, with probes of a paused endpoint. */
  inFlight: number
  /** Those that use slots. */
  slots: number
  /** Requests in flight that started when nothing was known about it. */
  probes: number
  /** Slots allocated by the selection in progress. */
  allocated: number
  /** The class that its slots are counted in, and whose queue it waits in. */
  priority: PriorityClass
  /** Whether failures of its account or zone lower the class of this never-tried endpoint; it is in `downgraded` of both. */
  isDowngraded: boolean
  /** It is paused because it fails: requests are probes, one at a time. */
  isProbed: boolean
  /** Requests at once; Infinity: no limit but that of all endpoints. */
  limit: number
  /** The due time of its entry in the delay queue, ms; NaN: no entry. */
  queuedDueMs: number
}

/** The endpoints of an account or a zone. */
export interface EndpointGroup {
  readonly id: string
  readonly slots: SlotCounts
  /** The sum of the endpoints' `probes`, and slots allocated for probes by the selection in progress. */
  probes: number
  readonly reputation: Reputation
  /** Never-tried endpoints that a fast answer would move to a faster class. */
  readonly downgraded: Set<ScheduledEndpoint>
  endpoints: number
}

export interface ScheduledAccount extends EndpointGroup {
  readonly use: SlotUse
  /** Whether it holds more than `fewSlots`. */
  isLarge: boolean
  /** Due endpoints by priority class, in round-robin order. */
  readonly due: readonly LinkedQueue<ScheduledEndpoint>[]
  /** Whether the account is in the fair queue of a class. */
  readonly isQueued: boolean[]
}

/** See `zoneOf`. */
export interface ScheduledZone extends EndpointGroup {
  /** Due endpoints that wait because the zone holds its share of a class, by class. */
  readonly waiting: readonly LinkedQueue<ScheduledEndpoint>[]
}

export interface ScheduledOrigin {
  readonly id: string
  readonly zone: ScheduledZone
  inFlight: number
  allocated: number
  /** Ids of its endpoints that are paused because they fail. */
  readonly probed: Set<string>
  /** Due endpoints that wait for a slot of this origin, in order of arrival. */
  readonly waiting: LinkedQueue<ScheduledEndpoint>
  endpoints: number
}

/** The answers of an idle endpoint; they hold for the origin where they came from. */
interface IdleHistory extends Pick<AnswerHistory, 'lastFastMs' | 'lastAnswer'> {
  readonly originId: string
}

type IdleAccount = Pick<ScheduledAccount, 'reputation' | 'use'>

/** The due time of an endpoint for which nothing waits. */
export const IDLE = Number.POSITIVE_INFINITY
/** Idle endpoints, with a last answer that was fast, whose history is remembered; about 150 bytes each. */
const MAX_IDLE_ANSWERED = 50_000
/** Other idle endpoints whose history is remembered, and idle accounts and zones whose reputation and slot time are. */
const MAX_IDLE_OTHERS = 20_000
/** Origins whose zone is cached: an endpoint that is often idle need not parse its origin for each delivery. */
const MAX_ZONE_IDS = 10_000

export function createEndpointRegistry(): EndpointRegistry {
  const endpoints = new Map<string, ScheduledEndpoint>()
  const accounts = new Map<string, ScheduledAccount>()
  const origins = new Map<string, ScheduledOrigin>()
  const zones = new Map<string, ScheduledZone>()
  // Of these maps, the first entry is the one that has been idle longest.
  const idleAnswered = new Map<string, IdleHistory>()
  const idleOthers = new Map<string, IdleHistory>()
  const idleAccounts = new Map<string, IdleAccount>()
  const idleZones = new Map<string, Reputation>()
  /** Zones by origin. */
  const zoneIds = new Map<string, string>()

  function accountOf(id: string): ScheduledAccount {
    const found = accounts.get(id)
    if (found) return found
    const { reputation, use } = takeIdle(id, idleAccounts) ?? {
      reputation: createReputation(),
      use: createSlotUse(),
    }
    const account: ScheduledAccount = {
      id,
      slots: createSlotCounts(),
      probes: 0,
      reputation,
      use,
      isLarge: false,
      downgraded: new Set(),
      endpoints: 0,
      due: createQueues(),
      isQueued: [false, false, false, false, false, false],
    }
    accounts.set(id, account)
    return account
  }

  function zoneOfOrigin(originId: string): ScheduledZone {
    let id = zoneIds.get(originId)
    if (id === undefined) {
      id = zoneOf(originId)
      setNewest(zoneIds, originId, id, MAX_ZONE_IDS)
    }
    const found = zones.get(id)
    if (found) return found
    const zone: ScheduledZone = {
      id,
      slots: createSlotCounts(),
      probes: 0,
      reputation: takeIdle(id, idleZones) ?? createReputation(),
      downgraded: new Set(),
      endpoints: 0,
      waiting: createQueues(),
    }
    zones.set(id, zone)
    return zone
  }

  function originOf(id: string): ScheduledOrigin {
    const found = origins.get(id)
    if (found) return found
    const origin = {
      id,
      zone: zoneOfOrigin(id),
      probed: new Set<string>(),
      waiting: createLinkedQueue<ScheduledEndpoint>(),
      endpoints: 0,
      inFlight: 0,
      allocated: 0,
    }
    origins.set(id, origin)
    return origin
  }

  function enter(origin: ScheduledOrigin): void {
    origin.endpoints++
    origin.zone.endpoints++
  }

  function leave(origin: ScheduledOrigin): void {
    const { zone } = origin
    if (--origin.endpoints === 0) origins.delete(origin.id)
    if (--zone.endpoints > 0) return
    zones.delete(zone.id)
    if (!isEmpty(zone.reputation)) setNewest(idleZones, zone.id, zone.reputation, MAX_IDLE_OTHERS)
  }

  function setProbed(endpoint: ScheduledEndpoint, isProbed: boolean): void {
    endpoint.isProbed = isProbed
    if (isProbed) endpoint.origin.probed.add(endpoint.id)
    else endpoint.origin.probed.delete(endpoint.id)
  }

  /** Its requests in flight move too: those still open to the former origin count for the new one. */
  function move(endpoint: ScheduledEndpoint, originId: string): void {
    const before = endpoint.origin
    const origin = originOf(originId)
    const { priority, slots, probes, queue } = endpoint
    enter(origin)
    origin.inFlight += slots
    before.inFlight -= slots
    origin.zone.slots[priority]! += slots
    before.zone.slots[priority]! -= slots
    origin.zone.probes += probes
    before.zone.probes -= probes
    before.zone.downgraded.delete(endpoint)
    before.probed.delete(endpoint.id)
    if (endpoint.isDowngraded) origin.zone.downgraded.add(endpoint)
    endpoint.origin = origin
    forgetFast(endpoint)
    if (queue !== endpoint.account.due[priority]) unqueue(endpoint)
    leave(before)
  }

  function rememberAnswers({ id, origin, lastFastMs, lastAnswer }: ScheduledEndpoint): void {
    if (lastAnswer === undefined) return
    const history = { originId: origin.id, lastFastMs, lastAnswer }
    if (lastAnswer === 'fast') {
      idleOthers.delete(id)
      setNewest(idleAnswered, id, history, MAX_IDLE_ANSWERED)
    } else {
      idleAnswered.delete(id)
      setNewest(idleOthers, id, history, MAX_IDLE_OTHERS)
    }
  }

  function restoreAnswers(endpoint: ScheduledEndpoint): void {
    const history = idleAnswered.get(endpoint.id) ?? idleOthers.get(endpoint.id)
    if (!history) return
    endpoint.lastFastMs = history.lastFastMs
    endpoint.lastAnswer = history.lastAnswer
    if (history.originId !== endpoint.origin.id) forgetFast(endpoint)
  }

  return {
    get size() {
      return endpoints.size
    },
    find: (webhookId) => endpoints.get(webhookId),
    probedOf: (originId) => [...(origins.get(originId)?.probed ?? [])],
    upsert({ webhookId, accountId, origin: originId, failing, probed, limit }) {
      const found = endpoints.get(webhookId)
      if (found) {
        found.isFailing = failing
        found.limit = limit
        if (found.origin.id !== originId) move(found, originId)
        setProbed(found, probed)
        return found
      }
      const account = accountOf(accountId)
      const origin = originOf(originId)
      account.endpoints++
      enter(origin)
      const endpoint: ScheduledEndpoint = {
        id: webhookId,
        account,
        origin,
        dueMs: IDLE,
        inFlight: 0,
        slots: 0,
        probes: 0,
        allocated: 0,
        priority: UNKNOWN,
        isDowngraded: false,
        lastFastMs: Number.NEGATIVE_INFINITY,
        lastAnswer: undefined,
        isFailing: failing,
        overdueCount: 0,
        isProbed: probed,
        limit,
        queuedDueMs: Number.NaN,
        queue: undefined,
        previous: undefined,
        next: undefined,
      }
      restoreAnswers(endpoint)
      endpoints.set(webhookId, endpoint)
      return endpoint
    },
    remove(endpoint) {
      if (endpoints.get(endpoint.id) !== endpoint) return
      const { account, origin } = endpoint
      endpoints.delete(endpoint.id)
      rememberAnswers(endpoint)
      account.downgraded.delete(endpoint)
      origin.zone.downgraded.delete(endpoint)
      origin.probed.delete(endpoint.id)
      leave(origin)
      if (--account.endpoints > 0) return
      const { id, reputation, use } = account
      accounts.delete(id)
      const isUsed = use.atMs > Number.NEGATIVE_INFINITY
      if (isUsed || !isEmpty(reputation)) setNewest(idleAccounts, id, { reputation, use }, MAX_IDLE_OTHERS)
    },
    all: () => endpoints.values(),
  }
}

const createQueues = () => CLASSES.map(() => createLinkedQueue<ScheduledEndpoint>())

/** What is remembered of a group that is registered again. */
function takeIdle<Value>(id: string, idle: Map<string, Value>): Value | undefined {
  const found = idle.get(id)
  if (found !== undefined) idle.delete(id)
  return found
}

/** Sets an entry as the newest one, and removes the oldest above `max`. */
function setNewest<Value>(map: Map<string, Value>, key: string, value: Value, max: number): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > max) map.delete(map.keys().next().value!)
}

/** A new origin is a new receiver: a fast endpoint becomes unknown, a slow or silent one stays so. */
function forgetFast(endpoint: ScheduledEndpoint): void {
  endpoint.lastFastMs = Number.NEGATIVE_INFINITY
  if (endpoint.lastAnswer === 'fast') endpoint.lastAnswer = undefined
}

/** The state of the scheduler, for metrics. */
export interface SchedulerStats {
  /** How long a delivery has been due whose endpoint is neither probed nor at the limit of the endpoint, its account or its origin, ms. */
  readonly oldestDueMs: number
  /** Endpoints that are paused, and whose next probe is not due. */
  readonly open: number
  /** Endpoints that are paused, and are probed now. */
  readonly halfOpen: number
}

/**
 * @param isAtOwnLimit whether an endpoint waits for its own requests, or those of its account or origin, to end
 * @param now store time, ms
 */
export function statsOf(
  endpoints: Iterable<ScheduledEndpoint>,
  isAtOwnLimit: (endpoint: ScheduledEndpoint) => boolean,
  now: number,
): SchedulerStats {
  let oldestDueMs = 0
  let open = 0
  let halfOpen = 0
  for (const endpoint of endpoints) {
    const { dueMs, isProbed } = endpoint
    if (now - dueMs > oldestDueMs && !isProbed && !isAtOwnLimit(endpoint)) oldestDueMs = now - dueMs
    if (isProbed && dueMs > now && dueMs !== IDLE) open++
    else if (isProbed) halfOpen++
  }
  return { oldestDueMs, open, halfOpen }
}
