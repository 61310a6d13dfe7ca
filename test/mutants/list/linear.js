/** Seeded faults: text from outside that takes more than linear time. */

const tests = ['test/linear/parsers.test.ts']

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'spaces in Retry-After take quadratic time',
    file: 'src/delivery/outcome.ts',
    find: '|(?<![ \\t])[ \\t]+$/g',
    replace: '|[ \\t]+$/g',
    tests,
  },
  {
    what: 'quotes in a SIP Reason take quadratic time',
    file: 'adapters/telephony/source/hangup-cause.ts',
    find: '|\\\\.)*"?/gs',
    replace: '|\\\\.)*"/gs',
    tests,
  },
  {
    what: 'colons in a logged URL take quadratic time',
    file: 'src/values/redact.ts',
    find: '/^[^:]*:\\d*\\W*$/',
    replace: '/:\\d*\\W*$/',
    tests,
  },
  {
    what: 'slashes in the path of a mounted handler take quadratic time',
    file: 'adapters/http/node-handler.ts',
    find: "return baseUrl.replace(/(?<!\\/)\\/+$/, '')",
    replace: "return baseUrl.replace(/\\/+$/, '')",
    tests,
  },
  {
    what: 'the file of a voice message takes quadratic time',
    file: 'adapters/telephony/freeswitch/call-report.ts',
    find: '(nameAt >= 0 && /^(.+)\\.\\w+$/.exec(path.slice(nameAt + FILE_PREFIX.length))) || []',
    replace: '(nameAt >= 0 && /msg_(.+)\\.\\w+$/.exec(path)) || []',
    tests,
  },
  {
    what: 'a long address in X-Forwarded-For takes quadratic time',
    file: 'src/http/client-address.ts',
    find: "peer.split('%', 1)[0]!",
    replace: "peer.replace(/%.*$/, '')",
    tests,
  },
  {
    what: 'each small chunk copies the message of AMI so far',
    file: 'adapters/telephony/source/pending-bytes.ts',
    find: 'Math.max(length, 2 * pending.length)',
    replace: 'length',
    tests,
  },
  {
    what: 'each small chunk searches the header line of the event socket from its beginning',
    file: 'adapters/telephony/freeswitch/frames.ts',
    find: '        searched = bytes.length - at\n',
    replace: '',
    tests,
  },
  {
    what: 'a pattern with two choices for the same text is in the code',
    file: 'src/wire/precondition.ts',
    find: '/^"([1-9][0-9]{0,15})"$/',
    replace: '/"([1-9][0-9]*)+"$/',
    tests: ['test/house/patterns.test.ts'],
  },
]
