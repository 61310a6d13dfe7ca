import { createHookswitch, type HookswitchError, memoryStore } from 'hookswitch'
import { expect, it } from 'vitest'

const KAZOO_SENTENCE = 'Strict checking of data is enabled; only include schema-defined properties'

it('errors of undefined fields are plain in JavaScript, and in the words of KAZOO over HTTP', async () => {
  const hs = createHookswitch({ store: memoryStore(), ingest: true })
  await hs.start()
  const { id, apiKey } = await hs.accounts.create({ name: 'Acme', realm: 'acme.example' })
  const input = { name: 'w', uri: 'https://example.com/', hook: 'all', customData: { '\ud800': 'x' } }
  const event = { hook: 'channel_create', accountId: id, callId: 'c', colour: 'red' }
  for (const operation of [
    () => hs.webhooks.create(id, input),
    () => hs.publish(event as never),
    () => hs.publish({ ...event, customChannelVars: 5 } as never),
  ]) {
    const error = await operation().then(
      () => expect.unreachable('it was accepted'),
      (thrown: HookswitchError) => thrown,
    )
    expect(error.code).toBe('InvalidInput')
    expect(`${error.message} ${JSON.stringify(error.failures)}`).not.toContain('Strict checking')
  }
  const { token } = await hs.auth.signIn({ apiKey })
  const response = await hs.handle({
    method: 'PUT',
    url: `/v1/accounts/${id}/events`,
    headers: { 'content-type': 'application/json', 'x-auth-token': token },
    body: JSON.stringify({ data: { hook_event: 'channel_create', call_id: 'c', colour: 'red' } }),
  })
  expect(JSON.parse(response.body).data).toEqual({
    colour: { additionalProperties: { message: KAZOO_SENTENCE, target: false, value: 'red' } },
  })
  await hs.close()
})

it('null removes the further keys of a webhook, which are an object', async () => {
  const hs = createHookswitch({ store: memoryStore() })
  await hs.start()
  await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
  const input = { name: 'w', uri: 'https://acme.example/', hook: 'channel_create' } as const
  const { id, extra } = await hs.webhooks.create('acme', { ...input, extra: { label: 'a' } })
  expect(extra).toEqual({ label: 'a' })
  for (const wrong of [5, 0, 'text', []])
    await expect(hs.webhooks.patch('acme', id, { extra: wrong as never })).rejects.toMatchObject({
      code: 'InvalidInput',
      field: 'extra',
    })
  expect((await hs.webhooks.patch('acme', id, { enabled: false })).extra).toEqual({ label: 'a' })
  expect((await hs.webhooks.patch('acme', id, { extra: null })).extra).toBeUndefined()
  await hs.close()
})

it('options of the wrong type are named', async () => {
  const hs = createHookswitch({ store: memoryStore() })
  await hs.start()
  await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
  for (const [field, call] of [
    ['callIds', () => hs.webhooks.attempts('acme', undefined, { callIds: 'leg-1' as never })],
    ['search', () => hs.webhooks.health('acme', { search: 5 as never })],
    ['after', () => hs.webhooks.health('acme', { after: 'w' as never })],
    ['deliveryId', () => hs.webhooks.attempts('acme', undefined, { deliveryId: 5 as never })],
    ['ascending', () => hs.webhooks.attempts('acme', undefined, { ascending: 'no' as never })],
    ['cursor', () => hs.webhooks.deliveries('acme', 'w', { cursor: '5' as never })],
    ['afterId', () => hs.operator.unhealthy({ afterId: 5 as never })],
    ['states', () => hs.operator.unhealthy({ states: ['ok' as never] })],
    ['accountId', () => hs.operator.search({ accountId: 5 as never })],
    ['webhookId', () => hs.operator.search({ webhookId: 5 as never })],
    ['callId', () => hs.operator.search({ callId: 5 as never })],
    ['accountId', () => hs.replays.list({ accountId: 5 as never })],
    ['after', () => hs.replays.list({ after: { createdMs: 1 } as never })],
    ['after', () => hs.replays.list({ after: null as never })],
  ] as const)
    await expect(call()).rejects.toMatchObject({ code: 'InvalidInput', field })
  await hs.close()
})
