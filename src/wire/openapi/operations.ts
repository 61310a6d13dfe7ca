/** Descriptions, bodies and examples of the operations in the OpenAPI document. */
import type { JsonSchema } from '../../values/json-schema.js'
import { previewSchema } from '../body-schemas.js'
import { bindingsJson } from '../call-bindings.js'
import type { OperationId } from '../routes.js'
import * as example from './examples.js'
import { integer, object, ref, text } from './schemas.js'

/** Documentation of one operation; everything else follows from its route. */
export interface OperationDoc {
  readonly tag:
    | 'Login'
    | 'API key'
    | 'Hooks'
    | 'Webhooks'
    | 'Deliveries'
    | 'Events'
    | 'Accounts'
    | 'Users'
    | 'Operator'
    | 'Service'
  readonly summary: string
  readonly description?: string
  /** `data` of the request. */
  readonly body?: { readonly schema: JsonSchema; readonly example: unknown }
  /** `data` of the response. */
  readonly data: JsonSchema
  readonly example: unknown
  /** Another success, with a status of its own. */
  readonly alternative?: {
    readonly status: number
    readonly description: string
    readonly data: JsonSchema
    readonly example: unknown
  }
  /** Parameters in addition to those of the path and of lists. */
  readonly parameters?: readonly string[]
  /** The response has a revision. */
  readonly hasRevision?: boolean
}

/** Parameters of lists that have ranges and an order of their own. */
const FILTERS = ['has_key', 'key_missing', 'filters']

const listOf = (items: JsonSchema): JsonSchema => ({ type: 'array', items })
const webhook = {
  tag: 'Webhooks',
  data: ref('Webhook'),
  example: example.WEBHOOK,
  hasRevision: true,
} as const
const attempts = {
  tag: 'Deliveries',
  data: listOf(ref('Attempt')),
  example: [example.ATTEMPT],
  parameters: ['slim', 'include'],
} as const
const apiKey = {
  tag: 'API key',
  data: object({ api_key: text('The key.') }),
  example: example.API_KEY,
} as const
const why = {
  body: { schema: ref('WhyQuestion'), example: { q: '+4930123456' } },
  data: ref('Why'),
  example: example.WHY,
} as const
const WHY =
  'Of a call, a number, an event, a delivery or a webhook: which events were accepted, which webhooks matched, what happened to ' +
  'each delivery, and why the other webhooks have none. Events that no webhook wanted are kept for a day. At most the newest 5 ' +
  'calls with the newest 50 events each, fewer of large events. Nothing found is no error.'
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

const account = {
  tag: 'Accounts',
  data: ref('Account'),
  example: example.ACCOUNT,
  hasRevision: true,
} as const
const user = { tag: 'Users', data: ref('User'), example: example.USER, hasRevision: true } as const
const newAccount = {
  body: { schema: ref('AccountFields'), example: example.NEW_ACCOUNT },
  parameters: ['include_api_key'],
} as const
const ancestors = {
  tag: 'Accounts',
  description: "From the token's account down to the parent; empty for the token's account. Not paged.",
  data: listOf(ref('AccountAncestor')),
  example: [example.ANCESTOR],
} as const
const STATISTICS =
  'An attempt counts in the slot of its `sent_at`, once its result is recorded; deliveries that ended without a request do not count. At most 900 slots, which are kept for 3 hours (60 s) and 35 days (3,600 s); older and future ones are left out. `created_from` is 1 hour or 24 hours before `created_to` by default, and `created_to` now.'
const statistics = {
  tag: 'Deliveries',
  parameters: ['step', 'created_from', 'created_to'],
  data: ref('Statistics'),
  example: example.STATISTICS,
} as const
const REPLAY =
  'Without a field these are all deliveries that were not delivered. Each is repeated once: deliveries that a replay has ' +
  'delivered or is about to deliver are left out. The job keeps the order within each call and survives restarts. An ' +
  'unknown field is an error. The 200 is that of `dry_run`; 429 while another one of the account is being counted.'
