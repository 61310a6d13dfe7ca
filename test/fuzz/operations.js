// @ts-check
/** Valid input for every operation of the OpenAPI document. The mutations then change the requests. */
import { createHash } from 'node:crypto'

export const KEYS = { parent: 'k'.repeat(64), child: 'c'.repeat(64), other: 'o'.repeat(64) }
export const PASSWORDS = { ada: 'lovelace-of-the-engine', eve: 'a password that is never sent' }
export const ACCOUNTS = [
  {
    id: 'parent',
    name: 'Parent Telecom',
    realm: 'parent.example.com',
    apiKey: KEYS.parent,
    users: [{ id: 'ada', username: 'Ada', password: PASSWORDS.ada }],
  },
  { id: 'child', name: 'Child', realm: 'child.example.com', parentId: 'parent', apiKey: KEYS.child },
  {
    id: 'other',
    name: 'Other',
    realm: 'other.example.com',
    apiKey: KEYS.other,
    users: [{ id: 'eve', username: 'Eve', password: PASSWORDS.eve }],
  },
]

/**
 * Values from earlier responses, newest last.
 * @typedef {Record<'tokens' | 'accounts' | 'users' | 'webhooks' | 'deliveries' | 'replays' | 'calls' | 'revisions' | 'cursors', string[]>} KnownValues
 * @typedef {import('hookswitch/testkit').SeededRandom} Random
 * @typedef {object} OperationInput
 * @property {Record<string, string>} [params]
 * @property {[string, string][]} [query]
 * @property {[string, string][]} [headers]
 * @property {unknown} [data]
 */

const MAX_KNOWN_VALUES = 30
const GREGORIAN_EPOCH = 62_167_219_200

/** @returns {KnownValues} */
export const emptyKnownValues = () => ({
  tokens: [],
  accounts: [],
  users: [],
  webhooks: [],
  deliveries: [],
  replays: [],
  calls: [],
  revisions: [],
  cursors: [],
})

/** @param {KnownValues} known @param {keyof KnownValues} kind @param {unknown} value */
function addKnownValue(known, kind, value) {
  if (typeof value !== 'string' || known[kind].includes(value)) return
  known[kind].push(value)
  if (known[kind].length > MAX_KNOWN_VALUES) known[kind].shift()
}

/** Stores the values of a response. @param {KnownValues} known @param {string} operation @param {any} json */
export function learnFrom(known, operation, json) {
  if (json?.status !== 'success') return
  const { data } = json
  if (/^signInBy/.test(operation)) addKnownValue(known, 'tokens', json.auth_token)
  if (/^create(Child)?Account$/.test(operation)) addKnownValue(known, 'accounts', data?.id)
  if (operation === 'createUser') addKnownValue(known, 'users', data?.id)
  if (/^(replay|startJob)/.test(operation)) addKnownValue(known, 'replays', data?.id)
  if (/^(create|replace|patch)Webhook$/.test(operation)) addKnownValue(known, 'webhooks', data?.id)
  for (const id of [data?.delivery_id, ...(Array.isArray(data?.delivery_ids) ? data.delivery_ids : [])])
    addKnownValue(known, 'deliveries', id)
  const list = Array.isArray(data) ? data : []
  if (operation === 'listDeliveries') for (const { id } of list) addKnownValue(known, 'deliveries', id)
  if (operation === 'listAttempts') for (const { call_id } of list) addKnownValue(known, 'calls', call_id)
  addKnownValue(known, 'revisions', json.revision)
  addKnownValue(known, 'cursors', json.next_start_key)
}

const pickRecent = (
  /** @type {Random} */ random,
  /** @type {readonly string[]} */ list,
  /** @type {string} */ fallback,
) => (list.length === 0 ? fallback : (list[Math.max(0, list.length - 1 - random.integer(0, 5))] ?? fallback))

/** @param {Random} random @param {KnownValues} known */
const replayParams = (random, known) => ({ replay_id: pickRecent(random, known.replays, 'unknown') })
/** @param {Random} random @param {KnownValues} known */
const jobParams = (random, known) => ({ job_id: replayParams(random, known).replay_id })
/** @param {Random} random */
const replayState = (random) => ({ state: random.pick(['paused', 'running', 'cancelled']) })

