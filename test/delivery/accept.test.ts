import { describe, expect, it } from 'vitest'
import { acceptEvents } from '../../src/delivery/accept.js'
import { errorCode, HookswitchError } from '../../src/errors.js'
import { aWebhook } from './fixtures.js'
import { createHarness, type Harness } from './harness.js'

const event = (changes: object = {}) => ({
  hook: 'channel_create',
  accountId: 'acc',
  callId: 'leg',
  ...changes,
})
const accept = (harness: Harness, ...events: object[]) => acceptEvents(harness.accept, events)

async function rejectionOf(promise: Promise<unknown>): Promise<HookswitchError> {
  const thrown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(errorCode(thrown)).toBeDefined()
  return thrown as HookswitchError
}

describe('acceptEvents', () => {
  it('creates one delivery per matching webhook with the current settings of the webhook', async () => {
    const harness = await createHarness([
      aWebhook(),
      aWebhook({ hook: 'channel_answer' }, { id: 'other' }),
      aWebhook({ enabled: false }, { id: 'off' }),
      aWebhook({ format: 'form-data', httpVerb: 'get', ordering: 'none' }, { id: 'w2', epoch: 4 }),
    ])
    const [accepted] = await accept(harness, event({ timestampMs: 77 }))
    expect(accepted).toMatchObject({ sequence: 1, duplicate: false })
    const [first] = await harness.deliveries('w1')
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
    const [second] = await harness.deliveries('w2')
    expect(second).toMatchObject({ encoding: 'form', httpVerb: 'get', epoch: 4 })
    expect(second!.lane).not.toBe(first!.lane)
    expect(await harness.deliveries('other')).toEqual([])
    expect(await harness.deliveries('off')).toEqual([])
  })

  it('creates no deliveries for other accounts, and a delivery of a subaccount event belongs to the webhook', async () => {
    const harness = await createHarness([
      aWebhook({ includeSubaccounts: true }, { id: 'parent' }),
      aWebhook({}, { id: 'child', accountId: 'sub' }),
    ])
    await accept(harness, event({ accountId: 'sub' }))
    expect(await harness.deliveries('parent')).toMatchObject([
      { accountId: 'acc', eventAccountId: 'sub', lane: 'sub/leg' },
    ])
    expect(await harness.deliveries('child', 'sub')).toMatchObject([{ accountId: 'sub' }])
    await accept(harness, event())
    expect(await harness.deliveries('child', 'sub')).toHaveLength(1)
  })

  it('refuses an event of an unknown account', async () => {
    const harness = await createHarness()
    expect(await rejectionOf(accept(harness, event({ accountId: 'nobody' })))).toMatchObject({
      code: 'NotFound',
      id: 'nobody',
    })
  })

  it('stores and numbers an event that no webhook matches', async () => {
    const harness = await createHarness([])
    expect(await accept(harness, event())).toMatchObject([{ sequence: 1 }])
    expect(await accept(harness, event())).toMatchObject([{ sequence: 2 }])
    expect(await harness.pending()).toBe(0)
  })

  it('accepts an idempotency key once, and refuses another body under the same key', async () => {
    const harness = await createHarness()
    const key = { idempotencyKey: 'k' }
    const [first] = await accept(harness, event({ ...key, from: 'a' }))
    const [again] = await accept(harness, { from: 'a', ...key, ...event() })
    expect(again).toEqual({ ...first, duplicate: true })
    expect(await harness.deliveries()).toHaveLength(1)
    expect(await rejectionOf(accept(harness, event({ ...key, from: 'b' })))).toMatchObject({
      code: 'Conflict',
    })
    await harness.clock.advance(86_400_000)
    expect(await accept(harness, event({ ...key, from: 'b' }))).toMatchObject([{ duplicate: false }])
  })

  it('accepts all events of a list or none, and names the index of an invalid one', async () => {
    const harness = await createHarness()
    const failed = await rejectionOf(accept(harness, event(), event({ callId: '' }), event()))
    expect(failed).toMatchObject({ code: 'InvalidInput', field: 'events[1].callId' })
    expect(failed.failures?.map(({ path }) => path)).toEqual(['events[1].callId'])
    expect(await rejectionOf(accept(harness, event(), 'x' as unknown as object))).toMatchObject({
      field: 'events[1]',
    })
    expect(await harness.pending()).toBe(0)
    expect(await accept(harness, event(), event(), event())).toMatchObject([
      { sequence: 1 },
      { sequence: 2 },
      { sequence: 3 },
    ])
  })

  it('refuses an event above 64 KiB, whether webhooks match it or not', async () => {
    for (const webhooks of [[], [aWebhook()]]) {
      const harness = await createHarness(webhooks)
      expect(await rejectionOf(accept(harness, event({ from: 'x'.repeat(65_536) })))).toMatchObject({
        code: 'InvalidInput',
      })
    }
  })

  it('does not count custom data or form encoding of a webhook toward the size of the event', async () => {
    const harness = await createHarness([
      aWebhook({ customData: { padding: 'x'.repeat(60_000) } }),
      aWebhook({ format: 'form-data' }, { id: 'w2' }),
    ])
    await accept(harness, event({ from: '{'.repeat(30_000) }))
    expect(await harness.deliveries('w1')).toHaveLength(1)
    expect(await harness.deliveries('w2')).toHaveLength(1)
  })

  it('stores a body once for all webhooks that get the same bytes', async () => {
    const webhooks = Array.from({ length: 5 }, (_, index) =>
      aWebhook(index < 3 ? {} : { customData: { a: '1' } }, { id: `w${index}` }),
    )
    const harness = await createHarness(webhooks)
    let bodies = 0
    const deps: typeof harness.accept = {
      ...harness.accept,
      accept(acceptance) {
        bodies = acceptance.events[0]!.bodies.length
        return harness.accept.accept(acceptance)
      },
    }
    await acceptEvents(deps, [event()])
    expect(bodies).toBe(2)
  })
})

