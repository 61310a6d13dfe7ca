/** The schemas of the OpenAPI document, most of them derived from the schemas that validate requests. */
import { accountSchema, userSchema } from '../../accounts/account-schema.js'
import { eventSchema } from '../../delivery/event-schema.js'
import { EXPLANATION_CODES } from '../../delivery/explain.js'
import { REPLAY_RESULTS } from '../../delivery/replay-selection.js'
import { UNMATCHED_REASONS } from '../../delivery/why.js'
import { FAILURE_CAUSES } from '../../values/failure-cause.js'
import { toGregorian } from '../../values/gregorian-time.js'
import { type JsonSchema, renameProperties } from '../../values/json-schema.js'
import { WEBHOOK_ACTIONS } from '../../webhooks/actions.js'
import { webhookSchema } from '../../webhooks/webhook-schema.js'
import { accountWireName } from '../account-fields.js'
import {
  addressSchema,
  apiAuthSchema,
  holdSchema,
  reenableSchema,
  replaySchema,
  replaySelectionSchema,
  replayStateSchema,
  tokenSchema,
  userAuthSchema,
  webhookJobSchema,
  whySchema,
} from '../body-schemas.js'
import { toWireEventName } from '../event-names.js'
import { SETTING_NAMES } from '../field-names.js'
import { LOOKED_UP_TYPES } from '../lookup-json.js'

/** Returns a reference to a schema of the document. */
export const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

export const object = (
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = Object.keys(properties),
): JsonSchema => ({ type: 'object', required, properties })

export const text = (description: string): JsonSchema => ({ type: 'string', description })
export const integer = (description: string): JsonSchema => ({ type: 'integer', description })
const flag = (description: string): JsonSchema => ({ type: 'boolean', description })
const isoTime = (description: string): JsonSchema => ({ type: 'string', format: 'date-time', description })
const seconds = (moment: string): JsonSchema => integer(`${moment}, in Gregorian seconds.`)
const headers = (description: string): JsonSchema => ({
  type: 'object',
  description,
  additionalProperties: { type: 'string' },
})

/** Wire names of settings: the inverse of `SETTING_NAMES`. */
const settingName = new Map<string, string>(
  Object.entries(SETTING_NAMES).map(([wire, inside]) => [inside, wire]),
)
const settings = renameProperties(webhookSchema, (name) => settingName.get(name) ?? name)
const settingFields = settings.properties ?? {}

type Fields = Readonly<Record<string, JsonSchema>>

/** In a merge patch, `null` removes a field (RFC 7396). */
const patchOf = (fields: Fields): JsonSchema => ({
  type: 'object',
  description: 'JSON merge patch (RFC 7396); `null` removes a field.',
  properties: Object.fromEntries(
    Object.entries(fields).map(([name, { default: _, ...rule }]) => [
      name,
      { anyOf: [rule, { type: 'null' }] },
    ]),
  ),
})

const accountFields: Fields = accountSchema.properties
const userFields: Fields = renameProperties(userSchema, accountWireName).properties ?? {}
const { password: ___, ...shownUserFields } = userFields

const documentTimes: JsonSchema = {
  type: 'object',
  description: 'Set by the service.',
  readOnly: true,
  properties: {
    created: integer('Time of creation, in Gregorian seconds.'),
    modified: integer('Time of the last change, in Gregorian seconds.'),
    deleted: { type: 'boolean', description: 'Present, and true, in the response to DELETE.' },
  },
}
const accountId: JsonSchema = { type: 'string', description: 'Id of the account.', readOnly: true }
const accountName: JsonSchema = { type: 'string', description: 'Name of the account.' }
const accountRealm: JsonSchema = { type: 'string', description: 'SIP realm of the account.' }
const named: Fields = { id: accountId, name: accountName, realm: accountRealm }
const accountFlags: JsonSchema = { type: 'array', description: 'Labels.', items: { type: 'string' } }
const accountTree: JsonSchema = {
  type: 'array',
  description: 'Ids of the accounts above, down to the parent.',
  items: { type: 'string' },
}

const readOnly: JsonSchema = {
  type: 'object',
  description: 'Set by the service.',
  readOnly: true,
  required: ['created', 'modified', 'max_age_seconds'],
  properties: {
    created: seconds('Time of creation'),
    modified: seconds('Time of the last change'),
    enabled_at: seconds('Time when it was last enabled'),
    disabled_at: seconds('Time when it was last disabled'),
    max_age_seconds: integer(
      'The maximum age in force, in seconds: a delivery that was accepted longer ago is not sent. That of the webhook, or else of the service.',
    ),
    deleted: flag('Present, and true, in the response to DELETE.'),
  },
}
const webhookId: JsonSchema = { type: 'string', description: 'Id of the webhook.', readOnly: true }
const disableReason: JsonSchema = {
  type: 'string',
  description: 'Why the service disabled the webhook; absent if its owner disabled it.',
  readOnly: true,
}

