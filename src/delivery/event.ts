/** Channel events: their type, and the check of what a host publishes. */
import { type Failure, HookswitchError, invalidInput } from '../errors.js'
import { findJsonProblem, toCanonicalJson } from '../values/canonical-json.js'
import { closestName, suggestionOf } from '../values/closest-name.js'
import { sha256 } from '../values/hash.js'
import { toSchemaFailures } from '../values/schema-failures.js'
import { validateEvent } from '../values/validators.generated.js'
import { type CatalogueEntry, HOOK_ALIASES, OBJECT_HOOK } from '../webhooks/catalogue.js'
import type { DataResult, DataValidators } from '../webhooks/event-data.js'
import { eventSchema } from './event-schema.js'

/**
 * An event of a call as the host publishes it: the payload of KAZOO's webhooks in camelCase. Only `hook`,
 * `accountId` and `callId` are required; absent fields are absent in the payload too.
 */
export interface ChannelEvent {
  /** Kind of event. `CustomEvent` has the kinds that the host registers. */
  readonly hook:
    | 'channel_create'
    | 'channel_answer'
    | 'channel_bridge'
    | 'channel_hold'
    | 'channel_unhold'
    | 'channel_destroy'
    | 'channel_transferee'
    | 'channel_transferor'
    | 'parking'
    | 'voicemail_new'
    | 'missed_call'
    | 'queue_join'
    | 'queue_leave'
    | 'queue_agent_offer'
    | 'queue_agent_answer'
    | 'queue_agent_no_answer'
    | 'queue_agent_complete'
    | 'queue_agent_login'
    | 'queue_agent_logout'
    | 'queue_agent_pause'
    | 'queue_agent_resume'
    | 'channel_dtmf'
    | 'recording_started'
    | 'recording_ready'
    | 'conference_join'
    | 'conference_leave'
    | 'device_registered'
    | 'device_unregistered'
    | 'sms'
  /** Id of the account in which it happened. */
  readonly accountId: string
  /** Id of the call leg, 1 to 255 printable characters; of a device, an agent or a message (`sms`), its own. */
  readonly callId: string
  /**
   * Id that all legs of a call have, 1–255 printable characters: usually the id of its first leg. A leg that joins an older
   * call in a transfer has the id of that call from then on.
   */
  readonly callGroupId?: string | undefined
  /** Id of the leg at the other end, 1–255 printable characters. */
  readonly otherLegCallId?: string | undefined
  /** Direction of the leg, seen from the platform; sent as `call_direction`. */
  readonly direction?: 'inbound' | 'outbound' | undefined
  /** When it happened, Unix milliseconds; sent as `happened_at` and `timestamp`. Default is now. */
  readonly timestampMs?: number | undefined
  /** Calling party, `user@realm`. */
  readonly from?: string | undefined
  /** Called party, `user@realm`. */
  readonly to?: string | undefined
  /** Requested destination, `user@realm`. */
  readonly request?: string | undefined
  /** Where the call entered the platform, `user@realm`. Absent for internal calls. */
  readonly inception?: string | undefined
  /** Name of the caller. */
  readonly callerIdName?: string | undefined
  /** Number of the caller. */
  readonly callerIdNumber?: string | undefined
  /** Name of the callee: until the call is answered of the one who was called, then of the one who answered. */
  readonly calleeIdName?: string | undefined
  /** Number of the callee. `to` and `request` keep what was dialled. */
  readonly calleeIdNumber?: string | undefined
  /** Who answered the call, from the answer on. Absent if only the platform did. */
  readonly answeredBy?:
    | {
        /** Number of the party. */
        readonly number?: string | undefined
        /** Name of the party. */
        readonly name?: string | undefined
        /** Id of its leg, 1–255 printable characters. */
        readonly callId?: string | undefined
      }
    | undefined
  /** Where the leg leads: the phone, or the line to the carrier. */
  readonly endpoint?:
    | {
        /** `extension`: a phone of the platform. `trunk`, `gateway`: a line to a carrier. Absent if it is not known. */
        readonly kind?: 'extension' | 'trunk' | 'gateway' | undefined
        /** Its name on the platform. */
        readonly name?: string | undefined
      }
    | undefined
  /** Id of the user who owns the authorizing device. */
  readonly ownerId?: string | undefined
  /** Id of the account that resells to this one. */
  readonly resellerId?: string | undefined
  /** Id of the device or trunk that authorized the leg. */
  readonly authorizingId?: string | undefined
  /** Kind of the authorizing device or trunk, such as `resource`. */
  readonly authorizingType?: string | undefined
  /** Whether the leg comes from call forwarding. */
  readonly callForwarded?: boolean | undefined
  /** Whether an emergency carrier was used. */
  readonly emergencyResourceUsed?: boolean | undefined
  /** Whether one of the account's own carriers was used. */
  readonly localResourceUsed?: boolean | undefined
  /** Id of the account's own carrier that was used. */
  readonly localResourceId?: string | undefined
  /** A loopback leg: sent only to webhooks with `includeInternalLegs`. */
  readonly isInternalLeg?: boolean | undefined
  /** Variables of the channel. Any JSON values; the whole event may nest 32 levels deep and take 64 KiB. */
  readonly customChannelVars?: Readonly<Record<string, unknown>> | undefined
  /** Variables set by applications. Any JSON values, within the same limits. */
  readonly customApplicationVars?: Readonly<Record<string, unknown>> | undefined
  /** `channel_bridge`: number that was originally dialled. */
  readonly originalNumber?: string | undefined
  /** `channel_bridge`: number dialled on the other leg. */
  readonly otherLegDestinationNumber?: string | undefined
  /** `channel_destroy`: why the leg ended, such as `NORMAL_CLEARING`. */
  readonly hangupCause?: string | undefined
  /** `channel_destroy`: the cause as a protocol code, such as `sip:200`. */
  readonly hangupCode?: string | undefined
  /** `channel_destroy`: duration of the leg in whole seconds, rounded down, 0–2,147,483,647. */
  readonly durationSeconds?: number | undefined
  /** `channel_destroy`: `durationSeconds` minus `billingSeconds`, 0–2,147,483,647. */
  readonly ringingSeconds?: number | undefined
  /** `channel_destroy`: time from the answer to the end in whole seconds, rounded down, 0–2,147,483,647. */
  readonly billingSeconds?: number | undefined
  /**
   * `channel_destroy`: duration of the leg in milliseconds, 0–2,147,483,647,000; `recording_ready`: length of the recording.
   */
  readonly durationMs?: number | undefined
  /**
   * `channel_destroy`: time until the answer in milliseconds, or the duration if there was none; `queue_agent_no_answer`: how
   * long the phone of the agent rang.
   */
  readonly ringingMs?: number | undefined
  /** `channel_destroy`: time from the answer to the end in milliseconds. */
  readonly billingMs?: number | undefined
  /** `channel_transferee`, `channel_transferor`: `attended` if the transferring party spoke to the new one before. */
  readonly transferType?: 'blind' | 'attended' | undefined
  /** `channel_transferee`, `channel_transferor`: number that the call is transferred to. */
  readonly transferTo?: string | undefined
  /** `channel_transferee`, `channel_transferor`: id of the leg that the call is transferred to, if it exists. */
  readonly targetCallId?: string | undefined
  /** `parking`: whether the call is parked, retrieved, or ended in the slot. */
  readonly eventName?: 'PARK_PARKED' | 'PARK_RETRIEVED' | 'PARK_ABANDONED' | undefined
  /** `parking`: slot in which the call is parked. */
  readonly parkingSlot?: string | undefined
  /** `voicemail_new`, `missed_call`: user part of `from`. */
  readonly fromUser?: string | undefined
  /** `voicemail_new`, `missed_call`, `sms`: realm of `from`. */
  readonly fromRealm?: string | undefined
  /** `voicemail_new`, `missed_call`: user part of `to`. */
  readonly toUser?: string | undefined
  /** `voicemail_new`, `missed_call`, `sms`: realm of `to`. */
  readonly toRealm?: string | undefined
  /** `voicemail_new`: voicemail box, `box` or `box@context`. */
  readonly voicemailBox?: string | undefined
  /** `voicemail_new`: id of the message. */
  readonly voicemailId?: string | undefined
  /** `voicemail_new`: length of the message in milliseconds, 0–2,147,483,647; sent as `voicemail_length`. */
  readonly voicemailLengthMs?: number | undefined
  /** `missed_call`: whether the call was answered by a user. */
  readonly callBridged?: boolean | undefined
  /** `missed_call`: whether the caller left a voicemail message. */
  readonly messageLeft?: boolean | undefined
  /** `queue_…`: name of the queue; absent where an agent logs in to all of them, or out. */
  readonly queueId?: string | undefined
  /** `queue_join`, `queue_leave`: position of the caller in the queue, 1 for the next. */
  readonly queuePosition?: number | undefined
  /** `queue_leave`: why the caller left, if the switch reports it. `key`: the caller pressed a key. */
  readonly queueLeaveReason?: 'answered' | 'abandoned' | 'timeout' | 'no_agent' | 'key' | undefined
  /**
   * `queue_leave`, `queue_agent_answer`, `queue_agent_complete`: how long the caller has waited, in whole seconds,
   * 0–2,147,483,647.
   */
  readonly waitingSeconds?: number | undefined
  /** `queue_agent_…`: id of the agent. */
  readonly agentId?: string | undefined
  /** `queue_agent_…`: id of the leg to the agent. */
  readonly agentCallId?: string | undefined
  /** `queue_agent_…`: number of the agent's phone. */
  readonly agentNumber?: string | undefined
  /** `queue_agent_complete`: how long agent and caller have talked, in whole seconds, 0–2,147,483,647. */
  readonly talkingSeconds?: number | undefined
  /** `channel_dtmf`: key that was pressed. The keys of a call may be a secret such as a PIN. */
  readonly dtmfDigit?: string | undefined
  /** `channel_dtmf`: how long it was pressed, in milliseconds, 0–2,147,483,647. */
  readonly dtmfDurationMs?: number | undefined
  /** `recording_…`: file of the recording, as the switch names it. */
  readonly path?: string | undefined
  /**
   * `recording_ready`: why the recording ended: `hangup` (with the call), `stopped` (by a command), `max_length` or `failed`.
   * `queue_agent_complete`: who ended the talk: `caller`, `agent`, or by a `transfer`. `queue_agent_pause`: why the agent pauses.
   */
  readonly reason?: string | undefined
  /** `conference_…`: name of the conference. */
  readonly name?: string | undefined
  /** `conference_…`: id of the member in the conference. */
  readonly member?: string | undefined
  /** `conference_…`: how many members the conference has afterwards. */
  readonly members?: number | undefined
  /** `device_…`: user of the device at its realm. */
  readonly username?: string | undefined
  /** `device_…`: realm at which the device is registered. */
  readonly realm?: string | undefined
  /** `device_…`: address under which the device can be reached, a SIP Contact. */
  readonly contact?: string | undefined
  /** `device_…`: model and version of the device, as it says. */
  readonly userAgent?: string | undefined
  /** `device_registered`: seconds until the registration ends unless it is renewed, 0–2,147,483,647. */
  readonly expires?: number | undefined
  /** `sms`: text of the message. It may be a secret such as a login code. */
  readonly body?: string | undefined
  /** `sms`: state of the message, as the platform names it. */
  readonly status?: string | undefined
  /** Within 24 h, events with the same key are one event. 1 to 255 printable characters. */
  readonly idempotencyKey?: string | undefined
}

