/** Typical mistakes of programs in JavaScript: each gets one sentence, which says what to change. */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createHookswitch,
  exponential,
  type Hookswitch,
  memoryStore,
  rotateSecret,
  schedule,
  verify,
} from 'hookswitch'
import { asteriskAmi } from 'hookswitch/asterisk'
import { blackhole } from 'hookswitch/blackhole'
import { createClient } from 'hookswitch/client'
import { expressMiddleware } from 'hookswitch/express'
import { fastifyPlugin } from 'hookswitch/fastify'
import { fetchHandler } from 'hookswitch/fetch'
import { freeswitchSource } from 'hookswitch/freeswitch'
import { kamailioSource } from 'hookswitch/kamailio'
import { createServer, nodeHandler } from 'hookswitch/node'
import { portal } from 'hookswitch/portal'
import { postgresStore } from 'hookswitch/postgres'
import { sqliteStore } from 'hookswitch/sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkNodeVersion } from '../../src/runtime/node-version.js'

const API_KEY = 'k'.repeat(64)
const folder = mkdtempSync(join(tmpdir(), 'hookswitch-mistakes-'))
const store = memoryStore()
// biome-ignore lint/suspicious/noExplicitAny: the calls are those of a program without types
const hs: any = createHookswitch({ store })
const server = createServer(hs)
let webhookId = ''
let address = ''
/** Where nothing listens any more. */
let closed = ''

const EVENT = { hook: 'channel_create', accountId: 'acme', callId: 'c' }
const WEBHOOK = { name: 'w', uri: 'https://example.com/', hook: 'all' }
const source = { publish: async () => {}, accountOf: () => 'acme' }

const create = (options?: unknown) => createHookswitch(options as { store: typeof store })
const withOption = (option: object) => () => create({ store: memoryStore(), ...option })
// biome-ignore lint/suspicious/noExplicitAny: as above
const untyped = (call: unknown): any => call

/** Starts and closes a new instance around a call. */
async function running(call: (instance: Hookswitch) => unknown, options: object = {}): Promise<void> {
  const instance = create({ store: memoryStore(), ...options })
  await instance.start()
  try {
    await call(instance)
  } finally {
    await instance.close()
  }
}

type Mistake = readonly [mistake: string, call: () => unknown, sentence: string | RegExp]

