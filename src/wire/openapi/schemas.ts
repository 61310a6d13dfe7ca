import { eventSchema } from '../../delivery/event-schema.js'
import { toGregorian } from '../../values/greg-time.js'
import { type JsonSchema, renameProperties } from '../../values/json-schema.js'
import { webhookSchema } from '../../webhooks/webhook-schema.js'
import { apiAuthSchema, reenableSchema, replaySchema, userAuthSchema } from '../body-schemas.js'
import { eventWireName } from '../event-names.js'
import { SETTING_NAMES } from '../names.js'

/** Points at a schema of the document. */
export const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

export const object = (
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = Object.keys(properties),
): JsonSchema => ({ type: 'object', required, properties })

export const text = (description: string): JsonSchema => ({ type: 'string', description })
export const integer = (description: string): JsonSchema => ({ type: 'integer', description })
const flag = (description: string): JsonSchema => ({ type: 'boolean', description })
const isoTime = (description: string): JsonSchema => ({ type: 'string', format: 'date-time', description })
const seconds = (what: string): JsonSchema => integer(`${what}, Gregorian seconds.`)
const headers = (description: string): JsonSchema => ({
  type: 'object',
  description,
  additionalProperties: { type: 'string' },
})

/** Settings as the wire spells them: `SETTING_NAMES` the other way round. */
const settingName = new Map<string, string>(
  Object.entries(SETTING_NAMES).map(([wire, inside]) => [inside, wire]),
)
const settings = renameProperties(webhookSchema, (name) => settingName.get(name) ?? name)
const settingFields = settings.properties ?? {}

/** RFC 7396: `null` takes a field away. */
const patchable = Object.fromEntries(
  Object.entries(settingFields).map(([name, { default: _, ...rule }]) => [
    name,
    { anyOf: [rule, { type: 'null' }] },
  ]),
)

const readOnly: JsonSchema = {
  type: 'object',
  description: 'Written by the service.',
  readOnly: true,
  required: ['created', 'modified'],
  properties: {
    created: seconds('When it was created'),
    modified: seconds('When it was last changed'),
    enabled_at: seconds('When it was last enabled'),
    disabled_at: seconds('When it was last disabled'),
    deleted: flag('Present and true in the answer to DELETE.'),
  },
}
const webhookId: JsonSchema = { type: 'string', description: 'Id of the webhook.', readOnly: true }
const disableReason: JsonSchema = {
  type: 'string',
  description: 'Why the service disabled it; absent when its owner did.',
  readOnly: true,
}

const event = renameProperties(eventSchema, eventWireName)
const { idempotency_key: _, hook, timestamp: __, ...eventFields } = event.properties ?? {}
const timestamp: JsonSchema = { ...seconds('When it happened'), minimum: 0 }

/** What a receiver gets for every kind of event. */
const payload: JsonSchema = {
  type: 'object',
  description:
    'One event of a call leg. Absent values are left out. `custom_data` of the webhook is merged over it.',
  required: ['hook_event', 'account_id', 'call_id', 'timestamp', 'event_id', 'sequence'],
  properties: {
    hook_event: { ...hook, description: 'Kind of event.' },
    ...eventFields,
    timestamp,
    event_id: text('Id of the event: the same in every delivery of it.'),
    sequence: integer('1, 2, … per account and `call_id`, in order of acceptance; 1 in tests.'),
  },
}

