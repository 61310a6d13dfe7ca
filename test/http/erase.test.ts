/** `PUT /accounts/A/erase`: what it refuses, without erasing anything. `test/runtime/erase.test.ts` says what is erased. */
import { expect, it } from 'vitest'
import { jsonOf, OWN_ACCOUNT } from './records.js'
import { startService } from './service.js'

async function erase(data: unknown) {
  const service = await startService()
  const { hs, send, webhookId } = service
  await hs.publish({ hook: 'channel_create', accountId: OWN_ACCOUNT, callId: 'c', timestampMs: 1 })
  const response = await send('PUT', `/v2/accounts/${OWN_ACCOUNT}/erase`, { body: { data } })
  const left = await hs.webhooks.deliveries(OWN_ACCOUNT, webhookId)
  return { status: response.status, data: jsonOf(response).data, left: left.length }
}

it.each<Record<string, unknown>>([
  { phone: '+15550001' },
  { Number: '+15550001' },
  { callId: 'c' },
  { accountId: OWN_ACCOUNT },
  { ui_metadata: { ui: 'monster-ui' } },
  { number: '+15550001', call: 'c' },
  { constructor: 1 },
])('an unknown field: %j', async (data) => {
  const message = 'Strict checking of data is enabled; only include schema-defined properties'
  const failures = { [Object.keys(data).at(-1)!]: { additionalProperties: { message, target: false } } }
  expect(await erase(data)).toEqual({ status: 400, data: failures, left: 1 })
})

it('a selection that is null, which is not the whole account', async () => {
  expect(await erase({ number: null })).toMatchObject({ status: 400, left: 1 })
})

it('a call and a number, in the names of the wire', async () => {
  const failures = { number: { error: { message: 'must not be combined with a call' } } }
  expect(await erase({ call_id: 'c', number: '+15550001' })).toEqual({ status: 400, data: failures, left: 1 })
})

it.each([{ call_id: 'c' }, { number: '+15550001', ui_metadata: { ui: 'monster-ui' } }, {}])(
  'nothing of %j',
  async (data) => {
    const { status, left } = await erase(data)
    expect([status, left]).toEqual([200, 'number' in data ? 1 : 0])
  },
)
