/**
 * Schemas of request bodies that are not webhooks or events: logins and commands. Unknown keys are accepted
 * everywhere, because a real UI adds `ui_metadata` to every request.
 *
 * Login schemas only check required fields and types. Any other mistake (length, alphabet) is a wrong login and gets
 * the same response as every other one: 401.
 */
import { REPLAY_RESULTS } from '../delivery/replay-selection.js'
import type { JsonSchema } from '../values/json-schema.js'

/** Body of `api_auth`. */
export const apiAuthSchema = {
  type: 'object',
  required: ['api_key'],
  properties: { api_key: { type: 'string', description: 'API key of the account.' } },
} as const satisfies JsonSchema

/** Body of `user_auth`. `account_realm`, its older name `realm`, or `account_name` selects the account (KAZOO). */
export const userAuthSchema = {
  type: 'object',
  required: ['credentials'],
  properties: {
    credentials: {
      type: 'string',
      description:
        'Hex digest of `username:password`: 32 digits for `md5`, 40 for `sha`. Not case-sensitive.',
    },
    account_realm: { type: 'string', description: 'Realm of the account; not case-sensitive.' },
    realm: { type: 'string', description: 'Older name of `account_realm`.' },
    account_name: {
      type: 'string',
      description:
        'Name of the account, as an alternative to its realm; only letters and digits are compared.',
    },
    method: {
      type: 'string',
      description: 'Digest algorithm of the credentials: MD5 or SHA-1.',
      enum: ['md5', 'sha'],
      default: 'md5',
    },
  },
  if: { not: { anyOf: [{ required: ['realm'] }, { required: ['account_name'] }] } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  then: { required: ['account_realm'] },
} as const satisfies JsonSchema

/** Body of the command that enables automatically disabled webhooks (KAZOO `cb_webhooks`). */
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

/** Body of a preview. `webhook` is checked as a new webhook is. */
export const previewSchema = {
  type: 'object',
  required: ['webhook'],
  properties: {
    webhook: { type: 'object', description: 'Settings of a webhook, stored or not.' },
    hook: {
      type: 'string',
      description:
        "Event type of the sample. Default: the webhook's; of `all`, the first of `only`, or `channel_create`.",
    },
  },
} as const satisfies JsonSchema

/**
 * Body of a replay; `parseReplay` checks the times, which are numbers or text. One delivery by id, or a selection by time range, result or both, but never all
 * deliveries.
 */
export const replaySchema = {
  type: 'object',
  properties: {
    delivery_id: { type: 'string', description: 'Delivery to repeat.' },
    created_from: {
      description:
        'Only deliveries accepted at or after this time: Gregorian seconds or ISO 8601 (integer or string). Or `next_from` of ' +
        'an earlier response, to continue it.',
    },
    created_to: {
      description:
        'Only deliveries accepted at or before this time: Gregorian seconds or ISO 8601 (integer or string).',
    },
    result: {
      type: 'string',
      description: 'Only deliveries with this result, or in this state.',
      enum: REPLAY_RESULTS,
    },
    dry_run: {
      type: 'boolean',
      description: 'Counts the deliveries and sends nothing.',
      default: false,
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
