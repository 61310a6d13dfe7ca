import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { SHARDS } from 'hookswitch/store'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { processIdentity, processStateOf } from '../../../adapters/storage/postgres/process-state.js'
import { type PgServer, postgresForTests } from './pg-cluster.js'
import { closeNodesAfterEach, keysOf, open, sleep, watch } from './postgres-crash-harness.js'
import type { QueryHooks, QueueNode } from './postgres-queue-harness.js'

const server = await postgresForTests()
afterAll(() => server?.end())

/** Polls are 1 s apart, and a session must be gone for 3 s. */
const CONFIRMED_MS = 8_000

const children = new Set<ChildProcess>()
closeNodesAfterEach()
afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  children.clear()
})

/** A process that holds the advisory lock on a key, as the session of a node does. */
async function lockHolder(
  on: PgServer,
  key: string,
): Promise<{ readonly child: ChildProcess; identity: string }> {
  const pg = createRequire(import.meta.url).resolve('pg')
  const program = `const pg = require(${JSON.stringify(pg)})
    const client = new pg.Client({ connectionString: ${JSON.stringify(on.url)} })
    client.connect().then(() => client.query('select pg_advisory_lock(${key})')).then(() => console.log('locked'))`
  const child = spawn(process.execPath, ['--eval', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  children.add(child)
  await once(child.stdout!, 'data')
  return { child, identity: processIdentity(child.pid)! }
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

/** Pretends that the session of a node has this key, and its process this identity. */
const pretend = (on: PgServer, schema: string, node: QueueNode, key: string, identity: string | null) =>
  on.sql(`update ${schema}.node_session set key = $1, process = $2 where fence = $3`, [
    key,
    identity,
    node.lease.fence,
  ])

/** Polls until the node is told to renew, then renews. */
async function renewWhenTold(node: QueueNode): Promise<number> {
  await expect
    .poll(async () => (await node.poll()).mustRenew, { timeout: CONFIRMED_MS, interval: 50 })
    .toBe(true)
  return (await node.renew()).shards.length
}

describe('the identity of a process', () => {
  it('tells whether it runs', async () => {
    const child = spawn(process.execPath, ['--eval', 'setInterval(() => {}, 1000)'])
    children.add(child)
    const identity = processIdentity(child.pid)
    expect(processStateOf(identity)).toBe('running')
    expect(processStateOf(processIdentity())).toBe('running')
    await kill(child)
    expect(processStateOf(identity)).toBe('gone')
    expect(processIdentity(child.pid)).toBeNull()
  })

  it('tells a process from a later one with the same id', () => {
    const [boot, space, pid, start] = processIdentity()!.split(' ')
    expect(processStateOf([boot, space, pid, Number(start) - 1].join(' '))).toBe('gone')
  })

  it('tells that a process has ended whose parent does not know it yet', async () => {
    // The shell becomes a program that waits for no child.
    const shell = spawn('sh', ['-c', 'sleep 0.2 & echo $!; exec sleep 60'])
    children.add(shell)
    const [pid] = (await once(shell.stdout!, 'data')) as [Buffer]
    const identity = processIdentity(Number(pid))
    expect(processStateOf(identity)).toBe('running')
    await expect.poll(() => processStateOf(identity)).toBe('gone')
    expect(processIdentity(Number(pid))).not.toBeNull()
  })

  it('says nothing of other machines and containers, nor of texts of others', () => {
    const [boot, space, pid, start] = processIdentity()!.split(' ')
    for (const other of [
      null,
      '',
      'x',
      [boot!.replaceAll(/\w/g, '0'), space, pid, start].join(' '),
      [boot, 'pid:[1]', pid, start].join(' '),
      [boot, space, '-1', start].join(' '),
      [boot, space, pid].join(' '),
      [boot, space, pid, start, start].join(' '),
    ])
      expect(processStateOf(other)).toBe('unknown')
  })
})

describe.skipIf(!server)('a node that crashes on PostgreSQL', { timeout: 60_000 }, () => {
  it('loses its shards at once to a node of the same machine, and its groups are fenced', async () => {
    const schema = server!.freshSchema()
    const first = await open(server!, schema, 'first')
    await first.own()
    await first.load()
    const { child, identity } = await lockHolder(server!, '4611686018427387911')
    await pretend(server!, schema, first, '4611686018427387911', identity)
    const second = await open(server!, schema, 'second')
    expect((await second.own()).shards).toEqual([])
    await kill(child)
    await expect.poll(async () => (await second.own()).shards.length, { timeout: 2_000 }).toBe(SHARDS)
    expect((await first.tryCommit()).kind).toBe('fenced')
    const again = await first.own()
    expect(again.fence).toBeGreaterThan(second.lease.fence)
    expect(again.shards).toEqual([])
  })

  it('loses them to a node that was idle, which is told', async () => {
    const schema = server!.freshSchema()
    const first = await open(server!, schema, 'first')
    await first.own()
    const second = await open(server!, schema, 'second')
    await second.own()
    const { child, identity } = await lockHolder(server!, '77')
    await pretend(server!, schema, first, '77', identity)
    await sleep(1_200)
    expect((await second.poll()).mustRenew).toBe(false)
    await kill(child)
    const killedMs = performance.now()
    expect(await renewWhenTold(second)).toBe(SHARDS)
    expect(performance.now() - killedMs).toBeLessThan(2_500)
  })

  it('loses them after three seconds to a node that cannot see its process', async () => {
    const schema = server!.freshSchema()
    const first = await open(server!, schema, 'first')
    await first.own()
    const second = await open(server!, schema, 'second')
    await second.own()
    await pretend(server!, schema, first, '78', null)
    const goneMs = performance.now()
    expect((await second.renew()).shards).toEqual([])
    expect(await renewWhenTold(second)).toBe(SHARDS)
    expect(performance.now() - goneMs).toBeGreaterThan(3_000)
  })

  it('keeps them while its process runs, although its session is gone', async () => {
    const schema = server!.freshSchema()
    const first = await open(server!, schema, 'first')
    await first.own()
    const second = await open(server!, schema, 'second')
    await second.own()
    await pretend(server!, schema, first, '79', processIdentity())
    expect(await watch([second], 5_000)).toEqual([])
    expect(second.lease.shards).toEqual([])
  })

  it('keeps them when its key changes, or its lease is renewed, in the meantime', async () => {
    const schema = server!.freshSchema()
    const first = await open(server!, schema, 'first')
    await first.own()
    const second = await open(server!, schema, 'second')
    await second.own()
    const lease = `update ${schema}.node set alive_until_ms = alive_until_ms + 1 where owner = 'first'`
    for (let round = 0; round < 3; round += 1) {
      await pretend(server!, schema, first, String(80 + (round % 2)), null)
      if (round === 1) await server!.sql(lease)
      expect(await watch([second], 2_200)).toEqual([])
    }
    expect(second.lease.shards).toEqual([])
  })

  it('keeps them behind a pooler, which gives the lock to another session', async () => {
    const schema = server!.freshSchema()
    const hooks: QueryHooks = {
      rewrite: (query) =>
        query.text.includes('pg_try_advisory_lock') ? { text: 'select true as locked', values: [] } : query,
    }
    const first = await open(server!, schema, 'first', hooks)
    await first.own()
    expect(await keysOf(server!, schema)).toHaveLength(1)
    await expect.poll(() => keysOf(server!, schema), { timeout: 3_000 }).toEqual([])
    await first.renew()
    expect(await keysOf(server!, schema)).toEqual([])
  })

  it('returns a connection of the host without its lock', async () => {
    const schema = server!.freshSchema()
    const node = await open(server!, schema, 'first')
    await node.own()
    const [row] = await keysOf(server!, schema)
    const locks = () =>
      server!.sql(
        `select from pg_locks where locktype = 'advisory' and (classid::bigint << 32) | objid::bigint = $1`,
        [row!.key],
      )
    expect(await locks()).toHaveLength(1)
    await node.store.close()
    expect(await locks()).toEqual([])
  })
})
