import { describe, expect, it } from 'vitest'
import { HookswitchError } from '../../src/errors.js'
import { createHandler } from '../../src/http/handle.js'
import { createFakeBackend } from './fake-backend.js'
import { delivery, jsonOf, OWN_ACCOUNT, request, silentLog, WEBHOOK_ID } from './records.js'

function setUp(options?: Parameters<typeof createFakeBackend>[0]) {
  const fake = createFakeBackend(options)
  const handle = createHandler(fake.backend, { log: silentLog })
  const lookUp = (query: string) => handle(request('GET', `/v1/accounts/${OWN_ACCOUNT}/lookup${query}`))
  return { ...fake, lookUp }
}

describe('looking up an id', () => {
  it('names everything that has it, the call last', async () => {
    const { deliveries, lookUp } = setUp()
    deliveries.push(delivery(1))
    const typesOf = async (id: string) =>
      (jsonOf(await lookUp(`?id=${id}`)).data as readonly { type: string }[]).map(({ type }) => type)
    // A call may have the id of anything.
    expect(await typesOf(WEBHOOK_ID)).toEqual(['webhook', 'call'])
    expect(await typesOf('delivery-1')).toEqual(['delivery', 'call'])
    expect(await typesOf('call%20with%2Fslash')).toEqual(['call'])
  })

  it('finds nothing without an error, and asks the store nothing about what can be no id', async () => {
    const { calls, lookUp } = setUp()
    const found = await lookUp('?id=unknown')
    expect([found.status, jsonOf(found).data]).toEqual([200, []])
    const before = calls.length
    for (const id of ['%00', 'a%0Ab', 'x'.repeat(256)]) {
      const none = await lookUp(`?id=${id}`)
      expect([none.status, jsonOf(none).data]).toEqual([200, []])
    }
    const asked = calls.slice(before).map(([method]) => method)
    expect(asked.filter((method) => ['read', 'delivery', 'legs'].includes(String(method)))).toEqual([])
  })

  it.each(['', '?id='])('names the missing parameter: %j', async (query) => {
    const response = await setUp().lookUp(query)
    expect(response.status).toBe(400)
    expect(jsonOf(response).data).toHaveProperty('id.required')
  })

  it('does not take a store that is out for an id that nothing has', async () => {
    const unavailable = new HookswitchError('StoreUnavailable', 'the store is out')
    expect((await setUp({ faults: { read: unavailable } }).lookUp(`?id=${WEBHOOK_ID}`)).status).toBe(503)
  })
})