const attempt: JsonSchema = {
  ...object({
    id: text('Id of the record.'),
    hook_id: text('Id of the webhook.'),
    hook_event: text('Kind of event, as in the catalogue.'),
    event_id: text('Id of the event.'),
    delivery_id: text('Id of the delivery: one event on its way to one webhook.'),
    uri: text('URL that was called.'),
    method: text('HTTP method in lower case.'),
    retries_left: integer('Retries left after this attempt.'),
    retries: integer('Tries left before this attempt: `retries_left` + 1 (KAZOO).'),
    result: { type: 'string', enum: ['success', 'failure'] },
    timestamp: seconds('When it was sent, or the end decided'),
    sent_at: isoTime('The same moment, ISO 8601.'),
  }),
}
const attemptDetails: Readonly<Record<string, JsonSchema>> = {
  call_id: text('Id of the call leg.'),
  attempt: integer('1, 2, …; absent for an end without a request.'),
  reason: {
    type: 'string',
    description: 'Why it failed, or why the delivery ended without a request.',
    examples: [
      'bad response code',
      'kazoo http client error',
      'expired',
      'cancelled',
      'quarantined',
      'interrupted',
    ],
  },
  client_error: {
    type: 'string',
    description: 'Class of the failure.',
    examples: ['timeout', 'connection', 'dns', 'tls', 'protocol', 'blocked_address', 'redirect'],
  },
  resp_status_code: text('HTTP status of the answer, as text (KAZOO).'),
  resp_headers: headers('Headers of the answer; secrets are redacted.'),
  resp_body: text('Body of the answer, at most 8 KiB.'),
  req_headers: headers('Headers of the request; secrets are redacted.'),
  req_body: text('Body of the request, at most 8 KiB.'),
  duration_ms: { type: 'number', description: 'How long the attempt took, milliseconds.' },
}

/** Every schema of the document, by name. */
export const SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  WebhookSettings: {
    ...settings,
    description: 'What the owner of a webhook decides. Other public keys are kept.',
  },
  WebhookPatch: {
    type: 'object',
    description: 'Merged into the webhook (RFC 7396); `null` removes a field.',
    properties: patchable,
  },
  Webhook: {
    type: 'object',
    description: 'A whole webhook, defaults written out.',
    required: [
      'id',
      ...Object.keys(settingFields).filter(
        (name) => settings.required?.includes(name) || settingFields[name]?.default !== undefined,
      ),
      '_read_only',
    ],
    properties: { id: webhookId, ...settingFields, disable_reason: disableReason, _read_only: readOnly },
  },
  WebhookSummary: {
    type: 'object',
    description: 'A webhook in a list.',
    required: ['id', 'hook', 'name', 'uri', 'enabled'],
    properties: {
      id: webhookId,
      ...Object.fromEntries(
        ['hook', 'name', 'uri', 'group', 'enabled'].map((name) => [name, settingFields[name]!]),
      ),
      disable_reason: disableReason,
    },
  },
  Attempt: { ...attempt, properties: { ...attempt.properties, ...attemptDetails } },
  Delivery: object(
    {
      id: text('Id of the delivery.'),
      event_id: text('Id of the event.'),
      hook_id: text('Id of the webhook.'),
      call_id: text('Id of the call leg.'),
      state: {
        type: 'string',
        enum: ['waiting', 'in_flight', 'delivered', 'exhausted', 'expired', 'cancelled', 'quarantined'],
      },
      attempts: integer('Attempts made.'),
      next_attempt_at: isoTime('When it is due; absent where it is not.'),
      explain: text('One sentence: why it is where it is.'),
    },
    ['id', 'event_id', 'hook_id', 'state', 'attempts', 'explain'],
  ),
  Hook: object({
    id: text('What a webhook names in `hook`.'),
    name: text('For people.'),
    description: text('When it happens.'),
  }),
  Login: object(
    {
      account_id: text('Account that the token belongs to.'),
      account_name: text('Its name.'),
      owner_id: text('The user who signed in; absent for an API key.'),
      language: text('Language tag of the account.'),
      is_reseller: flag('Whether the account resells.'),
      reseller_id: text('Id of the account that resells to it.'),
      apps: { type: 'array', description: 'Always empty.', items: {} },
    },
    ['account_id', 'language', 'is_reseller', 'apps'],
  ),
  ApiKeyLogin: apiAuthSchema,
  CredentialsLogin: userAuthSchema,
  Reenable: reenableSchema,
  Replay: replaySchema,
  Event: {
    ...event,
    description: 'An event to be delivered: the payload, whose `hook_event` may be called `hook` here.',
    required: ['call_id'],
    anyOf: [{ required: ['hook_event'] }, { required: ['hook'] }],
    properties: {
      hook_event: { ...hook },
      ...event.properties,
      timestamp: {
        ...timestamp,
        description: `${timestamp.description} Default: now.`,
        minimum: toGregorian(eventSchema.properties.timestampMs.minimum),
        maximum: toGregorian(eventSchema.properties.timestampMs.maximum),
      },
    },
  },
  Payload: payload,
}
