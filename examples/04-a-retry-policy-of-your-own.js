// @ts-check
/** A retry policy of your own, on a clock that the program moves by itself: minutes pass in no time. */
import assert from 'node:assert/strict'
import { createHookswitch, custom, memoryStore } from 'hookswitch'
import { manualClock, scriptedReceiver, status } from 'hookswitch/testkit'

/**
 * A policy is a function: from what happened to the milliseconds until the next try, or null to give up. It is
 * registered under a name; the webhook's `retries` still limits how often it is asked.
 *
 * @type {import('hookswitch').PolicyFunction}
 */
function patientWithDeployments({ tries, status, failure }) {
  // Our receivers are gone for a minute when they are deployed.
  if (failure === 'connection' || status === 503) return 60_000
  // Answers that a repetition will not change.
  if (status === 401 || status === 403) return null
  return 5_000 * tries
}

const clock = manualClock()
const hs = createHookswitch({
  store: memoryStore(),
  clock,
  allowLocal: true,
  retryPolicy: custom('patientWithDeployments'),
  policies: { patientWithDeployments },
})
await hs.start()
await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })

// A receiver that follows a script: it is being deployed, then it stumbles, then it takes the event.
const receiver = scriptedReceiver({ clock })
await receiver.start()
receiver.on('/deployed', [status(503), status(500), status(200)])
receiver.on('/locked', [status(403)])
await hs.webhooks.create('acme', {
  name: 'Calls',
  uri: receiver.url('/deployed'),
  hook: 'channel_create',
  retries: 5,
})
await hs.webhooks.create('acme', {
  name: 'Ends',
  uri: receiver.url('/locked'),
  hook: 'channel_destroy',
  retries: 5,
})

const startMs = clock.now()
await attemptDuring(() => hs.publish({ hook: 'channel_create', accountId: 'acme', callId: 'call-1' }))
await attemptDuring(() => clock.advance(60_000))
await attemptDuring(() => clock.advance(10_000))
const tries = await receiver.next(3)
for (const { atMs, headers, step } of tries) {
  console.log(`after ${(atMs - startMs) / 1000} s: try ${headers['x-hook-attempt']} → ${step}`)
}

const exhausted = new Promise((resolve) => hs.events.once('exhausted', resolve))
await hs.publish({ hook: 'channel_destroy', accountId: 'acme', callId: 'call-1' })
const end = /** @type {import('hookswitch').DeliveryEnd} */ (await exhausted)
console.log(`403: given up after ${end.attempts} try, ${end.reason}`)

await hs.close()
await receiver.close()

assert.deepEqual(
  tries.map(({ atMs }) => atMs - startMs),
  [0, 60_000, 70_000],
)
// A receiver can tell that it is the same delivery: same id, same bytes.
assert.equal(new Set(tries.map(({ headers, body }) => `${headers['webhook-id']} ${body}`)).size, 1)
assert.equal(end.attempts, 1)

/**
 * Does something and waits until the attempt that follows from it is over and written down.
 *
 * @param {() => Promise<unknown>} work
 */
async function attemptDuring(work) {
  const over = new Promise((resolve) => hs.events.once('attempt', resolve))
  await work()
  await over
}
