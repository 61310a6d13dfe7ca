/** Equipment of the migration tests: SQLite files with contents, services on stores, and everything a store shows. */
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { constant, createHookswitch, type Hookswitch } from 'hookswitch'
import { createServer } from 'hookswitch/node'
import { sqliteStore } from 'hookswitch/sqlite'
import {
  createPositions,
  type Log,
  type NewDelivery,
  type NewEvent,
  type Store,
  type StoredDelivery,
} from 'hookswitch/store'
import { hang, type ScriptedReceiver, status, until } from 'hookswitch/testkit'
import { loadDriver } from '../../../adapters/storage/sqlite/driver.js'
import { createHostInbox } from '../../../adapters/storage/sqlite/host-database.js'
import { API_KEY_NONCE_BYTES, encryptApiKey } from '../../../src/accounts/api-key.js'
import { hashToken } from '../../../src/auth/token.js'
import { stageEvent } from '../../../src/delivery/inbox-relay.js'
import { systemClock } from '../../../src/runtime/clock.js'
import { openRecord } from '../../../src/runtime/encryption-key.js'
import {
  newAccount,
  newDelivery,
  newEvent,
  newWebhook,
} from '../../../src/testkit/conformance/sample-data.js'
import { createSecretCipher } from '../../../src/values/encryption.js'
import { type ApiResponse, callApi } from '../../service/api-client.js'
import { ACCOUNTS, API_KEY, channelCreate, closeServer, listen } from '../../service/service-fixture.js'

export const log: Log = { debug() {}, info() {}, warn() {}, error() {} }
const HOUR_MS = 3_600_000
const md5Of = (text: string) => createHash('md5').update(text).digest('hex')

/** A running service with its HTTP API. */
export interface RunningService {
  readonly hs: Hookswitch
  get(path: string, token: string): Promise<ApiResponse>
  close(): Promise<void>
}

/** @param aheadMs how far its clock is ahead, so that retries are due at once */
export async function startService(store: Store, secret?: string, aheadMs = 0): Promise<RunningService> {
  const system = systemClock()
  const hs = createHookswitch({
    store,
    allowLocal: true,
    retryPolicy: constant(HOUR_MS, { jitter: 0 }),
    clock: { ...system, now: () => system.now() + aheadMs },
    ...(secret === undefined ? {} : { secret }),
  })
  await hs.start()
  const server = createServer(hs)
  const port = await listen(server)
  return {
    hs,
    get: (path, token) => callApi(port, 'GET', `/v1/accounts/parent${path}`, { token }),
    async close() {
      await hs.close({ drainMs: 0 })
      await closeServer(server)
    },
  }
}

/** The contents of a filled file. */
export interface FilledFile {
  readonly path: string
  readonly secret: string
  readonly tokens: readonly string[]
  readonly webhooks: Readonly<Record<'steady' | 'failing' | 'hangs' | 'doomed' | 'off' | 'deleted', string>>
  /** Responses of its API by path, which a migration must not change. */
  readonly answers: ReadonlyMap<string, unknown>
}

export const KEYED_OPTIONS = { idempotencyKey: 'once' }
export const CALLS = ['call-a', 'call-b', 'call-c', 'call-of-child']

/**
 * Creates a file with data of every kind: tokens of an API key and of a user, various webhooks, deliveries in every state,
 * lanes with several deliveries, deliveries that a dead node had in flight, first failures, and inbox entries of the host.
 */
