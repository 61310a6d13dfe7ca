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
  {
    what: 'a publish that is matched while the store is closed is told that the store is out',
    file: 'src/delivery/accept.ts',
    find: '&& deps.isClosing?.()) throw closingError()',
    replace: '&& deps.isClosing?.()) throw thrown',
    tests: ['test/service/closing.test.ts'],
  },
  {
    what: 'the service waits for live streams and then cuts them',
    file: 'adapters/cli/serve.ts',
    find: '      hs.endStreams()\n',
    replace: '',
    tests: ['test/adapters/cli/serve.test.ts'],
  },
  {
    what: 'a node that stops waits for its next renewal',
    file: 'src/delivery/lease.ts',
    find: '      waiting.abort()\n      await renewing',
    replace: '      await renewing',
    tests: ['test/delivery/lease.test.ts'],
  },
  {
    what: 'after the first renewal on request, a lease is renewed all the time',
    file: 'src/delivery/lease.ts',
    find: 'if (waiting.signal.aborted) waiting = new AbortController()',
    replace: '',
    tests: ['test/delivery/lease.test.ts'],
  },
]
