import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { constant, createHookswitch, type Hookswitch } from 'hookswitch'
import { createServer } from 'hookswitch/node'
import { sqliteStore } from 'hookswitch/sqlite'
import type { Log, Store } from 'hookswitch/store'
import { hang, type ScriptedReceiver, status, until } from 'hookswitch/testkit'
import { loadDriver } from '../../../adapters/storage/sqlite/driver.js'
import { hostInbox } from '../../../adapters/storage/sqlite/host-inbox.js'
import { API_KEY_NONCE_BYTES, apiKeyRow } from '../../../src/accounts/api-key.js'
import { tokenHash } from '../../../src/auth/token.js'
import { systemClock } from '../../../src/clock.js'
import { stage } from '../../../src/delivery/admit.js'
import { newAccount, newDelivery, newEvent, newWebhook } from '../../../src/store/conformance/fixtures.js'
import { secretBox } from '../../../src/values/seal.js'
import { type Answer, ask } from '../../service/client.js'
import { ACCOUNTS, API_KEY, created, listen, shut } from '../../service/running.js'

export const log: Log = { debug() {}, info() {}, warn() {}, error() {} }
const HOUR_MS = 3_600_000
const md5Of = (text: string) => createHash('md5').update(text).digest('hex')

/** A service with its HTTP face. */
export interface Served {
  readonly hs: Hookswitch
  get(path: string, token: string): Promise<Answer>
  close(): Promise<void>
}

/** @param aheadMs how much later it is: what waits for another try has not long to wait then */
export async function served(store: Store, secret?: string, aheadMs = 0): Promise<Served> {
  const system = systemClock()
  const hs = createHookswitch({
    store,
    allowLocal: true,
    retryPolicy: constant(aheadMs > 0 ? 1 : HOUR_MS / 1000, { jitter: 0 }),
    clock: { ...system, now: () => system.now() + aheadMs },
    ...(secret === undefined ? {} : { secret }),
  })
  await hs.start()
  const server = createServer(hs)
  const port = await listen(server)
  return {
    hs,
    get: (path, token) => ask(port, 'GET', `/v1/accounts/parent${path}`, { token }),
    async close() {
      await hs.close({ drainMs: 0 })
      await shut(server)
    },
  }
}

/** What a file was filled with. */
export interface Filled {
  readonly path: string
  readonly secret: string
  readonly tokens: readonly string[]
  readonly webhooks: Readonly<Record<'steady' | 'failing' | 'hangs' | 'doomed' | 'off' | 'deleted', string>>
  /** Its API answers, by path, which must not change. */
  readonly answers: ReadonlyMap<string, unknown>
}

export const KEYED = { idempotencyKey: 'once' }
export const CALLS = ['call-a', 'call-b', 'call-c', 'call-of-child']

/**
 * A file with some of everything: tokens of a key and of a user, webhooks of all sorts, deliveries in every state, lanes
 * with many behind each other, what a dead node had in flight, and what a host wrote in its own transaction.
 */
export async function filledFile(path: string, receiver: ScriptedReceiver): Promise<Filled> {
  const { hs, get, close } = await served(sqliteStore({ path, inThread: true }))
  for (const account of ACCOUNTS) await hs.accounts.create({ ...account })
  await hs.accounts.create({ id: 'gone', name: 'Gone', realm: 'gone.example.com' })
  await hs.accounts.remove('gone')
  const user = { credentials: md5Of('Ada:lovelace'), realm: 'parent.example.com' }
  const tokens: string[] = []
  for (const login of [{ apiKey: API_KEY }, user]) tokens.push((await hs.auth.signIn(login)).token)

  receiver.on('/failing', [status(500)])
  receiver.on('/hangs', [hang()])
  receiver.on('/doomed', [status(500)])
  const make = async (name: string, more: object = {}) =>
    (await hs.webhooks.create('parent', { name, uri: receiver.url(`/${name}`), hook: 'all', ...more })).id
  const webhooks = {
    steady: await make('steady', { includeSubaccounts: true, customRequestHeaders: { 'x-own': 'secret' } }),
    failing: await make('failing', { format: 'form-data', retries: 4 }),
    hangs: await make('hangs', { customData: { mine: 'yes' } }),
    doomed: await make('doomed'),
    off: await make('off'),
    deleted: await make('deleted'),
  }
  for (const round of [1, 2, 3]) {
    for (const callId of CALLS.slice(0, 3)) {
      const other = { otherLegCallId: `${callId}-b`, from: `round-${round}@x` }
      await hs.publish(created(callId, other), {
        idempotencyKey: `${callId} ${round}`,
        traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
      })
    }
    await hs.publish({ ...created(CALLS[3]!), accountId: 'child' })
  }
  await hs.publish(created('keyed'), KEYED)
  const endedOf = async (id: string) =>
    (await hs.webhooks.deliveries('parent', id, { states: ['delivered'] })).length
  await until(async () => (await endedOf(webhooks.steady)) === 13)
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
  await leaveBehind(path, webhooks.hangs, webhooks.doomed)
  const secret = readFileSync(`${path}.key`, 'utf8').trim()
  return { path, secret, tokens, webhooks, answers }
}

