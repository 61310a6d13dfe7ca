import type { JsonSchema } from '../values/json-schema.js'

/** No NUL and no lone surrogate: stores cannot hold them unchanged (PostgreSQL text, UTF-8). Nor the name `__proto__`. */
const STORABLE = '^[^\\u0000\\p{Cs}]*$'

const strings = {
  type: 'object',
  additionalProperties: { type: 'string', pattern: STORABLE },
  patternProperties: { '^__proto__$|[\\u0000\\p{Cs}]': false },
} as const

/**
 * The only schema of a webhook's settings, in this package's spelling. Lengths count characters (code points).
 *
 * Rules that depend on options are checked in code (`checkSettings`): whether the address of `uri` is allowed, whether
 * `hook` is in the catalogue, which names `customRequestHeaders` may have. The limits are those of KAZOO's schema
 * `webhooks` except for `retries`, which here counts the retries after the first try (the specification, section 2).
 */
export const webhookSchema = {
  type: 'object',
  required: ['name', 'uri', 'hook'],
  properties: {
    name: {
      type: 'string',
      description: 'Label of the webhook.',
      minLength: 1,
      maxLength: 255,
      pattern: STORABLE,
    },
    uri: {
      type: 'string',
      description: 'http or https URL that receives the requests. Shown in its canonical form.',
      format: 'uri',
      maxLength: 2048,
    },
    hook: {
      type: 'string',
      description: 'Kind of event to listen to: an id of the catalogue of hooks, or `all`.',
      minLength: 1,
      maxLength: 64,
    },
    only: {
      type: 'array',
      description: 'With `hook: all`: only these kinds of events, ids of the catalogue.',
      items: { type: 'string', maxLength: 64 },
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
    },
    filter: {
      type: 'object',
      description:
        'Only events whose payload passes this filter: an object with one of the keys `exact`, `prefix`, `suffix` ' +
        '(fields and their values), `all`, `any` (lists of filters) and `not` (a filter), as in CloudEvents ' +
        'Subscriptions 1.0. A dotted name selects a nested field.',
    },
    httpVerb: {
      type: 'string',
      description: 'HTTP method of the requests.',
      enum: ['get', 'post', 'put', 'patch', 'delete'],
      default: 'post',
    },
    retries: {
      type: 'integer',
      description:
        'How often a failed delivery is retried after the first attempt; more than 10 only where the retry policy is `patient`.',
      minimum: 0,
      maximum: 30,
      default: 2,
    },
    format: {
      type: 'string',
      description: 'Body format of the requests: JSON or form fields.',
      enum: ['json', 'form-data'],
      default: 'json',
    },
    enabled: {
      type: 'boolean',
      description: 'Whether events are delivered. Enabling resets the failure counts.',
      default: true,
    },
    includeSubaccounts: {
      type: 'boolean',
      description: 'Also deliver the events of every account below this one.',
      default: false,
    },
    includeInternalLegs: {
      type: 'boolean',
      description: 'Also deliver the events of loopback legs.',
      default: true,
    },
    customData: {
      ...strings,
      description:
        'Merged into every event, overriding its fields; the keys `type` and `action` are dropped first.',
    },
    customRequestHeaders: {
      ...strings,
      description:
        'Headers added to every request, at most 4 KiB. Not allowed: hop-by-hop headers, `host`, `content-*`, ' +
        '`webhook-*`, `x-hook-*`, `x-account-id`, and what says who sends a request or where it comes from, such as ' +
        '`x-forwarded-*`. Who may not change webhooks sees `[redacted]` in place of each value; in a request it stands for the ' +
        'stored value.',
    },
    group: {
      type: 'string',
      description: 'A label for grouping webhooks.',
      maxLength: 255,
      pattern: STORABLE,
    },
    maxAgeSeconds: {
      type: 'integer',
      description: 'An event older than this, in seconds, is not sent but recorded as `expired`.',
      minimum: 1,
      maximum: 2_147_483_647,
    },
    ordering: {
      type: 'string',
      description: '`call`: the events of one call are sent in order. `none`: without regard to order.',
      enum: ['call', 'none'],
      default: 'call',
    },
  },
} as const satisfies JsonSchema

/** Settings whose values never appear in errors: header values are often credentials. */
export const SECRET_SETTINGS: readonly string[] = ['customRequestHeaders']
