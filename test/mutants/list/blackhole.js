/** Seeded faults in the WebSocket service. */

const SESSION = 'test/adapters/blackhole/session.test.ts'
const SERVICE = 'test/adapters/blackhole/service.test.ts'

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'a ping is answered before the socket is authenticated',
    file: 'adapters/blackhole/session.ts',
    find: "if (token === undefined) return 'authentication token required'",
    replace: 'if (token === undefined) return undefined',
    tests: [SERVICE],
  },
  {
    what: 'events are sent without a check of their account',
    file: 'adapters/blackhole/outbox.ts',
    find: 'for (const accountId of new Set(events.map((event) => event.accountId))) await checkAccount(accountId)',
    replace: 'void checkAccount',
    tests: [SERVICE, SESSION],
  },
  {
    what: 'a subscription is not authorized',
    file: 'adapters/blackhole/session.ts',
    find: 'await this.deps.auth.authorize(token!, accountId)',
    replace: 'await this.deps.auth.authenticate(token!)',
    tests: [SERVICE],
  },
  {
    what: 'a refused binding refuses its whole list',
    file: 'adapters/blackhole/frames.ts',
    find: 'return valid.length > 0 ?',
    replace: 'return refused.length === 0 ?',
    tests: [SERVICE],
  },
  {
    what: 'an outage of the store closes sockets',
    file: 'adapters/blackhole/session.ts',
    find: 'return !isRefusal(thrown)',
    replace: 'return false',
    tests: [SESSION],
  },
  {
    what: 'what waits for a client is not bounded',
    file: 'adapters/blackhole/outbox.ts',
    find: 'if (this.queuedBytes + sink.bufferedAmount + size <= maxBytes) return true',
    replace: 'if (size <= maxBytes) return true',
    tests: [SERVICE, SESSION],
  },
  {
    what: 'an event is sent after its binding was removed',
    file: 'adapters/blackhole/outbox.ts',
    find: 'if (isBound(accountId, key)) this.send(frame)',
    replace: 'this.send(frame)',
    tests: [SESSION],
  },
  {
    what: 'a socket that closes stays counted for its address',
    file: 'adapters/blackhole/open-sockets.ts',
    find: '    else countBySource.set(source, left)\n',
    replace: '',
    tests: [SERVICE],
  },
  {
    what: 'a stalled client is never closed',
    file: 'adapters/blackhole/outbox.ts',
    find: 'else if (isMoving) this.stalledSinceMs = nowMs',
    replace: 'else this.stalledSinceMs = nowMs',
    tests: [SESSION],
  },
]
