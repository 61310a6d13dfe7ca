// @ts-check
/**
 * Times the migration of a large store of version 0.1: `node test/bench/old-store.js [--store sqlite|postgres] [--rows 1000000]
 * [--kill-after MS] [--folder /tmp]`, after `npm run build:run`.
 *
 * Fills the old tables by SQL with pending deliveries, two of each event, and opens the store in another process. With
 * `--kill-after` that process is killed (SIGKILL), and started again. Then nothing may be missing.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'tsup'
import { exitWithMessage, parseWholeNumber, readRunFlags } from '../support/run-flags.js'

const path = (/** @type {string} */ name) => fileURLToPath(new URL(`../../${name}`, import.meta.url))

const values = readRunFlags({
  store: { type: 'string', default: 'sqlite' },
  rows: { type: 'string', default: '1000000' },
  'kill-after': { type: 'string' },
  folder: { type: 'string', default: '/tmp' },
})
const rows = parseWholeNumber('rows', values.rows)
const killAfterMs =
  values['kill-after'] === undefined ? 0 : parseWholeNumber('kill-after', values['kill-after'])
if (!['sqlite', 'postgres'].includes(values.store)) exitWithMessage('--store takes sqlite or postgres')

const WEBHOOKS = 100
const PER_EVENT = 2
const EVENTS_PER_CALL = 8
const BODY_BYTES = 959
const NOW_MS = Date.UTC(2026, 0, 1)
const events = Math.ceil(rows / PER_EVENT)

/** @param {string} number SQL */
const webhookDoc = (number) =>
  `'{"id":"webhook-' || ${number} || '","accountId":"account","settings":{"name":"w","uri":"https://receiver.example.com/","hook":"channel_create","httpVerb":"post","retries":2,"format":"json","enabled":true,"includeSubaccounts":false,"includeInternalLegs":true,"ordering":"call"},"secrets":[],"createdMs":1,"modifiedMs":1,"enabledMs":1,"revision":1,"epoch":1}'`
/**
 * Hexadecimal ids, as version 0.1 made them: those of deliveries have nothing of their event's.
 *
 * @param {string} prefix @param {string} number SQL @param {(number: string) => string} pad
 */
const id = (prefix, number, pad) => `'${prefix}' || ${pad(number)}`

async function loadSchemas() {
  const outDir = path('node_modules/.bench')
  await build({
    entry: [path('test/bench/old-schemas.ts')],
    config: false,
    outDir,
    outExtension: () => ({ js: '.mjs' }),
    format: ['esm'],
    silent: true,
    external: ['pg', '@photostructure/sqlite'],
    noExternal: [/^hookswitch/],
    esbuildOptions(options) {
      options.alias = { 'hookswitch/store': path('src/store/index.ts') }
    },
  })
  return import(`${outDir}/old-schemas.mjs`)
}

/** @param {any} schemas @param {string} folder */
function fillFile({ createOldFile }, folder) {
  const file = join(folder, 'old.db')
  const db = createOldFile(file, 1)
  const series = (/** @type {number} */ count) =>
    `with recursive n (i) as (select 0 union all select i + 1 from n where i < ${count - 1})`
  const pad = (/** @type {string} */ number) => `printf('%024d', ${number})`
  // One counter gives events and deliveries their numbers, as it did.
  const eventKey = (/** @type {string} */ i) => `(1000 + ${i} * ${PER_EVENT + 1})`
  db.exec(`pragma synchronous = off; begin;
    insert into hookswitch_account_key (key, id) values (1, 'account');
    ${series(WEBHOOKS)} insert into hookswitch_webhook (key, id, account, hook, epoch, deleted_ms, health, doc)
      select i + 1, 'webhook-' || i, 1, 'channel_create', 1, null, null, ${webhookDoc('i')} from n;
    ${series(Math.ceil(events / EVENTS_PER_CALL))}
      insert into hookswitch_call (key, account, call_key, sequence, last_ms, call_id)
      select i + 1, 1, i, ${EVENTS_PER_CALL}, ${NOW_MS}, 'call-' || i from n;
    ${series(events)} insert into hookswitch_event (key, id, account, call, call_id, hook, timestamp_ms, variants, body)
      select ${eventKey('i')}, ${id('00000000', 'i', pad)}, 1, i / ${EVENTS_PER_CALL} + 1, 'call-' || (i / ${EVENTS_PER_CALL}), 'channel_create',
        ${NOW_MS}, 1, printf('{"number":%09d,"padding":"%.*c"}', i, ${BODY_BYTES - 35}, 'x') from n;
    ${series(rows)} insert into hookswitch_delivery (position, id_key, webhook, event, epoch, state, due_ms, attempts, tries, interruptions,
        fence, lane_key, variant, accepted_ms, id, encoding, http_verb, lane)
      select ${eventKey(`(i / ${PER_EVENT})`)} + 1 + i % ${PER_EVENT}, i, (i / ${PER_EVENT * EVENTS_PER_CALL} * 7 + i % ${PER_EVENT}) % ${WEBHOOKS} + 1,
        ${eventKey(`(i / ${PER_EVENT})`)}, 1, 0, ${NOW_MS}, 0, 0, 0, 0, i / ${PER_EVENT * EVENTS_PER_CALL}, 0, ${NOW_MS},
        ${id('10000000', 'i', pad)}, 'json', 'post', 'account/call-' || (i / ${PER_EVENT * EVENTS_PER_CALL}) from n;
    update hookswitch_meta set value = 1000 + ${events} * ${PER_EVENT + 1} + 100000 where name = 'position';
    commit; pragma wal_checkpoint(truncate)`)
  db.close()
  return file
}