/** An event of a kind that the host registers: the fields of a channel event, and its own in `data`. */
export type CustomEvent<Id extends string = string, Data = unknown> = Omit<
  ChannelEvent,
  'hook' | 'callId'
> & {
  readonly hook: Id
} & (
    | { readonly callId: string; readonly orderingKey?: undefined }
    /** Events with the same key, 1 to 255 printable characters, are numbered and sent in order, like those of a call. */
    | { readonly orderingKey: string; readonly callId?: undefined }
  ) &
  (undefined extends Data ? { readonly data?: Data | undefined } : { readonly data: Data })

/** An accepted event, as listeners receive it. */
export interface PublishedEvent extends Omit<ChannelEvent, 'hook' | 'timestampMs'> {
  /** Kind of event. */
  readonly hook: string
  /** Id of the call leg; of an event with an ordering key, the key. */
  readonly callId: string
  /** Time of the event, in Unix milliseconds; that of acceptance if the publisher gave none. */
  readonly timestampMs: number
  /** `object`: id of the document that was created, changed or deleted; sent as `id`. */
  readonly documentId?: string
  /** `object`: type of the document, such as `account` or `user`; sent as `type`. */
  readonly documentType?: string
  /** `object`: what happened to the document; sent as `action`. */
  readonly documentAction?: 'doc_created' | 'doc_edited' | 'doc_deleted'
  /** Custom events only: in place of a call id, what events are numbered and ordered by. */
  readonly orderingKey?: string
  /** Custom events only: fields of their own. */
  readonly data?: Readonly<Record<string, unknown>>
  /** The event's id. */
  readonly eventId: string
  /** 1, 2, … within its call, in order of acceptance. */
  readonly sequence: number
}

