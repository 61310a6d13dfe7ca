/**
 * Who hears whom. Phones are joined by bridges and, through the two halves of a Local channel, by chains of them: what
 * counts is the phone at the other end. So an optimisation, which takes a Local pair out of a call, joins nobody anew.
 */
import type { Bridge } from './happening.js'
import type { Leg } from './leg.js'

/** A leg that now hears somebody. */
export interface Bridging {
  readonly leg: Leg
  /** The leg at the other end; `undefined`: several, a conference. */
  readonly other: Leg | undefined
  /** The bridge that completed it. */
  readonly bridge: Bridge
}

/** All bridges. */
export interface Rooms {
  /** @returns who hears whom by it, phones first */
  enter(leg: Leg, bridge: Bridge): readonly Bridging[]
  leave(leg: Leg): void
}

/** The open legs, as far as bridges need them. */
export interface LegsByName {
  /** The other half of a Local channel, while it lives. */
  otherHalf(leg: Leg): Leg | undefined
}

interface Room {
  readonly bridge: Bridge
  readonly members: Set<Leg>
}

/** What can be heard from a leg. */
interface Reach {
  readonly phones: Leg[]
  /** A conference that is in reach, behind which nobody is looked for. */
  conference: Room | undefined
}

export function rooms({ otherHalf }: LegsByName): Rooms {
  /** By the bridge's id, while somebody is in it. */
  const open = new Map<string, Room>()

  /** @param without a room through which not to look */
  const reachOf = (from: Leg, without?: Room): Reach => {
    const reach: Reach = { phones: [], conference: undefined }
    const seen = new Set<Leg>()
    const visit = (leg: Leg): void => {
      if (seen.has(leg)) return
      seen.add(leg)
      if (!leg.isInternal) reach.phones.push(leg)
      const half = otherHalf(leg)
      if (half) visit(half)
      const room = leg.bridge === undefined ? undefined : open.get(leg.bridge)
      if (!room || room === without || room.bridge.kind === 'hold') return
      if (!isConference(room)) for (const member of room.members) visit(member)
      else if (room.members.size > 1) reach.conference = room
    }
    visit(from)
    return reach
  }

  const pair = ([one, two]: readonly Leg[], bridge: Bridge): Bridging[] => {
    if (!one || !two || (one.partner === two.id && two.partner === one.id)) return []
    one.partner = two.id
    two.partner = one.id
    return [
      { leg: one, other: two, bridge },
      { leg: two, other: one, bridge },
    ]
  }

  const confer = (phones: readonly Leg[], { bridge }: Room): Bridging[] => {
    const fresh = phones.filter(({ partner }) => partner !== bridge.id)
    for (const leg of fresh) leg.partner = bridge.id
    return fresh.map((leg) => ({ leg, other: undefined, bridge }))
  }

  /** Members of a room whose phones hear the others from now on. */
  const newcomers = (leg: Leg, { members }: Room): readonly Leg[] =>
    members.size === 2 ? [...members] : [leg]

  /** Halves are means: they are joined to what is really beside them. */
  const halves = (leg: Leg, room: Room): Bridging[] => {
    const { members, bridge } = room
    if (members.size < 2) return []
    const internal = newcomers(leg, room).filter(({ isInternal }) => isInternal)
    const beside = (half: Leg) => [...members].find((member) => member !== half)
    return internal.map((half) => ({
      leg: half,
      other: isConference(room) ? undefined : beside(half),
      bridge,
    }))
  }

  const leave = (leg: Leg): void => {
    const room = leg.bridge === undefined ? undefined : open.get(leg.bridge)
    leg.bridge = undefined
    if (!room) return
    // Who leaves a Local half may be on the way to the phone behind it, with which it has been talking all the time.
    if (![...room.members].some(({ isInternal }) => isInternal)) leg.partner = undefined
    room.members.delete(leg)
    if (room.members.size === 0) open.delete(room.bridge.id)
  }

  return {
    enter(leg, bridge) {
      if (leg.bridge === bridge.id) return []
      leave(leg)
      const room = open.get(bridge.id) ?? { bridge, members: new Set<Leg>() }
      open.set(bridge.id, room)
      room.members.add(leg)
      leg.bridge = bridge.id
      if (bridge.kind === 'hold') return []

      const phones: Bridging[] = []
      if (isConference(room)) {
        if (room.members.size > 1) {
          for (const member of newcomers(leg, room))
            phones.push(...confer(reachOf(member, room).phones, room))
        }
      } else {
        const { phones: heard, conference } = reachOf(leg)
        phones.push(
          ...(conference ? confer(heard, conference) : heard.length === 2 ? pair(heard, bridge) : []),
        )
      }
      return [...phones, ...halves(leg, room)]
    },
    leave,
  }
}

/** Three are one, whatever the bridge was made for. */
function isConference({ bridge, members }: Room): boolean {
  return bridge.kind === 'conference' || members.size > 2
}