describe('a long list', () => {
  const webhooks = [aWebhook(), aWebhook({}, { id: 'w2' }), aWebhook({}, { id: 'w3' })]
  const events = Array.from({ length: 120 }, (_, index) => event({ callId: `call-${index}` }))

  /** Records the acceptances, of which the one at `failsAt` fails. */
  async function recording(failsAt?: number, receivers = webhooks) {
    const harness = await createHarness(receivers)
    const sizes: [number, number][] = []
    const continued: (boolean | undefined)[] = []
    const deps: typeof harness.accept = {
      ...harness.accept,
      accept(acceptance, isContinued) {
        if (sizes.length === failsAt)
          return Promise.reject(new HookswitchError('StoreUnavailable', 'out', { retryAfterSeconds: 1 }))
        sizes.push([acceptance.events.length, acceptance.deliveries.length])
        continued.push(isContinued)
        return harness.accept.accept(acceptance)
      },
    }
    return { harness, deps, sizes, continued }
  }

  it('is accepted in parts of 200 events and deliveries, in order', async () => {
    const { harness, deps, sizes, continued } = await recording()
    const places: number[] = []
    const accepted = await acceptEvents(deps, events, {
      inParts: true,
      onAccepted: (_, from) => places.push(from),
    })
    expect(sizes).toEqual([
      [50, 150],
      [50, 150],
      [20, 60],
    ])
    expect(places).toEqual([0, 50, 100])
    expect(continued).toEqual([false, true, true])
    const stored = await harness.deliveries('w2')
    expect(stored.map(({ eventId }) => eventId).sort()).toEqual(accepted.map(({ id }) => id).sort())
    expect(new Set(stored.map(({ callId }) => callId)).size).toBe(120)
  })

  it('is accepted in smaller parts where its bodies are large', async () => {
    const { deps, sizes } = await recording()
    const large = (count: number) => event({ customChannelVars: { text: 'x'.repeat(count * 10_000) } })
    await acceptEvents(deps, [...Array.from({ length: 50 }, () => large(6)), event()], { inParts: true })
    expect(sizes).toEqual([
      [18, 54],
      [18, 54],
      [15, 45],
    ])
  })

  it('is accepted whole with 20 events and deliveries, however large its bodies are', async () => {
    const forms = [1, 2, 3].map((n) =>
      aWebhook({ format: 'form-data', customData: { n: `${n}` } }, { id: `f${n}` }),
    )
    const { deps, sizes } = await recording(undefined, forms)
    const form = () => event({ from: '<'.repeat(60_000) })
    const list = (length: number) => Array.from({ length }, form)
    await acceptEvents(deps, list(5), { inParts: true })
    expect(sizes).toEqual([[5, 15]])
    sizes.length = 0
    await acceptEvents(deps, list(6), { inParts: true })
    expect(sizes).toEqual([
      [2, 6],
      [2, 6],
      [2, 6],
    ])
  })

  it('whose bodies are too large together is refused before any of it is accepted', async () => {
    const { deps, sizes } = await recording()
    const limits = { ...deps.limits, maxDeliveriesPerRequest: 360 }
    const list = (size: number) =>
      Array.from({ length: 120 }, (_, index) =>
        event({ customChannelVars: { text: index === 119 ? '' : 'x'.repeat(size) } }),
      )
    await expect(acceptEvents({ ...deps, limits }, list(12_400), { inParts: true })).rejects.toMatchObject({
      code: 'TooLarge',
      field: 'maxDeliveriesPerRequest',
    })
    expect(sizes).toEqual([])
    await acceptEvents({ ...deps, limits }, list(12_000), { inParts: true })
    expect(sizes.length).toBeGreaterThan(1)
  })

  it('is accepted in smaller parts from when others publish too', async () => {
    const { deps, sizes } = await recording()
    const partSize = () => (sizes.length === 0 ? 200 : 140)
    await acceptEvents({ ...deps, partSize }, events, { inParts: true })
    expect(sizes).toEqual([
      [50, 150],
      [35, 105],
      [35, 105],
    ])
  })

  it('is refused before any part is accepted, if one event is invalid', async () => {
    const { deps, sizes } = await recording()
    const error = await rejectionOf(acceptEvents(deps, [...events, event({ hook: 'no' })], { inParts: true }))
    expect(error).toMatchObject({ code: 'InvalidInput', failures: [{ path: 'events[120].hook' }] })
    expect(sizes).toEqual([])
  })

  it.each([
    [0, 'out', undefined],
    [2, 'out; the first 100 events of the list were accepted', 100],
  ])('tells how much was accepted when part %i fails', async (failsAt, message, acceptedEvents) => {
    const { harness, deps } = await recording(failsAt)
    const error = await rejectionOf(acceptEvents(deps, events, { inParts: true }))
    expect(error).toMatchObject({ code: 'StoreUnavailable', message, retryAfterSeconds: 1 })
    expect((error as { acceptedEvents?: number }).acceptedEvents).toBe(acceptedEvents)
    expect(await harness.deliveries('w1')).toHaveLength(failsAt * 50)
  })

  it('is accepted as one by default, and an event with many webhooks always', async () => {
    const { deps, sizes } = await recording()
    await acceptEvents(deps, events)
    expect(sizes).toEqual([[120, 360]])
    const many = Array.from({ length: 250 }, (_, index) => aWebhook({}, { id: `w${index}` }))
    const harness = await createHarness(many)
    await acceptEvents(harness.accept, [event(), event({ callId: 'other' })], { inParts: true })
    expect(await harness.deliveries('w249')).toHaveLength(2)
  })
})
