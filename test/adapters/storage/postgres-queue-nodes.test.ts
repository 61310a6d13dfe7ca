import fc from 'fast-check'
import { type Claim, shardOf, type Webhook } from 'hookswitch/store'
import { seededRandom } from 'hookswitch/testkit'
import { afterAll, describe, expect, it } from 'vitest'
import { manualClock } from '../../../src/testkit/clock.js'
import { postgresForTests } from './pg-cluster.js'
import { LEASE_MS, openNode, type QueueNode } from './postgres-queue-world.js'

const server = await postgresForTests()
afterAll(() => server?.end())

const WEBHOOKS = 12
const CALLS = 4
const STEPS = 60

type Random = ReturnType<typeof seededRandom>

/** What is noted of a delivery, in the order in which this test saw it happen. */
interface Course {
  /** Where its claims came back. */
  readonly claims: { readonly at: number; readonly fence: number; readonly node: string }[]
  /** Where its settlement was asked for, of each claim. */
  readonly settlements: number[]
}

function noted() {
  const courses = new Map<string, Course>()
  let time = 0
  const of = (id: string) => {
    const course = courses.get(id) ?? { claims: [], settlements: [] }
    courses.set(id, course)
    return course
  }
  return {
    courses,
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

  it('claim nothing twice, keep the order of every lane, and leave nothing behind', async () => {
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
          await ownTogether(nodes)
          const webhooks = await Promise.all(Array.from({ length: WEBHOOKS }, () => nodes[0]!.webhook()))
          const notes = noted()
          const accepted: string[] = []
          const doings = nodes.flatMap((node, index) => [
            publish(node, webhooks, random.stream(`publisher ${index}`), accepted),
            send(node, webhooks, random.stream(`sender ${index}`), notes),
          ])
          await Promise.all(doings)
          await drain(nodes, webhooks, notes)

          expect(await nodes[0]!.store.deliveries.pending()).toBe(0)
          expect([...notes.courses.keys()].sort()).toEqual([...accepted].sort())
          for (const [id, course] of notes.courses) expectOneAtATime(id, course)
          await expectOrder(nodes[0]!, webhooks, notes.courses)
          await expectNothingLeft(schema)
        } finally {
          await Promise.all(nodes.map((node) => node.close()))
        }
      }),
      { numRuns: 3 },
    )
  }, 120_000)

  it('take over from one that is gone: what it had in flight is sent again, once, and in order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const random = seededRandom(seed)
        const schema = direct.freshSchema()
        const clock = manualClock()
        const [gone, heir] = [
          await openNode(direct, { schema, clock, owner: 'node-1' }),
          await openNode(direct, { schema, clock, owner: 'node-2' }),
        ]
        try {
          await gone.own()
          const webhooks = await Promise.all(Array.from({ length: WEBHOOKS }, () => gone.webhook()))
          const accepted: string[] = []
          await publish(gone, webhooks, random.stream('publisher'), accepted)
          const flying = await gone.claim(webhooks, 2)
          expect(await heir.own()).toEqual([])
          const now = clock.now()
          await clock.advance(LEASE_MS)
          // While one takes over, the other works on: its own clock stands still.
          const endpoints = webhooks.map(({ id }) => ({ webhookId: id, room: 2 }))
          const settlements = flying.map((claim) => gone.settlement(claim))
          const [, late, settled] = await Promise.all([
            heir.own(),
            gone.store.deliveries.claim({ owner: gone.owner, endpoints, limit: 99, now }),
            gone.store.deliveries.settle(settlements, now),
          ])
          const ended = flying.filter((_, index) => settled[index]!.kind === 'settled')
          const lost = [...flying.filter((claim) => !ended.includes(claim)), ...late.claims]
          const orphans = await heir.store.deliveries.orphans(heir.owner, 999)
          expect(orphans.map(({ id }) => id).sort()).toEqual(lost.map(({ delivery }) => delivery.id).sort())
          const refused = await gone.store.deliveries.settle(
            lost.map((claim) => gone.settlement(claim)),
            now,
          )
          expect(refused.every(({ kind }) => kind === 'fenced')).toBe(true)
          const interrupted = { state: 'waiting', interruptions: 1, reason: 'interrupted' } as const
          await heir.settle(
            orphans.map((delivery) => ({ delivery, body: '' })),
            { ...interrupted, dueMs: clock.now() },
          )
          const notes = noted()
          await drain([heir], webhooks, notes)
          const done = new Set(ended.map(({ delivery }) => delivery.id))
          expect([...notes.courses.keys()].sort()).toEqual(accepted.filter((id) => !done.has(id)).sort())
          await expectOrder(heir, webhooks, notes.courses)
          await expectNothingLeft(schema)
        } finally {
          await Promise.all([gone.close(), heir.close()])
        }
      }),
      { numRuns: 3 },
    )
  }, 120_000)

  async function expectNothingLeft(schema: string): Promise<void> {
    const [left] = await direct.sql(
      `select (select count(*) from "${schema}".lane)::int as lanes,
        (select count(*) from "${schema}".delivery where state < 2)::int as deliveries,
        (select count(*) from "${schema}".nudge)::int as nudges`,
    )
    expect({ ...left, nudges: 0 }).toEqual({ lanes: 0, deliveries: 0, nudges: 0 })
  }
})