const health: JsonSchema = {
  type: 'object',
  description:
    'Whether events reach the webhook. Set by the service; it changes without a new revision, so ask for it without `If-None-Match`.',
  readOnly: true,
  required: ['state', 'failures_in_row'],
  properties: {
    state: {
      type: 'string',
      description:
        '`paused`: nothing is sent before `paused_until`. `failing`: the last attempt failed. `disabled`: by its owner or by the service.',
      enum: ['ok', 'failing', 'paused', 'disabled'],
    },
    failures_in_row: integer('Failures since the last success.'),
    failing_since: isoTime('Time of the first failure since the last success.'),
    paused_until: isoTime('End of the pause; only in the state `paused`.'),
    last_success_at: isoTime(
      'Time of the last success; absent if none is among the newest 1,000 attempts that are kept.',
    ),
    checked_at: isoTime(
      'Time when the service last tried to connect to the receiver without sending a request, which it does during a pause of a receiver that cannot be reached; absent if it did not.',
    ),
    check_cause: {
      type: 'string',
      description: 'Why the connection at `checked_at` failed; absent if it stood.',
      enum: Object.keys(FAILURE_CAUSES),
    },
  },
}

const event = renameProperties(
  {
    ...eventSchema,
    properties: {
      ...eventSchema.properties,
      answeredBy: renameProperties(eventSchema.properties.answeredBy, toWireEventName),
    },
  },
  toWireEventName,
)
const { idempotency_key: _, hook, timestamp: __, ...eventFields } = event.properties ?? {}
/** Without what the account in the path and the two names of a kind make optional. */
const { required: ____, ...eventRules } = event
const timestamp: JsonSchema = { ...seconds('Time of the event'), minimum: 0 }
const happenedAt = isoTime('Time of the event, UTC, with milliseconds.')

/** Fields of an event that a client sends. */
const eventInputFields: Fields = {
  hook_event: { ...hook },
  ...event.properties,
  timestamp: {
    ...timestamp,
    description: `${timestamp.description} Default: now.`,
    minimum: toGregorian(eventSchema.properties.timestampMs.minimum),
    maximum: toGregorian(eventSchema.properties.timestampMs.maximum),
  },
  happened_at: isoTime(
    'Time of the event with milliseconds, in place of `timestamp`. Where both are given, it must be in the second of `timestamp`.',
  ),
}

const overrides = '`custom_data` of the webhook overrides its fields except those that it may not contain.'

/** Payload that a receiver gets, for all event types. */
const payload: JsonSchema = {
  type: 'object',
  description:
    `One event. Absent values are omitted. ${overrides} An event ` +
    'that is not of a call has `ordering_key` in place of `call_id`, or the `id` of a document (`object`).',
  required: ['hook_event', 'account_id', 'timestamp', 'happened_at', 'event_id', 'sequence'],
  anyOf: [{ required: ['call_id'] }, { required: ['ordering_key'] }, { required: ['id'] }],
  properties: {
    hook_event: { ...hook, description: 'Event type.' },
    ...eventFields,
    direction: text('The same as `call_direction` (`sms`).'),
    timestamp,
    happened_at: happenedAt,
    event_id: text('Id of the event, the same in every delivery of the event and in replays.'),
    sequence: integer(
      'Sequence number per account and `call_id`, in order of acceptance: 1, 2, …; 1 in tests.',
    ),
  },
}

/** Payload of the events about webhooks. */
const metaPayload: JsonSchema = {
  type: 'object',
  description: `An event about another webhook. Absent values are omitted. ${overrides}`,
  required: ['hook_event', 'account_id', 'timestamp', 'happened_at', 'webhook_id', 'event_id'],
  properties: {
    hook_event: { ...hook, description: 'Event type.' },
    account_id: text('Id of the account of the webhook that the event is about.'),
    timestamp,
    happened_at: happenedAt,
    webhook_id: text('Id of the webhook that the event is about.'),
    reason: text('Why the last attempt failed, or why the webhook was disabled.'),
    failures_in_row: integer('Failures since the last success (`webhook_paused`, `webhook_failing`).'),
    failing_since: seconds('Time of the first failure since the last success (`webhook_failing`)'),
    paused_until: seconds('Time of the first probe (`webhook_paused`)'),
    delivery_id: text('Id of the delivery (`delivery_exhausted`).'),
    delivery_hook_event: text('Event type of the delivery (`delivery_exhausted`).'),
    call_id: text('Id of the call leg of the delivery (`delivery_exhausted`).'),
    attempts: integer('Number of attempts made (`delivery_exhausted`).'),
    expired: integer(
      'Deliveries that have expired unsent since the last such event (`webhook_backlog_full`).',
    ),
    share: {
      type: 'string',
      description: 'Whose share of the queue is used up (`webhook_backlog_full`).',
      enum: ['webhook', 'account', 'all'],
    },
    max_pending: integer('Deliveries that may wait in this share (`webhook_backlog_full`).'),
    suppressed: integer(
      'Events of this type and account that were left out since the last one, because there were too many.',
    ),
    event_id: text('Id of the event, the same in every delivery of the event and in replays.'),
  },
}

