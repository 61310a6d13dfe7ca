/**
 * Every public call with an object of options, or with a document, refuses a misspelt key with one sentence that names the
 * call. `CALLS` and `WITHOUT_OPTIONS` together have every public function: a new one must be added to either.
 */
import * as core from 'hookswitch'
import { createHookswitch, errorCode, memoryStore } from 'hookswitch'
import * as asterisk from 'hookswitch/asterisk'
import * as blackhole from 'hookswitch/blackhole'
import * as client from 'hookswitch/client'
import * as express from 'hookswitch/express'
import * as fastify from 'hookswitch/fastify'
import * as fetch from 'hookswitch/fetch'
import * as freeswitch from 'hookswitch/freeswitch'
import * as kamailio from 'hookswitch/kamailio'
import * as node from 'hookswitch/node'
import * as opentelemetry from 'hookswitch/opentelemetry'
import * as portal from 'hookswitch/portal'
import * as postgres from 'hookswitch/postgres'
import * as prometheus from 'hookswitch/prometheus'
import * as sqlite from 'hookswitch/sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const hs = createHookswitch({ store: memoryStore() })
const browser = client.createClient({ url: 'http://127.0.0.1:9', token: 'token' })
const EXPORTS = {
  ...core,
  ...asterisk,
  ...blackhole,
  ...client,
  ...express,
  ...fastify,
  ...fetch,
  ...freeswitch,
  ...kamailio,
  ...node,
  ...opentelemetry,
  ...portal,
  ...postgres,
  ...prometheus,
  ...sqlite,
}

const EVENT = { hook: 'channel_create', accountId: 'acme', callId: 'c' } as const
const WEBHOOK = { name: 'w', uri: 'https://example.com/', hook: 'all' } as const
const source = { publish: async () => {}, accountOf: () => 'acme' }
const switchSource = freeswitch.freeswitchSource(source)
const outbound = freeswitch.freeswitchOutbound(source)
const proxy = kamailio.kamailioSource(source)

/** A call with a misspelt key, and the sentence. */
type Call = readonly [name: string, call: () => unknown, sentence: string]

const unknownIn = (call: string, key: string, meant: string) =>
  `${call}(): unknown option '${key}' (did you mean '${meant}'?)`

