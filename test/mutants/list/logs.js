/** Seeded faults: lines that repeat are counted, changes are audited, and nothing secret is in either. */

const LIMIT = ['test/runtime/safe-log.test.ts']
const AUDIT = ['test/http/audit.test.ts']

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'lines that repeat are all written',
    file: 'src/runtime/safe-log.ts',
    find: 'if (ofMessage.lines <= FIRST_LINES ||',
    replace: 'if (ofMessage.lines > 0 ||',
    tests: LIMIT,
  },
  {
    what: 'lines that wait are lost at the end',
    file: 'src/runtime/safe-log.ts',
    find: 'close: () => closing.abort(),',
    replace: 'close: () => {},',
    tests: LIMIT,
  },
  {
    what: 'kinds of lines are not bounded',
    file: 'src/runtime/safe-log.ts',
    find: 'if (!found && among.size >= most) return undefined',
    replace: '',
    tests: LIMIT,
  },
  {
    what: 'the lines of an account hide those of another',
    file: 'src/runtime/safe-log.ts',
    find: ' || ofAccount?.lines === 1)',
    replace: ')',
    tests: LIMIT,
  },
  {
    what: 'the lines of all accounts are counted together',
    file: 'src/runtime/safe-log.ts',
    find: 'const kind = ofAccount ?? ofMessage',
    replace: 'const kind = ofMessage',
    tests: LIMIT,
  },
  {
    what: 'the audit shows values with parts',
    file: 'src/runtime/audit.ts',
    find: ": '[not shown]'",
    replace: ': (value as string)',
    tests: AUDIT,
  },
  {
    what: 'the audit shows encrypted headers and versions of passwords',
    file: 'src/runtime/audit.ts',
    find: 'known ? REDACTED : shownValue',
    replace: 'shownValue',
    tests: AUDIT,
  },
  {
    what: 'refused logins are not audited',
    file: 'src/http/handle.ts',
    find: 'else if (route.isLogin && isRefusedLogin(refused))',
    replace: 'else if (route.hasSecret === false && isRefusedLogin(refused))',
    tests: AUDIT,
  },
  {
    what: 'a dry run is audited',
    file: 'src/http/handle.ts',
    find: 'if (result?.audit === false) return',
    replace: '',
    tests: ['test/service/openapi-live.test.ts'],
  },
  {
    what: 'a hold that changes nothing is audited',
    file: 'src/runtime/operator-api.ts',
    find: 'if (isChanged) onHeldChanged',
    replace: 'onHeldChanged',
    tests: AUDIT,
  },
  {
    what: 'a query that waits in a pooler is taken for silence',
    file: 'adapters/storage/postgres/silence-question.ts',
    find: ' || isNew || ',
    replace: ' || ',
    tests: ['test/adapters/storage/postgres-silence.test.ts'],
  },
  {
    what: 'the address in the audit is that of the proxy',
    file: 'src/http/handle.ts',
    find: "resolveClientAddress(remoteAddress, getHeader(headers, 'x-forwarded-for'), trustedProxies)",
    replace: 'resolveClientAddress(remoteAddress, undefined, trustedProxies)',
    tests: [...AUDIT, 'test/http/access-log.test.ts'],
  },
  {
    what: 'what an error repeats is not bounded',
    file: 'src/errors.ts',
    find: "typeof text !== 'string' || text.length <= max ? text",
    replace: "typeof text !== 'string' || max > 0 ? text",
    tests: ['test/http/errors.test.ts'],
  },
  {
    what: 'the SQLSTATE is not in the log',
    file: 'src/errors.ts',
    find: 'if (errorCode(thrown) === undefined || !(cause instanceof Error)) return message',
    replace: 'return message',
    tests: ['test/adapters/storage/store-error-log.test.ts', 'test/http/faults.test.ts'],
  },
  {
    what: 'calls wait for a server that is known to be silent',
    file: 'adapters/storage/postgres/session-connection.ts',
    find: '      silence?.check()\n',
    replace: '',
    tests: ['test/adapters/storage/postgres-silence.test.ts'],
  },
  {
    what: 'a server is silent although a statement was answered',
    file: 'adapters/storage/postgres/silence-watch.ts',
    find: 'if (isAnswered || answers > answersBefore || isClosed) return',
    replace: 'if (isAnswered || isClosed) return',
    tests: ['test/adapters/storage/postgres-silence.test.ts'],
  },
]
