// @ts-check
/**
 * Rules of your own, tried with random cases. What hookswitch decides it decides in plain functions, so a rule can
 * be tried on a thousand deliveries without a server, a clock or a store.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { custom, matches, nextDelivery, outcomeOf } from 'hookswitch'

// First rule: a receiver in trouble is asked again soon, then less and less often, but never later than ten minutes
// after the first try: nobody wants to hear of a call that is long over.
const TEN_MINUTES_MS = 600_000
/** @type {import('hookswitch').PolicyFunction} */
const whileItMatters = ({ tries, roll }) => {
  const mostSpentMs = 2_000 * (2 ** (tries - 1) - 1) * 1.5
  const delayMs = 2_000 * 2 ** (tries - 1) * (1 + roll / 2)
  return mostSpentMs + delayMs > TEN_MINUTES_MS ? null : delayMs
}

/** What is seen of an attempt at a receiver in trouble: no answer, or a bad one. */
const trouble = fc.oneof(
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
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

/** @type {import('hookswitch').Delivery} */
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
  fence: 1,
  acceptedMs: 0,
}

let tried = 0
fc.assert(
  fc.property(
    fc.integer({ min: 0, max: 10 }),
    fc.array(fc.tuple(trouble, chance), { minLength: 11, maxLength: 11 }),
    (retries, attempts) => {
      const rules = { policy: custom('whileItMatters'), functions: { whileItMatters }, retries }
      let delivery = claimed
      let nowMs = 0
      for (const [seen, roll] of attempts) {
        const next = nextDelivery(delivery, outcomeOf(seen, nowMs), rules, nowMs, roll)
        tried += 1
        if (next.state === 'exhausted') return assert.ok(next.tries <= 1 + retries)
        assert.equal(next.state, 'waiting')
        nowMs = next.dueMs ?? nowMs
        assert.ok(nowMs <= TEN_MINUTES_MS, `try ${next.tries + 1} after ${nowMs} ms`)
        delivery = { ...delivery, attempts: next.attempts, tries: next.tries }
      }
      assert.fail('it never ended')
    },
  ),
  { numRuns: 1_000 },
)
console.log(`1000 failing deliveries, ${tried} tries, none later than ten minutes after the first`)

// Second rule, a promise to customers: nobody's webhook sees the calls of an account that is not below its own.
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
/** @returns {import('hookswitch').Webhook} */
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

let seen = 0
fc.assert(
  fc.property(
    fc.shuffledSubarray(names, { minLength: 1 }),
    fc.constantFrom(...names),
    fc.boolean(),
    (tree, owner, sub) => {
      // The account of the event first, then those above it.
      const [at = '', ...above] = tree
      const event = { hook: 'channel_create', accountId: at }
      const sees = matches(webhookOf(owner, sub), event, tree.map(accountOf))
      assert.equal(sees, owner === at || (sub && above.includes(owner)))
      seen += Number(sees)
    },
  ),
  { numRuns: 1_000 },
)
console.log(`1000 events, ${seen} seen by a webhook, each of its own account or of one below it`)