/** @param {Random} random @param {KnownValues} known */
const replaySelection = (random, known) =>
  random.pick([
    {},
    { created_from: GREGORIAN_EPOCH, created_to: GREGORIAN_EPOCH + 4_000_000_000, result: 'failure' },
    { result: random.pick(['success', 'cancelled']), dry_run: random.pick([true, 'false']) },
    { result: 'success', include_recovered: 'true', hook: random.pick(['channel_create', 'unknown']) },
    { call_id: pickRecent(random, known.calls, 'call-1'), reason: random.pick(['status 500', 'refused']) },
    { number: random.pick(['+4930123456', 'ü']), created_to: '2030-01-15' },
  ])

/** @param {Random} random */
function webhookSettings(random) {
  /** @type {Record<string, unknown>} */
  const required = {
    name: random.pick(['calls', 'Grüße 電話 😀', 'x'.repeat(255), "a'b"]),
    uri: `https://hooks-${random.integer(1, 4)}.example.com/${random.pick(['calls', 'a?b=c', 'ü', ''])}`,
    hook: random.pick(['all', 'channel_create', 'channel_answer', 'channel_destroy']),
  }
  /** @type {Record<string, () => unknown>} */
  const optional = {
    http_verb: () => random.pick(['get', 'post', 'put', 'patch', 'delete', 'POST']),
    retries: () => random.pick([0, 1, 2, 10, '3']),
    format: () => random.pick(['json', 'form-data']),
    enabled: () => random.pick([true, false, 'true']),
    include_subaccounts: () => random.pick([true, 'false']),
    include_internal_legs: () => random.chance(0.5),
    custom_data: () => ({ tenant: '7', 'a b': 'ü', type: 'x' }),
    custom_request_headers: () => ({ 'X-Receiver': 'value', Authorization: 'Basic eHg6eXk=' }),
    group: () => random.pick(['sales', null]),
    max_age_seconds: () => random.pick([1, 3600]),
    ordering: () => random.pick(['call', 'none']),
    only: () =>
      random.pick([['channel_create'], ['channel_answer', 'channel_destroy'], [], 'channel_create']),
    filter: () =>
      random.pick([
        { exact: { caller_id_number: '+4930123456' } },
        { any: [{ prefix: { call_id: 'call-' } }, { not: { suffix: { 'custom_channel_vars.a': 'x' } } }] },
        { all: [] },
        { exact: { call_id: null }, any: [] },
      ]),
    colour: () => ({ deep: [1, { x: null }] }),
  }
  for (const [key, make] of Object.entries(optional)) if (random.chance(0.2)) required[key] = make()
  return required
}

/** Only accounts that the fuzzer made: the others must stay as they are. @param {Random} random @param {KnownValues} known */
const accountParams = (random, known) => ({ account_id: pickRecent(random, known.accounts, 'unknown') })

/** @param {Random} random @param {KnownValues} known */
const userParams = (random, known) => ({ user_id: pickRecent(random, known.users, 'unknown') })

/** @param {Random} random */
function accountFields(random) {
  /** @type {Record<string, () => unknown>} */
  const optional = {
    realm: () =>
      random.pick([`r${random.integer(1, 99)}.example`, ' Two Words.example', 'parent.example.com', 'x/y']),
    enabled: () => random.pick([true, false, 'true']),
    timezone: () => random.pick(['inherit', 'Europe/Berlin', 'UTC']),
    language: () => random.pick(['de', 'en-us', 'no language']),
    flags: () => random.pick([[], ['a', 'ü'], [1]]),
    ui_metadata: () => ({ deep: [1, { x: null }] }),
    billing_mode: () => 'x',
  }
  const fields = {
    name: random.pick([`Account ${random.integer(1, 99)}`, '電話 😀', '---', 'Parent Telecom']),
  }
  for (const [key, make] of Object.entries(optional))
    if (random.chance(0.2)) Object.assign(fields, { [key]: make() })
  return fields
}

