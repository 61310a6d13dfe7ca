/**
 * Tracing that answered nonsense put it on the wire or stopped deliveries, metrics that rejected later ended the process,
 * a sender whose `withdraw` threw failed a change that was committed, and a refused test spoke of logins.
 */
import { manualClock, until } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { created, services, told } from '../service/running.js'
import { nothingUnhandled } from '../unhandled.js'

const running = services()
const unhandled = nothingUnhandled()
const OK = { kind: 'response', status: 200, headers: [], body: '', bodyEnd: 'complete' } as const

describe('a tracing door', () => {
  it.each([
    ['no traceparent', 'not a traceparent'],
    ['a line break', 'x\r\nx-injected: 1'],
    ['a number', 5],
    ['an object', {}],
  ])(
    'whose span is known by %s stops no delivery and puts nothing of it on the wire',
    async (_, traceparent) => {
      const tracing = { begin: () => ({ traceparent: traceparent as string, end() {} }) }
      const { hs, receiver, webhook } = await running({ tracing })
      await webhook('/hook')
      const attempt = told(hs, 'attempt')
      await hs.publish(created('call'))
      expect(await attempt).toMatchObject([{ result: 'success' }])
      expect(receiver.requests[0]!.headers.traceparent).toBeUndefined()
    },
  )

  it('whose span throws when its context is read hurts nobody', async () => {
    const tracing = {
      begin: () => ({
        get traceparent(): string {
          throw new Error('no context')
        },
        end() {},
      }),
    }
    const { hs, webhook } = await running({ tracing })
    await webhook('/hook')
    const delivered = told(hs, 'delivered')
    await hs.publish(created('call'))
    await delivered
  })

  it('and metrics, that reject later are not unhandled', async () => {
    const later = () => Promise.reject(new Error('later')) as never
    const { hs, webhook } = await running({
      metrics: { count: later, observe: later, watch: later },
      tracing: { begin: () => ({ traceparent: undefined, end: later }) },
    })
    await webhook('/hook')
    const delivered = told(hs, 'delivered')
    await hs.publish(created('call'))
    await delivered
    await new Promise((resolve) => setImmediate(resolve))
    expect(unhandled).toEqual([])
  })
})

describe('a sender of the host', () => {
  it('whose withdraw throws does not fail the change that was made', async () => {
    const sender = {
      send: async () => OK,
      withdraw() {
        throw new Error('of the host')
      },
      close: async () => {},
    }
    const { hs, ask, webhook } = await running({ sender })
    const [a, b] = [await webhook('/a'), await webhook('/b')]
    await hs.webhooks.patch('parent', a, { enabled: false })
    expect((await ask('DELETE', `/v1/accounts/parent/webhooks/${b}`)).status).toBe(200)
  })

  it('whose withdraw throws when a receiver is gone ends no process and loses no place', async () => {
    const sender = {
      send: async () => ({ ...OK, status: 410 }),
      withdraw() {
        throw new Error('of the host')
      },
      close: async () => {},
    }
    const { hs, webhook } = await running({ sender })
    const id = await webhook('/a')
    const cancelled = told(hs, 'cancelled')
    await hs.publish(created('call'))
    await cancelled
    await until(async () => !(await hs.webhooks.read('parent', id)).enabled)
    await new Promise((resolve) => setImmediate(resolve))
    expect(unhandled).toEqual([])
  })
})

it('a refused test or replay says what there was too much of', async () => {
  const clock = manualClock()
  const { ask, webhook } = await running({
    clock,
    replayBurst: 1,
    sender: { send: async () => OK, close: async () => {} },
  })
  const path = `/v1/accounts/parent/webhooks/${await webhook('/hook')}/test`
  await ask('PUT', path)
  const { json } = await ask('PUT', path)
  expect(json.data.message).not.toContain('login')
})
