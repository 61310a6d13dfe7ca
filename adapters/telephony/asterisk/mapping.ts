/**
 * Maps switch events to channel events, for AMI and ARI alike. Connections and the clock are left to others; it never
 * throws.
 *
 * Theory of operation:
 *
 * - State: the registry owns the open legs; the bridge graph owns the bridges and sets who is bridged with whom. All of
 *   it is in memory and is rebuilt from the list of open channels after a crash.
 * - One call of `map` or `reconcile` is one step. It updates legs, then builds the events that the new state implies, and
 *   returns them as one batch in the order in which they happened.
 * - A leg passes through `channel_create` (once its direction and its parties are known), `channel_answer` (at its first
 *   state `Up`) and `channel_destroy`, each once, in that order. An end completes what is missing first. The begin of a dial
 *   and the hangup request of the dialled leg may arrive in either order. The wait for the `channel_create` is bounded in
 *   time (`settleWaiting`) and in number; its time stays that of the begin.
 * - A bridge with a leg that has not answered is early media. It is kept by that leg and published at the answer, if it
 *   still exists.
 * - Resync: the session takes a `snapshot` when it requests the list of open channels and passes both to `reconcile`.
 *   Changes after the snapshot are newer than the list, so they win. Legs of the snapshot that the list lacks have ended;
 *   channels of the list that have no leg began unseen. Events of a resync have `found_by`. A time that the switch does not
 *   know is left out of the durations.
 * - `channel_bridge` has the partner and the bridge in its idempotency key, and the time only where the two meet again in
 *   one bridge: so a bridge that is found has the key of the event that was missed, or published before a restart.
 */
import { joinOlderGroup } from '../source/call-group.js'
import { EMPTY_BATCH, type MappedBatch } from '../source/mapped-events.js'
import type { SavableLegs } from '../source/open-legs.js'
import { definedDetails } from '../source/optional-hooks.js'
import { clockProblem, isClockSetBack } from '../source/seconds.js'
import { noteAnswerer } from './answerer.js'
import { type BridgedLeg, createBridgeGraph } from './bridge-graph.js'
import { createCallReporter } from './call-report.js'
import { type ChannelRegistry, createChannelRegistry, type MappingOptions } from './channel-registry.js'
import { dialledNumber } from './dial-string.js'
import {
  buildBridgeEvent,
  buildDestroyEvent,
  buildEvent,
  type EventContext,
  timesOf,
} from './event-builder.js'
import { type HangupResult, mapHangup } from './hangup-mapping.js'
import { arePartiesKnown, isLaterChannel, type Leg } from './leg.js'
import { type RegistrySnapshot, reconcile } from './reconcile.js'
import { restoreLeg, saveLeg } from './saved-leg.js'
import {
  type Bridge,
  BUSY,
  type Channel,
  type ListedChannel,
  RINGING,
  type SwitchEvent,
  UP,
} from './switch-event.js'

export type { RegistrySnapshot } from './reconcile.js'

/** The mapping of one switch. */
export interface Mapping {
  /** Maps one event of the switch. */
  map(event: SwitchEvent): MappedBatch
  /**
   * Whether the account of an open leg is not known, its `channel_create` not built, or the reason why it has left a queue
   * not known: then its `variable_set` and `dial_plan_step` events are needed.
   */
  isUnsettled(id: string): boolean
  /** Builds the `channel_create` of the legs that have waited for it since the last call, with what is known. */
  settleWaiting(): MappedBatch
  /** Builds the events of queues that are held until more is known, with what is known: no message follows. */
  flush(): MappedBatch
  /** Take it when requesting the list: later changes are newer than the list, earlier ones may have been missed. */
  snapshot(): RegistrySnapshot
  /**
   * Whether the begin or the answer of a listed channel was missed, so that its times are to be queried.
   *
   * @param nowMs the time of the list, Unix milliseconds
   */
  lacksTimes(listed: Channel, nowMs: number): boolean
  /**
   * Compares the open legs with the list of open channels: ends missing legs, opens new ones, updates bridges.
   *
   * @param nowMs the time of changes without a time in the list, Unix milliseconds
   */
  reconcile(snapshot: RegistrySnapshot, listed: readonly ListedChannel[], nowMs: number): MappedBatch
  /** Number of open legs. */
  openLegs(): number
  /** The open legs, to keep them over a restart. */
  readonly savable: SavableLegs
}

