/** Broken on purpose: a crash costs one duplicate. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'orphans are not looked for',
    file: 'src/delivery/recovery.ts',
    find: 'await recoverOrphans(doors)\n',
    replace: '\n',
    tests: ['test/delivery/dispatcher-nodes.test.ts', 'test/service/promise-in-trouble.test.ts'],
  },
  {
    what: 'an interruption takes no number',
    file: 'src/delivery/retry.ts',
    find: "return { state, dueMs: now, attempts: attempts + 1, tries, interruptions, reason: 'interrupted' }",
    replace: "return { state, dueMs: now, attempts, tries, interruptions, reason: 'interrupted' }",
    tests: ['test/delivery/dispatcher-nodes.test.ts', 'test/service/promise-in-trouble.test.ts'],
  },
  {
    what: 'an interruption leaves no record',
    file: 'src/delivery/settle.ts',
    find: 'const record = recordOf(recordId, delivery, webhook, next, rules, wallMs)\n  return settlement(delivery, next, record, context)',
    replace:
      "const record = recordOf(recordId, delivery, webhook, next, rules, wallMs)\n  return settlement(delivery, next, next.state === 'quarantined' ? record : undefined, context)",
    tests: ['test/delivery/announce.test.ts', 'test/delivery/dispatcher-close.test.ts'],
  },
  {
    what: 'the dead node’s outcomes are still taken',
    file: 'src/store/memory/leases.ts',
    find: 'return lease.owner === owner && now < lease.aliveUntilMs',
    replace: 'return now < lease.aliveUntilMs',
    tests: ['test/delivery/caps.test.ts'],
  },
  {
    what: 'the fence is not asked',
    file: 'src/store/memory/settle.ts',
    find: 'delivery.fence === expect.fence &&',
    replace: '',
    tests: ['test/delivery/stale-outcomes.test.ts'],
  },
  {
    what: 'a poison delivery kills node after node',
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