const CALLS: readonly Call[] = [
  // The instance.
  ['hs.close', () => hs.close({ drainMS: 5 } as never), unknownIn('close', 'drainMS', 'drainMs')],
  [
    'hs.publish',
    () => hs.publish(EVENT, { idempotencykey: 'k' } as never),
    unknownIn('publish', 'idempotencykey', 'idempotencyKey'),
  ],
  [
    'hs.setLimits',
    () => hs.setLimits({ maxPendin: 5 } as never),
    unknownIn('setLimits', 'maxPendin', 'maxPending'),
  ],
  [
    'hs.stream',
    () => hs.stream({ accountId: 'acme', webhook: 'w' } as never),
    unknownIn('stream', 'webhook', 'webhookId'),
  ],
  [
    'hs.erase',
    () => hs.erase({ accountId: 'acme', call: 'c' } as never),
    "call: is not a field of an erase request (did you mean 'callId'?)",
  ],
  [
    'hs.auth.signIn',
    () => hs.auth.signIn({ apikey: 'k'.repeat(64) } as never),
    "apikey: is not a field of a login (did you mean 'apiKey'?); credentials: Field is required but missing; realm: Field is required but missing",
  ],
  [
    'hs.auth.signIn',
    () => hs.auth.signIn({ apiKey: 'k' }, { adress: '192.0.2.1' } as never),
    unknownIn('auth.signIn', 'adress', 'address'),
  ],
  [
    'hs.auth.issue',
    () => hs.auth.issue({ accountId: 'acme', role: 'read', ttlSeconds: 60, user: 'u' } as never),
    "user: is not a field of a token (did you mean 'userId'?)",
  ],
  [
    'hs.accounts.create',
    () => hs.accounts.create({ name: 'A', realm: 'a.example', parent: 'acme' } as never),
    "parent: Unknown field (did you mean 'parentId'?)",
  ],
  [
    'hs.accounts.ensure',
    () => hs.accounts.ensure([{ name: 'A', realm: 'a.example', aipKey: 'k' } as never]),
    "0.aipKey: Unknown field (did you mean 'apiKey'?)",
  ],
  [
    'hs.accounts.previewEnsure',
    () => hs.accounts.previewEnsure([{ name: 'A', realm: 'a.example', aipKey: 'k' } as never]),
    "0.aipKey: Unknown field (did you mean 'apiKey'?)",
  ],
  [
    'hs.accounts.update',
    () => hs.accounts.update('acme', { enable: false } as never),
    "enable: Unknown field (did you mean 'enabled'?)",
  ],
  [
    'hs.accounts.addUser',
    () => hs.accounts.addUser('acme', { userName: 'ada', password: 'x' } as never),
    "userName: Unknown field (did you mean 'username'?); username: Field is required but missing",
  ],
  [
    'hs.webhooks.create',
    () => hs.webhooks.create('acme', { ...WEBHOOK, verb: 'get', url: 'x' } as never),
    "verb: is not a field of a webhook; url: is not a field of a webhook (did you mean 'uri'?)",
  ],
  [
    'hs.webhooks.replace',
    () => hs.webhooks.replace('acme', 'w', WEBHOOK, { revison: 1 } as never),
    unknownIn('webhooks.replace', 'revison', 'revision'),
  ],
  [
    'hs.webhooks.patch',
    () => hs.webhooks.patch('acme', 'w', { retrie: 3 } as never),
    "retrie: is not a field of a webhook (did you mean 'retries'?)",
  ],
  [
    'hs.webhooks.patch',
    () => hs.webhooks.patch('acme', 'w', {}, { revison: 1 } as never),
    unknownIn('webhooks.patch', 'revison', 'revision'),
  ],
  [
    'hs.webhooks.remove',
    () => hs.webhooks.remove('acme', 'w', { rev: 1 } as never),
    unknownIn('webhooks.remove', 'rev', 'revision'),
  ],
  [
    'hs.webhooks.attempts',
    () => hs.webhooks.attempts('acme', undefined, { callId: 'c' } as never),
    unknownIn('webhooks.attempts', 'callId', 'callIds'),
  ],
  [
    'hs.webhooks.deliveries',
    () => hs.webhooks.deliveries('acme', 'w', { state: ['waiting'] } as never),
    unknownIn('webhooks.deliveries', 'state', 'states'),
  ],
  [
    'hs.webhooks.stats',
    () => hs.webhooks.stats('acme', undefined, { steps: 60 } as never),
    unknownIn('webhooks.stats', 'steps', 'step'),
  ],
  [
    'hs.webhooks.health',
    () => hs.webhooks.health('acme', { searh: 'x' } as never),
    unknownIn('webhooks.health', 'searh', 'search'),
  ],
  [
    'hs.webhooks.match',
    () => hs.webhooks.match('acme', { hook: 'channel_create', callid: 'c' }),
    "callid: is not a field of an event (did you mean 'callId'?)",
  ],
  [
    'hs.webhooks.preview',
    () => hs.webhooks.preview('acme', { ...WEBHOOK, retrie: 3 } as never),
    "retrie: is not a field of a webhook (did you mean 'retries'?)",
  ],
  [
    'hs.webhooks.checkAddress',
    () => hs.webhooks.checkAddress('acme', { url: 'https://example.com/' } as never),
    unknownIn('webhooks.checkAddress', 'url', 'uri'),
  ],
  [
    'hs.operator.unhealthy',
    () => hs.operator.unhealthy({ afterID: 'x' } as never),
    unknownIn('operator.unhealthy', 'afterID', 'afterId'),
  ],
  [
    'hs.operator.search',
    () => hs.operator.search({ account: 'acme' } as never),
    unknownIn('operator.search', 'account', 'accountId'),
  ],
  [
    'hs.operator.hold',
    () => hs.operator.hold({ account: 'acme' } as never),
    unknownIn('operator.hold', 'account', 'accountId'),
  ],
  [
    'hs.operator.release',
    () => hs.operator.release({ account: 'acme' } as never),
    unknownIn('operator.release', 'account', 'accountId'),
  ],
  [
    'hs.operator.jobs.count',
    () => hs.operator.jobs.count({ action: 'hold', account: 'acme' } as never),
    "account: is not a field of the action 'hold' (did you mean 'accountId'?)",
  ],
  [
    'hs.operator.jobs.start',
    () => hs.operator.jobs.start({ action: 'resume', hosts: 'a' } as never),
    "hosts: is not a field of the action 'resume' (did you mean 'host'?)",
  ],
  [
    'hs.operator.jobs.list',
    () => hs.operator.jobs.list({ limits: 5 } as never),
    unknownIn('operator.jobs.list', 'limits', 'limit'),
  ],
  [
    'hs.replays.start',
    () => hs.replays.start({ accountId: 'acme', createdFrom: 0 } as never),
    "createdFrom: is not a field of a replay (did you mean 'createdFromMs'?)",
  ],
  [
    'hs.replays.count',
    () => hs.replays.count({ account: 'acme' } as never),
    "account: is not a field of a replay (did you mean 'accountId'?)",
  ],
  [
    'hs.replays.list',
    () => hs.replays.list({ limits: 5 } as never),
    unknownIn('replays.list', 'limits', 'limit'),
  ],
  [
    'hs.openLegs.write',
    () => hs.openLegs.write('switch', { add: [], remove: [] } as never),
    'put: must be an array',
  ],
  // Functions.
  [
    'createHookswitch',
    () => createHookswitch({ store: memoryStore(), retrypolicy: 'kazoo' } as never),
    unknownIn('createHookswitch', 'retrypolicy', 'retryPolicy'),
  ],
  ['memoryStore', () => memoryStore({ share: true } as never), unknownIn('memoryStore', 'share', 'shared')],
  ['exponential', () => core.exponential({ base: 5 } as never), unknownIn('exponential', 'base', 'baseMs')],
  ['constant', () => core.constant(5, { jiter: 0 } as never), unknownIn('constant', 'jiter', 'jitter')],
  ['schedule', () => core.schedule([5], { jiter: 0 } as never), unknownIn('schedule', 'jiter', 'jitter')],
  [
    'rotateSecret',
    () => core.rotateSecret({ store: memoryStore(), form: 'x', to: 'y' } as never),
    unknownIn('rotateSecret', 'form', 'from'),
  ],
  [
    'verify',
    () => core.verify({ headers: {}, body: '' }, 'whsec_x', { tolerance: 5 } as never),
    unknownIn('verify', 'tolerance', 'toleranceSeconds'),
  ],
  [
    'createServer',
    () => node.createServer(hs, { keepAliveTimeout: 5 } as never),
    unknownIn('createServer', 'keepAliveTimeout', 'keepAliveTimeoutMs'),
  ],
  [
    'nodeHandler',
    () => node.nodeHandler(hs, { bodyTimeout: 5 } as never),
    unknownIn('nodeHandler', 'bodyTimeout', 'bodyTimeoutMs'),
  ],
  ['portal', () => portal.portal({ tittle: 'x' } as never), unknownIn('portal', 'tittle', 'title')],
  [
    'blackhole',
    () => blackhole.blackhole(hs, { maxSocket: 1 } as never),
    unknownIn('blackhole', 'maxSocket', 'maxSockets'),
  ],
  [
    'openTelemetry',
    () => opentelemetry.openTelemetry({ meters: {} } as never),
    unknownIn('openTelemetry', 'meters', 'meter'),
  ],
  [
    'sqliteStore',
    () => sqlite.sqliteStore({ path: 'x.db', inthread: true } as never),
    unknownIn('sqliteStore', 'inthread', 'inThread'),
  ],
  [
    'sqliteExportSource',
    () => sqlite.sqliteExportSource({ paht: 'x.db' } as never),
    unknownIn('sqliteExportSource', 'paht', 'path'),
  ],
  [
    'undoMigration',
    () => sqlite.undoMigration({ paht: 'x.db' } as never),
    unknownIn('undoMigration', 'paht', 'path'),
  ],
  [
    'vacuumDatabase',
    () => sqlite.vacuumDatabase({ paht: 'x.db' } as never),
    unknownIn('vacuumDatabase', 'paht', 'path'),
  ],
  [
    'postgresStore',
    () => postgres.postgresStore({ connectionstring: 'postgres://localhost/x' } as never),
    unknownIn('postgresStore', 'connectionstring', 'connectionString'),
  ],
  [
    'migrateToPostgres',
    () => postgres.migrateToPostgres({} as never, { connectionstring: 'x' } as never),
    unknownIn('migrateToPostgres', 'connectionstring', 'connectionString'),
  ],
  [
    'freeswitchSource',
    () => freeswitch.freeswitchSource({ ...source, acountOf: () => 'a' } as never),
    unknownIn('freeswitchSource', 'acountOf', 'accountOf'),
  ],
  [
    'freeswitchOutbound',
    () => freeswitch.freeswitchOutbound({ ...source, acountOf: () => 'a' } as never),
    unknownIn('freeswitchOutbound', 'acountOf', 'accountOf'),
  ],
  [
    'freeswitchSource().close',
    () => switchSource.close({ drain: 5 } as never),
    unknownIn('close', 'drain', 'drainMs'),
  ],
  [
    'freeswitchOutbound().close',
    () => outbound.close({ drain: 5 } as never),
    unknownIn('close', 'drain', 'drainMs'),
  ],
  [
    'asteriskAmi',
    () => asterisk.asteriskAmi({ ...source, user: 'x' } as never),
    unknownIn('asteriskAmi', 'user', 'username'),
  ],
  [
    'asteriskAri',
    () => asterisk.asteriskAri({ ...source, user: 'x' } as never),
    unknownIn('asteriskAri', 'user', 'username'),
  ],
  [
    'kamailioMapper',
    () => kamailio.kamailioMapper({ acountOf: () => 'a' } as never),
    unknownIn('kamailioMapper', 'acountOf', 'accountOf'),
  ],
  [
    'kamailioSource',
    () => kamailio.kamailioSource({ ...source, acountOf: () => 'a' } as never),
    unknownIn('kamailioSource', 'acountOf', 'accountOf'),
  ],
  [
    'kamailioSource().close',
    () => proxy.close({ drain: 5 } as never),
    unknownIn('close', 'drain', 'drainMs'),
  ],
]