const SET_REPLAY = 'What it has repeated already is still sent. 409 if it has ended.'
const OPERATORS = 'Only for the token of an operator, otherwise 403.'
const replayJob = { data: ref('ReplayJob'), example: example.REPLAY_JOB } as const
const replays = {
  parameters: ['page_size', 'start_key', 'created_from', 'created_to', ...FILTERS],
  data: listOf(ref('ReplayJob')),
  example: [example.REPLAY_JOB],
} as const
const replay = {
  ...replayJob,
  tag: 'Deliveries',
  body: { schema: ref('ReplaySelection'), example: example.REPLAY_SELECTION },
  alternative: {
    status: 200,
    description: 'With `dry_run`: what would be sent. Nothing is.',
    data: ref('ReplayCount'),
    example: { count: 1204, webhooks: 31, accounts: 8 },
  },
} as const
const webhookJob = { tag: 'Operator', data: ref('WebhookJob'), example: example.WEBHOOK_JOB } as const
const dryRun = {
  status: 200,
  description: 'With `dry_run`: what is concerned. Nothing is changed.',
  data: ref('WebhookCounts'),
  example: example.WEBHOOK_COUNTS,
} as const
const { account_id: _, ...jobOfAllAccounts } = example.REPLAY_JOB
const MERGE =
  'Applies a JSON merge patch (RFC 7396), then validates the whole document; `null` removes a field.'

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
  readToken: {
    tag: 'Login',
    summary: 'Read what the token may do',
    data: ref('Token'),
    example: { ...example.LOGIN, priv_level: 'admin', is_operator: false, is_read_only: false },
  },
  issueToken: {
    tag: 'Operator',
    summary: 'Issue a token without a login',
    description: `For a user whom the host has signed in itself. It is revoked as the token of a login. ${OPERATORS}`,
    body: { schema: ref('TokenRequest'), example: example.TOKEN_REQUEST },
    data: ref('IssuedToken'),
    example: example.ISSUED_TOKEN,
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
    data: { ...listOf({ anyOf: [ref('Payload'), ref('MetaPayload')] }), minItems: 1 },
    example: [
      {
        hook_event: 'channel_create',
        account_id: example.IDS.account_id,
        call_id: example.IDS.call_id,
        timestamp: 64_061_928_000,
        happened_at: '2030-01-15T12:00:00.000Z',
        event_id: '3a9d5b17e0c84f62a1b7d4f9c6e8025b',
        sequence: 1,
      },
    ],
  },
  listBindings: {
    tag: 'Hooks',
    summary: 'List the bindings of the WebSocket service',
    description:
      'The call events that a client of `hookswitch/blackhole` can subscribe to. In a subscription, the id of a call or `*` stands in place of `{CALL_ID}`, and `*` may stand in place of the event.',
    data: object({ call: listOf({ type: 'string' }) }),
    example: bindingsJson(),
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
  readAccountStats: {
    ...statistics,
    summary: 'Read statistics of all webhooks',
    description: `Attempts of the account's own webhooks. ${STATISTICS}`,
  },
  readWebhookStats: {
    ...statistics,
    summary: 'Read statistics of one webhook',
    description: STATISTICS,
  },
  listEndpoints: {
    tag: 'Webhooks',
    summary: 'List the webhooks of the account by their health',
    description:
      'State, backlog, last attempt and the attempts of the last 24 hours. Sorted by name. A page has at most 200 webhooks, and may be short although more follow: `next_start_key` leads on.',
    parameters: ['endpoint_state', 'endpoint_search', 'page_size', 'start_key', ...FILTERS],
    data: listOf(ref('EndpointHealth')),
    example: [example.ENDPOINT],
  },
  readWebhookHealth: {
    tag: 'Webhooks',
    summary: 'Read the health of a webhook',
    description:
      'The entry of the webhook in `GET /accounts/{account_id}/webhooks/health`, with its last attempt, the pause in force, and what was not delivered.',
    data: ref('WebhookHealth'),
    example: example.WEBHOOK_HEALTH,
  },
  testWebhook: {
    tag: 'Webhooks',
    summary: 'Send a sample event now, even if the webhook is disabled',
    data: object({ delivery_id: text('Id of the delivery of the sample.') }),
    example: example.TEST,
  },
  replayWebhook: {
    ...replay,
    summary: 'Send deliveries of a webhook again',
    description:
      'With `delivery_id` that one: a new delivery with a new id and the same bytes. Otherwise a job repeats all that the ' +
      `selection finds. ${REPLAY} 409 if the webhook is disabled, or the delivery has not ended.`,
    body: { schema: ref('Replay'), example: example.REPLAY_SELECTION },
    data: { anyOf: [object({ delivery_ids: listOf({ type: 'string' }) }), ref('ReplayJob')] },
    example: { ...example.REPLAY_JOB, webhook_id: example.IDS.webhook_id },
  },
  replayAccount: {
    ...replay,
    summary: 'Send deliveries of all webhooks of the account and its descendants again',
    description: `A job repeats all that the selection finds. ${REPLAY}`,
  },
  listReplays: {
    ...replays,
    tag: 'Deliveries',
    summary: 'List the replays of the account',
    description: 'Newest first.',
  },
  readReplay: { ...replayJob, tag: 'Deliveries', summary: 'Read a replay and its progress' },
  setReplay: {
    ...replayJob,
    tag: 'Deliveries',
    summary: 'Pause, continue or cancel a replay',
    description: SET_REPLAY,
    body: { schema: ref('ReplayState'), example: { state: 'paused' } },
    example: { ...example.REPLAY_JOB, state: 'paused' },
  },
  resumeWebhook: {
    ...webhook,
    summary: 'End the pause of a webhook',
    description:
      'Its waiting deliveries are due now, retries included: one request first, then twice as many with each round that was ' +
      'answered. If the receiver still fails, a new pause begins. Changes nothing if the webhook is not paused; 409 if it is disabled.',
  },
  previewWebhook: {
    tag: 'Webhooks',
    summary: 'Show the request that a webhook would send',
    description:
      'For the sample of an event; nothing is sent or stored. Values of custom headers, and of those that are different in ' +
      'each request, are placeholders such as `$AUTHORIZATION`.',
    body: {
      schema: object(
        { webhook: ref('WebhookSettings'), hook: text(previewSchema.properties.hook.description) },
        ['webhook'],
      ),
      example: { webhook: example.NEW_WEBHOOK },
    },
    data: ref('RequestPreview'),
    example: example.PREVIEW,
  },
  checkAddress: {
    tag: 'Webhooks',
    summary: 'Check whether requests could be sent to a URL',
    description:
      'Connects as an attempt would, TLS included, and sends nothing; at most 5 s, and as long before it where the checks of ' +
      'many accounts are under way. 429 after 10 checks of the account in a minute, or while 2 are under way (1 while many are).',
    body: { schema: ref('Address'), example: { uri: example.NEW_WEBHOOK.uri } },
    data: ref('CheckedAddress'),
    example: example.CHECKED_ADDRESS,
  },
  matchEvent: {
    tag: 'Webhooks',
    summary: 'Tell which webhooks of the account would get an event, and why others would not',
    description:
      'Of the event, only `hook` is required; a filter sees the fields that are given. `account_id` may be an account below. ' +
      'Sorted by name. Not paged.',
    body: { schema: ref('PartialEvent'), example: { hook: 'channel_create', is_internal_leg: true } },
    data: listOf(ref('Match')),
    example: example.MATCHES,
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
  listDeliveryAttempts: {
    ...attempts,
    summary: 'List the attempts of a delivery',
    description: 'Newest first.',
  },
  readCall: {
    tag: 'Deliveries',
    summary: 'Read the history of a call',
    description:
      'Its legs and the newest 500 of their events, oldest first, with their deliveries to webhooks of the account. ' +
      '`unwanted` are events that no webhook of the account matched, or that were pruned. `records` says how much of the call is still stored.',
    data: ref('Call'),
    example: example.CALL,
  },
  listCallAttempts: {
    ...attempts,
    summary: 'List the attempts of all legs of a call',
    description: 'Newest first.',
  },
  publishEvents: {
    tag: 'Events',
    summary: 'Publish one or more events',
    description:
      'All events are checked before any is accepted: if one is invalid, none is accepted. A list of more than 20 events and deliveries may be accepted in parts, in order. If a later part cannot be accepted (409 or 503), `data.accepted_events` of the error is the number of events before it, which are accepted. To repeat the whole list safely, give each event an idempotency key.',
    body: {
      schema: { anyOf: [ref('Event'), { ...listOf(ref('Event')), minItems: 1 }] },
      example: example.EVENT,
    },
    data: object({ event_ids: listOf({ type: 'string' }) }),
    example: example.EVENT_IDS,
  },
  lookUp: {
    tag: 'Deliveries',
    summary: 'Find what an id belongs to',
    description:
      'The webhook, delivery, event and call of the account that have this id; usually one of them. An empty list: none. Not paged.',
    parameters: ['looked_up'],
    data: listOf(ref('LookedUp')),
    example: example.LOOKED_UP,
  },
  lookUpAnywhere: {
    tag: 'Operator',
    summary: 'Find what an id or a name belongs to, in all accounts',
    description: `At most 10 accounts whose name begins like that. An empty list: nothing. Not paged. ${OPERATORS}`,
    parameters: ['looked_up_anywhere'],
    data: listOf(ref('LookedUp')),
    example: example.LOOKED_UP,
  },
  why: {
    ...why,
    tag: 'Deliveries',
    summary: 'Find out why something was not delivered',
    description: `${WHY} Events of the account, and deliveries to its webhooks.`,
  },
  whyAnywhere: {
    ...why,
    tag: 'Operator',
    summary: 'Find out why something was not delivered, in all accounts',
    description: `${WHY} ${OPERATORS}`,
  },
  readOverview: {
    tag: 'Operator',
    summary: 'Read the state of the service',
    description:
      'What is in flight and due is that of the node that responds. Only for the token of an operator, otherwise ' +
      '403.',
    data: ref('Overview'),
    example: example.OVERVIEW,
  },
  readHolds: {
    tag: 'Operator',
    summary: 'Read what is held',
    description: `On all nodes. ${OPERATORS}`,
    data: ref('Holds'),
    example: example.HOLDS,
  },
  setHold: {
    tag: 'Operator',
    summary: 'Hold deliveries, or release them',
    description:
      'While deliveries are held, events are accepted and nothing is sent, also of tests and replays. Requests in flight end. ' +
      'Other nodes follow within 10 s. A restart does not end a hold. Deliveries grow older meanwhile: those above the age of ' +
      `their webhook expire when they are released. ${OPERATORS}`,
    body: { schema: ref('Hold'), example: { held: true, account_id: example.HOLDS.accounts[0]! } },
    data: { anyOf: [ref('Holds'), ref('WebhookCounts')] },
    example: example.HOLDS,
  },
  startJob: {
    ...webhookJob,
    summary: 'Change webhooks of all accounts',
    description:
      'A job changes all that are selected when it runs, those of all accounts or of one. It survives restarts. What was not so when it was ' +
      `requested stays, so that nothing is changed twice; the same request returns the job that has not ended. ${OPERATORS}`,
    body: { schema: ref('WebhookJobRequest'), example: example.WEBHOOK_JOB_REQUEST },
    alternative: dryRun,
  },
  listJobs: {
    tag: 'Operator',
    summary: 'List the jobs that change webhooks',
    description: `Newest first. ${OPERATORS}`,
    parameters: replays.parameters,
    data: listOf(ref('WebhookJob')),
    example: [example.WEBHOOK_JOB],
  },
  readJob: { ...webhookJob, summary: 'Read a job and its progress', description: OPERATORS },
  setJob: {
    ...webhookJob,
    summary: 'Pause, continue or cancel a job',
    description: `What it has changed stays changed. 409 if it has ended. ${OPERATORS}`,
    body: { schema: ref('ReplayState'), example: { state: 'paused' } },
    example: { ...example.WEBHOOK_JOB, state: 'paused' },
  },
  streamItems: {
    tag: 'Deliveries',
    summary: 'Follow attempts, changes of webhooks and events as they happen',
    description:
      'Server-Sent Events; `data` of each is one of these documents (`event`: `attempt`, `webhook`, `event`, `rate`, `gap`, ' +
      '`end`). A comment every 15 s shows that the connection lives. Attempts are sent at least once while their records are ' +
      'stored; where several nodes share the store, up to 10 s out of order. The token is read from the header only.',
    parameters: [
      'stream_types',
      'stream_webhook',
      'stream_call',
      'stream_result',
      'stream_descendants',
      'last_event_id',
    ],
    data: {
      anyOf: [
        ref('StreamAttempt'),
        ref('StreamWebhook'),
        ref('Payload'),
        ref('StreamRate'),
        ref('StreamGap'),
        ref('StreamEnd'),
      ],
    },
    example: example.EVENT_STREAM,
  },
  listUnhealthyWebhooks: {
    tag: 'Operator',
    summary: 'List the webhooks of all accounts that need attention',
    description:
      'Those that fail, are paused, or were disabled by the service. With `sort=impact` the first 5,000 that are selected, in the ' +
      'order of ids, are compared for each page; the last page says with `truncated` that there are more. A page has at most 200. ' +
      'Only for the token of an operator, otherwise 403.',
    parameters: [
      'unhealthy_state',
      'unhealthy_account',
      'unhealthy_cause',
      'unhealthy_host',
      'unhealthy_since',
      'unhealthy_until',
      'unhealthy_sort',
      'page_size',
      'start_key',
      ...FILTERS,
    ],
    data: listOf(ref('FoundEndpoint')),
    example: [
      { account_id: example.IDS.account_id, account_name: example.LOGIN.account_name, ...example.ENDPOINT },
    ],
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
      ...FILTERS,
    ],
    data: listOf(ref('FoundDelivery')),
    example: [example.FOUND_DELIVERY],
  },
  replayAllAccounts: {
    ...replay,
    tag: 'Operator',
    summary: 'Send deliveries of all accounts again',
    description: `A job repeats all that the selection finds. ${REPLAY} ${OPERATORS}`,
    example: jobOfAllAccounts,
  },
  listAllReplays: {
    ...replays,
    tag: 'Operator',
    summary: 'List the replays of all accounts',
    description: `Those of single accounts too. Newest first. ${OPERATORS}`,
  },
  readAnyReplay: {
    ...replayJob,
    tag: 'Operator',
    summary: 'Read a replay of any account, or of all',
    description: OPERATORS,
  },
  setAnyReplay: {
    ...replayJob,
    tag: 'Operator',
    summary: 'Pause, continue or cancel a replay of any account, or of all',
    description: `${SET_REPLAY} ${OPERATORS}`,
    body: { schema: ref('ReplayState'), example: { state: 'paused' } },
    example: { ...example.REPLAY_JOB, state: 'paused' },
  },
  listAccounts: {
    tag: 'Accounts',
    summary: 'List all accounts',
    description: 'For operators only. Sorted by name.',
    data: listOf(ref('AnyAccount')),
    example: [example.ANY_ACCOUNT],
  },
  createAccount: { ...account, ...newAccount, summary: "Create an account below the token's account" },
  createChildAccount: { ...account, ...newAccount, summary: 'Create an account below this one' },
  readAccount: {
    ...account,
    summary: 'Read an account',
    parameters: ['if_none_match', 'include_api_key'],
  },
  replaceAccount: {
    ...account,
    summary: 'Replace an account',
    description:
      'Replaces every field; an omitted realm, time zone, language or state stays. Only a token of an account above ' +
      'changes `enabled`.',
    body: { schema: ref('AccountFields'), example: example.NEW_ACCOUNT },
    parameters: ['if_match'],
  },
  patchAccount: {
    ...account,
    summary: 'Change some fields of an account',
    description: MERGE,
    body: { schema: ref('AccountPatch'), example: { name: 'Birch' } },
    parameters: ['if_match'],
    example: { ...example.ACCOUNT, name: 'Birch' },
  },
  deleteAccount: {
    ...account,
    summary: 'Delete an account',
    description:
      'With a token of an account above. Deletes its users, key, tokens and webhooks, and cancels waiting deliveries; ' +
      '409 while there are accounts below it.',
    parameters: ['if_match'],
    example: example.DELETED_ACCOUNT,
  },
  listChildren: {
    tag: 'Accounts',
    summary: 'List the accounts directly below an account',
    description: 'Sorted by name. `descendants_count` stops at 1,000.',
    data: listOf(ref('AccountSummary')),
    example: [example.CHILD],
  },
  listDescendants: {
    tag: 'Accounts',
    summary: 'List all accounts below an account',
    description: 'Sorted by name.',
    data: listOf(ref('AccountDescendant')),
    example: [example.DESCENDANT],
  },
  listSiblings: {
    tag: 'Accounts',
    summary: 'List the accounts with the same parent, this one included',
    description: 'Sorted by name.',
    data: listOf(ref('AccountSummary')),
    example: [example.CHILD],
  },
  listTree: { ...ancestors, summary: 'List the accounts above an account' },
  listParents: { ...ancestors, summary: 'List the accounts above an account, as `tree`' },
  listAncestors: { ...ancestors, summary: 'List the accounts above an account, as `tree`' },
  moveAccount: {
    ...account,
    summary: 'Move an account with everything below it',
    description: 'For operators only.',
    body: { schema: object({ to: text('Id of the new parent.') }), example: { to: example.IDS.account_id } },
  },
  eraseRecords: {
    tag: 'Accounts',
    summary: 'Erase the records of a call, of a number, or of all calls',
    description:
      'Erases events, deliveries (waiting ones too) and attempts permanently. Operators may name an account that was ' +
      'deleted. A body without any field erases the data of all calls of the account; an unknown field is an error.',
    body: {
      schema: object(
        {
          call_id: text('Erases this call and its other legs.'),
          number: text('Erases all calls of this number or user name.'),
        },
        [],
      ),
      example: { number: '+14155550142' },
    },
    data: object({ call_ids: listOf({ type: 'string' }), rows: integer('Number of rows removed.') }, [
      'rows',
    ]),
    example: { call_ids: [example.IDS.call_id], rows: 12 },
  },
  listApps: {
    tag: 'Accounts',
    summary: 'List the applications of the account',
    description: 'Always empty.',
    data: listOf({}),
    example: [],
  },
  listUsers: {
    tag: 'Users',
    summary: 'List the users of the account',
    description: 'Sorted by last name and first name.',
    data: listOf(ref('UserSummary')),
    example: [example.USER_SUMMARY],
  },
  createUser: {
    ...user,
    summary: 'Create a user',
    body: { schema: ref('UserFields'), example: example.NEW_USER },
  },
  readUser: { ...user, summary: 'Read a user', parameters: ['if_none_match'] },
  replaceUser: {
    ...user,
    summary: 'Replace a user',
    description: 'Replaces every field. A user without admin rights may replace its own document.',
    body: { schema: ref('UserFields'), example: example.NEW_USER },
    parameters: ['if_match'],
  },
  patchUser: {
    ...user,
    summary: 'Change some fields of a user',
    description: `${MERGE} A new password invalidates the tokens of the user.`,
    body: { schema: ref('UserPatch'), example: { password: 'battery staple' } },
    parameters: ['if_match'],
  },
  deleteUser: {
    ...user,
    summary: 'Delete a user',
    description: 'Its tokens are invalid at once.',
    parameters: ['if_match'],
    example: example.DELETED_USER,
  },
  search: {
    tag: 'Accounts',
    summary: "Search the accounts below the token's account",
    description:
      'By the beginning of name, realm (letters and digits only, in any case) or id. Sorted by name.',
    parameters: ['search_type', 'search_field', 'search_value'],
    data: listOf(ref('AccountSummary')),
    example: [example.FOUND],
  },
  searchAccount: {
    tag: 'Accounts',
    summary: 'Search the accounts below an account',
    description:
      'By the beginning of name, realm (letters and digits only, in any case) or id. Sorted by name.',
    parameters: ['search_type', 'search_field', 'search_value'],
    data: listOf(ref('AccountSummary')),
    example: [example.FOUND],
  },
  searchMany: {
    tag: 'Accounts',
    summary: 'Search by several fields',
    description: 'At most 50 accounts for each field.',
    parameters: ['search_type', 'by_name', 'by_realm', 'by_id'],
    data: object(
      {
        name: listOf(ref('AccountSummary')),
        realm: listOf(ref('AccountSummary')),
        id: listOf(ref('AccountSummary')),
      },
      [],
    ),
    example: { name: [example.FOUND] },
  },
  readOpenapi: {
    tag: 'Service',
    summary: 'Read this document',
    data: object({ openapi: text('3.1.0') }),
    example: { openapi: '3.1.0' },
  },
}