/** @param {Random} random */
function userFields(random) {
  /** @type {Record<string, () => unknown>} */
  const optional = {
    username: () => random.pick([`user-${random.integer(1, 30)}`, 'Ada', 'a b', 'x@y.example']),
    password: () => random.pick(['a new password', '', 'x'.repeat(1025)]),
    email: () => random.pick(['a@b.example', 'nobody']),
    enabled: () => random.pick([true, 'false']),
    priv_level: () => random.pick(['user', 'admin', 'root']),
    require_password_update: () => random.chance(0.5),
    features: () => ['caller_id'],
    pvt_secret: () => 'x',
  }
  const fields = { first_name: random.pick(['Ada', 'Ü']), last_name: random.pick(['Birch', '電話']) }
  for (const [key, make] of Object.entries(optional))
    if (random.chance(0.3)) Object.assign(fields, { [key]: make() })
  return fields
}

/** @param {Random} random */
const randomEvent = (random) => ({
  hook_event: random.pick(['channel_create', 'channel_answer', 'channel_destroy']),
  call_id: `call-${random.integer(1, 9)}`,
  ...(random.chance(0.4) && { caller_id_number: '+4930123456', custom_channel_vars: { a: [1, true] } }),
  ...(random.chance(0.2) && { timestamp: GREGORIAN_EPOCH + 1_767_225_600 }),
})

/** @param {Random} random @param {KnownValues} known @returns {[string, string][]} */
function listQuery(random, known) {
  /** @type {[string, string][]} */
  const all = [
    ['page_size', String(random.pick([1, 2, 1000]))],
    ['paginate', 'false'],
    ['ascending', 'true'],
    ['start_key', pickRecent(random, known.cursors, '')],
    ['created_from', String(GREGORIAN_EPOCH)],
    ['created_to', String(GREGORIAN_EPOCH + 4_000_000_000)],
    ['filter_name', 'calls'],
    ['filter_not_hook', 'all'],
    ['has_key', 'group'],
    ['key_missing', '_read_only.created'],
    ['filter_custom_data.tenant', '7'],
  ]
  return all.filter(() => random.chance(0.15))
}

/** @type {[string, string][]} */
const SLIM = [['slim', 'true']]

/** @param {Random} random @param {string[]} states @returns {[string, string]} */
const stateParameter = (random, states) => ['state', random.pick(states)]

/** @param {Random} random @returns {[string, string]} */
const stepParameter = (random) => ['step', random.pick(['60', '3600', '61', '', '6e1'])]

/** @param {Random} random @param {KnownValues} known @returns {[string, string][]} */
const statsQuery = (random, known) => [
  ...listQuery(random, known),
  ...(random.chance(0.5) ? [stepParameter(random)] : []),
]

/** @param {Random} random @returns {[string, string]} */
const searchParameter = (random) => ['q', random.pick(['call', '%', 'EXAMPLE', '', '\u0000'])]

/** @param {Random} random @param {KnownValues} known @returns {[string, string][]} */
const searchQuery = (random, known) => [
  ['account_id', random.pick(['parent', 'child', 'unknown'])],
  ['hook_id', pickRecent(random, known.webhooks, 'unknown')],
  ['call_id', pickRecent(random, known.calls, 'call-1')],
  stateParameter(random, ['waiting', 'delivered', 'exhausted', 'quarantined']),
]

/** @param {Random} random @param {KnownValues} known @returns {[string, string][]} */
const lookupQuery = (random, known) => [
  ['q', pickRecent(random, random.pick([known.calls, known.deliveries, known.webhooks]), 'unknown')],
]

/** @param {Random} random @param {KnownValues} known */
const webhookParams = (random, known) => ({ webhook_id: pickRecent(random, known.webhooks, 'unknown') })

