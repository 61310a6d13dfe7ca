/**
 * Maps events of the switch to channel events. `leg.ts` and `event-builder.ts` decide what is published; this file keeps
 * the registry of open legs. No I/O; never throws for a bad event.
 *
 * Theory of operation:
 * - A leg is opened by any event that describes it completely, not only by CHANNEL_CREATE. So a leg that began while the
 *   source was disconnected is published, with its own times, as soon as the switch sends an event of it or `resync`
 *   reads its channel data. An answer that was missed is published the same way.
 * - A leg is identified by the switch's run (`Core-UUID`), its id and its creation time, because ids are reused. A new
 *   run ends all legs of earlier runs; an event with a known id and a later creation time ends the older leg. Ended legs
 *   are remembered, so that late events don't open them again.
 * - Idempotency keys are made of these same values: a leg that is seen twice, by an event and by `resync` or before and
 *   after a restart, is published once.
 * - The account is resolved at each event until it is known (`leg-accounts.ts`). Until then the event pipeline buffers the
 *   events.
 * - One CHANNEL_BRIDGE is published for both legs: the other leg gets no event from the switch. Phones that are bridged
 *   through loopback pairs are published as bridged with each other (`bridge-links.ts`).
 */
import {
  EMPTY_BATCH,
  type LegUpdate,
  type MappedBatch,
  type PendingEvent,
  type Problem,
} from '../source/mapped-events.js'
import type { SavableLegs } from '../source/open-legs.js'
import { type CallDetails, definedDetails } from '../source/optional-hooks.js'
import { clockProblem, isClockSetBack } from '../source/seconds.js'
import { createAccountEvents } from './account-events.js'
import type { FreeswitchAccountOf } from './account-resolver.js'
import { noteAnswerer, partyOf } from './answerer.js'
import { type Bridges, createBridges, type FoundBridge, type LegEvent } from './bridges.js'
import { buildMissedCall, buildReportEvent, isReport, readReports, readTransfer } from './call-report.js'
import { createChannelRegistry } from './channel-registry.js'
import { readCustomVariables } from './custom-variables.js'
import { readEndpoint } from './endpoint.js'
import type { EslEvent } from './event.js'
import {
  buildAnswerEvent,
  buildCreateEvent,
  buildDestroyEvent,
  buildDetailEvent,
  buildMissedDestroyEvent,
  markFoundByResync,
  timesOf,
} from './event-builder.js'
import { readHangup } from './hangup.js'
import { endHold, readHold, startHold, takeFoundHolds, takePendingUnhold } from './holds.js'
import {
  type Leg,
  openLeg,
  readAnsweredUs,
  readCreatedUs,
  readEventTimeUs,
  readOriginatorUuid,
  updateAddresses,
} from './leg.js'
import { createLegAccounts } from './leg-accounts.js'
import { restoreLeg, saveLeg } from './saved-leg.js'
import {
  CHANNEL_DATA,
  type EndEvent,
  type EventRole,
  eventRoles,
  OPENS_AND_REFRESHES,
} from './subscriptions.js'

/** How events are mapped. @internal */
export interface MappingOptions {
  readonly accountOf: FreeswitchAccountOf
  /** Names of channel variables for `customChannelVars`, beside KAZOO's; without `variable_`. */
  readonly customVariables: readonly string[]
  /** Names of events that are handled for `accountOf` only. */
  readonly extraEvents: readonly string[]
  /** The hooks to publish beside those of a leg. Default: none. */
  readonly optionalHooks?: readonly string[]
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
  /** Maps the channel data of a leg that a resync has found: its create and its answer, if they were missed. */
  mapFound(channelData: EslEvent): MappedBatch
  /** Reads the bridge of an open leg from its channel data. */
  readBridge(channelData: EslEvent): FoundBridge | undefined
  /** Maps the bridges, and then the holds, that were found in the channel data of all legs. */
  mapTalks(found: readonly FoundBridge[]): MappedBatch
  /** Resolves the account of an open leg from its channel data. */
  mapAccount(channelData: EslEvent): MappedBatch
  /** Ends the open legs of all runs of the switch but this one. */
  endEarlierRuns(coreUuid: string, nowMs: number): MappedBatch
  /** Ends a leg whose end event was missed. */
  endMissingLeg(uuid: string, nowMs: number): MappedBatch
  /** The open leg with this id, for comparison by identity: a later leg with the same id is another object. */
  getLeg(uuid: string): object | undefined
  /** The current id of the open leg that is published under this one. */
  uuidOf(callId: string): string | undefined
  /** Current ids of the open legs. */
  openUuids(): string[]
  /** Number of open legs. */
  openLegs(): number
  /** The open legs, to keep them over a restart. */
  readonly savable: SavableLegs
}

