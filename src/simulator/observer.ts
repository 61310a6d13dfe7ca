/**
 * Checks every store operation as soon as the store has executed it, and tracks deliveries and leases from it. The
 * invariants that need the whole run are in `oracle`.
 */

import type { Acceptance, AcceptedEvent, Settlement } from '../delivery/delivery-store.js'
import type { Group, GroupResult, Lease, NodeLease, Polled } from '../delivery/queue-store.js'
import { shardOf } from '../store/shards.js'
import { addTo } from '../values/group.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { RunningNode } from './cluster.js'
import { disruptionsBetween } from './disruptions.js'
import {
  checkEndpointOfStart,
  checkProbe,
  forgetEndpoint,
  type GroupPause,
  groupPauseOf,
  mayOvertake,
  trackEndpoints,
} from './endpoint-rules.js'
import type { StoreOperation } from './faulty-store.js'
import type { NodeLife } from './node-life.js'
import type { SimulatedCaps } from './options.js'
import type { Secrets } from './secrets.js'
import {
  checkDisabling,
  checkRetryDelay,
  kindOfAttempt,
  type SettlementRuleDeps,
  trackHealth,
} from './settlement-rules.js'
import {
  canFollow,
  hasEnded,
  type TrackedDelivery,
  type TrackedDeliveryState,
  type TrackedLease,
} from './tracked-state.js'

interface ObserverDeps extends SettlementRuleDeps {
  /** Wall clock at moment 0, Unix ms. */
  readonly startMs: number
  readonly secrets: Secrets
  /** Number of receivers. */
  readonly receivers: number
  readonly caps: SimulatedCaps
  cover(name: string): void
}

interface Observer {
  /** A store operation was executed. */
  executed(operation: StoreOperation, args: readonly unknown[], result: unknown): void
  /** A request started; see `NetworkDeps.requestStarted`. */
  requestStarted(life: NodeLife, inFlight: ReadonlyMap<string, number>, total: number, group: string): void
  /** The service sends an attempt. */
  sent(life: NodeLife, delivery: string, attempt: number): void
  /** A node has closed; `listeners` counts its subscriptions that are still active. */
  closed(running: RunningNode, listeners: number): void
}

/** Writes that may contain a secret. */
const WRITES = new Set(['insert', 'replace', 'update', 'putUser', 'putApiKey', 'issue', 'commit'])
/** How long after an outage the store may still fail operations that were called during it. */
const OUTAGE_AFTERMATH_MS = 60_000

/** How long after a disruption a node may have loaded its queue again, ms. */
const RELOAD_MS = 120_000

const NO_LEASE: Lease = { owner: '', fence: 0 }

const startName = ({ owner, fence }: Lease, key: number) => `${owner} ${fence} ${key}`
const attemptOf = (owner: string, delivery: string, attempt: number) => `${owner} ${delivery} ${attempt}`
const keyOf = (webhookId: string, position: number) => `${webhookId} ${position}`

