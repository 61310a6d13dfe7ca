/** Call events as KAZOO's WebSockets have them: its AMQP messages with lower_snake keys (`bh_events:event`). Pure. */
import { type PublishedEvent, VERSION } from 'hookswitch'
import { type CallEventName, callEventName, payloadOf } from 'hookswitch/adapter'
import { type BindingTarget, encodeRoutingKey } from './bindings.js'

/** A call event, ready to be sent to every socket that has a binding to it. */
export interface CallEvent extends BindingTarget {
  readonly accountId: string
  /** `data` of its frames, as JSON. */
  readonly json: string
}

/** Payload keys that KAZOO has in `custom_channel_vars`. */
const CHANNEL_VARS = ['account_id', 'owner_id', 'reseller_id', 'authorizing_id', 'authorizing_type'] as const

/**
 * Returns the call event, or `undefined` for an event that is none.
 *
 * @param node id of this process, sent as `node`
 */
export function callEventOf(event: PublishedEvent, node: string): CallEvent | undefined {
  const name = callEventName(event.hook, event.eventName)
  if (name === undefined) return undefined
  const { accountId, callId } = event
  const json = JSON.stringify(dataOf(event, name, node))
  return { accountId, callId, routedCallId: encodeRoutingKey(callId), name, json }
}

/** The document: the payload of webhooks, with the headers of KAZOO's messages. */
function dataOf(event: PublishedEvent, name: CallEventName, node: string): Readonly<Record<string, unknown>> {
  const {
    hook_event: _,
    custom_channel_vars,
    custom_application_vars,
    ...fields
  } = payloadOf(event, event.eventId)
  const own = CHANNEL_VARS.flatMap((key) => (fields[key] === undefined ? [] : [[key, fields[key]] as const]))
  return {
    app_name: 'hookswitch',
    app_version: VERSION,
    event_category: 'call_event',
    event_name: name,
    msg_id: event.eventId,
    node,
    ...fields,
    sequence: event.sequence,
    custom_channel_vars: { ...normalizedKeys(custom_channel_vars), ...Object.fromEntries(own) },
    ...(custom_application_vars !== undefined && {
      custom_application_vars: normalizedKeys(custom_application_vars),
    }),
  }
}

/** Lower-case keys with underscores, at every depth (`kz_json:normalize_jobj`). */
function normalizedKeys(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return {}
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.toLowerCase().replaceAll('-', '_'), normalized(item)]),
  )
}

function normalized(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normalized)
  return typeof value === 'object' && value !== null ? normalizedKeys(value) : value
}
