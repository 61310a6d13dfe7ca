import { describe, expect, it } from 'vitest'
import { acceptEvents } from '../../src/delivery/accept.js'
import { errorCode, type HookswitchError } from '../../src/errors.js'
import { aWebhook } from './fixtures.js'
import { deliveryWorld, type World } from './world.js'

const event = (changes: object = {}) => ({
  hook: 'channel_create',
  accountId: 'acc',
  callId: 'leg',
  ...changes,
})
const publish = (world: World, ...events: object[]) => acceptEvents(world.accept, events, 100)

async function refusal(promise: Promise<unknown>): Promise<HookswitchError> {
  const thrown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(errorCode(thrown)).toBeDefined()
  return thrown as HookswitchError
}

describe('accepting an event', () => {
  it('makes one delivery for each webhook that wants it, frozen as the webhook is now', async () => {
    const world = await deliveryWorld([
      aWebhook(),
      aWebhook({ hook: 'channel_answer' }, { id: 'other' }),
      aWebhook({ enabled: false }, { id: 'off' }),
      aWebhook({ format: 'form-data', httpVerb: 'get', ordering: 'none' }, { id: 'w2', epoch: 4 }),
    ])
    const [accepted] = await publish(world, event({ timestampMs: 77 }))
    expect(accepted).toMatchObject({ sequence: 1, duplicate: false })
    const [first] = await world.deliveries('w1')
    expect(first).toMatchObject({
      eventId: accepted!.id,
      accountId: 'acc',
      eventAccountId: 'acc',
      callId: 'leg',
      hook: 'channel_create',
      eventTimestampMs: 77,
      encoding: 'json',
      httpVerb: 'post',
      lane: 'acc/leg',
      epoch: 1,
      state: 'waiting',
    })
    const [second] = await world.deliveries('w2')
    expect(second).toMatchObject({ encoding: 'form', httpVerb: 'get', epoch: 4 })
    expect(second!.lane).not.toBe(first!.lane)
    expect(await world.deliveries('other')).toEqual([])
    expect(await world.deliveries('off')).toEqual([])
  })

  it('makes no work for other accounts, and deliveries of those below belong to the webhook', async () => {
    const world = await deliveryWorld([
      aWebhook({ includeSubaccounts: true }, { id: 'parent' }),
      aWebhook({}, { id: 'child', accountId: 'sub' }),
    ])
    await publish(world, event({ accountId: 'sub' }))
    expect(await world.deliveries('parent')).toMatchObject([
      { accountId: 'acc', eventAccountId: 'sub', lane: 'sub/leg' },
    ])
    expect(await world.deliveries('child', 'sub')).toMatchObject([{ accountId: 'sub' }])
    await publish(world, event())
    expect(await world.deliveries('child', 'sub')).toHaveLength(1)
  })

  it('is refused for an unknown account', async () => {
    const world = await deliveryWorld()
    expect(await refusal(publish(world, event({ accountId: 'nobody' })))).toMatchObject({
      code: 'NotFound',
      id: 'nobody',
    })
  })

  it('is kept, numbered, also when nobody wants it', async () => {
    const world = await deliveryWorld([])
    expect(await publish(world, event())).toMatchObject([{ sequence: 1 }])
    expect(await publish(world, event())).toMatchObject([{ sequence: 2 }])
    expect(await world.store.deliveries.pending()).toBe(0)
  })

  it('once for each idempotency key, and is refused for another body under the same one', async () => {
    const world = await deliveryWorld()
    const key = { idempotencyKey: 'k' }
    const [first] = await publish(world, event({ ...key, from: 'a' }))
    const [again] = await publish(world, { from: 'a', ...key, ...event() })
    expect(again).toEqual({ ...first, duplicate: true })
    expect(await world.deliveries()).toHaveLength(1)
    expect(await refusal(publish(world, event({ ...key, from: 'b' })))).toMatchObject({ code: 'Conflict' })
    await world.clock.advance(86_400_000)
    expect(await publish(world, event({ ...key, from: 'b' }))).toMatchObject([{ duplicate: false }])
  })

  it('of a list is all or nothing, and names the place of what is wrong', async () => {
    const world = await deliveryWorld()
    const failed = await refusal(publish(world, event(), event({ callId: '' }), event()))
    expect(failed).toMatchObject({ code: 'InvalidInput', field: '1.callId' })
    expect(failed.failures?.map(({ path }) => path)).toEqual(['1.callId'])
    expect(await refusal(publish(world, event(), 'x' as unknown as object))).toMatchObject({ field: '1' })
    expect(await world.store.deliveries.pending()).toBe(0)
    expect(await publish(world, event(), event(), event())).toMatchObject([
      { sequence: 1 },
      { sequence: 2 },
      { sequence: 3 },
    ])
  })

  it('is refused, not dropped, when too much is pending', async () => {
    const world = await deliveryWorld()
    await acceptEvents(world.accept, [event()], 1)
    expect(await refusal(acceptEvents(world.accept, [event()], 1))).toMatchObject({ code: 'QueueFull' })
    expect(await world.store.deliveries.pending()).toBe(1)
  })

  it('is refused above 64 KiB, whoever wants it', async () => {
    for (const webhooks of [[], [aWebhook()]]) {
      const world = await deliveryWorld(webhooks)
      expect(await refusal(publish(world, event({ from: 'x'.repeat(65_536) })))).toMatchObject({
        code: 'InvalidInput',
      })
    }
  })

  it('is not refused for what one webhook adds to it, or how it writes it', async () => {
    const world = await deliveryWorld([
      aWebhook({ customData: { padding: 'x'.repeat(60_000) } }),
      aWebhook({ format: 'form-data' }, { id: 'w2' }),
    ])
    await publish(world, event({ from: '{'.repeat(30_000) }))
    expect(await world.deliveries('w1')).toHaveLength(1)
    expect(await world.deliveries('w2')).toHaveLength(1)
  })

  it('keeps a body once for all webhooks that get the same bytes', async () => {
    const webhooks = Array.from({ length: 5 }, (_, index) =>
      aWebhook(index < 3 ? {} : { customData: { a: '1' } }, { id: `w${index}` }),
    )
    const world = await deliveryWorld(webhooks)
    let bodies = 0
    const accept: typeof world.accept = {
      ...world.accept,
      deliveries: {
        accept(acceptance, now) {
          bodies = acceptance.events[0]!.bodies.length
          return world.store.deliveries.accept(acceptance, now)
        },
      },
    }
    await acceptEvents(accept, [event()], 100)
    expect(bodies).toBe(2)
  })
})
