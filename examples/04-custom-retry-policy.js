// @ts-check
/**
 * A custom retry policy, on a manual clock: the program advances the time, so minutes of retries run at once.
 * After `npm run build`: `node examples/04-custom-retry-policy.js`
 */
import assert from 'node:assert/strict'
import { createHookswitch, custom, memoryStore } from 'hookswitch'
import { manualClock, scriptedReceiver, status } from 'hookswitch/testkit'

/**
 * Returns the milliseconds until the next attempt, or null to give up. A policy is registered under a name; the
 * webhook's `retries` still limits the number of attempts. It decides where a receiver rejects a delivery: one that is
 * away is tried again after seconds, whatever the policy.
 *
 * @type {import('hookswitch').PolicyFunction}
 */
function patientWithDeployments({ tries, status }) {
  // A deployment takes the path of a receiver away for a minute.
  if (status === 404) return 60_000
  // A retry would get the same response.
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

// A receiver that follows a script: not found during a deployment, then an internal error, then success.
const receiver = scriptedReceiver({ clock })
await receiver.start()
receiver.on('/deployed', [status(404), status(500), status(200)])
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
const requests = await receiver.next(3)
for (const { atMs, headers, step } of requests) {
  console.log(`after ${(atMs - startMs) / 1000} s: attempt ${headers['x-hook-attempt']} → ${step}`)
}

const exhausted = new Promise((resolve) => hs.events.once('exhausted', resolve))
await hs.publish({ hook: 'channel_destroy', accountId: 'acme', callId: 'call-1' })
const end = /** @type {import('hookswitch').DeliveryEnd} */ (await exhausted)
console.log(`403: given up after ${end.attempts} attempt, ${end.reason}`)

await hs.close()
await receiver.close()

assert.deepEqual(
  requests.map(({ atMs }) => atMs - startMs),
  [0, 60_000, 70_000],
)
// A receiver recognises a repeated delivery: same id, same bytes.
assert.equal(new Set(requests.map(({ headers, body }) => `${headers['webhook-id']} ${body}`)).size, 1)
assert.equal(end.attempts, 1)

/**
 * Runs `work` and waits until the attempt that it causes has ended and is stored.
 *
 * @param {() => Promise<unknown>} work
 */
async function attemptDuring(work) {
  const ended = new Promise((resolve) => hs.events.once('attempt', resolve))
  await work()
  await ended
}