/** Events that describe the leg that has the id now. */
const DESCRIBES_CURRENT_LEG: ReadonlySet<string> = new Set(['CHANNEL_CREATE', CHANNEL_DATA])

const NO_EVENTS: readonly LegEvent[] = []

/** The result of one event of the switch. `events` are the events of the leg that it names. */
interface Yield {
  readonly updates: LegUpdate[]
  readonly problems: Problem[]
  readonly events: PendingEvent[]
}

export function createFreeswitchMapping(options: MappingOptions): FreeswitchMapping {
  const { accountOf, maxOpenLegs, endEvent, extraEvents } = options
  const roles = eventRoles(endEvent, extraEvents)
  const registry = createChannelRegistry(maxOpenLegs)
  const bridges: Bridges = createBridges(registry)
  const accounts = createLegAccounts(accountOf, registry)
  const accountEvents = createAccountEvents()
  const hooks: ReadonlySet<string> = new Set(options.optionalHooks)
  let currentRun = ''

  const endMissing = (uuid: string, leg: Leg, nowUs: number): LegUpdate => {
    bridges.leave(leg)
    registry.end(uuid, leg)
    return updateOf(leg, [buildMissedDestroyEvent(leg, nowUs)], true)
  }

  const startRun = (coreUuid: string, nowUs: number, { updates, problems }: Omit<Yield, 'events'>) => {
    const before = updates.length
    const isRestart = currentRun !== ''
    currentRun = coreUuid
    for (const [uuid, leg] of registry.entries())
      if (leg.coreUuid !== currentRun) updates.push(endMissing(uuid, leg, nowUs))
    if (isRestart)
      problems.push({
        kind: 'restarted',
        message: `${updates.length - before} open legs of the run before have ended`,
      })
  }

  const legOf = (id: string | undefined): Leg | undefined =>
    id === undefined ? undefined : (registry.get(id) ?? registry.find(id)?.[1])

  /** Notes at the caller that a phone is dialled for it; a gateway leads to none, and a queue dials agents by itself. */
  const noteDialled = (leg: Leg, event: EslEvent) => {
    if (leg.direction !== 'outbound' || leg.isInternal) return
    const caller = legOf(leg.otherLegCallId)
    if (!caller || caller.notes.queuedUs > 0) return
    if (event.header('variable_sip_gateway_name') === undefined) caller.notes.hasDialledPhone = true
  }

  /** Maps what belongs to no leg. An agent who waits on the line has the account of that leg. */
  const mapAccountEvents = (all: readonly PendingEvent[], event: EslEvent): MappedBatch => {
    const problems: Problem[] = []
    const accountOfLeg = legOf(event.header('Unique-ID'))?.accountId
    const updates = all
      .filter(({ hook }) => hooks.has(hook))
      .map((built): LegUpdate => {
        const { callId } = built
        const party = { callId, hasReportedBadAccountId: false }
        const accountId = accountOfLeg ?? accounts.read(party, callId, event, problems)
        return { callId, accountId, events: [built], isEnded: true }
      })
    return { updates, problems }
  }

  /** Notes since when a caller waits; adds what the legs show of the waiting and of the agent's phone. */
  const noteQueued = (leg: Leg, hook: string, details: CallDetails, event: EslEvent): CallDetails => {
    const { notes } = leg
    const atUs = readEventTimeUs(event)
    if (hook === 'queue_join') notes.queuedUs = atUs
    if (hook === 'queue_leave' && notes.queuedUs > 0) {
      notes.waitedSeconds = Math.max(0, Math.floor((atUs - notes.queuedUs) / 1_000_000))
      notes.queuedUs = 0
    }
    const hasWaited = /^queue_(?:leave|agent_answer|agent_complete)$/.test(hook)
    const agent = legOf(details.agentCallId)
    return definedDetails({
      waitingSeconds: hasWaited ? notes.waitedSeconds : undefined,
      agentNumber: agent && partyOf(agent).number,
      ...details,
    })
  }

  /** Maps what the switch reports of a call beyond its channels. */
  const mapReports = (event: EslEvent): MappedBatch => {
    const updates: LegUpdate[] = []
    const problems: Problem[] = []
    for (const report of readReports(event, (uuid) => legOf(uuid)?.notes.parkedSlot)) {
      const { hook, uuids, details } = report
      const leg = uuids.map(legOf).find((found) => found !== undefined)
      if (leg && hook === 'parking')
        leg.notes.parkedSlot = details.eventName === 'PARK_PARKED' ? details.parkingSlot : undefined
      if (leg && hook === 'parking') leg.notes.timedOutSlot = report.isTimeOut && details.parkingSlot
      if (report.isTimeOut) continue
      if (leg && hook === 'voicemail_new') leg.notes.hasLeftMessage = true
      const all = leg && hook.startsWith('queue_') ? noteQueued(leg, hook, details, event) : details
      if (!hooks.has(hook)) continue
      if (leg) updates.push(updateOf(leg, [buildReportEvent(leg, hook, all, event)], false))
      else problems.push({ kind: 'unknown_leg', message: `${hook} of a leg that is not open` })
    }
    return updates.length + problems.length > 0 ? { updates, problems } : EMPTY_BATCH
  }

  /** Adds the transfer that a leg has requested; returns the event of the leg that is transferred. */
  const mapTransfer = (leg: Leg, event: EslEvent, events: PendingEvent[]): readonly LegEvent[] => {
    const transfer = readTransfer(leg, event)
    if (!transfer || transfer.key === leg.notes.transferKey) return []
    const { key, type, targetId, transfereeId } = transfer
    leg.notes.transferKey = key
    const target = legOf(targetId)
    const details = definedDetails({
      transferType: type,
      transferTo: transfer.to ?? target?.parties.calleeIdNumber,
      targetCallId: target?.callId ?? targetId,
    })
    const atUs = readEventTimeUs(event)
    if (hooks.has('channel_transferor'))
      events.push(buildDetailEvent(leg, 'channel_transferor', key, atUs, details))
    const transferee = hooks.has('channel_transferee') ? legOf(transfereeId) : undefined
    if (!transferee) return []
    const built = buildDetailEvent(transferee, 'channel_transferee', `${leg.callId}/${key}`, atUs, details)
    return [{ leg: transferee, event: built }]
  }

  /** The end of a parked call whose time was over: somebody answers it, or it ends. */
  const leaveSlot = (leg: Leg, eventName: 'PARK_RETRIEVED' | 'PARK_ABANDONED', atUs: number): LegEvent[] => {
    const { timedOutSlot: parkingSlot } = leg.notes
    leg.notes.timedOutSlot = undefined
    if (parkingSlot === undefined || !hooks.has('parking')) return []
    const event = buildDetailEvent(leg, 'parking', atUs, atUs, { eventName, parkingSlot })
    return [{ leg, event }]
  }

  /** Notes who has answered on a leg, and on the one that dialled it unless that is in another talk. */
  const noteAnswered = (leg: Leg) => {
    const other = legOf(leg.otherLegCallId)
    const talksWith = other?.links.publishedCallId
    noteAnswerer(leg, talksWith === undefined || talksWith === leg.callId ? other : undefined)
  }

  const noteBridged = (bridged: readonly LegEvent[]): readonly LegEvent[] => {
    for (const { leg } of bridged) leg.notes.wasBridged = true
    return bridged.flatMap((link) => [
      link,
      ...leaveSlot(link.leg, 'PARK_RETRIEVED', link.event.timestampMs * 1000),
    ])
  }

  const open = (event: EslEvent, uuid: string, problems: Problem[]): Leg => {
    const customVariables = readCustomVariables(event, options.customVariables)
    const origin = legOf(readOriginatorUuid(event)) ?? legOf(event.header('variable_other_loopback_leg_uuid'))
    const leg = openLeg(event, uuid, currentRun, customVariables, bridges.originatorOf(event), origin)
    const evicted = registry.add(uuid, leg)
    noteDialled(leg, event)
    if (evicted) {
      bridges.leave(evicted)
      const message = `more than ${maxOpenLegs} open legs: the oldest is forgotten`
      problems.push({ kind: 'overflow', message, callId: evicted.callId })
    }
    return leg
  }

  /** Applies what an event that refreshes its leg shows: variables, addresses, and an answer that was missed. */
  const refresh = (
    leg: Leg,
    event: EslEvent,
    { isLegEnd }: EventRole,
    events: PendingEvent[],
    isFound: boolean,
  ) => {
    leg.customVariables = readCustomVariables(event, options.customVariables)
    updateAddresses(leg, event)
    if (!leg.isInternal) leg.endpoint ??= readEndpoint(event)
    if (leg.answeredUs === 0) {
      leg.answeredUs = readAnsweredUs(event)
      if (leg.answeredUs > 0) {
        noteAnswered(leg)
        events.push(markIf(isFound, buildAnswerEvent(leg)))
      }
    }
    const unhold = takePendingUnhold(leg, isLegEnd)
    if (unhold) events.push(unhold)
  }

  /** The leg of an event, opened if necessary; `undefined`: the event is ignored. */
  const findOrOpenLeg = (
    event: EslEvent,
    uuid: string,
    { canOpenLeg }: EventRole,
    yielded: Yield,
    isFound: boolean,
  ) => {
    const known = registry.get(uuid)
    const createdUs = readCreatedUs(event)
    if (known && (createdUs === known.createdUs || createdUs === 0)) return known
    // A late event of an earlier leg with this id; the clock of the switch may be set back between two legs.
    if (known && createdUs < known.createdUs && !DESCRIBES_CURRENT_LEG.has(event.name)) return undefined
    // The switch reuses the id of a leg whose end was missed.
    if (known) yielded.updates.push(endMissing(uuid, known, readEventTimeUs(event)))
    if (!canOpenLeg || registry.hasEnded(uuid, currentRun, createdUs)) return undefined
    if (createdUs === 0) {
      yielded.problems.push(malformed(`${event.name} without a time`))
      return undefined
    }
    const leg = open(event, uuid, yielded.problems)
    yielded.events.push(markIf(isFound, buildCreateEvent(leg)))
    return leg
  }

  const end = (uuid: string, leg: Leg, event: EslEvent, { events, problems }: Yield) => {
    const hangup = readHangup(leg, event)
    const missed = hooks.has('missed_call') ? buildMissedCall(leg, event) : undefined
    for (const left of leaveSlot(leg, 'PARK_ABANDONED', hangup.atUs)) events.push(left.event)
    if (missed) events.push(missed)
    events.push(buildDestroyEvent(leg, hangup))
    if (isClockSetBack(timesOf(leg, hangup.atUs))) problems.push(clockProblem(leg.callId))
    const other = leg.otherLegCallId === undefined ? undefined : registry.find(leg.otherLegCallId)?.[1]
    const otherPartner = other?.links.publishedCallId
    if (hangup.endedBy) {
      const otherLegEnd = { atUs: hangup.atUs, isByPhone: hangup.endedBy === 'this_leg' }
      if (other && (otherPartner === undefined || otherPartner === leg.callId))
        other.otherLegEnd = otherLegEnd
      for (const dialled of registry.dialledBy(leg.callId))
        if (dialled.links.publishedCallId === undefined) dialled.otherLegEnd = otherLegEnd
    }
    // It was not put through to the caller, as when it declines after the answer.
    if (!leg.notes.wasBridged && other?.answeredBy?.callId === leg.callId) other.answeredBy = undefined
    bridges.leave(leg)
    registry.end(uuid, leg)
  }

  /** Adds what is specific to an event; returns the events of other legs. */
  const apply = (uuid: string, leg: Leg, event: EslEvent, yielded: Yield): readonly LegEvent[] => {
    const { events } = yielded
    switch (event.name) {
      case 'CHANNEL_BRIDGE': {
        const bridged = noteBridged(bridges.connect(uuid, leg, event))
        for (const link of bridged) if (link.leg === leg) events.push(link.event)
        return bridged.filter((link) => link.leg !== leg)
      }
      case 'CHANNEL_HOLD':
        events.push(...takeFoundHolds(leg))
        addIfDefined(events, startHold(leg, event))
        break
      case 'CHANNEL_UNHOLD':
        events.push(...takeFoundHolds(leg))
        addIfDefined(events, endHold(leg, event))
        break
      case endEvent:
        events.push(...takeFoundHolds(leg))
        end(uuid, leg, event, yielded)
        break
    }
    return NO_EVENTS
  }

  /** @param isFound whether a resync has found the event */
  const mapLegEvent = (event: EslEvent, role: EventRole, isFound: boolean): MappedBatch => {
    const { name } = event
    const uuid = event.header('Unique-ID')
    if (uuid === undefined) return { updates: [], problems: [malformed(`${name} without Unique-ID`)] }
    if (name === 'CHANNEL_UUID') {
      registry.rename(event.header('Old-Unique-ID') ?? '', uuid)
      return EMPTY_BATCH
    }
    if (name === 'CHANNEL_UNBRIDGE') bridges.disconnect(uuid, event)
    const yielded: Yield = { updates: [], problems: [], events: [] }
    const { updates, problems, events } = yielded
    const coreUuid = event.header('Core-UUID')
    if (coreUuid !== undefined && coreUuid !== currentRun) startRun(coreUuid, readEventTimeUs(event), yielded)

    const leg = findOrOpenLeg(event, uuid, role, yielded, isFound)
    if (leg) {
      const withAccount = accounts.resolve(leg, uuid, event, problems)
      if (role.refreshesLeg) refresh(leg, event, role, events, isFound)
      if (isFound) leg.hold.found = readHold(event)
      const canTransfer = name === 'CHANNEL_UNBRIDGE' || role.isLegEnd
      const transferred = canTransfer && hooks.size > 0 ? mapTransfer(leg, event, events) : NO_EVENTS
      const others = apply(uuid, leg, event, yielded)
      if (events.length > 0 || withAccount.length > 0) updates.push(updateOf(leg, events, role.isLegEnd))
      for (const dialled of withAccount) if (dialled !== leg) updates.push(updateOf(dialled, [], false))
      for (const other of transferred) updates.push(updateOfOther(other))
      for (const other of others) updates.push(updateOfOther(other))
    }
    return updates.length + problems.length > 0 ? { updates, problems } : EMPTY_BATCH
  }

  return {
    isHandled: (name) => roles.has(name),
    map(event) {
      const { name } = event
      const role = roles.get(name)
      if (!role) return EMPTY_BATCH
      if (isReport(name, hooks)) {
        const ofAccount = accountEvents.read(event)
        return ofAccount ? mapAccountEvents(ofAccount, event) : mapReports(event)
      }
      return mapLegEvent(event, role, false)
    },
    mapFound: (channelData) => mapLegEvent(channelData, OPENS_AND_REFRESHES, true),
    readBridge(channelData) {
      const leg = registry.get(channelData.header('Unique-ID') ?? '')
      return leg && bridges.read(leg, channelData)
    },
    mapTalks(found) {
      const updates = noteBridged(bridges.update(found)).map(updateOfOther)
      for (const { leg } of found) {
        const isOpen = registry.find(leg.callId)?.[1] === leg
        const events = isOpen ? takeFoundHolds(leg) : []
        if (events.length > 0) updates.push(updateOf(leg, events, false))
      }
      return { updates, problems: [] }
    },
    mapAccount(channelData) {
      const uuid = channelData.header('Unique-ID') ?? ''
      const leg = registry.get(uuid)
      if (leg?.createdUs !== readCreatedUs(channelData)) return EMPTY_BATCH
      const problems: Problem[] = []
      const updates = accounts
        .resolve(leg, uuid, channelData, problems)
        .map((known) => updateOf(known, [], false))
      return { updates, problems }
    },
    endEarlierRuns(coreUuid, nowMs) {
      const yielded = { updates: [], problems: [] }
      if (coreUuid !== currentRun) startRun(coreUuid, nowMs * 1000, yielded)
      return yielded
    },
    endMissingLeg(uuid, nowMs) {
      const leg = registry.get(uuid)
      return leg ? { updates: [endMissing(uuid, leg, nowMs * 1000)], problems: [] } : EMPTY_BATCH
    },
    getLeg: registry.get,
    uuidOf: (callId) => registry.find(callId)?.[0],
    openUuids: registry.uuids,
    openLegs: registry.size,
    savable: {
      save(callId) {
        const found = registry.find(callId)
        return found && saveLeg(...found)
      },
      restore(callId, saved) {
        const restored = restoreLeg(callId, saved)
        if (!restored || registry.size() >= maxOpenLegs) return false
        registry.restore(...restored)
        return true
      },
    },
  }
}

const markIf = (isFound: boolean, event: PendingEvent) => (isFound ? markFoundByResync(event) : event)

function addIfDefined(events: PendingEvent[], added: PendingEvent | undefined): void {
  if (added) events.push(added)
}

function updateOf(leg: Leg, events: readonly PendingEvent[], isEnded: boolean): LegUpdate {
  return { callId: leg.callId, accountId: leg.accountId, events, isEnded }
}

function updateOfOther({ leg, event }: LegEvent): LegUpdate {
  return updateOf(leg, [event], false)
}

function malformed(message: string): Problem {
  return { kind: 'malformed', message }
}
