import type { JsonSchema } from '../values/json-schema.js'

/** No NUL and no lone surrogate: what no store keeps as it came (PostgreSQL text, UTF-8) is not taken. */
const KEEPABLE = '^[^\\u0000\\p{Cs}]*$'

const strings = {
  type: 'object',
  additionalProperties: { type: 'string', pattern: KEEPABLE },
  patternProperties: { '[\\u0000\\p{Cs}]': false },
} as const

/**
 * The one schema of a webhook's settings, in this package's spelling; lengths count characters (code points).
 *
 * What depends on options is decided in code after it: whether the address of `uri` may be called, whether the
 * catalogue knows `hook`, which names `customRequestHeaders` may have. Figures are those of KAZOO's schema
 * `webhooks` but for `retries`, which here counts the retries after the first try (the specification, section 2).
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
      pattern: KEEPABLE,
    },
    uri: {
      type: 'string',
      description: 'http or https URL that is called. Shown in its canonical form.',
      format: 'uri',
      maxLength: 2048,
    },
    hook: {
      type: 'string',
      description: 'Kind of event to listen to: an id of the catalogue of hooks, or `all`.',
      minLength: 1,
      maxLength: 64,
    },
    httpVerb: {
      type: 'string',
      description: 'HTTP method of the call.',
      enum: ['get', 'post', 'put', 'patch', 'delete'],
      default: 'post',
    },
    retries: {
      type: 'integer',
      description: 'How often a failed delivery is tried again, after the first try.',
      minimum: 0,
      maximum: 10,
      default: 2,
    },
    format: {
      type: 'string',
      description: 'How the event is written: a JSON body, or form fields.',
      enum: ['json', 'form-data'],
      default: 'json',
    },
    enabled: {
      type: 'boolean',
      description: 'Whether events are delivered. Enabling forgets earlier failures.',
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
      description: 'Merged over every event, where it wins; its keys `type` and `action` are dropped first.',
    },
    customRequestHeaders: {
      ...strings,
      description:
        'Headers added to every request, at most 4 KiB. Not allowed: hop-by-hop headers, `host`, `content-*`, ' +
        '`webhook-*`, `x-hook-*`, `x-account-id`.',
    },
    group: {
      type: 'string',
      description: 'A label to sort webhooks by.',
      maxLength: 255,
      pattern: KEEPABLE,
    },
    maxAgeSeconds: {
      type: 'integer',
      description: 'An event older than this, in seconds, is not sent but recorded as `expired`.',
      minimum: 1,
      maximum: 2_147_483_647,
    },
    ordering: {
      type: 'string',
      description: '`call`: the events of one call are sent one after the other. `none`: as they come.',
      enum: ['call', 'none'],
      default: 'call',
    },
  },
} as const satisfies JsonSchema

/** Settings whose values an error never shows: header values are often credentials. */
export const SECRET_SETTINGS: readonly string[] = ['customRequestHeaders']
