/**
 * A node whose wall clock is hours off, on a store that other nodes share: nothing that it sends, shows or stores has
 * its time, and the node says so.
 */
import { createHookswitch, type Hookswitch, memoryStore, verify } from 'hookswitch'
import type { GaugeReading, Sender } from 'hookswitch/adapter'
import { postgresStore } from 'hookswitch/postgres'
import type { Store } from 'hookswitch/store'
import { manualClock, until } from 'hookswitch/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/runtime/clock.js'
import { postgresForTests } from '../adapters/storage/pg-cluster.js'
import { fakeSender, responseWith } from '../delivery/harness.js'

const server = await postgresForTests()

const HOUR_MS = 3_600_000
const WRONG_MS = 5.3 * HOUR_MS
const NEAR_MS = 0.2 * HOUR_MS
const GREGORIAN_SECONDS = 62_167_219_200

/** What the text of a value contains that is a time by the wrong clock: it, or 24 hours after it. */
function wrongTimes(value: unknown, aheadMs: number): string[] {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const wrongMs = Date.now() + aheadMs
  const isWrong = (ms: number) =>
    [0, 24 * HOUR_MS].some((laterMs) => Math.abs(ms - laterMs - wrongMs) < NEAR_MS)
  const numbers = text.match(/\b\d{10,13}\b/g) ?? []
  const dates = text.match(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g) ?? []
  return [
    ...numbers.filter((number) => {
      const value = Number(number)
      return isWrong(value) || isWrong(value * 1000) || isWrong((value - GREGORIAN_SECONDS) * 1000)
    }),
    ...dates.filter((date) => isWrong(Date.parse(date))),
  ]
}

const schemas = new WeakMap<() => Store, string>()

const memory = () => {
  const store = memoryStore({ shared: true, clock: systemClock() })
  return () => store
}

function postgres() {
  const schema = server!.freshSchema()
  const make = () => postgresStore({ connectionString: server!.url, schema, maxConnections: 3 })
  schemas.set(make, schema)
  return make
}

/** All rows of all tables, as text. */
async function dump(make: () => Store): Promise<string> {
  const schema = schemas.get(make)
  if (schema === undefined) return ''
  const tables = (await server!.sql(
    'select table_name as name from information_schema.tables where table_schema = $1',
    [schema],
  )) as { name: string }[]
  const rows = await Promise.all(
    tables.map(({ name }) =>
      server!.sql(`select row_to_json(t)::text as row from "${schema}"."${name}" t`, []),
    ),
  )
  return JSON.stringify(rows)
}

async function start(makeStore: () => Store, aheadMs: number) {
  const sender = fakeSender()
  const hs = createHookswitch({
    store: makeStore(),
    secret: 'the secret of these tests',
    sender: sender as Sender,
    clock: { ...systemClock(), now: () => Date.now() + aheadMs },
    ingest: true,
  }) as Hookswitch
  await hs.start()
  onTestFinished(() => hs.close({ drainMs: 0 }))
  return { hs, sender }
}

const stores = [
  { name: 'memory', make: memory, isThere: true },
  { name: 'PostgreSQL', make: postgres, isThere: server !== undefined },
]

