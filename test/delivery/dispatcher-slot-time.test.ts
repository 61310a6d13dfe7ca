/** What a node's accounts whose receivers answer late cost those that need few slots: from the event to its request, in manual time. */
import { describe, expect, it } from 'vitest'
import { acceptEvents } from '../../src/delivery/accept.js'
import type { SendRequest } from '../../src/ports.js'
import { expectNothingUnhandled } from '../support/unhandled-rejections.js'
import { anAccount, aWebhook } from './fixtures.js'
import { createHarness, responseWith } from './harness.js'

expectNothingUnhandled()

const STEP_MS = 5
const RUN_MS = 5_000
const LIGHT = 20
const WEBHOOKS = 10

const list = <Item>(count: number, at: (index: number) => Item) =>
  Array.from({ length: count }, (_, n) => at(n))

const webhooksOf = (accountId: string, count: number) =>
  list(count, (n) =>
    aWebhook(
      { uri: `https://${accountId}-${n}.example/`, ordering: 'none' },
      { id: `${accountId}-${n}`, accountId },
    ),
  )

/** ms from the acceptance of an event of an account with few deliveries to its request, in ascending order. */
async function waitsBeside(heavyAccounts: number, afterMs: number, commitMs: number) {
  const heavy = list(heavyAccounts, (n) => `heavy-${n}`)
  const light = list(LIGHT, (n) => `light-${n}`)
  const harness = await createHarness([
    ...heavy.flatMap((account) => webhooksOf(account, WEBHOOKS)),
    ...light.flatMap((account) => webhooksOf(account, 1)),
  ])
  const { clock, faults } = harness
  const waits: number[] = []
  const publishedMs = new Map<string, number>()
  let isWarm = false
  const store = {
    ...faults.store,
    async commit(group: Parameters<typeof faults.store.commit>[0]) {
      if (commitMs > 0) await clock.sleep(commitMs)
      return faults.store.commit(group)
    },
  }
  const sender = {
    async send({ group, body }: SendRequest) {
      const { call_id: callId } = JSON.parse(body ?? '{}')
      const isLight = group.startsWith('light')
      if (isLight && isWarm) {
        waits.push(clock.now() - publishedMs.get(callId)!)
        publishedMs.delete(callId)
      }
      await clock.sleep(isLight || !isWarm ? 5 : afterMs)
      return responseWith(200)
    },
    async close() {},
  }
  const node = harness.node({}, { store, sender })
  await node.start()
  const accept = {
    ...harness.accept,
    accept: node.accept,
    directory: { lineage: async (id: string) => [anAccount(id)] },
  }
  let published = 0
  const publish = (accountId: string) => {
    const callId = `call-${published++}`
    if (accountId.startsWith('light')) publishedMs.set(callId, clock.now())
    void acceptEvents(accept, [{ hook: 'channel_create', accountId, callId }])
  }
  for (const account of [...heavy, ...light]) publish(account)
  await clock.advance(3_000)
  isWarm = true
  publishedMs.clear()
  let heavyEvents = 0
  let lightEvents = 0
  for (let ms = 0; ms < RUN_MS; ms += STEP_MS) {
    // 600 deliveries a second, an event of a light account every 50 ms.
    for (; heavyEvents < (ms * 600) / WEBHOOKS / 1_000; heavyEvents++)
      publish(heavy[heavyEvents % heavyAccounts]!)
    for (; lightEvents < ms / 50; lightEvents++) publish(light[lightEvents % LIGHT]!)
    await clock.advance(STEP_MS)
  }
  const missing = [...publishedMs.values()].map((ms) => clock.now() - ms)
  const closing = node.close(0)
  await clock.advance(20_000)
  await closing
  return [...waits, ...missing].sort((a, b) => a - b)
}

describe('an event of an account that needs few slots', () => {
  it.each(
    [6, 10].flatMap((accounts) =>
      [950, 1_900].flatMap((afterMs) => [0, 3].map((commitMs) => ({ accounts, afterMs, commitMs }))),
    ),
  )(
    'is sent within 50 ms beside $accounts accounts whose receivers answer after $afterMs ms, with commits of $commitMs ms',
    async ({ accounts, afterMs, commitMs }) => {
      const waits = await waitsBeside(accounts, afterMs, commitMs)
      expect(waits.length).toBeGreaterThanOrEqual(RUN_MS / 50 - 1)
      expect(waits[Math.ceil(waits.length * 0.99) - 1]).toBeLessThanOrEqual(50)
    },
  )
})
