/** What happened to a leg → the channel events that `hs.publish` takes, but for their account. */
import type { ChannelDraft } from '../source/leg-news.js'
import { secondsBetween } from '../source/seconds.js'
import type { Ending } from './ending.js'
import type { Bridge } from './happening.js'
import { keyOf, type Leg } from './leg.js'

/** Which hook, and when. */
interface What {
  readonly hook: string
  readonly atMs: number
  /** Beside the hook: what tells it from others of its kind. */
  readonly key?: string | number
}

/** What every event of a leg shows beside it. */
export interface Shown {
  /** The leg that it has to do with. */
  readonly other: string | undefined
  /** The channel variables that the host wants, and what we know beyond KAZOO's fields. */
  readonly customChannelVars: Readonly<Record<string, unknown>>
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

/** What the service takes for the id of a leg; the other leg's must not cost the event. */
const CALL_ID = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,255}$/u

/** An event of a leg whose parties are known. */
export function draftOf(
  leg: Leg,
  { hook, atMs, key }: What,
  { other, customChannelVars }: Shown,
): ChannelDraft {
  const draft: Mutable<ChannelDraft> = {
    hook,
    callId: leg.id,
    direction: leg.direction,
    timestampMs: Math.floor(atMs),
    isInternalLeg: leg.isInternal,
    idempotencyKey: key === undefined ? keyOf(leg, hook) : keyOf(leg, hook, key),
  }
  if (other !== undefined && CALL_ID.test(other)) draft.otherLegCallId = other
  const { parties } = leg
  if (parties) {
    const from = address(parties.callerNumber, parties.realm)
    const to = address(parties.calleeNumber, parties.realm)
    if (from !== undefined) draft.from = from
    if (to !== undefined) {
      draft.to = to
      draft.request = to
    }
    if (parties.callerNumber !== undefined) draft.callerIdNumber = parties.callerNumber
    if (parties.callerName !== undefined) draft.callerIdName = parties.callerName
    if (parties.calleeNumber !== undefined) draft.calleeIdNumber = parties.calleeNumber
    if (parties.calleeName !== undefined) draft.calleeIdName = parties.calleeName
  }
  for (const _ in customChannelVars) {
    draft.customChannelVars = customChannelVars
    break
  }
  return draft
}

/** A leg that hears another, or a conference. */
export function bridgeDraft(
  leg: Leg,
  other: Leg | undefined,
  bridge: Bridge,
  atMs: number,
  shown: Shown,
): ChannelDraft {
  const key = `${other?.id ?? ''}/${bridge.id}/${Math.round(atMs * 1000)}`
  const bridgeVars: Record<string, unknown> = { bridge_id: bridge.id }
  if (bridge.name !== undefined) bridgeVars.bridge_name = bridge.name
  const draft: Mutable<ChannelDraft> = draftOf(
    leg,
    { hook: 'channel_bridge', atMs, key },
    {
      other: other?.id,
      customChannelVars: Object.assign(bridgeVars, shown.customChannelVars),
    },
  )
  if (leg.direction === 'inbound' && leg.parties?.calleeNumber !== undefined) {
    draft.originalNumber = leg.parties.calleeNumber
  }
  const destination = other?.parties?.calleeNumber
  if (destination !== undefined) draft.otherLegDestinationNumber = destination
  return draft
}

/** The last of a leg. */
export function destroyDraft(leg: Leg, ending: Ending, atMs: number, shown: Shown): ChannelDraft {
  const draft: Mutable<ChannelDraft> = draftOf(leg, { hook: 'channel_destroy', atMs }, shown)
  const answeredMs = leg.answeredMs ?? atMs
  draft.hangupCause = ending.hangupCause
  if (ending.code !== undefined) draft.hangupCode = `sip:${ending.code}`
  draft.durationSeconds = secondsBetween(leg.createdMs, atMs)
  draft.ringingSeconds = secondsBetween(leg.ringingMs ?? answeredMs, answeredMs)
  draft.billingSeconds = secondsBetween(answeredMs, atMs)
  return draft
}

function address(number: string | undefined, realm: string | undefined): string | undefined {
  return number === undefined || realm === undefined ? number : `${number}@${realm}`
}
