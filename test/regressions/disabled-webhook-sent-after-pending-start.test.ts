/**
 * A delivery was still sent if its webhook was disabled, or responded 410, while the store was writing its start: the
 * sender's `cancel` was called before it had the request.
 */
import { expect, it } from 'vitest'
import { changeSettings, encryptedSettingsOf } from '../../src/webhooks/webhook.js'
import { createHarness, responseWith } from '../delivery/harness.js'
import { createTwoPhaseSender } from '../delivery/two-phase-sender.js'

/** A store that writes starts at once, but returns the result only when the test releases it. */
async function slowStarts() {
  const harness = await createHarness()
  const sender = createTwoPhaseSender()
  const { store: deliveries } = harness.faults
  const releases: (() => void)[] = []
  const store: typeof deliveries = {
    ...deliveries,
    async commit(group) {
      const result = await deliveries.commit(group)
      if (group.starting) await new Promise<void>((resolve) => releases.push(resolve))
      return result
    },
  }
  const node = harness.node({ caps: { perEndpoint: 2 } }, { sender, store })
  await node.start()
  return { harness, sender, node, releases }
}

it('a delivery whose start is being written while the webhook is disabled is not sent', async () => {
  const { harness, sender, node, releases } = await slowStarts()
  await harness.publish('call')
  await harness.clock.settle()
  const row = (await harness.store.webhooks.read('acc', 'w1'))!
  const next = changeSettings(
    row,
    { ...encryptedSettingsOf(row), settings: { ...row.settings, enabled: false } },
    1,
  )
  await harness.store.webhooks.replace(next, row.revision)
  node.cancelUnsent('w1')
  for (const release of releases) release()
  await harness.clock.settle()
  expect(sender.waiting).toEqual([])
  expect(await harness.deliveries()).toMatchObject([{ state: 'cancelled', attempts: 0 }])
})

it('a delivery whose start is being written while the receiver responds 410 is not sent', async () => {
  const { harness, sender, releases } = await slowStarts()
  await harness.publish('a')
  await harness.clock.settle()
  releases.shift()!()
  await harness.clock.settle()
  sender.waiting[0]!.connect()
  const published = harness.publish('b')
  await harness.clock.settle()
  expect(releases).toHaveLength(1)
  sender.onWire[0]!.answer(responseWith(410))
  await harness.clock.settle()
  releases.shift()!()
  await published
  await harness.clock.settle()
  expect(sender.waiting).toEqual([])
})
