import {
  type ChannelEvent,
  type CustomHook,
  createHookswitch,
  type EventOf,
  type Hookswitch,
  type HookswitchError,
  type HookswitchOptions,
  memoryStore,
  type Published,
} from 'hookswitch'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { catalogueOf } from '../../src/webhooks/catalogue.js'
import { isMetaHook } from '../../src/webhooks/meta-hooks.js'

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
    const options: HookswitchOptions = { store: memoryStore(), hooks: [{ id: 'my_hook' }] }
    const hs = createHookswitch(options)
    expectTypeOf(hs).toEqualTypeOf<Hookswitch<CustomHook>>()
    hs.events.on('my_hook', ({ eventId }) => expectTypeOf(eventId).toEqualTypeOf<string>())
    hs.events.on('attempt', ({ deliveryId }) => expectTypeOf(deliveryId).toEqualTypeOf<string>())
  })
})

describe('the types of publish', () => {
  const build = () => createHookswitch({ store: memoryStore(), hooks: [{ id: 'my_hook' }] })
  type MyHook = { readonly id: 'my_hook' }

  it('are a union of the built-in kinds and the registered ones', () => {
    expectTypeOf<EventOf['hook']>().toEqualTypeOf<ChannelEvent['hook'] | 'object'>()
    expectTypeOf<EventOf<MyHook>['hook']>().toEqualTypeOf<EventOf['hook'] | 'my_hook'>()
    expectTypeOf<Parameters<Hookswitch['publish']>[0]>().extract<{ hook: string }>().toEqualTypeOf<EventOf>()
    const kinds: Readonly<Record<EventOf['hook'], true>> = {
      channel_create: true,
      channel_answer: true,
      channel_bridge: true,
      channel_hold: true,
      channel_unhold: true,
      channel_destroy: true,
      channel_transferee: true,
      channel_transferor: true,
      parking: true,
      voicemail_new: true,
      missed_call: true,
      queue_join: true,
      queue_leave: true,
      queue_agent_offer: true,
      queue_agent_answer: true,
      queue_agent_no_answer: true,
      queue_agent_complete: true,
      queue_agent_login: true,
      queue_agent_logout: true,
      queue_agent_pause: true,
      queue_agent_resume: true,
      channel_dtmf: true,
      recording_started: true,
      recording_ready: true,
      conference_join: true,
      conference_leave: true,
      device_registered: true,
      device_unregistered: true,
      sms: true,
      object: true,
    }
    const builtIn = catalogueOf().filter(({ id }) => !isMetaHook(id))
    expect(Object.keys(kinds)).toEqual(builtIn.map(({ id }) => id))
  })

  it('refuse a misspelt kind or field, and what a kind does not have', () => {
    const hs = build()
    const refused = () => [
      // @ts-expect-error: no such kind
      hs.publish({ ...event, hook: 'channel_creat' }),
      // @ts-expect-error: no such kind
      hs.publish({ ...event, hook: 'my_hok' }),
      hs.publish([
        { ...event, hook: 'channel_create' },
        // @ts-expect-error: no such kind
        { ...event, hook: 'channel_creat' },
      ]),
      // @ts-expect-error: no such field
      hs.publish({ ...event, hook: 'channel_create', callerNumber: '1' }),
      // @ts-expect-error: no call
      hs.publish({ accountId: 'a', hook: 'channel_create' }),
      // @ts-expect-error: data is for registered kinds
      hs.publish({ ...event, hook: 'channel_create', data: {} }),
      // @ts-expect-error: the event of a document says which, and what happened to it
      hs.publish({ ...event, hook: 'object' }),
      // @ts-expect-error: a kind that is known only at run time
      hs.publish({ ...event, hook: String('channel_create') }),
      // @ts-expect-error: no such option
      hs.publish({ ...event, hook: 'channel_create' }, { idempotenceKey: 'k' }),
    ]
    expect(refused).toBeTypeOf('function')
  })

  it('accept every kind, and any name where the kinds are known only at run time', () => {
    const hs = build()
    const document = { documentId: 'a', documentType: 'account', documentAction: 'doc_created' } as const
    const anyKind = createHookswitch<readonly CustomHook[]>({ store: memoryStore() })
    const accepted = () => [
      hs.publish({ ...event, hook: 'channel_create', from: undefined }),
      hs.publish({ ...event, hook: 'my_hook', data: { any: 'thing' } }),
      hs.publish({ accountId: 'a', orderingKey: 'k', hook: 'my_hook' }),
      hs.publish({ ...event, ...document, hook: 'object' }),
      anyKind.publish({ ...event, hook: String('channel_create') }),
    ]
    expect(accepted).toBeTypeOf('function')
  })

  it('say what it resolves to', () => {
    const hs = build()
    type Refused = { readonly eventId?: undefined; readonly error: HookswitchError }
    type Staged = Pick<Published, 'eventId' | 'error'>
    const create = { ...event, hook: 'channel_create' } as const
    const types = () => {
      expectTypeOf(hs.publish(create)).resolves.toEqualTypeOf<Published>()
      expectTypeOf(hs.publish(JSON.parse(''))).resolves.toEqualTypeOf<Published>()
      expectTypeOf(hs.publish(create, { tx: {} })).resolves.toEqualTypeOf<Staged>()
      const list = ['a', 'b'].map((callId) => ({ hook: 'channel_create', accountId: 'a', callId }) as const)
      expectTypeOf(hs.publish(list)).resolves.branded.toEqualTypeOf<
        readonly (Published | (Refused & { readonly sequence?: undefined }))[]
      >()
      expectTypeOf(hs.publish(list, { atomic: true })).resolves.toEqualTypeOf<readonly Published[]>()
      expectTypeOf(hs.publish(list, { tx: {} })).resolves.toEqualTypeOf<readonly (Staged | Refused)[]>()
      // The kinds of a list that is built in the call are no texts.
      hs.publish(['a'].map((callId) => ({ hook: 'channel_create', accountId: 'a', callId })))
    }
    expect(types).toBeTypeOf('function')
  })
})

describe('the types of the options', () => {
  it('accept undefined where it means that an option is not set', () => {
    const options: HookswitchOptions = {
      store: memoryStore(),
      secret: process.env.NO_SUCH_VARIABLE,
      proxy: process.env.NO_SUCH_VARIABLE,
      hooks: undefined,
    }
    expect(createHookswitch(options)).toBeTypeOf('object')
  })

  it('keep the registered kinds of options that are declared apart', () => {
    const options = {
      store: memoryStore(),
      hooks: [{ id: 'my_hook' }],
    } as const satisfies HookswitchOptions
    expectTypeOf(createHookswitch(options).publish).toEqualTypeOf<
      Hookswitch<{ readonly id: 'my_hook' }>['publish']
    >()
  })
})