/** A checked event: `timestampMs` is always present, and `callId` is the ordering key of an event that has one. */
export type CheckedEvent = Omit<PublishedEvent, 'eventId' | 'sequence'>

/** The kinds of events that the host registers. */
export interface CustomKinds {
  has(hook: string): boolean
  /** Validates the data of an event of such a kind; `undefined`: it has none. */
  validate(hook: string, data: unknown): DataResult
}

const NO_CUSTOM_KINDS: CustomKinds = { has: () => false, validate: () => ({ data: undefined }) }

/** The kinds that the host registers, of a catalogue. */
export function customKindsOf(catalogue: readonly CatalogueEntry[], validators: DataValidators): CustomKinds {
  const ids = new Set(catalogue.filter(({ field }) => field !== undefined).map(({ id }) => id))
  return {
    has: (hook) => ids.has(hook),
    validate: (hook, data) => validators.get(hook)?.(data) ?? { data: data as CheckedEvent['data'] },
  }
}

/** Largest payload that is accepted, in bytes. @internal */
export const MAX_PAYLOAD_BYTES = 65_536
/** Maximum depth of nesting. */
const MAX_DEPTH = 32

function invalidEvent(field: string, message: string): HookswitchError {
  const path = field === '' ? 'event' : field
  return new HookswitchError('InvalidInput', `${path}: ${message}`, {
    field: path,
    failures: [{ path: field, rule: 'error', message }],
  })
}

