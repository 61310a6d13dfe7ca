/**
 * Maps events of the switch to channel events. `leg.ts` and `event-builder.ts` decide what is published; this file keeps
 * the registry of open legs. No I/O; never throws for a bad event.
 *
 * Theory of operation:
 * - A leg is opened by any event that describes it completely, not only by CHANNEL_CREATE. So a leg that began while the
 *   source was disconnected is published, with its own times, as soon as the switch sends an event of it or `resync`
 *   reads its channel data. An answer that was missed is published the same way.
 * - A leg is identified by the switch's run (`Core-UUID`), its id and its creation time, because ids are reused. A new
 *   run ends all legs of earlier runs; a CHANNEL_CREATE with a known id and another creation time ends the older leg.
 *   Ended legs are remembered, so that late events don't open them again.
 * - Idempotency keys are made of these same values: a leg that is seen twice, by an event and by `resync` or before and
 *   after a restart, is published once.
 * - The account is resolved at each event until `accountOf` returns it. Until then the event pipeline buffers the events.
 * - One CHANNEL_BRIDGE is published for both legs: the other leg gets no event from the switch.
 */
import {
  EMPTY_BATCH,
  type LegUpdate,
  type MappedBatch,
  type PendingEvent,
  type Problem,
} from '../source/mapped-events.js'
import { type FreeswitchAccountOf, factsOf } from './account-resolver.js'
import { createChannelRegistry } from './channel-registry.js'
import { readCustomVariables } from './custom-variables.js'
import type { EslEvent } from './event.js'
import {
  buildAnswerEvent,
  buildBridgeEvent,
  buildCreateEvent,
  buildDestroyEvent,
  buildHoldEvent,
  buildMissedDestroyEvent,
} from './event-builder.js'
import {
  addMissingAddresses,
  type Leg,
  openLeg,
  readAnsweredUs,
  readCreatedUs,
  readEventTimeUs,
  timesOf,
} from './leg.js'
import { type EndEvent, type EventRole, eventRoles } from './subscriptions.js'

/** How events are mapped. */
export interface MappingOptions {
  readonly accountOf: FreeswitchAccountOf
  /** Names of channel variables for `customChannelVars`, beside KAZOO's; without `variable_`. */
  readonly customVariables: readonly string[]
  /** Names of events that are handled for `accountOf` only. */
  readonly extraEvents: readonly string[]
  /** Maximum number of open legs; above it, the oldest is dropped and a `problem` is reported. */
  readonly maxOpenLegs: number
  readonly endEvent: EndEvent
}

/** The mapping of one switch. */
export interface FreeswitchMapping {
  /** Whether events of this name matter to the mapping. */
  isHandled(name: string): boolean
  /** Maps one event. */
  map(event: EslEvent): MappedBatch
  /** Ends the open legs of all runs of the switch but this one. */
  endEarlierRuns(coreUuid: string, nowMs: number): MappedBatch
  /** Ends a leg whose end event was missed. */
  endMissingLeg(uuid: string, nowMs: number): MappedBatch
  /** The open leg with this id, for comparison by identity: a later leg with the same id is another object. */
  getLeg(uuid: string): object | undefined
  /** Current ids of the open legs. */
  openUuids(): string[]
  /** Number of open legs. */
  openLegs(): number
}

