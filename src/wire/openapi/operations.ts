/** Descriptions, bodies and examples of the operations in the OpenAPI document. */
import type { JsonSchema } from '../../values/json-schema.js'
import type { OperationId } from '../routes.js'
import * as example from './examples.js'
import { object, ref, text } from './schemas.js'

/** Documentation of one operation; everything else follows from its route. */
export interface OperationDoc {
  readonly tag: 'Login' | 'API key' | 'Hooks' | 'Webhooks' | 'Deliveries' | 'Events' | 'Operator' | 'Service'
  readonly summary: string
  readonly description?: string
  /** `data` of the request. */
  readonly body?: { readonly schema: JsonSchema; readonly example: unknown }
  /** `data` of the response. */
  readonly data: JsonSchema
  readonly example: unknown
  /** Parameters in addition to those of the path and of lists. */
  readonly parameters?: readonly string[]
  /** The response has a revision. */
  readonly hasRevision?: boolean
}

const listOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items })
const webhook = {
  tag: 'Webhooks',
  data: ref('Webhook'),
  example: example.WEBHOOK,
  hasRevision: true,
} as const
const attempts = { tag: 'Deliveries', data: listOf(ref('Attempt')), example: [example.ATTEMPT] } as const
const apiKey = {
  tag: 'API key',
  data: object({ api_key: text('The key.') }),
  example: example.API_KEY,
} as const
const secret = {
  tag: 'Webhooks',
  data: object({ secret: text('Signing key: `whsec_` and base64 (Standard Webhooks).') }),
  example: example.SECRET,
} as const
const reenable = {
  tag: 'Webhooks',
  body: { schema: ref('Reenable'), example: { 're-enable': true } },
  data: { type: 'string', const: 'hooks updated' },
  example: 'hooks updated',
} as const
const login = {
  tag: 'Login',
  description: '`auth_token` in the response is the token for later requests.',
  data: ref('Login'),
  example: example.LOGIN,
} as const

