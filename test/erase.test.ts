import { createHookswitch, errorCode, memoryStore } from 'hookswitch'
import { scriptedReceiver } from 'hookswitch/testkit'
import { afterEach, describe, expect, it } from 'vitest'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function world() {
  const receiver = scriptedReceiver()
  await receiver.start()
  const hs = createHookswitch({ store: memoryStore(), allowLocal: true })
  await hs.start()
  cleanups.push(() => receiver.close())
  cleanups.push(() => hs.close())
  await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
  const { id } = await hs.webhooks.create('acme', { name: 'w', uri: receiver.url('/w'), hook: 'all' })
  let made = 0
  const call = async (callId: string, changes: object = {}) => {
    await hs.publish({ hook: 'channel_create', accountId: 'acme', callId, ...changes })
    made += 1
    await expect.poll(async () => (await hs.webhooks.attempts('acme', id, { limit: 99 })).length).toBe(made)
  }
  const calls = async () => {
    const rows = await hs.webhooks.attempts('acme', id, { limit: 99 })
    return rows.map((row) => row.callId).reverse()
  }
  return { hs, call, calls, webhookId: id }
}

describe('erasing', () => {
  it('is finished by a close that comes after it', async () => {
    const inner = memoryStore()
    let isOpen = true
    const { erase } = inner.deliveries
    const store = {
      ...inner,
      deliveries: {
        ...inner.deliveries,
        async erase(...given: Parameters<typeof erase>) {
          await new Promise((resolve) => setImmediate(resolve))
          if (!isOpen) throw new Error('the store is closed')
          return erase(...given)
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

  it('takes a call with its other legs, and leaves the rest', async () => {
    const { hs, call, calls } = await world()
    await call('a', { otherLegCallId: 'b' })
    await call('b')
    await call('c')
    const erased = await hs.erase({ accountId: 'acme', callId: 'b' })
    expect(erased.callIds?.toSorted()).toEqual(['a', 'b'])
    expect(erased.rows).toBeGreaterThanOrEqual(2)
    expect(await calls()).toEqual(['c'])
    expect(await hs.erase({ accountId: 'acme', callId: 'b' })).toEqual({ callIds: ['b'], rows: 0 })
  })

  it('takes every call of a number, however it is written, and not those of a longer one', async () => {
    const { hs, call, calls } = await world()
    await call('a', { from: '+15551234@acme.example' })
    await call('b', { callerIdNumber: '15551234' })
    await call('c', { callerIdNumber: '155512345' })
    await call('d', { customChannelVars: { called: 'sip:+15551234@example.com' } })
    const erased = await hs.erase({ accountId: 'acme', number: '+15551234' })
    expect(erased.callIds?.toSorted()).toEqual(['a', 'b', 'd'])
    expect(await calls()).toEqual(['c'])
  })

  it('takes everything that was sent of an account, and leaves its webhooks', async () => {
    const { hs, call, calls, webhookId } = await world()
    await call('a')
    await call('b')
    expect((await hs.erase({ accountId: 'acme' })).rows).toBeGreaterThanOrEqual(2)
    expect(await calls()).toEqual([])
    expect((await hs.webhooks.list('acme')).map(({ id }) => id)).toEqual([webhookId])
    await hs.publish({ hook: 'channel_create', accountId: 'acme', callId: 'new' })
    await expect.poll(calls).toEqual(['new'])
  })

  it('knows nothing of other accounts', async () => {
    const { hs, call, calls } = await world()
    await call('a', { callerIdNumber: '15551234' })
    for (const wish of [{}, { callId: 'a' }, { number: '15551234' }]) {
      expect((await hs.erase({ accountId: 'other', ...wish })).rows).toBe(0)
    }
    expect(await calls()).toEqual(['a'])
  })

  it.each([
    ['accountId', { callId: 'a' }],
    ['accountId', { accountId: '' }],
    ['callId', { accountId: 'acme', callId: 7 }],
    ['callId', { accountId: 'acme', callId: '' }],
    ['number', { accountId: 'acme', number: '12' }],
    ['number', { accountId: 'acme', number: '1 555 1234' }],
    ['number', { accountId: 'acme', number: 'a"b"c' }],
    ['number', { accountId: 'acme', callId: 'a', number: '15551234' }],
    ['caller', { accountId: 'acme', caller: '15551234' }],
    ['', null],
  ])('names what is wrong with a wish: %s', async (field, wish) => {
    const { hs } = await world()
    const thrown = await hs.erase(wish as never).catch((error: unknown) => error)
    expect(errorCode(thrown)).toBe('InvalidInput')
    expect(thrown).toMatchObject({ field })
  })
})
