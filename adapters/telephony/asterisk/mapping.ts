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
 * - A leg passes through `channel_create` (once its parties are known), `channel_answer` (at its first state `Up`) and
 *   `channel_destroy`, each once, in that order. An end completes what is missing first.
 * - A bridge with a leg that has not answered is early media. It is kept by that leg and published at the answer, if it
 *   still exists.
 * - Resync: the session takes a `snapshot` when it requests the list of open channels and passes both to `reconcile`.
 *   Changes after the snapshot are newer than the list, so they win. Legs of the snapshot that the list lacks have ended;
 *   channels of the list that have no leg began unseen.
 */
import type { MappedBatch } from '../source/mapped-events.js'
import { type BridgedLeg, createBridgeGraph } from './bridge-graph.js'
import { type ChannelRegistry, createChannelRegistry, type MappingOptions } from './channel-registry.js'
import { buildBridgeEvent, buildDestroyEvent, buildEvent } from './event-builder.js'
import { type HangupResult, mapHangup } from './hangup-mapping.js'
import type { Leg } from './leg.js'
import { type Bridge, BUSY, type ListedChannel, RINGING, type SwitchEvent, UP } from './switch-event.js'

export type { MappingOptions } from './channel-registry.js'

/** The state of a mapping when the list of open channels is requested. */
export interface RegistrySnapshot {
  /** Ids of the open legs. */
  readonly openIds: ReadonlySet<string>
  /** The number of the last step. */
  readonly atStep: number
}

/** The mapping of one switch. */
export interface Mapping {
  /** Maps one event of the switch. */
  map(event: SwitchEvent): MappedBatch
  /** Take it when requesting the list: later changes are newer than the list. */
  snapshot(): RegistrySnapshot
  /**
   * Compares the open legs with the list of open channels: ends missing legs, opens new ones, updates bridges.
   *
   * @param nowMs the time of changes without a time in the list, Unix milliseconds
   */
  reconcile(snapshot: RegistrySnapshot, listed: readonly ListedChannel[], nowMs: number): MappedBatch
  /** Number of open legs. */
  openLegs(): number
}

/** Dial states of a phone that rings, with or without early media. */
const ALERTING: ReadonlySet<string> = new Set(['RINGING', 'PROGRESS'])

