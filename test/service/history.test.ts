/** The history of ended deliveries: its retention by age, number and size, on a manual clock. */
import { createHookswitch, memoryStore } from 'hookswitch'
import type { GaugeReading } from 'hookswitch/adapter'
import { manualClock, seededRandom } from 'hookswitch/testkit'
import { afterEach, expect, it } from 'vitest'
import { fakeSender, responseWith } from '../delivery/harness.js'
import type { ServiceOptions } from './service-fixture.js'

const DAY_MS = 86_400_000

const closings: (() => Promise<void>)[] = []
afterEach(async () => {
  await Promise.all(closings.splice(0).map((close) => close()))
})

async function createService(options: ServiceOptions = {}, kept = { attemptsPerWebhook: 1_000_000 }) {
  const clock = manualClock()
  const sender = fakeSender()
  const logged: { readonly fields: object; readonly text: string }[] = []
  const warn = (fields: object, text: string) => void logged.push({ fields, text })
  let read: () => Promise<readonly GaugeReading[]> = async () => []
  const watch = (reader: typeof read) => {
    read = reader
  }
  const hs = createHookswitch({
    store: memoryStore({ clock, ...kept }),
    clock,
    sender,
    random: seededRandom(1),
    log: { debug() {}, info() {}, warn, error: warn },
    metrics: { count() {}, observe() {}, watch },
    defaultRetries: 0,
    pauses: false,
    autoDisable: false,
    ...options,
  })
  await hs.start()
  closings.push(() => hs.close({ drainMs: 0 }))
  await hs.accounts.create({ id: 'acc', name: 'Acc', realm: 'acc.example' })
  const { id } = await hs.webhooks.create('acc', { name: 'w', uri: 'https://a.example/', hook: 'all' })
  /** Publishes events of calls `from` to `to`, which are answered with this status. */
  const publish = async (from: number, to: number, status: number) => {
    sender.script = () => responseWith(status)
    for (let call = from; call < to; call++) {
      await hs.publish({ hook: 'channel_create', accountId: 'acc', callId: `call-${call}` })
      if (call % 50 === 0) await clock.settle()
    }
    await clock.advance(1_000)
  }
  const gauge = async (name: GaugeReading['name']) =>
    (await read()).find((reading) => reading.name === name)?.value
  const states = async (state: 'delivered' | 'exhausted') =>
    (await hs.webhooks.deliveries('acc', id, { states: [state], limit: 1_000 })).length
  return { hs, id, clock, logged, publish, gauge, states }
}

it('what was not delivered stays for `retentionDays`, however many there are; successes by their number', async () => {
  const options = { attemptsPerWebhook: 100, retentionDays: 30 }
  const { hs, id, clock, publish, states } = await createService(options, { attemptsPerWebhook: 100 })
  await publish(0, 300, 500)
  await publish(300, 600, 200)
  await clock.advance(3_600_000)
  expect([await states('exhausted'), await states('delivered')]).toEqual([300, 100])
  await clock.advance(28 * DAY_MS)
  expect([await states('exhausted'), await states('delivered')]).toEqual([300, 100])
  expect(await hs.webhooks.attempts('acc', id, { limit: 1_000 })).toHaveLength(400)
  await clock.advance(2 * DAY_MS)
  expect([await states('exhausted'), await states('delivered')]).toEqual([0, 0])
})

it('a delivery whose records are gone cannot be read or replayed', async () => {
  const { hs, id, clock, publish } = await createService({ retentionDays: 1 })
  await publish(0, 1, 500)
  const [old] = await hs.webhooks.deliveries('acc', id)
  await clock.advance(2 * DAY_MS)
  await expect(hs.webhooks.delivery('acc', old!.id)).rejects.toMatchObject({ code: 'NotFound', id: old!.id })
  await expect(hs.webhooks.replay('acc', id, old!.id)).rejects.toMatchObject({ code: 'NotFound' })
  expect((await hs.replays.count({ accountId: 'acc' })).count).toBe(0)
})

it('above `maxHistoryBytes` the oldest successes go first, then the oldest of the rest; a warning comes before', async () => {
  const maxHistoryBytes = 1_048_576
  const { clock, logged, publish, gauge, states } = await createService({ maxHistoryBytes })
  await publish(0, 100, 500)
  for (let from = 100; !logged.some(({ text }) => text.includes('near its limit')); from += 50) {
    await publish(from, from + 50, 200)
    await clock.advance(60_000)
    expect(from).toBeLessThan(10_000)
  }
  expect(await gauge('hookswitch_history_bytes')).toBeGreaterThan(0.8 * maxHistoryBytes)
  expect(await gauge('hookswitch_history_bytes')).toBeLessThan(maxHistoryBytes)
  expect(await gauge('hookswitch_history_limit_bytes')).toBe(maxHistoryBytes)
  const delivered = await states('delivered')
  await publish(20_000, 21_000, 200)
  await clock.advance(60_000)
  expect(await gauge('hookswitch_history_bytes')).toBeLessThanOrEqual(maxHistoryBytes)
  expect(await states('exhausted')).toBe(100)
  expect(await states('delivered')).toBeGreaterThan(delivered / 2)
  await publish(30_000, 33_000, 500)
  await clock.advance(60_000)
  expect(await gauge('hookswitch_history_bytes')).toBeLessThanOrEqual(maxHistoryBytes)
  expect(await states('delivered')).toBe(0)
  expect(logged.filter(({ text }) => text.includes('near its limit'))).toHaveLength(1)
})