/**
 * Checks an event of the host and returns a copy; the two `custom…Vars` still refer to the host's objects. An
 * unknown key is an error, since a misspelt field must not be lost.
 *
 * @param nowMs default of `timestampMs`, Unix ms
 * @param isKnownHook whether a kind of event is in the catalogue
 * @param knownHooks ids of the catalogue, for the error message; default: none
 * @param custom the kinds that may have data and an ordering key; default: none
 * @throws `InvalidInput` naming the field
 */
export function checkEvent(
  input: unknown,
  nowMs: number,
  isKnownHook: (hook: string) => boolean,
  knownHooks: readonly string[] = [],
  custom: CustomKinds = NO_CUSTOM_KINDS,
): CheckedEvent {
  // A copy, since the host may change its event while it is being stored. `timestampMs` comes first: in V8 11
  // an object literal that begins with a spread and has further properties creates an object in slow mode.
  const copy: unknown = isObject(input) ? { timestampMs: nowMs, ...input } : input
  const isOrdered = isObject(copy) && takeOrderingKey(copy)
  const missing = isObject(copy) ? missingOfDocument(copy) : []
  if (!validateEvent(copy) || missing.length > 0) {
    const all = toSchemaFailures(validateEvent.errors, copy)
    // The call id is a copy of the ordering key, or over HTTP of the document's id, then: one failure is enough.
    const isCopied = isOrdered || missing.some(({ path }) => path === 'documentId')
    const failures = [...(isCopied ? all.filter(({ path }) => path !== 'callId') : all), ...missing]
    const first = failures[0]
    // Only the first one suggests a name: an event may have many.
    const unknown = failures.find(({ rule }) => rule === 'additionalProperties')
    const suggestion = unknown ? suggestionOf(unknown.path, Object.keys(eventSchema.properties)) : ''
    const described = failures.map((f) => {
      if (f.path === '') return { ...f, message: 'an event must be an object' }
      if (f.rule !== 'additionalProperties') return f
      return { ...f, message: `is not a field of an event${f === unknown ? suggestion : ''}` }
    })
    throw new HookswitchError('InvalidInput', invalidInput(described).message, {
      failures,
      field: first?.path || 'event',
    })
  }
  const event = copy as CheckedEvent
  const alias = isKnownHook(event.hook) ? undefined : HOOK_ALIASES.get(event.hook)
  if (alias !== undefined && isKnownHook(alias)) (event as { hook: string }).hook = alias
  if (!isKnownHook(event.hook)) throw invalidEvent('hook', unregistered(event.hook, knownHooks))
  checkCustomFields(copy as CustomFields, isOrdered, custom)
  for (const key of Object.keys(event)) {
    const value: unknown = event[key as keyof CheckedEvent]
    if (
      typeof value === 'string'
        ? value.isWellFormed()
        : typeof value !== 'object' && typeof value !== 'number'
    )
      continue
    const found = findJsonProblem(value, MAX_DEPTH - 1, key)
    if (found) throw invalidEvent(found.path, found.problem)
  }
  // The host passed `timestampMs: undefined` explicitly.
  if (event.timestampMs === undefined) (event as { timestampMs?: number }).timestampMs = nowMs
  return event
}

