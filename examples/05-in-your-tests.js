// @ts-check
/**
 * Testing an application of yours with hundreds of generated calls and a failing receiver. The test knows the exact
 * content of each call and advances a manual clock, so minutes of calls run at once.
 * After `npm run build`: `node examples/05-in-your-tests.js`
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHookswitch, memoryStore, verify } from 'hookswitch'
import {
  callGenerator,
  manualClock,
  reset,
  scriptedReceiver,
  status,
  takeCalls,
  until,
} from 'hookswitch/testkit'

/**
 * The application under test: sums the billed seconds of each customer. An event may arrive twice (after a lost
 * response, or as a replay), so it skips what it has processed by webhook and event, which a replay does not change; and a
 * stranger may know the URL, so it verifies the signature.
 */
function billing() {
  const processed = new Set()
  /** @type {Map<string, number>} */
  const seconds = new Map()
  return {
    seconds,
    /** @param {import('hookswitch/testkit').ReceivedRequest} request @param {string} secret @param {number} nowMs */
    receive(request, secret, nowMs) {
      const checked = verify(request, secret, { nowSeconds: Math.floor(nowMs / 1000) })
      if (!checked.ok) return
      const { event_id, account_id, billing_seconds, call_direction } = JSON.parse(request.body)
      const id = `${request.headers['x-hook-id']} ${event_id}`
      if (processed.has(id)) return
      processed.add(id)
      if (call_direction !== 'inbound') return
      seconds.set(account_id, (seconds.get(account_id) ?? 0) + billing_seconds)
    },
  }
}

test('every answered call is billed once, even when the receiver fails and all is replayed', async () => {
  const clock = manualClock()
  const hs = createHookswitch({ store: memoryStore(), clock, allowLocal: true })
  await hs.start()
  for (const id of ['acme', 'globex']) await hs.accounts.create({ id, name: id, realm: `${id}.example` })

  // Every tenth request fails, and of every thirteenth the response is lost.
  let served = 0
  const receiver = scriptedReceiver({
    clock,
    script() {
      served += 1
      return served % 10 === 0 ? status(500) : served % 13 === 0 ? reset() : status(200)
    },
  })
  await receiver.start()
  /** @type {Map<string, string>} */
  const secrets = new Map()
  for (const id of ['acme', 'globex']) {
    const webhook = { name: 'Bills', uri: receiver.url(`/${id}`), hook: 'channel_destroy', retries: 10 }
    secrets.set(id, await hs.webhooks.secret(id, (await hs.webhooks.create(id, webhook)).id))
  }
  let delivered = 0
  hs.events.on('delivered', () => {
    delivered += 1
  })

  // The same seed generates the same calls, so a failure that reports the seed can be reproduced.
  const seed = 7
  const startMs = clock.now()
  const generator = callGenerator({ seed, accounts: ['acme', 'globex'], callsPerSecond: 2, startMs })
  const { events, calls } = takeCalls(generator, 200)
  for (const { atMs, event } of events) {
    await clock.advance(atMs - clock.now())
    await hs.publish(event)
  }
  const legs = calls.flatMap((call) => call.legs)
  const untilDelivered = (/** @type {number} */ count) =>
    until(
      async () => {
        await clock.advance(1_000)
        return delivered === count
      },
      { timeoutMs: 60_000, description: 'everything is delivered' },
    )
  await untilDelivered(legs.length)
  await hs.replays.start({ result: 'success' })
  await untilDelivered(2 * legs.length)

  const bills = billing()
  for (const request of receiver.requests) {
    bills.receive(request, secrets.get(request.path.slice(1)) ?? '', request.atMs)
  }
  for (const id of ['acme', 'globex']) {
    const expected = calls
      .filter((call) => call.accountId === id)
      .flatMap((call) => call.legs)
      .filter((leg) => leg.direction === 'inbound' && leg.answeredMs !== undefined)
      .reduce((sum, leg) => sum + Math.floor((leg.destroyedMs - (leg.answeredMs ?? 0)) / 1000), 0)
    assert.equal(bills.seconds.get(id), expected, `seed ${seed}: the bill of ${id}`)
  }
  assert.ok(receiver.requests.length > 2 * legs.length, 'the receiver failed')
  const figures = `${calls.length} calls, ${legs.length} legs, ${receiver.requests.length} requests`
  console.log(`${figures}: every call billed once`)

  await hs.close()
  await receiver.close()
})
