/**
 * Which legs are bridged with each other. FreeSWITCH bridges pairs; a loopback pair in between passes the audio on from
 * one of its halves to the other. Two phones count as bridged once every bridge between them exists, and a bridge that
 * only takes a loopback pair out of their call (`loopback_bowout`) connects nobody new. Pure.
 */
import type { Leg } from './leg.js'

/** A leg that has a new partner. */
export interface BridgedLeg {
  readonly leg: Leg
  readonly other: Leg
}

/** The bridges of a switch. It reads and sets `links` of legs. */
interface BridgeLinks {
  /** Bridges two legs. @returns the legs that have a new partner by that, phones first */
  connect(first: Leg, second: Leg): readonly BridgedLeg[]
  /** Ends the bridge of two legs, if there is one. */
  disconnect(first: Leg, second: Leg): void
  /** Ends whatever bridge a leg is in. */
  leave(leg: Leg): void
}

/** Access to loopback pairs. */
interface LoopbackPairs {
  /** Returns the other half of a loopback pair while it is open. */
  otherHalf(half: Leg): Leg | undefined
}

/** No call passes through more loopback pairs; a longer path is a loop. */
const MAX_PAIRS = 32

export function createBridgeLinks({ otherHalf }: LoopbackPairs): BridgeLinks {
  /** Returns the phone behind a leg; the leg itself, if it is one. */
  const phoneAt = (leg: Leg): Leg | undefined => {
    let current: Leg | undefined = leg
    for (let pairs = 0; current?.isInternal && pairs < MAX_PAIRS; pairs += 1)
      current = otherHalf(current)?.links.neighbour
    return current?.isInternal ? undefined : current
  }

  const leave = (leg: Leg): void => {
    const { neighbour } = leg.links
    if (neighbour) disconnect(leg, neighbour)
  }

  const disconnect = (first: Leg, second: Leg): void => {
    if (first.links.neighbour !== second) return
    for (const leg of [first, second]) {
      leg.links.neighbour = undefined
      // A phone beside a loopback half may be bridged directly with the phone behind it next.
      if (!first.isInternal && !second.isInternal) leg.links.publishedCallId = undefined
    }
  }

  return {
    connect(first, second) {
      if (first === second || first.links.neighbour === second) return []
      leave(first)
      leave(second)
      const bridged: BridgedLeg[] = []
      join(first, second)
      join(second, first)
      const [phone, otherPhone] = [phoneAt(first), phoneAt(second)]
      if (phone && otherPhone && phone !== otherPhone) {
        publishOnce(phone, otherPhone, bridged)
        publishOnce(otherPhone, phone, bridged)
      }
      if (first.isInternal) publishOnce(first, second, bridged)
      if (second.isInternal) publishOnce(second, first, bridged)
      return bridged
    },
    disconnect,
    leave,
  }
}

function join(leg: Leg, neighbour: Leg): void {
  leg.links.neighbour = neighbour
  leg.links.isBesideInternalLeg = neighbour.isInternal
  leg.otherLegEnd = undefined
}

function publishOnce(leg: Leg, other: Leg, bridged: BridgedLeg[]): void {
  if (leg.links.publishedCallId === other.callId) return
  leg.links.publishedCallId = other.callId
  leg.otherLegCallId = other.callId
  bridged.push({ leg, other })
}
