/**
 * Retention used a node's wall clock alone: one that was a month fast removed attempts that were minutes old, for all
 * nodes.
 */
import { createHookswitch, memoryStore } from 'hookswitch'
import { manualClock, scriptedReceiver } from 'hookswitch/testkit'
import { expect, it } from 'vitest'

const DAY_MS = 86_400_000
const event = { hook: 'channel_create', accountId: 'acme', callId: 'leg-1' } as const

async function harness() {
  const clock = manualClock()
  const receiver = scriptedReceiver()
  await receiver.start()
  const hs = createHookswitch({ store: memoryStore(), clock, allowLocal: true })
  await hs.start()
  await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
  await hs.webhooks.create('acme', { name: 'w', uri: receiver.url('/w'), hook: 'all' })
  const attempts = async () => (await hs.webhooks.attempts('acme', undefined, { limit: 9 })).length
  return { clock, receiver, hs, attempts }
}

it('a wall clock that jumps a month ahead does not remove recent attempts', async () => {
  const { clock, receiver, hs, attempts } = await harness()
  await hs.publish(event)
  await expect.poll(attempts).toBe(1)
  clock.jumpWall(30 * DAY_MS)
  await clock.advance(3_600_000)
  expect(await attempts()).toBe(1)
  expect((await hs.publish(event)).sequence).toBe(2)
  await hs.close()
  await receiver.close()
})

it('old attempts are removed', async () => {
  const { clock, receiver, hs, attempts } = await harness()
  await hs.publish(event)
  await expect.poll(attempts).toBe(1)
  await clock.advance(40 * DAY_MS)
  expect(await attempts()).toBe(0)
  await hs.close()
  await receiver.close()
})

it.each([30, -30])(
  'an idempotency key is valid for a day on a node whose clock is %i days off',
  async (days) => {
    const { clock, receiver, hs } = await harness()
    clock.jumpWall(days * DAY_MS)
    const first = await hs.publish(event, { idempotencyKey: 'k' })
    expect((await hs.publish(event, { idempotencyKey: 'k' })).duplicate).toBe(true)
    await clock.advance(DAY_MS + 1)
    const later = await hs.publish(event, { idempotencyKey: 'k' })
    expect([later.duplicate, later.eventId === first.eventId]).toEqual([false, false])
    await hs.close()
    await receiver.close()
  },
)
