import { describe, expect, it } from 'vitest'
import { acceptEvents } from '../../src/delivery/accept.js'
import { LEASE_MS } from '../../src/delivery/lease.js'
import { expectNothingUnhandled } from '../support/unhandled-rejections.js'
import { aWebhook } from './fixtures.js'
import { createHarness, fakeSender, responseWith } from './harness.js'

expectNothingUnhandled()

describe('a node that was cut off for longer than its lease', () => {
  it('sends nothing that it has committed under it, although the answer comes when it has a new lease', async () => {
    const harness = await createHarness([aWebhook()], true)
    const { store } = harness.faults
    const sent: string[] = []
    const senderOf = (name: string) =>
      fakeSender(({ body }) => {
        sent.push(`${name} ${JSON.parse(body!).hook_event}`)
        return responseWith(200)
      })
    let isCut = false
    let answer = () => {}
    const node = harness.node(
      {},
      {
        sender: senderOf('cut off'),
        store: {
          ...store,
          async renew(...input) {
            if (isCut) throw new Error('cut off')
            return store.renew(...input)
          },
          async commit(group) {
            const result = await store.commit(group)
            if (!isCut || !group.starting) return result
            await new Promise<void>((resolve) => {
              answer = resolve
            })
            return result
          },
        },
      },
    )
    await node.start()
    await harness.clock.settle()
    isCut = true
    const publishing = harness.publish('call').catch((thrown: Error) => thrown.message)
    await harness.clock.settle()
    const other = harness.node({}, { sender: senderOf('other') })
    await other.start()
    await harness.clock.advance(LEASE_MS + 2_000)
    await acceptEvents({ ...harness.accept, accept: harness.acceptWithoutNode }, [
      { hook: 'channel_answer', accountId: 'acc', callId: 'call' },
    ])
    await harness.clock.settle()
    const inOrder = ['other channel_create', 'other channel_answer']
    expect(sent).toEqual(inOrder)
    isCut = false
    await harness.clock.advance(2_000)
    answer()
    await harness.clock.settle()
    await publishing
    expect(sent).toEqual(inOrder)
    const closing = [node.close(0), other.close(0)]
    await harness.clock.advance(5_000)
    await Promise.all(closing)
  })
})

describe('a node that learns from a poll that another one has crashed', () => {
  it('renews its lease at once, and gets the shards', async () => {
    const harness = await createHarness([aWebhook()], true)
    const { store } = harness.faults
    let mustRenew = false
    const renewals: number[] = []
    const node = harness.node(
      {},
      {
        store: {
          ...store,
          async poll(lease) {
            const polled = await store.poll(lease)
            return polled && { ...polled, mustRenew }
          },
          async renew(...input) {
            renewals.push(harness.clock.monotonic())
            mustRenew = false
            return store.renew(...input)
          },
        },
      },
    )
    await node.start()
    await harness.clock.advance(2_000)
    node.wake()
    await harness.clock.advance(1_000)
    expect(renewals).toEqual([])
    mustRenew = true
    const fromMs = harness.clock.monotonic()
    node.wake()
    await harness.clock.advance(1_000)
    expect(renewals).toHaveLength(1)
    expect(renewals[0]! - fromMs).toBeLessThan(1_000)
    const closing = node.close(0)
    await harness.clock.advance(5_000)
    await closing
  })
})
