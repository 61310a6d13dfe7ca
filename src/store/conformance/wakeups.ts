import assert from 'node:assert/strict'
import type { ReadyEndpoint } from '../../delivery/delivery-store.js'
import { ORIGIN, WALL_MS } from './fixtures.js'
import type { Promised, Workbench } from './workbench.js'

type Wake = readonly ReadyEndpoint[] | undefined

/** Runs `action` and waits for the first wake-up of it that `wanted` accepts; loud when none comes. */
export async function wakeOf(
  bench: Workbench,
  action: () => Promise<unknown>,
  wanted: (wake: Wake) => boolean,
): Promise<Wake> {
  let stop = () => {}
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    return await new Promise<Wake>((resolve, reject) => {
      stop = bench.store.deliveries.subscribe((wake) => wanted(wake) && resolve(wake))
      // Only a failure takes as long as this: a store may tell by way of a server.
      const tooLate = () => reject(new assert.AssertionError({ message: 'no wake-up came' }))
      timer = setTimeout(tooLate, bench.harness.wakeWithinMs ?? 5_000)
      action().catch(reject)
    })
  } finally {
    clearTimeout(timer)
    stop()
  }
}

const names = (webhookId: string) => (wake: Wake) =>
  wake === undefined || wake.some((endpoint) => endpoint.webhookId === webhookId)

export function wakeupPromises(promised: Promised): void {
  promised(
    'an acceptance wakes up, with the endpoint and when it is due, or with a hint to look',
    async (bench) => {
      const webhook = await bench.webhook()
      const wake = await wakeOf(bench, () => bench.accept(webhook), names(webhook.id))
      const due = wake?.find((endpoint) => endpoint.webhookId === webhook.id)
      if (due)
        assert.deepEqual(due, {
          webhookId: webhook.id,
          accountId: 'account',
          origin: ORIGIN,
          failing: false,
          dueMs: bench.now(),
        })
      const ready = await bench.store.deliveries.ready(bench.owner)
      assert.deepEqual(
        ready.map((endpoint) => endpoint.webhookId),
        [webhook.id],
      )
    },
  )

  promised('an endpoint that waits for a retry wakes up for an earlier first attempt', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook)
    await bench.settle((await bench.claimOne(webhook)).delivery, 'waiting', {
      next: { dueMs: bench.now() + 9_000 },
    })
    await wakeOf(bench, () => bench.accept(webhook), names(webhook.id))
  })

  promised('disabling wakes up for what has become stale', async (bench) => {
    const webhook = await bench.webhook()
    await bench.accept(webhook)
    const settings = { ...webhook.settings, enabled: false }
    const disabled = { ...webhook, settings, disabledMs: WALL_MS, revision: 2, epoch: 2 }
    await wakeOf(
      bench,
      () => bench.store.webhooks.replace(disabled, 1),
      (wake) => wake === undefined,
    )
    assert.equal((await bench.store.deliveries.stale(bench.owner, 9)).length, 1)
  })

  promised('a listener that stopped is not called any more, the others are', async (bench) => {
    const webhook = await bench.webhook()
    let calls = 0
    const stop = bench.store.deliveries.subscribe(() => {
      calls += 1
    })
    await wakeOf(bench, () => bench.accept(webhook), names(webhook.id))
    stop()
    const [claim] = await bench.claim(webhook)
    await bench.settle(claim!.delivery, 'delivered')
    const before = calls
    await wakeOf(bench, () => bench.accept(webhook), names(webhook.id))
    assert.equal(calls, before)
    stop()
  })

  promised('a listener that throws hurts neither the acceptance nor other listeners', async (bench) => {
    const webhook = await bench.webhook()
    const stop = bench.store.deliveries.subscribe(() => {
      throw new Error('a broken listener')
    })
    const wake = wakeOf(bench, () => bench.accept(webhook), names(webhook.id))
    await wake
    stop()
    assert.equal((await bench.claim(webhook)).length, 1)
  })
}
