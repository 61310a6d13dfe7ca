import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { constant } from '../../src/delivery/policy.js'
import { HEALTH_PRESETS } from '../../src/webhooks/health.js'
import { changeSettings, deletedWebhook, sealedOf } from '../../src/webhooks/webhook.js'
import { aWebhook } from './fixtures.js'
import { stagedSender } from './staged-sender.js'
import { answered, deliveryWorld, headerOf, type NodeOptions } from './world.js'

/** A node whose requests wait for connections, and what its owner may do to the webhook. */
async function staged(options: NodeOptions = {}, webhook = aWebhook()) {
  const world = await deliveryWorld([webhook])
  const sender = stagedSender()
  /** Claims of webhooks that were disabled or deleted at that moment. */
  const forbidden: string[] = []
  const { store: deliveries } = world.faults
  const store: typeof deliveries = {
    ...deliveries,
    async claim(request) {
      const result = await deliveries.claim(request)
      for (const { delivery } of result.claims)
        if (!(await world.store.webhooks.read('acc', delivery.webhookId))?.settings.enabled)
          forbidden.push(delivery.id)
      return result
    },
  }
  const node = world.node(options, { sender, store })
  await node.start()
  const enabled = async (on: boolean) => {
    const row = (await world.store.webhooks.read('acc', 'w1'))!
    if (row.settings.enabled === on) return
    const settings = { ...row.settings, enabled: on }
    const next = changeSettings(row, { ...sealedOf(row), settings }, world.clock.now())
    await world.store.webhooks.replace(next, row.revision)
    if (!on) node.withdraw('w1')
  }
  const remove = async () => {
    const row = (await world.store.webhooks.read('acc', 'w1'))!
    await world.store.webhooks.replace(deletedWebhook(row, world.clock.now()), row.revision)
    node.withdraw('w1')
  }
  return { ...world, world, sender, node, forbidden, enabled, remove }
}

const BURST_OF_TWO = {
  breaker: null,
  autoDisable: { kind: 'burst', failures: 2, withinMs: 60_000 },
} as const

describe('a webhook that is withdrawn', () => {
  type Staging = Awaited<ReturnType<typeof staged>>
  const answerBoth = (status: number) => (s: Staging) => {
    for (const one of [...s.sender.wired]) one.answer(answered(status))
  }
  it.each<[string, (s: Staging) => unknown, string]>([
    ['by its owner, who disables it', (s) => s.enabled(false), 'delivered'],
    ['by its owner, who deletes it', (s) => s.remove(), 'delivered'],
    ['by its receiver, which is gone', answerBoth(410), 'cancelled'],
    ['by its failures', answerBoth(500), 'exhausted'],
  ])(
    '%s: what is not on the wire ends unsent and cancelled, what is on it ends and is recorded',
    async (_, withdraw, end) => {
      const rules = { caps: { perEndpoint: 4 }, healthRules: BURST_OF_TWO }
      const s = await staged(rules, aWebhook({ retries: 0 }))
      for (let call = 0; call < 7; call++) await s.publish(`call-${call}`)
      await s.clock.settle()
      expect(s.sender.waiting).toHaveLength(4)
      for (const one of s.sender.waiting.slice(0, 2)) one.connect()
      await withdraw(s)
      await s.clock.settle()
      expect(s.sender.withdrawals.filter((group) => group === 'w1').length).toBeGreaterThan(0)
      expect(new Set(s.sender.withdrawals)).toEqual(new Set(['w1']))
      expect(s.sender.waiting).toEqual([])
      for (const one of [...s.sender.wired]) one.answer(answered(200))
      await s.clock.advance(3_600_000)

      expect(s.sender.seen).toHaveLength(2)
      expect(s.sender.waiting).toEqual([])
      expect(s.forbidden).toEqual([])
      const onWire = new Set(s.sender.seen.map((request) => headerOf(request, 'webhook-id')))
      const deliveries = await s.deliveries()
      const wired = deliveries.filter(({ id }) => onWire.has(id))
      const unsent = deliveries.filter(({ id }) => !onWire.has(id))
      expect(wired.map(({ attempts }) => attempts)).toEqual([1, 1])
      expect(unsent).toHaveLength(5)
      for (const one of unsent) expect(one).toMatchObject({ state: 'cancelled', attempts: 0, tries: 0 })
      expect(wired.map(({ state }) => state)).toEqual([end, end])

      const records = await s.attempts()
      expect(records.filter(({ attempt }) => attempt !== undefined).map((one) => one.deliveryId)).toEqual(
        wired.map(({ id }) => id),
      )
      expect(s.told.filter(({ name }) => name === 'cancelled').length).toBe(
        deliveries.filter(({ state }) => state === 'cancelled').length,
      )
      expect(s.node.inFlight('w1')).toBe(0)
      expect(await s.store.deliveries.pending()).toBe(0)
      await s.node.close(0)
    },
  )

  it('takes no number of a delivery that was tried before: its attempts are 1, then its end', async () => {
    const s = await staged({ policy: constant(1000, { jitter: 0 }) })
    await s.publish('call')
    await s.clock.settle()
    s.sender.waiting[0]!.connect()
    s.sender.wired[0]!.answer(answered(500))
    await s.clock.advance(1000)
    expect(headerOf(s.sender.waiting[0]!.request, 'x-hook-attempt')).toBe('2')
    await s.enabled(false)
    await s.clock.settle()
    expect((await s.attempts()).map(({ attempt, reason }) => [attempt, reason])).toEqual([
      [1, 'bad response code'],
      [undefined, 'cancelled'],
    ])
    expect(await s.deliveries()).toMatchObject([{ state: 'cancelled', attempts: 1, tries: 1 }])
    await s.node.close(0)
  })

  it('is claimed no more also while the store cannot say what is to be cancelled', async () => {
    const s = await staged({ caps: { perEndpoint: 2 } })
    for (let call = 0; call < 5; call++) await s.publish(`call-${call}`)
    await s.clock.settle()
    s.faults.out.add('stale')
    await s.enabled(false)
    await s.clock.advance(20_000)
    expect(s.sender.waiting).toEqual([])
    expect(s.forbidden).toEqual([])
    s.faults.out.clear()
    await s.clock.advance(1000)
    expect((await s.deliveries()).map(({ state }) => state)).toEqual(new Array(5).fill('cancelled'))
    expect(s.sender.seen).toEqual([])
    await s.node.close(0)
  })

  it('hurts no other webhook, and may be told so often that it is nothing new', async () => {
    const world = await deliveryWorld([aWebhook(), aWebhook({}, { id: 'w2' })])
    const sender = stagedSender()
    const node = world.node({}, { sender })
    await node.start()
    await world.publish('call')
    await world.clock.settle()
    for (let again = 0; again < 3; again++) node.withdraw('w1')
    node.withdraw('nobody')
    expect(sender.waiting.map(({ request }) => request.group)).toEqual(['w2'])
    await world.clock.settle()
    expect((await world.deliveries('w2')).map(({ state }) => state)).toEqual(['in_flight'])
    await node.close(0)
  })

  it('is no trouble for a sender that cannot withdraw: its request ends as it ends', async () => {
    const world = await deliveryWorld()
    world.sender.script = () => undefined
    const node = world.node()
    await node.start()
    await world.publish('call')
    await world.clock.settle()
    node.withdraw('w1')
    world.sender.open[0]!.answer(answered(200))
    await world.clock.settle()
    expect((await world.deliveries()).map(({ state }) => state)).toEqual(['delivered'])
    await node.close(0)
  })
})

