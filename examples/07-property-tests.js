// @ts-check
/**
 * Property-based tests of two rules: the limit of a custom retry policy, and which webhooks get an event. hookswitch
 * decides in pure functions, so thousands of deliveries run without a server, a clock or a store.
 * After `npm run build`: `node examples/07-property-tests.js`
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { custom } from 'hookswitch'
import { matches, nextDelivery, outcomeOf } from 'hookswitch/testkit'

// First rule: retries start soon and become rarer, and none is later than ten minutes after the first attempt, because
// the call is over by then.
const TEN_MINUTES_MS = 600_000
/** @type {import('hookswitch').PolicyFunction} */
const whileItMatters = ({ tries, random }) => {
  const longestBeforeMs = 2_000 * (2 ** (tries - 1) - 1) * 1.5
  const delayMs = 2_000 * 2 ** (tries - 1) * (1 + random / 2)
  return longestBeforeMs + delayMs > TEN_MINUTES_MS ? null : delayMs
}

/** Observations of failed attempts: no response, or one with an error status. */
const failedAttempt = fc.oneof(
  fc.record({
    kind: fc.constant(/** @type {const} */ ('no_response')),
    failure: fc.constantFrom('timeout', 'connection', 'dns', 'tls', 'protocol'),
    detail: fc.constant(''),
  }),
  fc.record({
    kind: fc.constant(/** @type {const} */ ('response')),
    status: fc.constantFrom(301, 400, 404, 500),
    headers: fc.constant([]),
    body: fc.constant(''),
    bodyEnd: fc.constant(/** @type {const} */ ('complete')),
  }),
)
const randomNumber = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

/** @type {import('hookswitch/store').Delivery} */
const claimed = {
  id: 'delivery-1',
  accountId: 'acme',
  webhookId: 'webhook-1',
  eventId: 'event-1',
  eventAccountId: 'acme',
  hook: 'channel_create',
  eventTimestampMs: 0,
  variant: 0,
  encoding: 'json',
  httpVerb: 'post',
  lane: 'acme call-1',
  epoch: 1,
  state: 'in_flight',
  attempts: 0,
  tries: 0,
  interruptions: 0,
  acceptedMs: 0,
}

let attemptCount = 0
fc.assert(
  fc.property(
    fc.integer({ min: 0, max: 10 }),
    fc.array(fc.tuple(failedAttempt, randomNumber), { minLength: 11, maxLength: 11 }),
    (retries, attempts) => {
      const rules = { policy: custom('whileItMatters'), functions: { whileItMatters }, retries }
      let delivery = claimed
      let nowMs = 0
      for (const [observation, random] of attempts) {
        const next = nextDelivery(delivery, outcomeOf(observation, nowMs), rules, nowMs, random)
        attemptCount += 1
        if (next.state === 'exhausted') return assert.ok(next.tries <= 1 + retries)
        assert.equal(next.state, 'waiting')
        nowMs = next.dueMs ?? nowMs
        assert.ok(nowMs <= TEN_MINUTES_MS, `attempt ${next.tries + 1} after ${nowMs} ms`)
        delivery = { ...delivery, attempts: next.attempts, tries: next.tries }
      }
      assert.fail('the delivery did not end')
    },
  ),
  { numRuns: 1_000 },
)
console.log(`1000 failing deliveries, ${attemptCount} attempts, none later than ten minutes after the first`)

// Second rule: a webhook gets the events of its own account, and only with `includeSubaccounts` those of accounts below.
const names = ['root', 'agency', 'shop', 'branch']
/** @returns {import('hookswitch').Account} */
const accountOf = (/** @type {string} */ id) => ({
  id,
  name: id,
  realm: `${id}.example`,
  enabled: true,
  language: 'en-us',
  isReseller: false,
  createdMs: 0,
  modifiedMs: 0,
})
/** @returns {import('hookswitch/store').Webhook} */
const webhookOf = (/** @type {string} */ accountId, /** @type {boolean} */ includeSubaccounts) => ({
  id: 'webhook-1',
  accountId,
  settings: {
    name: 'Calls',
    uri: 'https://example.com/',
    hook: 'all',
    httpVerb: 'post',
    retries: 2,
    format: 'json',
    enabled: true,
    includeSubaccounts,
    includeInternalLegs: true,
    ordering: 'call',
  },
  secrets: [],
  createdMs: 0,
  modifiedMs: 0,
  revision: 1,
  epoch: 1,
})

let matched = 0
fc.assert(
  fc.property(
    fc.shuffledSubarray(names, { minLength: 1 }),
    fc.constantFrom(...names),
    fc.boolean(),
    (lineage, owner, includeSubaccounts) => {
      // The account of the event first, then its ancestors.
      const [accountId = '', ...ancestors] = lineage
      const event = { hook: 'channel_create', accountId }
      const isMatch = matches(webhookOf(owner, includeSubaccounts), event, lineage.map(accountOf))
      assert.equal(isMatch, owner === accountId || (includeSubaccounts && ancestors.includes(owner)))
      matched += Number(isMatch)
    },
  ),
  { numRuns: 1_000 },
)
console.log(`1000 events, ${matched} matched a webhook, each of the same account or of one above`)