/** The fields of an event that only registered kinds may have. */
interface CustomFields {
  readonly hook: string
  callId?: unknown
  readonly orderingKey?: unknown
  data?: unknown
}

/** An ordering key takes the place of the call id, by which events are numbered, ordered and found. */
function takeOrderingKey(event: Partial<CustomFields>): boolean {
  const { orderingKey, callId = orderingKey } = event
  if (orderingKey === undefined || callId !== orderingKey) return false
  event.callId = orderingKey
  return true
}

const DOCUMENT_FIELDS = ['documentId', 'documentType', 'documentAction'] as const

/** The event of a document tells which one and what happened to it: webhooks choose by type and action. */
function missingOfDocument(event: Partial<CheckedEvent>): readonly Failure[] {
  if (event.hook !== OBJECT_HOOK) return []
  return DOCUMENT_FIELDS.filter((path) => event[path] === undefined || event[path] === '').map((path) => ({
    path,
    rule: 'required',
    message: 'Field is required but missing',
    target: 'required',
  }))
}

/** @throws `InvalidInput` naming the field */
function checkCustomFields(event: CustomFields, isOrdered: boolean, custom: CustomKinds): void {
  const { hook, orderingKey, data } = event
  if (!custom.has(hook)) {
    if (orderingKey === undefined && data === undefined) return
    throw invalidEvent(orderingKey === undefined ? 'data' : 'orderingKey', `is not a field of '${hook}'`)
  }
  if (orderingKey !== undefined && !isOrdered)
    throw invalidEvent('orderingKey', 'must not be given together with a callId')
  const result = custom.validate(hook, data)
  if ('failures' in result) {
    const { failures } = result
    const { message } = invalidInput(failures)
    throw new HookswitchError('InvalidInput', message, { failures, field: failures[0]?.path ?? 'data' })
  }
  if (result.data !== data) event.data = result.data
}

/** `'channel_created' is not a registered event (did you mean 'channel_create'? known: …)` */
function unregistered(hook: string, knownHooks: readonly string[]): string {
  const closest = closestName(hook, knownHooks)
  const suggestion = closest === undefined ? '' : `did you mean '${closest}'? `
  const hint = knownHooks.length === 0 ? '' : ` (${suggestion}known: ${knownHooks.join(', ')})`
  return `'${hook.slice(0, 64)}' is not a registered event${hint}`
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * The hash by which bodies with the same idempotency key are compared: over every other field, in any order.
 */
export function hashEventBody(event: object): string {
  const { idempotencyKey: _, ...body } = event as Partial<CheckedEvent>
  return sha256(toCanonicalJson(body))
}

/** @throws `InvalidInput` when the payload is above 64 KiB */
export function checkPayloadSize(json: string): void {
  if (json.length * 3 <= MAX_PAYLOAD_BYTES) return
  const bytes = new TextEncoder().encode(json).length
  if (bytes > MAX_PAYLOAD_BYTES) {
    throw invalidEvent('', `the payload has ${bytes} bytes, at most ${MAX_PAYLOAD_BYTES} are accepted`)
  }
}
