/**
 * Generates one realistic call: its outcome over time, its parties, its legs and their events. `callGenerator`
 * decides when calls begin and merges their events.
 */
import type { ChannelEvent } from 'hookswitch'
import type { SeededRandom } from './random.js'

/** How a call ended. `cancelled`: the caller hung up while it rang. */
export type CallOutcome = 'answered' | 'busy' | 'noAnswer' | 'cancelled' | 'declined'

/** An account in which calls happen. */
export interface CallAccount {
  /** Account id, the `accountId` of its events. */
  readonly id: string
  /** SIP realm of its phones. Default is `<id>.example`. */
  readonly realm?: string | undefined
}

/** The hooks of a generated call's events. */
export type CallHook =
  | 'channel_create'
  | 'channel_answer'
  | 'channel_bridge'
  | 'channel_hold'
  | 'channel_unhold'
  | 'channel_destroy'

/** An event of a call leg, as `hs.publish` accepts it, with the fields that every generated event has. */
export interface CallEvent extends ChannelEvent {
  /** Event kind. */
  readonly hook: CallHook
  /** Direction of the leg, seen from the switch. */
  readonly direction: 'inbound' | 'outbound'
  /** When it happens, Unix milliseconds. */
  readonly timestampMs: number
  /** SIP address of the caller. */
  readonly from: string
  /** SIP address of the callee. */
  readonly to: string
  /** SIP request URI of the call; the same as `to`. */
  readonly request: string
  /** Number of the caller. */
  readonly callerIdNumber: string
  /** Number of the callee. */
  readonly calleeIdNumber: string
  /** True for a loopback leg inside the switch. */
  readonly isInternalLeg: boolean
}

/** Ground truth about one leg. */
export interface LegSummary {
  /** Call id of the leg. */
  readonly callId: string
  /** Call id of the leg that it is bridged with. */
  readonly otherLegCallId: string
  /** Direction of the leg, seen from the switch. */
  readonly direction: 'inbound' | 'outbound'
  /** True for a loopback leg inside the switch. */
  readonly isInternal: boolean
  /** Hooks of its events, in order. */
  readonly hooks: readonly CallHook[]
  /** Time of its `channel_create`, Unix milliseconds. */
  readonly createdMs: number
  /** Time of its `channel_answer`, Unix milliseconds; absent if it was never answered. */
  readonly answeredMs?: number
  /** Time of its `channel_destroy`, Unix milliseconds. */
  readonly destroyedMs: number
}

/** Ground truth about one call, to compare with the events that were delivered. */
export interface CallSummary {
  /** 1, 2, 3, … in the order in which calls begin. */
  readonly number: number
  /** Account of all its legs. */
  readonly accountId: string
  /** How it ended. */
  readonly outcome: CallOutcome
  /** Time of its first event, Unix milliseconds. */
  readonly startedMs: number
  /** Time of its last event, Unix milliseconds. */
  readonly endedMs: number
  /** The caller's leg, the internal leg if there is one, the callee's leg. */
  readonly legs: readonly LegSummary[]
}

/** The caller's or the callee's side of a call. */
type Side = 'caller' | 'callee'

/** When things happen in a call, in milliseconds since it began. */
interface CallTimeline {
  readonly outcome: CallOutcome
  /** The callee's leg is created. */
  readonly dialMs: number
  readonly answerMs: number | undefined
  /** Each with the side that holds. `toMs` is absent if the call ends on hold. */
  readonly holds: readonly { readonly side: Side; readonly fromMs: number; readonly toMs?: number }[]
  readonly endMs: number
  /** The side that ends the call. */
  readonly endedBy: Side
}

/** One side of a call. */
interface Party {
  readonly name: string | undefined
  readonly number: string
  /** `user@host` */
  readonly address: string
  /** True for a phone of the account, false for a number outside. */
  readonly isOwn: boolean
}

/** One leg, without its events. */
interface Leg {
  readonly callId: string
  readonly otherLegCallId: string
  readonly direction: 'inbound' | 'outbound'
  readonly isInternal: boolean
  readonly side: Side
  /** Unix milliseconds. */
  readonly createdMs: number
  /** Milliseconds from the answer of the call to the answer of this leg. */
  readonly answerLagMs: number
  /** Milliseconds from the end of the call to the end of this leg. */
  readonly endLagMs: number
}

/** Default weights of outcomes, in percent. Assumed for a working day in an office, not measured. */
export const OUTCOME_WEIGHTS: Readonly<Record<CallOutcome, number>> = Object.freeze({
  answered: 64,
  busy: 7,
  noAnswer: 15,
  cancelled: 10,
  declined: 4,
})

