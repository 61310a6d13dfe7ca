/**
 * An instance whose history is searched: some hundred calls that were published and delivered, and copies of them that SQL made.
 */
import { handleRequests } from '../processes.js'
import { createStore, startWithStore } from './instance.js'

const ACCOUNT = 'bench'
const KEY = 'k'.repeat(40)
const CALLS = 500
const WANTED = ['channel_create', 'channel_answer', 'channel_destroy']
const WEBHOOKS_PER_HOOK = 4
const PER_CALL = WANTED.length * WEBHOOKS_PER_HOOK
/** Copies that one statement makes. */
const CHUNK = 5
/** Each copy is so much older, in positions: more than publishing takes. */
const SPAN = 2 ** 30
/** Keys of calls in SQLite are below it. */
const KEYS = 1_000_000
/** All calls have this number. */
const SHARED = '+4989123456'

const sender = {
  send: async () => ({ kind: 'response', status: 200, headers: [], body: '', bodyEnd: 'complete' }),
  async close() {},
}

let hs
let token
let searched

const callIdOf = (index) => `leg.${index}.example`

async function publishCalls(webhookIds) {
  let left = CALLS * PER_CALL
  const delivered = new Promise((resolve) => {
    hs.events.on('delivered', () => {
      left -= 1
      if (left === 0) resolve()
    })
  })
  let last
  for (let index = 0; index < CALLS; index += 1) {
    const call = {
      accountId: ACCOUNT,
      callId: callIdOf(index),
      from: `+4930${index}0000@x`,
      to: `${SHARED}@x`,
    }
    const hooks = ['channel_create', 'channel_answer', 'channel_bridge', 'channel_destroy']
    last = await Promise.all(hooks.map((hook) => hs.publish({ ...call, hook })))
  }
  await delivered
  const [delivery] = await hs.webhooks.deliveries(ACCOUNT, webhookIds[0], { limit: 1 })
  searched = {
    'a call': callIdOf(7),
    'a number': '+493070000',
    'a number of all calls': SHARED,
    'a delivery': delivery.id,
    'an event': last[0].eventId,
    'an event that nobody wanted': last[2].eventId,
    'a webhook': webhookIds[0],
    'an unknown number': '+49000000000',
  }
}

/** What a column has in the copy `g`; other columns are the same. */
const COLUMNS = {
  event: ({ hex, minus }) => ({
    position: minus('position'),
    id: `${hex} || substr(id, 9)`,
    id_key: 'id_key - g',
    call: `call + g * ${KEYS}`,
    call_id: "call_id || '-' || g",
  }),
  call: () => ({
    key: `key + g * ${KEYS}`,
    call_key: "hash_key(call_id || '-' || g)",
    call_id: "call_id || '-' || g",
  }),
  attempt: ({ minus }) => ({
    position: minus('position'),
    event: minus('event'),
    delivery: minus('delivery'),
    key: undefined,
  }),
  unwanted_event: ({ hex }) => ({
    n: undefined,
    id: `${hex} || substr(id, 9)`,
    call_id: "call_id || '-' || g",
  }),
  unwanted: ({ hex }) => ({
    key: undefined,
    id: `${hex} || substr(id, 9)`,
    id_key: 'id_key - g',
    call_key: "hash_key(call_id || '-' || g)",
    call_id: "call_id || '-' || g",
  }),
  call_number: () => ({
    n: undefined,
    key: undefined,
    call_key: "hash_key(call_id || '-' || g)",
    call_id: "call_id || '-' || g",
  }),
}

/** The statement that inserts the copies `from` to `to` of the rows in the table `base`. */
function copyStatement({ target, base, columns, changes, series }) {
  const copied = columns.filter((name) => !(name in changes) || changes[name] !== undefined)
  const values = copied.map((name) => changes[name] ?? name)
  return `insert into ${target} (${copied.join(', ')}) select ${values.join(', ')} from ${base} cross join ${series}`
}