/** Creates a mapping without open legs. */
export function createAsteriskMapping(options: MappingOptions): Mapping {
  const legs: ChannelRegistry = createChannelRegistry(options, (leg) => {
    leave(leg)
    earlyBridges.delete(leg.id)
  })
  const { enter, leave } = createBridgeGraph(legs)
  /** Bridges in early media, by the id of a leg that has not answered. */
  const earlyBridges = new Map<string, BridgedLeg[]>()
  let step = 0

  /**
   * Adds `channel_create` and `channel_answer` where the state of the leg implies them.
   *
   * @param isDue whether the parties of a dialled or internal leg are known
   */
  const advance = (leg: Leg, atMs: number, isDue: boolean): void => {
    if (!leg.parties && (isDue || (leg.direction === 'inbound' && !leg.isInternal))) {
      legs.fixParties(leg)
      const created = { hook: 'channel_create', atMs: leg.createdMs }
      legs.addEvent(leg, buildEvent(leg, created, legs.eventContext(leg)))
    }
    const { state } = leg.channel
    if (state === RINGING) leg.ringingMs ??= atMs
    if (state === UP && leg.answeredMs === undefined && leg.parties) {
      leg.answeredMs = atMs
      legs.addEvent(leg, buildEvent(leg, { hook: 'channel_answer', atMs }, legs.eventContext(leg)))
      const early = earlyBridges.get(leg.id) ?? []
      earlyBridges.delete(leg.id)
      for (const bridged of early) if (isStillBridged(bridged)) onBridged(bridged, atMs)
    }
  }

  /** Adds `channel_bridge`, or keeps the bridge until both legs have answered. */
  const onBridged = (bridged: BridgedLeg, atMs: number): void => {
    const { leg, other, bridge } = bridged
    const unanswered = [leg, other].find((one) => one && one.answeredMs === undefined)
    if (unanswered) {
      // Keeps only the newest existing bridge of each leg: legs may enter and leave many times before the answer.
      const early = (earlyBridges.get(unanswered.id) ?? []).filter(
        (one) => one.leg !== leg && isStillBridged(one),
      )
      early.push(bridged)
      earlyBridges.set(unanswered.id, early)
      return
    }
    if (other && !other.isInternal && !leg.isInternal) leg.otherLegId = other.id
    leg.hasOtherRequestedHangup = false
    legs.addEvent(leg, buildBridgeEvent(leg, other, bridge, atMs, legs.eventContext(leg)))
  }

  const onDial = (caller: Leg | undefined, called: Leg, status: string, atMs: number): void => {
    if (status === '') {
      if (caller) {
        called.otherLegId ??= caller.id
        caller.otherLegId = called.id
        caller.hasOtherRequestedHangup = false
      }
    } else if (ALERTING.has(status)) {
      called.ringingMs ??= atMs
      if (caller && caller.answeredMs === undefined) caller.ringingMs ??= atMs
    } else if (status !== 'PROCEEDING') {
      called.dialStatus = status
      if (caller) {
        caller.dialStatus = status
        if (status === 'ANSWER') caller.otherLegId = called.id
      }
    }
  }

  /** @param isReportable whether bridges of a leg are published */
  const onEntered = (leg: Leg, bridge: Bridge, atMs: number, isReportable: (leg: Leg) => boolean): void => {
    leg.lastMoveStep = step
    if (leg.isHeld && leg.bridgeId !== bridge.id) setHeld(leg, false, atMs)
    for (const bridged of enter(leg, bridge)) {
      const { leg: one, other } = bridged
      if (!isReportable(one) && !(other && isReportable(other))) continue
      advance(one, atMs, true)
      if (other) advance(other, atMs, true)
      onBridged(bridged, atMs)
    }
  }

  /** Asterisk does not pair holds with resumes, so repetitions are ignored. */
  const setHeld = (leg: Leg, isHeld: boolean, atMs: number): void => {
    if (leg.isHeld === isHeld) return
    leg.isHeld = isHeld
    const held = { hook: isHeld ? 'channel_hold' : 'channel_unhold', atMs, key: Math.round(atMs * 1000) }
    legs.addEvent(leg, buildEvent(leg, held, legs.eventContext(leg)))
  }

  const onHangupRequested = (leg: Leg, code: number | undefined): void => {
    // A phone that the switch refused requests a hangup, too, when it acknowledges the refusal.
    if (leg.direction === 'inbound' && leg.channel.state === BUSY) return
    leg.hasRequestedHangup = true
    leg.refusalCode ??= code
    const other = legs.get(leg.partnerId) ?? legs.get(legs.phoneBehind(leg.otherLegId))
    // A branch that refuses does not end a caller whose current other leg is another branch.
    if (other && (other.partnerId ?? legs.phoneBehind(other.otherLegId)) === leg.id) {
      other.hasOtherRequestedHangup = true
    }
  }

  const end = (leg: Leg, atMs: number, result: HangupResult, vars: Record<string, unknown>): void => {
    advance(leg, atMs, true)
    const { otherLegId, customChannelVars } = legs.eventContext(leg)
    const context = { otherLegId, customChannelVars: Object.assign(vars, customChannelVars) }
    const event = buildDestroyEvent(leg, result, atMs, context)
    leave(leg)
    earlyBridges.delete(leg.id)
    legs.closeLeg(leg, event)
  }

  return {
    map(event) {
      step += 1
      const { kind, atMs } = event
      const channel = kind === 'dialled' ? event.called : event.channel
      const caller =
        kind === 'dialled' && event.caller ? legs.track(event.caller, atMs, 'updated') : undefined
      const leg = legs.track(channel, atMs, kind)
      if (kind === 'dialled' && leg) onDial(caller, leg, event.status, atMs)
      if (caller) advance(caller, atMs, true)
      if (!leg) return legs.takeBatch()
      advance(leg, atMs, kind !== 'created' && (kind !== 'updated' || channel.state === UP))
      switch (kind) {
        case 'entered':
          onEntered(leg, event.bridge, atMs, () => true)
          break
        case 'left':
          leg.lastMoveStep = step
          if (leg.bridgeId === event.bridge.id) leave(leg)
          break
        case 'held':
        case 'unheld':
          setHeld(leg, kind === 'held', atMs)
          break
        case 'hangup_requested':
          onHangupRequested(leg, event.techCause)
          break
        case 'hung_up': {
          const endedBy = leg.hasRequestedHangup
            ? 'this_leg'
            : leg.hasOtherRequestedHangup
              ? 'other_leg'
              : 'switch'
          const vars = leg.isInternal ? {} : { ended_by: endedBy }
          end(leg, atMs, mapHangup(leg, event.cause, event.techCause), vars)
        }
      }
      return legs.takeBatch()
    },
    snapshot: () => ({ openIds: legs.ids(), atStep: step }),
    reconcile(snapshot, listed, nowMs) {
      step += 1
      const wasOpen = (leg: Leg) => snapshot.openIds.has(leg.id)
      const listedIds = new Set<string>()
      const tracked = listed.map(({ channel }) => {
        listedIds.add(channel.id)
        return legs.track(channel, nowMs, 'updated')
      })
      for (const leg of tracked) if (leg) advance(leg, nowMs, true)
      listed.forEach(({ bridge }, index) => {
        const leg = tracked[index]
        // A move after the snapshot is newer than the list.
        if (!leg || leg.lastMoveStep > snapshot.atStep) return
        if (bridge) onEntered(leg, bridge, nowMs, wasOpen)
        else leave(leg)
      })
      for (const id of snapshot.openIds) {
        const leg = listedIds.has(id) ? undefined : legs.get(id)
        if (leg) {
          const unknown = { hangupCause: 'NORMAL_UNSPECIFIED', code: undefined }
          end(leg, nowMs, unknown, { found_by: 'resync' })
        }
      }
      return legs.takeBatch()
    },
    openLegs: legs.size,
  }
}

/** Whether a bridge that was found earlier still exists. */
function isStillBridged({ leg, other, bridge }: BridgedLeg): boolean {
  if (leg.isInternal) return leg.bridgeId === bridge.id
  return other ? leg.partnerId === other.id && other.partnerId === leg.id : leg.partnerId === bridge.id
}
