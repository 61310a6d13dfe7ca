import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { constant } from '../../src/delivery/policy.js'
import { HEALTH_PRESETS } from '../../src/webhooks/health.js'
import { changeSettings, deleteWebhook, encryptedSettingsOf } from '../../src/webhooks/webhook.js'
import { aWebhook } from './fixtures.js'
import { createHarness, headerOf, type NodeOptions, responseWith } from './harness.js'
import { createTwoPhaseSender } from './two-phase-sender.js'

/** A node whose requests wait for connections, and changes of its webhook. */
async function createTwoPhaseHarness(options: NodeOptions = {}, webhook = aWebhook()) {
  const harness = await createHarness([webhook])
  const sender = createTwoPhaseSender()
  /** Starts of webhooks that were disabled or deleted when the store let them start. */
  const forbidden: number[] = []
  const { store: deliveries } = harness.faults
  const store: typeof deliveries = {
    ...deliveries,
    async commit(group) {
      const result = await deliveries.commit(group)
      const starts = group.starting?.deliveries ?? []
      for (const [index, { webhookId, position }] of starts.entries()) {
        if (result.kind !== 'committed' || result.notStarted.includes(index)) continue
        if (!(await harness.store.webhooks.read('acc', webhookId))?.settings.enabled) forbidden.push(position)
      }
      return result
    },
  }
  const node = harness.node(options, { sender, store })
  await node.start()
  const setEnabled = async (isEnabled: boolean) => {
    const row = (await harness.store.webhooks.read('acc', 'w1'))!
    if (row.settings.enabled === isEnabled) return
    const settings = { ...row.settings, enabled: isEnabled }
    const next = changeSettings(row, { ...encryptedSettingsOf(row), settings }, harness.clock.now())
    await harness.store.webhooks.replace(next, row.revision)
    if (!isEnabled) node.cancelUnsent('w1')
  }
  const remove = async () => {
    const row = (await harness.store.webhooks.read('acc', 'w1'))!
    await harness.store.webhooks.replace(deleteWebhook(row, harness.clock.now()), row.revision)
    node.cancelUnsent('w1')
  }
  return { ...harness, harness, sender, node, forbidden, setEnabled, remove }
}

const BURST_OF_TWO = {
  pauses: false,
  autoDisable: { kind: 'burst', failures: 2, withinMs: 60_000 },
} as const

