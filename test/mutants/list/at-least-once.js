/** Seeded faults: at least once. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'interrupted attempts are settled again after a load in the middle of that',
    file: 'src/delivery/queue-sync.ts',
    find: '    for (const { delivery } of settling) delivery.isAbandoned = true\n',
    replace: '',
    tests: ['test/delivery/dispatcher-shards.test.ts'],
  },
  {
    what: 'shards that are granted during a load count as loaded',
    file: 'src/delivery/queue-sync.ts',
    find: 'await load(shards, first)',
    replace: 'await load(shardsToLoad(), first)',
    tests: ['test/delivery/dispatcher-shards.test.ts'],
  },
  {
    what: '3xx counts as delivered',
    file: 'src/delivery/outcome.ts',
    find: 'if (status >= 200 && status < 300)',
    replace: 'if (status >= 200 && status < 400)',
    tests: ['test/delivery/worker/delivery-notifications.test.ts', 'test/delivery/outcome.test.ts'],
  },
  {
    what: 'one retry too few',
    file: 'src/delivery/retry.ts',
    find: 'Math.max(1, rules.retries) : 1 + rules.retries',
    replace: 'Math.max(1, rules.retries) : Math.max(1, rules.retries)',
    tests: ['test/delivery/worker/delivery-notifications.test.ts', 'test/delivery/dispatcher-faults.test.ts'],
  },
  {
    what: 'an internal fault is charged',
    file: 'src/delivery/retry.ts',
    find: "      tries: delivery.tries,\n      interruptions: 0,\n      reason: 'own fault',",
    replace: "      tries: delivery.tries + 1,\n      interruptions: 0,\n      reason: 'own fault',",
    tests: ['test/delivery/dispatcher-faults.test.ts'],
  },
  {
    what: 'a delivery that ends without a request leaves no record',
    file: 'src/delivery/settle.ts',
    find: 'const record = buildSkippedRecord(recordId, delivery, webhook, next, rules, wallMs)\n  return settlement(delivery, next, record)',
    replace:
      'const { record: _, ...rest } = settlement(delivery, next, buildSkippedRecord(recordId, delivery, webhook, next, rules, wallMs))\n  return rest',
    tests: ['test/delivery/dispatcher-faults.test.ts', 'test/service/guarantees.test.ts'],
  },
  {
    what: 'only delivered deliveries can be replayed',
    file: 'src/delivery/replay.ts',
    find: 'if (!isTerminal(delivery.state)) throw',
    replace: "if (delivery.state !== 'delivered') throw",
    tests: ['test/service/guarantees.test.ts'],
  },
  {
    what: 'the scheduler does not learn when a retry is due',
    file: 'src/delivery/dispatcher.ts',
    find: '    else queue.retry(delivery, next)\n    update(delivery.endpoint)\n',
    replace: '    else queue.retry(delivery, next)\n',
    tests: ['test/delivery/dispatcher-after-outage.test.ts', 'test/delivery/dispatcher.test.ts'],
  },
  {
    what: 'a request cancelled by the sender ends the delivery of a live webhook',
    file: 'src/delivery/dispatcher.ts',
    find: '    if (!decided) {\n',
    replace: '    if (!decided) {\n      queue.end(delivery, now)\n',
    tests: ['test/delivery/cancel-unsent.test.ts'],
  },
  {
    what: 'the jitter leaves its window',
    file: 'src/delivery/backoff.ts',
    find: 'policy.jitter * (2 * random - 1)',
    replace: 'policy.jitter * (4 * random - 2)',
    tests: ['test/delivery/backoff.test.ts'],
  },
  {
    what: 'a delay passes its cap',
    file: 'src/delivery/backoff.ts',
    find: 'return Math.min(capMs, Math.round(delay',
    replace: 'return Math.max(0, Math.round(delay',
    tests: ['test/delivery/backoff.test.ts'],
  },
  {
    what: 'deliveries whose contents are not in memory are never read',
    file: 'src/delivery/queue-sync.ts',
    find: '        void readContents(some)\n',
    replace: '',
    tests: ['test/delivery/dispatcher-contents.test.ts'],
  },
]
