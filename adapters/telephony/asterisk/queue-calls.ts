/**
 * Callers in the queues of Asterisk: what a message of a queue leaves open is added from the messages that follow it.
 *
 * - Why a caller left follows its leaving: AgentConnect, the variable QUEUESTATUS, the next step of the dial plan without that
 *   variable, to which a key leads, or the hangup. So `queue_leave` is held until one of them, or another event of the caller.
 * - The phone of an agent is dialled after the offer, and its number is known then. So `queue_agent_offer` is held until then,
 *   or until the channel of the agent or the caller ends.
 * - A busy Asterisk may report the end of a talk (AgentComplete) after the ends of both its legs. So the end of the second leg
 *   publishes `queue_agent_complete`.
 */
import type { CallDetails } from '../source/optional-hooks.js'
import type { ChannelRegistry } from './channel-registry.js'
import type { Leg } from './leg.js'

type LeaveReason = CallDetails['queueLeaveReason']

/** An event of a queue that is held. */
interface HeldEvent {
  /** The caller. */
  readonly leg: Leg
  readonly details: CallDetails
  readonly atMs: number
}

/** Dependencies on the mapping. */
interface QueueCallsDeps {
  readonly legs: Pick<ChannelRegistry, 'get' | 'otherHalf' | 'phoneBehind'>
  /** Publishes an event of a leg. */
  readonly publish: (
    leg: Leg,
    hook: 'queue_leave' | 'queue_agent_offer' | 'queue_agent_complete',
    details: CallDetails,
    atMs: number,
  ) => void
}

/** The callers in queues. */
interface QueueCalls {
  /** A caller has left its queue. */
  left(held: HeldEvent): void
  /**
   * Publishes that the caller left.
   *
   * @param reason `undefined`: it is not known, and another event of the caller follows
   */
  flushLeave(leg: Leg, reason?: LeaveReason, waitingSeconds?: number): void
  /** Whether the leaving of this caller is held. */
  isLeaving(id: string): boolean
  /** The variable QUEUESTATUS of a caller is set. */
  onStatus(leg: Leg, status: string): void
  /** A caller is offered to an agent: a phone, or a half of a Local channel. */
  offered(held: HeldEvent, agentId: string): void
  /** Whether an offer to this phone is held. */
  isOffered(id: string): boolean
  /** A queue, or a half of a Local channel, dials a phone. */
  onDialled(caller: Leg, phone: Leg): void
  /** An agent has answered: `held` has what the end of the talk tells, too. */
  answered(held: HeldEvent, agent: Leg): void
  /**
   * The end of a talk is reported.
   *
   * @param leg the caller, or the agent of a caller who has hung up
   * @returns the phone of the agent; `undefined`: the begin of the talk was not seen
   */
  completed(leg: Leg): Leg | undefined
  /** A leg ends: a caller, or an agent. */
  onEnd(leg: Leg, atMs: number): void
  /** The end of a leg was missed, or the leg is dropped: publishes its held events, and forgets its talk. */
  forget(leg: Leg): void
  /** Publishes all held events. */
  flush(): void
}

/** Reasons by QUEUESTATUS. A caller whom a queue does not admit (FULL, JOINEMPTY, JOINUNAVAIL) leaves none. */
const REASONS: ReadonlyMap<string, LeaveReason> = new Map([
  ['TIMEOUT', 'timeout'],
  ['LEAVEEMPTY', 'no_agent'],
  ['LEAVEUNAVAIL', 'no_agent'],
  ['CONTINUE', 'answered'],
])

/** Maximum number of Local channels between a queue and the phone of an agent. */
const MAX_CHAIN = 8

