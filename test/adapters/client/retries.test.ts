import { createClient } from 'hookswitch/client'
import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { type Answer, fail, scriptedApi, succeed } from './scripted-api.js'

const WEBHOOK = { name: 'Calls', uri: 'http://127.0.0.1:9/', hook: 'all' }
const EVENT = { hook: 'channel_create', call_id: 'c' }
const unavailable =
  (status: number, headers: Readonly<Record<string, string>> = {}): Answer =>
  (response) =>
    fail(response, status, 'unavailable', headers)

/** A client on a manual clock; `answers` are given in order, then success. */
async function withAnswers(answers: readonly Answer[], options: object = {}) {
  const api = await scriptedApi((response, request, nth) => {
    const answer = answers[nth]
    if (answer) answer(response, request, nth)
    else succeed(response, request.method === 'GET' ? [] : { id: 'w' })
  })
  const clock = manualClock()
  const client = createClient({ url: api.url, apiKey: 'key', clock, ...options })
  // The call itself has a timeout of 30 s on the same clock; the sleeper before it is the wait for a retry.
  const untilWaiting = (count: number) => expect.poll(() => clock.sleepers().count).toBe(count)
  return { api, clock, client, untilWaiting }
}

describe('retries', () => {
  it.each([429, 503])('waits for Retry-After after %i, and not less', async (status) => {
    const { api, clock, client, untilWaiting } = await withAnswers([
      unavailable(status, { 'retry-after': '7' }),
    ])
    const call = client.listWebhooks().page()
    await untilWaiting(2)
    await clock.advance(6_999)
    expect(api.calls()).toHaveLength(1)
    await clock.advance(1)
    expect((await call).items).toEqual([])
    expect(api.calls()).toHaveLength(2)
    expect(clock.sleepers().count).toBe(0)
  })

  it('understands a date in Retry-After', async () => {
    const date = new Date(Date.now() + 5_000).toUTCString()
    const { clock, client, untilWaiting } = await withAnswers([unavailable(503, { 'retry-after': date })])
    const call = client.listWebhooks().page()
    await untilWaiting(2)
    await clock.advance(5_000)
    expect((await call).items).toEqual([])
  })

  it.each([502, 504])('retries a read after %i without Retry-After', async (status) => {
    const { api, clock, client, untilWaiting } = await withAnswers([unavailable(status)])
    const call = client.listWebhooks().page()
    await untilWaiting(2)
    await clock.advance(500)
    await call
    expect(api.calls()).toHaveLength(2)
  })

  it('gives up after maxRetries, with the last error', async () => {
    const { api, clock, client, untilWaiting } = await withAnswers(
      Array.from({ length: 9 }, () => unavailable(503, { 'retry-after': '1' })),
      { maxRetries: 3 },
    )
    const call = client.listWebhooks().page()
    const outcome = expect(call).rejects.toMatchObject({ status: 503, retryAfterSeconds: 1 })
    for (let retry = 1; retry <= 3; retry++) {
      await untilWaiting(2)
      await clock.advance(1_000)
      await expect.poll(() => api.calls().length).toBe(retry + 1)
    }
    await outcome
    expect(api.calls()).toHaveLength(4)
  })

  it('does not wait for a Retry-After beyond the timeout of the call', async () => {
    const { api, client } = await withAnswers([unavailable(429, { 'retry-after': '30' })])
    await expect(client.listWebhooks().page()).rejects.toMatchObject({ status: 429, retryAfterSeconds: 30 })
    expect(api.calls()).toHaveLength(1)
  })

  it('an abort ends the wait for a retry', async () => {
    const { clock, client, untilWaiting } = await withAnswers([unavailable(429, { 'retry-after': '20' })])
    const controller = new AbortController()
    const call = client.listWebhooks({}, { signal: controller.signal }).page()
    await untilWaiting(2)
    controller.abort()
    await expect(call).rejects.toMatchObject({ code: 'aborted' })
    await expect.poll(() => clock.sleepers().count).toBe(0)
  })

  const cut: Answer = (response) => response.destroy()

  it('repeats reads, replacements, patches and deletions after a lost connection', async () => {
    for (const send of [
      (client) => client.listWebhooks().page(),
      (client) => client.replaceWebhook({ webhookId: 'w', data: WEBHOOK }),
      (client) => client.patchWebhook({ webhookId: 'w', data: {} }),
      (client) => client.deleteWebhook({ webhookId: 'w' }),
      (client) => client.publishEvents({ data: { ...EVENT, idempotency_key: 'k' } }, { isRepeatable: true }),
    ] as ((client: ReturnType<typeof createClient>) => Promise<unknown>)[]) {
      const { api, clock, client, untilWaiting } = await withAnswers([cut])
      const call = send(client)
      await untilWaiting(2)
      await clock.advance(500)
      await call
      expect(api.calls()).toHaveLength(2)
      expect(api.calls()[1]).toEqual(api.calls()[0])
    }
  })

  it('does not repeat what creates, or depends on a revision, unless it was not executed', async () => {
    for (const send of [
      (client) => client.createWebhook({ data: WEBHOOK }),
      (client) => client.publishEvents({ data: EVENT }),
      (client) => client.rotateSecret({ webhookId: 'w' }),
      (client) => client.patchWebhook({ webhookId: 'w', ifMatch: '3', data: {} }),
    ] as ((client: ReturnType<typeof createClient>) => Promise<unknown>)[]) {
      const lost = await withAnswers([cut])
      await expect(send(lost.client)).rejects.toMatchObject({ code: 'network' })
      expect(lost.api.calls()).toHaveLength(1)
      const down = await withAnswers([unavailable(503, { 'retry-after': '1' })])
      await expect(send(down.client)).rejects.toMatchObject({ status: 503 })
      expect(down.api.calls()).toHaveLength(1)

      const limited = await withAnswers([unavailable(429, { 'retry-after': '1' })])
      const call = send(limited.client)
      await limited.untilWaiting(2)
      await limited.clock.advance(1_000)
      await call
      expect(limited.api.calls()).toHaveLength(2)
    }
  })

  it('no retry at all with maxRetries 0', async () => {
    const { api, client } = await withAnswers([cut], { maxRetries: 5 })
    const call = client.listWebhooks({}, { maxRetries: 0 }).page()
    await expect(call).rejects.toMatchObject({ code: 'network' })
    expect(api.calls()).toHaveLength(1)
  })
})

describe('the request', () => {
  it('has the revision as an entity tag, the query by its names and the request id', async () => {
    const { api, client } = await withAnswers([])
    const filters = { filter_result: 'failure', 'filter_not_custom_data.crm': 'a&b' }
    await client.listAttempts({ pageSize: 2, createdFrom: 63, ascending: true, filters }).page()
    await client.patchWebhook({ webhookId: 'a/b', data: { name: null } }, { requestId: 'trace 7' })
    const [list, patch] = api.calls()
    expect(list).toMatchObject({
      method: 'GET',
      token: 'token-of-the-scripted-api-1',
      path: '/v1/accounts/a/webhooks/attempts?page_size=2&created_from=63&ascending=true&filter_result=failure&filter_not_custom_data.crm=a%26b',
    })
    expect(patch).toMatchObject({
      method: 'PATCH',
      path: '/v1/accounts/a/webhooks/a%2Fb',
      body: '{"data":{"name":null}}',
    })
    expect(api.logins()).toBe(1)
  })
})
