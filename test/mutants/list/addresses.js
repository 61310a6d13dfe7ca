/** Broken on purpose: no blocked address. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'of a name’s addresses only the first is judged',
    file: 'src/send/connect.ts',
    find: 'doors.policy.judgeIp(ip)\n',
    replace: '(ip === resolution.addresses[0] ? doors.policy.judgeIp(ip) : { blocked: false as const })\n',
    tests: ['test/service/blocked.test.ts', 'test/service/promise-in-trouble.test.ts'],
  },
  {
    what: 'names are not judged by their addresses',
    file: 'src/send/connect.ts',
    find: 'if (verdict.blocked) return',
    replace: 'if (verdict.blocked && parseAddress(hostname)) return',
    tests: ['test/service/blocked.test.ts', 'test/service/promise-in-trouble.test.ts'],
  },
  {
    what: 'a webhook for a blocked address can be made',
    file: 'src/webhooks/settings.ts',
    find: 'return verdict.blocked ? `must not lead to',
    replace: 'return verdict.blocked && false ? `must not lead to',
    tests: ['test/service/blocked.test.ts', 'test/service/promise-in-trouble.test.ts'],
  },
  {
    what: 'addresses are not judged as what they embed',
    file: 'src/values/address-policy.ts',
    find: 'return bytes ? judgeBytes(bytes, isOpened)',
    replace: "return bytes ? (ip.includes('ffff') ? { blocked: false } : judgeBytes(bytes, isOpened))",
    tests: ['test/service/blocked.test.ts', 'test/service/promise-in-trouble.test.ts'],
  },
  {
    what: 'all gates are open',
    file: 'src/values/address-policy.ts',
    find: 'return bytes ? judgeBytes(bytes, isOpened)',
    replace: 'return bytes ? { blocked: false }',
    tests: ['test/service/blocked.test.ts', 'test/service/promise-in-trouble.test.ts'],
  },
]