/** Public functions without options. */
const WITHOUT_OPTIONS = [
  'hs.accounts.changed',
  'hs.accounts.descendants',
  'hs.accounts.get',
  'hs.accounts.list',
  'hs.accounts.readApiKey',
  'hs.accounts.remove',
  'hs.accounts.removeUser',
  'hs.accounts.rotateApiKey',
  'hs.accounts.setPassword',
  'hs.admitBody',
  'hs.auth.authenticate',
  'hs.auth.authorize',
  'hs.auth.signOut',
  // The clock is a dependency.
  ...Object.keys(hs.clock).map((name) => `hs.clock.${name}`),
  'hs.endStreams',
  'hs.events.emit',
  'hs.events.hasListeners',
  'hs.events.off',
  'hs.events.on',
  'hs.events.once',
  'hs.handle',
  'hs.handlesPath',
  'hs.nodeHealth',
  'hs.openLegs.list',
  'hs.operator.holds',
  'hs.operator.overview',
  'hs.replays.read',
  'hs.operator.jobs.read',
  'hs.operator.jobs.set',
  'hs.replays.set',
  'hs.start',
  'hs.wake',
  'hs.watchEvents',
  'hs.webhooks.call',
  'hs.webhooks.delivery',
  'hs.webhooks.explain',
  'hs.webhooks.healthOf',
  'hs.webhooks.list',
  'hs.webhooks.read',
  'hs.webhooks.reenable',
  'hs.webhooks.replay',
  'hs.webhooks.resume',
  'hs.webhooks.rotateSecret',
  'hs.webhooks.secret',
  'hs.webhooks.test',
  'accountByDomain',
  'accountDomain',
  'accountFromAccountCode',
  'accountFromContext',
  'accountFromEndpoint',
  'accountFromRealm',
  'accountFromSipHeader',
  'accountFromVariable',
  'custom',
  'errorCode',
  'expressMiddleware',
  'fastifyPlugin',
  // Frameworks pass values of their own as the second argument of the handler.
  'fetchHandler',
  'prometheusMetrics',
  // Classes of errors.
  'HookswitchClientError',
  'HookswitchError',
]

