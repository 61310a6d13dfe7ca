/** WebSockets of one node, and events that another node of the same PostgreSQL database accepts. */
import { type ChannelEvent, createHookswitch } from 'hookswitch'
import { postgresStore } from 'hookswitch/postgres'
import { until } from 'hookswitch/testkit'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { postgresForTests } from '../storage/pg-cluster.js'
import { connect, startSockets } from './harness.js'

const server = await postgresForTests()
afterAll(() => server?.end())

describe.skipIf(!server)('the WebSockets of a node on PostgreSQL', () => {
  it('have the events of all nodes, once, of the accounts and kinds that they are bound to', async () => {
    const secret = 'the secret of these tests'
    const schema = server!.freshSchema()
    const newStore = () => postgresStore({ connectionString: server!.url, schema, maxConnections: 4 })
    const { url, token, publish } = await startSockets({}, { store: newStore(), secret })
    const other = createHookswitch({ store: newStore(), secret })
    await other.start()
    onTestFinished(() => other.close({ drainMs: 0 }))
    const publishThere = (
      callId: string,
      accountId = 'child',
      hook: ChannelEvent['hook'] = 'channel_create',
    ) => other.publish({ hook, accountId, callId })

    const auth_token = await token()
    const client = await connect(url)
    const subscribe = { auth_token, data: { account_id: 'child', binding: 'call.CHANNEL_CREATE.*' } }
    expect(await client.request('subscribe', subscribe)).toMatchObject({ status: 'success' })
    await until(
      async () => {
        await publishThere('probe')
        return client.frames.length > 0
      },
      { description: 'the other node knows of the socket' },
    )
    await publish({ callId: 'here' })
    await publishThere('of another kind', 'child', 'channel_answer')
    await publishThere('of another account', 'other')
    await publishThere('there')
    await publishThere('last')
    const calls = () =>
      client.frames.flatMap(({ data }) => (data.call_id === 'probe' ? [] : [data.call_id as string]))
    await until(() => calls().includes('last'))
    expect(calls().toSorted()).toEqual(['here', 'last', 'there'])
    expect(client.frames.find(({ data }) => data.call_id === 'there')).toMatchObject({
      action: 'event',
      name: 'CHANNEL_CREATE',
      routing_key: 'call.child.CHANNEL_CREATE.there',
      data: { event_name: 'CHANNEL_CREATE', sequence: 1, custom_channel_vars: { account_id: 'child' } },
    })
  })
})
