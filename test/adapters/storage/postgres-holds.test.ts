/** A hold that one node sets is obeyed by another on the same PostgreSQL, within the time that is promised. */
import { createHookswitch } from 'hookswitch'
import type { Sender } from 'hookswitch/adapter'
import { postgresStore } from 'hookswitch/postgres'
import { manualClock, until } from 'hookswitch/testkit'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { fakeSender } from '../../delivery/harness.js'
import { postgresForTests } from './pg-cluster.js'
import { recordingLog } from './sqlite-harness.js'

const server = await postgresForTests()
afterAll(() => server?.end())

/** How long other nodes may take, ms. */
const FOLLOWS_WITHIN_MS = 10_000

describe.skipIf(!server)('a hold on PostgreSQL', { timeout: 60_000 }, () => {
  const schema = server?.freshSchema() ?? ''

  async function startNode() {
    const clock = manualClock()
    const sender = fakeSender()
    const log = recordingLog()
    const store = postgresStore({ connectionString: server!.url, schema, maxConnections: 3 })
    const hs = createHookswitch({
      store,
      sender: sender as Sender,
      secret: 'a secret of all nodes',
      clock,
      log,
    } as Parameters<typeof createHookswitch>[0])
    onTestFinished(() => hs.close())
    await hs.start()
    const sent = () => sender.requests.map(({ body }) => JSON.parse(body!).call_id)
    /** Lets the time pass in which the node learns what others have set, and waits until it says so. */
    const learns = async (sentence: string) => {
      await clock.advance(FOLLOWS_WITHIN_MS)
      await until(() => log.lines.some((line) => line.startsWith(`warn ${sentence}`)))
    }
    return { hs, clock, sent, learns }
  }

  it('that another node has set is obeyed, and ended by its release', async () => {
    const first = await startNode()
    await first.hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
    const webhook = { name: 'w', uri: 'https://acme.example/', hook: 'channel_create' } as const
    const { id } = await first.hs.webhooks.create('acme', webhook)
    const second = await startNode()
    await first.hs.operator.hold()
    await second.learns('all deliveries are held')
    for (const [node, callId] of [[first, 'a'] as const, [second, 'b'] as const])
      await node.hs.publish({ hook: 'channel_create', accountId: 'acme', callId })
    for (const { clock } of [first, second]) await clock.advance(5_000)
    const deliveries = await second.hs.webhooks.deliveries('acme', id)
    expect(deliveries.map(({ state, attempts }) => [state, attempts])).toEqual([
      ['waiting', 0],
      ['waiting', 0],
    ])
    expect([...first.sent(), ...second.sent()]).toEqual([])

    // The node that did not set it ends it.
    await second.hs.operator.release()
    await first.learns('nothing is held any more')
    await until(async () => {
      // A node reads what another one has accepted once a second.
      for (const { clock } of [first, second]) await clock.advance(1_000)
      return first.sent().length + second.sent().length === 2
    })
    expect([...first.sent(), ...second.sent()].sort()).toEqual(['a', 'b'])
  })
})
