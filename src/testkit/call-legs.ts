import type { ChannelEvent } from '../delivery/event.js'
import { type Course, ENDINGS } from './call-course.js'
import type { Party } from './call-parties.js'

/** The kinds of event that a generated call consists of. */
export type CallHook =
  | 'channel_create'
  | 'channel_answer'
  | 'channel_bridge'
  | 'channel_hold'
  | 'channel_unhold'
  | 'channel_destroy'

/** An event of a call leg, as `hs.publish` takes it, with what every generated one has. */
export interface CallEvent extends ChannelEvent {
  readonly hook: CallHook
  readonly direction: 'inbound' | 'outbound'
  readonly timestampMs: number
  readonly from: string
  readonly to: string
  readonly request: string
  readonly callerIdNumber: string
  readonly calleeIdNumber: string
  readonly isInternalLeg: boolean
}

/** The truth about one leg. */
export interface LegSummary {
  readonly callId: string
  readonly otherLegCallId: string
  readonly direction: 'inbound' | 'outbound'
  readonly internal: boolean
  /** The hooks of its events, in order. */
  readonly hooks: readonly CallHook[]
  readonly createdMs: number
  readonly answeredMs?: number
  readonly destroyedMs: number
}

/** A leg before anything is told of it. */
export interface Leg {
  readonly callId: string
  readonly otherLegCallId: string
  readonly direction: 'inbound' | 'outbound'
  readonly internal: boolean
  readonly side: 'near' | 'far'
  readonly createdMs: number
  /** So long after the moment of the call this leg is answered … */
  readonly answerLagMs: number
  /** … and destroyed. */
  readonly endLagMs: number
}

/** From the answer to the bridge: every leg is answered by then. */
const BRIDGE_MS = 25

/** What the legs of a call have in common. */
interface Setting {
  readonly startedMs: number
  readonly course: Course
  readonly accountId: string
  readonly caller: Party
  readonly callee: Party
}

/** The events of one leg in order, and their summary. */
export function tellLeg(leg: Leg, { startedMs, course, accountId, caller, callee }: Setting) {
  const answeredMs =
    course.answeredMs === undefined ? undefined : startedMs + course.answeredMs + leg.answerLagMs
  const destroyedMs = startedMs + course.endedMs + leg.endLagMs
  const always = {
    accountId,
    callId: leg.callId,
    direction: leg.direction,
    from: caller.address,
    to: callee.address,
    request: callee.address,
    ...(caller.own ? {} : { inception: callee.address }),
    ...(caller.name === undefined ? {} : { callerIdName: caller.name }),
    callerIdNumber: caller.number,
    ...(callee.name === undefined ? {} : { calleeIdName: callee.name }),
    calleeIdNumber: callee.number,
    isInternalLeg: leg.internal,
  }
  // The caller's leg is there before the one it leads to.
  const knowsOther = leg.side === 'near' ? {} : { otherLegCallId: leg.otherLegCallId }
  const joined = { ...always, otherLegCallId: leg.otherLegCallId }

  const events: CallEvent[] = [
    { hook: 'channel_create', ...always, ...knowsOther, timestampMs: leg.createdMs },
  ]
  if (answeredMs !== undefined) {
    const numbers = { originalNumber: callee.number, otherLegDestinationNumber: callee.number }
    events.push({ hook: 'channel_answer', ...joined, timestampMs: answeredMs })
    events.push({ hook: 'channel_bridge', ...joined, ...numbers, timestampMs: answeredMs + BRIDGE_MS })
  }
  for (const hold of course.holds) {
    if (leg.internal || hold.side !== leg.side) continue
    events.push({ hook: 'channel_hold', ...joined, timestampMs: startedMs + hold.fromMs })
    if (hold.toMs === undefined) continue
    events.push({ hook: 'channel_unhold', ...joined, timestampMs: startedMs + hold.toMs })
  }
  const [hangupCause, hangupCode] = ENDINGS[course.outcome][leg.side]
  // Ringing is what is left: so ringing and billing make the whole, though each is in whole seconds.
  const durationSeconds = Math.floor((destroyedMs - leg.createdMs) / 1000)
  const billingSeconds = answeredMs === undefined ? 0 : Math.floor((destroyedMs - answeredMs) / 1000)
  events.push({
    hook: 'channel_destroy',
    ...joined,
    timestampMs: destroyedMs,
    hangupCause,
    hangupCode,
    durationSeconds,
    ringingSeconds: durationSeconds - billingSeconds,
    billingSeconds,
  })

  const { callId, otherLegCallId, direction, internal, createdMs } = leg
  const hooks = events.map((event) => event.hook)
  const answer = answeredMs === undefined ? {} : { answeredMs }
  const summary: LegSummary = {
    callId,
    otherLegCallId,
    direction,
    internal,
    hooks,
    createdMs,
    ...answer,
    destroyedMs,
  }
  return { events, summary }
}
