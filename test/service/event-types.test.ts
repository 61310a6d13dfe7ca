import {
  type CustomHook,
  createHookswitch,
  type Hookswitch,
  type HookswitchOptions,
  memoryStore,
} from 'hookswitch'
import type { Store } from 'hookswitch/store'
import { describe, expect, expectTypeOf, it } from 'vitest'

const event = { accountId: 'a', callId: 'c' }

describe('the types of hs.events', () => {
  it('a custom hook of the options is an event name, and its listener receives the published event', async () => {
    const hs = createHookswitch({ store: memoryStore(), hooks: [{ id: 'my_hook' }, { id: 'other_hook' }] })
    const received: string[] = []
    hs.events.on('my_hook', (published) => {
      expectTypeOf(published.hook).toEqualTypeOf<'my_hook'>()
      expectTypeOf(published.sequence).toEqualTypeOf<number>()
      received.push(published.eventId)
    })
    hs.events.once('other_hook', ({ eventId }) => received.push(eventId))
    await hs.start()
    const account = await hs.accounts.create({ name: 'Acme', realm: 'acme.example' })
    const { eventId } = await hs.publish({ ...event, accountId: account.id, hook: 'my_hook' })
    expect(received).toEqual([eventId])
    await hs.close()
  })

  it('built-in events keep their payload types', () => {
    const hs = createHookswitch({ store: memoryStore(), hooks: [{ id: 'my_hook' }] })
    hs.events.on('attempt', (attempt) => expectTypeOf(attempt.deliveryId).toEqualTypeOf<string>())
    hs.events.on('webhook_disabled', (disabled) => expectTypeOf(disabled.reason).toEqualTypeOf<string>())
    hs.events.on('delivered', (end) => expectTypeOf(end.attempts).toEqualTypeOf<number>())
    hs.events.on('channel_create', ({ callId }) => expectTypeOf(callId).toEqualTypeOf<string>())
    // @ts-expect-error: the payload of 'delivered' has no such field
    hs.events.on('delivered', (end) => end.sequence)
    // @ts-expect-error: no such event
    expect(() => hs.events.on('my_hok', () => {})).toThrow("'my_hok' is not an event")
  })

  it('without custom hooks only built-in names are events', () => {
    const hs = createHookswitch({ store: memoryStore() })
    expectTypeOf(hs).toEqualTypeOf<Hookswitch>()
    // @ts-expect-error: no such event
    expect(() => hs.events.on('my_hook', () => {})).toThrow("'my_hook' is not an event")
  })

  it('an instance with custom hooks is a Hookswitch', () => {
    const hs: Hookswitch = createHookswitch({ store: memoryStore(), hooks: [{ id: 'my_hook' }] })
    hs.events.off('delivered', () => {})
  })

  it('hooks of unknown ids allow any event name', () => {
    const options: HookswitchOptions<Store> = { store: memoryStore(), hooks: [{ id: 'my_hook' }] }
    const hs: Hookswitch<CustomHook> = createHookswitch(options)
    hs.events.on('my_hook', ({ eventId }) => expectTypeOf(eventId).toEqualTypeOf<string>())
    hs.events.on('attempt', ({ deliveryId }) => expectTypeOf(deliveryId).toEqualTypeOf<string>())
  })
})