/** Hangup cause (FreeSWITCH's name of the Q.850 cause) and SIP status of each side's legs. */
const HANGUPS: Readonly<Record<CallOutcome, Readonly<Record<Side, readonly [string, string]>>>> = {
  answered: { caller: ['NORMAL_CLEARING', 'sip:200'], callee: ['NORMAL_CLEARING', 'sip:200'] },
  busy: { caller: ['USER_BUSY', 'sip:486'], callee: ['USER_BUSY', 'sip:486'] },
  noAnswer: { caller: ['NO_ANSWER', 'sip:480'], callee: ['NO_ANSWER', 'sip:487'] },
  cancelled: { caller: ['ORIGINATOR_CANCEL', 'sip:487'], callee: ['ORIGINATOR_CANCEL', 'sip:487'] },
  declined: { caller: ['CALL_REJECTED', 'sip:603'], callee: ['CALL_REJECTED', 'sip:603'] },
}

/** At least one full second on every leg, also on the leg that is answered last: an answered call is billed. */
const MIN_TALK_MS = 1_100

/** Minimum gap between the bridge and a hold, between holds, and between a hold and the end. */
const MIN_HOLD_GAP_MS = 100

/** Weights of the number of holds in a call, in percent. */
const HOLD_COUNT_WEIGHTS = { '0': 82, '1': 14, '2': 4 }

/** From the answer of a leg to its bridge. By then every leg is answered. */
const BRIDGE_MS = 25

/** Caller names as they occur: absent, with markup characters, and in many scripts. */
const NAMES: readonly (string | undefined)[] = [
  'Ann Lee',
  'Bob Example',
  'WIRELESS CALLER',
  'José Álvarez',
  'Zoë Müller',
  'Søren Ægidius',
  "O'Brien & Sons <Ltd>",
  'Nguyễn Thị Hà',
  'Мария Иванова',
  'محمد علي',
  'דנה כהן',
  '李雷',
  '김민준',
  'さくら整骨院',
  '🍕 Pizza Roma',
  '"Quoted" \\ slashed',
  undefined,
]

/** Carrier addresses, from the blocks that RFC 5737 reserves for documentation. */
const TRUNKS = ['203.0.113.10', '203.0.113.11', '198.51.100.7']

/** Call-ID characters beyond letters and digits (RFC 3261 25.1, `word`), which some phones use. */
const UNUSUAL_CALL_IDS = ['a/b%2Fc+', "it's(odd)?", '<x>:y;z~', '[{"q"}]\\', '..%00..']

/** Draws when each part of a call happens: ringing is log-normal, talking exponential, a few talks have holds. */
export function generateTimeline(
  random: SeededRandom,
  outcome: CallOutcome,
  { ringMedianMs, talkMeanMs }: { readonly ringMedianMs: number; readonly talkMeanMs: number },
): CallTimeline {
  const dialMs = random.integer(5, 200)
  const ring = (medianMs: number) => dialMs + 50 + Math.round(random.logNormal(medianMs, 0.6))
  const unanswered = (endMs: number, endedBy: Side): CallTimeline => ({
    outcome,
    dialMs,
    answerMs: undefined,
    holds: [],
    endMs,
    endedBy,
  })

  switch (outcome) {
    case 'busy':
      return unanswered(ring(ringMedianMs / 10), 'callee')
    case 'declined':
      return unanswered(ring(ringMedianMs / 2), 'callee')
    case 'cancelled':
      return unanswered(ring(ringMedianMs * 1.5), 'caller')
    // The switch ends the call after a fixed time, which counts as the caller's side.
    case 'noAnswer':
      return unanswered(dialMs + random.pick([20_000, 25_000, 30_000, 45_000]), 'caller')
    case 'answered': {
      const answerMs = ring(ringMedianMs)
      const talkMs = MIN_TALK_MS + Math.round(random.exponential(talkMeanMs))
      const endMs = answerMs + talkMs
      const endedBy = random.pick(['caller', 'callee'] as const)
      return { outcome, dialMs, answerMs, holds: generateHolds(random, answerMs, endMs), endMs, endedBy }
    }
  }
}

