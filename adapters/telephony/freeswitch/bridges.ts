/** Maps CHANNEL_BRIDGE and CHANNEL_UNBRIDGE, and finds missed bridges in the channel data that a resync reads. */
import { joinOlderGroup } from '../source/call-group.js'
import type { PendingEvent } from '../source/mapped-events.js'
import { noteAnswerer, noteUnknownAnswerer } from './answerer.js'
import { type BridgedLeg, createBridgeLinks } from './bridge-links.js'
import type { ChannelRegistry } from './channel-registry.js'
import type { EslEvent } from './event.js'
import { type BridgeFacts, buildBridgeEvent, markFoundByResync } from './event-builder.js'
import { isLoopbackName, type Leg, readBridgedUs, readEventTimeUs, readOriginatorUuid } from './leg.js'

/** An event of a leg. */
export interface LegEvent {
  readonly leg: Leg
  readonly event: PendingEvent
}

/** The bridge of a leg at the time of its channel data. */
export interface FoundBridge {
  readonly leg: Leg
  /** `undefined`: the leg was not bridged. */
  readonly otherUuid: string | undefined
  readonly sinceUs: number
  /** `links.changes` at that time: later events are newer than the channel data. */
  readonly changes: number
}

/** The bridges of a switch. */
export interface Bridges {
  /** Handles CHANNEL_BRIDGE of a leg. */
  connect(uuid: string, leg: Leg, event: EslEvent): readonly LegEvent[]
  /** Handles CHANNEL_UNBRIDGE. */
  disconnect(uuid: string, event: EslEvent): void
  /** Handles the end of a leg. */
  leave(leg: Leg): void
  /** Reads the bridge of a leg from its channel data. */
  read(leg: Leg, channelData: EslEvent): FoundBridge
  /** Updates the bridges to what was found, once all channel data are read. */
  update(found: readonly FoundBridge[]): readonly LegEvent[]
  /** The id of the leg that originated a leg; for a phone always a phone, even behind loopback pairs. */
  originatorOf(event: EslEvent): string | undefined
}

/** No call passes through more loopback pairs; a longer path is a loop. */
const MAX_PAIRS = 32

export function createBridges(registry: ChannelRegistry): Bridges {
  /** The open leg with this id, or that is published under it. */
  const legOf = (uuid: string | undefined): Leg | undefined =>
    uuid === undefined ? undefined : (registry.get(uuid) ?? registry.find(uuid)?.[1])
  const otherHalf = (half: Leg) => legOf(half.otherHalfUuid)
  const links = createBridgeLinks({ otherHalf })

  /** A bridge with a leg that is not open here: one handed over by the `socket` application has no other. */
  const connectUnknown = (leg: Leg, otherUuid: string | undefined, event: EslEvent, facts: BridgeFacts) => {
    if (!leg.isInternal && isLoopbackName(event.header('Other-Leg-Channel-Name'))) return []
    if (otherUuid !== undefined && leg.links.publishedCallId === otherUuid) return []
    links.leave(leg)
    leg.links.publishedCallId = otherUuid
    leg.links.isBesideInternalLeg = false
    leg.otherLegCallId = otherUuid
    leg.otherLegEnd = undefined
    noteUnknownAnswerer(leg, otherUuid, event)
    return [{ leg, event: buildBridgeEvent(leg, undefined, facts) }]
  }

  const buildAll = (bridged: readonly BridgedLeg[], facts: BridgeFacts): LegEvent[] => {
    for (const { leg, other } of bridged) {
      joinOlderGroup(leg, other)
      noteAnswerer(leg, other)
    }
    return bridged.map(({ leg, other }) => ({ leg, event: buildBridgeEvent(leg, other, facts) }))
  }

  /** Connects two legs, both of whose channel data show that they are bridged. */
  const connectFound = (leg: Leg, other: Leg, sinceUs: number): LegEvent[] => {
    const facts = { key: sinceUs, atUs: sinceUs, otherDestination: undefined }
    const built = buildAll(links.connect(leg, other), facts)
    return built.map((event) => ({ leg: event.leg, event: markFoundByResync(event.event) }))
  }

  return {
    connect(uuid, leg, event) {
      const a = event.header('Bridge-A-Unique-ID') ?? uuid
      const otherUuid =
        (a === uuid ? event.header('Bridge-B-Unique-ID') : a) ?? event.header('Other-Leg-Unique-ID')
      const atUs = readEventTimeUs(event)
      const key = readBridgedUs(event) || (event.header('Event-Sequence') ?? atUs)
      const facts = { key, atUs, otherDestination: event.header('Other-Leg-Destination-Number') }
      const other = legOf(otherUuid)
      leg.links.changes += 1
      if (!other) return connectUnknown(leg, otherUuid, event, facts)
      other.links.changes += 1
      return buildAll(links.connect(leg, other), facts)
    },
    disconnect(uuid, event) {
      const otherUuid = event.header('Bridge-B-Unique-ID')
      const leg = legOf(event.header('Bridge-A-Unique-ID') ?? uuid)
      const other = legOf(otherUuid)
      if (leg) leg.links.changes += 1
      if (other) other.links.changes += 1
      if (leg && other) links.disconnect(leg, other)
      else if (leg?.links.publishedCallId === otherUuid && leg) leg.links.publishedCallId = undefined
    },
    leave: links.leave,
    read(leg, channelData) {
      const otherUuid = channelData.header('variable_bridge_to')
      const sinceUs = readBridgedUs(channelData) || readEventTimeUs(channelData)
      return { leg, otherUuid, sinceUs, changes: leg.links.changes }
    },
    update(found) {
      const isOpen = (leg: Leg) => registry.find(leg.callId)?.[1] === leg
      const current = found.filter(({ leg, changes }) => leg.links.changes === changes && isOpen(leg))
      const sinceByLeg = new Map(current.map(({ leg, sinceUs }) => [leg, sinceUs]))
      for (const { leg, otherUuid } of current) if (legOf(otherUuid) !== leg.links.neighbour) links.leave(leg)
      // In the order in which they happened: the last bridge between two phones is the one that connects them.
      const pairs = current.flatMap(({ leg, otherUuid, sinceUs }) => {
        const other = legOf(otherUuid)
        const otherSinceUs = other && sinceByLeg.get(other)
        // CHANNEL_BRIDGE has the time of the leg that was bridged first.
        return other && otherSinceUs !== undefined
          ? [{ leg, other, sinceUs: Math.min(sinceUs, otherSinceUs) }]
          : []
      })
      return pairs
        .toSorted((a, b) => a.sinceUs - b.sinceUs)
        .flatMap(({ leg, other, sinceUs }) => connectFound(leg, other, sinceUs))
    },
    originatorOf(event) {
      const uuid = readOriginatorUuid(event)
      let originator = legOf(uuid)
      const isPhone = !isLoopbackName(event.header('Channel-Name'))
      if (!originator)
        return isPhone && isLoopbackName(event.header('Other-Leg-Channel-Name')) ? undefined : uuid
      for (let pairs = 0; isPhone && originator?.isInternal && pairs < MAX_PAIRS; pairs += 1)
        originator = legOf(otherHalf(originator)?.otherLegCallId)
      return isPhone && originator?.isInternal ? undefined : originator?.callId
    },
  }
}
