/**
 * A settlement that a store always rejects because of its data: the group is split, the record is left out, the delivery is
 * settled, and other work continues. Taken for an outage, it would be repeated for ever, and the node would do nothing else.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { createHookswitch, errorCode } from 'hookswitch'
import { postgresStore } from 'hookswitch/postgres'
import { sqliteStore } from 'hookswitch/sqlite'
import type { Store } from 'hookswitch/store'
import { type ScriptedReceiver, scriptedReceiver, status } from 'hookswitch/testkit'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadDriver } from '../../../adapters/storage/sqlite/driver.js'
import { postgresForTests } from './pg-cluster.js'
import { recordingLog, temporaryFolder } from './sqlite-harness.js'

const server = await postgresForTests()
afterAll(() => server?.end())

interface OpenedStore {
  readonly store: Store
  /** Runs a statement of an operator: `@` stands for the prefix of the tables. */
  alter(sql: string): Promise<unknown>
}

async function onPostgres(): Promise<OpenedStore> {
  const schema = server!.freshSchema()
  const store = postgresStore({ connectionString: server!.url, schema, maxConnections: 4 })
  return { store, alter: (sql) => server!.sql(sql.replaceAll('@', `"${schema}".`)) }
}

async function onSqlite(): Promise<OpenedStore> {
  const { DatabaseSync } = loadDriver()
  const path = join(temporaryFolder(), 'store.db')
  return {
    store: sqliteStore({ path, inThread: true }),
    async alter(sql) {
      const database = new DatabaseSync(path)
      database.exec(sql.replaceAll('@', 'hookswitch_'))
      database.close()
    },
  }
}

/** Makes every record with the text `poison` fail. */
const triggerThat = (does: string) => `create function @refuse() returns trigger language plpgsql as $$
  begin if new.doc like '%poison%' then ${does}; end if; return new; end $$;
  create trigger refuse before insert on @attempt for each row execute function @refuse()`
const sqliteTriggerThat = (does: string) =>
  `create trigger refuse before insert on @attempt when new.doc like '%poison%' begin select ${does}; end`

const POSTGRES: Record<string, string> = {
  'a NUL character that an index of the operator reads (22P05)':
    "create index on @attempt ((doc::json ->> 'responseBody'))",
  'a number out of range (22003)': triggerThat('new.n := 2147483647 + new.n'),
  'a check constraint (23514)': "alter table @attempt add check (doc not like '%poison%')",
  'a value that is too long for an index (54000)': 'create index on @attempt (doc)',
  'a trigger (P0001)': triggerThat("raise exception 'refused'"),
}
const SQLITE: Record<string, string> = {
  'a value that is too big': sqliteTriggerThat('zeroblob(2147483647)'),
  'a trigger': sqliteTriggerThat("raise(abort, 'refused')"),
}

let receiver: ScriptedReceiver
beforeEach(async () => {
  receiver = scriptedReceiver({ timeoutMs: 25_000 })
  await receiver.start()
})
afterEach(() => receiver.close())

const CALLS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
/** Too long for an index even when it is compressed. */
const NOISE = randomBytes(5_000).toString('base64')

async function expectSettled({ store, alter }: OpenedStore, refusal: string): Promise<void> {
  const log = recordingLog()
  const hs = createHookswitch({ store, secret: 'a secret of the tests', allowLocal: true, log })
  await hs.start()
  try {
    await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
    const webhookOf = (name: string) =>
      hs.webhooks.create('acme', { name, uri: receiver.url(`/${name}`), hook: 'all' })
    const [bad, other] = [await webhookOf('bad'), await webhookOf('other')]
    await alter(refusal)
    let body = `poison\0 ${NOISE}`
    receiver.on('/bad', [{ name: 'with a body', play: (exchange) => status(200, { body }).play(exchange) }])
    const publish = (callId: string) => hs.publish({ hook: 'channel_create', accountId: 'acme', callId })
    await Promise.all(CALLS.map(publish))
    const statesOf = async ({ id }: { readonly id: string }) =>
      (await hs.webhooks.deliveries('acme', id, { limit: 99 })).map(({ state }) => state)
    const delivered = CALLS.map(() => 'delivered')
    await expect.poll(() => statesOf(other)).toEqual(delivered)
    await expect.poll(() => statesOf(bad)).toEqual(delivered)
    const recorded = async ({ id }: { readonly id: string }) =>
      (await hs.webhooks.attempts('acme', id, { limit: 99 })).length
    expect([await recorded(bad), await recorded(other)]).toEqual([0, CALLS.length])
    // The node goes on.
    body = ''
    await publish('later')
    await expect.poll(() => recorded(bad)).toBe(1)
    const requests = receiver.requests.map(({ body, path }) => `${path} ${JSON.parse(body).call_id}`)
    expect(new Set(requests).size).toBe(requests.length)
    const lines = log.lines.filter((line) => line.includes('the attempt is settled without it'))
    expect(lines).toHaveLength(CALLS.length)
    expect(log.lines.filter((line) => line.includes('committing failed'))).toEqual([])
  } finally {
    await hs.close()
  }
}

describe.skipIf(!server)('a record that PostgreSQL refuses because of', () => {
  it.each(Object.entries(POSTGRES))('%s is left out', async (_, refusal) => {
    await expectSettled(await onPostgres(), refusal)
  })
})

describe('a record that SQLite refuses because of', () => {
  it.each(Object.entries(SQLITE))('%s is left out', async (_, refusal) => {
    await expectSettled(await onSqlite(), refusal)
  })
})

describe('an event that a store refuses because of its data', () => {
  it.each([
    ['PostgreSQL', onPostgres, "alter table @event add check (call_id <> 'poison')"],
    [
      'SQLite',
      onSqlite,
      "create trigger refuse before insert on @event when new.call_id = 'poison' begin select raise(abort, 'refused'); end",
    ],
  ] as const)('is refused to its publisher alone, and for good (%s)', async (name, open, refusal) => {
    if (name === 'PostgreSQL' && !server) return
    const { store, alter } = await open()
    const hs = createHookswitch({ store, secret: 'a secret of the tests', allowLocal: true })
    await hs.start()
    try {
      await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
      await hs.webhooks.create('acme', { name: 'w', uri: receiver.url('/w'), hook: 'all' })
      await alter(refusal)
      const outcomes = await Promise.all(
        ['a', 'poison', 'b'].map((callId) =>
          hs.publish({ hook: 'channel_create', accountId: 'acme', callId }).then(() => 'accepted', errorCode),
        ),
      )
      expect(outcomes).toEqual(['accepted', 'InvalidInput', 'accepted'])
    } finally {
      await hs.close()
    }
  })
})