function generateHolds(random: SeededRandom, answerMs: number, endMs: number): CallTimeline['holds'] {
  const holds: CallTimeline['holds'][number][] = []
  let freeMs = answerMs + MIN_HOLD_GAP_MS
  for (let count = Number(random.weighted(HOLD_COUNT_WEIGHTS)); count > 0; count -= 1) {
    const side = random.pick(['caller', 'callee'] as const)
    const fromMs = freeMs + random.integer(0, 60_000)
    const toMs = fromMs + 500 + Math.round(random.exponential(25_000))
    if (fromMs > endMs - MIN_HOLD_GAP_MS) break
    if (toMs > endMs - MIN_HOLD_GAP_MS) return [...holds, { side, fromMs }]
    holds.push({ side, fromMs, toMs })
    freeMs = toMs + MIN_HOLD_GAP_MS
  }
  return holds
}

/** Draws parties and legs of a call with this timeline. `events` has the events of each leg in order, leg by leg. */
export function generateCall(
  random: SeededRandom,
  call: {
    readonly number: number
    readonly account: CallAccount
    /** Unix milliseconds. */
    readonly startedMs: number
    /** Probability of an internal leg. */
    readonly internalShare: number
    readonly timeline: CallTimeline
  },
): { readonly summary: CallSummary; readonly events: readonly CallEvent[] } {
  const { number, account, startedMs, timeline } = call
  const { caller, callee } = drawParties(random, account)
  const realm = account.realm ?? `${account.id}.example`
  const callerId = drawCallId(random, number, 'a', realm)
  const calleeId = drawCallId(random, number, 'b', realm)
  const endLagMs = (side: Side) => (timeline.endedBy === side ? 0 : random.integer(1, 20))

  const callerLeg: Leg = {
    callId: callerId,
    otherLegCallId: calleeId,
    direction: 'inbound',
    isInternal: false,
    side: 'caller',
    createdMs: startedMs,
    answerLagMs: random.integer(11, 20),
    endLagMs: endLagMs('caller'),
  }
  const calleeLeg: Leg = {
    callId: calleeId,
    otherLegCallId: callerId,
    direction: 'outbound',
    isInternal: false,
    side: 'callee',
    createdMs: startedMs + timeline.dialMs,
    answerLagMs: 0,
    endLagMs: endLagMs('callee'),
  }
  const legs = random.chance(call.internalShare)
    ? [callerLeg, internalLeg(), calleeLeg]
    : [callerLeg, calleeLeg]

  const generated = legs.map((leg) =>
    generateLeg(leg, {
      startedMs,
      timeline,
      accountId: account.id,
      callGroupId: callerId,
      calleeCallId: calleeId,
      caller,
      callee,
    }),
  )
  const events = generated.flatMap(({ events }) => events)
  const summary: CallSummary = {
    number,
    accountId: account.id,
    outcome: timeline.outcome,
    startedMs,
    endedMs: Math.max(...events.map((event) => event.timestampMs)),
    legs: generated.map(({ summary }) => summary),
  }
  return { summary, events }

  /** Is created between the two other legs, and ends with them. */
  function internalLeg(): Leg {
    return {
      ...calleeLeg,
      callId: `loopback-${drawCallId(random, number, 'i', realm)}`,
      isInternal: true,
      createdMs: startedMs + random.integer(1, timeline.dialMs - 1),
      answerLagMs: random.integer(1, 10),
      endLagMs: random.integer(1, 20),
    }
  }
}

