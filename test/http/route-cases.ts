import { expect } from 'vitest'
import { catalogueOf } from '../../src/webhooks/catalogue.js'
import { API_KEY, CHILD, HOOK, OWN, TOKEN } from './records.js'

const WEBHOOKS = `/accounts/${OWN}/webhooks`
const WEBHOOK = `${WEBHOOKS}/${HOOK}`
const WANTED = { name: 'n', uri: 'https://r.example.com/', hook: 'all', retries: '3', enabled: 'false' }
const SETTINGS = { name: 'n', uri: 'https://r.example.com/', hook: 'all', retries: 3, enabled: false }

export interface Case {
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly data?: unknown
  readonly token?: string | null
  readonly status: number
  /** What `data` of the answer is like. */
  readonly answer: unknown
  /** What the service is asked last. */
  readonly asks?: unknown[]
}

const hooks = catalogueOf()

const get = (operation: string, path: string, answer: unknown): Case => ({
  operation,
  method: 'GET',
  path,
  status: 200,
  answer,
})

/** One request for every route, and what becomes of it. */
export const CASES: readonly Case[] = [
  {
    operation: 'signInByApiKey',
    method: 'PUT',
    path: '/api_auth',
    data: { api_key: API_KEY, ui_metadata: {} },
    token: 'undefined',
    status: 201,
    answer: {
      account_id: OWN,
      account_name: 'Own',
      language: 'en-US',
      is_reseller: false,
      reseller_id: 'reseller-1',
      apps: [],
    },
    asks: ['signIn', { apiKey: API_KEY }, { address: '192.0.2.1' }],
  },
  {
    operation: 'signInByCredentials',
    method: 'PUT',
    path: '/user_auth',
    data: { credentials: 'c'.repeat(32), realm: 'r', method: 'md5' },
    token: null,
    status: 201,
    answer: expect.objectContaining({ account_id: OWN, owner_id: 'user-1' }),
    asks: ['signIn', { credentials: 'c'.repeat(32), realm: 'r', method: 'md5' }, { address: '192.0.2.1' }],
  },
  {
    operation: 'signOut',
    method: 'DELETE',
    path: '/token_auth',
    status: 200,
    answer: {},
    asks: ['signOut', TOKEN],
  },
  get('readApiKey', `/accounts/${OWN}/api_key`, { api_key: API_KEY }),
  {
    ...get('rotateApiKey', `/accounts/${OWN}/api_key`, { api_key: 'b'.repeat(64) }),
    method: 'PUT',
    status: 201,
  },
  {
    operation: 'listHooks',
    method: 'GET',
    path: '/webhooks',
    token: null,
    status: 200,
    answer: hooks.map(({ id, name, description }) => ({ id, name, description })),
  },
  {
    operation: 'listSamples',
    method: 'GET',
    path: '/webhooks/samples',
    token: null,
    status: 200,
    answer: hooks.map(({ id }) => `webhooks_${id}`),
  },
  {
    operation: 'readSample',
    method: 'GET',
    path: '/webhooks/samples/webhooks_channel_create',
    token: null,
    status: 200,
    answer: ['inbound', 'outbound'].map((direction) =>
      expect.objectContaining({ hook_event: 'channel_create', call_direction: direction, sequence: 1 }),
    ),
  },
  {
    operation: 'listWebhooks',
    method: 'GET',
    path: WEBHOOKS,
    status: 200,
    answer: [
      { id: HOOK, hook: 'channel_create', name: 'Hook', uri: 'https://receiver.example.com/', enabled: true },
    ],
    asks: ['list', OWN],
  },
  {
    operation: 'createWebhook',
    method: 'PUT',
    path: WEBHOOKS,
    data: { ...WANTED, group_color: 'red', httpVerb: 'get', id: 'x', _read_only: {} },
    status: 201,
    answer: expect.objectContaining({
      ...SETTINGS,
      id: 'created',
      group_color: 'red',
      httpVerb: 'get',
      http_verb: 'post',
    }),
    asks: ['create', OWN, { settings: SETTINGS, extra: { group_color: 'red', httpVerb: 'get' } }],
  },
  {
    operation: 'reenableWebhooks',
    method: 'PATCH',
    path: WEBHOOKS,
    data: { 're-enable': 'true', ui_metadata: {} },
    status: 200,
    answer: 'hooks updated',
    asks: ['reenable', [OWN]],
  },
  {
    operation: 'reenableDescendantWebhooks',
    method: 'PATCH',
    path: `/accounts/${OWN}/descendants/webhooks`,
    data: { 're-enable': true },
    status: 200,
    answer: 'hooks updated',
    asks: ['reenable', [OWN, CHILD]],
  },
  {
    operation: 'listAttempts',
    method: 'GET',
    path: `${WEBHOOKS}/attempts`,
    status: 200,
    answer: [expect.objectContaining({ id: 'attempt-2' }), expect.objectContaining({ id: 'attempt-1' })],
  },
  {
    operation: 'readWebhook',
    method: 'GET',
    path: WEBHOOK,
    status: 200,
    answer: expect.objectContaining({ id: HOOK, http_verb: 'post' }),
    asks: ['read', OWN, HOOK],
  },
  {
    operation: 'replaceWebhook',
    method: 'POST',
    path: WEBHOOK,
    data: WANTED,
    status: 200,
    answer: expect.objectContaining(SETTINGS),
    asks: ['replace', OWN, HOOK, { settings: SETTINGS }, {}],
  },
  {
    operation: 'patchWebhook',
    method: 'PATCH',
    path: WEBHOOK,
    data: { retries: '0', group: null, custom_data: { k: null } },
    status: 200,
    answer: expect.objectContaining({ retries: 0, name: 'Hook' }),
    asks: ['patch', OWN, HOOK, { settings: { retries: 0, group: null, customData: { k: null } } }, {}],
  },
  {
    operation: 'deleteWebhook',
    method: 'DELETE',
    path: WEBHOOK,
    data: { ui_metadata: {} },
    status: 200,
    answer: expect.objectContaining({ id: HOOK, _read_only: expect.objectContaining({ deleted: true }) }),
    asks: ['remove', OWN, HOOK, {}],
  },
  {
    operation: 'listWebhookAttempts',
    method: 'GET',
    path: `${WEBHOOK}/attempts`,
    status: 200,
    answer: [expect.objectContaining({ id: 'attempt-2', hook_id: HOOK }), expect.anything()],
    asks: ['attempts', { accountId: OWN, webhookId: HOOK, limit: 51 }],
  },
  {
    operation: 'testWebhook',
    method: 'PUT',
    path: `${WEBHOOK}/test`,
    status: 202,
    answer: { delivery_id: 'delivery-test' },
    asks: ['test', OWN, HOOK],
  },
  {
    operation: 'replayWebhook',
    method: 'PUT',
    path: `${WEBHOOK}/replay`,
    data: { created_from: '62167219201', result: 'failure' },
    status: 202,
    answer: { delivery_ids: ['delivery-again'] },
    asks: ['replay', OWN, HOOK, { createdFromMs: 1000, result: 'failure' }],
  },
  {
    operation: 'listDeliveries',
    method: 'GET',
    path: `${WEBHOOK}/deliveries?filter_state=waiting`,
    status: 200,
    answer: [expect.objectContaining({ id: 'delivery-1', state: 'waiting', explain: 'about delivery-1' })],
  },
  get('readSecret', `${WEBHOOK}/secret`, { secret: 'whsec_old' }),
  { ...get('rotateSecret', `${WEBHOOK}/secret`, { secret: 'whsec_new' }), method: 'PUT', status: 201 },
  get(
    'readDelivery',
    `/accounts/${OWN}/deliveries/delivery-2`,
    expect.objectContaining({ id: 'delivery-2', explain: 'about delivery-2' }),
  ),
  {
    operation: 'listCallAttempts',
    method: 'GET',
    path: `/accounts/${OWN}/calls/a%2Fb%2541/attempts`,
    status: 200,
    answer: [expect.anything(), expect.anything()],
    asks: ['attempts', { accountId: OWN, callIds: ['a/b%41', 'other-leg'], limit: 51 }],
  },
  {
    operation: 'publishEvents',
    method: 'PUT',
    path: `/accounts/${OWN}/events`,
    data: [
      { hook: 'channel_create', call_id: 'c' },
      { hook: 'channel_destroy', call_id: 'c' },
    ],
    status: 202,
    answer: { event_ids: ['event-1', 'event-2'] },
    asks: [
      'ingest',
      OWN,
      [
        { hook: 'channel_create', callId: 'c', accountId: OWN },
        { hook: 'channel_destroy', callId: 'c', accountId: OWN },
      ],
    ],
  },
]
