/** `PUT /accounts/A/erase`: what it erases, and what it refuses. */
import { expect, it } from 'vitest'
import { createHookswitch } from '../../src/hookswitch.js'
import { createHandler } from '../../src/http/handle.js'
import { memoryStore } from '../../src/store/memory.js'
import { createFakeBackend } from './fake-backend.js'
import { jsonOf, OWN_ACCOUNT, request, silentLog } from './records.js'

const URL = `/v2/accounts/${OWN_ACCOUNT}/erase`
const KAZOO_TEXT = 'Strict checking of data is enabled; only include schema-defined properties'

async function erase(data: unknown) {
  const { backend, calls } = createFakeBackend()
  const handle = createHandler(backend, { log: silentLog })
  const response = await handle(request('PUT', URL, { body: { data } }))
  return { response, erasures: calls.filter(([method]) => method === 'erase').map(([, erasure]) => erasure) }
}

it.each<Record<string, unknown>>([
  { phone: '+15550001' },
  { Number: '+15550001' },
  { callId: 'c' },
  { accountId: OWN_ACCOUNT },
  { ui_metadata: { ui: 'monster-ui' } },
  { number: '+15550001', call: 'c' },
  { constructor: 1 },
])('refuses an unknown field, and erases nothing: %j', async (data) => {
  const { response, erasures } = await erase(data)
  const name = Object.keys(data).at(-1)!
  expect([response.status, jsonOf(response)]).toEqual([
    400,
    expect.objectContaining({
      message: 'validation error',
      data: { [name]: { additionalProperties: { message: KAZOO_TEXT, target: false } } },
    }),
  ])
  expect(erasures).toEqual([])
})

it.each<[Record<string, unknown>, Record<string, unknown>]>([
  [{ call_id: 'c' }, { callId: 'c' }],
  [{ number: '+15550001', ui_metadata: { ui: 'monster-ui' } }, { number: '+15550001' }],
  [{}, {}],
])('erases what %j selects', async (data, selection) => {
  const { response, erasures } = await erase(data)
  expect(response.status).toBe(200)
  expect(erasures).toEqual([{ accountId: OWN_ACCOUNT, ...selection }])
})

it('never takes a selection that is null for the whole account', async () => {
  const { erasures } = await erase({ number: null })
  expect(erasures).toEqual([{ accountId: OWN_ACCOUNT, number: null }])
})

it('names fields as on the wire where a request has both', async () => {
  const hs = createHookswitch({ store: memoryStore() })
  await hs.start()
  try {
    await hs.accounts.create({ id: 'a', name: 'A', realm: 'a.example.com', apiKey: 'a'.repeat(64) })
    const { token } = await hs.auth.signIn({ apiKey: 'a'.repeat(64) })
    const data = { call_id: 'c', number: '+15550001' }
    const { data: failures } = jsonOf(
      await hs.handle(request('PUT', '/v2/accounts/a/erase', { token, body: { data } })),
    )
    expect(failures).toEqual({ number: { error: { message: 'must not be combined with a call' } } })
  } finally {
    await hs.close()
  }
})
