/** Broken on purpose: a clean stop. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'claims go on',
    file: 'src/delivery/dispatcher.ts',
    find: '      stopping.abort()\n',
    replace: '\n',
    tests: ['test/delivery/dispatcher-close.test.ts', 'test/service/promise-in-trouble.test.ts'],
  },
  {
    what: 'it does not wait',
    file: 'src/delivery/dispatcher.ts',
    find: 'await waitAtMost(drainMs, clock,',
    replace: 'await waitAtMost(0, clock,',
    tests: ['test/delivery/dispatcher-close.test.ts', 'test/service/promise-in-trouble.test.ts'],
  },
  {
    what: 'connections stay',
    file: 'src/delivery/dispatcher.ts',
    find: '        await sender.close()\n',
    replace: '        void sender.close\n',
    tests: ['test/delivery/fair-shares.test.ts', 'test/service/promise-in-trouble.test.ts'],
  },
  {
    what: 'the lease is kept',
    file: 'src/delivery/dispatcher.ts',
    find: '      await lease.stop()\n',
    replace: '\n',
    tests: ['test/delivery/dispatcher-close.test.ts', 'test/delivery/dispatcher-nodes.test.ts'],
  },
  {
    what: 'its timer stays',
    file: 'src/delivery/dispatcher.ts',
    find: '      unsubscribe()\n      alarm.set(undefined)\n',
    replace: '      unsubscribe()\n',
    tests: ['test/delivery/dispatcher.test.ts'],
  },
  {
    what: 'what is cut is not free at once',
    file: 'src/delivery/retry.ts',
    find: "  const { tries, interruptions } = delivery\n  return {\n    state: step(delivery, 'returned'),\n    dueMs: now,",
    replace:
      "  const { tries, interruptions } = delivery\n  return {\n    state: step(delivery, 'returned'),\n    dueMs: now + 60_000,",
    tests: ['test/delivery/dispatcher-close.test.ts', 'test/delivery/retry.test.ts'],
  },
  {
    what: 'it waits for ever',
    file: 'src/delivery/dispatcher.ts',
    find: 'await waitAtMost(drainMs, clock, pumping.rest().then(conduct.none))',
    replace: 'await pumping.rest().then(conduct.none)',
    tests: ['test/delivery/dispatcher-close.test.ts', 'test/service/closing.test.ts'],
  },
]
