/** The gauges of a running instance, read at chosen moments of a manual clock. */
import { constant, createHookswitch, memoryStore } from 'hookswitch'
import type { GaugeReading } from 'hookswitch/adapter'
import { manualClock } from 'hookswitch/testkit'
import { expect, it } from 'vitest'
import { fakeSender, responseWith } from '../delivery/harness.js'
import { createRecordingMetrics } from '../delivery/recording-metrics.js'
import type { ServiceOptions } from './service-fixture.js'

async function harness(options: ServiceOptions = {}) {
  const clock = manualClock()
  const sender = fakeSender()
  const recording = createRecordingMetrics()
  let read: () => Promise<readonly GaugeReading[]> = async () => []
  let ended: AbortSignal | undefined
  const hs = createHookswitch({
    store: memoryStore(),
    clock,
    sender,
    metrics: {
      ...recording.metrics,
      watch(reader, signal) {
        read = reader
        ended = signal
      },
    },
    random: { bytes: (count) => crypto.getRandomValues(new Uint8Array(count)), fraction: () => 0.5 },
    ...options,
  })
  await hs.start()
  await hs.accounts.create({ id: 'acc', name: 'Acc', realm: 'acc.example' })
  const all = async () =>
    Object.fromEntries(
      (await read()).map(({ name, label, value }) => [
        [name.replace('hookswitch_', ''), label].filter(Boolean).join(' '),
        value,
      ]),
    )
  /** Those that are 0 without work, except what changes with every delivery that waits. */
  const values = async () =>
    Object.fromEntries(Object.entries(await all()).filter(([name]) => !(name in CHANGING)))
  let count = 0
  const createWebhook = async (retries: number, uri = 'https://a.example/') =>
    (await hs.webhooks.create('acc', { name: `w${count++}`, uri, hook: 'all', retries })).id
  let calls = 0
  const publish = async (count: number) => {
    for (let n = 0; n < count; n += 1)
      await hs.publish({ hook: 'channel_create', accountId: 'acc', callId: `call-${calls++}` })
    await clock.settle()
  }
  return { hs, clock, sender, recording, all, values, createWebhook, publish, ended: () => ended?.aborted }
}

const CHANGING = {
  endpoints: 0,
  last_commit_timestamp_seconds: 0,
  account_backlog_ratio: 0,
  'oldest_waiting_seconds pending': 0,
  'oldest_waiting_seconds held': 0,
}

const NOTHING = {
  in_flight: 0,
  history_bytes: 0,
  history_limit_bytes: 0,
  oldest_due_seconds: 0,
  deliveries_pending_limit: 1_000_000,
  'endpoints_paused waiting': 0,
  'endpoints_paused probing': 0,
  deliveries_pending: 0,
  streams: 0,
  'outage_start_timestamp_seconds public': 0,
  'outage_start_timestamp_seconds private': 0,
  'outage_start_timestamp_seconds loopback': 0,
  'node_problem store': 0,
  'node_problem lease': 0,
  'node_problem feed': 0,
  feed_lag_seconds: 0,
  clock_deviation_seconds: 0,
}

async function answerAll({ open }: ReturnType<typeof fakeSender>, clock: ReturnType<typeof manualClock>) {
  while (open.length > 0) {
    open[0]!.answer(responseWith(200))
    await clock.settle()
  }
}

it('all gauges are 0 before the first event and after the last delivery has ended', async () => {
  const { hs, sender, values, createWebhook, publish, ended } = await harness()
  await createWebhook(0)
  expect(await values()).toEqual(NOTHING)
  sender.script = () => responseWith(200)
  await publish(5)
  expect(await values()).toEqual(NOTHING)
  expect(ended()).toBe(false)
  await hs.close()
  expect(ended()).toBe(true)
})

it('deliveries that wait for a slot of the node are pending, and oldest_due_seconds is the longest wait', async () => {
  const { hs, clock, sender, values, createWebhook, publish } = await harness({ inFlight: 1 })
  await createWebhook(0)
  sender.script = () => undefined
  await publish(1)
  expect(await values()).toMatchObject({ in_flight: 1, deliveries_pending: 1, oldest_due_seconds: 0 })
  await clock.advance(1000)
  await publish(1)
  await clock.advance(4000)
  await publish(1)
  await clock.advance(2500)
  const waiting = { ...NOTHING, in_flight: 1 }
  expect(await values()).toEqual({ ...waiting, deliveries_pending: 3, oldest_due_seconds: 6.5 })
  sender.open[0]!.answer(responseWith(200))
  await clock.settle()
  expect(await values()).toEqual({ ...waiting, deliveries_pending: 2, oldest_due_seconds: 2.5 })
  await answerAll(sender, clock)
  expect(await values()).toEqual(NOTHING)
  await hs.close()
})

