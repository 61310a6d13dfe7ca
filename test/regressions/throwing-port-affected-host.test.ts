/**
 * Invalid trace contexts were sent to receivers or stopped deliveries, metrics that rejected asynchronously ended the
 * process, a sender whose `cancel` threw failed a committed change, and the error of a rejected test mentioned logins.
 */
import { manualClock, until } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { channelCreate, nextEvents, serviceFixture } from '../service/service-fixture.js'
import { expectNothingUnhandled } from '../support/unhandled-rejections.js'

const startService = serviceFixture()
const unhandled = expectNothingUnhandled()
const OK = { kind: 'response', status: 200, headers: [], body: '', bodyEnd: 'complete' } as const

describe('a tracing port', () => {
  it.each([
    ['no traceparent', 'not a traceparent'],
    ['a line break', 'x\r\nx-injected: 1'],
    ['a number', 5],
    ['an object', {}],
  ])('whose span context is %s stops no delivery, and nothing of it is sent', async (_, traceparent) => {
    const tracing = { begin: () => ({ traceparent: traceparent as string, end() {} }) }
    const { hs, receiver, createWebhook } = await startService({ tracing })
    await createWebhook('/hook')
    const attempt = nextEvents(hs, 'attempt')
    await hs.publish(channelCreate('call'))
    expect(await attempt).toMatchObject([{ result: 'success' }])
    expect(receiver.requests[0]!.headers.traceparent).toBeUndefined()
  })

  it('whose span throws when its context is read stops no delivery', async () => {
    const tracing = {
      begin: () => ({
        get traceparent(): string {
          throw new Error('no context')
        },
        end() {},
      }),
    }
    const { hs, createWebhook } = await startService({ tracing })
    await createWebhook('/hook')
    const delivered = nextEvents(hs, 'delivered')
    await hs.publish(channelCreate('call'))
    await delivered
  })

  it('and metrics that reject asynchronously cause no unhandled rejection', async () => {
    const later = () => Promise.reject(new Error('later')) as never
    const { hs, createWebhook } = await startService({
      metrics: { count: later, observe: later, watch: later },
      tracing: { begin: () => ({ traceparent: undefined, end: later }) },
    })
    await createWebhook('/hook')
    const delivered = nextEvents(hs, 'delivered')
    await hs.publish(channelCreate('call'))
    await delivered
    await new Promise((resolve) => setImmediate(resolve))
    expect(unhandled).toEqual([])
  })
})

describe('a sender whose cancel throws', () => {
  it('does not fail a committed change', async () => {
    const sender = {
      send: async () => OK,
      cancel() {
        throw new Error('fault of the host')
      },
      close: async () => {},
    }
    const { hs, callApi, createWebhook } = await startService({ sender })
    const [a, b] = [await createWebhook('/a'), await createWebhook('/b')]
    await hs.webhooks.patch('parent', a, { enabled: false })
    expect((await callApi('DELETE', `/v1/accounts/parent/webhooks/${b}`)).status).toBe(200)
  })

  it('after a 410 neither ends the process nor leaks a slot', async () => {
    const sender = {
      send: async () => ({ ...OK, status: 410 }),
      cancel() {
        throw new Error('fault of the host')
      },
      close: async () => {},
    }
    const { hs, createWebhook } = await startService({ sender })
    const id = await createWebhook('/a')
    const cancelled = nextEvents(hs, 'cancelled')
    await hs.publish(channelCreate('call'))
    await cancelled
    await until(async () => !(await hs.webhooks.read('parent', id)).enabled)
    await new Promise((resolve) => setImmediate(resolve))
    expect(unhandled).toEqual([])
  })
})

it('the error of a rejected test or replay does not mention logins', async () => {
  const clock = manualClock()
  const { callApi, createWebhook } = await startService({
    clock,
    replayBurst: 1,
    sender: { send: async () => OK, close: async () => {} },
  })
  const path = `/v1/accounts/parent/webhooks/${await createWebhook('/hook')}/test`
  await callApi('PUT', path)
  const { json } = await callApi('PUT', path)
  expect(json.data.message).not.toContain('login')
})
