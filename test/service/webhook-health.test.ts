/** The health of one webhook: its last attempt, its pause, and what was not delivered. */
import { createHookswitch, type Hookswitch, memoryStore } from 'hookswitch'
import type { Sender } from 'hookswitch/adapter'
import { manualClock, seededRandom } from 'hookswitch/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { fakeSender, responseWith } from '../delivery/harness.js'

const DAY_MS = 86_400_000
const refused = () => ({ kind: 'no_response', failure: 'connection', cause: 'refused', detail: '' }) as const

async function start(options: Partial<Parameters<typeof createHookswitch>[0]> = {}) {
  const clock = manualClock()
  const sender = fakeSender()
  const hs = createHookswitch({
    store: memoryStore(),
    clock,
    random: seededRandom('health'),
    sender: sender as Sender,
    ...options,
  })
  await hs.start()
  onTestFinished(() => hs.close({ drainMs: 0 }))
  await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example.com' })
  const { id } = await hs.webhooks.create('acme', {
    name: 'calls',
    uri: 'https://hooks.example.com/',
    hook: 'channel_create',
    retries: 0,
    ordering: 'none',
  })
  const publish = async (hs: Hookswitch, count: number) => {
    for (let call = 0; call < count; call += 1) {
      await hs.publish({
        hook: 'channel_create',
        accountId: 'acme',
        callId: `${clock.now()}-${call}`,
        from: '1',
      })
      await clock.settle()
    }
  }
  return { clock, sender, hs, id, publish: (count: number) => publish(hs, count) }
}

describe('the health of a webhook', () => {
  it('has no attempt before the first event', async () => {
    const { clock, hs, id } = await start()
    expect(await hs.webhooks.healthOf('acme', id)).toEqual({
      ...(await hs.webhooks.health('acme')).endpoints[0],
      sameAnswers: 0,
      isSameAnswersCapped: false,
      notDelivered: 0,
      isNotDeliveredCapped: false,
      notDeliveredSinceMs: Math.floor((clock.now() - DAY_MS) / 1_000) * 1_000,
      maxAgeSeconds: 86_400,
    })
  })

  it('says what the receiver answered, how often in a row, and what is lost', async () => {
    const { clock, sender, hs, id, publish } = await start()
    await publish(2)
    sender.script = () => responseWith(404)
    await publish(1)
    const sinceMs = clock.now()
    await clock.advance(60_000)
    sender.script = () => responseWith(500)
    await publish(3)
    const health = await hs.webhooks.healthOf('acme', id)
    expect(health).toMatchObject({
      state: 'failing',
      failingSinceMs: sinceMs,
      lastAttempt: { status: 500, reason: 'bad status', call: { from: '1' } },
      sameAnswers: 3,
      isSameAnswersCapped: false,
      notDelivered: 4,
      isNotDeliveredCapped: false,
      autoDisableMs: sinceMs + 5 * DAY_MS,
    })
    expect(health.notDeliveredSinceMs).toBeLessThanOrEqual(sinceMs - 10_000)
    sender.script = () => responseWith(200)
    await hs.webhooks.replay('acme', id, health.lastAttempt!.deliveryId)
    await clock.settle()
    const after = await hs.webhooks.healthOf('acme', id)
    expect(after).toMatchObject({
      state: 'ok',
      lastAttempt: { result: 'success' },
      sameAnswers: 1,
      notDelivered: 3,
    })
    expect(after).not.toHaveProperty('autoDisableMs')
  })

  it('says what is lost behind parts of the list without a loss', async () => {
    const store = memoryStore()
    const { listPart } = store.deliveries
    store.deliveries.listPart = (query) => listPart({ ...query, rows: 1 })
    const { sender, hs, id, publish } = await start({ store })
    sender.script = () => responseWith(404)
    await publish(1)
    sender.script = () => responseWith(200)
    await publish(3)
    const lost = async () => {
      const { notDelivered, isNotDeliveredCapped } = await hs.webhooks.healthOf('acme', id)
      return [notDelivered, isNotDeliveredCapped]
    }
    expect(await lost()).toEqual([1, false])
    await publish(10)
    expect(await lost()).toEqual([0, true])
  })

  it('looks at 100 attempts', async () => {
    const { clock, sender, hs, id, publish } = await start()
    sender.script = () => responseWith(500)
    for (let minute = 0; minute < 101; minute += 1) {
      await publish(1)
      // It is paused, and a probe is sent every minute.
      await clock.advance(60_000)
    }
    expect(await hs.webhooks.healthOf('acme', id)).toMatchObject({
      sameAnswers: 100,
      isSameAnswersCapped: true,
      notDelivered: 101,
      isNotDeliveredCapped: false,
    })
  })

  it('tells since when it is paused and why, what waits, and when that is too old', async () => {
    const { clock, sender, hs, id, publish } = await start()
    await hs.webhooks.patch('acme', id, { maxAgeSeconds: 3_600, retries: 3 })
    sender.script = refused
    const startMs = clock.now()
    await publish(4)
    const paused = await hs.webhooks.healthOf('acme', id)
    expect(paused).toMatchObject({
      state: 'paused',
      cause: 'refused',
      pause: { kind: 'unavailable', probes: 0, sinceMs: startMs },
      lastAttempt: { cause: 'refused' },
      sameAnswers: 3,
      pending: 4,
      oldestAcceptedMs: startMs,
      oldestExpiresMs: startMs + 3_600_000,
      maxAgeSeconds: 3_600,
    })
    await clock.advance(30_000)
    const later = await hs.webhooks.healthOf('acme', id)
    expect(later.pause?.sinceMs).toBe(startMs)
    expect(later.pause?.probes).toBeGreaterThan(0)
    expect((await hs.webhooks.health('acme')).endpoints[0]).toMatchObject({ cause: 'refused' })
  })

  it('says when it was disabled, and then not when it would be', async () => {
    const { clock, sender, hs, id, publish } = await start()
    sender.script = () => responseWith(500)
    await publish(1)
    await hs.webhooks.patch('acme', id, { enabled: false })
    const health = await hs.webhooks.healthOf('acme', id)
    expect(health).toMatchObject({ state: 'disabled', disabledMs: clock.now(), notDelivered: 1 })
    expect(health).not.toHaveProperty('autoDisableMs')
  })

  it('does not exist for another account', async () => {
    const { hs, id } = await start()
    await expect(hs.webhooks.healthOf('other', id)).rejects.toMatchObject({ code: 'NotFound' })
  })
})