for (const { name, make, isThere } of stores) {
  describe.skipIf(!isThere)(`a node whose clock is hours off, on ${name}`, () => {
    for (const aheadMs of [WRONG_MS, -WRONG_MS]) {
      it(`sends, shows and stores no time of a clock that is ${aheadMs > 0 ? 'ahead' : 'behind'}`, async () => {
        const makeStore = make()
        const { hs, sender } = await start(makeStore, aheadMs)
        sender.script = ({ url }) => responseWith(url.includes('bad') ? 500 : 200)
        const account = await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
        const user = await hs.accounts.addUser('acme', {
          username: 'ann',
          password: 'a long password of hers',
        })
        const webhook = (hook: string, name: string, settings: object = {}) =>
          hs.webhooks.create('acme', { name, uri: `https://${name}.example/`, hook, ...settings })
        const good = await webhook('channel_create', 'good', { maxAgeSeconds: 60 })
        const bad = await webhook('channel_create', 'bad')
        await webhook('channel_create', 'bad-once', { retries: 0 })
        await webhook('delivery_exhausted', 'good-meta')
        const items: unknown[] = []
        const streaming = new AbortController()
        onTestFinished(() => streaming.abort())
        const reading = (async () => {
          const types = ['attempt', 'event', 'webhook'] as const
          for await (const item of hs.stream({
            accountId: 'acme',
            types: [...types],
            signal: streaming.signal,
          }))
            items.push(item)
        })()
        const published = await hs.publish({
          hook: 'channel_create',
          accountId: 'acme',
          callId: 'call',
          idempotencyKey: 'key',
        } as never)
        await until(() => sender.requests.length >= 4, { description: 'the meta event is sent' })
        const oldSecret = await hs.webhooks.secret('acme', good.id)
        await hs.webhooks.rotateSecret('acme', good.id)
        await hs.webhooks.test('acme', good.id)
        await until(() => sender.requests.length >= 5)
        const { token, expiresMs } = await hs.auth.signIn({ apiKey: account.apiKey! })
        await until(async () => (await hs.webhooks.attempts('acme', good.id)).length >= 2)
        await until(() => items.length > 0)

        const range = { step: 60 } as const
        const http = async (url: string, method = 'GET', body?: object) =>
          hs.handle({
            method,
            url: `/v1/accounts/acme${url}`,
            headers: { 'x-auth-token': token, 'content-type': 'application/json' },
            body: body === undefined ? '' : JSON.stringify(body),
          })
        const event = { hook: 'channel_create', accountId: 'acme', callId: 'other' }
        const shown = {
          account,
          user,
          good,
          published,
          expiresMs,
          account2: await hs.accounts.update('acme', { name: 'ACME' }),
          patched: await hs.webhooks.patch('acme', bad.id, { name: 'worse' }),
          webhooks: await hs.webhooks.list('acme'),
          attempts: await hs.webhooks.attempts('acme', bad.id),
          deliveries: await hs.webhooks.deliveries('acme', bad.id),
          overview: await hs.operator.overview(),
          health: await hs.webhooks.health('acme'),
          stats: await hs.webhooks.stats('acme', bad.id, range),
          call: await hs.webhooks.call('acme', 'call'),
          match: await hs.webhooks.match('acme', event),
          preview: await hs.webhooks.preview('acme', {
            name: 'p',
            uri: 'https://p.example/',
            hook: 'all',
          } as never),
          removed: await hs.webhooks.remove('acme', bad.id),
          http: [
            await http('/webhooks'),
            await http('/events', 'PUT', { data: { hook_event: 'channel_create', call_id: 'third' } }),
            await http('/webhooks/health'),
          ],
          items,
          requests: sender.requests,
        }
        for (const [what, value] of Object.entries(shown))
          expect([what, wrongTimes(value, aheadMs)]).toEqual([what, []])
        expect(wrongTimes(await dump(makeStore), aheadMs)).toEqual([])

        const [request] = sender.requests.filter(({ url }) => url.includes('good.'))
        const headers = Object.fromEntries(
          Array.from({ length: request!.headers.length / 2 }, (_, i) => [
            request!.headers[2 * i]!,
            request!.headers[2 * i + 1]!,
          ]),
        )
        expect(verify({ headers, body: request!.body! }, oldSecret)).toMatchObject({ ok: true })
        // Both secrets sign for 24 hours.
        const test = sender.requests.filter(({ url }) => url.includes('good.')).at(-1)!
        expect(test.headers[test.headers.indexOf('webhook-signature') + 1]!.split(' ')).toHaveLength(2)
        // A node with the right clock takes the token.
        const other = await start(makeStore, 0)
        expect(await other.hs.auth.authenticate(token)).toMatchObject({ accountId: 'acme' })
        streaming.abort()
        await reading
      })
    }
  })
}

it('a node whose clock is set wrong says so, shows it as a metric, and says when it is right again', async () => {
  const machine = manualClock()
  let wrongMs = 0
  const store = memoryStore({ shared: true, clock: { ...machine, now: () => machine.now() - wrongMs } })
  const lines: string[] = []
  const write = (fields: object, message: string) => void lines.push(`${JSON.stringify(fields)} ${message}`)
  let read: () => Promise<readonly GaugeReading[]> = async () => []
  const hs = createHookswitch({
    store,
    clock: machine,
    log: { debug: write, info: write, warn: write, error: write },
    metrics: {
      count() {},
      observe() {},
      watch(reader) {
        read = reader
      },
    },
  })
  await hs.start()
  onTestFinished(() => hs.close({ drainMs: 0 }))
  const deviation = async () =>
    (await read()).find(({ name }) => name === 'hookswitch_clock_deviation_seconds')?.value
  await machine.advance(60_000)
  expect([await deviation(), lines]).toEqual([0, []])
  wrongMs = 45_500
  await machine.advance(60_000)
  expect(await deviation()).toBe(45.5)
  wrongMs = 0
  await machine.advance(60_000)
  expect(await deviation()).toBe(0)
  expect(lines).toEqual([
    `{"deviationSeconds":46} the clock of this machine is wrong, or the store's is: they differ by more than 30 s`,
    `{"deviationSeconds":0} the clock of this machine agrees with the store's again`,
  ])
})
