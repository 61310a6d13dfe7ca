import type { JsonSchema } from '../values/json-schema.js'

/**
 * Bodies that are not documents: logins and commands. Unknown keys are tolerated everywhere, for a real UI adds
 * `ui_metadata` to every call.
 *
 * Logins are checked for missing fields and types only. Whatever else is wrong with them (length, alphabet) is a
 * wrong login and must look like every other one: 401.
 */
export const apiAuthSchema = {
  type: 'object',
  required: ['api_key'],
  properties: { api_key: { type: 'string', description: 'API key of the account.' } },
} as const satisfies JsonSchema

/** `account_realm`, its older spelling `realm`, or `account_name` says which account is meant (KAZOO). */
export const userAuthSchema = {
  type: 'object',
  required: ['credentials'],
  properties: {
    credentials: {
      type: 'string',
      description:
        'Hex of the digest of `username:password`: 32 digits for `md5`, 40 for `sha`. Case does not matter.',
    },
    account_realm: { type: 'string', description: 'Realm of the account; case does not matter.' },
    realm: { type: 'string', description: 'Older spelling of `account_realm`.' },
    account_name: {
      type: 'string',
      description: 'Name of the account, instead of its realm; only letters and digits count.',
    },
    method: {
      type: 'string',
      description: 'Digest of the credentials: MD5 or SHA-1.',
      enum: ['md5', 'sha'],
      default: 'md5',
    },
  },
  if: { not: { anyOf: [{ required: ['realm'] }, { required: ['account_name'] }] } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  then: { required: ['account_realm'] },
} as const satisfies JsonSchema

/** Enables the webhooks that the service disabled (KAZOO `cb_webhooks`). */
export const reenableSchema = {
  type: 'object',
  required: ['re-enable'],
  properties: {
    're-enable': {
      type: 'boolean',
      description: 'Must be true.',
      enum: [true],
    },
  },
} as const satisfies JsonSchema

/** Last second of the year 9999 in Gregorian seconds: later ones cannot be written as ISO 8601. */
const MAX_GREGORIAN = 315_569_519_999

/** One delivery by its id, or all that ended in a stretch of time or with one result; never simply all. */
export const replaySchema = {
  type: 'object',
  properties: {
    delivery_id: { type: 'string', description: 'The delivery to repeat.' },
    created_from: {
      type: 'integer',
      description: 'Deliveries accepted at or after this time, Gregorian seconds.',
      minimum: 0,
      maximum: MAX_GREGORIAN,
    },
    created_to: {
      type: 'integer',
      description: 'Deliveries accepted at or before this time, Gregorian seconds.',
      minimum: 0,
      maximum: MAX_GREGORIAN,
    },
    result: {
      type: 'string',
      description: 'Only deliveries that ended this way.',
      enum: ['success', 'failure'],
    },
  },
  if: {
    not: {
      anyOf: [{ required: ['created_from'] }, { required: ['created_to'] }, { required: ['result'] }],
    },
  },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  then: { required: ['delivery_id'] },
} as const satisfies JsonSchema
