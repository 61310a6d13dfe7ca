/** Events of kinds that the host registers: data with a schema, and an ordering key in place of a call. */
import { type } from 'arktype'
import { type CustomHook, createHookswitch, type EventOf, memoryStore } from 'hookswitch'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { nextEvents, serviceFixture } from './service-fixture.js'

const startService = serviceFixture()

const JSON_SCHEMA = {
  type: 'object',
  properties: {
    queue: { type: 'string', minLength: 1 },
    position: { type: 'integer', minimum: 1 },
    tags: { type: 'array', items: { $ref: '#/$defs/tag' } },
  },
  required: ['queue', 'position'],
  additionalProperties: false,
  $defs: { tag: { type: 'string', pattern: '^[a-z]+$' } },
} as const
const DATA = { queue: 'support', position: 1 }

/** The same rules in every kind of schema. */
const SCHEMAS: readonly (readonly [string, NonNullable<CustomHook['schema']>])[] = [
  ['JSON Schema', JSON_SCHEMA],
  [
    'zod',
    z.strictObject({
      queue: z.string().min(1),
      position: z.int().min(1),
      tags: z.array(z.string()).optional(),
    }),
  ],
  [
    'valibot',
    v.strictObject({
      queue: v.pipe(v.string(), v.minLength(1)),
      position: v.pipe(v.number(), v.integer(), v.minValue(1)),
      tags: v.optional(v.array(v.string())),
    }),
  ],
  [
    'arktype',
    type({ queue: 'string > 0', position: 'number.integer > 0', 'tags?': 'string[]', '+': 'reject' }),
  ],
]

const hookWith = (schema: CustomHook['schema']) => ({
  id: 'queue_joined',
  ...(schema && { schema }),
  sample: { data: DATA },
})

describe.each(SCHEMAS)('custom events with a schema of %s', (_, schema) => {
  it('carry their data to the receiver, to listeners and into the documents', async () => {
    const { hs, receiver, createWebhook, callApi } = await startService({ hooks: [hookWith(schema)] })
    await createWebhook('/hook', { hook: 'queue_joined' })
    const delivered = nextEvents(hs, 'delivered')
    const heard: unknown[] = []
    hs.events.on('event', ({ data, orderingKey }) => heard.push([data, orderingKey]))
    const data = { ...DATA, tags: ['vip'] }
    await hs.publish({ hook: 'queue_joined', accountId: 'parent', orderingKey: 'agent-7', data } as never)
    await delivered
    const payload = JSON.parse(receiver.requests[0]!.body)
    expect(payload).toMatchObject({ hook_event: 'queue_joined', ordering_key: 'agent-7', data, sequence: 1 })
    expect(payload).not.toHaveProperty('call_id')
    expect(heard).toEqual([[data, 'agent-7']])

    const samples = await callApi('GET', '/v1/webhooks/samples/queue_joined')
    expect(samples.json.data[0]).toMatchObject({ hook_event: 'queue_joined', data: DATA })
    const { json: document } = await callApi('GET', '/v1/openapi.json')
    const { schema: described } = document.webhooks.queue_joined.post.requestBody.content['application/json']
    const properties = described.allOf[1].properties.data?.properties
    // Valibot exports no JSON Schema by itself.
    if (_ !== 'valibot')
      expect(properties).toMatchObject({ queue: { type: 'string' }, position: { type: 'integer' } })
    else expect(properties).toBe(undefined)
  })

  it('are refused with the path of what is wrong, in JavaScript and over HTTP', async () => {
    const { hs, callApi } = await startService({ hooks: [hookWith(schema)], ingest: true })
    const publish = (data: unknown) =>
      hs.publish({ hook: 'queue_joined', accountId: 'parent', callId: 'c', data } as never).then(
        () => 'accepted',
        ({ code, failures }) => [code, failures.map(({ path }: { path: string }) => path)],
      )
    expect(await publish(DATA)).toBe('accepted')
    expect(await publish({ queue: 'support', position: 0 })).toEqual(['InvalidInput', ['data.position']])
    // What is missing is reported together with what is wrong.
    expect(((await publish({ queue: '' })) as [string, string[]])[1]).toHaveLength(2)
    expect(await publish({ queue: '', position: 'x' })).toEqual([
      'InvalidInput',
      expect.arrayContaining(['data.queue', 'data.position']),
    ])
    expect((await publish({ ...DATA, tags: ['ok', 5] }))[1]).toEqual(['data.tags.1'])
    expect(await publish(undefined)).toEqual(['InvalidInput', [expect.stringMatching(/^data\b/)]])
    expect((await publish('text'))[0]).toBe('InvalidInput')
    expect((await publish({ ...DATA, other: 1 }))[0]).toBe('InvalidInput')
    const event = { hook_event: 'queue_joined', ordering_key: 'k', data: { queue: 'support', position: 0 } }
    const refused = await callApi('PUT', '/v1/accounts/parent/events', { data: event })
    expect([refused.status, Object.keys(refused.json.data)]).toEqual([400, ['data.position']])
    const accepted = await callApi('PUT', '/v1/accounts/parent/events', { data: { ...event, data: DATA } })
    expect(accepted.status).toBe(202)
  })
})