export function createObserver(deps: ObserverDeps): Observer {
  const { queue, tracked, violations, history, caps, startMs, cover } = deps
  /** The owner name that each node uses in the store. */
  const owners = new Map<string, string>()
  const now = () => queue.now()

  function accepted({ deliveries }: Acceptance, results: readonly AcceptedEvent[], isRepeat: boolean): void {
    const events = new Set<string>()
    for (const { id, duplicate } of results) {
      if (duplicate) continue
      // Written by an earlier commit of the same group.
      if (isRepeat && tracked.events.has(id)) continue
      events.add(id)
      if (tracked.events.has(id)) violations.add('I6', now(), `event ${id} was accepted twice`, id)
      tracked.events.add(id)
    }
    for (const delivery of deliveries) {
      // The store skips deliveries of duplicates. A replay refers to a stored event.
      if (!events.has(delivery.eventId) && delivery.replayOf === undefined) continue
      if (isRepeat && tracked.deliveries.has(delivery.id)) continue
      const { id, webhookId, epoch, callId = '' } = delivery
      const lane = `${webhookId} ${delivery.lane}`
      const created: TrackedDelivery = {
        id,
        webhook: webhookId,
        call: callId,
        lane,
        epoch,
        acceptedMs: now(),
        isHead: !tracked.lanes.has(lane),
        key: keyOf(webhookId, delivery.position ?? 0),
        state: 'waiting',
        attempts: 0,
        charged: 0,
        dueMs: 0,
        owner: '',
        start: '',
        isSent: false,
        isStartedAfterGap: false,
        startedMs: 0,
        startedStoreMs: 0,
        settledMs: 0,
        failedStoreMs: undefined,
        isOvertaken: false,
        wasCheck: false,
        isOutOfOrder: false,
        hasOvertaken: false,
        endedMs: Number.POSITIVE_INFINITY,
        successMs: Number.POSITIVE_INFINITY,
      }
      tracked.deliveries.set(id, created)
      tracked.byKey.set(created.key, created)
      addTo(tracked.lanes, lane, created)
    }
  }

  /**
   * @param group its lease and its time, as the node knew it, are those of the starts
   * @param afterGap deliveries that the group accepted, and that earlier ones of other nodes may have to be sent before
   */
  function started(
    { starting, lease = NO_LEASE, now: calledMs }: Group,
    notStarted: ReadonlySet<number>,
    afterGap: ReadonlySet<string>,
  ): void {
    if (!starting) return
    const { owner } = lease
    const starts = starting.deliveries.filter((_, index) => !notStarted.has(index))
    const current = tracked.leases.get(owner)
    if (starts.length > 0 && (!current || current.isReleased || current.aliveUntilMs <= calledMs)) {
      violations.add('I16', now(), `${owner} starts attempts without a lease`, owner)
    }
    const name = startName(lease, starting.key)
    const deliveries: TrackedDelivery[] = []
    for (const { webhookId, position, attempt } of starts) {
      const key = keyOf(webhookId, position)
      const delivery = tracked.byKey.get(key)
      if (!delivery) {
        violations.add('I3', now(), `${key} is started but was never accepted`, webhookId)
        continue
      }
      deliveries.push(delivery)
      // Stored by an earlier commit of the same group.
      if (delivery.start !== name || delivery.state !== 'in_flight') {
        delivery.isStartedAfterGap = afterGap.has(delivery.id)
        checkStart(delivery, attempt, owner, calledMs)
        checkEndpointOfStart(deps, delivery, calledMs)
        tracked.started.add(attemptOf(owner, delivery.id, attempt))
        Object.assign(delivery, {
          state: 'in_flight',
          owner,
          start: name,
          isSent: false,
          startedMs: now(),
          startedStoreMs: calledMs,
        })
      }
    }
    tracked.starts.set(name, deliveries)
  }

  function checkStart(delivery: TrackedDelivery, attempt: number, owner: string, calledMs: number): void {
    const { id, webhook } = delivery
    const add = (invariant: string, message: string) =>
      violations.add(invariant, now(), `${id} ${message}`, id, webhook)
    // A start that its node took back before anything was sent; it is not forgotten before the others of its group.
    const isTakenBack = delivery.state === 'in_flight' && delivery.owner === owner && !delivery.isSent
    if (!isTakenBack && !canFollow(delivery.state, 'in_flight'))
      add('I10', `was ${delivery.state} and is started`)
    if (attempt !== delivery.attempts + 1)
      add('I9', `is started as attempt ${attempt} after ${delivery.attempts}`)
    if (!delivery.isStartedAfterGap) checkLane(delivery, calledMs)
    // What a pause holds is due at once, and when it ends.
    const wasHeld = (tracked.endpoints.get(webhook)?.heldMs ?? Number.NEGATIVE_INFINITY) >= delivery.settledMs
    if (delivery.dueMs > calledMs && !wasHeld)
      add('I11', `is sent ${delivery.dueMs - calledMs} ms before it is due`)
    const epoch = tracked.epochs.get(webhook)
    if (epoch !== undefined && epoch > delivery.epoch) add('I21', 'is started after its webhook was disabled')
  }

  function checkLane(delivery: TrackedDelivery, calledMs: number): void {
    const { id, webhook, call, lane } = delivery
    const pending = tracked.lanes.get(lane)
    const first = pending?.[0]
    if (first === delivery) return
    const earlier = pending?.slice(0, Math.max(0, pending.indexOf(delivery))) ?? []
    if (earlier.length > 0 && mayOvertake(tracked, webhook, earlier, calledMs)) {
      delivery.hasOvertaken = true
      cover('sent out of order')
      return
    }
    const why = first ? `before ${first.id} has ended` : 'after its lane had ended'
    violations.add('I17', now(), `${id} is sent ${why}`, id, webhook, first?.id ?? '', call)
  }

  /** A node has forgotten starts: their attempts have ended, or nothing was sent. */
  function forgotten(name: string, isForgotten: (delivery: TrackedDelivery) => boolean): void {
    const left: TrackedDelivery[] = []
    for (const delivery of tracked.starts.get(name) ?? []) {
      if (!isForgotten(delivery)) left.push(delivery)
      else if (delivery.state === 'in_flight' && delivery.start === name) {
        const { id, webhook } = delivery
        if (delivery.isSent)
          violations.add('I8', now(), `the start of ${id} is forgotten while it is sent`, id, webhook)
        delivery.state = 'waiting'
        cover('start taken back')
      }
    }
    if (left.length > 0) tracked.starts.set(name, left)
    else tracked.starts.delete(name)
  }

  function startsOf({ owner, fence }: Lease): readonly string[] {
    return [...tracked.starts.keys()].filter((name) => name.startsWith(`${owner} ${fence} `))
  }

  function committed(group: Group, result: GroupResult): void {
    cover(`group ${result.kind}`)
    if (group.isRepeat) cover('group repeated')
    if (result.kind !== 'committed') return
    const { isRepeat, lease = NO_LEASE } = group
    // A later event of a call does not name the gap that the group has found before an earlier one.
    const hasGap = result.accepted.some((result) => result.kind === 'accepted' && result.mayHaveGap)
    const afterGap = new Set<string>()
    group.accepted.forEach((acceptance, index) => {
      const answer = result.accepted[index]!
      if (answer.kind !== 'accepted') return
      if (answer.mayHaveGap) cover('numbers with a gap')
      if (hasGap) for (const { id } of acceptance.deliveries) afterGap.add(id)
      accepted(acceptance, answer.events, isRepeat)
    })
    const written: Settlement[] = []
    group.ended.forEach((settlement, index) => {
      const end = result.ended[index]!
      cover(`settle ${end.kind}`)
      if (end.kind !== 'settled' || (isRepeat && isSettled(settlement))) return
      checkSettlement(settlement, group, end.disabled)
      written.push(settlement)
    })
    trackEndpoints(deps, written, group.now)
    started(group, new Set(result.notStarted), afterGap)
    for (const key of group.finished) forgotten(startName(lease, key), () => true)
  }

  /** Whether an earlier commit of the same group has written this settlement. */
  function isSettled({ deliveryId, next, record }: Settlement): boolean {
    if (record) return tracked.records.has(record.id)
    const delivery = tracked.deliveries.get(deliveryId)
    return delivery !== undefined && delivery.attempts === next.attempts && delivery.state === next.state
  }

  function checkSettlement(
    settlement: Settlement,
    { ended, lease: { owner } = NO_LEASE, now: calledMs }: Group,
    disabled: Webhook | undefined,
  ): void {
    const { deliveryId: id, webhookId: webhook, next } = settlement
    const delivery = tracked.deliveries.get(id)
    const add = (invariant: string, message: string) =>
      violations.add(invariant, queue.now(), message, id, webhook)
    if (!delivery) {
      add('I3', `${id} was settled but never accepted`)
      return
    }
    const lease = tracked.leases.get(owner)
    if (!lease || lease.isReleased || lease.aliveUntilMs <= calledMs) {
      add('I16', `${owner} settled ${id} after its lease had ended`)
    }
    if (isTakenOver(delivery, owner)) {
      add('I16', `${owner} ended ${id}, which ${delivery.owner} has in flight under a lease`)
    }
    const state = next.state as TrackedDeliveryState
    cover(`${delivery.state} → ${state}`)
    if (next.interruptions > 0) cover(`interruptions in a row: ${next.interruptions}`)
    // The start of a probe that was no attempt is kept for a moment: after a crash it looks like one that was interrupted.
    const isCheckInterrupted =
      delivery.wasCheck && delivery.state === 'waiting' && next.reason === 'interrupted'
    if (!canFollow(delivery.state, state) && !isCheckInterrupted)
      add('I10', `${id} was ${delivery.state} and becomes ${state}`)
    if (settlement.record) tracked.records.add(settlement.record.id)
    const pause = groupPauseOf(tracked, webhook, ended)
    checkCounts(delivery, settlement, pause, add)
    checkRetryDelay(deps, delivery, settlement, calledMs, pause.mayBePaused)
    trackHealth(deps, webhook, settlement)
    trackSettlement(delivery, settlement)
    if (settlement.endpoint?.disable && disabled) {
      const { reason } = settlement.endpoint.disable
      tracked.epochs.set(webhook, disabled.epoch)
      history.webhooks.get(webhook)?.disabledMs.push(queue.now())
      checkDisabling(deps, webhook, reason)
      cover(`disabled: ${reason}`)
    }
  }

  /** Whether another node ends what a node has in flight although that node still has its lease. */
  function isTakenOver(delivery: TrackedDelivery, owner: string): boolean {
    if (delivery.state !== 'in_flight' || delivery.owner === owner) return false
    const lease = tracked.leases.get(delivery.owner)
    if (!lease || lease.isReleased || lease.sinceMs > delivery.startedMs) return false
    // Started under an earlier lease of that node, at the time at which it got this one.
    if (!delivery.start.startsWith(`${delivery.owner} ${lease.fence} `)) return false
    return isAlive(lease)
  }

  function isAlive({ aliveUntilMs }: TrackedLease): boolean {
    return aliveUntilMs > Math.floor(startMs + queue.now())
  }

  function checkCounts(
    delivery: TrackedDelivery,
    settlement: Settlement,
    { mayBePaused, isPaused }: GroupPause,
    add: (invariant: string, message: string) => void,
  ): void {
    const { id } = delivery
    const { next, record } = settlement
    const kind = kindOfAttempt(settlement)
    if (record?.attempt !== undefined) {
      delivery.attempts += 1
      if (record.attempt !== delivery.attempts) {
        add('I9', `attempt ${record.attempt} of ${id} is recorded as number ${delivery.attempts}`)
      }
      cover(`attempt ${record.clientError ?? (record.status === undefined ? record.reason : record.result)}`)
    }
    if (next.attempts !== delivery.attempts) {
      add('I9', `${id} counts ${next.attempts} attempts, but ${delivery.attempts} are recorded`)
    }
    if (kind === 'check') {
      cover('probe without a request')
      if (!mayBePaused) add('I19', `${id} was sent without a record, although its endpoint was not paused`)
    }
    const isUnmarked = kind !== 'none' && record && record.outOfOrder !== true && delivery.isOutOfOrder
    // A node that has loaded its queue again does not know what had left a lane before.
    const hasReloaded = !disruptionsBetween(history.disruptions, now() - RELOAD_MS, now()).next().done
    if (isUnmarked && !hasReloaded)
      add('I17', `attempt ${record.attempt} of ${id} was out of order, but is not marked`)
    // A rejection is free while its endpoint is paused, and when it opens the pause.
    const most = kind === 'success' || (kind === 'rejected' && !isPaused) ? 1 : 0
    const least = kind === 'rejected' && mayBePaused ? 0 : most
    const { charged } = delivery
    delivery.charged = next.tries
    if (next.tries >= charged + least && next.tries <= charged + most) return
    add('I7', `${id} is charged ${next.tries} tries after ${charged}, although its attempt was: ${kind}`)
  }

  function trackSettlement(delivery: TrackedDelivery, settlement: Settlement): void {
    const { next } = settlement
    delivery.state = next.state as TrackedDeliveryState
    delivery.dueMs = next.dueMs ?? 0
    delivery.settledMs = queue.now()
    delivery.wasCheck = kindOfAttempt(settlement) === 'check'
    const kind = kindOfAttempt(settlement)
    if (kind === 'success') {
      delivery.successMs = queue.now()
      const receiver = history.webhooks.get(delivery.webhook)?.receiver
      if (receiver !== undefined) tracked.successes.set(receiver, queue.now())
    } else if (kind !== 'none') delivery.failedStoreMs ??= next.failedMs
    if (!hasEnded(delivery.state)) return
    delivery.endedMs = queue.now()
    const lane = tracked.lanes.get(delivery.lane)
    const at = lane?.indexOf(delivery) ?? -1
    if (at >= 0) lane!.splice(at, 1)
    if (lane?.length === 0) tracked.lanes.delete(delivery.lane)
  }

  function owned(life: NodeLife, owner: string, { fence, aliveUntilMs, shards, storeMs }: NodeLease): void {
    owners.set(life.name, owner)
    // In an unshared store the last owner fences the one before.
    if (aliveUntilMs === Number.POSITIVE_INFINITY) tracked.leases.clear()
    const before = tracked.leases.get(owner)
    const isContinued = before && before.aliveUntilMs > storeMs && shards.length >= before.shards
    const sinceMs = isContinued ? before.sinceMs : now()
    tracked.leases.set(owner, { fence, aliveUntilMs, isReleased: false, shards: shards.length, sinceMs })
  }

  function checkAccountCaps(life: NodeLife, inFlight: ReadonlyMap<string, number>): void {
    const counts = new Map<string, number>()
    for (const [group, count] of inFlight) {
      const account = history.webhooks.get(group)?.accountId ?? group
      counts.set(account, (counts.get(account) ?? 0) + count)
    }
    for (const [account, count] of counts) {
      if (count <= caps.perAccount) continue
      violations.add('I15', now(), `${life.name} has ${count} requests in flight of ${account}`, life.name)
    }
  }

  const HANDLERS: Readonly<
    Record<string, (life: NodeLife, args: readonly unknown[], result: unknown) => void>
  > = {
    commit: (_, [group], result) => committed(group as Group, result as GroupResult),
    own: (life, [owner], result) => owned(life, owner as string, result as NodeLease),
    renew: (life, [owner], result) => owned(life, owner as string, result as NodeLease),
    release(_, [owner]) {
      const lease = tracked.leases.get(owner as string)
      if (!lease) return
      lease.isReleased = true
      // The starts of its earlier leases are left to the next owners of their shards.
      const { fence } = lease
      for (const name of startsOf({ owner: owner as string, fence })) forgotten(name, () => true)
    },
    handOver(_, [lease, shards]) {
      const given = new Set(shards as number[])
      cover('shards handed over')
      for (const name of startsOf(lease as Lease)) {
        forgotten(name, ({ webhook }) => given.has(shardOf(webhook)))
      }
    },
    poll(_, _lease, polled) {
      if (((polled as Polled | undefined)?.waiting.count ?? 0) > 0) cover('deliveries polled')
    },
    replace(_, [webhook], replaced) {
      const { id, epoch } = webhook as Webhook
      if (replaced === true) forgetEndpoint(deps, id)
      if (replaced === true && epoch > (tracked.epochs.get(id) ?? 1)) tracked.epochs.set(id, epoch)
    },
  }

  return {
    executed({ name, life }, args, result) {
      if (WRITES.has(name)) deps.secrets.wrote(name, args)
      HANDLERS[name]?.(life, args, result)
    },
    requestStarted(life, inFlight, total, group) {
      if ((inFlight.get(group) ?? 0) > caps.perEndpoint) {
        const message = `${life.name} has ${inFlight.get(group)} requests in flight to ${group}`
        violations.add('I15', now(), message, group)
      }
      if (total > caps.total)
        violations.add('I15', now(), `${life.name} has ${total} requests in flight`, life.name)
      if (total > caps.perAccount) checkAccountCaps(life, inFlight)
    },
    sent(life, id, attempt) {
      const owner = owners.get(life.name) ?? ''
      const delivery = tracked.deliveries.get(id)
      if (delivery?.owner === owner && delivery.state === 'in_flight' && delivery.attempts === attempt - 1) {
        if (delivery.isSent) violations.add('I8', now(), `${id} is sent twice in one attempt`, id)
        delivery.isSent = true
        checkProbe(deps, delivery)
        delivery.isOutOfOrder = tracked.lanes.get(delivery.lane)?.[0] !== delivery
        if (delivery.isStartedAfterGap) checkLane(delivery, delivery.startedStoreMs)
      } else if (!tracked.started.has(attemptOf(owner, id, attempt)))
        violations.add('I10', now(), `${id} is sent without a stored start of attempt ${attempt}`, id)
    },
    closed({ life, sender }, listeners) {
      const lease = tracked.leases.get(owners.get(life.name) ?? '')
      // During a store fault the release can fail.
      const hadStoreFault = () =>
        [...disruptionsBetween(history.disruptions, now() - OUTAGE_AFTERMATH_MS, now())].some(({ kind }) =>
          kind.startsWith('store'),
        )
      const add = (message: string) =>
        violations.add('I18', now(), `${life.name} is closed ${message}`, life.name)
      // One that has ended is left to the next owner, with what it may have in flight.
      if (lease && !lease.isReleased && isAlive(lease) && !hadStoreFault()) add('and still holds a lease')
      if (listeners > 0) add('and still subscribed to its store')
      if (sender.open() > 0) add('with requests in flight')
      if (life.sleepers() > 0) add(`with ${life.sleepers()} timers`)
    },
  }
}