/** SQL that fills a schema of version 0.1. */
function postgresRows() {
  const pad = (/** @type {string} */ number) => `lpad((${number})::text, 24, '0')`
  const eventPosition = (/** @type {string} */ i) => `(1000 + ${i} * ${PER_EVENT + 1})::bigint`
  const lane = `'account/call-' || (i / ${PER_EVENT * EVENTS_PER_CALL})`
  const webhookKey = `(i / ${PER_EVENT * EVENTS_PER_CALL} * 7 + i % ${PER_EVENT}) % ${WEBHOOKS} + 1`
  return `set synchronous_commit = off;
    insert into webhook (id, key, account_id, hook, revision, epoch, shard, origin, paused_ms, failing, probed, stale, doc) overriding system value
      select 'webhook-' || i, i + 1, 'account', 'channel_create', 1, 1, i % 64, 'https://receiver.example.com', 0, false, false, false,
        ${webhookDoc('i')} from generate_series(0, ${WEBHOOKS - 1}) i;
    insert into call (last_ms, sequence, account_id, call_id)
      select ${NOW_MS}, ${EVENTS_PER_CALL}, 'account', 'call-' || i from generate_series(0, ${Math.ceil(events / EVENTS_PER_CALL) - 1}) i;
    insert into event (position, variant, timestamp_ms, id, account_id, call_id, hook, body)
      select ${eventPosition('i')}, 0, ${NOW_MS}, ${id('00000000', 'i', pad)}, 'account', 'call-' || (i / ${EVENTS_PER_CALL}), 'channel_create',
        '{"number":' || i || ',"padding":"' || repeat('x', ${BODY_BYTES - 30}) || '"}' from generate_series(0, ${events - 1}) i;
    insert into delivery (position, event, due_ms, accepted_ms, webhook_key, variant, epoch, shard, state, id, lane, encoding, http_verb)
      select ${eventPosition(`(i / ${PER_EVENT})`)} + 1 + i % ${PER_EVENT}, ${eventPosition(`(i / ${PER_EVENT})`)},
        case when i / ${PER_EVENT} % ${EVENTS_PER_CALL} = 0 then ${NOW_MS} end, ${NOW_MS}, ${webhookKey}, 0, 1, (${webhookKey} - 1) % 64, 0,
        ${id('10000000', 'i', pad)}, ${lane}, 'json', 'post' from generate_series(0, ${rows - 1}) i;
    insert into lane (webhook_key, open, lane) select webhook_key, count(*), lane from delivery group by 1, 3;
    select setval('position', 1000 + ${events} * ${PER_EVENT + 1});
    analyze event, delivery, call`
}

/**
 * Opens the store in another process, and kills it after `killMs` if that is above 0. Returns seconds, or undefined if it was
 * killed.
 *
 * @param {object} location @param {number} killMs
 */
async function open(location, killMs = 0) {
  const child = fork(path('test/bench/children/store-opener.js'), [JSON.stringify(location)])
  const began = performance.now()
  const timer = killMs > 0 ? setTimeout(() => child.kill('SIGKILL'), killMs) : undefined
  const [code] = await once(child, 'exit')
  clearTimeout(timer)
  if (code !== 0 && code !== null) throw new Error(`opening the store failed with exit code ${code}`)
  return code === 0 ? (performance.now() - began) / 1000 : undefined
}

const schemas = await loadSchemas()
const folder = mkdtempSync(join(values.folder, 'hookswitch-old-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
/** @param {string} what @param {number | string | undefined} value */
const print = (what, value) =>
  console.log(`${what.padEnd(44)}${typeof value === 'number' ? value.toFixed(1) : value}`)
const began = performance.now()
if (values.store === 'sqlite') {
  const file = fillFile(schemas, folder)
  print('filled, s', (performance.now() - began) / 1000)
  print('file, MB', statSync(file).size / 2 ** 20)
  const location = { kind: 'sqlite', path: file }
  if (killAfterMs > 0) print('killed, s', (await open(location, killAfterMs)) ?? killAfterMs / 1000)
  print(killAfterMs > 0 ? 'resumed and completed, s' : 'migrated, s', await open(location))
  print('file, MB', statSync(file).size / 2 ** 20)
  const db = schemas.openFile(file)
  const [{ waiting, lanes, bodies }] = /** @type {any[]} */ (
    db
      .prepare(`select (select count(*) from hookswitch_waiting) as waiting, (select count(distinct lane) from hookswitch_waiting) as lanes,
      (select count(*) from hookswitch_event where length(body) > 900) as bodies`)
      .all()
  )
  check({ waiting, lanes, bodies })
} else {
  const server = await schemas.privatePostgres({ max_wal_size: '4GB' })
  if (!server) exitWithMessage('PostgreSQL is not installed')
  await schemas.createSchemaAt(server, 'old', 6, postgresRows())
  print('filled, s', (performance.now() - began) / 1000)
  const location = { kind: 'postgres', connectionString: server.url, schema: 'old' }
  if (killAfterMs > 0) print('killed, s', (await open(location, killAfterMs)) ?? killAfterMs / 1000)
  print(killAfterMs > 0 ? 'resumed and completed, s' : 'migrated, s', await open(location))
  const [counts] = await server.sql(`select (select count(*)::int from old.waiting) as waiting,
    (select count(distinct lane)::int from old.waiting) as lanes, (select count(*)::int from old.event where length(body) > 900) as bodies`)
  await server.end()
  check(counts)
}

/** @param {{ waiting: number, lanes: number, bodies: number }} counts */
function check({ waiting, lanes, bodies }) {
  print('waiting deliveries', String(waiting))
  const isComplete = waiting === rows && lanes === Math.ceil(events / EVENTS_PER_CALL) && bodies === events
  print('complete', isComplete ? 'yes' : `NO: ${lanes} lanes, ${bodies} bodies`)
  process.exitCode = isComplete ? 0 : 1
}
