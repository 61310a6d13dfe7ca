/** Seeded faults: a crash causes at most one duplicate. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'interrupted attempts are not settled',
    file: 'src/delivery/queue-sync.ts',
    find: 'const isSettled = await settleInterrupted([...starts.values()])',
    replace: 'const isSettled = true',
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
    find: 'const record = buildRecord(recordId, delivery, webhook, next, rules, wallMs)\n  return settlement(delivery, next, record)',
    replace:
      "const { record, ...rest } = settlement(delivery, next, buildRecord(recordId, delivery, webhook, next, rules, wallMs))\n  return next.state === 'quarantined' ? { ...rest, record } : rest",
    tests: ['test/delivery/worker/delivery-notifications.test.ts', 'test/delivery/dispatcher-close.test.ts'],
  },
  {
    what: 'settlements of a dead node are accepted',
    file: 'src/store/memory/leases.ts',
    find: 'node && node.fence !== 0 && node.fence === lease.fence && now < node.aliveUntilMs ?',
    replace: 'node ?',
    tests: [
      'test/delivery/dispatcher-stale-outcomes.test.ts',
      'test/store/memory/queue.test.ts',
      'test/store/memory.test.ts',
    ],
  },
  {
    what: 'the number of attempts is not checked',
    file: 'src/store/engine/settlement.ts',
    find: 'expect.attempts === row.attempts',
    replace: 'true',
    tests: ['test/store/engine/settlement.test.ts'],
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
  {
    what: 'a request is sent before its start is stored',
    file: 'src/delivery/commit-loop.ts',
    find: '    const startKey = starts.length > 0 ? startKeys.add(starts) : 0\n',
    replace:
      '    const startKey = starts.length > 0 ? startKeys.add(starts) : 0\n    for (const delivery of starts) handlers.start(delivery)\n',
    tests: ['test/delivery/dispatcher-groups.test.ts'],
  },
  {
    what: 'the starts of ended attempts are kept',
    file: 'src/delivery/start-keys.ts',
    find: '      finished.push(startKey)\n',
    replace: '',
    tests: ['test/delivery/dispatcher-groups.test.ts'],
  },
  {
    what: 'a start is sent although the lease may end before it',
    file: 'src/delivery/commit-loop.ts',
    find: 'const isInTime = deps.canStart()',
    replace: 'const isInTime = true',
    tests: ['test/delivery/dispatcher-groups.test.ts'],
  },
  {
    what: 'close forgets starts of which it wrote no end',
    file: 'src/delivery/dispatcher.ts',
    find: 'active.length === 0 && !loop.hasLost',
    replace: 'true',
    tests: ['test/delivery/dispatcher-groups.test.ts', 'test/delivery/dispatcher-close.test.ts'],
  },
  {
    what: 'a start that the store names twice is settled twice, and its delivery forgotten',
    file: 'src/delivery/queue-sync.ts',
    find: 'for (const start of part.interrupted) starts.set(startKey(start), start)',
    replace: 'for (const start of part.interrupted) starts.set(String(starts.size), start)',
    tests: ['test/delivery/dispatcher-nodes.test.ts'],
  },
  {
    what: 'the start of a settlement that was given up is forgotten with the last attempt of its group',
    file: 'src/delivery/commit-loop.ts',
    find: 'hasLost ? [] : startKeys.takeFinished()',
    replace: 'startKeys.takeFinished()',
    tests: ['test/delivery/commit-loop.test.ts'],
  },
  {
    what: 'the starts of a refused group are forgotten although its settlements were given up',
    file: 'src/delivery/commit-loop.ts',
    find: '    if (hasLost) return\n',
    replace: '',
    tests: ['test/delivery/commit-loop.test.ts'],
  },
  {
    what: 'a closing node that could not settle interrupted attempts makes the store forget their starts',
    file: 'src/delivery/queue-sync.ts',
    find: 'if (!isSettled || state.lease !== lease) return',
    replace: 'if (state.lease !== lease) return',
    tests: ['test/delivery/dispatcher-nodes.test.ts'],
  },
  {
    what: 'what a failover lost is not counted again if counting failed',
    file: 'src/delivery/queue-sync.ts',
    find: 'await countLost()\n    mustLoadAll = false',
    replace: 'mustLoadAll = false\n    await countLost()',
    tests: ['test/delivery/dispatcher-failover.test.ts'],
  },
]
