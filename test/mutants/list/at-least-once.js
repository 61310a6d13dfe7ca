/** Broken on purpose: at least once. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: '3xx counts as delivered',
    file: 'src/delivery/outcome.ts',
    find: 'if (status >= 200 && status < 300)',
    replace: 'if (status >= 200 && status < 400)',
    tests: ['test/delivery/announce.test.ts', 'test/delivery/outcome.test.ts'],
  },
  {
    what: 'one retry too few',
    file: 'src/delivery/retry.ts',
    find: 'Math.max(1, rules.retries) : 1 + rules.retries',
    replace: 'Math.max(1, rules.retries) : Math.max(1, rules.retries)',
    tests: ['test/delivery/announce.test.ts', 'test/delivery/dispatcher-faults.test.ts'],
  },
  {
    what: 'a fault of ours is charged',
    file: 'src/delivery/retry.ts',
    find: "      tries: delivery.tries,\n      interruptions: 0,\n      reason: 'own fault',",
    replace: "      tries: delivery.tries + 1,\n      interruptions: 0,\n      reason: 'own fault',",
    tests: ['test/delivery/dispatcher-faults.test.ts'],
  },
  {
    what: 'an end without a request leaves no record',
    file: 'src/delivery/settle.ts',
    find: 'const record = unsentRecord(recordId, delivery, webhook, next, rules, wallMs)\n  return settlement(delivery, next, record, context)',
    replace: 'return settlement(delivery, next, undefined, context)',
    tests: ['test/delivery/dispatcher-faults.test.ts', 'test/service/promise.test.ts'],
  },
  {
    what: 'only delivered ones can be replayed',
    file: 'src/delivery/replay.ts',
    find: 'if (!isTerminal(delivery.state)) throw',
    replace: "if (delivery.state !== 'delivered') throw",
    tests: ['test/service/promise.test.ts'],
  },
  {
    what: 'the schedule does not learn when a retry is due',
    file: 'src/delivery/conduct.ts',
    find: 'schedule.learn(result.endpoint, since)',
    replace: '',
    tests: ['test/delivery/after-outage.test.ts', 'test/delivery/announce.test.ts'],
  },
  {
    what: 'what a sender withdrew is cancelled though its webhook lives',
    file: 'src/delivery/retry.ts',
    find: "    state: step(delivery, 'returned'),\n    dueMs: now + OWN_FAULT_PAUSE_MS,\n    attempts,",
    replace: "    state: step(delivery, 'withdrawn'),\n    dueMs: now + OWN_FAULT_PAUSE_MS,\n    attempts,",
    tests: ['test/delivery/withdraw.test.ts'],
  },
  {
    what: 'the jitter leaves its window',
    file: 'src/delivery/backoff.ts',
    find: 'policy.jitter * (2 * roll - 1)',
    replace: 'policy.jitter * (4 * roll - 2)',
    tests: ['test/delivery/backoff.test.ts'],
  },
  {
    what: 'a delay passes its cap',
    file: 'src/delivery/backoff.ts',
    find: 'return Math.min(capMs, Math.round(delay',
    replace: 'return Math.max(0, Math.round(delay',
    tests: ['test/delivery/backoff.test.ts'],
  },
]