export function createFreeswitchMapping(options: MappingOptions): FreeswitchMapping {
  const { accountOf, maxOpenLegs, endEvent, extraEvents } = options
  const roles = eventRoles(endEvent, extraEvents)
  const registry = createChannelRegistry(maxOpenLegs)
  let currentRun = ''

  const endMissing = (uuid: string, leg: Leg, nowUs: number): LegUpdate => {
    registry.end(uuid, leg)
    return updateOf(leg, [buildMissedDestroyEvent(leg, nowUs)], true)
  }

  const startRun = (coreUuid: string, nowUs: number, updates: LegUpdate[]) => {
    currentRun = coreUuid
    for (const [uuid, leg] of registry.entries())
      if (leg.coreUuid !== currentRun) updates.push(endMissing(uuid, leg, nowUs))
  }

  const open = (event: EslEvent, uuid: string, problems: Problem[]): Leg => {
    const otherUuid = event.header('Other-Leg-Unique-ID')
    const otherCallId = otherUuid && (registry.get(otherUuid)?.callId ?? otherUuid)
    const customVariables = readCustomVariables(event, options.customVariables)
    const leg = openLeg(event, uuid, currentRun, customVariables, otherCallId)
    const evicted = registry.add(uuid, leg)
    if (evicted) {
      const message = `more than ${maxOpenLegs} open legs: the oldest is forgotten`
      problems.push({ kind: 'overflow', message, callId: evicted.callId })
    }
    return leg
  }

  /** Returns whether this event made the leg's account known. */
  const resolveAccount = (leg: Leg, uuid: string, event: EslEvent, problems: Problem[]): boolean => {
    if (leg.accountId !== undefined) return false
    try {
      const accountId: unknown = accountOf(factsOf(uuid, event))
      if (typeof accountId === 'string' && accountId !== '') leg.accountId = accountId
      else if (accountId !== undefined && accountId !== '' && !leg.hasReportedBadAccountId) {
        leg.hasReportedBadAccountId = true
        const message = `accountOf returned no string (${typeof accountId}) at ${event.name}`
        problems.push({ kind: 'callback_failed', message, callId: leg.callId })
      }
    } catch (thrown) {
      const name = thrown instanceof Error ? thrown.name : typeof thrown
      const message = `accountOf threw (${name}) at ${event.name}`
      problems.push({ kind: 'callback_failed', message, callId: leg.callId })
    }
    return leg.accountId !== undefined
  }

  /** Applies what every published event shows of its leg: variables, addresses, and an answer that was missed. */
  const refresh = (leg: Leg, event: EslEvent, { isLegEnd }: EventRole, events: PendingEvent[]) => {
    leg.customVariables = readCustomVariables(event, options.customVariables)
    addMissingAddresses(leg, event)
    if (leg.answeredUs === 0) {
      leg.answeredUs = readAnsweredUs(event)
      if (leg.answeredUs > 0) events.push(buildAnswerEvent(leg))
    }
    if (leg.pendingUnhold && !isLegEnd) events.push(leg.pendingUnhold)
    leg.pendingUnhold = undefined
  }

  /** Publishes a bridge for both legs; returns the update of the other leg. */
  const bridge = (uuid: string, leg: Leg, event: EslEvent, events: PendingEvent[]): LegUpdate | undefined => {
    const { header } = event
    const a = header('Bridge-A-Unique-ID') ?? uuid
    const otherUuid = (a === uuid ? header('Bridge-B-Unique-ID') : a) ?? header('Other-Leg-Unique-ID')
    const other = otherUuid === undefined ? undefined : registry.get(otherUuid)
    leg.otherLegCallId = other?.callId ?? otherUuid
    const otherDestination = other?.parties.destination ?? header('Other-Leg-Destination-Number')
    events.push(buildBridgeEvent(leg, event, otherDestination))
    if (!other || other === leg) return undefined
    other.otherLegCallId = leg.callId
    return updateOf(other, [buildBridgeEvent(other, event, leg.parties.destination)], false)
  }

  /** The leg of an event, opened if necessary; `undefined`: the event is ignored. */
  const findOrOpenLeg = (
    event: EslEvent,
    uuid: string,
    { canOpenLeg }: EventRole,
    updates: LegUpdate[],
    problems: Problem[],
    events: PendingEvent[],
  ): Leg | undefined => {
    const known = registry.get(uuid)
    if (known && event.name !== 'CHANNEL_CREATE') return known
    const createdUs = readCreatedUs(event)
    if (known?.createdUs === createdUs) return known
    // The switch reuses the id of a leg whose end was missed.
    if (known) updates.push(endMissing(uuid, known, readEventTimeUs(event)))
    if (!canOpenLeg || registry.hasEnded(uuid, currentRun, createdUs)) return undefined
    if (createdUs === 0) {
      problems.push(malformed(`${event.name} without a time`))
      return undefined
    }
    const leg = open(event, uuid, problems)
    events.push(buildCreateEvent(leg))
    return leg
  }

  return {
    isHandled: (name) => roles.has(name),
    map(event) {
      const { name } = event
      const role = roles.get(name)
      if (!role) return EMPTY_BATCH
      const uuid = event.header('Unique-ID')
      if (uuid === undefined) return { updates: [], problems: [malformed(`${name} without Unique-ID`)] }
      if (name === 'CHANNEL_UUID') {
        registry.rename(event.header('Old-Unique-ID') ?? '', uuid)
        return EMPTY_BATCH
      }
      const updates: LegUpdate[] = []
      const problems: Problem[] = []
      const events: PendingEvent[] = []
      const coreUuid = event.header('Core-UUID') ?? currentRun
      if (coreUuid !== currentRun) startRun(coreUuid, readEventTimeUs(event), updates)

      const leg = findOrOpenLeg(event, uuid, role, updates, problems, events)
      if (!leg) return updates.length + problems.length > 0 ? { updates, problems } : EMPTY_BATCH
      const isAccountNew = resolveAccount(leg, uuid, event, problems)
      if (role.isPublished) refresh(leg, event, role, events)

      let otherUpdate: LegUpdate | undefined
      if (name === 'CHANNEL_BRIDGE') otherUpdate = bridge(uuid, leg, event, events)
      else if (name === 'CHANNEL_HOLD') events.push(buildHoldEvent(leg, 'channel_hold', event))
      else if (name === 'CHANNEL_UNHOLD') resume(leg, event, events)
      else if (role.isLegEnd) {
        events.push(buildDestroyEvent(leg, event, timesOf(leg, event)))
        registry.end(uuid, leg)
      }
      if (events.length > 0 || isAccountNew) updates.push(updateOf(leg, events, role.isLegEnd))
      if (otherUpdate) updates.push(otherUpdate)
      return updates.length + problems.length > 0 ? { updates, problems } : EMPTY_BATCH
    },
    endEarlierRuns(coreUuid, nowMs) {
      const updates: LegUpdate[] = []
      if (coreUuid !== currentRun) startRun(coreUuid, nowMs * 1000, updates)
      return { updates, problems: [] }
    },
    endMissingLeg(uuid, nowMs) {
      const leg = registry.get(uuid)
      return leg ? { updates: [endMissing(uuid, leg, nowMs * 1000)], problems: [] } : EMPTY_BATCH
    },
    getLeg: registry.get,
    openUuids: registry.uuids,
    openLegs: registry.size,
  }
}

/**
 * Publishes an unhold, unless the switch generated it: when a held leg is hung up, the switch resumes it first. Such an
 * event already carries the final SIP status (then it is ignored), or the phone still sends `sendonly` or `inactive`:
 * then it is published only with a later event of the leg that is not its end.
 */
function resume(leg: Leg, event: EslEvent, events: PendingEvent[]): void {
  if (event.header('variable_sip_term_status') !== undefined) return
  const unhold = buildHoldEvent(leg, 'channel_unhold', event)
  const mediaFlow = event.header('variable_remote_audio_media_flow')
  if (mediaFlow === 'sendonly' || mediaFlow === 'inactive') leg.pendingUnhold = unhold
  else events.push(unhold)
}

function updateOf(leg: Leg, events: readonly PendingEvent[], isEnded: boolean): LegUpdate {
  return { callId: leg.callId, accountId: leg.accountId, events, isEnded }
}

function malformed(message: string): Problem {
  return { kind: 'malformed', message }
}
