/** The host's defaults of retries and age, and the age in force. */
import { createHookswitch, memoryStore } from 'hookswitch'
import { expect, it } from 'vitest'

type Options = Partial<Parameters<typeof createHookswitch>[0]>
const HOOK = { name: 'w', uri: 'https://acme.example.com/', hook: 'channel_create' }

async function create(options: Options, settings: object = {}) {
  const hs = createHookswitch({ store: memoryStore(), ...options })
  await hs.start()
  try {
    const { id } = await hs.accounts.create({ name: 'Acme', realm: 'acme.example' })
    const made = await hs.webhooks.create(id, { ...HOOK, ...settings })
    expect(await hs.webhooks.read(id, made.id)).toEqual(made)
    return made
  } finally {
    await hs.close()
  }
}

it.each<[Options, object, object]>([
  [{}, {}, { retries: 5, effectiveMaxAgeSeconds: 86_400 }],
  [{}, { retries: 30 }, { retries: 30 }],
  [{}, { retries: 0 }, { retries: 0 }],
  [{ retryPolicy: 'patient' }, {}, { retries: 9, effectiveMaxAgeSeconds: 345_600 }],
  [{ preset: 'kazoo' }, {}, { retries: 2, effectiveMaxAgeSeconds: 86_400 }],
  [{ preset: 'kazoo' }, { retries: 30 }, { retries: 30 }],
  [{ defaultRetries: 7 }, {}, { retries: 7 }],
  [{ defaultRetries: 7 }, { retries: 0 }, { retries: 0 }],
  [{ defaultMaxAgeSeconds: 60, retryPolicy: 'patient' }, {}, { effectiveMaxAgeSeconds: 60 }],
  [{ defaultMaxAgeSeconds: 60 }, { maxAgeSeconds: 5 }, { maxAgeSeconds: 5, effectiveMaxAgeSeconds: 5 }],
  [{}, { maxAgeSeconds: 2_147_483_647 }, { effectiveMaxAgeSeconds: 2_147_483_647 }],
])('a webhook under %j with %j', async (options, settings, expected) => {
  const made = await create(options, settings)
  expect(made).toMatchObject(expected)
  expect('maxAgeSeconds' in made).toBe('maxAgeSeconds' in settings)
})

it('a webhook without an age or a rate follows the options of the service', async () => {
  const store = memoryStore()
  const of = async (options: Options) => {
    const hs = createHookswitch({ store, ...options })
    await hs.start()
    return hs
  }
  const first = await of({ defaultMaxAgeSeconds: 60, defaultRateLimit: 2.5 })
  const { id } = await first.accounts.create({ name: 'Acme', realm: 'acme.example' })
  const made = await first.webhooks.create(id, HOOK)
  const patched = await first.webhooks.patch(id, made.id, { group: 'g' })
  for (const webhook of [made, patched]) {
    expect(webhook).toMatchObject({ effectiveMaxAgeSeconds: 60 })
    expect(webhook).not.toHaveProperty('maxAgeSeconds')
    expect(webhook).not.toHaveProperty('rateLimit')
  }
  await first.close()
  const second = await of({ defaultMaxAgeSeconds: 90 })
  expect(await second.webhooks.read(id, made.id)).toMatchObject({ effectiveMaxAgeSeconds: 90 })
  await second.close()
})

it.each<[Options, number]>([
  [{}, 31],
  [{ preset: 'kazoo' }, 31],
  [{ retryPolicy: 'patient' }, 1_000],
])('under %j a webhook may not have %i retries', async (options, retries) => {
  const message = 'Value must be at most 30'
  await expect(create(options, { retries })).rejects.toMatchObject({
    code: 'InvalidInput',
    failures: [{ path: 'retries', rule: 'maximum', message, target: 30, value: retries }],
  })
})