const attempt: JsonSchema = {
  ...object({
    id: text('Id of the record.'),
    hook_id: text('Id of the webhook.'),
    hook_event: text('Event type, as in the catalogue.'),
    event_id: text('Id of the event.'),
    delivery_id: text('Id of the delivery: one event for one webhook.'),
    uri: text('URL of the request.'),
    method: text('HTTP method in lower case.'),
    retries_left: integer('Number of retries left after this attempt.'),
    retries: integer('Number of tries left before this attempt: `retries_left` + 1 (KAZOO).'),
    result: { type: 'string', enum: ['success', 'failure'] },
    timestamp: seconds('Time when the request was sent, or when the delivery ended without one'),
    sent_at: isoTime('The same time in ISO 8601.'),
  }),
}
/** The parties of the call leg of an event, as its payload names them. */
const partyFields: Readonly<Record<string, JsonSchema>> = {
  call: {
    ...object(
      {
        from: text('Calling party: a number, or a SIP user with its domain.'),
        to: text('Called party: a number, or a SIP user with its domain.'),
        direction: text('`inbound` or `outbound`.'),
      },
      [],
    ),
    description: 'The parties of the call leg; absent where the event names none, or is no longer stored.',
  },
  caller_name: text('Name of the caller; absent where the event has none.'),
}