/** Both come to have their half. */
async function ownTogether(nodes: readonly QueueNode[]): Promise<void> {
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
  notes: ReturnType<typeof noted>,
): Promise<void> {
  const held: Claim[] = []
  for (let step = 0; step < STEPS; step += 1) {
    const named = webhooks.filter(() => random.chance(0.6))
    const claims = await node.claim(named, random.integer(1, 5))
    for (const claim of claims) notes.claimed(node, claim)
    held.push(...claims)
    const ready = held.splice(0, random.integer(0, held.length))
    const groups = [ready.filter(() => random.chance(0.3)), ready] as const
    const retried = new Set(groups[0])
    for (const claim of ready) notes.settling(claim)
    const settled = await Promise.all([
      node.settle([...retried], { state: 'waiting', dueMs: node.now() }),
      node.settle(ready.filter((claim) => !retried.has(claim))),
    ])
    expect(settled.flat().every(({ kind }) => kind === 'settled')).toBe(true)
  }
  for (const claim of held) notes.settling(claim)
  await node.settle(held)
}

async function drain(
  nodes: readonly QueueNode[],
  webhooks: readonly Webhook[],
  notes: ReturnType<typeof noted>,
): Promise<void> {
  for (let empty = 0; empty < 2; ) {
    empty += 1
    for (const node of nodes) {
      const claims = await node.claim(webhooks)
      for (const claim of claims) notes.claimed(node, claim)
      for (const claim of claims) notes.settling(claim)
      await node.settle(claims)
      if (claims.length > 0) empty = 0
    }
  }
}

/** Every claim under a fence of its own, each after the one before was settled. */
function expectOneAtATime(id: string, { claims, settlements }: Course): void {
  expect([id, ...claims.map(({ fence }) => fence)]).toEqual([id, ...claims.map((_, index) => index + 1)])
  claims.slice(1).forEach(({ at }, index) => {
    expect(settlements[index]!, id).toBeLessThan(at)
  })
}

/** The next of a lane is first claimed when the one before it has ended. */
async function expectOrder(
  node: QueueNode,
  webhooks: readonly Webhook[],
  courses: ReadonlyMap<string, Course>,
): Promise<void> {
  for (const { id: webhookId, accountId } of webhooks) {
    const query = { accountId, webhookId, ascending: true, limit: 10_000 }
    const rows = await node.store.deliveries.deliveries(query)
    for (const lane of new Set(rows.map((row) => row.lane))) {
      const inLane = rows.filter((row) => row.lane === lane).map((row) => courses.get(row.id))
      inLane.slice(1).forEach((course, index) => {
        const before = inLane[index]?.settlements.at(-1) ?? 0
        expect(before, `${webhookId} ${lane} ${shardOf(webhookId)}`).toBeLessThan(
          course?.claims[0]?.at ?? Number.POSITIVE_INFINITY,
        )
      })
    }
  }
}
