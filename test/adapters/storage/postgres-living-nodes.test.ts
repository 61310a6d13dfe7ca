import { SHARDS } from 'hookswitch/store'
import { afterAll, describe, expect, it } from 'vitest'
import { type PgServer, postgresForTests, privatePostgres } from './pg-cluster.js'
import { closeNodesAfterEach, hideProcesses, keysOf, open, sleep, watch } from './postgres-crash-harness.js'
import type { QueryHooks, QueueNode } from './postgres-queue-harness.js'

const server = await postgresForTests()
/** It is stopped and started. */
const restarted = await privatePostgres({ autovacuum: 'off' })
afterAll(() => Promise.all([server?.end(), restarted?.end()]))
closeNodesAfterEach()

describe.skipIf(!server || !restarted)('a node that lives on PostgreSQL', { timeout: 60_000 }, () => {
  /** Nodes that cannot see the processes of each other. */
  async function cluster(
    on: PgServer,
    count: number,
    hooks: QueryHooks = {},
    schema = on.freshSchema(),
  ): Promise<readonly QueueNode[]> {
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
    const schema = server!.freshSchema()
    const [first] = await cluster(server!, 1, hooks, schema)
    const second = await open(server!, schema, 'second')
    await second.own()
    isRefused = true
    await first!.endConnections()
    await expect.poll(async () => (await keysOf(server!, schema)).length, { timeout: 3_000 }).toBe(1)
    expect(await watch([first!, second], 5_000)).toEqual([])
    isRefused = false
    await expect.poll(async () => (await keysOf(server!, schema)).length, { timeout: 3_000 }).toBe(2)
  })

  /** The server ends all sessions, and begins anew without a restart. */
  async function crashOneSession(): Promise<void> {
    const rows = await restarted!.sql(
      'select pid from pg_stat_activity where pid <> pg_backend_pid() and datname is not null',
    )
    // A session may have ended since: that of a question whether the server answers is short.
    expect(rows.some(({ pid }) => isKilled(Number(pid)))).toBe(true)
  }

  function isKilled(pid: number): boolean {
    try {
      return process.kill(pid, 'SIGKILL')
    } catch {
      return false
    }
  }

  it('keeps its shards when the server is restarted, and when it ends all sessions because one has crashed', async () => {
    const nodes = await cluster(restarted!, 4)
    await sleep(1_200)
    const restart = async (mode: 'fast' | 'immediate') => {
      await restarted!.stop(mode)
      await sleep(400)
      await restarted!.start()
    }
    // Who counts a session that is gone needs less than five seconds.
    expect(await watch(nodes, 6_000, restart('fast'))).toEqual([])
    expect(await watch(nodes, 6_000, restart('immediate'))).toEqual([])
    expect(await watch(nodes, 6_000, crashOneSession())).toEqual([])
  })

  for (const [what, end] of [
    ['a restart of the server', () => restarted!.stop('fast').then(restarted!.start)],
    ['a crash of a session', crashOneSession],
  ] as const)
    it(`may be away for long after ${what}: its lease holds`, async () => {
      const schema = restarted!.freshSchema()
      let isOut = false
      const hooks: QueryHooks = {
        before() {
          if (isOut) throw Object.assign(new Error('cut off'), { code: 'ECONNRESET' })
        },
      }
      const [first] = await cluster(restarted!, 1, hooks, schema)
      const second = await open(restarted!, schema, 'second')
      await second.own()
      isOut = true
      await end()
      const renews = () =>
        second.renew().then(
          () => true,
          () => false,
        )
      await expect.poll(renews, { timeout: 5_000 }).toBe(true)
      expect(await watch([second], 6_000)).toEqual([])
      expect(second.lease.shards).toEqual([])
      isOut = false
      expect((await first!.renew()).shards).toHaveLength(SHARDS)
    })

  it('loses its shards after three seconds if it cannot come back from another machine, and is fenced', async () => {
    let isOut = false
    const hooks: QueryHooks = {
      before() {
        if (isOut) throw Object.assign(new Error('cut off'), { code: 'ECONNRESET' })
      },
    }
    const schema = server!.freshSchema()
    const [first] = await cluster(server!, 1, hooks, schema)
    await first!.load()
    const second = await open(server!, schema, 'second')
    await second.own()
    isOut = true
    await first!.endConnections()
    await expect
      .poll(async () => (await second.poll()).mustRenew, { timeout: 8_000, interval: 50 })
      .toBe(true)
    expect((await second.renew()).shards).toHaveLength(SHARDS)
    isOut = false
    expect((await first!.tryCommit()).kind).toBe('fenced')
  })
})