const attemptDetails: Readonly<Record<string, JsonSchema>> = {
  call_id: text('Id of the call leg.'),
  ...partyFields,
  attempt: integer('Number of the attempt: 1, 2, …; absent if the delivery ended without a request.'),
  reason: {
    type: 'string',
    description: 'Why the attempt failed, or why the delivery ended without a request.',
    examples: [
      'bad response code',
      'kazoo http client error',
      'expired',
      'queue_full',
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
  cause: {
    type: 'string',
    description: 'Cause of the failure, more exact than its class. Causes may be added.',
    examples: Object.keys(FAILURE_CAUSES),
  },
  detail: text('What was observed, in one line: why it failed, or what was wrong with an accepted response.'),
  out_of_order: {
    type: 'boolean',
    description: 'True: it was sent while an earlier event of its call was not delivered.',
  },
  late: { type: 'boolean', description: 'True: the server answered after the time limit of an attempt.' },
  resp_status_code: text('HTTP status of the response, as a string (KAZOO).'),
  resp_headers: headers('Headers of the response; secrets are redacted.'),
  resp_body: text('Body of the response: at most 1 KiB, with `include=bodies` 8 KiB.'),
  resp_body_cut: { type: 'boolean', description: 'True: `include=bodies` returns more of `resp_body`.' },
  req_headers: headers('Headers of the request; secrets are redacted.'),
  req_body: text('Body of the request: at most 1 KiB, with `include=bodies` 8 KiB.'),
  req_body_cut: { type: 'boolean', description: 'True: `include=bodies` returns more of `req_body`.' },
  duration_ms: { type: 'number', description: 'Duration of the attempt, in milliseconds.' },
}

const summaryFields: Readonly<Record<string, JsonSchema>> = {
  id: webhookId,
  ...Object.fromEntries(
    ['hook', 'name', 'uri', 'group', 'enabled'].map((name) => [name, settingFields[name]!]),
  ),
  disable_reason: disableReason,
  health,
}

const deliveryFields: Readonly<Record<string, JsonSchema>> = {
  id: text('Id of the delivery.'),
  event_id: text('Id of the event.'),
  hook_id: text('Id of the webhook.'),
  hook_event: text('Event type, as in the catalogue.'),
  call_id: text('Id of the call leg.'),
  ...partyFields,
  kind: {
    type: 'string',
    description: 'What its next attempt is, or what its last one was if it has ended.',
    enum: ['first', 'retry', 'replay', 'test'],
  },
  replay_of: text('Id of the delivery that this one repeats, never that of a replay.'),
  replayed_by: text('Id of the newest delivery that repeats this one; absent if there is none.'),
  recovered: {
    type: 'boolean',
    const: true,
    description: 'True: a replay was delivered or is about to be; absent otherwise.',
  },
  state: {
    type: 'string',
    enum: ['waiting', 'in_flight', 'delivered', 'exhausted', 'expired', 'cancelled', 'quarantined'],
  },
  reason: {
    type: 'string',
    description: 'Why the last attempt failed, or why the delivery ended.',
    examples: ['status 500', 'refused', 'gone', 'interrupted', 'older than max_age_seconds', 'queue_full'],
  },
  attempts: integer('Number of attempts made.'),
  accepted_at: isoTime('Time when the event was accepted.'),
  next_attempt_at: isoTime('Time when the next attempt is due; absent if none is.'),
  ended_at: isoTime('Time when the delivery ended; absent before.'),
  explain: text('Explains the state, in English.'),
  explanation: ref('Explanation'),
}
const explanationFields = {
  code: { type: 'string', description: 'What explains the state.', enum: [...EXPLANATION_CODES] },
  ahead: integer('Earlier deliveries of the call that must end first (`call_order`).'),
  seconds: integer('Seconds until it may be sent (`paused`, `receiver_pause`, `retry`).'),
  failures: integer('Failures of the webhook in a row (`paused`).'),
  attempts: integer(
    'Number of attempts made (`retry`, `delivered`, `exhausted`, `expired`), or the number of the current one (`in_flight`).',
  ),
  limit: integer(
    'Number of requests in flight at which it waits (`endpoint_cap`, `account_cap`, `origin_cap`, `total_cap`).',
  ),
  reason: text('Why the last attempt failed: a status, or the `cause` of the attempt.'),
  detail: text('What was observed at the last attempt, in one line. Not in lists.'),
  took: { type: 'number', description: 'Seconds after which the server answered, if that was too late.' },
  timeout: { type: 'number', description: 'The time limit of an attempt, in seconds, beside `took`.' },
}
const acceptedAt = isoTime('When it was accepted.')
const whyAccount = {
  account_id: text('Id of the account of the events.'),
  account_name: text('Its name; absent if it was removed.'),
}
const whyEvent = {
  id: text('Id of the event.'),
  call_id: text('Id of its call leg.'),
  hook: text('Event type, as in the catalogue.'),
  sequence: integer('Number of the event within the leg: 1, 2, …'),
  happened_at: isoTime('When it happened.'),
  accepted_at: acceptedAt,
  source: text(
    'What published it: `http`, `application`, `transaction`, or a switch. Absent if that is unknown, and for those who are no operators.',
  ),
}
const requiredWhyEvent = ['id', 'call_id', 'hook', 'sequence', 'happened_at', 'accepted_at']
const whyReason = {
  why: {
    type: 'string',
    description: 'Why a webhook has no delivery of the event, for programs and other languages.',
    enum: [...UNMATCHED_REASONS],
  },
  explain: text('The same in a sentence.'),
} as const
/** Fields of a delivery that are part of the history of a call. */
const CALL_DELIVERY_FIELDS = [
  'id',
  'hook_id',
  'kind',
  'replay_of',
  'replayed_by',
  'state',
  'reason',
  'attempts',
  'next_attempt_at',
  'ended_at',
]
const requiredDeliveryFields = [
  'id',
  'event_id',
  'hook_id',
  'hook_event',
  'kind',
  'state',
  'attempts',
  'accepted_at',
  'explain',
  'explanation',
]

/** Fields of the answer to a login. */
const loginFields = {
  account_id: text('Id of the account of the token.'),
  account_name: text('Name of the account.'),
  owner_id: text('Id of the user who signed in; absent for an API key.'),
  language: text('Language tag of the account.'),
  is_reseller: flag('Whether the account is a reseller.'),
  reseller_id: text('Id of the reseller of the account.'),
  apps: { type: 'array', description: 'Always empty.', items: {} },
}
const loginRequired = ['account_id', 'language', 'is_reseller', 'apps']

/** Every schema of the document, by name. */
export const SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  WebhookSettings: {
    ...settings,
    description: 'Settings of a webhook. Other public keys are stored as they are.',
  },
  WebhookPatch: patchOf(settingFields),
  Webhook: {
    type: 'object',
    description: 'A whole webhook, with defaults filled in.',
    required: [
      'id',
      ...Object.keys(settingFields).filter(
        (name) => settings.required?.includes(name) || settingFields[name]?.default !== undefined,
      ),
      '_read_only',
      'health',
    ],
    properties: {
      id: webhookId,
      ...settingFields,
      disable_reason: disableReason,
      _read_only: readOnly,
      health,
    },
  },
  WebhookSummary: {
    type: 'object',
    description: 'A webhook in a list.',
    required: ['id', 'hook', 'name', 'uri', 'enabled', 'health'],
    properties: summaryFields,
  },
  Attempt: { ...attempt, properties: { ...attempt.properties, ...attemptDetails } },
  StreamAttempt: {
    ...attempt,
    description: 'Item `attempt` of a stream: the record, without headers and bodies.',
    required: ['account_id', ...(attempt.required as string[])],
    properties: {
      account_id: text('Id of the account of the webhook.'),
      ...attempt.properties,
      ...Object.fromEntries(
        Object.entries(attemptDetails).filter(([name]) => !/^(req|resp)_(headers|body)$/.test(name)),
      ),
    },
  },
  StreamWebhook: {
    ...object(
      {
        id: webhookId,
        account_id: text('Id of the account of the webhook.'),
        change: {
          type: 'string',
          enum: ['created', 'changed', 'disabled', 'deleted'],
          description: 'What happened to it. `changed`: also paused or resumed.',
        },
        disable_reason: text('Why the service disabled it.'),
      },
      ['id', 'account_id', 'change'],
    ),
    description: 'Item `webhook` of a stream: a webhook has changed, read it again.',
  },
  StreamRate: {
    ...object({
      hook_id: text('Id of the webhook.'),
      ok: integer('Number of attempts that succeeded.'),
      failed: integer('Number of attempts that failed.'),
      timestamp: seconds('Start of the second'),
    }),
    description:
      'Item `rate` of a stream: attempts of a webhook in one second, counted, because there were more than 200 items.',
  },
  StreamGap: {
    ...object({
      from: text('Id of the last item before the gap.'),
      dropped: { type: ['integer', 'null'], description: 'Number of missing items; null: unknown.' },
    }),
    description: 'Item `gap` of a stream: items are missing.',
  },
  StreamEnd: {
    ...object({
      reason: {
        type: 'string',
        enum: ['token', 'slow', 'closing'],
        description:
          '`token`: it is not valid any more; `slow`: the client read nothing for 30 s; `closing`: connect again.',
      },
    }),
    description: 'Item `end` of a stream: the last one.',
  },
  Delivery: object(deliveryFields, requiredDeliveryFields),
  FoundDelivery: object({ account_id: text('Id of the account of the webhook.'), ...deliveryFields }, [
    'account_id',
    ...requiredDeliveryFields,
  ]),
  ReplayCount: object({
    count: integer('Number of deliveries that would be sent again.'),
    webhooks: integer('Webhooks to which they would be sent.'),
    accounts: integer('Accounts of these webhooks.'),
  }),
  ReplayJob: object(
    {
      id: text('Id of the replay.'),
      account_id: text('Id of the account that it belongs to; absent for one of all accounts.'),
      webhook_id: text('Id of the only webhook; absent for one of all webhooks.'),
      state: {
        type: 'string',
        enum: ['running', 'paused', 'cancelled', 'completed'],
        description: 'The last two are final.',
      },
      count: integer('Number of deliveries that the request selected when it was made.'),
      replayed: integer(
        'Number of deliveries that were accepted again as new ones. Sending them has its own result.',
      ),
      created_at: isoTime('Time of the request.'),
      ended_at: isoTime('Time when it was completed or cancelled; absent before.'),
      created_from: isoTime('As requested.'),
      created_to: isoTime('As requested.'),
      result: { type: 'string', enum: [...REPLAY_RESULTS], description: 'As requested.' },
      hook: text('As requested.'),
      reason: text('As requested.'),
      call_id: text('As requested.'),
      number: text('As requested.'),
      host: text('As requested.'),
      include_recovered: flag('As requested.'),
      left_out: {
        type: 'array',
        description: 'Webhooks whose deliveries were not all repeated, at most 100.',
        items: object({
          webhook_id: text('Id of the webhook.'),
          reason: {
            type: 'string',
            enum: ['disabled', 'deleted'],
            description: 'What happened to it before its part was done.',
          },
        }),
      },
      automatic: flag('True: the service itself repeats what expired as `queue_full`.'),
    },
    ['id', 'state', 'count', 'replayed', 'created_at', 'include_recovered', 'left_out', 'automatic'],
  ),
  RequestPreview: object(
    {
      method: text('HTTP method.'),
      uri: text('URL, with the pairs of a request that has no body.'),
      headers: headers('Headers of the request.'),
      body: text('Body of the request; absent for `get` and `delete`.'),
      curl: text('The same as a shell command. Its placeholders are variables of the shell.'),
    },
    ['method', 'uri', 'headers', 'curl'],
  ),
  Explanation: {
    ...object(explanationFields, ['code']),
    description: 'What `explain` says, for programs and other languages.',
  },
  LookedUp: object(
    {
      type: {
        type: 'string',
        description: 'What was found. `account`: for operators only.',
        enum: [...LOOKED_UP_TYPES],
      },
      id: text('Its id.'),
      account_id: text('Id of the account that it belongs to; of an account its own.'),
      account_name: text('Name of that account; absent if it was removed.'),
      label: text('The name of a webhook, the event type of a delivery or event, the realm of an account.'),
    },
    ['type', 'id', 'account_id'],
  ),
  WhyQuestion: whySchema,
  Why: object(
    {
      calls: { type: 'array', description: 'Newest first.', items: ref('WhyCall') },
      other_calls: {
        type: 'array',
        description: 'Further calls, newest first, at most 50.',
        items: object({ ...whyAccount, call_id: text('Id of the call leg.'), accepted_at: acceptedAt }, [
          'account_id',
          'call_id',
          'accepted_at',
        ]),
      },
      delivery: ref('WhyDelivery'),
      webhook: object(
        {
          ...whyAccount,
          id: text('Id of the webhook.'),
          name: text('Its name.'),
          hook: text('Event type that it is for.'),
          enabled: flag('Whether it is enabled.'),
          disable_reason: disableReason,
          deleted: flag('True: it was deleted.'),
          deliveries: {
            type: 'array',
            description: 'Its newest 20, newest first.',
            items: ref('WhyDelivery'),
          },
          unmatched: {
            type: 'array',
            description:
              'The newest 20 events of the account that no webhook wanted, and why this one did not.',
            items: object({ ...whyReason, ...whyEvent }, ['why', 'explain', ...requiredWhyEvent]),
          },
        },
        ['account_id', 'id', 'name', 'hook', 'enabled', 'deliveries', 'unmatched'],
      ),
      truncated: flag(
        'There are more calls of this number. Over all accounts those that are shown may not be the newest.',
      ),
    },
    ['calls', 'other_calls', 'truncated'],
  ),
  WhyCall: object(
    {
      ...whyAccount,
      call_id: text('Id of the call leg.'),
      events: {
        type: 'array',
        description: 'Accepted events of all its legs, oldest first.',
        items: object(
          {
            ...whyEvent,
            wanted: flag('Whether any webhook matched.'),
            deliveries: {
              type: 'array',
              description: 'Oldest first, at most 20.',
              items: ref('WhyDelivery'),
            },
            unmatched: {
              type: 'array',
              description: 'Webhooks without a delivery of it, by reason.',
              items: object({
                ...whyReason,
                count: integer('Their number.'),
                webhooks: {
                  type: 'array',
                  description: 'The first 10 of them.',
                  items: object({
                    id: text('Id of the webhook.'),
                    name: text('Its name.'),
                    account_id: text('Id of its account.'),
                  }),
                },
              }),
            },
          },
          [...requiredWhyEvent, 'wanted', 'deliveries', 'unmatched'],
        ),
      },
      truncated: flag('Older events, or some webhooks, are left out.'),
    },
    ['account_id', 'call_id', 'events', 'truncated'],
  ),
  WhyDelivery: object(
    {
      account_id: text('Id of the account of the webhook.'),
      ...deliveryFields,
      hook_name: text('Name of the webhook; absent if it is not stored any more.'),
    },
    ['account_id', ...requiredDeliveryFields],
  ),
  Match: object(
    {
      id: text('Id of the webhook.'),
      name: text('Name of the webhook.'),
      wanted: flag('Whether it would get the event.'),
      why: {
        type: 'string',
        description:
          'Why not. `hook`: it is for other events. `only`, `filter`: these settings exclude the event. `document`: ' +
          '`type` or `action` of its `custom_data` differs. `account`: it is not for accounts below. `account_disabled`: the ' +
          'account of the webhook is disabled.',
        enum: [
          'disabled',
          'account_disabled',
          'hook',
          'only',
          'document',
          'internal_leg',
          'account',
          'filter',
        ],
      },
    },
    ['id', 'name', 'wanted'],
  ),
  Call: object({
    call_id: text('Id of the leg of the request.'),
    legs: {
      type: 'array',
      description: 'The leg of the request, then the others.',
      items: object(
        {
          call_id: text('Id of the call leg.'),
          direction: text('`inbound` or `outbound`, as its events say.'),
          from: text('Calling party, as its events say.'),
          to: text('Called party, as its events say.'),
          events: integer('Number of its events in `events`.'),
        },
        ['call_id', 'events'],
      ),
    },
    events: { type: 'array', description: 'Oldest first.', items: ref('CallEvent') },
    unwanted: {
      type: 'array',
      description: 'Events that no webhook of the account matched, or that were pruned; at most 500.',
      items: object({
        call_id: text('Id of the call leg.'),
        sequence: integer('Number of the event within the leg.'),
      }),
    },
    truncated: flag('True: older events are left out.'),
    records: {
      type: 'string',
      description:
        'Whether the records of the call are stored: `all` of them, a `part` (`unwanted` are the rest), or `none`: they were removed, or there never were any.',
      enum: ['none', 'part', 'all'],
    },
  }),
  CallEvent: object({
    id: text('Id of the event.'),
    account_id: text('Id of the account in which it happened.'),
    call_id: text('Id of the call leg.'),
    hook: text('Event type, as in the catalogue.'),
    sequence: integer('Number of the event within the leg: 1, 2, …'),
    timestamp: seconds('Time of the event'),
    happened_at: isoTime('The same time in ISO 8601.'),
    deliveries: {
      type: 'array',
      description: 'Its deliveries, oldest first; replays too.',
      items: object(
        {
          hook_name: text('Name of the webhook; absent if it is not stored any more.'),
          last_status: text('HTTP status of the last attempt, as a string; absent without an answer.'),
          ...Object.fromEntries(CALL_DELIVERY_FIELDS.map((name) => [name, deliveryFields[name]!])),
        },
        ['id', 'hook_id', 'kind', 'state', 'attempts'],
      ),
    },
  }),
  Holds: object(
    {
      all: flag('Whether the deliveries of all accounts are held.'),
      accounts: {
        type: 'array',
        description: 'Ids of accounts that are held by themselves, sorted.',
        items: { type: 'string' },
      },
    },
    ['all', 'accounts'],
  ),
  WebhookCounts: object({
    webhooks: integer('Webhooks that are concerned.'),
    accounts: integer('Accounts of these webhooks.'),
    deliveries: integer(
      'Deliveries that wait for them. For webhooks of other nodes at most 1,000 of each are counted.',
    ),
  }),
  WebhookJob: object(
    {
      id: text('Id of the job.'),
      action: { type: 'string', enum: [...WEBHOOK_ACTIONS], description: 'What it does.' },
      state: {
        type: 'string',
        enum: ['running', 'paused', 'cancelled', 'completed'],
        description: 'The last two are final.',
      },
      count: integer('Webhooks that were selected when it was requested.'),
      changed: integer('Webhooks that it has changed.'),
      created_at: isoTime('Time of the request.'),
      ended_at: isoTime('Time when it was completed or cancelled; absent before.'),
      account_id: text('As requested.'),
      cause: text('As requested.'),
      host: text('As requested.'),
      since: isoTime('As requested.'),
      until: isoTime('As requested.'),
    },
    ['id', 'action', 'state', 'count', 'changed', 'created_at'],
  ),
  Overview: object(
    {
      pending: integer('Deliveries that wait or are in flight, on all nodes.'),
      oldest_due_seconds: { type: 'number', description: 'How long the oldest delivery of the node is due.' },
      in_flight: integer('Requests of the node in flight.'),
      attempts_per_minute: {
        type: 'array',
        description:
          'Attempts of all nodes in each of the last 60 minutes, oldest first; the last minute has just begun. Each node adds its own every 10 s. Absent if the service keeps no statistics.',
        items: { type: 'integer' },
        minItems: 60,
        maxItems: 60,
      },
      paused: object({
        waiting: integer('Paused webhooks that wait for their next try.'),
        probing: integer('Paused webhooks whose next try is due or under way.'),
      }),
      failing: integer('Webhooks whose last attempt failed, and that are not paused.'),
      accounts_affected: integer('Accounts that have webhooks that fail or are paused.'),
      causes: {
        type: 'object',
        description:
          'Failed attempts of the last hour by HTTP status, or by the `cause` of the attempt; at most 20, the rest under `other`. Absent if the service keeps no statistics.',
        additionalProperties: { type: 'integer', minimum: 1 },
      },
      disabled: integer('Webhooks that the service disabled.'),
      disabled_capped: flag('True: only 10,000 webhooks with problems were examined, and there are more.'),
      nodes: {
        type: 'array',
        description: 'The nodes that work on deliveries.',
        items: object(
          {
            node: text('Opaque name of the node.'),
            alive_until: isoTime('Until when it works without a renewal; absent if the store is not shared.'),
            shards: integer('Number of its shards, of 64 in all.'),
            leaving: integer('Number of those that it is handing over.'),
          },
          ['node', 'shards', 'leaving'],
        ),
      },
      store: object({
        durable: flag('Whether it survives a restart.'),
        shared: flag('Whether several nodes can use it.'),
      }),
      version: text('Version of the service.'),
    },
    [
      'pending',
      'oldest_due_seconds',
      'in_flight',
      'paused',
      'failing',
      'accounts_affected',
      'disabled',
      'disabled_capped',
      'nodes',
      'store',
      'version',
    ],
  ),
  Hook: object({
    id: text('Id of the event type; the value of `hook` in webhooks.'),
    name: text('Human-readable name.'),
    description: text('When the event occurs.'),
  }),
  Login: object(loginFields, loginRequired),
  Token: object(
    {
      ...loginFields,
      priv_level: {
        type: 'string',
        enum: ['user', 'admin'],
        description: 'Level of the user; `admin` for an API key.',
      },
      is_operator: flag('Whether the token acts on every account.'),
      is_read_only: flag(
        'Whether the token can only read data, except that the login of a user can change that user.',
      ),
    },
    [...loginRequired, 'priv_level', 'is_operator', 'is_read_only'],
  ),
  IssuedToken: object(
    {
      token: text('The token.'),
      expires_at: isoTime('Time when it expires.'),
      account_id: loginFields.account_id,
      account_name: loginFields.account_name,
      user_id: text('Id of its user; absent for one of the account itself.'),
      role: tokenSchema.properties.role,
    },
    ['token', 'expires_at', 'account_id', 'role'],
  ),
  CheckedAddress: object(
    {
      ok: flag('Whether a connection could be made, TLS included.'),
      scheme: { type: 'string', enum: ['https', 'http'], description: 'Absent if it is another one.' },
      host: text('Host name or address, as it would be called; absent if the URL is not valid.'),
      port: integer('Port; absent if the URL is not valid.'),
      problem: object({
        code: {
          type: 'string',
          description:
            '`scheme`: neither http nor https. `address_invalid`: no valid URL. `not_checked`: a fault of the service. Otherwise the `cause` that an attempt would have.',
          examples: ['scheme', 'address_invalid', 'not_checked', ...Object.keys(FAILURE_CAUSES)],
        },
        message: text('The same as a sentence.'),
      }),
      tls: object({ valid_to: isoTime("End of the validity of the server's certificate.") }),
      warnings: {
        type: 'array',
        description: '`not_encrypted`: others on the way can read and change what is sent.',
        items: { type: 'string', enum: ['not_encrypted'] },
      },
    },
    ['ok'],
  ),
  AccountFields: {
    ...accountSchema,
    description: 'Fields of an account. Other public keys are stored as they are.',
  },
  AccountPatch: patchOf(accountFields),
  Account: object(
    {
      id: accountId,
      ...accountFields,
      // The host may give an account a name or realm by wider rules.
      ...named,
      created: seconds('Time of creation'),
      is_reseller: flag('Whether the account is a reseller.'),
      reseller_id: text('Id of the reseller of the account.'),
      superduper_admin: flag('Whether its admins act on every account.'),
      wnm_allow_additions: flag('Always false.'),
      billing_mode: text('Always `manual`.'),
      api_key: text('The API key, only with `include_api_key=true`.'),
      _read_only: documentTimes,
    },
    [
      'id',
      'name',
      'realm',
      'enabled',
      'timezone',
      'language',
      'is_reseller',
      'superduper_admin',
      'wnm_allow_additions',
      'billing_mode',
      '_read_only',
    ],
  ),
  AccountSummary: object(
    {
      ...named,
      descendants_count: integer('Number of accounts below it on all levels, at most 1,000.'),
      flags: accountFlags,
    },
    ['id', 'name', 'realm', 'descendants_count'],
  ),
  AccountDescendant: object({ ...named, tree: accountTree, flags: accountFlags }),
  AccountAncestor: object({ ...named, flags: accountFlags }),
  AnyAccount: object({ ...named, tree: accountTree, enabled: flag('Whether the account is enabled.') }),
  UserFields: {
    ...renameProperties(userSchema, accountWireName),
    description: 'Fields of a user. Other public keys are stored as they are.',
  },
  UserPatch: patchOf(userFields),
  User: object(
    {
      id: { type: 'string', description: 'Id of the user.', readOnly: true },
      ...shownUserFields,
      username: text('User name in lower case; absent: the user cannot sign in.'),
      _read_only: documentTimes,
    },
    [
      'id',
      'first_name',
      'last_name',
      'enabled',
      'priv_level',
      'require_password_update',
      'verified',
      '_read_only',
    ],
  ),
  UserSummary: object(
    {
      id: { type: 'string', description: 'Id of the user.' },
      features: { type: 'array', description: "The document's own list, or empty.", items: {} },
      flags: { type: 'array', description: "The document's own list, or empty.", items: {} },
      username: text('User name in lower case.'),
      email: text('E-mail address.'),
      first_name: text('First name.'),
      last_name: text('Last name.'),
      priv_level: { type: 'string', enum: ['user', 'admin'] },
      enabled: flag('Whether the user can sign in.'),
      timezone: text('Time zone.'),
      feature_level: { description: "The document's own value." },
      presence_id: { description: "The document's own value." },
      service: { description: "The document's own value." },
    },
    ['id', 'features', 'flags', 'first_name', 'last_name', 'priv_level', 'enabled'],
  ),
  ApiKeyLogin: apiAuthSchema,
  CredentialsLogin: userAuthSchema,
  TokenRequest: tokenSchema,
  Address: addressSchema,
  Reenable: reenableSchema,
  Replay: replaySchema,
  ReplaySelection: replaySelectionSchema,
  ReplayState: replayStateSchema,
  Hold: holdSchema,
  WebhookJobRequest: webhookJobSchema,
  Event: {
    ...eventRules,
    description: 'An event to publish, in the format of the payload. `hook` is an alias of `hook_event`.',
    allOf: [
      { anyOf: [{ required: ['hook_event'] }, { required: ['hook'] }] },
      { anyOf: [{ required: ['call_id'] }, { required: ['ordering_key'] }, { required: ['id'] }] },
    ],
    properties: eventInputFields,
  },
  PartialEvent: {
    type: 'object',
    description: 'An event of which only the type is required. `hook` is an alias of `hook_event`.',
    anyOf: [{ required: ['hook_event'] }, { required: ['hook'] }],
    properties: eventInputFields,
  },
  Payload: payload,
  MetaPayload: metaPayload,
}
