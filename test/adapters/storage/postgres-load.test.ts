import { afterAll, describe, expect, it } from 'vitest'
import { rowsOf } from '../../../src/testkit/conformance/node.js'
import { postgresForTests } from './pg-cluster.js'
import { openNode } from './postgres-queue-harness.js'

const server = await postgresForTests()
afterAll(() => server?.end())

/** The limits of `queueStatements`. */
const ROWS_PER_PART = 100_000
const WEBHOOKS_PER_PART = 1_000

describe.skipIf(!server)('a load of waiting deliveries', () => {
  const direct = server!

  /** A node, and a function that adds waiting deliveries of the webhook with this key at positions `from` to `to`. */
  async function openFilled() {
    const schema = direct.freshSchema()
    const node = await openNode(direct, { schema })
    await node.own()
    const fill = (key: number, from: number, to: number) =>
      direct.sql(`insert into "${schema}".waiting
          (position, event, lane, accepted_ms, webhook_key, sequence, epoch, variant, form, id)
        select p, p, 0, 0, ${key}, 0, 1, 0, 0, p from generate_series(${from}, ${to}) p`)
    return { node, schema, fill }
  }
  type Node = Awaited<ReturnType<typeof openFilled>>['node']

  async function loadParts({ store, lease }: Node, shards = lease.shards) {
    const parts = []
    for (let cursor: string | undefined; ; ) {
      const part = (await store.deliveries.load(lease, shards, cursor))!
      parts.push(part)
      if (part.cursor === undefined) return parts
      cursor = part.cursor
    }
  }
  const keysOfParts = (parts: Awaited<ReturnType<typeof loadParts>>) =>
    parts.flatMap(({ waiting }) =>
      rowsOf(waiting).map(({ webhookId, position }) => `${webhookId}/${position}`),
    )

  it('has parts of limited size, although one webhook has more, and has every delivery once', async () => {
    const { node, fill } = await openFilled()
    const webhooks = [await node.webhook(), await node.webhook(), await node.webhook(), await node.webhook()]
    const ranges = [
      [1, 60_000],
      [60_001, 310_000],
      [310_001, 310_000],
      [310_001, 310_005],
    ] as const
    for (const [index, [from, to]] of ranges.entries()) await fill(index + 1, from, to)
    const parts = await loadParts(node)
    expect(parts.map(({ waiting }) => waiting.count)).toEqual([100_000, 100_000, 100_000, 10_005])
    const found = keysOfParts(parts)
    expect(found).toHaveLength(310_005)
    const wanted = ranges.flatMap(([from, to], index) =>
      Array.from({ length: to - from + 1 }, (_, at) => `${webhooks[index]!.id}/${from + at}`),
    )
    expect(new Set(found)).toEqual(new Set(wanted))
    await node.close()
  })

  it('ends at a part that is just full', async () => {
    const { node, fill } = await openFilled()
    await node.webhook()
    await fill(1, 1, ROWS_PER_PART)
    const parts = await loadParts(node)
    expect(keysOfParts(parts)).toHaveLength(ROWS_PER_PART)
    expect(parts.map(({ waiting }) => waiting.count)).toEqual([ROWS_PER_PART])
    await node.close()
  })

  it('continues after many webhooks', async () => {
    const { node, schema, fill } = await openFilled()
    const { id } = await node.webhook()
    await direct.sql(`insert into "${schema}".webhook
      overriding system value select (jsonb_populate_record(w, jsonb_build_object('key', 1 + n, 'id', 'w-' || n,
        'doc', replace(w.doc, '${id}', 'w-' || n)))).* from "${schema}".webhook w, generate_series(1, 2500) n`)
    for (const key of [1, WEBHOOKS_PER_PART, WEBHOOKS_PER_PART + 1, 2_501]) await fill(key, key, key + 1)
    const parts = await loadParts(node)
    expect(parts.map(({ waiting }) => waiting.count)).toEqual([4, 2, 2])
    expect(new Set(keysOfParts(parts)).size).toBe(8)
    await node.close()
  })
})
