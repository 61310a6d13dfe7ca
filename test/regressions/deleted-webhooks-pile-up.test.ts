/**
 * What went wrong: the memory store kept every webhook that was ever deleted. A client that made and deleted them, 60 KiB
 * each, filled the memory of the host's process for good.
 */
import { memoryStore } from 'hookswitch'
import { expect, it } from 'vitest'
import { deletedWebhook, newWebhook } from '../../src/webhooks/webhook.js'

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

it('a deleted webhook of which nothing is left is forgotten, in batches, and not at once', async () => {
  const { webhooks, deliveries, open } = memoryStore()
  await open({ clock: { now: () => 0 } as never, log: {} as never })
  const ids = ['a', 'b', 'c']
  for (const id of [...ids, 'kept']) {
    const webhook = newWebhook({ id, accountId: 'acc' }, { settings }, { sealed: '' }, 0)
    await webhooks.insert(webhook)
    if (id !== 'kept') expect(await webhooks.replace(deletedWebhook(webhook, 1_000), 1)).toBe(true)
  }
  const known = async () => {
    const found = await Promise.all([...ids, 'kept'].map((id) => deliveries.webhookOf(id)))
    return found.flatMap((webhook) => webhook?.id ?? [])
  }
  // A publish under way may have chosen it: its acceptance must not be refused.
  expect(await deliveries.prune(LIMITS, 2_000)).toBe(0)
  expect(await known()).toEqual(['a', 'b', 'c', 'kept'])
  expect(await deliveries.prune(LIMITS, 100_000)).toBe(2)
  expect(await known()).toEqual(['c', 'kept'])
  expect(await deliveries.prune(LIMITS, 100_000)).toBe(1)
  expect(await deliveries.prune(LIMITS, 100_000)).toBe(0)
  expect(await known()).toEqual(['kept'])
  expect(await webhooks.list(['acc'])).toHaveLength(1)
})