/** Calls of the client: its errors are its own, and it has no suggestions, because browsers load all of it. */
const CALL = 'is unknown (known: signal, timeoutMs, maxRetries, isRepeatable, requestId)'
const CLIENT_CALLS: readonly Call[] = [
  [
    'createClient',
    () => client.createClient({ url: 'http://127.0.0.1', timeout: 5 } as never),
    'timeout: is unknown (known: url, apiKey, user, token, accountId, timeoutMs, maxRetries, tokenLifetimeMs, maxResponseBytes, signal, fetch, clock)',
  ],
  [
    'createClient',
    () => client.createClient({ url: 'http://127.0.0.1', user: { name: 'ada' } } as never),
    'name: is unknown (known: username, password, realm, accountName, method)',
  ],
  ['an operation', () => browser.readOverview({ timeout: 5 } as never), `timeout: ${CALL}`],
  ['a list', () => browser.listWebhooks({}, { timeout: 5 } as never).page(), `timeout: ${CALL}`],
  [
    'request',
    () => browser.request({ method: 'GET', path: '/x' }, {}, { retries: 5 } as never),
    `retries: ${CALL}`,
  ],
  ['accountId', () => browser.accountId({ timeout: 5 } as never), `timeout: ${CALL}`],
  ['token', () => browser.token({ timeout: 5 } as never), `timeout: ${CALL}`],
  ['close', () => browser.close({ timeout: 5 } as never), `timeout: ${CALL}`],
  [
    'stream',
    () => browser.stream({ webhook: 'w' } as never),
    'webhook: is unknown (known: accountId, types, webhookId, callId, result, descendants, lastId)',
  ],
  [
    'stream',
    () => browser.stream({}, { timeout: 5 } as never),
    'timeout: is unknown (known: signal, timeoutMs, onState)',
  ],
]

