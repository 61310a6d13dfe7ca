/** The host's defaults of retries and age, and how long a delivery lives. */
import { constant, createHookswitch, custom, memoryStore } from 'hookswitch'
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
  [{}, {}, { retries: 2, deliveryLifetimeMs: 8000 }],
  [{ retryPolicy: 'patient' }, {}, { retries: 9, deliveryLifetimeMs: 272_105_000 }],
  [
    { retryPolicy: 'patient' },
    { retries: 30 },
    { retries: 30, deliveryLifetimeMs: 272_105_000 + 21 * 86_400_000 },
  ],
  [{ preset: 'kazoo' }, { retries: 3 }, { retries: 3, deliveryLifetimeMs: 4000 }],
  [{ defaultRetries: 5 }, {}, { retries: 5, deliveryLifetimeMs: 242_000 }],
  [{ defaultRetries: 5 }, { retries: 0 }, { retries: 0, deliveryLifetimeMs: 0 }],
  [
    { defaultMaxAgeSeconds: 60, retryPolicy: constant(50_000) },
    {},
    { retries: 2, maxAgeSeconds: 60, deliveryLifetimeMs: 60_000 },
  ],
  [{ defaultMaxAgeSeconds: 60 }, { maxAgeSeconds: 5 }, { maxAgeSeconds: 5, deliveryLifetimeMs: 5000 }],
])('a webhook under %j with %j', async (options, settings, expected) => {
  expect(await create(options, settings)).toMatchObject(expected)
})

it('a policy function decides how long a delivery lives, so no webhook says', async () => {
  const made = await create({ retryPolicy: custom('mine'), policies: { mine: () => 1 } })
  expect(made).not.toHaveProperty('deliveryLifetimeMs')
})

it.each<[Options, number, number]>([
  [{}, 11, 10],
  [{}, 31, 10],
  [{ retryPolicy: 'patient' }, 31, 30],
])('under %j a webhook may not have %i retries', async (options, retries, target) => {
  await expect(create(options, { retries })).rejects.toMatchObject({
    code: 'InvalidInput',
    failures: [
      {
        path: 'retries',
        rule: 'maximum',
        message: `Value must be at most ${target}`,
        target,
        value: retries,
      },
    ],
  })
})