describe('custom events', () => {
  it('are sent as their schema returns them', async () => {
    const schema = z.object({ queue: z.string().trim(), position: z.coerce.number().default(1) })
    const { hs, receiver, createWebhook } = await startService({
      hooks: [{ id: 'q', schema, sample: { data: { queue: 'x' } } }],
    })
    await createWebhook('/hook', { hook: 'q' })
    const delivered = nextEvents(hs, 'delivered')
    await hs.publish({ hook: 'q', accountId: 'parent', callId: 'c', data: { queue: ' support ' } } as never)
    await delivered
    expect(JSON.parse(receiver.requests[0]!.body).data).toEqual({ queue: 'support', position: 1 })
  })

  it('with the same ordering key are numbered and sent in order, and filtered by their data', async () => {
    const { hs, receiver, createWebhook } = await startService({ hooks: [{ id: 'seat' }] })
    await createWebhook('/hook', { hook: 'seat', filter: { exact: { 'data.free': true } } })
    const delivered = nextEvents(hs, 'delivered', 4)
    for (const orderingKey of ['a', 'b'])
      for (const free of [true, false, true])
        await hs.publish({ hook: 'seat', accountId: 'parent', orderingKey, data: { free } } as never)
    await delivered
    for (const key of ['a', 'b']) {
      const payloads = receiver.requests.map(({ body }) => JSON.parse(body))
      expect(
        payloads.filter((payload) => payload.ordering_key === key).map(({ sequence }) => sequence),
      ).toEqual([1, 3])
    }
  })

  it('may have any data, or none, without a schema', async () => {
    const { hs } = await startService({ hooks: [{ id: 'plain' }] })
    const event = { hook: 'plain', accountId: 'parent', callId: 'c' }
    await expect(hs.publish(event as never)).resolves.toMatchObject({ sequence: 1 })
    await expect(hs.publish({ ...event, data: { any: ['thing'] } } as never)).resolves.toMatchObject({
      sequence: 2,
    })
    await expect(hs.publish({ ...event, data: [] } as never)).rejects.toMatchObject({ field: 'data' })
  })

  it.each<[object, string]>([
    [{ hook: 'plain', accountId: 'parent' }, 'callId'],
    [{ hook: 'plain', accountId: 'parent', callId: 'c', orderingKey: 'k' }, 'orderingKey'],
    [{ hook: 'plain', accountId: 'parent', orderingKey: '' }, 'orderingKey'],
    [{ hook: 'plain', accountId: 'parent', orderingKey: 5 }, 'orderingKey'],
    [{ hook: 'channel_create', accountId: 'parent', orderingKey: 'k' }, 'orderingKey'],
    [{ hook: 'channel_create', accountId: 'parent', callId: 'c', data: {} }, 'data'],
    [{ hook: 'plain', accountId: 'parent', callId: 'c', data: { deep: nested(40) } }, 'data'],
  ])('%j is refused because of %s', async (event, field) => {
    const { hs } = await startService({ hooks: [{ id: 'plain' }] })
    await expect(hs.publish(event as never)).rejects.toMatchObject({
      code: 'InvalidInput',
      failures: [{ path: expect.stringMatching(new RegExp(`^${field}\\b`)) }],
    })
  })

  it('can be published again as listeners get them', async () => {
    const { hs } = await startService({ hooks: [{ id: 'plain' }] })
    const again = new Promise((resolve, reject) => {
      hs.events.once('event', ({ eventId: _, sequence: __, ...event }) => {
        hs.publish(event as never).then(resolve, reject)
      })
    })
    await hs.publish({ hook: 'plain', accountId: 'parent', orderingKey: 'k' } as never)
    expect(await again).toMatchObject({ sequence: 2 })
  })

  it('do not stop the start of an instance, unless a schema or a sample is wrong', async () => {
    const start = async (hook: CustomHook) => {
      const hs = createHookswitch({ store: memoryStore(), hooks: [hook] })
      return hs.start().then(
        () => hs.close().then(() => 'started'),
        ({ code, message }) => `${code} ${message}`,
      )
    }
    expect(await start({ id: 'a', schema: JSON_SCHEMA, sample: { data: DATA } })).toBe('started')
    expect(await start({ id: 'a', schema: JSON_SCHEMA })).toMatch(/^InvalidOption hooks\[0\]\.sample: data: /)
    expect(await start({ id: 'a', schema: JSON_SCHEMA, sample: { data: { queue: 5 } } })).toMatch(
      /^InvalidOption hooks\[0\]\.sample: data/,
    )
    expect(await start({ id: 'a', schema: { $ref: 'https://elsewhere.example/schema' } })).toMatch(
      /^InvalidOption hooks\[0\]\.schema\.\$ref: .* there is no such schema$/,
    )
    expect(await start({ id: 'a', schema: { $schema: 'http://json-schema.org/draft-07/schema#' } })).toMatch(
      /^InvalidOption hooks\[0\]\.schema: \$schema must be /,
    )
    const asynchronous = z.object({}).refine(async () => true)
    expect(await start({ id: 'a', schema: asynchronous, sample: { data: {} } })).toMatch(
      /^InvalidOption hooks\[0\]\.sample: data: .*synchronous/,
    )
    for (const schema of ['text', 5, null, []])
      expect(() => createHookswitch({ store: memoryStore(), hooks: [{ id: 'a', schema } as never] })).toThrow(
        /hooks\[0\]\.schema: must be a Standard Schema or a JSON Schema/,
      )
  })
})

