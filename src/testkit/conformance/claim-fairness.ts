import assert from 'node:assert/strict'
import type { Webhook } from '../../webhooks/webhook.js'
import type { DefineRule, Fixture } from './fixture.js'

/** Accepts deliveries, each of another call, and settles a first attempt so that they are due again at `dueMs`. */
export async function acceptRetries(
  fixture: Fixture,
  webhook: Webhook,
  count: number,
  dueMs: number,
): Promise<string[]> {
  const waiting: string[] = []
  for (let index = 0; index < count; index += 1) waiting.push(...(await fixture.accept(webhook)))
  for (const { delivery } of await fixture.claim(webhook))
    await fixture.settle(delivery, 'waiting', { next: { dueMs } })
  return waiting
}

/** Accepts deliveries, each of another call. */
export async function acceptMany(fixture: Fixture, webhook: Webhook, count: number): Promise<string[]> {
  const accepted: string[] = []
  for (let index = 0; index < count; index += 1) accepted.push(...(await fixture.accept(webhook)))
  return accepted
}

const countFirstAttempts = (claims: readonly { delivery: { attempts: number } }[]) =>
  claims.filter(({ delivery }) => delivery.attempts === 0).length

/** Rules of how an endpoint's slots are divided between first attempts and retries. */
export function claimFairnessRules(rule: DefineRule): void {
  for (const [slots, retriesFirst, firstAttempts] of [
    [1, false, 1],
    [1, true, 0],
    [4, false, 2],
    [4, true, 2],
    [5, false, 3],
    [5, true, 2],
  ] as const) {
    const preferred = retriesFirst ? 'retries' : 'first attempts'
    rule(
      `while both kinds wait and ${preferred} get the odd slot, first attempts get ${firstAttempts} of ${slots} slots`,
      async (fixture) => {
        const webhook = await fixture.webhook()
        await acceptRetries(fixture, webhook, 10, fixture.now())
        await fixture.advance(1)
        await acceptMany(fixture, webhook, 10)
        const endpoints = [{ webhookId: webhook.id, slots, retriesFirst }]
        const { owner } = fixture
        const { claims } = await fixture.store.deliveries.claim({
          owner,
          endpoints,
          limit: 99,
          now: fixture.now(),
        })
        assert.equal(claims.length, slots)
        assert.equal(countFirstAttempts(claims), firstAttempts)
      },
    )
  }

  rule('slots that one kind leaves free go to the other', async (fixture) => {
    const [fewFirst, fewRetries] = [await fixture.webhook(), await fixture.webhook()]
    await acceptRetries(fixture, fewFirst, 10, fixture.now())
    await acceptMany(fixture, fewFirst, 1)
    await acceptRetries(fixture, fewRetries, 1, fixture.now())
    await acceptMany(fixture, fewRetries, 10)
    const many = await fixture.claim(fewFirst, 6)
    assert.deepEqual([many.length, countFirstAttempts(many)], [6, 1])
    const most = await fixture.claim(fewRetries, 6)
    assert.deepEqual([most.length, countFirstAttempts(most)], [6, 5])
  })
}
