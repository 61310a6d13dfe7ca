/** Seeded faults in the address policy and its checks. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'a check of an address tells blocked addresses from each other',
    file: 'src/webhooks/address-check.ts',
    find: "problem: problemOf('blocked_address') }",
    replace: "problem: { code: 'blocked_address', message: host } }",
    tests: ['test/service/check-address.test.ts'],
  },
  {
    what: 'checks of addresses that are under way are not counted',
    file: 'src/runtime/check-address.ts',
    find: 'running.set(accountId, ofAccount + 1)',
    replace: 'running.set(accountId, 1)',
    tests: ['test/service/check-address.test.ts'],
  },
  {
    what: 'an account has two of the checks of addresses where many are under way',
    file: 'src/runtime/check-address.ts',
    find: 'total < MAX_ADDRESS_CHECKS / 2 ? MAX_OF_ACCOUNT : 1',
    replace: 'MAX_OF_ACCOUNT',
    tests: ['test/service/check-address.test.ts'],
  },
  {
    what: 'the checks of addresses of the last minute are counted for half of it',
    file: 'src/runtime/check-address.ts',
    find: '.filter((ms) => ms > now - MINUTE_MS)',
    replace: '.filter((ms) => ms > now - MINUTE_MS / 2)',
    tests: ['test/service/check-address.test.ts'],
  },
  {
    what: 'only the first address of a name is checked',
    file: 'src/send/connect.ts',
    find: 'deps.addressPolicy.checkAddress(ip)\n',
    replace:
      '(ip === resolution.addresses[0] ? deps.addressPolicy.checkAddress(ip) : { blocked: false as const })\n',
    tests: ['test/service/blocked-addresses.test.ts'],
  },
  {
    what: 'the addresses of a name are not checked',
    file: 'src/send/connect.ts',
    find: 'if (check.blocked)\n',
    replace: 'if (check.blocked && false)\n',
    tests: ['test/service/blocked-addresses.test.ts'],
  },
  {
    what: 'a webhook with a blocked address can be created',
    file: 'src/webhooks/settings.ts',
    find: 'return check.blocked ? `must not lead to',
    replace: 'return check.blocked && false ? `must not lead to',
    tests: ['test/service/blocked-addresses.test.ts'],
  },
  {
    what: 'embedded IPv4 addresses are not checked',
    file: 'src/values/address-policy.ts',
    find: 'return bytes ? checkAddressBytes(bytes, isAllowed)',
    replace:
      "return bytes ? (ip.includes('ffff') ? { blocked: false } : checkAddressBytes(bytes, isAllowed))",
    tests: ['test/service/blocked-addresses.test.ts'],
  },
  {
    what: 'every address is allowed',
    file: 'src/values/address-policy.ts',
    find: 'return bytes ? checkAddressBytes(bytes, isAllowed)',
    replace: 'return bytes ? { blocked: false }',
    tests: ['test/service/blocked-addresses.test.ts'],
  },
]
