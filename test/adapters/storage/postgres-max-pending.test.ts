/** `maxPending` counts the deliveries of all nodes. */
import { createHookswitch, errorCode, type Sender } from 'hookswitch'
import { postgresStore } from 'hookswitch/postgres'
import { afterAll, expect, it } from 'vitest'
import { postgresForTests } from './pg-cluster.js'
import {
  gate,
  holdNextCommit,
  hookedPool,
  type QueryHooks,
  waitForBlockedSessions,
} from './postgres-queue-harness.js'

const server = await postgresForTests()
afterAll(() => server?.end())

/** Receivers answer when they are closed, so that every delivery stays pending. */
function silentSender(): Sender {
  const closing = gate()
  return {
    async send() {
      await closing.passed
      return { kind: 'cancelled' }
    },
    close: async () => closing.open(),
  }
}

it.skipIf(!server)('two nodes together accept no more deliveries than maxPending', async () => {
  const direct = server!
  const schema = direct.freshSchema()
  const secret = 'a secret of thirty-two characters'
  const hooks: QueryHooks = {}
  const pools = [hooks, {}].map((given) => hookedPool(direct.url, given))
  const nodes = pools.map((pool) =>
    createHookswitch({
      store: postgresStore({ pool, schema }),
      secret,
      maxPending: 1,
      sender: silentSender(),
    }),
  )
  const [one, two] = nodes as [(typeof nodes)[number], (typeof nodes)[number]]
  try {
    await one.start()
    await two.start()
    await one.accounts.create({ id: 'acc', name: 'A', realm: 'a.example' })
    await one.webhooks.create('acc', { name: 'w', uri: 'https://receiver.example/', hook: 'channel_create' })
    const publishOn = (node: (typeof nodes)[number], callId: string) =>
      node.publish({ hook: 'channel_create', accountId: 'acc', callId }).then(() => 'accepted', errorCode)
    const commit = holdNextCommit(hooks)
    const first = publishOn(one, 'a')
    await commit.reached
    const second = publishOn(two, 'b')
    await Promise.race([second, waitForBlockedSessions(direct, 1, schema)])
    commit.release()
    expect([await first, await second]).toEqual(['accepted', 'QueueFull'])
  } finally {
    await Promise.all(nodes.map((node) => node.close({ drainMs: 0 })))
    await Promise.all(pools.map((pool) => pool.end()))
  }
})
