/** The promise of delivery: order within a call, and nobody waits for strangers. */
import { createServer } from 'node:net'
import { gate, hang, status } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { created, listen, services, told } from './running.js'

const running = services()

describe('in order within a call', () => {
  it('the next event is first sent when the one before it has ended, also under retries', async () => {
    const { hs, receiver, webhook } = await running()
    const seen = new Map<string, number>()
    // Each event fails twice, then is taken.
    receiver.on('/hook', ({ rawHeaders }) => {
      const id = rawHeaders[rawHeaders.findIndex((name) => name.toLowerCase() === 'webhook-id') + 1]!
      seen.set(id, (seen.get(id) ?? 0) + 1)
      return status(seen.get(id)! < 3 ? 503 : 200)
    })
    await webhook('/hook', { hook: 'all', retries: 5 })
    const delivered = told(hs, 'delivered', 12)
    for (const n of [1, 2, 3, 4])
      for (const call of ['a', 'b', 'c']) await hs.publish(created(call, { callerIdName: `${call}${n}` }))
    await delivered
    for (const call of ['a', 'b', 'c']) {
      const names = receiver.requests
        .map(({ body }) => JSON.parse(body))
        .filter(({ call_id }) => call_id === call)
        .map(({ caller_id_name, sequence }) => `${caller_id_name}/${sequence}`)
      expect(names).toEqual([1, 2, 3, 4].flatMap((n) => [1, 2, 3].map(() => `${call}${n}/${n}`)))
    }
  })

  it('an event that is given up frees the call', async () => {
    const { hs, receiver, webhook } = await running()
    receiver.on('/hook', [status(500), status(500), status(200)])
    await webhook('/hook', { retries: 1 })
    const ends = Promise.all([told(hs, 'exhausted'), told(hs, 'delivered')])
    await hs.publish(created('call', { callerIdName: 'first' }))
    await hs.publish(created('call', { callerIdName: 'second' }))
    await ends
    expect(receiver.requests.map(({ body }) => JSON.parse(body).caller_id_name)).toEqual([
      'first',
      'first',
      'second',
    ])
  })

  it('calls never wait for each other', async () => {
    const { hs, receiver, webhook, ask } = await running()
    const held = gate()
    receiver.on('/hook', [held, status(200)])
    const id = await webhook('/hook')
    await hs.publish(created('stuck'))
    await receiver.next()
    await hs.publish(created('stuck'))
    const delivered = told(hs, 'delivered', 5)
    for (const call of ['a', 'b', 'c', 'd', 'e']) await hs.publish(created(call))
    await delivered
    expect(receiver.requests).toHaveLength(6)
    const waiting = await ask('GET', `/v1/accounts/parent/webhooks/${id}/deliveries?filter_state=waiting`)
    expect(waiting.json.data).toMatchObject([
      { call_id: 'stuck', explain: expect.stringContaining('call order') },
    ])
    const rest = told(hs, 'delivered', 2)
    held.release()
    await rest
  })

  it('a webhook without order waits for nothing', async () => {
    const { hs, receiver, webhook } = await running()
    const held = gate()
    receiver.on('/hook', [held])
    await webhook('/hook', { ordering: 'none' })
    const delivered = told(hs, 'delivered', 3)
    for (let n = 0; n < 3; n += 1) await hs.publish(created('call'))
    await receiver.next(3)
    held.release()
    await delivered
  })
})

describe('a dead or slow receiver delays nobody else', () => {
  it('the healthy one has everything while the others hang, refuse and fail', async () => {
    // Longer than any test: nothing comes after a time-out.
    const { hs, receiver, webhook } = await running({ attemptTimeoutMs: 600_000 })
    const dead = createServer()
    const port = await listen(dead as never)
    await new Promise((resolve) => dead.close(resolve))
    receiver.on('/hangs', [hang()])
    receiver.on('/fails', [status(500)])
    receiver.on('/healthy', [status(200)])
    const hangs = await webhook('/hangs')
    await webhook('/fails', { retries: 10 })
    await webhook('/refuses', { uri: `http://127.0.0.1:${port}/`, retries: 10 })
    const healthy = await webhook('/healthy')
    const calls = Array.from({ length: 50 }, (_, n) => `call-${n}`)
    const ended = new Promise<void>((resolve) => {
      let left = calls.length
      hs.events.on('delivered', ({ webhookId }) => {
        if (webhookId === healthy && --left === 0) resolve()
      })
    })
    await Promise.all(calls.map((call) => hs.publish(created(call))))
    await ended
    const seen = receiver.requests
      .filter(({ path }) => path === '/healthy')
      .map(({ body }) => JSON.parse(body).call_id)
    expect(seen.sort()).toEqual(calls.sort())
    expect(await hs.webhooks.attempts('parent', hangs)).toEqual([])
    expect(receiver.requests.filter(({ path }) => path === '/hangs').length).toBeLessThanOrEqual(10)
  })

  it('a publish does not wait for receivers at all', async () => {
    const { hs, receiver, webhook } = await running()
    receiver.on('*', [hang()])
    await webhook('/hangs')
    for (let n = 0; n < 30; n += 1) await hs.publish(created(`call-${n}`))
    // Ten of them are in flight at most: the others are kept, and publish resolved all the same.
    expect(receiver.requests.length).toBeLessThanOrEqual(10)
  })
})
