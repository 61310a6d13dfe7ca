/** What another node has changed and what it has accepted arrive with the same poll. */
import { describe, expect, it } from 'vitest'
import { acceptEvents } from '../../src/delivery/accept.js'
import type { QueueStore } from '../../src/delivery/queue-store.js'
import { resumeWebhook } from '../../src/webhooks/webhook.js'
import { expectNothingUnhandled } from '../support/unhandled-rejections.js'
import { aWebhook } from './fixtures.js'
import { createHarness, type Harness, responseWith } from './harness.js'

expectNothingUnhandled()

/** Slow enough that both are stored when a poll finds the first of them. */
function pollingSlowly({ faults: { store }, clock }: Harness): QueueStore {
  return {
    ...store,
    async poll(lease) {
      await clock.sleep(5)
      return store.poll(lease)
    },
  }
}

const acceptElsewhere = ({ accept, acceptWithoutNode }: Harness, callId: string) =>
  acceptEvents({ ...accept, accept: acceptWithoutNode }, [
    { hook: 'channel_create', accountId: 'acc', callId },
  ])

describe('an edit that arrives with an incoming delivery', () => {
  it('hastens retries if it resumes the webhook', async () => {
    const harness = await createHarness([aWebhook({ retries: 1 })], true)
    harness.sender.script = () => responseWith(503, ['retry-after', '600'])
    const node = harness.node({}, { store: pollingSlowly(harness) })
    await node.start()
    await harness.publish('call')
    await harness.clock.advance(60_000)
    expect(harness.sent()).toEqual(['call'])
    harness.sender.script = () => responseWith(200)
    const webhook = (await harness.store.webhooks.read('acc', 'w1'))!
    await harness.store.webhooks.replace(resumeWebhook(webhook), webhook.revision)
    await acceptElsewhere(harness, 'other')
    await harness.clock.advance(30_000)
    expect(harness.sent().toSorted()).toEqual(['call', 'call', 'other'])
    const closing = node.close(0)
    await harness.clock.advance(5_000)
    await closing
  })

  it('cancels what is not sent yet if it disables the webhook', async () => {
    const harness = await createHarness([aWebhook({ ordering: 'none' })], true)
    const cancelled: string[] = []
    harness.sender.script = () => undefined
    const sender = { ...harness.sender, cancel: (group: string) => void cancelled.push(group) }
    const node = harness.node({}, { store: pollingSlowly(harness), sender })
    await node.start()
    await harness.publish('call')
    await harness.clock.advance(100)
    const webhook = (await harness.store.webhooks.read('acc', 'w1'))!
    await acceptElsewhere(harness, 'other')
    const { revision, epoch, settings } = webhook
    await harness.store.webhooks.replace(
      { ...webhook, settings: { ...settings, enabled: false }, revision: revision + 1, epoch: epoch + 1 },
      revision,
    )
    await harness.clock.advance(1_000)
    expect(cancelled).toEqual(['w1'])
    const closing = node.close(0)
    await harness.clock.advance(5_000)
    await closing
  })
})