export const OPERATIONS: Readonly<Record<OperationId, OperationDoc>> = {
  signInByApiKey: {
    ...login,
    summary: 'Exchange an API key for a token',
    body: { schema: ref('ApiKeyLogin'), example: example.LOGIN_BY_KEY },
  },
  signInByCredentials: {
    ...login,
    summary: 'Exchange a hash of username and password for a token',
    body: { schema: ref('CredentialsLogin'), example: example.LOGIN_BY_CREDENTIALS },
    example: { ...example.LOGIN, owner_id: 'd860229e722bf8f738737365b0b1e333' },
  },
  signOut: { tag: 'Login', summary: 'Revoke the token', data: { type: 'object' }, example: {} },
  readApiKey: { ...apiKey, summary: "Read the account's API key" },
  rotateApiKey: {
    ...apiKey,
    summary: 'Generate a new API key',
    description: 'The old key, and the tokens issued for it, are invalid at once.',
  },
  listHooks: {
    tag: 'Hooks',
    summary: 'List the event types',
    data: listOf(ref('Hook')),
    example: [{ id: 'channel_create', name: 'Channel Create', description: 'A new call leg starts.' }],
  },
  listSamples: {
    tag: 'Hooks',
    summary: 'List the samples',
    data: listOf({ type: 'string' }),
    example: ['webhooks_channel_create', 'webhooks_channel_answer'],
  },
  readSample: {
    tag: 'Hooks',
    summary: 'Read sample payloads as a receiver gets them',
    data: { ...listOf(ref('Payload')), minItems: 1 },
    example: [
      {
        hook_event: 'channel_create',
        account_id: example.IDS.account_id,
        call_id: example.IDS.call_id,
        timestamp: 64_061_928_000,
        event_id: '3a9d5b17e0c84f62a1b7d4f9c6e8025b',
        sequence: 1,
      },
    ],
  },
  listWebhooks: {
    tag: 'Webhooks',
    summary: 'List the webhooks of the account',
    description: 'Sorted by name.',
    data: listOf(ref('WebhookSummary')),
    example: [example.SUMMARY],
  },
  createWebhook: {
    ...webhook,
    summary: 'Create a webhook',
    body: { schema: ref('WebhookSettings'), example: example.NEW_WEBHOOK },
  },
  reenableWebhooks: { ...reenable, summary: 'Enable automatically disabled webhooks' },
  reenableDescendantWebhooks: {
    ...reenable,
    summary: 'Enable automatically disabled webhooks of the account and its descendants',
  },
  readWebhook: { ...webhook, summary: 'Read a webhook', parameters: ['if_none_match'] },
  replaceWebhook: {
    ...webhook,
    summary: 'Replace a webhook',
    description: 'Replaces every field; omitted fields, including `enabled`, get their defaults.',
    parameters: ['if_match'],
    body: { schema: ref('WebhookSettings'), example: example.NEW_WEBHOOK },
  },
  patchWebhook: {
    ...webhook,
    summary: 'Change some fields of a webhook',
    description:
      'Applies a JSON merge patch (RFC 7396), then validates the whole webhook; `null` removes a field.',
    parameters: ['if_match'],
    body: { schema: ref('WebhookPatch'), example: { name: 'Call journal' } },
    example: example.RENAMED_WEBHOOK,
  },
  deleteWebhook: {
    ...webhook,
    summary: 'Delete a webhook',
    description: 'Returns the webhook as it was. Waiting deliveries are cancelled; attempts stay available.',
    parameters: ['if_match'],
    example: example.DELETED_WEBHOOK,
  },
  listAttempts: {
    ...attempts,
    summary: 'List recent attempts of all webhooks',
    description: 'Newest first.',
  },
  listWebhookAttempts: {
    ...attempts,
    summary: 'List recent attempts of one webhook',
    description: 'Newest first.',
  },
  testWebhook: {
    tag: 'Webhooks',
    summary: 'Send a sample event now, even if the webhook is disabled',
    data: object({ delivery_id: text('Id of the delivery of the sample.') }),
    example: example.TEST,
  },
  replayWebhook: {
    tag: 'Deliveries',
    summary: 'Send deliveries again',
    description: 'Creates new deliveries with new ids and the same bytes.',
    body: { schema: ref('Replay'), example: example.TEST },
    data: object({ delivery_ids: listOf({ type: 'string' }) }),
    example: example.REPLAY,
  },
  listDeliveries: {
    tag: 'Deliveries',
    summary: 'List deliveries of one webhook',
    description: 'Newest first.',
    parameters: ['filter_state'],
    data: listOf(ref('Delivery')),
    example: [example.DELIVERY],
  },
  readSecret: { ...secret, summary: 'Read the signing secret' },
  rotateSecret: {
    ...secret,
    summary: 'Generate a new signing secret',
    description: 'For 24 hours, requests are also signed with the old secret.',
  },
  readDelivery: {
    tag: 'Deliveries',
    summary: 'Read a delivery with an explanation of its state',
    data: ref('Delivery'),
    example: example.DELIVERY,
  },
  listCallAttempts: {
    ...attempts,
    summary: 'List the attempts of all legs of a call',
    description: 'Newest first.',
  },
  publishEvents: {
    tag: 'Events',
    summary: 'Publish one or more events, all or none',
    body: {
      schema: { anyOf: [ref('Event'), { ...listOf(ref('Event')), minItems: 1 }] },
      example: example.EVENT,
    },
    data: object({ event_ids: listOf({ type: 'string' }) }),
    example: example.EVENT_IDS,
  },
  listUnhealthyWebhooks: {
    tag: 'Operator',
    summary: 'List the webhooks of all accounts that need attention',
    description:
      'Those that fail, are paused, or were disabled by the service; sorted by id. Only for the token of an operator, otherwise 403.',
    parameters: ['endpoint_state', 'page_size', 'start_key'],
    data: listOf(ref('UnhealthyWebhook')),
    example: [example.UNHEALTHY_WEBHOOK],
  },
  searchDeliveries: {
    tag: 'Operator',
    summary: 'Search the deliveries of all accounts',
    description:
      'Newest first. A page may be short although more follow: `next_start_key` leads on. Only for the token of an operator, otherwise 403.',
    parameters: [
      'search_account',
      'search_webhook',
      'search_call',
      'delivery_state',
      'created_from',
      'created_to',
      'page_size',
      'start_key',
    ],
    data: listOf(ref('FoundDelivery')),
    example: [example.FOUND_DELIVERY],
  },
  readOpenapi: {
    tag: 'Service',
    summary: 'Read this document',
    data: object({ openapi: text('3.1.0') }),
    example: { openapi: '3.1.0' },
  },
}