describe('a webhook that is disabled or deleted', () => {
  type TwoPhaseHarness = Awaited<ReturnType<typeof createTwoPhaseHarness>>
  const answerBoth = (status: number) => (s: TwoPhaseHarness) => {
    for (const request of [...s.sender.onWire]) request.answer(responseWith(status))
  }
  it.each<[string, (s: TwoPhaseHarness) => unknown, string]>([
    ['disabled by its owner', (s) => s.setEnabled(false), 'delivered'],
    ['deleted by its owner', (s) => s.remove(), 'delivered'],
    ['disabled by a 410 of its receiver', answerBoth(410), 'cancelled'],
    ['disabled by its failures', answerBoth(500), 'exhausted'],
  ])(
    '%s: requests not on the wire are cancelled unsent, those on the wire end and are recorded',
    async (_, disable, end) => {
      const rules = { caps: { perEndpoint: 4 }, healthRules: BURST_OF_TWO }
      const s = await createTwoPhaseHarness(rules, aWebhook({ retries: 0 }))
      await s.publish('warm-up')
      await s.clock.settle()
      s.sender.waiting[0]!.connect()
      s.sender.onWire[0]!.answer(responseWith(200))
      await s.clock.settle()
      const warmUp = headerOf(s.sender.sent.pop()!, 'webhook-id')
      for (let call = 0; call < 7; call++) await s.publish(`call-${call}`)
      await s.clock.settle()
      expect(s.sender.waiting).toHaveLength(4)
      for (const request of s.sender.waiting.slice(0, 2)) request.connect()
      await disable(s)
      await s.clock.settle()
      expect(s.sender.cancellations.filter((group) => group === 'w1').length).toBeGreaterThan(0)
      expect(new Set(s.sender.cancellations)).toEqual(new Set(['w1']))
      expect(s.sender.waiting).toEqual([])
      for (const request of [...s.sender.onWire]) request.answer(responseWith(200))
      await s.clock.advance(3_600_000)

      expect(s.sender.sent).toHaveLength(2)
      expect(s.sender.waiting).toEqual([])
      expect(s.forbidden).toEqual([])
      const onWire = new Set(s.sender.sent.map((request) => headerOf(request, 'webhook-id')))
      const deliveries = (await s.deliveries()).filter(({ id }) => id !== warmUp)
      const wired = deliveries.filter(({ id }) => onWire.has(id))
      const unsent = deliveries.filter(({ id }) => !onWire.has(id))
      expect(wired.map(({ attempts }) => attempts)).toEqual([1, 1])
      expect(unsent).toHaveLength(5)
      for (const delivery of unsent)
        expect(delivery).toMatchObject({ state: 'cancelled', attempts: 0, tries: 0 })
      expect(wired.map(({ state }) => state)).toEqual([end, end])

      const records = (await s.attempts()).filter(({ deliveryId }) => deliveryId !== warmUp)
      expect(
        records.filter(({ attempt }) => attempt !== undefined).map((record) => record.deliveryId),
      ).toEqual(wired.map(({ id }) => id))
      expect(s.emitted.filter(({ name }) => name === 'cancelled').length).toBe(
        deliveries.filter(({ state }) => state === 'cancelled').length,
      )
      expect(s.node.inFlight('w1')).toBe(0)
      expect(await s.pending()).toBe(0)
      await s.node.close(0)
    },
  )

  it('uses no attempt number for a cancelled retry: the records are attempt 1 and the end', async () => {
    const s = await createTwoPhaseHarness({ policy: constant(1000, { jitter: 0 }) })
    await s.publish('call')
    await s.clock.settle()
    s.sender.waiting[0]!.connect()
    s.sender.onWire[0]!.answer(responseWith(500))
    await s.clock.advance(1000)
    expect(headerOf(s.sender.waiting[0]!.request, 'x-hook-attempt')).toBe('2')
    await s.setEnabled(false)
    await s.clock.settle()
    expect((await s.attempts()).map(({ attempt, reason }) => [attempt, reason])).toEqual([
      [1, 'bad status'],
      [undefined, 'cancelled'],
    ])
    expect(await s.deliveries()).toMatchObject([{ state: 'cancelled', attempts: 1, tries: 1 }])
    await s.node.close(0)
  })

  it('is not started any more, even while its changes cannot be read', async () => {
    const s = await createTwoPhaseHarness({ caps: { perEndpoint: 2 } })
    for (let call = 0; call < 5; call++) await s.publish(`call-${call}`)
    await s.clock.settle()
    s.faults.failing.add('changes')
    await s.setEnabled(false)
    await s.clock.advance(20_000)
    expect(s.sender.waiting).toEqual([])
    expect(s.forbidden).toEqual([])
    s.faults.failing.clear()
    await s.clock.advance(5000)
    expect((await s.deliveries()).map(({ state }) => state)).toEqual(new Array(5).fill('cancelled'))
    expect(s.sender.sent).toEqual([])
    await s.node.close(0)
  })

  it('affects no other webhook, and may be cancelled repeatedly', async () => {
    const harness = await createHarness([aWebhook(), aWebhook({}, { id: 'w2' })])
    const sender = createTwoPhaseSender()
    const node = harness.node({}, { sender })
    await node.start()
    await harness.publish('call')
    await harness.clock.settle()
    for (let again = 0; again < 3; again++) node.cancelUnsent('w1')
    node.cancelUnsent('unknown')
    expect(sender.waiting.map(({ request }) => request.group)).toEqual(['w2'])
    await harness.clock.settle()
    expect((await harness.deliveries('w2')).map(({ state }) => state)).toEqual(['in_flight'])
    await node.close(0)
  })

  it('has its request ended normally by a sender that cannot cancel', async () => {
    const harness = await createHarness()
    harness.sender.script = () => undefined
    const node = harness.node()
    await node.start()
    await harness.publish('call')
    await harness.clock.settle()
    node.cancelUnsent('w1')
    harness.sender.open[0]!.answer(responseWith(200))
    await harness.clock.settle()
    expect((await harness.deliveries()).map(({ state }) => state)).toEqual(['delivered'])
    await node.close(0)
  })
})

