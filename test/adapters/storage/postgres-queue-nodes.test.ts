import fc from 'fast-check'
import { type Claim, shardOf, type Webhook } from 'hookswitch/store'
import { seededRandom } from 'hookswitch/testkit'
import { afterAll, describe, expect, it } from 'vitest'
import { manualClock } from '../../../src/testkit/clock.js'
import { postgresForTests } from './pg-cluster.js'
import { LEASE_MS, openNode, type QueueNode } from './postgres-queue-harness.js'

const server = await postgresForTests()
afterAll(() => server?.end())

const WEBHOOKS = 12
const CALLS = 4
const STEPS = 60

type Random = ReturnType<typeof seededRandom>

/** Claims and settlements of one delivery, in the order in which this test saw them. */
interface DeliveryTrace {
  /** When its claims returned. */
  readonly claims: { readonly at: number; readonly fence: number; readonly node: string }[]
  /** When the settlement of each claim was requested. */
  readonly settlements: number[]
}

function createRecorder() {
  const traces = new Map<string, DeliveryTrace>()
  let time = 0
  const of = (id: string) => {
    const trace = traces.get(id) ?? { claims: [], settlements: [] }
    traces.set(id, trace)
    return trace
  }
  return {
    traces,
    claimed(node: QueueNode, { delivery }: Claim) {
      time += 1
      of(delivery.id).claims.push({ at: time, fence: delivery.fence, node: node.owner })
    },
    settling({ delivery }: Claim) {
      time += 1
      of(delivery.id).settlements.push(time)
    },
  }
}

describe.skipIf(!server)('two nodes on one database', () => {
  const direct = server!

  it('claim no delivery twice, keep the order of every lane, and leave no pending row', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const random = seededRandom(seed)
        const schema = direct.freshSchema()
        const clock = manualClock()
        const nodes = [
          await openNode(direct, { schema, clock, owner: 'node-1' }),
          await openNode(direct, { schema, clock, owner: 'node-2' }),
        ]
        try {
          await shareShards(nodes)
          const webhooks = await Promise.all(Array.from({ length: WEBHOOKS }, () => nodes[0]!.webhook()))
          const recorder = createRecorder()
          const accepted: string[] = []
          const activities = nodes.flatMap((node, index) => [
            publish(node, webhooks, random.stream(`publisher ${index}`), accepted),
            send(node, webhooks, random.stream(`sender ${index}`), recorder),
          ])
          await Promise.all(activities)
          await drain(nodes, webhooks, recorder)

          expect(await nodes[0]!.store.deliveries.pending()).toBe(0)
          expect([...recorder.traces.keys()].sort()).toEqual([...accepted].sort())
          for (const [id, trace] of recorder.traces) expectOneAtATime(id, trace)
          await expectOrder(nodes[0]!, webhooks, recorder.traces)
          await expectNoPendingRows(schema)
        } finally {
          await Promise.all(nodes.map((node) => node.close()))
        }
      }),
      { numRuns: 3 },
    )
  }, 120_000)

  it('a takeover sends what the other node had in flight again, once and in order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const random = seededRandom(seed)
        const schema = direct.freshSchema()
        const clock = manualClock()
        const [previous, successor] = [
          await openNode(direct, { schema, clock, owner: 'node-1' }),
          await openNode(direct, { schema, clock, owner: 'node-2' }),
        ]
        try {
          await previous.own()
          const webhooks = await Promise.all(Array.from({ length: WEBHOOKS }, () => previous.webhook()))
          const accepted: string[] = []
          await publish(previous, webhooks, random.stream('publisher'), accepted)
          const inFlight = await previous.claim(webhooks, 2)
          expect(await successor.own()).toEqual([])
          const now = clock.now()
          await clock.advance(LEASE_MS)
          // The other node works on during the takeover, with a time from before.
          const endpoints = webhooks.map(({ id }) => ({ webhookId: id, slots: 2 }))
          const settlements = inFlight.map((claim) => previous.settlement(claim))
          const [, late, settled] = await Promise.all([
            successor.own(),
            previous.store.deliveries.claim({ owner: previous.owner, endpoints, limit: 99, now }),
            previous.store.deliveries.settle(settlements, now),
          ])
          const ended = inFlight.filter((_, index) => settled[index]!.kind === 'settled')
          const lost = [...inFlight.filter((claim) => !ended.includes(claim)), ...late.claims]
          const orphans = await successor.store.deliveries.orphans(successor.owner, 999)
          expect(orphans.map(({ id }) => id).sort()).toEqual(lost.map(({ delivery }) => delivery.id).sort())
          const rejected = await previous.store.deliveries.settle(
            lost.map((claim) => previous.settlement(claim)),
            now,
          )
          expect(rejected.every(({ kind }) => kind === 'fenced')).toBe(true)
          const interrupted = { state: 'waiting', interruptions: 1, reason: 'interrupted' } as const
          await successor.settle(
            orphans.map((delivery) => ({ delivery, body: '' })),
            { ...interrupted, dueMs: clock.now() },
          )
          const recorder = createRecorder()
          await drain([successor], webhooks, recorder)
          const done = new Set(ended.map(({ delivery }) => delivery.id))
          expect([...recorder.traces.keys()].sort()).toEqual(accepted.filter((id) => !done.has(id)).sort())
          await expectOrder(successor, webhooks, recorder.traces)
          await expectNoPendingRows(schema)
        } finally {
          await Promise.all([previous.close(), successor.close()])
        }
      }),
      { numRuns: 3 },
    )
  }, 120_000)

  async function expectNoPendingRows(schema: string): Promise<void> {
    const [left] = await direct.sql(
      `select (select count(*) from "${schema}".lane)::int as lanes,
        (select count(*) from "${schema}".delivery where state < 2)::int as deliveries,
        (select count(*) from "${schema}".nudge)::int as nudges`,
    )
    expect({ ...left, nudges: 0 }).toEqual({ lanes: 0, deliveries: 0, nudges: 0 })
  }
})