async function copyInPostgres({ connectionString, schema }, copies) {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString })
  await client.connect()
  const dialect = {
    hex: "lpad(to_hex(g), 8, '0')",
    minus: (name) => `${name} - ${SPAN} * g::bigint`,
  }
  await client.query('set synchronous_commit = off')
  for (const table of ['event', 'attempt', 'unwanted_event', 'call_number']) {
    const target = `"${schema}".${table}`
    await client.query(`create temp table base_${table} as select * from ${target}`)
    const { rows } = await client.query(
      `select column_name as name from information_schema.columns where table_schema = $1 and table_name = $2`,
      [schema, table],
    )
    const columns = rows.map(({ name }) => name)
    for (let first = 1; first <= copies; first += CHUNK) {
      const series = `generate_series(${first}, ${Math.min(copies, first + CHUNK - 1)}) g`
      await client.query(
        copyStatement({ target, base: `base_${table}`, columns, changes: COLUMNS[table](dialect), series }),
      )
    }
  }
  await client.query('vacuum analyze')
  await client.end()
}

/** As the adapter computes it (`hash-key.ts`). */
function hashKey(text) {
  const hash = (bits, basis, prime) => {
    let mixed = basis
    for (let index = 0; index < text.length; index += 1)
      mixed = Math.imul(mixed ^ text.charCodeAt(index), prime)
    return mixed >>> (32 - bits)
  }
  return hash(21, 0x01000193, 0x85ebca6b) * 0x1_0000_0000 + hash(32, 0x811c9dc5, 0x01000193)
}

async function copyInSqlite({ path }, copies) {
  const { DatabaseSync } = await import('@photostructure/sqlite')
  const database = new DatabaseSync(path)
  database.exec('pragma synchronous = off')
  database.function('hash_key', { deterministic: true }, hashKey)
  const dialect = { hex: "printf('%08x', g)", minus: (name) => `${name} - ${SPAN} * g` }
  for (const table of ['call', 'event', 'attempt', 'unwanted', 'call_number']) {
    const target = `hookswitch_${table}`
    database.exec(`create temp table base_${table} as select * from ${target}`)
    const columns = database
      .prepare(`select name from pragma_table_info('${target}')`)
      .all()
      .map(({ name }) => name)
    for (let first = 1; first <= copies; first += CHUNK) {
      const last = Math.min(copies, first + CHUNK - 1)
      const series = `(with recursive s (g) as (select ${first} union all select g + 1 from s where g < ${last}) select g from s)`
      database.exec(
        copyStatement({ target, base: `base_${table}`, columns, changes: COLUMNS[table](dialect), series }),
      )
    }
  }
  database.close()
}

handleRequests(
  {
    /** @param {{ location: import('../stores.js').StoreLocation, attempts: number }} input */
    async fill({ location, attempts }) {
      const open = async () => startWithStore(await createStore(location), { sender, operators: [ACCOUNT] })
      hs = await open()
      await hs.accounts.create({ id: ACCOUNT, name: ACCOUNT, realm: 'bench.example.com', apiKey: KEY })
      const webhookIds = []
      for (const hook of WANTED) {
        for (let index = 0; index < WEBHOOKS_PER_HOOK; index += 1) {
          const settings = { name: `${hook} ${index}`, uri: `https://hook-${index}.example.com/`, hook }
          webhookIds.push((await hs.webhooks.create(ACCOUNT, settings)).id)
        }
      }
      await publishCalls(webhookIds)
      await hs.close()
      const copies = Math.round(attempts / (CALLS * PER_CALL))
      await (location.kind === 'sqlite' ? copyInSqlite : copyInPostgres)(location, copies)
      hs = await open()
      token = (await hs.auth.signIn({ apiKey: KEY })).token
    },
    searches: () => ({ searches: Object.keys(searched) }),
    /** @param {{ search: string }} input */
    async run({ search }) {
      const body = JSON.stringify({ data: { q: searched[search] } })
      const headers = { 'x-auth-token': token, 'content-type': 'application/json' }
      const started = performance.now()
      const response = await hs.handle({ method: 'PUT', url: '/v1/system/why', headers, body })
      const ms = performance.now() - started
      const { data } = JSON.parse(response.body)
      if (
        response.status !== 200 ||
        (data.calls.length === 0) === (search !== 'an unknown number' && search !== 'a webhook')
      )
        throw new Error(`${search}: ${response.status}, ${data?.calls?.length} calls`)
      return { ms }
    },
  },
  () => hs?.close({ drainMs: 0 }),
)