export async function createFilledFile(path: string, receiver: ScriptedReceiver): Promise<FilledFile> {
  const { hs, get, close } = await startService(sqliteStore({ path, inThread: true }))
  for (const account of ACCOUNTS) await hs.accounts.create({ ...account })
  await hs.accounts.create({ id: 'gone', name: 'Gone', realm: 'gone.example.com' })
  await hs.accounts.remove('gone')
  await hs.accounts.addUser('parent', { username: 'former', password: 'pw' })
  await hs.accounts.removeUser('parent', 'former')
  const user = { credentials: md5Of('Ada:lovelace'), realm: 'parent.example.com' }
  const tokens: string[] = []
  for (const login of [{ apiKey: API_KEY }, user]) tokens.push((await hs.auth.signIn(login)).token)

  receiver.on('/failing', [status(500)])
  receiver.on('/hangs', [hang()])
  receiver.on('/doomed', [status(500)])
  const createWebhook = async (name: string, more: object = {}) =>
    (await hs.webhooks.create('parent', { name, uri: receiver.url(`/${name}`), hook: 'all', ...more })).id
  const webhooks = {
    steady: await createWebhook('steady', {
      includeSubaccounts: true,
      customRequestHeaders: { 'x-own': 'secret' },
    }),
    failing: await createWebhook('failing', { format: 'form-data', retries: 4 }),
    hangs: await createWebhook('hangs', { customData: { mine: 'yes' } }),
    doomed: await createWebhook('doomed'),
    off: await createWebhook('off'),
    deleted: await createWebhook('deleted'),
  }
  for (const round of [1, 2, 3]) {
    for (const callId of CALLS.slice(0, 3)) {
      const other = { otherLegCallId: `${callId}-b`, from: `round-${round}@x` }
      await hs.publish(channelCreate(callId, other), {
        idempotencyKey: `${callId} ${round}`,
        traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
      })
    }
    await hs.publish({ ...channelCreate(CALLS[3]!), accountId: 'child' })
  }
  await hs.publish(channelCreate('keyed'), KEYED_OPTIONS)
  const countDelivered = async (id: string) =>
    (await hs.webhooks.deliveries('parent', id, { states: ['delivered'] })).length
  await until(async () => (await countDelivered(webhooks.steady)) === 13)
  await until(async () => (await hs.webhooks.attempts('parent', webhooks.failing)).length === 4)
  await until(() => receiver.requests.filter(({ path }) => path === '/hangs').length > 0)
  await hs.webhooks.patch('parent', webhooks.off, { enabled: false })
  await hs.webhooks.remove('parent', webhooks.deleted)

  const answers = new Map<string, unknown>()
  const list = '/webhooks/attempts?page_size=3'
  const { next_start_key: next } = (await get(list, tokens[0]!)).json
  const paths = [`${list}&start_key=${next}`, `/webhooks/${webhooks.steady}`, `/webhooks/${webhooks.off}`]
  for (const path of paths) answers.set(path, (await get(path, tokens[0]!)).json.data)
  await close()
  await addCrashRemains(path, webhooks.hangs, webhooks.doomed)
  const secret = readFileSync(`${path}.key`, 'utf8').trim()
  return { path, secret, tokens, webhooks, answers }
}

/** Adds deliveries that a killed node had in flight, a webhook disabled at that moment, and inbox entries. */
async function addCrashRemains(path: string, inFlight: string, disabled: string): Promise<void> {
  const store = sqliteStore({ path, inThread: true })
  const clock = systemClock()
  await store.open({ clock, log })
  const lease = await store.deliveries.own('a node that dies', 30_000)
  const now = lease.storeMs
  const { version, waiting } = (await store.deliveries.load(lease, lease.shards))!
  const starts = Array.from({ length: waiting.count }, (_, index) => ({
    webhookId: waiting.webhookIds[waiting.webhook[index]!]!,
    position: waiting.position[index]!,
    attempt: waiting.attempts[index]! + 1,
    epoch: waiting.epoch[index]!,
    lane: waiting.lane[index]!,
  })).filter(({ webhookId }) => webhookId === inFlight)
  const heads = starts.filter(({ lane }, index) => starts.findIndex((start) => start.lane === lane) === index)
  const starting = { key: 1, deliveries: heads.slice(0, 2) }
  if (starting.deliveries.length !== 2) throw new Error('fewer than 2 deliveries to start')
  const nothing = { accepted: [], ended: [], finished: [], pending: 0, isRepeat: false }
  const started = await store.deliveries.commit({ lease, version, now, starting, ...nothing })
  if (started.kind !== 'committed' || started.notStarted.length > 0) throw new Error('not started')
  const row = (await store.webhooks.read('parent', disabled))!
  const settings = { ...row.settings, enabled: false }
  await store.webhooks.replace(
    { ...row, settings, epoch: row.epoch + 1, revision: row.revision + 1 },
    row.revision,
  )
  const legs = STAGED_CALLS.slice(0, 2).map((callId) => ({
    callId,
    accountId: 'parent',
    state: `["${callId}"]`,
  }))
  for (const source of SOURCES) await store.openLegs.write(source, { put: legs, remove: [] }, now)
  await store.close()

  const { DatabaseSync } = loadDriver()
  const database = new DatabaseSync(path)
  database.exec('update hookswitch_waiting set failed_ms = accepted_ms + 5 where attempts > 0')
  database.exec('update hookswitch_attempt set failed_ms = accepted_ms + 7 where state is not null')
  const inbox = createHostInbox(database, () => {})
  database.exec('begin')
  for (const callId of STAGED_CALLS) {
    const deps = { clock, isKnownHook: () => true, newId: () => `staged ${callId} ${stagedCount++}` }
    inbox.put(database, [stageEvent(deps, channelCreate(callId), undefined)])
  }
  database.exec('commit')
  inbox.stop()
  database.close()
}
let stagedCount = 0
/** Switches that had open calls. */
const SOURCES = ['freeswitch 127.0.0.1:8021', 'asterisk 127.0.0.1:5038']
export const STAGED_CALLS = ['call-a', 'call-staged', 'call-staged']

