import { expect, it } from 'vitest'
import { jsonOf } from './records.js'
import { startService } from './service.js'

it.each([
  ['"3"', 200],
  ['*', 200],
  ['"1", "3"', 200],
  ['"2"', 412],
  ['"1", "2"', 412],
  ['W/"3"', 412],
  ['nonsense', 412],
])('only the revision that If-Match: %s allows is changed', async (tag, status) => {
  const data = { name: 'n', uri: 'https://receiver.example.com/', hook: 'all' }
  for (const method of ['POST', 'PATCH', 'DELETE']) {
    const { send, get, webhook } = await startService()
    for (const name of ['second', 'third']) await send('PATCH', webhook, { body: { data: { name } } })
    const response = await send(method, webhook, { headers: { 'if-match': tag }, body: { data } })
    expect(response.status).toBe(status)
    expect((await get(webhook)).revision).toBe(status === 412 ? '3' : method === 'DELETE' ? undefined : '4')
    if (status === 412) expect(jsonOf(response).message).toBe('precondition_failed')
  }
})

it('an unknown webhook is 404, whatever the condition', async () => {
  const { send, webhooks } = await startService()
  const headers = { 'if-match': '"1", "2"' }
  expect((await send('DELETE', `${webhooks}/unknown`, { headers })).status).toBe(404)
})
