import { HookswitchError, invalidInput } from '../errors.js'
import { canonicalJson, jsonProblem } from '../values/canonical-json.js'
import { sha256 } from '../values/digest.js'
import { toFailures } from '../values/schema-failures.js'
import { validateEvent } from './event-validator.generated.js'

/**
 * A channel event as the embedding host publishes it: the payload of KAZOO's webhooks in camelCase.
 * Only `hook`, `accountId` and `callId` are required; what is absent is absent in the payload too.
 */
export interface ChannelEvent {
  /** A kind of the catalogue: `channel_create`, `channel_answer`, …, or one that the host registered. */
  readonly hook: string
  /** The account in which it happened. */
  readonly accountId: string
  /** Id of the call leg, 1 to 255 printable characters. */
  readonly callId: string
  readonly otherLegCallId?: string
  readonly direction?: 'inbound' | 'outbound'
  /** When it happened, Unix milliseconds. Default: now. */
  readonly timestampMs?: number
  /** `user@realm` */
  readonly from?: string
  readonly to?: string
  readonly request?: string
  readonly inception?: string
  readonly callerIdName?: string
  readonly callerIdNumber?: string
  readonly calleeIdName?: string
  readonly calleeIdNumber?: string
  readonly ownerId?: string
  readonly resellerId?: string
  readonly authorizingId?: string
  readonly authorizingType?: string
  readonly callForwarded?: boolean
  readonly emergencyResourceUsed?: boolean
  readonly localResourceUsed?: boolean
  readonly localResourceId?: string
  /** A loopback leg: sent only to webhooks that ask for internal legs. */
  readonly isInternalLeg?: boolean
  readonly customChannelVars?: Readonly<Record<string, unknown>>
  readonly customApplicationVars?: Readonly<Record<string, unknown>>
  /** `channel_bridge` */
  readonly originalNumber?: string
  readonly otherLegDestinationNumber?: string
  /** `channel_destroy`: `NORMAL_CLEARING`, … */
  readonly hangupCause?: string
  /** `channel_destroy`: `sip:200` */
  readonly hangupCode?: string
  readonly durationSeconds?: number
  readonly ringingSeconds?: number
  readonly billingSeconds?: number
  /** The same key within 24 h is the same event. 1 to 255 characters. */
  readonly idempotencyKey?: string
}

/** A checked event: its time is known. */
export type CheckedEvent = ChannelEvent & { readonly timestampMs: number }

/** Most bytes of a payload, most levels of nesting: checked before an event is accepted. */
export const MAX_PAYLOAD_BYTES = 65_536
const MAX_DEPTH = 32

function invalidEvent(field: string, message: string): HookswitchError {
  const path = field === '' ? 'event' : field
  return new HookswitchError('InvalidInput', `${path}: ${message}`, {
    field: path,
    failures: [{ path: field, rule: 'error', message }],
  })
}

/**
 * Checks what a host publishes and gives a copy of it, in which only the two `custom…Vars` are the host's still. An
 * unknown key is an error that names it: a misspelt field must not vanish.
 *
 * @param knowsHook whether a kind is in the catalogue
 * @throws `InvalidInput` naming the field
 */
export function checkEvent(
  input: unknown,
  nowMs: number,
  knowsHook: (hook: string) => boolean,
): CheckedEvent {
  // The host may change its event while it is being kept: what is checked, and goes on from here, is a copy. Its time
  // comes first: V8 11 gives objects whose literal begins with a spread, and goes on, slow shapes.
  const given = isObject(input) ? { timestampMs: nowMs, ...input } : input
  if (!validateEvent(given)) {
    const failures = toFailures(validateEvent.errors, given)
    const first = failures[0]
    const said = failures.map((f) =>
      f.rule === 'additionalProperties' ? { ...f, message: 'is not a field of an event' } : f,
    )
    throw new HookswitchError('InvalidInput', invalidInput(said).message, {
      failures,
      field: first?.path || 'event',
    })
  }
  const event = given as ChannelEvent
  if (!knowsHook(event.hook))
    throw invalidEvent('hook', `'${event.hook.slice(0, 64)}' is not in the catalogue`)
  for (const key of Object.keys(event)) {
    const value: unknown = event[key as keyof ChannelEvent]
    if (
      typeof value === 'string'
        ? value.isWellFormed()
        : typeof value !== 'object' && typeof value !== 'number'
    )
      continue
    const found = jsonProblem(value, MAX_DEPTH - 1, key)
    if (found) throw invalidEvent(found.path, found.problem)
  }
  // It was given, but undefined.
  if (event.timestampMs === undefined) (event as { timestampMs?: number }).timestampMs = nowMs
  return event as CheckedEvent
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What "the same body" of an idempotency key means: every field that the host gave, whatever their order. */
export function bodyHash(event: ChannelEvent): string {
  const { idempotencyKey: _, ...body } = event
  return sha256(canonicalJson(body))
}

/** @throws `InvalidInput` when the payload is above 64 KiB */
export function checkPayloadSize(json: string): void {
  if (json.length * 3 <= MAX_PAYLOAD_BYTES) return
  const bytes = new TextEncoder().encode(json).length
  if (bytes > MAX_PAYLOAD_BYTES) {
    throw invalidEvent('', `the payload has ${bytes} bytes, at most ${MAX_PAYLOAD_BYTES} are accepted`)
  }
}
