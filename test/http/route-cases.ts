/** One request for every route, with its expected response. */
import { expect } from 'vitest'
import { catalogueOf } from '../../src/webhooks/catalogue.js'
import { API_KEY, CHILD_ACCOUNT, OWN_ACCOUNT, TOKEN, USER_ID, WEBHOOK_ID } from './records.js'

const WEBHOOKS = `/accounts/${OWN_ACCOUNT}/webhooks`
const WEBHOOK = `${WEBHOOKS}/${WEBHOOK_ID}`
const INPUT = { name: 'n', uri: 'https://r.example.com/', hook: 'all', retries: '3', enabled: 'false' }
const SETTINGS = { name: 'n', uri: 'https://r.example.com/', hook: 'all', retries: 3, enabled: false }

const OWN_REALM = 'own.example.com'
const FOUND = { id: OWN_ACCOUNT, name: 'Own', realm: OWN_REALM, descendants_count: 2 }
const CHILD = { ...FOUND, flags: [] }
const ACCOUNT_INPUT = { name: 'New', billing_mode: 'x', id: 'x', pvt_y: 1 }
const ACCOUNT = expect.objectContaining({
  id: OWN_ACCOUNT,
  name: 'Own',
  timezone: 'Etc/UTC',
  reseller_id: 'reseller-1',
  billing_mode: 'manual',
})
const USER_INPUT = {
  first_name: 'A',
  last_name: 'B',
  enabled: 'false',
  group: 'g',
  credentials: 'x',
  _read_only: 1,
}
const USER_DOCUMENT = { fields: { firstName: 'A', lastName: 'B', enabled: false }, extra: { group: 'g' } }
const USER = expect.objectContaining({
  id: USER_ID,
  username: 'ada',
  verified: false,
  features: ['caller_id'],
})

/** The statistics of the fake backend. */
const STATS_DATA = {
  step: 3600,
  start: [62_167_222_800],
  ok: [2],
  failed: [1],
  outcomes: { timeout: [1] },
  latency_ms: { p50: [3], p95: [null], p99: [4] },
  complete_to: 62_167_219_260,
}

const NEW_JOB = {
  id: '3'.repeat(32),
  state: 'running',
  count: 12,
  replayed: 5,
  created_at: '2030-01-15T12:00:03.250Z',
  include_recovered: false,
  left_out: [],
  automatic: false,
}
const JOB = {
  ...NEW_JOB,
  id: '2'.repeat(32),
  account_id: OWN_ACCOUNT,
  created_at: '2030-01-15T12:00:02.250Z',
}
const JOB_OF_ALL = {
  ...NEW_JOB,
  id: '1'.repeat(32),
  state: 'completed',
  created_at: '2030-01-15T12:00:01.250Z',
  ended_at: '2030-01-15T12:00:09.250Z',
}

export interface RouteCase {
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly data?: unknown
  readonly token?: string | null
  readonly status: number
  /** Expected `data` of the response. */
  readonly expectedData: unknown
  /** Expected last call of the backend. */
  readonly expectedCall?: unknown[]
}

const hooks = catalogueOf()

const get = (operation: string, path: string, expectedData: unknown): RouteCase => ({
  operation,
  method: 'GET',
  path,
  status: 200,
  expectedData,
})