/** What a node that was killed leaves in flight, a webhook disabled at that moment, and what a host wrote meanwhile. */
async function leaveBehind(path: string, inFlight: string, disabled: string): Promise<void> {
  const store = sqliteStore({ path, inThread: true })
  const clock = systemClock()
  await store.open({ clock, log })
  const { storeMs: now } = await store.deliveries.own('a node that dies', 30_000)
  const endpoints = [{ webhookId: inFlight, room: 2 }]
  const { claims } = await store.deliveries.claim({ owner: 'a node that dies', endpoints, limit: 2, now })
  if (claims.length !== 2) throw new Error(`${claims.length} in flight in place of 2`)
  const row = (await store.webhooks.read('parent', disabled))!
  const settings = { ...row.settings, enabled: false }
  await store.webhooks.replace(
    { ...row, settings, epoch: row.epoch + 1, revision: row.revision + 1 },
    row.revision,
  )
  await store.close()

  const { DatabaseSync } = loadDriver()
  const database = new DatabaseSync(path)
  const inbox = hostInbox(database, () => {})
  for (const callId of STAGED) {
    const doors = { clock, knowsHook: () => true, newId: () => `staged ${callId} ${inboxed++}` }
    inbox.put(database, stage(doors, created(callId), undefined))
  }
  inbox.stop()
  database.close()
}
let inboxed = 0
export const STAGED = ['call-a', 'call-staged', 'call-staged']

/** Of `smallFile`: three deliveries in each of two lanes. */
export const SMALL = { accounts: 1, apiKeys: 1, webhooks: 1, calls: 2, events: 6, deliveries: 6 }

/** A file of a service that was stopped, made in a moment: its key, an account, a webhook and what waits for it. */
export async function smallFile(path: string): Promise<void> {
  const store = sqliteStore({ path, inThread: true })
  await store.open({ clock: systemClock(), log })
  const box = secretBox([await store.secret!()])
  const account = newAccount({ id: 'acme' })
  const apiKey = apiKeyRow(box, 'acme', 'k'.repeat(40), 'v1', new Uint8Array(API_KEY_NONCE_BYTES))
  await store.accounts.insert(account, apiKey, [])
  const webhook = newWebhook({ accountId: 'acme' })
  await store.webhooks.insert(webhook)
  for (const callId of ['one', 'two', 'one', 'two', 'one', 'two']) {
    const event = newEvent({ accountId: 'acme', callId })
    const deliveries = [newDelivery(webhook, event)]
    await store.deliveries.accept({ events: [event], deliveries, maxPending: 100 }, Date.now())
  }
  await store.close()
}

/** Everything that the doors of a store show. */
export async function readOut(store: Store, { webhooks, tokens }: Filled): Promise<unknown> {
  const { accounts, deliveries } = store
  const accountIds = (await accounts.list()).map(({ id }) => id)
  const found: Record<string, unknown> = {
    accounts: await accounts.list(),
    webhooks: await store.webhooks.list(accountIds),
    tokens: await Promise.all(tokens.map((token) => store.tokens.read(tokenHash(token)))),
    pending: await deliveries.pending(),
  }
  for (const id of accountIds) {
    found[`users of ${id}`] = await accounts.users(id)
    found[`key of ${id}`] = await accounts.apiKey(id)
    for (const callId of [...CALLS, ...STAGED, 'call-a-b', 'keyed']) {
      found[`legs of ${id} ${callId}`] = await deliveries.legs(id, callId)
      found[`attempts of ${id} ${callId}`] = await deliveries.attempts({
        accountId: id,
        callIds: [callId],
        limit: 500,
      })
    }
    for (const ascending of [true, false]) {
      found[`attempts of ${id} ${ascending}`] = await paged((page) =>
        deliveries.attempts({ accountId: id, ascending, ...page }),
      )
    }
  }
  for (const [name, webhookId] of Object.entries(webhooks)) {
    found[name] = await deliveries.webhookOf(webhookId)
    for (const ascending of [true, false]) {
      found[`deliveries of ${name} ${ascending}`] = await paged((page) =>
        deliveries.deliveries({ accountId: 'parent', webhookId, ascending, ...page }),
      )
    }
  }
  return found
}

interface Page {
  readonly cursor?: number
  readonly limit: number
}

/** All pages. */
async function paged<Item extends { readonly position: number }>(
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
