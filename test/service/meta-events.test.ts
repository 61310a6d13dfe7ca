/** Meta events: customers hear of trouble with their webhooks, through other webhooks. */
import { createHookswitch, memoryStore } from 'hookswitch'
import type { Sender } from 'hookswitch/adapter'
import { manualClock, seededRandom } from 'hookswitch/testkit'
import { expect, it } from 'vitest'
import { fakeSender, responseWith } from '../delivery/harness.js'

async function start() {
  const clock = manualClock()
  const sender = fakeSender()
  const random = { ...seededRandom('meta'), fraction: () => 0.5 }
  const hs = createHookswitch({ store: memoryStore(), clock, random, sender: sender as Sender })
  await hs.start()
  await hs.accounts.create({ id: 'parent', name: 'Parent', realm: 'parent.example' })
  await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example', parentId: 'parent' })
  sender.script = ({ url }) => responseWith(url.includes('good') ? 200 : url.includes('gone') ? 410 : 500)
  const webhook = (name: string, hook: string, settings: object = {}, accountId = 'acme') =>
    hs.webhooks.create(accountId, {
      name,
      uri: `https://${name}.example.com/`,
      hook,
      retries: 0,
      ...settings,
    })
  const publish = async (count: number) => {
    for (let call = 0; call < count; call++) {
      await hs.publish({ hook: 'channel_create', accountId: 'acme', callId: `call-${clock.now()}-${call}` })
      await clock.settle()
    }
  }
  const received = (name: string) =>
    sender.requests.filter(({ url }) => url.includes(name)).map(({ body }) => JSON.parse(body!))
  return { hs, clock, sender, webhook, publish, received }
}

it('a webhook gets the meta events whose kind it names, of its account and, if it asks, of those below', async () => {
  const { hs, webhook, publish, received } = await start()
  const bad = await webhook('bad', 'channel_create')
  const gone = await webhook('gone', 'channel_create')
  await webhook('good-exhausted', 'delivery_exhausted')
  await webhook('good-disabled', 'webhook_disabled', { includeSubaccounts: true }, 'parent')
  await webhook('good-paused', 'webhook_paused', { customData: { team: 'ops' } })
  await webhook('good-all', 'all')
  await publish(10)
  const { deliveries } = await hs.operator.search({ webhookId: bad.id, states: ['exhausted'] })
  const [first] = [...deliveries].reverse()
  expect(received('good-exhausted')[0]).toEqual({
    hook_event: 'delivery_exhausted',
    account_id: 'acme',
    timestamp: 63_934_444_800,
    happened_at: '2026-01-01T00:00:00.000Z',
    webhook_id: bad.id,
    reason: 'status 500',
    delivery_id: first!.id,
    delivery_hook_event: 'channel_create',
    call_id: first!.callId,
    attempts: 1,
    event_id: expect.any(String),
  })
  expect(received('good-disabled')).toEqual([
    expect.objectContaining({
      hook_event: 'webhook_disabled',
      account_id: 'acme',
      webhook_id: gone.id,
      reason: 'gone',
    }),
  ])
  expect(received('good-paused')).toEqual([
    expect.objectContaining({
      hook_event: 'webhook_paused',
      webhook_id: bad.id,
      failures_in_row: 10,
      paused_until: 63_934_444_805,
      team: 'ops',
    }),
  ])
  // `all` does not include them.
  expect(new Set(received('good-all').map(({ hook_event }) => hook_event))).toEqual(
    new Set(['channel_create']),
  )
  await hs.close({ drainMs: 0 })
})

it('filters see the payload of meta events, and `only` can name them', async () => {
  const { hs, webhook, publish, received } = await start()
  const bad = await webhook('bad', 'channel_create')
  await webhook('gone', 'channel_create')
  await webhook('good-filter', 'delivery_exhausted', { filter: { exact: { webhook_id: bad.id } } })
  await webhook('good-other', 'delivery_exhausted', { filter: { exact: { webhook_id: 'other' } } })
  await webhook('good-only', 'all', { only: ['webhook_disabled'] })
  await publish(1)
  expect(received('good-filter').map(({ webhook_id }) => webhook_id)).toEqual([bad.id])
  expect(received('good-other')).toEqual([])
  expect(received('good-only').map(({ hook_event }) => hook_event)).toEqual(['webhook_disabled'])
  await hs.close({ drainMs: 0 })
})

it('no webhook gets an event about itself, and failing meta events cause none', async () => {
  const { hs, webhook, publish, received } = await start()
  await webhook('bad', 'channel_create')
  // Two failing webhooks for the same hook: each exhausted delivery would otherwise cause another event, without end.
  const first = await webhook('bad-one', 'delivery_exhausted')
  const two = await webhook('bad-two', 'delivery_exhausted')
  await publish(1)
  expect(received('bad-one')).toHaveLength(1)
  expect(received('bad-two')).toHaveLength(1)
  const about = [...received('bad-one'), ...received('bad-two')].map(({ webhook_id }) => webhook_id)
  expect(about).not.toContain(first.id)
  expect(about).not.toContain(two.id)
  await hs.close({ drainMs: 0 })
})

it('a storm of failures makes few events, and the next one says how many were left out', async () => {
  const { hs, clock, webhook, publish, received } = await start()
  for (let index = 0; index < 5; index++) await webhook(`bad-${index}`, 'channel_create')
  await webhook('good', 'delivery_exhausted')
  await publish(9)
  expect(received('good')).toHaveLength(10)
  expect(received('good').every((body) => body.suppressed === undefined)).toBe(true)
  await clock.advance(60_000)
  await publish(1)
  expect(received('good')).toHaveLength(11)
  expect(received('good')[10]).toMatchObject({ suppressed: 35 })
  await hs.close({ drainMs: 0 })
})

it('a host cannot publish meta events, but can test webhooks that listen to them', async () => {
  const { hs, clock, webhook, received } = await start()
  const { id } = await webhook('good', 'webhook_paused')
  await expect(
    hs.publish({ hook: 'webhook_paused' as never, accountId: 'acme', callId: 'call' }),
  ).rejects.toMatchObject({ code: 'InvalidInput', field: 'hook' })
  await hs.webhooks.test('acme', id)
  await clock.settle()
  expect(received('good')).toEqual([
    expect.objectContaining({ hook_event: 'webhook_paused', account_id: 'acme', failures_in_row: 3 }),
  ])
  await hs.close({ drainMs: 0 })
})