const MISTAKES: Readonly<Record<string, readonly Mistake[]>> = {
  'the options of an instance': [
    ['none at all', () => create(), 'createHookswitch(): the options must be an object'],
    ['no store', () => create({}), 'store is required'],
    [
      'a retry policy that is written out',
      withOption({ retryPolicy: { kind: 'constant', delayMs: 2_000 } }),
      'retryPolicy.jitter is missing: make the policy with constant()',
    ],
    [
      'a store that was not called',
      withOption({ store: memoryStore }),
      'store must be an object, not a function (was it called?)',
    ],
    [
      'a store that was not awaited',
      withOption({ store: Promise.resolve(memoryStore()) }),
      'store must be an object, not a promise: await it first',
    ],
    [
      'a connection string as the store',
      withOption({ store: 'postgres://localhost/x' }),
      'store must be an object',
    ],
    [
      'a store without a part',
      withOption({
        store: { ...memoryStore(), deliveries: { ...memoryStore().deliveries, commit: undefined } },
      }),
      'store has no deliveries.commit',
    ],
    [
      'a store without a port',
      withOption({ store: { ...memoryStore(), tokens: undefined } }),
      'store has no tokens',
    ],
    [
      'a store with null in place of a port',
      withOption({ store: { ...memoryStore(), tokens: null } }),
      'store has no tokens',
    ],
    [
      'a store that does not say what it supports',
      withOption({ store: { ...memoryStore(), supports: null } }),
      'store has no supports',
    ],
    [
      'a store that promises transactions',
      withOption({ store: { ...memoryStore(), supports: { transactions: true } } }),
      'store has no inbox, although it supports transactions',
    ],
    [
      'a retry policy that does not exist',
      withOption({ retryPolicy: 'exponential' }),
      'retryPolicy must be a policy or one of: standard, kazoo, patient',
    ],
    [
      'a retry policy that was not called',
      withOption({ retryPolicy: exponential }),
      'retryPolicy must be a policy or one of: standard, kazoo, patient',
    ],
    [
      'a policy whose delay is a text',
      () => exponential({ baseMs: '2s' as never }),
      'retryPolicy.baseMs must be a number of milliseconds from 0 to 604800000',
    ],
    [
      'a schedule without delays',
      () => schedule([]),
      'retryPolicy.delaysMs must be a list of at least one delay',
    ],
    [
      'seconds as a text',
      withOption({ tokenTtlSeconds: '3600' }),
      'tokenTtlSeconds must be a whole number from 1 to 315360000',
    ],
    ['a limit of 0', withOption({ inFlight: 0 }), 'inFlight must be a whole number from 1 to 100000'],
    ['a short secret', withOption({ secret: 'secret' }), 'secret must have at least 16 characters'],
    ['a secret in an object', withOption({ secret: { key: 'x'.repeat(32) } }), 'secret must be a string'],
    [
      'an origin without its scheme',
      withOption({ cors: 'app.example.com' }),
      "cors must be '*' or origins such as https://app.example.com",
    ],
    ['a network that is no list', withOption({ allow: '10.0.0.0/8' }), 'allow must be an array of strings'],
    [
      'a network that is none',
      withOption({ allow: ['10.0.0.0/64'] }),
      'allow: "10.0.0.0/64" is neither a host name, an IP address nor a CIDR block',
    ],
    [
      'a proxy without its scheme',
      withOption({ proxy: 'proxy.example:3128' }),
      'proxy must be a URL such as http://user:password@proxy.example:3128',
    ],
    [
      'a function as the log',
      withOption({ log: console.log }),
      'log must be an object, not a function (was it called?)',
    ],
    [
      'a log without a level',
      withOption({ log: { info() {}, warn() {}, error() {} } }),
      'log must have a method debug',
    ],
    [
      'a rule that is true',
      withOption({ autoDisable: true }),
      "autoDisable must be false or an object whose kind is 'silent' or 'burst'",
    ],
    ['kinds of events by name', withOption({ hooks: { order_paid: {} } }), 'hooks: must be an array'],
    [
      'a kind of event without an id',
      withOption({ hooks: [{ name: 'Order paid' }] }),
      'hooks[0].id: must be 1 to 64 lower-case letters, digits and _, beginning with a letter',
    ],
    [
      'a kind of event with a reserved id',
      withOption({ hooks: [{ id: 'delivered' }] }),
      "hooks[0].id must not be 'delivered', which is an event of hs.events",
    ],
    [
      'a kind of event with an unknown key',
      withOption({ hooks: [{ id: 'order_paid', title: 'x' }] }),
      'hooks[0].title: is not a known property',
    ],
    [
      'a header of the proxy as a boolean',
      withOption({ trustProxy: true }),
      'trustProxy must be an array of strings',
    ],
    ['a setting of the program', withOption({ port: 8000 }), "createHookswitch(): unknown option 'port'"],
  ],
  'the life of an instance': [
    [
      'a call before the start',
      () => create({ store: memoryStore() }).publish(EVENT as never),
      'call start() first',
    ],
    [
      'a start that was not awaited',
      async () => {
        const instance = create({ store: memoryStore() })
        const starting = instance.start()
        try {
          await instance.publish(EVENT as never)
        } finally {
          await starting
          await instance.close()
        }
      },
      'start() has not finished: await it first',
    ],
    [
      'a call after the close',
      async () => {
        const instance = create({ store: memoryStore() })
        await instance.start()
        await instance.close()
        await instance.publish(EVENT as never)
      },
      'this instance is closing, or was closed',
    ],
    [
      'a start after the close',
      async () => {
        const instance = create({ store: memoryStore() })
        await instance.start()
        await instance.close()
        await instance.start()
      },
      'this instance was closed',
    ],
    [
      'two instances with one memory store',
      () => create({ store }).start(),
      'store is used by another instance: give each its own, or close the other one first',
    ],
    [
      'two instances with one SQLite store',
      async () => {
        const shared = sqliteStore({ path: join(folder, 'shared.db'), inThread: true })
        await running(() => create({ store: shared }).start(), { store: shared })
      },
      'store is used by another instance: give each its own, or close the other one first',
    ],
    ['a time to drain as a text', () => hs.close({ drainMs: '5s' }), 'drainMs must be 0 or more'],
    ['a time to drain without its name', () => hs.close(5000), 'close(): the options must be an object'],
    [
      'a limit that cannot change',
      () => hs.setLimits({ inFlight: 5 }),
      "setLimits(): unknown option 'inFlight' (did you mean 'inFlightPerEndpoint'?)",
    ],
    [
      'an old Node',
      () => checkNodeVersion('18.20.4'),
      'hookswitch needs Node 20.19 or later, and this is Node 18.20.4',
    ],
    [
      'an event of the instance that does not exist',
      () => hs.events.on('delivred', () => {}),
      "'delivred' is not an event (did you mean 'delivered'?)",
    ],
    [
      'an event of the instance without a listener',
      () => hs.events.on('delivered'),
      "the listener of 'delivered' must be a function",
    ],
    [
      'a watch without a listener',
      () => hs.watchEvents('acme'),
      'watchEvents(): the listener must be a function',
    ],
  ],
  events: [
    ['nothing', () => hs.publish(), 'an event must be an object'],
    [
      'no account',
      () => hs.publish({ hook: 'channel_create', callId: 'c' }),
      'accountId: Field is required but missing',
    ],
    [
      'an account that does not exist',
      () => hs.publish({ ...EVENT, accountId: 'nobody' }),
      "account 'nobody' does not exist",
    ],
    [
      'no call',
      () => hs.publish({ hook: 'channel_create', accountId: 'acme' }),
      'callId: Field is required but missing',
    ],
    [
      'a misspelt kind',
      () => hs.publish({ ...EVENT, hook: 'channel_created' }),
      /^hook: 'channel_created' is not a registered event \(did you mean 'channel_create'\? known: .*\)$/,
    ],
    [
      'names as over HTTP',
      () => hs.publish({ hook: 'channel_create', account_id: 'acme', callId: 'c' }),
      "accountId: Field is required but missing; account_id: is not a field of an event (did you mean 'accountId'?)",
    ],
    [
      'a value that is not in a list',
      () => hs.publish({ ...EVENT, direction: 'in' }),
      'direction: Value not found in enumerated list of values: inbound, outbound',
    ],
    [
      'a time as a Date',
      () => hs.publish({ ...EVENT, timestampMs: new Date() }),
      'timestampMs: Value did not match type(s): integer',
    ],
    [
      'a time as a text',
      () => hs.publish({ ...EVENT, timestampMs: '2026-01-01T00:00:00Z' }),
      'timestampMs: Value did not match type(s): integer',
    ],
    [
      'data of a kind that has none',
      () => hs.publish({ ...EVENT, data: { a: 1 } }),
      "data: is not a field of 'channel_create'",
    ],
    [
      'variables that are no JSON',
      () => hs.publish({ ...EVENT, customChannelVars: { size: 5n } }),
      'customChannelVars.size: is a bigint, not JSON',
    ],
    ['a key without its name', () => hs.publish(EVENT, 'key'), 'publish(): the options must be an object'],
    [
      'a key that is a number',
      () => hs.publish(EVENT, { idempotencyKey: 5 }),
      'idempotencyKey: Value did not match type(s): string',
    ],
    [
      'a transaction of another store',
      () => hs.publish(EVENT, { tx: {} }),
      'this store does not support transactions of the host',
    ],
    [
      'a trace that is none',
      () => hs.publish(EVENT, { traceparent: 'abc' }),
      'traceparent: must be a traceparent of W3C Trace Context',
    ],
  ],
  webhooks: [
    [
      'no account',
      () => hs.webhooks.create(WEBHOOK),
      'a webhook must be an object, after the id of its account',
    ],
    [
      'an account that does not exist',
      () => hs.webhooks.create('nobody', WEBHOOK),
      "account 'nobody' does not exist",
    ],
    ['nothing', () => hs.webhooks.create('acme'), 'a webhook must be an object, after the id of its account'],
    [
      'no URL',
      () => hs.webhooks.create('acme', { name: 'w', hook: 'all' }),
      'uri: Field is required but missing',
    ],
    [
      'a URL without its scheme',
      () => hs.webhooks.create('acme', { ...WEBHOOK, uri: 'example.com/in' }),
      'uri: invalid client URL (must be an absolute http or https URL)',
    ],
    [
      'a URL of this machine',
      () => hs.webhooks.create('acme', { ...WEBHOOK, uri: 'http://localhost:3000/' }),
      'uri: invalid client URL (must not lead to a localhost name)',
    ],
    [
      'a misspelt kind',
      () => hs.webhooks.create('acme', { ...WEBHOOK, hook: 'channel_created' }),
      /^hook: Value not found in enumerated list of values \(did you mean 'channel_create'\?\): all, channel_create, /,
    ],
    [
      'a list of kinds',
      () => hs.webhooks.create('acme', { ...WEBHOOK, hook: ['channel_create'] }),
      'hook: Value did not match type(s): string',
    ],
    [
      'a method in capitals',
      () => hs.webhooks.create('acme', { ...WEBHOOK, httpVerb: 'POST' }),
      "httpVerb: Value not found in enumerated list of values (did you mean 'post'?): get, post, put, patch, delete",
    ],
    [
      'retries as a text',
      () => hs.webhooks.create('acme', { ...WEBHOOK, retries: '3' }),
      'retries: Value did not match type(s): integer',
    ],
    [
      'too many retries',
      () => hs.webhooks.create('acme', { ...WEBHOOK, retries: 100 }),
      'retries: Value must be at most 30',
    ],
    [
      'a format that does not exist',
      () => hs.webhooks.create('acme', { ...WEBHOOK, format: 'xml' }),
      'format: Value not found in enumerated list of values: json, form-data',
    ],
    [
      'names as over HTTP',
      () => hs.webhooks.create('acme', { ...WEBHOOK, http_verb: 'put' }),
      "http_verb: is not a field of a webhook (did you mean 'httpVerb'?)",
    ],
    [
      'numbers in custom data',
      () => hs.webhooks.create('acme', { ...WEBHOOK, customData: { tenant: 5 } }),
      'customData.tenant: Value did not match type(s): string',
    ],
    [
      'a filter without its kind',
      () => hs.webhooks.create('acme', { ...WEBHOOK, filter: { direction: 'inbound' } }),
      'filter.direction: is not one of exact, prefix, suffix, all, any, not',
    ],
    [
      'a webhook that does not exist',
      () => hs.webhooks.read('acme', 'nothing'),
      "webhook 'nothing' does not exist",
    ],
    [
      'a webhook without its account',
      () => hs.webhooks.read(webhookId),
      'the id of the webhook must be a string, not undefined',
    ],
    [
      'a revision of before',
      () => hs.webhooks.patch('acme', webhookId, { name: 'x' }, { revision: 7 }),
      /^webhook [0-9a-f]{32} was changed concurrently$/,
    ],
    [
      'a limit as a text',
      () => hs.webhooks.attempts('acme', webhookId, { limit: '10' }),
      'limit: must be a whole number of at least 1',
    ],
    [
      'a limit above the greatest',
      () => hs.webhooks.attempts('acme', webhookId, { limit: 5_000 }),
      'limit: must be at most 1000',
    ],
    [
      'a time as a Date',
      () => hs.webhooks.attempts('acme', webhookId, { fromMs: new Date() }),
      'fromMs: must be a time in Unix milliseconds',
    ],
    [
      'a state that is no list',
      () => hs.webhooks.deliveries('acme', webhookId, { states: 'exhausted' }),
      'states: must be an array of waiting, in_flight, delivered, exhausted, expired, cancelled, quarantined',
    ],
    [
      'a state that does not exist',
      () => hs.webhooks.deliveries('acme', webhookId, { states: ['failed'] }),
      'states: must be an array of waiting, in_flight, delivered, exhausted, expired, cancelled, quarantined',
    ],
    [
      'a step that does not exist',
      () => hs.webhooks.stats('acme', webhookId, { step: 1 }),
      'step: must be one of: 60, 3600',
    ],
    ['an account that is no list', () => hs.webhooks.reenable('acme'), 'accountIds: must be an array of ids'],
    [
      'a delivery that does not exist',
      () => hs.webhooks.replay('acme', webhookId, 'nothing'),
      "delivery 'nothing' does not exist",
    ],
  ],
  'accounts and tokens': [
    [
      'an account without a realm',
      () => hs.accounts.create({ name: 'B' }),
      'realm: Field is required but missing',
    ],
    [
      'an account twice',
      () => hs.accounts.create({ name: 'B', realm: 'acme.example' }),
      'this realm is taken',
    ],
    [
      'a short API key',
      () => hs.accounts.create({ name: 'B', realm: 'b.example', apiKey: 'key' }),
      'apiKey: API key must be 32 to 128 of A-Z a-z 0-9 _ -',
    ],
    [
      'a parent that does not exist',
      () => hs.accounts.create({ name: 'B', realm: 'b.example', parentId: 'x' }),
      'parentId: The account does not exist',
    ],
    [
      'an account that is no list',
      () => hs.accounts.ensure({ name: 'B', realm: 'b.example' }),
      'the accounts must be an array',
    ],
    [
      'an API key without its name',
      () => hs.auth.signIn(API_KEY),
      'a login must be an object: { apiKey }, or { credentials, realm }',
    ],
    [
      'a name and a password',
      () => hs.auth.signIn({ username: 'ada', password: 'x' }),
      'username: is not a field of a login; password: is not a field of a login; credentials: Field is required but missing; realm: Field is required but missing',
    ],
    ['another API key', () => hs.auth.signIn({ apiKey: 'x'.repeat(64) }), 'invalid credentials'],
    [
      'a token for too long',
      () => hs.auth.issue({ accountId: 'acme', role: 'read', ttlSeconds: 1e9 }),
      'ttlSeconds: Value must be at most 86400',
    ],
    [
      'a role that does not exist',
      () => hs.auth.issue({ accountId: 'acme', role: 'user', ttlSeconds: 60 }),
      'role: Value not found in enumerated list of values: admin, read',
    ],
    ['no token', () => hs.auth.authenticate(undefined), 'invalid credentials'],
    [
      'the answer of signIn as the token',
      async () => hs.auth.authenticate(await hs.auth.signIn({ apiKey: API_KEY })),
      'invalid credentials',
    ],
    [
      'a token of another account',
      async () => hs.auth.authorize((await hs.auth.signIn({ apiKey: API_KEY })).token, 'other'),
      'forbidden',
    ],
  ],
  'other calls': [
    [
      'a stream without an account',
      () => hs.stream({})[Symbol.asyncIterator]().next(),
      'the id of the account must be a string, not undefined',
    ],
    [
      'a stream of one type',
      () => hs.stream({ accountId: 'acme', types: 'event' })[Symbol.asyncIterator]().next(),
      'types: Value not found in enumerated list of values: attempt, webhook, event',
    ],
    ['an erasure without an account', () => hs.erase({ callId: 'c' }), 'accountId: must be an id'],
    [
      'a replay of everything with a wrong time',
      () => hs.replays.start({ accountId: 'acme', createdFromMs: 'yesterday' }),
      'createdFromMs: must be a time in milliseconds',
    ],
    [
      'a new secret that is short',
      () => rotateSecret({ store: memoryStore(), to: 'short' }),
      'to must have at least 16 characters',
    ],
    [
      'an option of verify',
      () => verify({ headers: {}, body: '' }, 'whsec_x', { maxAge: 5 } as never),
      "verify(): unknown option 'maxAge' (known: nowSeconds, toleranceSeconds)",
    ],
  ],
  servers: [
    [
      'nothing',
      () => untyped(nodeHandler)(undefined),
      'nodeHandler(): the first argument must be a hookswitch instance, not undefined',
    ],
    [
      'a promise of an instance',
      () => untyped(createServer)(Promise.resolve(hs)),
      'createServer(): the first argument must be a hookswitch instance, not a promise: await it first',
    ],
    [
      'a function that creates it',
      () => untyped(expressMiddleware)(() => hs),
      'expressMiddleware(): the first argument must be a hookswitch instance, not a function or class',
    ],
    [
      'a store',
      () => untyped(fastifyPlugin)(store),
      'fastifyPlugin(): the first argument must be a hookswitch instance, not a store',
    ],
    [
      'its options',
      () => untyped(fetchHandler)({ store }),
      'fetchHandler(): the first argument must be a hookswitch instance, not another object',
    ],
    [
      'nothing, for WebSockets',
      () => untyped(blackhole)(),
      'blackhole(): the first argument must be a hookswitch instance, not undefined',
    ],
    [
      'a text',
      () => untyped(createServer)('127.0.0.1'),
      'createServer(): the first argument must be a hookswitch instance, not a string',
    ],
    [
      'a port as an option',
      () => untyped(createServer)(hs, { port: 8000 }),
      "createServer(): unknown option 'port' (known: headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs, maxHeaderBytes, maxConnections, writeTimeoutMs, maxUnsentBytes)",
    ],
    [
      'a limit as a text',
      () => untyped(createServer)(hs, { maxConnections: '100' }),
      'maxConnections must be a count (an integer, 1 to 2147483647)',
    ],
    [
      'a limit above the one that contains it',
      () => createServer(hs, { headersTimeoutMs: 60_000 }),
      'headersTimeoutMs must not exceed requestTimeoutMs',
    ],
    [
      'a body that was read already',
      async () => {
        const request = new Request('http://localhost/v1/accounts/acme/webhooks', {
          method: 'PUT',
          body: '{}',
        })
        await request.json()
        await fetchHandler(hs)(request)
      },
      'the request body was already read; pass fetchHandler a clone of the request',
    ],
    [
      'a page below the API',
      () => portal({ path: '/v1/portal' }),
      'path must not be below /v1 or /v2, which are the API',
    ],
    ['a colour by its name', () => portal({ accent: 'red' }), 'accent must be a colour like #4a3fc7'],
    [
      'a logo that does not exist',
      () => portal({ logo: join(folder, 'logo.svg') }),
      'logo cannot be read (there is no such file)',
    ],
  ],
  stores: [
    [
      'a limit of 0',
      () => memoryStore({ attemptsPerWebhook: 0 }),
      'attemptsPerWebhook must be a positive integer',
    ],
    [
      'a path without its name',
      () => untyped(sqliteStore)('hookswitch.db'),
      'path is required: sqliteStore({ path }), or sqliteStore({ database })',
    ],
    ['no path', () => untyped(sqliteStore)({}), 'path is required, or database'],
    [
      'a database in memory',
      () => sqliteStore({ path: ':memory:' }),
      'path must name a file; use memoryStore() without one',
    ],
    [
      'a folder',
      () => create({ store: sqliteStore({ path: folder, inThread: true }) }).start(),
      new RegExp(`^path must name a file, this is a folder: ${folder}$`),
    ],
    [
      'a folder that does not exist',
      () => create({ store: sqliteStore({ path: join(folder, 'no', 'x.db'), inThread: true }) }).start(),
      new RegExp(`^path is in a folder that does not exist, create it first: ${folder}/no$`),
    ],
    [
      'a database that is none',
      () => untyped(sqliteStore)({ database: {} }),
      'database must be an open DatabaseSync of node:sqlite or @photostructure/sqlite',
    ],
    [
      'a connection string without its name',
      () => untyped(postgresStore)('postgres://localhost/x'),
      'postgresStore needs an object with connectionString or pool',
    ],
    [
      'a connection string of another database',
      () => postgresStore({ connectionString: 'mysql://localhost/x' }),
      'connectionString must look like postgres://user:password@host:5432/database, special characters percent-encoded, with one host',
    ],
    [
      'an environment variable that is not set',
      () => untyped(postgresStore)({ connectionString: undefined }),
      'postgresStore needs connectionString or pool',
    ],
    [
      'a client as the pool',
      () => untyped(postgresStore)({ pool: { query() {} } }),
      'pool must be a pg.Pool',
    ],
    [
      'a pool and a limit of it',
      () => untyped(postgresStore)({ pool: { connect() {}, on() {} }, maxConnections: 5 }),
      'maxConnections is an option of the pool: set it there',
    ],
    [
      'a schema with a dash',
      () => postgresStore({ connectionString: 'postgres://localhost/x', schema: 'web-hooks' }),
      'schema must be 1 to 63 characters of a-z, 0-9 and _, and not begin with a digit or pg_',
    ],
  ],
  'the client': [
    ['no options', () => untyped(createClient)(), 'createClient: the options must be an object'],
    [
      'a URL without its scheme',
      () => createClient({ url: 'hooks.example.com' }),
      'url: must be a URL like https://hooks.example.com',
    ],
    [
      'two logins',
      () => createClient({ url: address, apiKey: API_KEY, token: 'x' }),
      'token: only one of apiKey, user and token may be given',
    ],
    [
      'an empty API key',
      () => createClient({ url: address, apiKey: '' }),
      'apiKey: must be a non-empty string',
    ],
    [
      'no login',
      () => createClient({ url: address }).listWebhooks().page(),
      'apiKey: is required by this call (or user or token)',
    ],
    [
      'a token without an account',
      () =>
        createClient({ url: address, token: 'x'.repeat(32) })
          .listWebhooks()
          .page(),
      'accountId: is required with a token of your own',
    ],
    [
      'another API key',
      () =>
        createClient({ url: address, apiKey: 'x'.repeat(64) })
          .listWebhooks()
          .page(),
      'PUT /api_auth: 401 invalid_credentials: invalid credentials',
    ],
    [
      'a token that has expired',
      () =>
        createClient({ url: address, token: 'x'.repeat(64), accountId: 'acme' })
          .listWebhooks()
          .page(),
      'GET /accounts/{account_id}/webhooks: 401 invalid_credentials: invalid credentials',
    ],
    [
      'a port where nothing listens',
      () => createClient({ url: closed, apiKey: API_KEY, maxRetries: 0 }).listWebhooks().page(),
      /^PUT \/api_auth: no complete response from 127\.0\.0\.1:\d+ \(ECONNREFUSED\)$/,
    ],
    [
      'a prefix that does not exist',
      () =>
        createClient({ url: `${address}/api`, apiKey: API_KEY })
          .listWebhooks()
          .page(),
      'PUT /api_auth: 404 not_found: not found',
    ],
    [
      'a document without its name',
      () => untyped(createClient({ url: address, apiKey: API_KEY }).createWebhook)(WEBHOOK),
      'PUT /accounts/{account_id}/webhooks: 400 validation error: name: Field is required but missing; uri: Field is required but missing; hook: Field is required but missing',
    ],
  ],
  'sources of events': [
    ['no options', () => untyped(freeswitchSource)(), 'freeswitchSource(): the options must be an object'],
    [
      'no function that publishes',
      () => untyped(freeswitchSource)({ accountOf: () => 'acme' }),
      'publish is missing: freeswitchSource needs it',
    ],
    [
      'the instance as that function',
      () => untyped(freeswitchSource)({ ...source, publish: hs }),
      'publish must be a function',
    ],
    [
      'no account',
      () => untyped(freeswitchSource)({ publish: source.publish }),
      'accountOf is missing: freeswitchSource needs it',
    ],
    [
      'an account as a text',
      () => untyped(asteriskAmi)({ ...source, accountOf: 'acme', username: 'u', secret: 's' }),
      'accountOf must be a function',
    ],
    [
      'a port in the host',
      () => freeswitchSource({ ...source, host: '127.0.0.1:8021' }),
      'host must not contain a port: use the option port',
    ],
    [
      'a port as a text',
      () => untyped(kamailioSource)({ ...source, port: '8448' }),
      'port must be a whole number from 1 to 65535',
    ],
    [
      'an event that does not exist',
      () => untyped(freeswitchSource(source)).events.on('error', () => {}),
      "'error' is not an event",
    ],
  ],
}

beforeAll(async () => {
  await hs.start()
  await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example', apiKey: API_KEY })
  await hs.accounts.create({ id: 'other', name: 'Other', realm: 'other.example' })
  webhookId = (await hs.webhooks.create('acme', WEBHOOK)).id
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const gone = createServer(hs).listen(0, '127.0.0.1')
  await once(gone, 'listening')
  closed = `http://127.0.0.1:${(gone.address() as { port: number }).port}`
  await new Promise((resolve) => gone.close(resolve))
  address = `http://127.0.0.1:${(server.address() as { port: number }).port}`
})
afterAll(async () => {
  server.close()
  await hs.close()
  rmSync(folder, { recursive: true })
})

async function sentenceOf(call: () => unknown): Promise<string> {
  try {
    await call()
  } catch (thrown) {
    return (thrown as Error).message
  }
  return 'nothing happened'
}

describe.each(Object.entries(MISTAKES))('%s', (_area, mistakes) => {
  it.each(mistakes)('%s', async (_mistake, call, sentence) => {
    const message = await sentenceOf(call)
    if (typeof sentence === 'string') expect(message).toBe(sentence)
    else expect(message).toMatch(sentence)
  })
})
