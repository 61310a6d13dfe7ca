/** The catalogue of hooks: the built-in kinds of events and those that the host registers. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { HookswitchError } from '../errors.js'
import { DETAIL_SAMPLES } from './detail-samples.js'
import type { DataSchema } from './event-data.js'
import { META_HOOKS, META_SAMPLES } from './meta-hooks.js'
import { SAMPLES } from './samples.js'

/**
 * A kind of event that the host registers in addition to the built-in ones. Its events may have an object `data` with
 * fields of their own, and an `orderingKey` in place of a call.
 */
export interface CustomHook {
  /** The value of `hook` in webhooks and events: `^[a-z][a-z0-9_]{0,63}$`, unique, not `all`. */
  readonly id: string
  /** Display name. Default: the id in words (`queue_joined` → "Queue Joined"). */
  readonly name?: string | undefined
  /** One sentence that says when the event happens. Default: empty. */
  readonly description?: string | undefined
  /**
   * What `data` of its events must look like: a Standard Schema, which types `publish` and listeners too, or a JSON
   * Schema of draft 2020-12. Default: any object, or none.
   */
  readonly schema?: StandardSchemaV1 | Readonly<Record<string, unknown>> | undefined
  /**
   * One or more example events, as they would be published. `hook` is filled in, and so are missing account and call
   * ids and a missing time. Required with a `schema` that needs data. Default: an event with only these fields.
   */
  readonly sample?: object | readonly object[] | undefined
}

/** A kind of event that webhooks can listen to. */
export interface CatalogueEntry {
  readonly id: string
  readonly name: string
  readonly description: string
  /** Example events as they would be published; never empty. */
  readonly sample: readonly Readonly<Record<string, unknown>>[]
  /** The option that registered it, such as `hooks[0]`; absent: it is built in. */
  readonly field?: string
  /** Of a registered kind: what the `data` of its events must look like. */
  readonly schema?: DataSchema
}

const ALL_SAMPLES = [...SAMPLES, ...DETAIL_SAMPLES]

/** Names and descriptions; the first six from KAZOO's list (`GET /webhooks`). */
const BUILT_IN: readonly Omit<CatalogueEntry, 'sample'>[] = [
  { id: 'channel_create', name: 'Channel Create', description: 'A new call leg starts.' },
  {
    id: 'channel_answer',
    name: 'Channel Answer',
    description: 'A call leg has two-way audio: the called party or a voicemail box answers.',
  },
  { id: 'channel_bridge', name: 'Channel Bridge', description: 'Two call legs are joined.' },
  { id: 'channel_hold', name: 'Channel Hold', description: 'A call leg is put on hold.' },
  { id: 'channel_unhold', name: 'Channel Unhold', description: 'A call leg is taken off hold.' },
  { id: 'channel_destroy', name: 'Channel Destroy', description: 'A call leg ends, usually by hanging up.' },
  {
    id: 'channel_transferee',
    name: 'Channel Transferee',
    description: 'A call leg is transferred to another party.',
  },
  {
    id: 'channel_transferor',
    name: 'Channel Transferor',
    description: 'A call leg transfers its other party.',
  },
  {
    id: 'parking',
    name: 'Parking',
    description: 'A call is parked in a slot, retrieved from it, or ends there.',
  },
  { id: 'voicemail_new', name: 'Voicemail New', description: 'A caller has left a voicemail message.' },
  {
    id: 'missed_call',
    name: 'Missed Call',
    description: 'A call to a user ends unanswered, and the caller has left no message.',
  },
  { id: 'queue_join', name: 'Queue Join', description: 'A caller enters a queue.' },
  { id: 'queue_leave', name: 'Queue Leave', description: 'A caller leaves a queue, answered or not.' },
  {
    id: 'queue_agent_offer',
    name: 'Queue Agent Offer',
    description: 'A queue offers a waiting caller to an agent, whose phone rings.',
  },
  {
    id: 'queue_agent_answer',
    name: 'Queue Agent Answer',
    description: 'An agent answers a caller of a queue.',
  },
  {
    id: 'queue_agent_no_answer',
    name: 'Queue Agent No Answer',
    description: 'The phone of an agent rang for a caller of a queue, and the agent did not answer.',
  },
  {
    id: 'queue_agent_complete',
    name: 'Queue Agent Complete',
    description: 'The talk of an agent with a caller of a queue is over.',
  },
  { id: 'queue_agent_login', name: 'Queue Agent Login', description: 'An agent starts to serve a queue.' },
  { id: 'queue_agent_logout', name: 'Queue Agent Logout', description: 'An agent serves a queue no longer.' },
  {
    id: 'queue_agent_pause',
    name: 'Queue Agent Pause',
    description: 'An agent takes no callers for a while.',
  },
  { id: 'queue_agent_resume', name: 'Queue Agent Resume', description: 'An agent takes callers again.' },
  {
    id: 'channel_dtmf',
    name: 'Channel DTMF',
    description: 'A key is pressed during a call. The keys of a call may be a secret such as a PIN.',
  },
  { id: 'recording_started', name: 'Recording Started', description: 'The recording of a call begins.' },
  {
    id: 'recording_ready',
    name: 'Recording Ready',
    description: 'The recording of a call has ended, and its file is complete.',
  },
  { id: 'conference_join', name: 'Conference Join', description: 'A caller enters a conference.' },
  { id: 'conference_leave', name: 'Conference Leave', description: 'A caller leaves a conference.' },
  {
    id: 'device_registered',
    name: 'Device Registered',
    description: 'A phone registers: it can be called from now on.',
  },
  {
    id: 'device_unregistered',
    name: 'Device Unregistered',
    description: 'A phone cancels its registration, or does not renew it in time.',
  },
  {
    id: 'sms',
    name: 'SMS',
    description: 'A text message is received. Its text may be a secret such as a login code.',
  },
  {
    id: 'object',
    name: 'Object',
    description:
      'An account or user is created, changed or deleted; `type` and `action` of `custom_data` choose which.',
  },
]

