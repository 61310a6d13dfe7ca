/**
 * The graph of bridges: which legs hear each other. Bridges connect phones directly or through chains of Local channels,
 * each with two halves; only the phone at the other end of a chain counts. So the optimisation that removes a Local
 * channel from a call connects nobody new.
 */

import type { Leg } from './leg.js'
import type { Bridge } from './switch-event.js'

/** A leg that is bridged with a new partner. */
export interface BridgedLeg {
  readonly leg: Leg
  /** The leg at the other end; `undefined`: a conference. */
  readonly other: Leg | undefined
  /** The bridge that completed the path. */
  readonly bridge: Bridge
}

/** All bridges with members. */
interface BridgeGraph {
  /** Moves a leg into a bridge. @returns the legs that this bridges with a new partner, phones first */
  enter(leg: Leg, bridge: Bridge): readonly BridgedLeg[]
  /** Removes a leg from its bridge, if any. */
  leave(leg: Leg): void
  /** The legs in a bridge. */
  membersOf(bridgeId: string): Iterable<Leg>
}

/** Access to Local channels. */
interface LocalHalves {
  /** Returns the other half of a Local channel while it is open. */
  otherHalf(leg: Leg): Leg | undefined
}

interface OpenBridge {
  readonly bridge: Bridge
  readonly members: Set<Leg>
}

/** The legs that can be heard from a leg. */
interface Reach {
  readonly phones: Leg[]
  /** A conference in reach; the search does not continue through it. */
  conference: OpenBridge | undefined
}

/** Creates an empty graph. It reads and sets `bridgeId` and `partnerId` of legs. */
export function createBridgeGraph({ otherHalf }: LocalHalves): BridgeGraph {
  /** By bridge id, while they have members. */
  const open = new Map<string, OpenBridge>()

  const bridgeOf = (leg: Leg) => (leg.bridgeId === undefined ? undefined : open.get(leg.bridgeId))

  /** @param excluded a bridge that is not searched */
  const reachOf = (from: Leg, excluded?: OpenBridge): Reach => {
    const reach: Reach = { phones: [], conference: undefined }
    const visited = new Set<Leg>()
    const visit = (leg: Leg): void => {
      if (visited.has(leg)) return
      visited.add(leg)
      if (!leg.isInternal) reach.phones.push(leg)
      const half = otherHalf(leg)
      if (half) visit(half)
      const current = bridgeOf(leg)
      if (!current || current === excluded || current.bridge.kind === 'hold') return
      if (!isConference(current)) for (const member of current.members) visit(member)
      else if (current.members.size > 1) reach.conference = current
    }
    visit(from)
    return reach
  }

  const pair = ([first, second]: readonly Leg[], bridge: Bridge): BridgedLeg[] => {
    if (!first || !second || (first.partnerId === second.id && second.partnerId === first.id)) return []
    first.partnerId = second.id
    second.partnerId = first.id
    return [
      { leg: first, other: second, bridge },
      { leg: second, other: first, bridge },
    ]
  }

  const joinConference = (phones: readonly Leg[], { bridge }: OpenBridge): BridgedLeg[] => {
    const joining = phones.filter(({ partnerId }) => partnerId !== bridge.id)
    for (const leg of joining) leg.partnerId = bridge.id
    return joining.map((leg) => ({ leg, other: undefined, bridge }))
  }

  /** Members that hear the others only now: the second member brings in the first, too. */
  const newMembers = (leg: Leg, { members }: OpenBridge): readonly Leg[] =>
    members.size === 2 ? [...members] : [leg]

  /** Internal legs are bridged with the member that is directly beside them. */
  const internalLegs = (leg: Leg, current: OpenBridge): BridgedLeg[] => {
    const { members, bridge } = current
    if (members.size < 2) return []
    const internal = newMembers(leg, current).filter(({ isInternal }) => isInternal)
    const neighbour = (half: Leg) => [...members].find((member) => member !== half)
    return internal.map((half) => ({
      leg: half,
      other: isConference(current) ? undefined : neighbour(half),
      bridge,
    }))
  }

  const leave = (leg: Leg): void => {
    const current = bridgeOf(leg)
    leg.bridgeId = undefined
    if (!current) return
    // A leg that leaves a Local half may be moving to the phone behind it, which is its partner already.
    if (![...current.members].some(({ isInternal }) => isInternal)) leg.partnerId = undefined
    current.members.delete(leg)
    if (current.members.size === 0) open.delete(current.bridge.id)
  }

  return {
    enter(leg, bridge) {
      if (leg.bridgeId === bridge.id) return []
      leave(leg)
      const current = open.get(bridge.id) ?? { bridge, members: new Set<Leg>() }
      open.set(bridge.id, current)
      current.members.add(leg)
      leg.bridgeId = bridge.id
      if (bridge.kind === 'hold') return []

      const bridged: BridgedLeg[] = []
      if (isConference(current)) {
        if (current.members.size > 1) {
          for (const member of newMembers(leg, current))
            bridged.push(...joinConference(reachOf(member, current).phones, current))
        }
      } else {
        const { phones, conference } = reachOf(leg)
        if (conference) bridged.push(...joinConference(phones, conference))
        else if (phones.length === 2) bridged.push(...pair(phones, bridge))
      }
      return [...bridged, ...internalLegs(leg, current)]
    },
    leave,
    membersOf: (bridgeId) => open.get(bridgeId)?.members ?? [],
  }
}

/** Three members are a conference, whatever the bridge was created for. */
function isConference({ bridge, members }: OpenBridge): boolean {
  return bridge.kind === 'conference' || members.size > 2
}
