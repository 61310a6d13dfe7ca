/** Seeded faults in requests to receivers: connections, deadlines, names, proxies. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'an error of connect(2) counts as one of TLS',
    file: 'src/send/error-classifier.ts',
    find: "syscall !== 'connect' && (",
    replace: '(',
    tests: ['test/send/error-classifier.test.ts'],
  },
  {
    what: 'a connection with an unread rest of a response is reused',
    file: 'src/send/exchange.ts',
    find: "if (this.bodyRead > MAX_BODY_READ_BYTES) this.finish(this.response('truncated'))",
    replace: "if (this.bodyRead > MAX_BODY_READ_BYTES) this.finish(this.response('truncated'), true)",
    tests: ['test/send/responses.test.ts'],
  },
  {
    what: 'cancel ends a request that is on the wire',
    file: 'src/send/exchange.ts',
    find: "if (!this.isWritten) this.finish({ kind: 'cancelled' })",
    replace: "this.finish({ kind: 'cancelled' })",
    tests: ['test/send/cancel.test.ts'],
  },
  {
    what: 'a body that broke off is complete',
    file: 'src/send/exchange.ts',
    find: "failure.failure === 'timeout' ? 'timeout' : 'broken'",
    replace: "failure.failure === 'timeout' ? 'timeout' : 'complete'",
    tests: ['test/send/faults.test.ts'],
  },
  {
    what: 'a request that waited for a free connection is charged to the receiver',
    file: 'src/send/exchange.ts',
    find: 'if (phase === undefined) this.end(ownFault(',
    replace: "if (phase === undefined) this.end(noResponse('timeout', 'timeout_connect', ",
    tests: ['test/send/connection-pool.test.ts'],
  },
  {
    what: 'a lack of system resources is hidden by the failure of another address',
    file: 'src/send/happy-eyeballs.ts',
    find: 'if (rankOf(result.failure) <= rankOf(failure)) failure = result.failure',
    replace: 'failure = result.failure',
    tests: ['test/send/happy-eyeballs.test.ts'],
  },
  {
    what: 'a connection to another peer than the checked address is used',
    file: 'src/send/happy-eyeballs.ts',
    find: 'isSameAddress(socket.remoteAddress, ip)',
    replace: 'true',
    tests: ['test/send/happy-eyeballs.test.ts'],
  },
  {
    what: 'a dead proxy uses up the whole time of the request',
    file: 'src/send/proxy.ts',
    find: '(dueMs - performance.now()) / 2',
    replace: 'dueMs - performance.now()',
    tests: ['test/send/proxy.test.ts'],
  },
  {
    what: 'credentials that the proxy rejects are charged to the receiver',
    file: 'src/send/proxy.ts',
    find: '|400|407|408|429)',
    replace: '|400|408|429)',
    tests: ['test/send/proxy.test.ts'],
  },
  {
    what: 'a DNS lookup that waited frees two slots',
    file: 'src/send/dns-resolver.ts',
    find: 'grant(true)\n      return',
    replace: 'grant(true)\n      break',
    tests: ['test/send/dns-resolver.test.ts'],
  },
]
