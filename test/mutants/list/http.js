/** Seeded faults in the HTTP API and its adapters. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'an outage of the store fails a request that needs no token',
    file: 'src/http/request-guard.ts',
    find: "if (route.requiresToken && errorCode(thrown) !== 'InvalidCredentials') throw thrown",
    replace: "if (errorCode(thrown) !== 'InvalidCredentials') throw thrown",
    tests: ['test/http/errors.test.ts'],
  },
  {
    what: 'a login authenticates the token of the request too',
    file: 'src/http/request-guard.ts',
    find: 'if (lookup.token !== undefined && !route.isLogin) {',
    replace: 'if (lookup.token !== undefined) {',
    tests: ['test/http/envelope.test.ts'],
  },
  {
    what: 'the client chooses its address in X-Forwarded-For',
    file: 'src/http/client-address.ts',
    find: 'entries.pop()!',
    replace: 'entries.shift()!',
    tests: ['test/http/client-address.test.ts'],
  },
  {
    what: 'a cache may serve the response without CORS headers to another origin',
    file: 'src/http/cors.ts',
    find: "return origins.length > 0 ? { vary: 'origin' } : NONE",
    replace: 'return NONE',
    tests: ['test/http/cors.test.ts'],
  },
  {
    what: 'a 401 shows the token that was revoked meanwhile',
    file: 'src/http/response.ts',
    find: 'const envelope = status === 401 ? anonymous : options.envelope',
    replace: 'const envelope = options.envelope',
    tests: ['test/http/faults.test.ts'],
  },
  {
    what: 'errors of routes with secrets may be cached',
    file: 'src/http/response.ts',
    find: "...(route?.hasSecret === true && { 'cache-control': 'no-store' }),",
    replace: '',
    tests: ['test/service/unauthorized.test.ts'],
  },
  {
    what: 'an If-Match without a revision of ours changes the webhook',
    file: 'src/http/operations/context.ts',
    find: 'return allowed[0] ?? NO_REVISION',
    replace: 'return allowed[0]',
    tests: ['test/http/conditional.test.ts'],
  },
  {
    what: 'a request target of a host without a path is passed on without its slash',
    file: 'adapters/http/request-record.ts',
    find: "return rest.startsWith('/') ? rest : `/${rest}`",
    replace: 'return rest',
    tests: ['test/adapters/http/request-record.test.ts'],
  },
  {
    what: 'a body of exactly the limit is too large',
    file: 'adapters/http/node-body.ts',
    find: "if (size > MAX_BODY_BYTES) finish({ bodyProblem: 'too_large' })",
    replace: "if (size >= MAX_BODY_BYTES) finish({ bodyProblem: 'too_large' })",
    tests: ['test/adapters/http/node-body.test.ts'],
  },
  {
    what: 'a rejected client is read for as long as it sends',
    file: 'adapters/http/node-body.ts',
    find: 'if (size > MAX_DRAIN_BYTES) done()',
    replace: '',
    tests: ['test/adapters/http/node-body.test.ts'],
  },
  {
    what: 'a response that the host is sending is broken off',
    file: 'adapters/http/node-handler.ts',
    find: 'if (res.headersSent || res.writableEnded) continue\n',
    replace: '',
    tests: ['test/adapters/http/node.test.ts'],
  },
  {
    what: 'a parser error overtakes the pending response',
    file: 'adapters/http/node-sockets.ts',
    find: "if (req.complete) return void res.once('close', () => respondAndClose(socket, response))",
    replace: 'if (req.complete) return void respondAndClose(socket, response)',
    tests: ['test/adapters/http/node-parser.test.ts'],
  },
]