/** KAZOO's names of kinds, which are accepted unless the host registers them. */
export const HOOK_ALIASES: ReadonlyMap<string, string> = new Map([
  ['register', 'device_registered'],
  ['deregister', 'device_unregistered'],
])

/** Fields that the host's samples may omit. */
const SAMPLE_DEFAULTS = {
  accountId: SAMPLES[0]!.accountId,
  callId: SAMPLES[0]!.callId,
  timestampMs: SAMPLES[0]!.timestampMs,
}

/** The kind of events about documents; its webhooks choose them by their custom data (KAZOO `webhooks_object`). */
export const OBJECT_HOOK = 'object'

/** The kind of text messages, whose events have KAZOO's fields `id` and `direction` too (KAZOO `webhooks_sms`). */
export const SMS_HOOK = 'sms'

/** The value of `hook` in webhooks that listen to every kind. Not a kind itself. */
export const ALL_HOOKS = 'all'

/**
 * The built-in kinds, then the host's in the given order.
 *
 * @throws `InvalidOption` naming the invalid part, such as `hooks[0].id`
 */
export function catalogueOf(customHooks: readonly CustomHook[] = []): readonly CatalogueEntry[] {
  if (!Array.isArray(customHooks)) throw invalid('hooks', 'must be an array')
  const catalogue: CatalogueEntry[] = BUILT_IN.map((hook) => ({
    ...hook,
    sample: ALL_SAMPLES.filter((event) => event.hook === hook.id),
  }))
  for (const hook of META_HOOKS) {
    catalogue.push({ ...hook, sample: META_SAMPLES.filter((event) => event.hook === hook.id) })
  }
  customHooks.forEach((hook: unknown, index) => {
    const entry = entryOf(hook, `hooks[${index}]`)
    if (isRegisteredHook(catalogue, entry.id))
      throw invalid(`hooks[${index}].id`, `'${entry.id}' is already registered`)
    catalogue.push(entry)
  })
  return catalogue
}

/** Whether the catalogue contains this kind. False for `all`. */
export function isRegisteredHook(catalogue: readonly CatalogueEntry[], id: string): boolean {
  return catalogue.some((entry) => entry.id === id)
}

function entryOf(hook: unknown, field: string): CatalogueEntry {
  if (!isRecord(hook)) throw invalid(field, 'must be an object')
  const { id, name, description = '', schema, sample = {}, ...rest } = hook
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) throw invalid(`${field}.${unknown}`, 'is not a known property')
  if (typeof id !== 'string' || !/^[a-z][a-z0-9_]{0,63}$/.test(id)) {
    throw invalid(`${field}.id`, 'must be 1 to 64 lower-case letters, digits and _, beginning with a letter')
  }
  if (id === ALL_HOOKS) throw invalid(`${field}.id`, "'all' is reserved for every kind")
  if (name !== undefined && (typeof name !== 'string' || name === '')) {
    throw invalid(`${field}.name`, 'must be a non-empty string')
  }
  if (typeof description !== 'string') throw invalid(`${field}.description`, 'must be a string')
  if (schema !== undefined && !isSchema(schema)) {
    throw invalid(`${field}.schema`, 'must be a Standard Schema or a JSON Schema')
  }
  return {
    id,
    name: name ?? displayName(id),
    description,
    sample: samplesOf(id, sample, `${field}.sample`),
    field,
    ...(schema && { schema }),
  }
}

/** Some schemas of the Standard Schema are functions. */
const isSchema = (schema: unknown): schema is DataSchema => isRecord(schema) || typeof schema === 'function'

function samplesOf(id: string, sample: unknown, field: string): CatalogueEntry['sample'] {
  const events: readonly unknown[] = Array.isArray(sample) ? sample : [sample]
  if (events.length === 0) throw invalid(field, 'must not be empty')
  return events.map((event, index) => {
    if (!isRecord(event))
      throw invalid(Array.isArray(sample) ? `${field}[${index}]` : field, 'must be an object')
    const { callId, ...withoutCall } = SAMPLE_DEFAULTS
    const defaults = event.orderingKey === undefined ? { ...withoutCall, callId } : withoutCall
    return { ...defaults, ...event, hook: id }
  })
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function displayName(id: string): string {
  return id
    .split('_')
    .filter((word) => word !== '')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ')
}

function invalid(field: string, message: string): HookswitchError {
  return new HookswitchError('InvalidOption', `${field}: ${message}`, { field })
}