export function createQueueCalls({ legs, publish }: QueueCallsDeps): QueueCalls {
  /** By the id of the caller. */
  const leaves = new Map<string, HeldEvent>()
  /** By the id of the channel that the queue dials. */
  const offers = new Map<string, HeldEvent>()
  /** By the id of the leg of the agent, until the end of the talk. */
  const talks = new Map<string, HeldEvent & { readonly agent: Leg }>()

  const flushOffer = (agentId: string, phone: Leg | undefined): void => {
    const held = offers.get(agentId)
    if (!held) return
    offers.delete(agentId)
    if (legs.get(held.leg.id) !== held.leg) return
    const other = phone ? { agentCallId: phone.id, otherLegCallId: phone.id } : {}
    publish(held.leg, 'queue_agent_offer', { ...held.details, ...other, ...agentDetails(phone) }, held.atMs)
  }

  const flushLeave: QueueCalls['flushLeave'] = (leg, reason, waitingSeconds) => {
    const held = leaves.get(leg.id)
    if (held?.leg !== leg) return
    leaves.delete(leg.id)
    publish(
      leg,
      'queue_leave',
      {
        ...held.details,
        ...(reason === undefined ? {} : { queueLeaveReason: reason }),
        ...(waitingSeconds === undefined ? {} : { waitingSeconds }),
      },
      held.atMs,
    )
  }

  const flushOffers = (leg: Leg): void => {
    flushOffer(leg.id, undefined)
    for (const [agentId, held] of offers) if (held.leg === leg) flushOffer(agentId, undefined)
  }

  /** Forgets the talk of a caller or an agent, and returns it. */
  const takeTalk = (leg: Leg) => {
    for (const [agentId, talk] of talks) {
      if (talk.leg !== leg && talk.agent !== leg) continue
      talks.delete(agentId)
      return talk
    }
    return undefined
  }

  return {
    left(held) {
      flushLeave(held.leg)
      leaves.set(held.leg.id, held)
    },
    flushLeave,
    isLeaving: (id) => leaves.has(id),
    onStatus: (leg, status) => flushLeave(leg, REASONS.get(status)),
    offered: (held, agentId) => void offers.set(agentId, held),
    isOffered: (id) => offers.has(id),
    onDialled(caller, phone) {
      if (offers.size === 0) return
      flushOffer(phone.id, phone)
      let dialling: Leg | undefined = caller
      for (let hops = 0; dialling?.isInternal && hops < MAX_CHAIN; hops += 1) {
        const half = legs.otherHalf(dialling)
        if (!half) return
        flushOffer(half.id, phone)
        dialling = legs.get(half.otherLegId)
      }
    },
    answered: (held, agent) => void talks.set(agent.id, { ...held, agent }),
    completed: (leg) => takeTalk(leg)?.agent,
    onEnd(leg, atMs) {
      flushOffers(leg)
      for (const [agentId, { leg: caller, agent, details, atMs: startMs }] of talks) {
        const other = leg === agent ? caller : agent
        if ((leg !== agent && leg !== caller) || legs.get(other.id) === other) continue
        talks.delete(agentId)
        const reason = caller.hasRequestedHangup ? 'caller' : agent.hasRequestedHangup ? 'agent' : undefined
        const talkingSeconds = Math.max(0, Math.floor((atMs - startMs) / 1_000))
        const talk = { ...details, talkingSeconds, ...(reason === undefined ? {} : { reason }) }
        publish(leg, 'queue_agent_complete', { ...talk, otherLegCallId: other.id }, atMs)
      }
    },
    forget(leg) {
      flushLeave(leg)
      flushOffers(leg)
      takeTalk(leg)
    },
    flush() {
      for (const { leg } of leaves.values()) flushLeave(leg)
      for (const agentId of offers.keys()) flushOffer(agentId, undefined)
    },
  }
}

/** Returns the number of an agent's phone. */
export function agentDetails(phone: Leg | undefined): CallDetails {
  if (!phone || phone.isInternal) return {}
  const agentNumber = phone.parties?.calleeNumber ?? phone.ownNumber
  return agentNumber === undefined ? {} : { agentNumber }
}
