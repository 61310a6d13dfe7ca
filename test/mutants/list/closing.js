/** Seeded faults: a clean stop. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'claims continue after close',
    file: 'src/delivery/dispatcher.ts',
    find: '      stopping.abort()\n',
    replace: '\n',
    tests: ['test/delivery/dispatcher-close.test.ts', 'test/service/guarantees-under-faults.test.ts'],
  },
  {
    what: 'close does not wait for requests in flight',
    file: 'src/delivery/dispatcher.ts',
    find: 'await waitAtMost(drainMs, clock,',
    replace: 'await waitAtMost(0, clock,',
    tests: ['test/delivery/dispatcher-close.test.ts', 'test/service/guarantees-under-faults.test.ts'],
  },
  {
    what: 'connections stay open after close',
    file: 'src/delivery/dispatcher.ts',
    find: '        await sender.close()\n',
    replace: '        void sender.close\n',
    tests: ['test/delivery/scheduler/fair-queue.test.ts', 'test/service/guarantees-under-faults.test.ts'],
  },
  {
    what: 'close does not release the lease',
    file: 'src/delivery/dispatcher.ts',
    find: 'lease.stop(mayRelease)',
    replace: 'lease.stop(false)',
    tests: ['test/delivery/dispatcher-close.test.ts', 'test/delivery/dispatcher-nodes.test.ts'],
  },
  {
    what: 'close leaves a timer',
    file: 'src/delivery/dispatcher.ts',
    find: '      unsubscribe()\n      timer.set(undefined)\n',
    replace: '      unsubscribe()\n',
    tests: ['test/delivery/dispatcher.test.ts'],
  },
  {
    what: 'a delivery cut by close is not returned at once',
    file: 'src/delivery/retry.ts',
    find: "  const { tries, interruptions } = delivery\n  return {\n    state: nextState(delivery, 'returned'),\n    dueMs: now,",
    replace:
      "  const { tries, interruptions } = delivery\n  return {\n    state: nextState(delivery, 'returned'),\n    dueMs: now + 60_000,",
    tests: ['test/delivery/dispatcher-close.test.ts', 'test/delivery/retry.test.ts'],
  },
  {
    what: 'close waits for ever',
    file: 'src/delivery/dispatcher.ts',
    find: 'await waitAtMost(drainMs, clock, ended())',
    replace: 'await ended()',
    tests: ['test/delivery/dispatcher-close.test.ts', 'test/service/closing.test.ts'],
  },
  {
    what: 'a start that fails early leaves its sender open',
    file: 'src/hookswitch.ts',
    find: '      await sender.close()\n',
    replace: '',
    tests: ['test/runtime/start-and-close.test.ts'],
  },
  {
    what: 'a start that fails late leaves its sender open and its lease taken',
    file: 'src/hookswitch.ts',
    find: '        await opened?.dispatcher.close(0).catch(() => {})\n',
    replace: '',
    tests: ['test/runtime/start-and-close.test.ts'],
  },
]