describe('a sender that cancels requests of an enabled webhook', () => {
  it('loses nothing: the delivery is retried after a pause, under the same attempt number', async () => {
    const s = await createTwoPhaseHarness({}, aWebhook({ retries: 0 }))
    await s.publish('call')
    await s.clock.settle()
    for (let time = 0; time < 5; time++) {
      s.sender.cancelAll()
      await s.clock.advance(999)
      expect(s.sender.waiting).toHaveLength(0)
      await s.clock.advance(1)
      expect(headerOf(s.sender.waiting[0]!.request, 'x-hook-attempt')).toBe('1')
    }
    expect(await s.attempts()).toEqual([])
    expect((await s.store.webhooks.read('acc', 'w1'))?.health).toBeUndefined()
    s.sender.waiting[0]!.connect()
    s.sender.onWire[0]!.answer(responseWith(200))
    await s.clock.settle()
    expect(await s.deliveries()).toMatchObject([{ state: 'delivered', attempts: 1, tries: 1 }])
    await s.node.close(0)
  })
})

describe('any history of a webhook, its owner and its receiver', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('publish' as const), call: fc.nat(3) }),
    fc.record({ kind: fc.constant('connect' as const), which: fc.nat(9) }),
    fc.record({
      kind: fc.constant('answer' as const),
      which: fc.nat(9),
      status: fc.constantFrom(200, 500, 503),
    }),
    fc.record({ kind: fc.constantFrom('disable' as const, 'enable' as const, 'spurious' as const) }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(4000) }),
  )

  it('starts and sends nothing while the webhook is disabled, and the receiver sees every attempt number', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (history) => {
        const healthRules = { ...HEALTH_PRESETS.standard, pauses: false }
        const policy = constant(1000, { jitter: 0 })
        const s = await createTwoPhaseHarness({ caps: { perEndpoint: 3 }, policy, healthRules })
        const { sender } = s
        for (const step of history) {
          if (step.kind === 'publish') await s.publish(`call-${step.call}`)
          else if (step.kind === 'connect') sender.waiting[step.which % 3]?.connect()
          else if (step.kind === 'answer') sender.onWire[step.which % 3]?.answer(responseWith(step.status))
          else if (step.kind === 'spurious') sender.cancelAll()
          else if (step.kind === 'wait') await s.clock.advance(step.ms)
          else await s.setEnabled(step.kind === 'enable')
          if (step.kind === 'disable') expect(sender.waiting).toEqual([])
          await s.clock.settle()
        }
        for (let round = 0; round < 200 && (await s.pending()) > 0; round++) {
          for (const request of [...sender.waiting]) request.connect()
          for (const request of [...sender.onWire]) request.answer(responseWith(200))
          await s.clock.advance(1000)
        }
        expect(await s.pending()).toBe(0)
        expect(s.forbidden).toEqual([])
        expect(s.node.inFlight('w1')).toBe(0)
        const numbers = (list: readonly { id: string; number: number | undefined }[], id: string) =>
          list.filter((item) => item.id === id && item.number !== undefined).map(({ number }) => number)
        const sent = sender.sent.map((request) => ({
          id: headerOf(request, 'webhook-id'),
          number: Number(headerOf(request, 'x-hook-attempt')),
        }))
        const stored = (await s.attempts()).map(({ deliveryId: id, attempt: number }) => ({ id, number }))
        for (const { id, attempts } of await s.deliveries()) {
          const expected = Array.from({ length: attempts }, (_, index) => index + 1)
          expect(numbers(sent, id).sort()).toEqual(expected)
          expect(numbers(stored, id)).toEqual(expected)
        }
        await s.node.close(0)
      }),
      { numRuns: 60 },
    )
  })
})
