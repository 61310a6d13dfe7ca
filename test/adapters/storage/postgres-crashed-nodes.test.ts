import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { SHARDS } from 'hookswitch/store'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { processIdentity, processStateOf } from '../../../adapters/storage/postgres/process-state.js'
import { postgresForTests, privatePostgres } from './pg-cluster.js'
import { openNode, type QueryHooks, type QueueNode } from './postgres-queue-harness.js'

const server = await postgresForTests()
/** It is stopped and started. */
const restarted = await privatePostgres({ autovacuum: 'off' })
afterAll(() => Promise.all([server?.end(), restarted?.end()]))

/** Polls are 1 s apart, and a session must be gone for 3 s. */
const CONFIRMED_MS = 8_000
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const children = new Set<ChildProcess>()
const opened = new Set<QueueNode>()
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL')
  await Promise.all([...opened].map((node) => node.close()))
  children.clear()
  opened.clear()
})

type Server = NonNullable<typeof server>

async function open(on: Server, schema: string, owner: string, hooks: QueryHooks = {}): Promise<QueueNode> {
  const node = await openNode(on, { schema, owner, hooks })
  opened.add(node)
  return node
}

/** Processes of other machines, of which nothing is known. */
const hideProcesses = (on: Server, schema: string) =>
  on.sql(`create function ${schema}.hide() returns trigger language plpgsql as $$ begin new.process := null; return new; end $$;
    create trigger hide before insert or update on ${schema}.node_session for each row execute function ${schema}.hide();
    update ${schema}.node_session set process = null`)

/** A process that holds the advisory lock on a key, as the session of a node does. */
async function lockHolder(
  on: Server,
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
const pretend = (on: Server, schema: string, node: QueueNode, key: string, identity: string | null) =>
  on.sql(`update ${schema}.node_session set key = $1, process = $2 where fence = $3`, [
    key,
    identity,
    node.lease.fence,
  ])

const keysOf = async (on: Server, schema: string) =>
  (await on.sql(`select key::text, process from ${schema}.node_session order by fence`)) as {
    key: string
    process: string | null
  }[]

/** Polls until the node is told to renew, then renews. */
async function renewWhenTold(node: QueueNode): Promise<number> {
  await expect
    .poll(async () => (await node.poll()).mustRenew, { timeout: CONFIRMED_MS, interval: 50 })
    .toBe(true)
  return (await node.renew()).shards.length
}

/** The nodes renew in turn, like engines that are told to. Resolves to the fences that changed. */
async function watch(nodes: readonly QueueNode[], ms: number): Promise<readonly number[]> {
  const fences = nodes.map(({ lease }) => lease.fence)
  const untilMs = performance.now() + ms
  while (performance.now() < untilMs) {
    for (const node of nodes) {
      const polled = await node.store.deliveries.poll(node.lease).catch(() => undefined)
      if (polled?.mustRenew) await node.renew().catch(() => {})
    }
    await sleep(50)
  }
  const changed: number[] = []
  for (const [index, node] of nodes.entries())
    if ((await node.renew()).fence !== fences[index]) changed.push(fences[index]!)
  return changed
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

describe.skipIf(!server || !restarted)('a node that crashes on PostgreSQL', { timeout: 40_000 }, () => {
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
    await node.store.open({
      clock: { now: Date.now } as never,
      log: { debug() {}, info() {}, warn() {}, error() {} },
    })
  })
})

describe.skipIf(!server || !restarted)('a node that lives on PostgreSQL', { timeout: 60_000 }, () => {
  /** Nodes that see no process, with all shards divided among them. */
  async function cluster(on: Server, count: number, hooks: QueryHooks = {}): Promise<readonly QueueNode[]> {
    const schema = on.freshSchema()
    const nodes: QueueNode[] = []
    for (let index = 0; index < count; index += 1) {
      nodes.push(await open(on, schema, `node-${index}`, hooks))
      if (index === 0) await hideProcesses(on, schema)
      await nodes[index]!.own()
    }
    return nodes
  }

  it('keeps its shards when its sessions are ended again and again', async () => {
    const nodes = await cluster(server!, 3)
    const watching = watch(nodes, 9_000)
    for (let round = 0; round < 6; round += 1) {
      await sleep(1_300)
      await nodes[round % 2]!.endConnections()
    }
    expect(await watching).toEqual([])
  })

  it('keeps its shards when its listening session is gone and it gets no other', async () => {
    let isRefused = false
    const hooks: QueryHooks = {
      before(text) {
        if (isRefused && text.startsWith('LISTEN')) throw new Error('no connection is free')
      },
    }
    const nodes = await cluster(server!, 1, hooks)
    const [first] = nodes
    const schema = String(
      (
        await server!.sql(
          `select nspname from pg_namespace where nspname like 'hs_%' order by oid desc limit 1`,
        )
      )[0]!.nspname,
    )
    const second = await open(server!, schema, 'second')
    await second.own()
    isRefused = true
    await first!.endConnections()
    await expect.poll(async () => (await keysOf(server!, schema)).length, { timeout: 3_000 }).toBe(1)
    expect(await watch([first!, second], 5_000)).toEqual([])
    isRefused = false
    await expect.poll(async () => (await keysOf(server!, schema)).length, { timeout: 3_000 }).toBe(2)
  })

  for (const mode of ['fast', 'immediate'] as const)
    it(`keeps its shards when the server is restarted (${mode})`, async () => {
      const nodes = await cluster(restarted!, 4)
      await sleep(1_200)
      const watching = watch(nodes, 8_000)
      await restarted!.stop(mode)
      await sleep(400)
      await restarted!.start()
      expect(await watching).toEqual([])
    })

  it('keeps its shards when the server ends all sessions because one has crashed', async () => {
    const nodes = await cluster(restarted!, 3)
    await sleep(1_200)
    const watching = watch(nodes, 8_000)
    const [row] = await restarted!.sql(
      'select pid from pg_stat_activity where pid <> pg_backend_pid() and datname is not null limit 1',
    )
    process.kill(Number(row!.pid), 'SIGKILL')
    expect(await watching).toEqual([])
  })

  it('may be away for long after a restart of the server: its lease holds', async () => {
    const schema = restarted!.freshSchema()
    let isOut = false
    const hooks: QueryHooks = {
      before() {
        if (isOut) throw Object.assign(new Error('cut off'), { code: 'ECONNRESET' })
      },
    }
    const first = await open(restarted!, schema, 'first', hooks)
    await hideProcesses(restarted!, schema)
    await first.own()
    const second = await open(restarted!, schema, 'second')
    await second.own()
    isOut = true
    await restarted!.stop('fast')
    await restarted!.start()
    await expect
      .poll(
        () =>
          second.renew().then(
            () => true,
            () => false,
          ),
        { timeout: 5_000 },
      )
      .toBe(true)
    expect(await watch([second], 6_000)).toEqual([])
    expect(second.lease.shards).toEqual([])
    isOut = false
    expect((await first.renew()).shards).toHaveLength(SHARDS)
  })
})