/** @type {Readonly<Record<string, (random: Random, known: KnownValues) => OperationInput>>} */
export const OPERATION_INPUTS = {
  signInByApiKey: () => ({ data: { api_key: KEYS.parent } }),
  signInByCredentials: (random) => {
    const algorithm = random.pick(['md5', 'sha1'])
    const credentials = createHash(algorithm).update(`Ada:${PASSWORDS.ada}`).digest('hex')
    const account = random.pick([
      { account_realm: 'parent.example.com' },
      { realm: ' Parent.Example.com' },
      { account_name: 'parenttelecom' },
    ])
    return { data: { credentials, ...account, ...(algorithm === 'sha1' && { method: 'sha' }) } }
  },
  signOut: () => ({}),
  readToken: () => ({}),
  readApiKey: () => ({}),
  rotateApiKey: () => ({ params: { account_id: 'child' } }),
  listHooks: (random, known) => ({ query: listQuery(random, known) }),
  listSamples: () => ({}),
  readSample: (random) => ({
    params: { sample_id: random.pick(['webhooks_channel_create', 'webhooks_all']) },
  }),
  listBindings: () => ({}),
  listWebhooks: (random, known) => ({ query: listQuery(random, known) }),
  createWebhook: (random) => ({ data: webhookSettings(random) }),
  reenableWebhooks: (random) => ({ data: { 're-enable': random.pick([true, 'true', false]) } }),
  reenableDescendantWebhooks: () => ({ data: { 're-enable': true } }),
  listAttempts: (random, known) => ({ query: listQuery(random, known) }),
  readWebhook: (random, known) => ({
    params: webhookParams(random, known),
    headers: random.chance(0.3) ? [['if-none-match', `"${pickRecent(random, known.revisions, 'x')}"`]] : [],
  }),
  replaceWebhook: (random, known) => ({
    params: webhookParams(random, known),
    data: webhookSettings(random),
  }),
  patchWebhook: (random, known) => ({
    params: webhookParams(random, known),
    data: random.pick([
      { enabled: true },
      { group: null },
      { custom_data: { a: null, b: 'c' } },
      webhookSettings(random),
    ]),
    headers: random.chance(0.2) ? [['if-match', `"${pickRecent(random, known.revisions, 'x')}"`]] : [],
  }),
  deleteWebhook: (random, known) => ({ params: webhookParams(random, known) }),
  readAccountStats: (random, known) => ({ query: statsQuery(random, known) }),
  readWebhookStats: (random, known) => ({
    params: webhookParams(random, known),
    query: statsQuery(random, known),
  }),
  listEndpoints: (random, known) => ({
    query: [
      ...listQuery(random, known),
      ...(random.chance(0.4)
        ? [stateParameter(random, ['ok', 'failing', 'paused', 'disabled', 'idle'])]
        : []),
      ...(random.chance(0.3) ? [searchParameter(random)] : []),
    ],
  }),
  readWebhookHealth: (random, known) => ({ params: webhookParams(random, known) }),
  listWebhookAttempts: (random, known) => ({
    params: webhookParams(random, known),
    query: listQuery(random, known),
  }),
  testWebhook: (random, known) => ({ params: webhookParams(random, known), data: {} }),
  replayWebhook: (random, known) => ({
    params: webhookParams(random, known),
    data: random.pick([
      { delivery_id: pickRecent(random, known.deliveries, 'unknown') },
      replaySelection(random, known),
    ]),
  }),
  replayAccount: (random, known) => ({
    params: { account_id: random.pick(['parent', 'child']) },
    data: replaySelection(random, known),
  }),
  listReplays: (random, known) => ({ query: listQuery(random, known) }),
  readReplay: (random, known) => ({ params: replayParams(random, known) }),
  setReplay: (random, known) => ({ params: replayParams(random, known), data: replayState(random) }),
  replayAllAccounts: (random, known) => ({ data: replaySelection(random, known) }),
  listAllReplays: (random, known) => ({ query: listQuery(random, known) }),
  readAnyReplay: (random, known) => ({ params: replayParams(random, known) }),
  setAnyReplay: (random, known) => ({ params: replayParams(random, known), data: replayState(random) }),
  startJob: (random, known) => ({
    data: {
      action: random.pick(['resume', 'reenable', 'hold', 'stop']),
      ...(random.chance(0.5) && { account_id: pickRecent(random, known.accounts, 'unknown') }),
      ...(random.chance(0.3) && { cause: random.pick(['503', 'refused', 'ü']) }),
      ...(random.chance(0.3) && { host: random.pick(['hooks-1.example.com', '127.0.0.1:8080', 'a/b']) }),
      ...(random.chance(0.3) && { dry_run: random.pick([true, 'false']) }),
    },
  }),
  listJobs: (random, known) => ({ query: listQuery(random, known) }),
  readJob: (random, known) => ({ params: jobParams(random, known) }),
  setJob: (random, known) => ({ params: jobParams(random, known), data: replayState(random) }),
  resumeWebhook: (random, known) => ({ params: webhookParams(random, known), data: {} }),
  previewWebhook: (random) => ({
    data: {
      webhook: webhookSettings(random),
      ...(random.chance(0.5) && {
        hook: random.pick(['channel_create', 'webhook_paused', 'object', 'all', 'x']),
      }),
    },
  }),
  matchEvent: (random) => ({
    data: {
      ...randomEvent(random),
      ...(random.chance(0.5) && {
        hook_event: random.pick(['webhook_paused', 'object', 'channel_dtmf', 'x']),
      }),
      ...(random.chance(0.3) && { account_id: random.pick(['parent', 'child', 'other', 'x', '', 5]) }),
      ...(random.chance(0.3) && { is_internal_leg: random.pick([true, 'false', 'x']) }),
    },
  }),
  listDeliveries: (random, known) => ({
    params: webhookParams(random, known),
    query: random.chance(0.5) ? [['filter_state', 'waiting']] : listQuery(random, known),
  }),
  readSecret: (random, known) => ({ params: webhookParams(random, known) }),
  rotateSecret: (random, known) => ({ params: webhookParams(random, known), data: {} }),
  readDelivery: (random, known) => ({
    params: { delivery_id: pickRecent(random, known.deliveries, 'unknown') },
  }),
  listDeliveryAttempts: (random, known) => ({
    params: { delivery_id: pickRecent(random, known.deliveries, 'unknown') },
    query: [...listQuery(random, known), ...(random.chance(0.4) ? SLIM : [])],
  }),
  readCall: (random, known) => ({ params: { call_id: pickRecent(random, known.calls, 'call-1') } }),
  lookUp: (random, known) => ({ query: lookupQuery(random, known) }),
  lookUpAnywhere: (random, known) => ({ query: lookupQuery(random, known) }),
  why: (random, known) => ({ data: Object.fromEntries(lookupQuery(random, known)) }),
  whyAnywhere: (random, known) => ({ data: Object.fromEntries(lookupQuery(random, known)) }),
  checkAddress: (random) => ({
    data: {
      uri: random.pick(['https://receiver.example/calls', 'http://127.0.0.1:1/', 'ftp://x.example', 'x']),
    },
  }),
  issueToken: (random, known) => ({
    data: {
      account_id: pickRecent(random, known.accounts, 'unknown'),
      role: random.pick(['admin', 'read', 'owner']),
      ttl_seconds: random.pick([1, 3600, 0, 1e9]),
      ...(random.chance(0.3) && userParams(random, known)),
    },
  }),
  readOverview: () => ({}),
  readHolds: () => ({}),
  setHold: (random, known) => ({
    data: {
      held: random.chance(0.3),
      ...(random.chance(0.7) && { account_id: pickRecent(random, known.accounts, 'unknown') }),
    },
  }),
  listCallAttempts: (random, known) => ({ params: { call_id: pickRecent(random, known.calls, 'call-1') } }),
  streamItems: (random, known) => ({
    query: [
      ...(random.chance(0.3) ? /** @type {[string, string][]} */ ([['types', 'attempt,event']]) : []),
      ...(random.chance(0.2) ? /** @type {[string, string][]} */ ([['descendants', 'true']]) : []),
      ...(random.chance(0.2)
        ? /** @type {[string, string][]} */ ([['call_id', pickRecent(random, known.calls, 'call-1')]])
        : []),
    ],
    headers: random.chance(0.2) ? [['last-event-id', pickRecent(random, known.cursors, 'x')]] : [],
  }),
  publishEvents: (random) => ({
    data: random.chance(0.5) ? randomEvent(random) : [randomEvent(random), randomEvent(random)],
  }),
  listUnhealthyWebhooks: (random, known) => ({
    query: [
      ...listQuery(random, known),
      ...(random.chance(0.3) ? /** @type {[string, string][]} */ ([['sort', 'waiting']]) : []),
      ...(random.chance(0.5) ? [stateParameter(random, ['failing', 'paused', 'disabled'])] : []),
    ],
  }),
  searchDeliveries: (random, known) => ({
    query: [...listQuery(random, known), ...searchQuery(random, known).filter(() => random.chance(0.4))],
  }),
  listAccounts: (random, known) => ({ query: listQuery(random, known) }),
  createAccount: (random) => ({ data: accountFields(random) }),
  createChildAccount: (random, known) => ({
    // Of the accounts that were created many are deleted by now.
    params: random.chance(0.5)
      ? { account_id: random.pick(['parent', 'child']) }
      : accountParams(random, known),
    data: accountFields(random),
  }),
  readAccount: (random, known) => ({
    params: { account_id: random.pick(['parent', 'child', pickRecent(random, known.accounts, 'unknown')]) },
    headers: random.chance(0.3) ? [['if-none-match', `"${pickRecent(random, known.revisions, 'x')}"`]] : [],
  }),
  replaceAccount: (random, known) => ({ params: accountParams(random, known), data: accountFields(random) }),
  patchAccount: (random, known) => ({
    params: accountParams(random, known),
    data: random.pick([{ enabled: true }, { realm: null }, { flags: null }, accountFields(random)]),
    headers: random.chance(0.2) ? [['if-match', `"${pickRecent(random, known.revisions, 'x')}"`]] : [],
  }),
  deleteAccount: (random, known) => ({ params: accountParams(random, known) }),
  listChildren: (random, known) => ({ query: listQuery(random, known) }),
  listDescendants: (random, known) => ({ query: listQuery(random, known) }),
  listSiblings: (random, known) => ({ params: { account_id: 'child' }, query: listQuery(random, known) }),
  listTree: () => ({ params: { account_id: 'child' } }),
  listParents: () => ({ params: { account_id: 'child' } }),
  listAncestors: () => ({ params: { account_id: 'child' } }),
  moveAccount: (random, known) => ({ params: accountParams(random, known), data: { to: 'child' } }),
  eraseRecords: (random, known) => ({
    params: accountParams(random, known),
    data: random.pick([{ number: '+4930123456' }, { call_id: 'call-1' }]),
  }),
  listApps: () => ({}),
  listUsers: (random, known) => ({ query: listQuery(random, known) }),
  createUser: (random) => ({ params: { account_id: 'child' }, data: userFields(random) }),
  readUser: (random, known) => ({ params: { account_id: 'child', ...userParams(random, known) } }),
  replaceUser: (random, known) => ({
    params: { account_id: 'child', ...userParams(random, known) },
    data: userFields(random),
  }),
  patchUser: (random, known) => ({
    params: { account_id: 'child', ...userParams(random, known) },
    data: random.pick([{ username: null }, { email: null }, userFields(random)]),
  }),
  deleteUser: (random, known) => ({ params: { account_id: 'child', ...userParams(random, known) } }),
  search: (random) => ({
    query: [
      ['t', 'account'],
      ['q', random.pick(['name', 'realm', 'id', 'other'])],
      ['v', random.pick(['a', 'child', '%', ''])],
    ],
  }),
  searchAccount: (random, known) => ({
    params: accountParams(random, known),
    query: [
      ['t', 'account'],
      ['q', random.pick(['name', 'realm', 'id'])],
      ['v', random.pick(['a', 'c', '_'])],
    ],
  }),
  searchMany: (random) => ({
    query: [
      ['t', 'account'],
      ['by_name', random.pick(['a', 'c', '_'])],
      ['by_id', 'c'],
    ],
  }),
  readOpenapi: () => ({}),
}
