/**
 * The hooks that a source publishes beside the six of a leg (`channel_create` … `channel_destroy`), where its switch reports
 * them, and the fields of their events. Pure.
 */
import type { ChannelEvent } from 'hookswitch'
import type { PendingEvent } from './mapped-events.js'
import { invalidOption, optionWithDefault } from './options.js'

/** The hooks that a host can select. */
export const OPTIONAL_HOOKS = [
  'channel_transferee',
  'channel_transferor',
  'parking',
  'voicemail_new',
  'missed_call',
  'queue_join',
  'queue_leave',
  'queue_agent_offer',
  'queue_agent_answer',
  'queue_agent_no_answer',
  'queue_agent_complete',
  'queue_agent_login',
  'queue_agent_logout',
  'queue_agent_pause',
  'queue_agent_resume',
  'recording_started',
  'recording_ready',
  'conference_join',
  'conference_leave',
  'device_registered',
  'device_unregistered',
  'sms',
  'channel_dtmf',
] as const

/** A hook that a source publishes only if it is selected. */
export type OptionalHook = (typeof OPTIONAL_HOOKS)[number]

/** The option of the sources whose switch reports more of a call. */
export interface OptionalHooksOption {
  /**
   * The hooks to publish beside `channel_create`, `channel_answer`, `channel_bridge`, `channel_hold`, `channel_unhold` and
   * `channel_destroy`, if the switch reports them. Default: all but `channel_dtmf` and `sms`, which may be secrets (PINs, card
   * numbers, login codes), and `device_…`, `queue_agent_login`, `queue_agent_logout`, `queue_agent_pause` and
   * `queue_agent_resume`, for which `accountOf` must know the account of a device or an agent.
   */
  readonly optionalHooks?: readonly OptionalHook[] | undefined
}

/** The default of `optionalHooks`. @internal */
export const DEFAULT_OPTIONAL_HOOKS: readonly OptionalHook[] = OPTIONAL_HOOKS.filter(
  (hook) => !/^(channel_dtmf|sms|device_.+|queue_agent_(login|logout|pause|resume))$/.test(hook),
)

/** The row of `OptionalHooksOption`. */
export const OPTIONAL_HOOKS_OPTION = {
  optionalHooks: optionWithDefault((field, value) => {
    const known: ReadonlySet<unknown> = new Set(OPTIONAL_HOOKS)
    if (!Array.isArray(value) || value.some((hook) => !known.has(hook)))
      throw invalidOption(field, `must be an array of ${OPTIONAL_HOOKS.join(', ')}`)
  }, DEFAULT_OPTIONAL_HOOKS),
}

/** The fields of these events that the fields of their leg do not include. */
export type CallDetails = Pick<
  ChannelEvent,
  | 'otherLegCallId'
  | 'transferType'
  | 'transferTo'
  | 'targetCallId'
  | 'eventName'
  | 'parkingSlot'
  | 'fromUser'
  | 'fromRealm'
  | 'toUser'
  | 'toRealm'
  | 'voicemailBox'
  | 'voicemailId'
  | 'voicemailLengthMs'
  | 'callBridged'
  | 'messageLeft'
  | 'queueId'
  | 'queuePosition'
  | 'queueLeaveReason'
  | 'waitingSeconds'
  | 'agentId'
  | 'agentCallId'
  | 'agentNumber'
  | 'talkingSeconds'
  | 'ringingMs'
  | 'dtmfDigit'
  | 'dtmfDurationMs'
  | 'path'
  | 'durationMs'
  | 'reason'
  | 'name'
  | 'member'
  | 'members'
>

type Loose<T> = { readonly [Key in keyof T]?: T[Key] | undefined }

/** Returns the details without the absent ones. */
export function definedDetails(details: Loose<CallDetails>): CallDetails {
  return Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined))
}

/** Returns what distinguishes these details from others of the same leg, hook and time, for an idempotency key. */
export function detailsKey(details: CallDetails): string {
  const { agentCallId, agentId, dtmfDigit, eventName, path, queueId } = details
  return agentId ?? agentCallId ?? dtmfDigit ?? eventName ?? queueId ?? path ?? ''
}

/** Returns the users and realms of an event's addresses, as KAZOO sends them for voicemail and missed calls. */
export function partyDetails({ from, to }: Pick<PendingEvent, 'from' | 'to'>): CallDetails {
  const [fromUser, fromRealm] = splitAddress(from)
  const [toUser, toRealm] = splitAddress(to)
  return definedDetails({ fromUser, fromRealm, toUser, toRealm })
}

/** KAZOO notifies of a missed call only if it was neither bridged nor left a message. */
export const MISSED: CallDetails = Object.freeze({ callBridged: false, messageLeft: false })

/** Returns the user and the realm of `user@realm`. */
export function splitAddress(address: string | undefined): readonly [string?, string?] {
  if (address === undefined) return []
  const at = address.lastIndexOf('@')
  return at < 0 ? [address] : [address.slice(0, at), address.slice(at + 1)]
}
