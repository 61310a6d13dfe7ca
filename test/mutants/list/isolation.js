/** Broken on purpose: delays nobody else. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'no cap of an origin',
    file: 'src/delivery/turns.ts',
    find: '} else if (origin.inFlight + origin.room >= caps.perOrigin) {',
    replace: '} else if (origin.inFlight + origin.room >= 1e9) {',
    tests: ['test/delivery/caps.test.ts', 'test/service/promise-in-trouble.test.ts'],
  },
  {
    what: 'no cap of an endpoint',
    file: 'src/delivery/turns.ts',
    find: 'inFlight + room >= (probed ? 1 : caps.perEndpoint)',
    replace: 'inFlight + room >= (probed ? 1 : 1e9)',
    tests: ['test/delivery/after-outage.test.ts', 'test/delivery/caps.test.ts'],
  },
  {
    what: 'all share the room of one endpoint',
    file: 'src/delivery/dispatcher.ts',
    find: 'const room = () => caps.inAll - conduct.running',
    replace: 'const room = () => caps.perEndpoint - conduct.running',
    tests: ['test/delivery/caps.test.ts', 'test/service/promise-in-trouble.test.ts'],
  },
  {
    what: 'a request is waited for before more is claimed',
    file: 'src/delivery/dispatcher.ts',
    find: 'emptyRounds = (await claim(endpoints, free, now)) > 0 ? 0 : emptyRounds + 1',
    replace:
      'emptyRounds = (await claim(endpoints, free, now)) > 0 ? 0 : emptyRounds + 1; await conduct.none()',
    tests: ['test/service/order.test.ts', 'test/service/promise-in-trouble.test.ts'],
  },
  {
    what: 'an account served goes first again',
    file: 'src/delivery/turns.ts',
    find: '        queue.push(account)\n',
    replace:
      '        queue.push(account); for (let n = 1; n < queue.length; n++) queue.push(queue.shift()!)\n',
    tests: ['test/delivery/dispatcher.test.ts', 'test/delivery/fair-shares.test.ts'],
  },
  {
    what: 'no cap of an account',
    file: 'src/delivery/turns.ts',
    find: '=> hasShare(places, line, caps.perAccount)',
    replace: '=> hasShare(places, line, 1e9)',
    tests: ['test/delivery/caps.test.ts'],
  },
  {
    what: 'who may not answer may have all places',
    file: 'src/delivery/trust.ts',
    find: 'return line === PROMPT ? cap :',
    replace: 'return line >= PROMPT ? cap :',
    tests: ['test/delivery/trust.test.ts'],
  },
]
