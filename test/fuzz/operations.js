// @ts-check
/** A good request for every operation of the OpenAPI document: what `mutations` then spoils. */
import { createHash } from 'node:crypto'

export const KEYS = { parent: 'k'.repeat(64), child: 'c'.repeat(64), other: 'o'.repeat(64) }
export const PASSWORDS = { ada: 'lovelace-of-the-engine', eve: 'a password that nobody sends' }
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
 * What earlier answers gave; the newest last.
 * @typedef {Record<'tokens' | 'webhooks' | 'deliveries' | 'calls' | 'revisions' | 'cursors', string[]>} Known
 * @typedef {import('hookswitch/testkit').SeededRandom} Random
 * @typedef {object} Filled
 * @property {Record<string, string>} [params]
 * @property {[string, string][]} [query]
 * @property {[string, string][]} [headers]
 * @property {unknown} [data]
 */

const MOST_KNOWN = 30
const GREG = 62_167_219_200

/** @returns {Known} */
export const nothingKnown = () => ({
  tokens: [],
  webhooks: [],
  deliveries: [],
  calls: [],
  revisions: [],
  cursors: [],
})

/** @param {Known} known @param {keyof Known} kind @param {unknown} value */
function learn(known, kind, value) {
  if (typeof value !== 'string' || known[kind].includes(value)) return
  known[kind].push(value)
  if (known[kind].length > MOST_KNOWN) known[kind].shift()
}

/** Takes in what an answer tells. @param {Known} known @param {string} operation @param {any} json */
export function learnFrom(known, operation, json) {
  if (json?.status !== 'success') return
  const { data } = json
  if (/^signInBy/.test(operation)) learn(known, 'tokens', json.auth_token)
  if (/^(create|replace|patch)Webhook$/.test(operation)) learn(known, 'webhooks', data?.id)
  for (const id of [data?.delivery_id, ...(Array.isArray(data?.delivery_ids) ? data.delivery_ids : [])])
    learn(known, 'deliveries', id)
  const list = Array.isArray(data) ? data : []
  if (operation === 'listDeliveries') for (const one of list) learn(known, 'deliveries', one.id)
  if (operation === 'listAttempts') for (const one of list) learn(known, 'calls', one.call_id)
  learn(known, 'revisions', json.revision)
  learn(known, 'cursors', json.next_start_key)
}

const latest = (
  /** @type {Random} */ random,
  /** @type {readonly string[]} */ list,
  /** @type {string} */ other,
) => (list.length === 0 ? other : (list[Math.max(0, list.length - 1 - random.integer(0, 5))] ?? other))

/** @param {Random} random */
function settings(random) {
  /** @type {Record<string, unknown>} */
  const wanted = {
    name: random.pick(['calls', 'Grüße 電話 😀', 'x'.repeat(255), "a'b"]),
    uri: `https://hooks-${random.integer(1, 4)}.example.com/${random.pick(['calls', 'a?b=c', 'ü', ''])}`,
    hook: random.pick(['all', 'channel_create', 'channel_answer', 'channel_destroy']),
  }
  /** @type {Record<string, () => unknown>} */
  const further = {
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
    colour: () => ({ deep: [1, { x: null }] }),
  }
  for (const [key, make] of Object.entries(further)) if (random.chance(0.2)) wanted[key] = make()
  return wanted
}

/** @param {Random} random */
const event = (random) => ({
  hook_event: random.pick(['channel_create', 'channel_answer', 'channel_destroy']),
  call_id: `call-${random.integer(1, 9)}`,
  ...(random.chance(0.4) && { caller_id_number: '+4930123456', custom_channel_vars: { a: [1, true] } }),
  ...(random.chance(0.2) && { timestamp: GREG + 1_767_225_600 }),
})

/** @param {Random} random @param {Known} known @returns {[string, string][]} */
function listQuery(random, known) {
  /** @type {[string, string][]} */
  const all = [
    ['page_size', String(random.pick([1, 2, 1000]))],
    ['paginate', 'false'],
    ['ascending', 'true'],
    ['start_key', latest(random, known.cursors, '')],
    ['created_from', String(GREG)],
    ['created_to', String(GREG + 4_000_000_000)],
    ['filter_name', 'calls'],
    ['filter_not_hook', 'all'],
    ['has_key', 'group'],
    ['key_missing', '_read_only.created'],
    ['filter_custom_data.tenant', '7'],
  ]
  return all.filter(() => random.chance(0.15))
}

/** @param {Random} random @param {Known} known */
const webhook = (random, known) => ({ webhook_id: latest(random, known.webhooks, 'unknown') })

/** @type {Readonly<Record<string, (random: Random, known: Known) => Filled>>} */
export const FILL = {
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
  readApiKey: () => ({}),
  rotateApiKey: () => ({ params: { account_id: 'child' } }),
  listHooks: (random, known) => ({ query: listQuery(random, known) }),
  listSamples: () => ({}),
  readSample: (random) => ({
    params: { sample_id: random.pick(['webhooks_channel_create', 'webhooks_all']) },
  }),
  listWebhooks: (random, known) => ({ query: listQuery(random, known) }),
  createWebhook: (random) => ({ data: settings(random) }),
  reenableWebhooks: (random) => ({ data: { 're-enable': random.pick([true, 'true', false]) } }),
  reenableDescendantWebhooks: () => ({ data: { 're-enable': true } }),
  listAttempts: (random, known) => ({ query: listQuery(random, known) }),
  readWebhook: (random, known) => ({
    params: webhook(random, known),
    headers: random.chance(0.3) ? [['if-none-match', `"${latest(random, known.revisions, 'x')}"`]] : [],
  }),
  replaceWebhook: (random, known) => ({ params: webhook(random, known), data: settings(random) }),
  patchWebhook: (random, known) => ({
    params: webhook(random, known),
    data: random.pick([
      { enabled: true },
      { group: null },
      { custom_data: { a: null, b: 'c' } },
      settings(random),
    ]),
    headers: random.chance(0.2) ? [['if-match', `"${latest(random, known.revisions, 'x')}"`]] : [],
  }),
  deleteWebhook: (random, known) => ({ params: webhook(random, known) }),
  listWebhookAttempts: (random, known) => ({
    params: webhook(random, known),
    query: listQuery(random, known),
  }),
  testWebhook: (random, known) => ({ params: webhook(random, known), data: {} }),
  replayWebhook: (random, known) => ({
    params: webhook(random, known),
    data: random.pick([
      { delivery_id: latest(random, known.deliveries, 'unknown') },
      { created_from: GREG, created_to: GREG + 4_000_000_000, result: 'failure' },
    ]),
  }),
  listDeliveries: (random, known) => ({
    params: webhook(random, known),
    query: random.chance(0.5) ? [['filter_state', 'waiting']] : listQuery(random, known),
  }),
  readSecret: (random, known) => ({ params: webhook(random, known) }),
  rotateSecret: (random, known) => ({ params: webhook(random, known), data: {} }),
  readDelivery: (random, known) => ({ params: { delivery_id: latest(random, known.deliveries, 'unknown') } }),
  listCallAttempts: (random, known) => ({ params: { call_id: latest(random, known.calls, 'call-1') } }),
  publishEvents: (random) => ({ data: random.chance(0.5) ? event(random) : [event(random), event(random)] }),
  readOpenapi: () => ({}),
}
