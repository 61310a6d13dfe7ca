import assert from 'node:assert/strict'
import type { Webhook } from '../../webhooks/webhook.js'
import type { Promised, Workbench } from './workbench.js'

/** Deliveries of this webhook, each of a call of its own, that wait for their second attempt since `dueMs`. */
export async function retrying(
  bench: Workbench,
  webhook: Webhook,
  count: number,
  dueMs: number,
): Promise<string[]> {
  const waiting: string[] = []
  for (let index = 0; index < count; index += 1) waiting.push(...(await bench.accept(webhook)))
  for (const { delivery } of await bench.claim(webhook))
    await bench.settle(delivery, 'waiting', { next: { dueMs } })
  return waiting
}

export async function fresh(bench: Workbench, webhook: Webhook, count: number): Promise<string[]> {
  const accepted: string[] = []
  for (let index = 0; index < count; index += 1) accepted.push(...(await bench.accept(webhook)))
  return accepted
}

const firsts = (claims: readonly { delivery: { attempts: number } }[]) =>
  claims.filter(({ delivery }) => delivery.attempts === 0).length

/** How the room of an endpoint is shared between what was never tried and what was. */
export function sharePromises(promised: Promised): void {
  for (const [room, retriesFirst, firstAttempts] of [
    [1, false, 1],
    [1, true, 0],
    [4, false, 2],
    [4, true, 2],
    [5, false, 3],
    [5, true, 2],
  ] as const) {
    const odd = retriesFirst ? 'retries' : 'first attempts'
    promised(
      `of a room of ${room}, ${firstAttempts} go to first attempts while retries wait too, an odd one to ${odd}`,
      async (bench) => {
        const webhook = await bench.webhook()
        await retrying(bench, webhook, 10, bench.now())
        await bench.advance(1)
        await fresh(bench, webhook, 10)
        const endpoints = [{ webhookId: webhook.id, room, retriesFirst }]
        const { owner } = bench
        const { claims } = await bench.store.deliveries.claim({
          owner,
          endpoints,
          limit: 99,
          now: bench.now(),
        })
        assert.equal(claims.length, room)
        assert.equal(firsts(claims), firstAttempts)
      },
    )
  }

  promised('room that one kind leaves free goes to the other', async (bench) => {
    const [fewFirst, fewRetries] = [await bench.webhook(), await bench.webhook()]
    await retrying(bench, fewFirst, 10, bench.now())
    await fresh(bench, fewFirst, 1)
    await retrying(bench, fewRetries, 1, bench.now())
    await fresh(bench, fewRetries, 10)
    const many = await bench.claim(fewFirst, 6)
    assert.deepEqual([many.length, firsts(many)], [6, 1])
    const most = await bench.claim(fewRetries, 6)
    assert.deepEqual([most.length, firsts(most)], [6, 5])
  })
}