type DialEvent = Extract<SwitchEvent, { kind: 'dialled' }>

/** Dial states of a phone that rings, with or without early media. */
const ALERTING: ReadonlySet<string> = new Set(['RINGING', 'PROGRESS'])

/** Maximum number of legs whose `channel_create` waits; above it that of the oldest is built. */
const MAX_WAITING = 10_000
/** Longest chain of Local channels behind a branch that is followed. */
const MAX_LOCAL_CHAIN = 8

/** Creates a mapping without open legs. */
export function createAsteriskMapping(options: MappingOptions): Mapping {
  const legs: ChannelRegistry = createChannelRegistry(options, {
    onEvicted(leg) {
      reporter.forget(leg)
      leave(leg)
      earlyBridges.delete(leg.id)
    },
    beforeEvent: (leg) => reporter.beforeEvent(leg),
    onReplaced: (leg, atMs) => endMissed(leg, atMs),
  })
  const { enter, leave, membersOf } = createBridgeGraph(legs)
  const hooks: ReadonlySet<string> = new Set(options.optionalHooks)
  /** Bridges in early media, by the id of a leg that has not answered. */
  const earlyBridges = new Map<string, BridgedLeg[]>()
  let step = 0
  let isResync = false
  /** Whether a list was requested: legs that began unseen may have events before it arrives. */
  let isListing = false
  /** The callers who waited in a queue when the list was requested. */
  const queuedLegs: Leg[] = []

  const contextOf = (leg: Leg): EventContext => {
    const context = legs.eventContext(leg)
    if (!isResync) return context
    return { ...context, customChannelVars: { found_by: 'resync', ...context.customChannelVars } }
  }

  /**
   * Adds `channel_create` and `channel_answer` where the state of the leg implies them.
   *
   * @param isDue whether its parties are known
   * @param answeredMs the time of an answer
   */
  const advance = (leg: Leg, atMs: number, isDue: boolean, answeredMs: number | 'unknown' = atMs): void => {
    if (!leg.parties && isDue) {
      legs.fixParties(leg)
      const created = { hook: 'channel_create', atMs: leg.createdMs } as const
      legs.addEvent(leg, buildEvent(leg, created, contextOf(leg)))
    }
    const { state } = leg.channel
    if (state === RINGING) leg.ringingMs ??= atMs
    if (state === UP && leg.answeredMs === undefined && leg.parties) {
      leg.isAnswerTimeKnown = answeredMs !== 'unknown'
      leg.answeredMs = answeredMs === 'unknown' ? atMs : answeredMs
      noteAnswered(leg)
      const answered = { hook: 'channel_answer', atMs: leg.answeredMs } as const
      legs.addEvent(leg, buildEvent(leg, answered, contextOf(leg)))
      const early = earlyBridges.get(leg.id) ?? []
      earlyBridges.delete(leg.id)
      for (const bridged of early) if (isStillBridged(bridged)) onBridged(bridged, atMs)
    }
  }

  /** Notes who has answered on a leg, and on the one that dialled it unless that is in another talk. */
  const noteAnswered = (leg: Leg): void => {
    const other = legs.get(legs.otherPhone(leg))
    const isFree = other && (other.partnerId === undefined || other.partnerId === leg.id)
    noteAnswerer(leg, isFree ? other : undefined)
  }

  const isUnsettled = (id: string) =>
    legs.isUnsettled(id) || reporter.isStepNeeded(id) || (isListing && !legs.get(id))

  const reporter = createCallReporter({
    legs,
    hooks,
    advance: (leg, atMs) => advance(leg, atMs, true),
    contextOf,
    membersOf,
  })

  /** Adds `channel_bridge`, or keeps the bridge until both legs have answered. */
  const onBridged = (bridged: BridgedLeg, atMs: number): void => {
    const { leg, other, bridge } = bridged
    const unanswered = [leg, other].find((party) => party && party.answeredMs === undefined)
    if (unanswered) {
      // Keeps only the newest existing bridge of each leg: legs may enter and leave many times before the answer.
      const early = (earlyBridges.get(unanswered.id) ?? []).filter(
        (link) => link.leg !== leg && isStillBridged(link),
      )
      early.push(bridged)
      earlyBridges.set(unanswered.id, early)
      return
    }
    if (other) joinOlderGroup(leg, other)
    if (other && !other.isInternal && !leg.isInternal) {
      legs.setOtherLeg(leg, other.id)
      noteAnswerer(leg, other)
    }
    leg.hasOtherRequestedHangup = false
    if (!isResync) leg.mayHaveMissedRequest = false
    legs.addEvent(leg, buildBridgeEvent(leg, other, bridge, atMs, contextOf(leg)))
    reporter.onBridged(leg, other, atMs)
  }

  const onDial = (caller: Leg | undefined, called: Leg, event: DialEvent): void => {
    const { status, atMs } = event
    legs.setDirection(called, 'outbound')
    if (caller) legs.setDirection(caller, 'inbound')
    if (status === '') {
      if (event.dialString !== undefined) {
        called.dialledNumber ??= dialledNumber(called, event.dialString, caller?.channel.extension)
      }
      if (caller) {
        for (const dialled of [called, legs.otherHalf(called)]) if (dialled) joinOlderGroup(dialled, caller)
        called.diallerId = caller.id
        caller.branches.add(called.id)
        caller.hasNotDialled = false
        if (called.otherLegId === undefined) legs.setOtherLeg(called, caller.id)
        legs.setOtherLeg(caller, called.id)
        caller.hasOtherRequestedHangup = false
        caller.mayHaveMissedRequest = false
        // A refusal that is reported before the begin of its dial.
        const phone = legs.get(legs.phoneBehind(called.id))
        if (phone?.hasRequestedHangup) notifyOther(phone)
        reporter.onDialled(caller, called, atMs)
      }
    } else if (event.isForwarded) {
      // The status that follows is that of the new destination.
      called.hasForwarded = true
    } else if (ALERTING.has(status)) {
      called.ringingMs ??= atMs
      if (caller && caller.answeredMs === undefined) caller.ringingMs ??= atMs
    } else if (status === 'CANCEL' && called.dialStatus !== undefined) {
      // Queue() repeats the end of a dial so.
    } else if (status !== 'PROCEEDING') {
      called.dialStatus = status
      if (caller) {
        caller.dialStatus = status
        if (status === 'ANSWER') legs.setOtherLeg(caller, called.id)
      }
    }
  }

  const onEntered = (leg: Leg, bridge: Bridge, atMs: number): void => {
    leg.lastMoveStep = step
    // A leg of an earlier process is found in the bridge in which it may hold.
    const isRestored = isResync && leg.bridgeId === undefined
    if (leg.isHeld && leg.bridgeId !== bridge.id && !isRestored) setHeld(leg, false, atMs)
    for (const bridged of enter(leg, bridge)) {
      const { leg: bridgedLeg, other } = bridged
      advance(bridgedLeg, atMs, true)
      if (other) advance(other, atMs, true)
      onBridged(bridged, atMs)
    }
  }

  const reportConference = (
    hook: 'conference_join' | 'conference_leave',
    channel: Channel,
    { id, name, isConfBridge }: Bridge,
    atMs: number,
  ): void => {
    if (isConfBridge) reporter.add([{ hook, channel, details: definedDetails({ name }), bridgeId: id }], atMs)
  }

  /** Asterisk does not pair holds with resumes, so repetitions are ignored. */
  const setHeld = (leg: Leg, isHeld: boolean, atMs: number): void => {
    if (leg.isHeld === isHeld) return
    leg.isHeld = isHeld
    leg.lastHoldStep = step
    // The time of a hold that is found is not known, and each node finds it at another time.
    const key = isResync ? 'resync' : Math.round(atMs * 1000)
    const held = { hook: isHeld ? 'channel_hold' : 'channel_unhold', atMs, key } as const
    legs.addEvent(leg, buildEvent(leg, held, contextOf(leg)))
  }

  const onHangupRequested = (leg: Leg, cause: number | undefined, code: number | undefined): void => {
    if (isRefusedBySwitch(leg, code)) return
    leg.hasRequestedHangup = true
    leg.requestedCause ??= cause
    leg.refusalCode ??= code
    // A half of a Local channel only passes on what a phone or the switch has requested.
    if (!leg.isInternal) notifyOther(leg)
  }

  /** Notes on the other leg, or on each leg that it dials, that the phone of this leg has requested the hangup. */
  const notifyOther = (leg: Leg): void => {
    if (leg.partnerId === undefined) {
      for (const phone of phonesDialledBy(leg)) phone.hasOtherRequestedHangup = true
    }
    const other = legs.get(leg.partnerId) ?? legs.get(legs.otherPhone(leg))
    if (!other || (other.partnerId !== undefined && other.partnerId !== leg.id)) return
    // A branch that refuses does not end a caller for whom another one rings, or who was connected to another leg since.
    const isLastBranch = phonesDialledBy(other).every((phone) => phone === leg || phone.hasRequestedHangup)
    const isConnected = legs.otherPhone(other) === leg.id || phonesDialledBy(other).includes(leg)
    if (other.partnerId === leg.id || (isLastBranch && isConnected)) other.hasOtherRequestedHangup = true
  }

  /** Returns the open phones that a leg has dialled, directly or through Local channels, and that are not in a bridge. */
  const phonesDialledBy = (caller: Leg, hops = 0): Leg[] =>
    [...caller.branches].flatMap((id): Leg[] => {
      const branch = legs.get(id)
      if (!branch || branch.partnerId !== undefined) return []
      if (!branch.isInternal) return [branch]
      const half = hops < MAX_LOCAL_CHAIN ? legs.otherHalf(branch) : undefined
      return half ? phonesDialledBy(half, hops + 1) : []
    })

  const end = (leg: Leg, atMs: number, result: HangupResult, vars: Record<string, unknown>): void => {
    advance(leg, atMs, true)
    // Of a leg that was found ended it is not known whether it was answered.
    if (isResync) reporter.forget(leg)
    else reporter.onEnd(leg, atMs)
    const { otherLegId, customChannelVars } = contextOf(leg)
    const context = { otherLegId, customChannelVars: Object.assign(vars, customChannelVars) }
    const legEnd = { atMs, isTimeKnown: !isResync }
    const event = buildDestroyEvent(leg, result, legEnd, context)
    if (isClockSetBack(timesOf(leg, legEnd))) legs.addProblem(clockProblem(leg.id))
    // It was not put through to the caller, as when it declines after the answer.
    const other = leg.pastBridges.size === 0 ? legs.get(legs.otherPhone(leg)) : undefined
    if (other?.answeredBy?.callId === leg.id) other.answeredBy = undefined
    leave(leg)
    earlyBridges.delete(leg.id)
    legs.closeLeg(leg, event)
  }

  /** Ends a leg whose end was missed. */
  const endMissed = (leg: Leg, atMs: number): void => {
    const wasResync = isResync
    isResync = true
    end(leg, atMs, { hangupCause: 'NORMAL_UNSPECIFIED', code: undefined }, {})
    isResync = wasResync
  }

  return {
    isUnsettled,
    settleWaiting() {
      step += 1
      for (const leg of legs.waiting) {
        if (leg.hasWaited) advance(leg, leg.createdMs, true)
        else leg.hasWaited = true
      }
      return legs.takeBatch()
    },
    flush() {
      reporter.flush()
      return legs.takeBatch()
    },
    map(event) {
      step += 1
      const { kind, atMs } = event
      if (kind === 'variable_set' || kind === 'dial_plan_step') {
        const { channel } = event
        if (!isUnsettled(channel.id)) return EMPTY_BATCH
        if (kind === 'variable_set' && legs.get(channel.id)) {
          legs.updateAccount(channel)
          return legs.takeBatch()
        }
      }
      if (kind === 'standalone') {
        if (hooks.has(event.report.hook)) legs.addStandalone(event.report, atMs)
        return legs.takeBatch()
      }
      if (kind === 'recorded') {
        reporter.onRecorded(event)
        return legs.takeBatch()
      }
      if (kind === 'reported') {
        reporter.add(event.reports, atMs)
        return legs.takeBatch()
      }
      const channel = kind === 'dialled' ? event.called : event.channel
      const caller =
        kind === 'dialled' && event.caller ? legs.track(event.caller, atMs, 'updated') : undefined
      const leg = legs.track(channel, atMs, kind)
      if (kind === 'dialled' && leg) onDial(caller, leg, event)
      if (caller) advance(caller, atMs, true)
      if (!leg) return legs.takeBatch()
      if (kind !== 'variable_set') advance(leg, atMs, arePartiesKnown(leg, kind))
      const [oldest] = legs.waiting
      if (oldest && legs.waiting.size > MAX_WAITING) advance(oldest, oldest.createdMs, true)
      switch (kind) {
        case 'entered':
          onEntered(leg, event.bridge, atMs)
          reportConference('conference_join', event.channel, event.bridge, atMs)
          break
        case 'left':
          leg.lastMoveStep = step
          if (leg.bridgeId === event.bridge.id) leave(leg)
          reportConference('conference_leave', event.channel, event.bridge, atMs)
          break
        case 'held':
        case 'unheld':
          setHeld(leg, kind === 'held', atMs)
          break
        case 'hangup_requested':
          onHangupRequested(leg, event.cause, event.techCause)
          break
        case 'noted':
          reporter.note(leg, event.notes)
          break
        case 'dial_plan_step':
          reporter.onStep(leg)
          break
        case 'not_dialled':
          leg.hasNotDialled = leg.otherLegId === undefined
          break
        case 'message_left':
          reporter.onMessageLeft(leg, event.mailbox, atMs)
          break
        case 'hung_up': {
          const endedBy = leg.isInternal ? undefined : endedByOf(leg)
          const vars = endedBy === undefined ? {} : { ended_by: endedBy }
          end(leg, atMs, mapHangup(leg, event.cause, event.techCause), vars)
        }
      }
      return legs.takeBatch()
    },
    snapshot() {
      isListing = true
      queuedLegs.length = 0
      const openIds = legs.ids()
      for (const id of openIds) {
        const leg = legs.get(id)
        if (!leg) continue
        leg.mayHaveMissedRequest = true
        if (leg.notes.isInQueue) queuedLegs.push(leg)
        for (const recording of leg.notes.recordings) recording.mayHaveEnded = true
      }
      return { openIds, atStep: step }
    },
    lacksTimes(listed, nowMs) {
      const leg = legs.get(listed.id)
      if (leg?.createdAccuracy !== 'exact' || isLaterChannel(leg, listed, nowMs, false)) return true
      return listed.state === UP && leg.answeredMs === undefined
    },
    reconcile(snapshot, listed, nowMs) {
      step += 1
      isResync = true
      reconcile(
        {
          legs,
          advance: (leg, answeredMs) =>
            advance(leg, nowMs, leg.isDirectionKnown || leg.channel.state === UP, answeredMs),
          enter: (leg, bridge) => onEntered(leg, bridge, nowMs),
          leave,
          setHeld: (leg, isHeld) => setHeld(leg, isHeld, nowMs),
          end: (leg) => endMissed(leg, nowMs),
        },
        snapshot,
        listed,
        nowMs,
      )
      for (const { channel, notes } of queuedLegs.splice(0)) {
        // The list names the application: a caller who runs another one has left the queue unseen.
        if (channel.application !== undefined && channel.application !== 'Queue') notes.isInQueue = false
      }
      isResync = false
      isListing = false
      return legs.takeBatch()
    },
    openLegs: legs.size,
    savable: {
      save(callId) {
        const leg = legs.get(callId)
        return leg && saveLeg(leg, legs.eventContext(leg).customChannelVars)
      },
      restore(callId, saved) {
        const leg = restoreLeg(callId, saved)
        return leg !== undefined && legs.restore(leg)
      },
    },
  }
}

/**
 * Whether the hangup request of an unanswered caller only acknowledges a refusal of the switch, which may arrive before
 * the state that shows it. A caller that hangs up is sent 487.
 */
function isRefusedBySwitch({ direction, answeredMs, channel }: Leg, code: number | undefined): boolean {
  if (direction !== 'inbound' || answeredMs !== undefined) return false
  return channel.state === BUSY || (code !== undefined && code >= 300 && code !== 487)
}

/** Returns who ended a leg; `undefined`: not known. */
function endedByOf(leg: Leg): 'this_leg' | 'other_leg' | 'switch' | undefined {
  if (leg.hasRequestedHangup) return 'this_leg'
  if (leg.hasOtherRequestedHangup) return 'other_leg'
  return leg.mayHaveMissedRequest ? undefined : 'switch'
}

/** Whether a bridge that was found earlier still exists. */
function isStillBridged({ leg, other, bridge }: BridgedLeg): boolean {
  if (leg.isInternal) return leg.bridgeId === bridge.id
  return other ? leg.partnerId === other.id && other.partnerId === leg.id : leg.partnerId === bridge.id
}