describe('the types of custom events', () => {
  const seats = z.object({ seat: z.string().transform((text) => text.length) })
  const hooks = [
    { id: 'seat_taken', schema: seats, sample: { data: { seat: 'x' } } },
    { id: 'plain' },
  ] as const
  const build = () => createHookswitch({ store: memoryStore(), hooks })

  it('are those of the schema: its input for publish, its output for listeners', () => {
    const hs = build()
    hs.events.on('seat_taken', ({ data, hook, sequence }) => {
      expectTypeOf(data).toEqualTypeOf<{ seat: number }>()
      expectTypeOf(hook).toEqualTypeOf<'seat_taken'>()
      expectTypeOf(sequence).toEqualTypeOf<number>()
    })
    const publish = (event: EventOf<(typeof hooks)[number]>) => hs.publish(event)
    const base = { hook: 'seat_taken', accountId: 'a' } as const
    expectTypeOf(publish).toBeCallableWith({ ...base, callId: 'c', data: { seat: '12a' } })
    expectTypeOf(publish).toBeCallableWith({ ...base, orderingKey: 'k', data: { seat: '12a' } })
    // @ts-expect-error: the data of the schema is missing
    expectTypeOf(publish).toBeCallableWith({ ...base, callId: 'c' })
    // @ts-expect-error: a seat is a text
    expectTypeOf(publish).toBeCallableWith({ ...base, callId: 'c', data: { seat: 12 } })
    // @ts-expect-error: neither a call nor an ordering key
    expectTypeOf(publish).toBeCallableWith({ ...base, data: { seat: '12a' } })
  })
})

function nested(depth: number): object {
  return depth === 0 ? {} : { deeper: nested(depth - 1) }
}