export const ROUTE_CASES: readonly RouteCase[] = [
  {
    operation: 'signInByApiKey',
    method: 'PUT',
    path: '/api_auth',
    data: { api_key: API_KEY, ui_metadata: {} },
    token: 'undefined',
    status: 201,
    expectedData: {
      account_id: OWN_ACCOUNT,
      account_name: 'Own',
      language: 'en-US',
      is_reseller: false,
      reseller_id: 'reseller-1',
      apps: [],
    },
    expectedCall: ['signIn', { apiKey: API_KEY }, { address: '192.0.2.1' }],
  },
  {
    operation: 'signInByCredentials',
    method: 'PUT',
    path: '/user_auth',
    data: { credentials: 'c'.repeat(32), realm: 'r', method: 'md5' },
    token: null,
    status: 201,
    expectedData: expect.objectContaining({ account_id: OWN_ACCOUNT, owner_id: 'user-1' }),
    expectedCall: [
      'signIn',
      { credentials: 'c'.repeat(32), realm: 'r', method: 'md5' },
      { address: '192.0.2.1' },
    ],
  },
  get('readToken', '/token_auth', {
    account_id: OWN_ACCOUNT,
    account_name: 'Own',
    language: 'en-US',
    is_reseller: false,
    reseller_id: 'reseller-1',
    apps: [],
    priv_level: 'admin',
    is_operator: false,
    is_read_only: false,
  }),
  {
    operation: 'signOut',
    method: 'DELETE',
    path: '/token_auth',
    status: 200,
    expectedData: {},
    expectedCall: ['signOut', TOKEN],
  },
  get('readApiKey', `/accounts/${OWN_ACCOUNT}/api_key`, { api_key: API_KEY }),
  {
    ...get('rotateApiKey', `/accounts/${OWN_ACCOUNT}/api_key`, { api_key: 'b'.repeat(64) }),
    method: 'PUT',
    status: 201,
  },
  {
    operation: 'listHooks',
    method: 'GET',
    path: '/webhooks',
    token: null,
    status: 200,
    expectedData: hooks.map(({ id, name, description }) => ({ id, name, description })),
  },
  {
    operation: 'listSamples',
    method: 'GET',
    path: '/webhooks/samples',
    token: null,
    status: 200,
    expectedData: hooks.map(({ id }) => `webhooks_${id}`),
  },
  {
    operation: 'readSample',
    method: 'GET',
    path: '/webhooks/samples/webhooks_channel_create',
    token: null,
    status: 200,
    expectedData: ['inbound', 'outbound'].map((direction) =>
      expect.objectContaining({ hook_event: 'channel_create', call_direction: direction, sequence: 1 }),
    ),
  },
  {
    operation: 'listBindings',
    method: 'GET',
    path: '/websockets',
    token: null,
    status: 200,
    expectedData: { call: expect.arrayContaining(['call.CHANNEL_CREATE.{CALL_ID}']) },
  },
  {
    operation: 'listWebhooks',
    method: 'GET',
    path: WEBHOOKS,
    status: 200,
    expectedData: [
      {
        id: WEBHOOK_ID,
        hook: 'channel_create',
        name: 'Hook',
        uri: 'https://receiver.example.com/',
        enabled: true,
        health: { state: 'ok', failures_in_row: 0, last_success_at: '2030-01-15T12:00:00.250Z' },
      },
    ],
    expectedCall: ['lastSuccesses', [WEBHOOK_ID]],
  },
  {
    operation: 'createWebhook',
    method: 'PUT',
    path: WEBHOOKS,
    data: { ...INPUT, group_color: 'red', httpVerb: 'get', id: 'x', _read_only: {} },
    status: 201,
    expectedData: expect.objectContaining({
      ...SETTINGS,
      id: 'created',
      group_color: 'red',
      httpVerb: 'get',
      http_verb: 'post',
    }),
    expectedCall: [
      'create',
      OWN_ACCOUNT,
      { settings: SETTINGS, extra: { group_color: 'red', httpVerb: 'get' } },
    ],
  },
  {
    operation: 'reenableWebhooks',
    method: 'PATCH',
    path: WEBHOOKS,
    data: { 're-enable': 'true', ui_metadata: {} },
    status: 200,
    expectedData: 'hooks updated',
    expectedCall: ['reenable', [OWN_ACCOUNT]],
  },
  {
    operation: 'reenableDescendantWebhooks',
    method: 'PATCH',
    path: `/accounts/${OWN_ACCOUNT}/descendants/webhooks`,
    data: { 're-enable': true },
    status: 200,
    expectedData: 'hooks updated',
    expectedCall: ['reenable', [OWN_ACCOUNT, CHILD_ACCOUNT]],
  },
  {
    operation: 'listAttempts',
    method: 'GET',
    path: `${WEBHOOKS}/attempts`,
    status: 200,
    expectedData: [
      expect.objectContaining({ id: 'attempt-2' }),
      expect.objectContaining({ id: 'attempt-1' }),
    ],
  },
  {
    operation: 'readAccountStats',
    method: 'GET',
    path: `${WEBHOOKS}/stats?step=60&created_from=2026-01-01&created_to=63934456210`,
    status: 200,
    expectedData: STATS_DATA,
    expectedCall: [
      'stats',
      OWN_ACCOUNT,
      undefined,
      { step: 60, fromMs: Date.UTC(2026, 0, 1), toMs: 1_767_237_010_999 },
    ],
  },
  {
    operation: 'readWebhookStats',
    method: 'GET',
    path: `${WEBHOOK}/stats`,
    status: 200,
    expectedData: STATS_DATA,
    expectedCall: ['stats', OWN_ACCOUNT, WEBHOOK_ID, {}],
  },
  {
    operation: 'listEndpoints',
    method: 'GET',
    path: `${WEBHOOKS}/health?state=idle&q=call&page_size=300`,
    status: 200,
    expectedData: [expect.objectContaining({ id: WEBHOOK_ID, state: 'ok', pending: 0 })],
    expectedCall: ['endpoints', OWN_ACCOUNT, { limit: 200, states: ['idle'], search: 'call' }],
  },
  {
    operation: 'readWebhook',
    method: 'GET',
    path: WEBHOOK,
    status: 200,
    expectedData: expect.objectContaining({ id: WEBHOOK_ID, http_verb: 'post' }),
    expectedCall: ['read', OWN_ACCOUNT, WEBHOOK_ID],
  },
  {
    operation: 'replaceWebhook',
    method: 'POST',
    path: WEBHOOK,
    data: INPUT,
    status: 200,
    expectedData: expect.objectContaining(SETTINGS),
    expectedCall: ['replace', OWN_ACCOUNT, WEBHOOK_ID, { settings: SETTINGS }, {}],
  },
  {
    operation: 'patchWebhook',
    method: 'PATCH',
    path: WEBHOOK,
    data: { retries: '0', group: null, custom_data: { k: null } },
    status: 200,
    expectedData: expect.objectContaining({ retries: 0, name: 'Hook' }),
    expectedCall: [
      'patch',
      OWN_ACCOUNT,
      WEBHOOK_ID,
      { settings: { retries: 0, group: null, customData: { k: null } } },
      {},
    ],
  },
  {
    operation: 'deleteWebhook',
    method: 'DELETE',
    path: WEBHOOK,
    data: { ui_metadata: {} },
    status: 200,
    expectedData: expect.objectContaining({
      id: WEBHOOK_ID,
      _read_only: expect.objectContaining({ deleted: true }),
    }),
    expectedCall: ['remove', OWN_ACCOUNT, WEBHOOK_ID, {}],
  },
  {
    operation: 'listWebhookAttempts',
    method: 'GET',
    path: `${WEBHOOK}/attempts`,
    status: 200,
    expectedData: [expect.objectContaining({ id: 'attempt-2', hook_id: WEBHOOK_ID }), expect.anything()],
    expectedCall: ['attempts', { accountId: OWN_ACCOUNT, webhookId: WEBHOOK_ID, limit: 51 }],
  },
  {
    operation: 'testWebhook',
    method: 'PUT',
    path: `${WEBHOOK}/test`,
    status: 202,
    expectedData: { delivery_id: 'delivery-test' },
    expectedCall: ['test', OWN_ACCOUNT, WEBHOOK_ID],
  },
  {
    operation: 'replayWebhook',
    method: 'PUT',
    path: `${WEBHOOK}/replay`,
    data: { delivery_id: 'delivery-1', ui_metadata: {} },
    status: 202,
    expectedData: { delivery_ids: ['delivery-again'] },
    expectedCall: ['replay', OWN_ACCOUNT, WEBHOOK_ID, 'delivery-1'],
  },
  {
    operation: 'replayWebhook',
    method: 'PUT',
    path: `${WEBHOOK}/replay`,
    data: { created_from: '62167219201', result: 'expired' },
    status: 202,
    expectedData: {
      ...NEW_JOB,
      account_id: OWN_ACCOUNT,
      webhook_id: WEBHOOK_ID,
      created_from: '1970-01-01T00:00:01.000Z',
      result: 'expired',
    },
    expectedCall: [
      'startReplay',
      { accountId: OWN_ACCOUNT, webhookId: WEBHOOK_ID, createdFromMs: 1000, result: 'expired' },
    ],
  },
  {
    operation: 'replayAccount',
    method: 'PUT',
    path: `/accounts/${OWN_ACCOUNT}/replay`,
    data: {
      created_to: '1970-01-01',
      hook: 'channel_destroy',
      reason: 'status 500',
      call_id: 'c',
      number: '+493012345',
      include_recovered: 'true',
    },
    status: 202,
    expectedData: {
      ...NEW_JOB,
      account_id: OWN_ACCOUNT,
      created_to: '1970-01-01T23:59:59.999Z',
      hook: 'channel_destroy',
      reason: 'status 500',
      call_id: 'c',
      number: '+493012345',
      include_recovered: true,
    },
    expectedCall: [
      'startReplay',
      {
        accountId: OWN_ACCOUNT,
        createdToMs: 86_399_999,
        hook: 'channel_destroy',
        reason: 'status 500',
        callId: 'c',
        number: '+493012345',
        includeRecovered: true,
      },
    ],
  },
  {
    operation: 'replayAllAccounts',
    method: 'PUT',
    path: '/system/replay',
    data: {},
    status: 202,
    expectedData: NEW_JOB,
    expectedCall: ['startReplay', {}],
  },
  ...[`${WEBHOOK}/replay`, `/accounts/${OWN_ACCOUNT}/replay`, '/system/replay'].map(
    (path): RouteCase => ({
      operation: 'replayWebhook',
      method: 'PUT',
      path,
      data: { dry_run: 'true' },
      status: 200,
      expectedData: { count: 12 },
    }),
  ),
  {
    ...get('listReplays', `/accounts/${OWN_ACCOUNT}/replays?page_size=7`, [JOB]),
    expectedCall: ['listReplays', { accountId: OWN_ACCOUNT, limit: 8 }],
  },
  {
    ...get('listAllReplays', '/system/replays', [JOB, JOB_OF_ALL]),
    expectedCall: ['listReplays', { limit: 51 }],
  },
  {
    ...get('readReplay', `/accounts/${OWN_ACCOUNT}/replays/${JOB.id}`, JOB),
    expectedCall: ['readReplay', JOB.id, OWN_ACCOUNT],
  },
  {
    ...get('readAnyReplay', `/system/replays/${JOB_OF_ALL.id}`, JOB_OF_ALL),
    expectedCall: ['readReplay', JOB_OF_ALL.id, undefined],
  },
  {
    operation: 'setReplay',
    method: 'POST',
    path: `/accounts/${OWN_ACCOUNT}/replays/${JOB.id}`,
    data: { state: 'paused' },
    status: 200,
    expectedData: { ...JOB, state: 'paused' },
    expectedCall: ['setReplay', JOB.id, 'paused', OWN_ACCOUNT],
  },
  {
    operation: 'setAnyReplay',
    method: 'POST',
    path: `/system/replays/${JOB.id}`,
    data: { state: 'cancelled' },
    status: 200,
    expectedData: { ...JOB, state: 'cancelled' },
    expectedCall: ['setReplay', JOB.id, 'cancelled', undefined],
  },
  {
    operation: 'resumeWebhook',
    method: 'PUT',
    path: `${WEBHOOK}/resume`,
    status: 200,
    expectedData: expect.objectContaining({ id: WEBHOOK_ID, http_verb: 'post' }),
    expectedCall: ['resume', OWN_ACCOUNT, WEBHOOK_ID],
  },
  {
    operation: 'previewWebhook',
    method: 'PUT',
    path: `${WEBHOOKS}/preview`,
    data: { webhook: INPUT, hook: 'channel_destroy' },
    status: 200,
    expectedData: { method: 'GET', uri: 'https://r.example.com/?a=1', headers: { a: 'b' }, curl: 'curl' },
    expectedCall: ['preview', OWN_ACCOUNT, { settings: SETTINGS }, 'channel_destroy'],
  },
  {
    operation: 'matchEvent',
    method: 'PUT',
    path: `/accounts/${OWN_ACCOUNT}/events/match`,
    data: { hook: 'channel_create', is_internal_leg: 'true', account_id: CHILD_ACCOUNT },
    status: 200,
    expectedData: [
      { id: WEBHOOK_ID, name: 'Hook', wanted: true },
      { id: 'other', name: 'Other', wanted: false, why: 'hook' },
    ],
    expectedCall: [
      'match',
      OWN_ACCOUNT,
      { hook: 'channel_create', isInternalLeg: true, accountId: CHILD_ACCOUNT },
    ],
  },
  {
    operation: 'listDeliveries',
    method: 'GET',
    path: `${WEBHOOK}/deliveries?filter_state=waiting`,
    status: 200,
    expectedData: [
      expect.objectContaining({ id: 'delivery-1', state: 'waiting', explain: 'Is being sent: attempt 1.' }),
    ],
  },
  get('readSecret', `${WEBHOOK}/secret`, { secret: 'whsec_old' }),
  { ...get('rotateSecret', `${WEBHOOK}/secret`, { secret: 'whsec_new' }), method: 'PUT', status: 201 },
  get(
    'readDelivery',
    `/accounts/${OWN_ACCOUNT}/deliveries/delivery-2`,
    expect.objectContaining({ id: 'delivery-2', explain: 'Is being sent: attempt 2.' }),
  ),
  {
    operation: 'listDeliveryAttempts',
    method: 'GET',
    path: `/accounts/${OWN_ACCOUNT}/deliveries/delivery-1/attempts?slim=true&page_size=1`,
    status: 200,
    expectedData: [expect.objectContaining({ id: 'attempt-2' })],
    expectedCall: ['attempts', { accountId: OWN_ACCOUNT, deliveryId: 'delivery-1', limit: 2 }],
  },
  {
    operation: 'readCall',
    method: 'GET',
    path: `/accounts/${OWN_ACCOUNT}/calls/a%2Fb`,
    status: 200,
    expectedData: {
      call_id: 'a/b',
      legs: [{ call_id: 'a/b', direction: 'inbound', events: 1 }],
      events: [
        expect.objectContaining({
          id: 'event-1',
          hook: 'channel_create',
          sequence: 2,
          deliveries: [expect.objectContaining({ id: 'delivery-1', hook_id: WEBHOOK_ID, attempts: 1 })],
        }),
      ],
      unwanted: [{ call_id: 'a/b', sequence: 1 }],
      truncated: false,
    },
    expectedCall: ['call', OWN_ACCOUNT, 'a/b'],
  },
  {
    operation: 'listCallAttempts',
    method: 'GET',
    path: `/accounts/${OWN_ACCOUNT}/calls/a%2Fb%2541/attempts`,
    status: 200,
    expectedData: [expect.anything(), expect.anything()],
    expectedCall: ['attempts', { accountId: OWN_ACCOUNT, callIds: ['a/b%41', 'other-leg'], limit: 51 }],
  },
  {
    operation: 'lookUp',
    method: 'GET',
    path: `/accounts/${OWN_ACCOUNT}/lookup?id=a%2Fb`,
    status: 200,
    expectedData: [{ type: 'call', id: 'a/b' }],
  },
  {
    operation: 'publishEvents',
    method: 'PUT',
    path: `/accounts/${OWN_ACCOUNT}/events`,
    data: [
      { hook: 'channel_create', call_id: 'c' },
      { hook: 'channel_destroy', call_id: 'c' },
    ],
    status: 202,
    expectedData: { event_ids: ['event-1', 'event-2'] },
    expectedCall: [
      'ingest',
      OWN_ACCOUNT,
      [
        { hook: 'channel_create', callId: 'c', accountId: OWN_ACCOUNT },
        { hook: 'channel_destroy', callId: 'c', accountId: OWN_ACCOUNT },
      ],
    ],
  },
  get('readOverview', '/system/overview', {
    pending: 4,
    oldest_due_seconds: 1.5,
    in_flight: 2,
    attempts_per_minute: [0, 1],
    paused: { waiting: 1, probing: 0 },
    disabled: 3,
    disabled_capped: false,
    nodes: [
      { node: 'n1', alive_until: '2030-01-15T12:00:00.250Z', shards: 40, leaving: 1 },
      { node: 'n2', shards: 24, leaving: 0 },
    ],
    store: { durable: true, shared: true },
    version: '1.2.3',
  }),
  {
    operation: 'listUnhealthyWebhooks',
    method: 'GET',
    path: '/system/endpoints?state=failing&page_size=5',
    status: 200,
    expectedData: [
      {
        account_id: OWN_ACCOUNT,
        id: WEBHOOK_ID,
        name: 'Hook',
        uri: 'https://receiver.example.com/',
        state: 'ok',
        failures_in_row: 0,
        exhausted: 0,
        pending: 0,
        pending_capped: false,
      },
    ],
    expectedCall: ['unhealthy', { limit: 5, states: ['failing'] }],
  },
  {
    operation: 'searchDeliveries',
    method: 'GET',
    path: '/system/deliveries?account_id=a&hook_id=w&call_id=c%2F1&state=exhausted&created_from=62167219201&page_size=2',
    status: 200,
    expectedData: [
      expect.objectContaining({ account_id: OWN_ACCOUNT, id: 'delivery-1', kind: 'retry' }),
      expect.objectContaining({ id: 'delivery-2', explain: 'Is being sent: attempt 2.' }),
    ],
  },
  {
    ...get('listAccounts', '/accounts', [
      { id: OWN_ACCOUNT, name: 'Own', realm: OWN_REALM, tree: [], enabled: true },
    ]),
    expectedCall: ['admin.page', { ascending: true, limit: 51 }],
  },
  {
    operation: 'createAccount',
    method: 'PUT',
    path: '/accounts',
    data: ACCOUNT_INPUT,
    status: 201,
    expectedData: ACCOUNT,
  },
  {
    operation: 'createChildAccount',
    method: 'PUT',
    path: `/accounts/${CHILD_ACCOUNT}`,
    data: ACCOUNT_INPUT,
    status: 201,
    expectedData: ACCOUNT,
  },
  {
    ...get('readAccount', `/accounts/${OWN_ACCOUNT}`, ACCOUNT),
    expectedCall: ['admin.lineage', OWN_ACCOUNT],
  },
  {
    operation: 'replaceAccount',
    method: 'POST',
    path: `/accounts/${OWN_ACCOUNT}`,
    data: ACCOUNT_INPUT,
    status: 200,
    expectedData: ACCOUNT,
  },
  {
    operation: 'patchAccount',
    method: 'PATCH',
    path: `/accounts/${CHILD_ACCOUNT}`,
    data: { enabled: 'false', ui_flags: { tour: 1 } },
    status: 200,
    expectedData: ACCOUNT,
  },
  {
    operation: 'deleteAccount',
    method: 'DELETE',
    path: `/accounts/${CHILD_ACCOUNT}`,
    status: 200,
    expectedData: expect.objectContaining({ _read_only: expect.objectContaining({ deleted: true }) }),
    expectedCall: ['admin.remove', CHILD_ACCOUNT, undefined],
  },
  {
    ...get('listChildren', `/accounts/${OWN_ACCOUNT}/children?ascending=false`, [CHILD]),
    expectedCall: ['admin.page', { childrenOf: OWN_ACCOUNT, ascending: false, limit: 51 }],
  },
  {
    ...get('listDescendants', `/accounts/${OWN_ACCOUNT}/descendants?page_size=2`, [
      { id: OWN_ACCOUNT, name: 'Own', realm: OWN_REALM, tree: [], flags: [] },
    ]),
    expectedCall: ['admin.page', { descendantsOf: OWN_ACCOUNT, ascending: true, limit: 3 }],
  },
  {
    ...get('listSiblings', `/accounts/${CHILD_ACCOUNT}/siblings`, [CHILD]),
    expectedCall: ['admin.page', { childrenOf: 'parent-account', ascending: true, limit: 51 }],
  },
  ...['tree', 'parents', 'ancestors'].map((name) =>
    get(`list${name[0]!.toUpperCase()}${name.slice(1)}`, `/accounts/${CHILD_ACCOUNT}/${name}`, [
      { id: 'parent-account', name: 'Parent', realm: 'parent.example.com', flags: [] },
    ]),
  ),
  {
    operation: 'moveAccount',
    method: 'POST',
    path: `/accounts/${CHILD_ACCOUNT}/move`,
    data: { to: 'x' },
    status: 200,
    expectedData: ACCOUNT,
  },
  {
    operation: 'eraseRecords',
    method: 'PUT',
    path: `/accounts/${OWN_ACCOUNT}/erase`,
    data: { call_id: 'c' },
    status: 200,
    expectedData: { rows: 3 },
    expectedCall: ['erase', { accountId: OWN_ACCOUNT, callId: 'c' }],
  },
  get('listApps', `/accounts/${OWN_ACCOUNT}/apps_store`, []),
  {
    ...get('listUsers', `/accounts/${OWN_ACCOUNT}/users`, [
      {
        id: USER_ID,
        features: ['caller_id'],
        flags: [],
        username: 'ada',
        first_name: 'Ada',
        last_name: 'Birch',
        priv_level: 'admin',
        enabled: true,
      },
    ]),
    expectedCall: ['admin.users', OWN_ACCOUNT, { ascending: true, limit: 51 }],
  },
  {
    operation: 'createUser',
    method: 'PUT',
    path: `/accounts/${OWN_ACCOUNT}/users`,
    data: USER_INPUT,
    status: 201,
    expectedData: USER,
    expectedCall: ['admin.createUser', OWN_ACCOUNT, USER_DOCUMENT, false],
  },
  {
    ...get('readUser', `/accounts/${OWN_ACCOUNT}/users/${USER_ID}`, USER),
    expectedCall: ['admin.user', OWN_ACCOUNT, USER_ID],
  },
  {
    operation: 'replaceUser',
    method: 'POST',
    path: `/accounts/${OWN_ACCOUNT}/users/${USER_ID}`,
    data: USER_INPUT,
    status: 200,
    expectedData: USER,
    expectedCall: ['admin.editUser', OWN_ACCOUNT, USER_ID, USER_DOCUMENT, { mode: 'replace', isSelf: false }],
  },
  {
    operation: 'patchUser',
    method: 'PATCH',
    path: `/accounts/${OWN_ACCOUNT}/users/${USER_ID}`,
    data: { password: 'p', email: null },
    status: 200,
    expectedData: USER,
    expectedCall: [
      'admin.editUser',
      OWN_ACCOUNT,
      USER_ID,
      { fields: { password: 'p', email: null } },
      { mode: 'merge', isSelf: false },
    ],
  },
  {
    operation: 'deleteUser',
    method: 'DELETE',
    path: `/accounts/${OWN_ACCOUNT}/users/${USER_ID}`,
    status: 200,
    expectedData: expect.objectContaining({ _read_only: expect.objectContaining({ deleted: true }) }),
    expectedCall: ['admin.removeUser', OWN_ACCOUNT, USER_ID, undefined],
  },
  {
    ...get('search', '/search?t=account&q=name&v=O-wn', [FOUND]),
    expectedCall: [
      'admin.page',
      { descendantsOf: OWN_ACCOUNT, prefix: { of: 'name', text: 'own' }, ascending: true, limit: 51 },
    ],
  },
  {
    ...get('searchAccount', `/accounts/${OWN_ACCOUNT}/search?t=account&q=realm&v=O.wn`, [FOUND]),
    expectedCall: [
      'admin.page',
      { descendantsOf: OWN_ACCOUNT, prefix: { of: 'realm', text: 'own' }, ascending: true, limit: 51 },
    ],
  },
  get('searchMany', '/search/multi?t=account&by_name=o&by_id=x', { name: [FOUND], id: [FOUND] }),
]