describe('a sender that withdraws requests of a webhook that is live', () => {
  it('loses nothing: the delivery is tried again after a while, under the same number', async () => {
    const s = await staged({}, aWebhook({ retries: 0 }))
    await s.publish('call')
    await s.clock.settle()
    for (let time = 0; time < 5; time++) {
      s.sender.withdrawAll()
      await s.clock.advance(999)
      expect(s.sender.waiting).toHaveLength(0)
      await s.clock.advance(1)
      expect(headerOf(s.sender.waiting[0]!.request, 'x-hook-attempt')).toBe('1')
    }
    expect(await s.attempts()).toEqual([])
    expect((await s.store.webhooks.read('acc', 'w1'))?.health).toBeUndefined()
    s.sender.waiting[0]!.connect()
    s.sender.wired[0]!.answer(answered(200))
    await s.clock.settle()
    expect(await s.deliveries()).toMatchObject([{ state: 'delivered', attempts: 1, tries: 1 }])
    await s.node.close(0)
  })
})

describe('whatever happens between a webhook, its owner and its receiver', () => {
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

  it('nothing is claimed or put on the wire while it is disabled, and every number was seen by the receiver', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (history) => {
        const healthRules = { ...HEALTH_PRESETS.standard, breaker: null }
        const policy = constant(1000, { jitter: 0 })
        const s = await staged({ caps: { perEndpoint: 3 }, policy, healthRules })
        const { sender } = s
        for (const one of history) {
          if (one.kind === 'publish') await s.publish(`call-${one.call}`)
          else if (one.kind === 'connect') sender.waiting[one.which % 3]?.connect()
          else if (one.kind === 'answer') sender.wired[one.which % 3]?.answer(answered(one.status))
          else if (one.kind === 'spurious') sender.withdrawAll()
          else if (one.kind === 'wait') await s.clock.advance(one.ms)
          else await s.enabled(one.kind === 'enable')
          if (one.kind === 'disable') expect(sender.waiting).toEqual([])
          await s.clock.settle()
        }
        for (let round = 0; round < 200 && (await s.store.deliveries.pending()) > 0; round++) {
          for (const one of [...sender.waiting]) one.connect()
          for (const one of [...sender.wired]) one.answer(answered(200))
          await s.clock.advance(1000)
        }
        expect(await s.store.deliveries.pending()).toBe(0)
        expect(s.forbidden).toEqual([])
        expect(s.node.inFlight('w1')).toBe(0)
        const numbers = (list: readonly { id: string; number: number | undefined }[], id: string) =>
          list.filter((one) => one.id === id && one.number !== undefined).map(({ number }) => number)
        const seen = sender.seen.map((request) => ({
          id: headerOf(request, 'webhook-id'),
          number: Number(headerOf(request, 'x-hook-attempt')),
        }))
        const kept = (await s.attempts()).map(({ deliveryId: id, attempt: number }) => ({ id, number }))
        for (const { id, attempts } of await s.deliveries()) {
          const whole = Array.from({ length: attempts }, (_, index) => index + 1)
          expect(numbers(seen, id).sort()).toEqual(whole)
          expect(numbers(kept, id)).toEqual(whole)
        }
        await s.node.close(0)
      }),
      { numRuns: 60 },
    )
  })
})
