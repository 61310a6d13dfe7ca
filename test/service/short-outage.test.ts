/** A receiver that is down for less than five minutes loses nothing, and is served again at once. */
import { createHookswitch, exponential, memoryStore } from 'hookswitch'
import type { Sender } from 'hookswitch/adapter'
import { manualClock, seededRandom } from 'hookswitch/testkit'
import { expect, it } from 'vitest'
import { fakeSender, responseWith } from '../delivery/harness.js'

async function start(seed: string) {
  const clock = manualClock()
  const sender = fakeSender()
  const random = seededRandom(seed)
  const hs = createHookswitch({
    store: memoryStore(),
    clock,
    random,
    sender: sender as Sender,
    retryPolicy: exponential(),
    defaultRetries: 2,
  })
  await hs.start()
  await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
  const webhook = { name: 'w', uri: 'https://acme.example.com/', hook: 'channel_create' }
  const { id: webhookId } = await hs.webhooks.create('acme', webhook)
  const states = async () => {
    const rows = await hs.webhooks.deliveries('acme', webhookId, { limit: 1000 })
    return rows.map(({ state }) => state)
  }
  return { hs, clock, sender, states, webhookId }
}

it('an outage of 45 s leaves nothing undelivered 15 s after its end', async () => {
  const { hs, clock, sender, states } = await start('short outage')
  sender.script = () => responseWith(503)
  for (let call = 0; call < 30; call++) {
    await hs.publish({ hook: 'channel_create', accountId: 'acme', callId: `call-${call}` })
  }
  await clock.advance(45_000)
  expect((await states()).every((state) => state === 'waiting')).toBe(true)
  sender.script = () => responseWith(200)
  await clock.advance(15_000)
  expect(await states()).toEqual(new Array(30).fill('delivered'))
  await hs.close({ drainMs: 0 })
})

it.each(Array.from({ length: 8 }, (_, index) => 20_000 + index * 37_000))(
  'an outage of %i ms spends no try of the deliveries that wait, and ends within 15 s',
  async (outageMs) => {
    const { hs, clock, sender, states, webhookId } = await start(`outage ${outageMs}`)
    sender.script = () => ({ kind: 'no_response', failure: 'connection', detail: '' })
    const publish = (callId: string) => hs.publish({ hook: 'channel_create', accountId: 'acme', callId })
    // Failures in a row pause the webhook.
    for (let call = 0; call < 10; call++) await publish(`call-${call}`)
    await clock.settle()
    for (let call = 10; call < 13; call++) await publish(`call-${call}`)
    await clock.advance(outageMs)
    const waiting = await hs.webhooks.deliveries('acme', webhookId)
    expect(waiting.every(({ state, tries }) => state === 'waiting' && tries <= 1)).toBe(true)
    sender.script = () => responseWith(200)
    await clock.advance(15_000)
    expect(await states()).toEqual(new Array(13).fill('delivered'))
    await hs.close({ drainMs: 0 })
  },
)