/** The events of one leg in order, and their summary. */
function generateLeg(
  leg: Leg,
  call: {
    readonly startedMs: number
    readonly timeline: CallTimeline
    readonly accountId: string
    readonly callGroupId: string
    readonly calleeCallId: string
    readonly caller: Party
    readonly callee: Party
  },
): { readonly events: readonly CallEvent[]; readonly summary: LegSummary } {
  const { startedMs, timeline, accountId, caller, callee } = call
  const answeredMs =
    timeline.answerMs === undefined ? undefined : startedMs + timeline.answerMs + leg.answerLagMs
  const destroyedMs = startedMs + timeline.endMs + leg.endLagMs
  const common = {
    accountId,
    callId: leg.callId,
    callGroupId: call.callGroupId,
    direction: leg.direction,
    from: caller.address,
    to: callee.address,
    request: callee.address,
    ...(caller.isOwn ? {} : { inception: callee.address }),
    ...(caller.name === undefined ? {} : { callerIdName: caller.name }),
    callerIdNumber: caller.number,
    ...(callee.name === undefined ? {} : { calleeIdName: callee.name }),
    calleeIdNumber: callee.number,
    ...(leg.isInternal ? {} : { endpoint: endpointOf(leg.side === 'caller' ? caller : callee) }),
    isInternalLeg: leg.isInternal,
  }
  // The caller's leg is created before the leg that it dials.
  const otherAtCreation = leg.side === 'caller' ? {} : { otherLegCallId: leg.otherLegCallId }
  const bridged = { ...common, otherLegCallId: leg.otherLegCallId }
  const { name, number } = callee
  const answeredBy = { number, ...(name === undefined ? {} : { name }), callId: call.calleeCallId }
  const answered = answeredMs === undefined || leg.isInternal ? bridged : { ...bridged, answeredBy }

  const events: CallEvent[] = [
    { hook: 'channel_create', ...common, ...otherAtCreation, timestampMs: leg.createdMs },
  ]
  if (answeredMs !== undefined) {
    const numbers = { originalNumber: callee.number, otherLegDestinationNumber: callee.number }
    events.push({ hook: 'channel_answer', ...answered, timestampMs: answeredMs })
    events.push({ hook: 'channel_bridge', ...answered, ...numbers, timestampMs: answeredMs + BRIDGE_MS })
  }
  for (const hold of timeline.holds) {
    if (leg.isInternal || hold.side !== leg.side) continue
    events.push({ hook: 'channel_hold', ...answered, timestampMs: startedMs + hold.fromMs })
    if (hold.toMs === undefined) continue
    events.push({ hook: 'channel_unhold', ...answered, timestampMs: startedMs + hold.toMs })
  }
  const [hangupCause, hangupCode] = HANGUPS[timeline.outcome][leg.side]
  // Ringing is the difference, so that ringing and billing add up to the duration although each is whole seconds.
  const durationMs = destroyedMs - leg.createdMs
  const billingMs = answeredMs === undefined ? 0 : destroyedMs - answeredMs
  const durationSeconds = Math.floor(durationMs / 1000)
  const billingSeconds = Math.floor(billingMs / 1000)
  events.push({
    hook: 'channel_destroy',
    ...answered,
    timestampMs: destroyedMs,
    hangupCause,
    hangupCode,
    durationSeconds,
    ringingSeconds: durationSeconds - billingSeconds,
    billingSeconds,
    durationMs,
    ringingMs: durationMs - billingMs,
    billingMs,
  })

  const summary: LegSummary = {
    callId: leg.callId,
    otherLegCallId: leg.otherLegCallId,
    direction: leg.direction,
    isInternal: leg.isInternal,
    hooks: events.map((event) => event.hook),
    createdMs: leg.createdMs,
    ...(answeredMs === undefined ? {} : { answeredMs }),
    destroyedMs,
  }
  return { events, summary }
}

/** A phone of the account, or the trunk to the carrier. */
function endpointOf({ isOwn, number, address }: Party): NonNullable<ChannelEvent['endpoint']> {
  return isOwn
    ? { kind: 'extension', name: number }
    : { kind: 'trunk', name: address.slice(address.indexOf('@') + 1) }
}

/** Draws caller and callee: outside to phone, phone to outside, or phone to phone. */
function drawParties(random: SeededRandom, account: CallAccount): { caller: Party; callee: Party } {
  const phone = () => drawPhone(random, account)
  const kind = random.weighted({ incoming: 50, outgoing: 35, internal: 15 })
  if (kind === 'incoming') return { caller: drawOutsideParty(random), callee: phone() }
  if (kind === 'outgoing') return { caller: phone(), callee: drawOutsideParty(random) }
  const caller = phone()
  let callee = phone()
  while (callee.number === caller.number) callee = phone()
  return { caller, callee }
}

function drawPhone(random: SeededRandom, { id, realm = `${id}.example` }: CallAccount): Party {
  const number = String(random.integer(1001, 1040))
  return { name: random.pick(NAMES), number, address: `${number}@${realm}`, isOwn: true }
}

/** A number that its country reserves for fiction. */
function drawOutsideParty(random: SeededRandom): Party {
  const two = String(random.integer(0, 99)).padStart(2, '0')
  const three = String(random.integer(0, 999)).padStart(3, '0')
  const number = random.pick([`+120255501${two}`, `+442079460${three}`, `+6491570${three}`])
  return { name: random.pick(NAMES), number, address: `${number}@${random.pick(TRUNKS)}`, isOwn: false }
}

/** Draws a call id, unique through `number`: a UUID as FreeSWITCH makes it, or a SIP Call-ID. */
function drawCallId(random: SeededRandom, number: number, suffix: string, realm: string): string {
  const hex = Buffer.from(random.bytes(8)).toString('hex')
  if (random.chance(0.05)) return `${random.pick(UNUSUAL_CALL_IDS)}${hex}.${number}${suffix}@${realm}`
  if (random.chance(0.5)) return `${hex}.${number}${suffix}@${realm}`
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13)}-${number}${suffix}`
}
