import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { privatePostgres } from './pg-cluster.js'
import { gate, type Interference, openNode, type QueueNode, waitingForLocks } from './postgres-queue-world.js'

const server = await privatePostgres()
afterAll(() => server?.end())

describe.skipIf(!server)('a lane while one of it ends and another is accepted', () => {
  const direct = server!
  let node: QueueNode
  afterEach(() => node.close())

  /** A node that has the first of a lane in flight; `hold` keeps the COMMIT of what runs next until it is opened. */
  async function flying() {
    const interference: { -readonly [Name in keyof Interference]: Interference[Name] } = {}
    node = await openNode(direct, { schema: direct.freshSchema(), interference })
    await node.own()
    const webhook = await node.webhook()
    await node.accept([webhook], { callId: 'call' })
    const claims = await node.claim([webhook])
    expect(claims).toHaveLength(1)
    const hold = () => {
      const held = gate()
      const reached = gate()
      let first = true
      interference.before = async (text) => {
        if (text !== 'COMMIT' || !first) return
        first = false
        reached.open()
        await held.passed
      }
      return { reached: reached.passed, open: held.open }
    }
    return { webhook, claims, hold }
  }

  // The lane is locked by one statement and its next one promoted by a later one. In one statement the settlement, which
  // waits here for the acceptance, would see the lane as it was left, and the delivery behind not at all: a lane that
  // stands still for ever.
  it('goes on with what was accepted while its settlement waited for the lock', async () => {
    const { webhook, claims, hold } = await flying()
    const commit = hold()
    const accepting = node.accept([webhook], { callId: 'call' })
    await commit.reached
    const settling = node.settle(claims)
    await waitingForLocks(direct)
    commit.open()
    const [id] = await accepting
    const [settled] = await settling
    expect(settled).toMatchObject({ kind: 'settled', endpoint: { dueMs: node.now() } })
    expect((await node.claim([webhook])).map(({ delivery }) => delivery.id)).toEqual([id])
  })

  it('begins anew with what was accepted while its last one ended', async () => {
    const { webhook, claims, hold } = await flying()
    const commit = hold()
    const settling = node.settle(claims)
    await commit.reached
    const accepting = node.accept([webhook], { callId: 'call' })
    await waitingForLocks(direct)
    commit.open()
    expect(await settling).toMatchObject([{ kind: 'settled', endpoint: { dueMs: undefined } }])
    const [id] = await accepting
    expect((await node.claim([webhook])).map(({ delivery }) => delivery.id)).toEqual([id])
  })

  it('keeps the order of two nodes that accept at once', async () => {
    const { webhook, claims, hold } = await flying()
    const other = await openNode(direct, { schema: node.schema, owner: 'node-2' })
    const commit = hold()
    const first = node.accept([webhook], { callId: 'call' })
    await commit.reached
    const second = other.accept([webhook], { callId: 'call' })
    await waitingForLocks(direct)
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