/** Row counts of `smallFile`: three deliveries in each of two lanes. */
export const SMALL_COUNTS = {
  accounts: 1,
  apiKeys: 1,
  webhooks: 1,
  calls: 2,
  events: 6,
  deliveries: 6,
  encryptionRecords: 1,
}

/** Creates a small file like that of a stopped service: key, account, webhook and waiting deliveries. */
export async function createSmallFile(path: string): Promise<void> {
  const store = sqliteStore({ path, inThread: true })
  await store.open({ clock: systemClock(), log })
  const secret = await store.secret!()
  await openRecord(store, [secret], randomBytes)
  const box = createSecretCipher([secret])
  const account = newAccount({ id: 'acme' })
  const apiKey = encryptApiKey(box, 'acme', 'k'.repeat(40), 'v1', new Uint8Array(API_KEY_NONCE_BYTES))
  await store.accounts.insert(account, apiKey, [])
  const webhook = newWebhook({ accountId: 'acme' })
  await store.webhooks.insert(webhook)
  for (const callId of ['one', 'two', 'one', 'two', 'one', 'two']) {
    const event = newEvent({ accountId: 'acme', callId })
    await acceptAll(store, [event], [newDelivery(webhook, event)])
  }
  await store.close()
}

const positions = createPositions(0)

/** Accepts events and their deliveries, as a node without a lease does. */
export async function acceptAll(
  store: Store,
  events: readonly NewEvent[],
  deliveries: readonly NewDelivery[],
): Promise<void> {
  const now = Date.now()
  for (const event of events) event.position = positions.next(now)
  for (const delivery of deliveries) {
    delivery.position = events.find(({ id }) => id === delivery.eventId)!.position!
  }
  const accepted = [{ events, deliveries }]
  const empty = { ended: [], finished: [], pending: 0, isRepeat: false }
  await store.deliveries.commit({ lease: undefined, version: 0, now, accepted, ...empty })
}

/** Reads everything that a store returns. */
export async function readEverything(store: Store, { webhooks, tokens }: FilledFile): Promise<unknown> {
  const { accounts, deliveries } = store
  const accountIds = (await accounts.list()).map(({ id }) => id)
  const found: Record<string, unknown> = {
    accounts: await accounts.list(),
    webhooks: await store.webhooks.list(accountIds),
    tokens: await Promise.all(tokens.map((token) => store.tokens.read(hashToken(token)))),
    lastSuccesses: await deliveries.lastSuccesses(Object.values(webhooks)),
    openLegs: await Promise.all(SOURCES.map((source) => store.openLegs.list(source, undefined, 99))),
  }
  for (const id of accountIds) {
    found[`users of ${id}`] = await accounts.users(id)
    found[`key of ${id}`] = await accounts.apiKey(id)
    for (const callId of [...CALLS, ...STAGED_CALLS, 'call-a-b', 'keyed']) {
      found[`legs of ${id} ${callId}`] = await deliveries.legs(id, callId)
      found[`attempts of ${id} ${callId}`] = await deliveries.attempts({
        accountId: id,
        callIds: [callId],
        limit: 500,
      })
    }
    for (const ascending of [true, false]) {
      found[`attempts of ${id} ${ascending}`] = await readAllPages((page) =>
        deliveries.attempts({ accountId: id, ascending, ...page }),
      )
    }
  }
  for (const [name, webhookId] of Object.entries(webhooks)) {
    found[name] = await deliveries.webhookOf(webhookId)
    for (const ascending of [true, false]) {
      const rows = await readAllPages((page) =>
        deliveries.deliveries({ accountId: 'parent', webhookId, ascending, ...page }),
      )
      found[`deliveries of ${name} ${ascending}`] = withoutPlaces(rows)
    }
  }
  return found
}

/** Without the numbers of deliveries ahead, which the SQLite store leaves to the queue, and due times that depend on them. */
function withoutPlaces(rows: readonly StoredDelivery[]): readonly object[] {
  const heads = new Map<string, number>()
  for (const { state, lane, position } of rows) {
    if (state === 'waiting') heads.set(lane, Math.min(position, heads.get(lane) ?? position))
  }
  return rows.map(({ ahead: _, dueMs, ...row }) =>
    heads.get(row.lane) === row.position ? { ...row, dueMs } : row,
  )
}

interface Page {
  readonly cursor?: number
  readonly limit: number
}

/** Reads all pages. */
async function readAllPages<Item extends { readonly position: number }>(
  read: (page: Page) => Promise<readonly Item[]>,
): Promise<readonly Item[]> {
  const all: Item[] = []
  for (;;) {
    const cursor = all.at(-1)?.position
    const page = await read({ limit: 4, ...(cursor === undefined ? {} : { cursor }) })
    if (page.length === 0) return all
    all.push(...page)
  }
}
