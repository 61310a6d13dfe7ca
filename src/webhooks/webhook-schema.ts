import type { JsonSchema } from '../values/json-schema.js'
import { RESERVED_FIELDS } from './reserved-fields.js'

/** Largest number of retries, with every policy. */
export const MAX_RETRIES = 30
/** Largest maximum age of a delivery, in seconds. */
export const MAX_AGE_SECONDS = 2_147_483_647
/** Lowest rate limit, requests per second: one in about 17 minutes. */
export const MIN_RATE = 0.001
/** Highest rate limit, requests per second. */
export const MAX_RATE = 10_000

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
 * `webhooks` except for `retries`, which is at most 4 there and here counts the retries after the first attempt (the
 * specification, section 2).
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
        'How often a delivery that the receiver rejects is sent again. A receiver that is unavailable costs no retry. Where ' +
        'the retry policy is `kazoo`: attempts in all, after which no answer came.',
      minimum: 0,
      maximum: MAX_RETRIES,
      default: 5,
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
        'Merged into every event, overriding its fields; the keys `type` and `action` are dropped first. Not allowed, in ' +
        `any case: ${RESERVED_FIELDS.map((name) => `\`${name}\``).join(', ')}, and \`id\` with the hook \`object\`.`,
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
      description:
        'A delivery that was accepted longer ago than this, in seconds, is not sent but recorded as `expired`. That of a ' +
        'replay counts from the replay. Default: that of the service, which `_read_only.max_age_seconds` shows.',
      minimum: 1,
      maximum: MAX_AGE_SECONDS,
    },
    rateLimit: {
      type: 'number',
      description:
        'Most requests per second, fractions allowed: 0.1 is one in ten seconds. Each node of the service counts its own. ' +
        'Default: that of the service, which may be none.',
      minimum: MIN_RATE,
      maximum: MAX_RATE,
    },
    ordering: {
      type: 'string',
      description:
        '`call`: the events of one call are sent in order, but an event that keeps failing while others are taken holds back ' +
        'the next ones for a limited time only. `strict`: until it has ended. `none`: without regard to order.',
      enum: ['call', 'strict', 'none'],
      default: 'call',
    },
  },
} as const satisfies JsonSchema

/** Settings whose values never appear in errors: header values are often credentials. */
export const SECRET_SETTINGS: readonly string[] = ['customRequestHeaders']
