// @ts-check
/**
 * Inside your own tests: what you build on hookswitch, tried with hundreds of calls over a receiver in trouble. The
 * calls are generated, so the truth about them is known; the clock is moved by the test, so minutes take no time.
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
 * What is tested: a ledger of a customer, fed by webhooks. An event may come twice (a lost answer), so it looks at
 * the `webhook-id`; and not everybody who knows the URL may write bills, so it looks at the signature.
 */
function ledger() {
  const seen = new Set()
  /** @type {Map<string, number>} */
  const seconds = new Map()
  return {
    seconds,
    /** @param {import('hookswitch/testkit').ReceivedRequest} request @param {string} secret @param {number} nowMs */
    take(request, secret, nowMs) {
      const checked = verify(request, secret, { nowSeconds: Math.floor(nowMs / 1000) })
      if (!checked.ok || seen.has(checked.id)) return
      seen.add(checked.id)
      const { account_id, billing_seconds, call_direction } = JSON.parse(request.body)
      if (call_direction !== 'inbound') return
      seconds.set(account_id, (seconds.get(account_id) ?? 0) + billing_seconds)
    },
  }
}

test('every answered call is billed once, whatever the receiver does', async () => {
  const clock = manualClock()
  const hs = createHookswitch({ store: memoryStore(), clock, allowLocal: true })
  await hs.start()
  for (const id of ['acme', 'globex']) await hs.accounts.create({ id, name: id, realm: `${id}.example` })

  // Every tenth request is refused, and of every thirteenth the answer is lost.
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
    const wish = { name: 'Bills', uri: receiver.url(`/${id}`), hook: 'channel_destroy', retries: 10 }
    secrets.set(id, await hs.webhooks.secret(id, (await hs.webhooks.create(id, wish)).id))
  }
  let delivered = 0
  hs.events.on('delivered', () => {
    delivered += 1
  })

  // The same seed gives the same calls: a failure that names it can be repeated.
  const seed = 7
  const startMs = clock.now()
  const generator = callGenerator({ seed, accounts: ['acme', 'globex'], callsPerSecond: 2, startMs })
  const { events, calls } = takeCalls(generator, 200)
  for (const { atMs, event } of events) {
    await clock.advance(atMs - clock.now())
    await hs.publish(event)
  }
  const legs = calls.flatMap((call) => call.legs)
  await until(
    async () => {
      await clock.advance(1_000)
      return delivered === legs.length
    },
    { timeoutMs: 60_000, what: 'everything is delivered' },
  )

  const bills = ledger()
  for (const request of receiver.requests) {
    bills.take(request, secrets.get(request.path.slice(1)) ?? '', request.atMs)
  }
  for (const id of ['acme', 'globex']) {
    const expected = calls
      .filter((call) => call.accountId === id)
      .flatMap((call) => call.legs)
      .filter((leg) => leg.direction === 'inbound' && leg.answeredMs !== undefined)
      .reduce((sum, leg) => sum + Math.floor((leg.destroyedMs - (leg.answeredMs ?? 0)) / 1000), 0)
    assert.equal(bills.seconds.get(id), expected, `seed ${seed}: the bill of ${id}`)
  }
  assert.ok(receiver.requests.length > legs.length, 'the receiver had trouble')
  const figures = `${calls.length} calls, ${legs.length} legs, ${receiver.requests.length} requests`
  console.log(`${figures}: every call billed once`)

  await hs.close()
  await receiver.close()
})
