/** Seeded faults: a bad receiver delays no other. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'the cap per origin is not applied',
    file: 'src/delivery/scheduler/fair-queue.ts',
    find: '} else if (origin.inFlight + origin.allocated >= caps.perOrigin) {',
    replace: '} else if (origin.inFlight + origin.allocated >= 1e9) {',
    tests: ['test/delivery/dispatcher-caps.test.ts', 'test/service/guarantees-under-faults.test.ts'],
  },
  {
    what: 'the cap per endpoint is not applied',
    file: 'src/delivery/scheduler/fair-queue.ts',
    find: 'inFlight + allocated >= (isProbed ? 1 : caps.perEndpoint)',
    replace: 'inFlight + allocated >= (isProbed ? 1 : 1e9)',
    tests: ['test/delivery/dispatcher-after-outage.test.ts', 'test/delivery/dispatcher-caps.test.ts'],
  },
  {
    what: 'all endpoints share the slots of one',
    file: 'src/delivery/dispatcher.ts',
    find: 'const freeSlots = () => caps.total - worker.activeCount',
    replace: 'const freeSlots = () => caps.perEndpoint - worker.activeCount',
    tests: ['test/delivery/dispatcher-caps.test.ts', 'test/service/guarantees-under-faults.test.ts'],
  },
  {
    what: 'a claim waits for the requests in flight',
    file: 'src/delivery/dispatcher.ts',
    find: 'emptyClaims = (await claim(endpoints, free, now)) > 0 ? 0 : emptyClaims + 1',
    replace:
      'emptyClaims = (await claim(endpoints, free, now)) > 0 ? 0 : emptyClaims + 1; await worker.idle()',
    tests: ['test/service/order.test.ts', 'test/service/guarantees-under-faults.test.ts'],
  },
  {
    what: 'an account that was served goes first again',
    file: 'src/delivery/scheduler/fair-queue.ts',
    find: '        queue.push(account)\n',
    replace:
      '        queue.push(account); for (let n = 1; n < queue.length; n++) queue.push(queue.shift()!)\n',
    tests: ['test/delivery/dispatcher.test.ts', 'test/delivery/scheduler/fair-queue.test.ts'],
  },
  {
    what: 'the cap per account is not applied',
    file: 'src/delivery/scheduler/fair-queue.ts',
    find: 'hasFreeSlot(slots, priority, caps.perAccount)',
    replace: 'hasFreeSlot(slots, priority, 1e9)',
    tests: ['test/delivery/dispatcher-caps.test.ts'],
  },
  {
    what: 'slow endpoints may use every slot',
    file: 'src/delivery/scheduler/priority.ts',
    find: 'return priority === FAST ? cap :',
    replace: 'return priority >= FAST ? cap :',
    tests: ['test/delivery/scheduler/priority.test.ts'],
  },
  {
    what: 'a removed endpoint still counts for its origin',
    file: 'src/delivery/scheduler/endpoint-registry.ts',
    find: '      leave(endpoint.origin)\n',
    replace: '',
    tests: ['test/delivery/scheduler/endpoint-registry.test.ts'],
  },
]