it('a delivery that waits for a retry is pending, but not overdue before its due time', async () => {
  const { hs, clock, sender, values, createWebhook, publish } = await harness({
    retryPolicy: constant(5000, { jitter: 0 }),
  })
  await createWebhook(3)
  sender.script = () => responseWith(500)
  await publish(1)
  await clock.advance(4999)
  expect(await values()).toEqual({ ...NOTHING, deliveries_pending: 1 })
  sender.script = () => undefined
  await clock.advance(1)
  expect(await values()).toEqual({ ...NOTHING, deliveries_pending: 1, in_flight: 1 })
  sender.open[0]!.answer(responseWith(200))
  await clock.settle()
  expect(await values()).toEqual(NOTHING)
  await hs.close()
})

it('a paused endpoint waits until its probe is sent, is probed until the probe ends, then runs', async () => {
  const { hs, clock, sender, recording, values, createWebhook, publish } = await harness({
    inFlightPerEndpoint: 1,
  })
  await createWebhook(0)
  sender.script = () => responseWith(500)
  await publish(12)
  expect(await values()).toEqual({ ...NOTHING, deliveries_pending: 2, 'endpoints_paused waiting': 1 })
  sender.script = () => undefined
  await clock.advance(13_000)
  expect(await values()).toMatchObject({
    in_flight: 1,
    'endpoints_paused waiting': 0,
    'endpoints_paused probing': 1,
  })
  sender.open[0]!.answer(responseWith(500))
  await clock.settle()
  expect(await values()).toEqual({ ...NOTHING, deliveries_pending: 1, 'endpoints_paused waiting': 1 })
  sender.script = () => responseWith(200)
  expect(recording.labels('hookswitch_pauses_total')).toEqual({ began: 1 })
  await clock.advance(15_000)
  expect(await values()).toEqual(NOTHING)
  expect(recording.labels('hookswitch_pauses_total')).toEqual({ began: 1, ended: 1 })
  await hs.close()
})

it('a cancelled delivery is no longer pending', async () => {
  const { hs, clock, sender, values, createWebhook, publish } = await harness({ inFlightPerEndpoint: 1 })
  const id = await createWebhook(0)
  sender.script = () => undefined
  await publish(10)
  expect(await values()).toMatchObject({ deliveries_pending: 10, in_flight: 1 })
  await hs.webhooks.patch('acc', id, { enabled: false })
  await clock.settle()
  expect(await values()).toMatchObject({ deliveries_pending: 1, in_flight: 1 })
  sender.open[0]!.answer(responseWith(500))
  await clock.settle()
  expect(await values()).toEqual(NOTHING)
  await hs.close()
})

it('a webhook at a limit of its own makes nothing overdue: its receiver is too slow', async () => {
  const { hs, clock, sender, all, createWebhook, publish } = await harness({ inFlightPerEndpoint: 2 })
  await createWebhook(0)
  sender.script = () => undefined
  await publish(5)
  await clock.advance(6_000)
  expect(await all()).toMatchObject({
    in_flight: 2,
    deliveries_pending: 5,
    oldest_due_seconds: 0,
    'oldest_waiting_seconds pending': 6,
  })
  await answerAll(sender, clock)
  await hs.close()
})

it('the oldest waiting delivery counts through retries and pauses, and apart while its account is held', async () => {
  const { hs, clock, sender, all, createWebhook, publish } = await harness({
    maxPendingPerAccount: 48,
  })
  await createWebhook(30)
  expect(await all()).toMatchObject(CHANGING)
  sender.script = () => responseWith(500)
  await publish(12)
  const publishedMs = clock.now()
  await clock.advance(30_000)
  expect(await all()).toMatchObject({
    deliveries_pending: 12,
    account_backlog_ratio: 0.25,
    oldest_due_seconds: 0,
    endpoints: 1,
    'oldest_waiting_seconds pending': 30,
    'oldest_waiting_seconds held': 0,
  })
  expect((await all()).last_commit_timestamp_seconds).toBeGreaterThanOrEqual(publishedMs / 1000)
  await hs.operator.hold({ accountId: 'acc' })
  expect(await all()).toMatchObject({
    'oldest_waiting_seconds pending': 0,
    'oldest_waiting_seconds held': 30,
  })
  await hs.operator.release({ accountId: 'acc' })
  sender.script = () => responseWith(200)
  await clock.advance(3_600_000)
  expect(await all()).toMatchObject({
    deliveries_pending: 0,
    account_backlog_ratio: 0,
    'oldest_waiting_seconds pending': 0,
  })
  await hs.close()
})

it('the oldest waiting delivery is the next one when it has ended', async () => {
  const { hs, clock, sender, all, createWebhook, publish } = await harness({ inFlightPerEndpoint: 1 })
  await createWebhook(0)
  sender.script = () => undefined
  await publish(1)
  await clock.advance(5_000)
  await publish(1)
  await clock.advance(1_000)
  expect(await all()).toMatchObject({ 'oldest_waiting_seconds pending': 6 })
  sender.open[0]!.answer(responseWith(200))
  await clock.settle()
  expect(await all()).toMatchObject({ 'oldest_waiting_seconds pending': 1 })
  await answerAll(sender, clock)
  await hs.close()
})
