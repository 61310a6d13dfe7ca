import { createHookswitch, errorCode, memoryStore } from 'hookswitch'
import { scriptedReceiver } from 'hookswitch/testkit'
import { afterEach, describe, expect, it } from 'vitest'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function harness() {
  const receiver = scriptedReceiver()
  await receiver.start()
  const hs = createHookswitch({ store: memoryStore(), allowLocal: true })
  await hs.start()
  cleanups.push(() => receiver.close())
  cleanups.push(() => hs.close())
  await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
  const { id } = await hs.webhooks.create('acme', { name: 'w', uri: receiver.url('/w'), hook: 'all' })
  let published = 0
  const call = async (callId: string, changes: object = {}) => {
    await hs.publish({ hook: 'channel_create', accountId: 'acme', callId, ...changes })
    published += 1
    await expect
      .poll(async () => (await hs.webhooks.attempts('acme', id, { limit: 99 })).length)
      .toBe(published)
  }
  const calls = async () => {
    const rows = await hs.webhooks.attempts('acme', id, { limit: 99 })
    return rows.map((row) => row.callId).reverse()
  }
  return { hs, call, calls, webhookId: id }
}

describe('hs.erase', () => {
  it('completes although close() is called right after it', async () => {
    const inner = memoryStore()
    let isOpen = true
    const { erase } = inner.deliveries
    const store = {
      ...inner,
      deliveries: {
        ...inner.deliveries,
        async erase(...args: Parameters<typeof erase>) {
          await new Promise((resolve) => setImmediate(resolve))
          if (!isOpen) throw new Error('the store is closed')
          return erase(...args)
        },
      },
      async close() {
        isOpen = false
        await inner.close()
      },
    }
    const hs = createHookswitch({ store })
    await hs.start()
    await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
    await hs.publish({ hook: 'channel_create', accountId: 'acme', callId: 'a' })
    const erased = hs.erase({ accountId: 'acme', callId: 'a' })
    const closed = hs.close()
    expect((await erased).callIds).toEqual(['a'])
    await closed
    await expect(hs.erase({ accountId: 'acme', callId: 'a' })).rejects.toMatchObject({ code: 'Closing' })
  })

  it('erases a call with its other legs and nothing else', async () => {
    const { hs, call, calls } = await harness()
    await call('a', { otherLegCallId: 'b' })
    await call('b')
    await call('c')
    const erased = await hs.erase({ accountId: 'acme', callId: 'b' })
    expect(erased.callIds?.toSorted()).toEqual(['a', 'b'])
    expect(erased.rows).toBeGreaterThanOrEqual(2)
    expect(await calls()).toEqual(['c'])
    expect(await hs.erase({ accountId: 'acme', callId: 'b' })).toEqual({ callIds: ['b'], rows: 0 })
  })

  it('erases every call of a number, with or without +, but not those of a longer number', async () => {
    const { hs, call, calls } = await harness()
    await call('a', { from: '+15551234@acme.example' })
    await call('b', { callerIdNumber: '15551234' })
    await call('c', { callerIdNumber: '155512345' })
    await call('d', { customChannelVars: { called: 'sip:+15551234@example.com' } })
    const erased = await hs.erase({ accountId: 'acme', number: '+15551234' })
    expect(erased.callIds?.toSorted()).toEqual(['a', 'b', 'd'])
    expect(await calls()).toEqual(['c'])
  })

  it.each(['+1 (555) 123-4567', '0015551234567', 'sip:+15551234567@acme.example', '15551234567'])(
    'knows the number %s in each of its forms, in events and in the call index',
    async (number) => {
      const { hs, call, calls } = await harness()
      await call('a', { from: '+15551234567@acme.example' })
      await call('b', { callerIdNumber: '0015551234567' })
      await call('c', { customChannelVars: { called: '0015551234567' } })
      await call('d', { callerIdNumber: '+1 555 123 4567' })
      await call('e', { callerIdNumber: '115551234567' })
      await call('f', { callerIdNumber: '5551234567' })
      const erased = await hs.erase({ accountId: 'acme', number })
      expect(erased.callIds?.toSorted()).toEqual(['a', 'b', 'c', 'd'])
      expect(await calls()).toEqual(['e', 'f'])
    },
  )

  it('erases everything sent for an account, but not its webhooks', async () => {
    const { hs, call, calls, webhookId } = await harness()
    await call('a')
    await call('b')
    expect((await hs.erase({ accountId: 'acme' })).rows).toBeGreaterThanOrEqual(2)
    expect(await calls()).toEqual([])
    expect((await hs.webhooks.list('acme')).map(({ id }) => id)).toEqual([webhookId])
    await hs.publish({ hook: 'channel_create', accountId: 'acme', callId: 'new' })
    await expect.poll(calls).toEqual(['new'])
  })

  it('does not affect other accounts', async () => {
    const { hs, call, calls } = await harness()
    await call('a', { callerIdNumber: '15551234' })
    for (const selection of [{}, { callId: 'a' }, { number: '15551234' }]) {
      expect((await hs.erase({ accountId: 'other', ...selection })).rows).toBe(0)
    }
    expect(await calls()).toEqual(['a'])
  })

  it.each([
    ['accountId', { callId: 'a' }],
    ['accountId', { accountId: '' }],
    ['callId', { accountId: 'acme', callId: 7 }],
    ['callId', { accountId: 'acme', callId: '' }],
    ['number', { accountId: 'acme', number: '12' }],
    ['number', { accountId: 'acme', number: 'Alice Smith' }],
    ['number', { accountId: 'acme', number: '9'.repeat(65) }],
    ['number', { accountId: 'acme', number: 15551234 }],
    ['number', { accountId: 'acme', number: 'a"b"c' }],
    ['number', { accountId: 'acme', callId: 'a', number: '15551234' }],
    ['caller', { accountId: 'acme', caller: '15551234' }],
    ['', null],
  ])('rejects an invalid request and names the field: %s', async (field, request) => {
    const { hs } = await harness()
    const thrown = await hs.erase(request as never).catch((error: unknown) => error)
    expect(errorCode(thrown)).toBe('InvalidInput')
    expect(thrown).toMatchObject({ field })
  })
})
