/**
 * The memory store kept every deleted webhook. A client that created and deleted them, 60 KiB each, exhausted the
 * memory of the host's process.
 */
import { memoryStore } from 'hookswitch'
import { expect, it } from 'vitest'
import { deleteWebhook, newWebhook } from '../../src/webhooks/webhook.js'

const settings = {
  name: 'n',
  uri: 'https://example.com/',
  hook: 'all',
  httpVerb: 'post',
  retries: 0,
  format: 'json',
  enabled: true,
  includeSubaccounts: false,
  includeInternalLegs: true,
  ordering: 'call',
} as const
const LIMITS = { attemptsPerWebhook: 10, beforeMs: 0, limit: 2 }

it('prune removes deleted webhooks without deliveries, in batches, after a delay', async () => {
  const { webhooks, deliveries, open } = memoryStore()
  await open({ clock: { now: () => 0, monotonic: () => 0 } as never, log: {} as never })
  const ids = ['a', 'b', 'c']
  for (const id of [...ids, 'live']) {
    const webhook = newWebhook({ id, accountId: 'acc' }, { settings }, { sealed: '' }, 0)
    await webhooks.insert(webhook)
    if (id !== 'live') expect(await webhooks.replace(deleteWebhook(webhook, 1_000), 1)).toBe(true)
  }
  const storedIds = async () => {
    const found = await Promise.all([...ids, 'live'].map((id) => deliveries.webhookOf(id)))
    return found.flatMap((webhook) => webhook?.id ?? [])
  }
  // A publish in progress may have matched it, and its acceptance must not be rejected.
  expect(await deliveries.prune(LIMITS, 2_000)).toBe(0)
  expect(await storedIds()).toEqual(['a', 'b', 'c', 'live'])
  expect(await deliveries.prune(LIMITS, 100_000)).toBe(2)
  expect(await storedIds()).toEqual(['c', 'live'])
  expect(await deliveries.prune(LIMITS, 100_000)).toBe(1)
  expect(await deliveries.prune(LIMITS, 100_000)).toBe(0)
  expect(await storedIds()).toEqual(['live'])
  expect(await webhooks.list(['acc'])).toHaveLength(1)
})
