import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { postgresForTests } from './pg-cluster.js'
import {
  gate,
  openNode,
  type QueryHooks,
  type QueueNode,
  waitForBlockedSessions,
} from './postgres-queue-harness.js'

const server = await postgresForTests()
afterAll(() => server?.end())

describe.skipIf(!server)('a lane while one delivery ends and another is accepted', () => {
  const direct = server!
  let node: QueueNode
  afterEach(() => node.close())

  /** A node with the head of a lane in flight. `holdCommit` delays the next COMMIT until it is opened. */
  async function withInFlightHead() {
    const hooks: { -readonly [Name in keyof QueryHooks]: QueryHooks[Name] } = {}
    node = await openNode(direct, { schema: direct.freshSchema(), hooks })
    await node.own()
    const webhook = await node.webhook()
    await node.accept([webhook], { callId: 'call' })
    const claims = await node.claim([webhook])
    expect(claims).toHaveLength(1)
    const holdCommit = () => {
      const delay = gate()
      const reached = gate()
      let first = true
      hooks.before = async (text) => {
        if (text !== 'COMMIT' || !first) return
        first = false
        reached.open()
        await delay.passed
      }
      return { reached: reached.passed, open: delay.open }
    }
    return { webhook, claims, holdCommit }
  }

  // One statement locks the lane and a later one promotes its next delivery. With a single statement the settlement,
  // which waits here for the acceptance, would not see the new delivery, and the lane would stop for ever.
  it('continues with a delivery that was accepted while the settlement waited for the lock', async () => {
    const { webhook, claims, holdCommit } = await withInFlightHead()
    const commit = holdCommit()
    const accepting = node.accept([webhook], { callId: 'call' })
    await commit.reached
    const settling = node.settle(claims)
    await waitForBlockedSessions(direct)
    commit.open()
    const [id] = await accepting
    const [settled] = await settling
    expect(settled).toMatchObject({ kind: 'settled', endpoint: { dueMs: node.now() } })
    expect((await node.claim([webhook])).map(({ delivery }) => delivery.id)).toEqual([id])
  })

  it('starts again with a delivery that was accepted while its last one ended', async () => {
    const { webhook, claims, holdCommit } = await withInFlightHead()
    const commit = holdCommit()
    const settling = node.settle(claims)
    await commit.reached
    const accepting = node.accept([webhook], { callId: 'call' })
    await waitForBlockedSessions(direct)
    commit.open()
    expect(await settling).toMatchObject([{ kind: 'settled', endpoint: { dueMs: undefined } }])
    const [id] = await accepting
    expect((await node.claim([webhook])).map(({ delivery }) => delivery.id)).toEqual([id])
  })

  it('keeps the order of two nodes that accept at the same time', async () => {
    const { webhook, claims, holdCommit } = await withInFlightHead()
    const other = await openNode(direct, { schema: node.schema, owner: 'node-2' })
    const commit = holdCommit()
    const first = node.accept([webhook], { callId: 'call' })
    await commit.reached
    const second = other.accept([webhook], { callId: 'call' })
    await waitForBlockedSessions(direct)
    commit.open()
    const order = [...(await first), ...(await second)]
    await node.settle(claims)
    const sent: string[] = []
    for (let index = 0; index < 2; index += 1) {
      const next = await node.claim([webhook])
      sent.push(...next.map(({ delivery }) => delivery.id))
      await node.settle(next)
    }
    expect(sent).toEqual(order)
    await other.close()
  })
})
