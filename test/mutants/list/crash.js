/** Seeded faults: a crash causes at most one duplicate. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'orphans are not recovered',
    file: 'src/delivery/recovery.ts',
    find: 'await recoverOrphans(deps)\n',
    replace: '\n',
    tests: ['test/delivery/dispatcher-nodes.test.ts', 'test/service/guarantees-under-faults.test.ts'],
  },
  {
    what: 'an interruption takes no attempt number',
    file: 'src/delivery/retry.ts',
    find: "return { state, dueMs: now, attempts: attempts + 1, tries, interruptions, reason: 'interrupted' }",
    replace: "return { state, dueMs: now, attempts, tries, interruptions, reason: 'interrupted' }",
    tests: ['test/delivery/dispatcher-nodes.test.ts', 'test/service/guarantees-under-faults.test.ts'],
  },
  {
    what: 'an interruption leaves no record',
    file: 'src/delivery/settle.ts',
    find: 'const record = buildRecord(recordId, delivery, webhook, next, rules, wallMs)\n  return settlement(delivery, next, record, context)',
    replace:
      "const record = buildRecord(recordId, delivery, webhook, next, rules, wallMs)\n  return settlement(delivery, next, next.state === 'quarantined' ? record : undefined, context)",
    tests: ['test/delivery/worker/delivery-notifications.test.ts', 'test/delivery/dispatcher-close.test.ts'],
  },
  {
    what: 'settlements of a dead node are accepted',
    file: 'src/store/memory/leases.ts',
    find: 'return lease.owner === owner && now < lease.aliveUntilMs',
    replace: 'return now < lease.aliveUntilMs',
    tests: ['test/delivery/dispatcher-caps.test.ts'],
  },
  {
    what: 'the fence is not checked',
    file: 'src/store/memory/settle.ts',
    find: 'delivery.fence === expect.fence &&',
    replace: '',
    tests: ['test/delivery/dispatcher-stale-outcomes.test.ts'],
  },
  {
    what: 'a delivery that crashes nodes is never quarantined',
    file: 'src/delivery/retry.ts',
    find: 'export const MAX_INTERRUPTIONS = 3',
    replace: 'export const MAX_INTERRUPTIONS = 30',
    tests: ['test/delivery/dispatcher-nodes.test.ts', 'test/delivery/retry.test.ts'],
  },
  {
    what: 'an interruption spends the budget',
    file: 'src/delivery/retry.ts',
    find: "attempts: attempts + 1, tries, interruptions, reason: 'interrupted'",
    replace: "attempts: attempts + 1, tries: tries + 1, interruptions, reason: 'interrupted'",
    tests: ['test/delivery/dispatcher-nodes.test.ts', 'test/delivery/retry.test.ts'],
  },
]