/** Renews until each node owns half of the shards. */
async function shareShards(nodes: readonly QueueNode[]): Promise<void> {
  for (const { store, owner } of [...nodes, ...nodes, ...nodes]) {
    await store.deliveries.renew(owner, LEASE_MS)
  }
  for (const { store, owner } of nodes) {
    expect((await store.deliveries.renew(owner, LEASE_MS)).shards).toHaveLength(32)
  }
}

async function publish(
  node: QueueNode,
  webhooks: readonly Webhook[],
  random: Random,
  accepted: string[],
): Promise<void> {
  const one = async () => {
    const targets = webhooks.filter(() => random.chance(0.3))
    if (targets.length === 0) return
    accepted.push(...(await node.accept(targets, { callId: `call-${random.integer(1, CALLS)}` })))
  }
  for (let step = 0; step < STEPS / 2; step += 1) {
    await Promise.all(Array.from({ length: random.integer(1, 4) }, one))
  }
}

async function send(
  node: QueueNode,
  webhooks: readonly Webhook[],
  random: Random,
  recorder: ReturnType<typeof createRecorder>,
): Promise<void> {
  const open: Claim[] = []
  for (let step = 0; step < STEPS; step += 1) {
    const named = webhooks.filter(() => random.chance(0.6))
    const claims = await node.claim(named, random.integer(1, 5))
    for (const claim of claims) recorder.claimed(node, claim)
    open.push(...claims)
    const ready = open.splice(0, random.integer(0, open.length))
    const groups = [ready.filter(() => random.chance(0.3)), ready] as const
    const retried = new Set(groups[0])
    for (const claim of ready) recorder.settling(claim)
    const settled = await Promise.all([
      node.settle([...retried], { state: 'waiting', dueMs: node.now() }),
      node.settle(ready.filter((claim) => !retried.has(claim))),
    ])
    expect(settled.flat().every(({ kind }) => kind === 'settled')).toBe(true)
  }
  for (const claim of open) recorder.settling(claim)
  await node.settle(open)
}

async function drain(
  nodes: readonly QueueNode[],
  webhooks: readonly Webhook[],
  recorder: ReturnType<typeof createRecorder>,
): Promise<void> {
  for (let empty = 0; empty < 2; ) {
    empty += 1
    for (const node of nodes) {
      const claims = await node.claim(webhooks)
      for (const claim of claims) recorder.claimed(node, claim)
      for (const claim of claims) recorder.settling(claim)
      await node.settle(claims)
      if (claims.length > 0) empty = 0
    }
  }
}

/** Each claim has its own fence, and comes after the settlement of the previous one. */
function expectOneAtATime(id: string, { claims, settlements }: DeliveryTrace): void {
  expect([id, ...claims.map(({ fence }) => fence)]).toEqual([id, ...claims.map((_, index) => index + 1)])
  claims.slice(1).forEach(({ at }, index) => {
    expect(settlements[index]!, id).toBeLessThan(at)
  })
}

/** A delivery is first claimed when the previous one in its lane has ended. */
async function expectOrder(
  node: QueueNode,
  webhooks: readonly Webhook[],
  traces: ReadonlyMap<string, DeliveryTrace>,
): Promise<void> {
  for (const { id: webhookId, accountId } of webhooks) {
    const query = { accountId, webhookId, ascending: true, limit: 10_000 }
    const rows = await node.store.deliveries.deliveries(query)
    for (const lane of new Set(rows.map((row) => row.lane))) {
      const inLane = rows.filter((row) => row.lane === lane).map((row) => traces.get(row.id))
      inLane.slice(1).forEach((trace, index) => {
        const before = inLane[index]?.settlements.at(-1) ?? 0
        expect(before, `${webhookId} ${lane} ${shardOf(webhookId)}`).toBeLessThan(
          trace?.claims[0]?.at ?? Number.POSITIVE_INFINITY,
        )
      })
    }
  }
}
