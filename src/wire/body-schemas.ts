/**
 * Schemas of request bodies that are not webhooks or events: logins and commands. Unknown keys are accepted
 * everywhere, because a real UI adds `ui_metadata` to every request.
 *
 * Login schemas only check required fields and types. Any other mistake (length, alphabet) is a wrong login and gets
 * the same response as every other one: 401.
 */
import { TOKEN_ROLES } from '../auth/token.js'
import { SETTABLE_STATES } from '../delivery/replay-job.js'
import { REPLAY_RESULTS } from '../delivery/replay-selection.js'
import type { JsonSchema } from '../values/json-schema.js'
import { WEBHOOK_ACTIONS } from '../webhooks/actions.js'

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

/** Body that issues a token; `issueToken` checks the values. */
export const tokenSchema = {
  type: 'object',
  required: ['account_id', 'role', 'ttl_seconds'],
  properties: {
    account_id: { type: 'string', description: 'Account that the token gives access to.' },
    user_id: {
      type: 'string',
      description:
        'A user of the account, whose rights limit those of the token. Default: the account itself.',
    },
    role: {
      type: 'string',
      description:
        '`admin`: everything that the user or account may do. `read`: reads the account, and changes nothing.',
      enum: TOKEN_ROLES,
    },
    ttl_seconds: {
      type: 'integer',
      description: 'Lifetime of the token in seconds, at most that of the token of a login.',
      minimum: 1,
    },
  },
} as const satisfies JsonSchema

/** Body of a check of an address. */
export const addressSchema = {
  type: 'object',
  required: ['uri'],
  properties: { uri: { type: 'string', description: 'URL as a webhook would have it.' } },
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

/** A reason, a call or a number of a selection. */
const selectedText = (description: string): JsonSchema => ({
  type: 'string',
  minLength: 1,
  maxLength: 256,
  description,
})

/** Body of a replay of many deliveries; `parseReplay` checks the times, which are numbers or text, and unknown fields. */
export const replaySelectionSchema = {
  type: 'object',
  properties: {
    created_from: {
      description:
        'Only deliveries accepted at or after this time: Gregorian seconds or ISO 8601 (integer or string).',
    },
    created_to: {
      description:
        'Only deliveries accepted at or before this time: Gregorian seconds or ISO 8601 (integer or string). Default: now.',
    },
    result: {
      type: 'string',
      description: 'Only deliveries with this result, or in this state.',
      enum: REPLAY_RESULTS,
      default: 'failure',
    },
    hook: { type: 'string', description: 'Only events of this type.' },
    reason: selectedText(
      'Only deliveries that ended for exactly this reason, as `status 500`, `refused` or `queue_full`.',
    ),
    call_id: selectedText('Only events of this call leg.'),
    number: selectedText(
      'Only events of the calls in which this number or name occurs; not over all accounts.',
    ),
    host: selectedText(
      'Only webhooks whose URL has this host, as `crm.example.com` on any port, or `127.0.0.1:8080`; not of one webhook.',
    ),
    include_recovered: {
      type: 'boolean',
      description: 'True: also deliveries that a replay has delivered or is about to deliver.',
      default: false,
    },
    dry_run: {
      type: 'boolean',
      description: 'Counts the deliveries and sends nothing.',
      default: false,
    },
  },
} as const satisfies JsonSchema

/** Body of a replay of one webhook: one delivery by its id, or a selection. */
export const replaySchema = {
  type: 'object',
  properties: {
    delivery_id: { type: 'string', description: 'Delivery to repeat, whatever its result; no other field.' },
    ...replaySelectionSchema.properties,
  },
} as const satisfies JsonSchema

/** Body that holds or releases deliveries. */
export const holdSchema = {
  type: 'object',
  required: ['held'],
  properties: {
    held: { type: 'boolean', description: 'Whether deliveries are held from now on.' },
    account_id: {
      type: 'string',
      description: 'Only the webhooks of this account, without those below it. Default: all accounts.',
    },
    dry_run: {
      type: 'boolean',
      description: 'Counts what is concerned and changes nothing.',
      default: false,
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema

/** Body of a job that changes webhooks of all accounts; `parseSelection` checks the times, which are numbers or text. */
export const webhookJobSchema = {
  type: 'object',
  required: ['action'],
  properties: {
    action: {
      type: 'string',
      description:
        '`resume`: end the pauses of failing webhooks, so that what waits is sent now. `reenable`: enable what the service has disabled.',
      enum: WEBHOOK_ACTIONS,
    },
    account_id: { type: 'string', description: 'Only webhooks of this account, without those below it.' },
    cause: {
      type: 'string',
      description: 'Only webhooks with this `cause`, or whose last response had this status, as `503`.',
    },
    host: {
      type: 'string',
      description:
        'Only webhooks whose URL has this host, as `crm.example.com` on any port, or `127.0.0.1:8080`.',
    },
    since: {
      description:
        'Only webhooks that have failed since this time or a later one: Gregorian seconds or ISO 8601 (integer or string).',
    },
    until: {
      description:
        'Only webhooks that have failed since this time or an earlier one: Gregorian seconds or ISO 8601 (integer or string).',
    },
    dry_run: {
      type: 'boolean',
      description: 'Counts what is concerned and changes nothing.',
      default: false,
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema

/** Body that names what became of what is wanted. In the body, because numbers in URLs reach logs. */
export const whySchema = {
  type: 'object',
  required: ['q'],
  properties: {
    q: {
      type: 'string',
      description:
        'The id of a call leg, delivery, event or webhook, or a number or user name of a call: digits with or without a leading `+` or `00`.',
      minLength: 1,
      maxLength: 255,
    },
  },
  additionalProperties: false,
} as const satisfies JsonSchema

/** Body that pauses, continues or cancels a replay. */
export const replayStateSchema = {
  type: 'object',
  required: ['state'],
  properties: {
    state: {
      type: 'string',
      description: 'A cancelled replay cannot be continued; what it has repeated is still sent.',
      enum: SETTABLE_STATES,
    },
  },
} as const satisfies JsonSchema