/** The names of all functions of an object and of the objects in it. */
function functionsOf(value: object, prefix: string): string[] {
  return Object.entries(value).flatMap(([name, member]) => {
    if (typeof member === 'function') return [`${prefix}${name}`]
    return typeof member === 'object' && member !== null && !Array.isArray(member)
      ? functionsOf(member, `${prefix}${name}.`)
      : []
  })
}

async function errorOf(call: () => unknown): Promise<unknown> {
  try {
    await call()
  } catch (thrown) {
    return thrown
  }
  return undefined
}

beforeAll(async () => {
  await hs.start()
  await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example', users: [] })
})
afterAll(() => hs.close())

describe('a misspelt key', () => {
  it.each(CALLS)('of %s is refused', async (_name, call, sentence) => {
    const thrown = (await errorOf(call)) as Error
    expect(thrown?.message).toBe(sentence)
    expect(['InvalidOption', 'InvalidInput']).toContain(errorCode(thrown))
  })

  it.each(CLIENT_CALLS)('of the client is refused: %s', async (_name, call, sentence) => {
    expect(await errorOf(call)).toMatchObject({ code: 'invalid_option', message: sentence })
  })

  it('is tried with every public function', () => {
    const functions = [
      ...functionsOf(hs, 'hs.'),
      ...Object.entries(EXPORTS).flatMap(([name, value]) => (typeof value === 'function' ? [name] : [])),
    ]
    const tried = new Set([...CALLS, ...CLIENT_CALLS].map(([name]) => name))
    const missing = functions.filter((name) => !tried.has(name) && !WITHOUT_OPTIONS.includes(name))
    expect(missing).toEqual([])
    const gone = WITHOUT_OPTIONS.filter((name) => !functions.includes(name) || tried.has(name))
    expect(gone).toEqual([])
  })
})

it('options that are no object are refused', async () => {
  for (const options of [5, 'key', [], () => {}]) {
    expect(await errorOf(() => hs.publish(EVENT, options as never))).toMatchObject({
      code: 'InvalidOption',
      message: 'publish(): the options must be an object',
    })
  }
})
