/** Nodes whose sessions end, for tests of what others make of it. */
import { afterEach } from 'vitest'
import type { PgServer } from './pg-cluster.js'
import { openNode, type QueryHooks, type QueueNode } from './postgres-queue-harness.js'

const opened = new Set<QueueNode>()

/** Closes all nodes after each test of the file. */
export function closeNodesAfterEach(): void {
  afterEach(async () => {
    await Promise.all([...opened].map((node) => node.close()))
    opened.clear()
  })
}

/** A node whose connections are those of a pool of the host. */
export async function open(
  on: PgServer,
  schema: string,
  owner: string,
  hooks: QueryHooks = {},
): Promise<QueueNode> {
  const node = await openNode(on, { schema, owner, hooks })
  opened.add(node)
  return node
}

export const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Processes of other machines, of which nothing is known. */
export const hideProcesses = (on: PgServer, schema: string) =>
  on.sql(`create function ${schema}.hide() returns trigger language plpgsql as $$ begin new.process := null; return new; end $$;
    create trigger hide before insert or update on ${schema}.node_session for each row execute function ${schema}.hide();
    update ${schema}.node_session set process = null`)

export const keysOf = async (on: PgServer, schema: string) =>
  (await on.sql(`select key::text, process from ${schema}.node_session order by fence`)) as {
    key: string
    process: string | null
  }[]

/** The nodes renew in turn, like engines that are told to. Resolves to the fences that changed. */
export async function watch(
  nodes: readonly QueueNode[],
  ms: number,
  event: Promise<unknown> = Promise.resolve(),
): Promise<readonly number[]> {
  const fences = nodes.map(({ lease }) => lease.fence)
  let untilMs = Number.POSITIVE_INFINITY
  const happened = event.finally(() => {
    untilMs = performance.now() + ms
  })
  while (performance.now() < untilMs) {
    for (const node of nodes) {
      const polled = await node.store.deliveries.poll(node.lease).catch(() => undefined)
      if (polled?.mustRenew) await node.renew().catch(() => {})
    }
    await sleep(50)
  }
  await happened
  const changed: number[] = []
  for (const [index, node] of nodes.entries())
    if ((await node.renew()).fence !== fences[index]) changed.push(fences[index]!)
  return changed
}
