/** Broken on purpose: tokens, logins and lists. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'a token lives one moment too long',
    file: 'src/auth/token.ts',
    find: 'return nowMs < row.expiresMs',
    replace: 'return nowMs <= row.expiresMs',
    tests: ['test/auth/token.test.ts', 'test/auth/validity.test.ts'],
  },
  {
    what: 'a token of an older credential is valid',
    file: 'src/auth/authenticate.ts',
    find: 'isUsable(lineage) && version === row.credentialVersion',
    replace: 'isUsable(lineage)',
    tests: ['test/auth/account-verbs.test.ts', 'test/auth/revocation.test.ts'],
  },
  {
    what: 'a token of a disabled account is valid',
    file: 'src/auth/authenticate.ts',
    find: 'return isUsable(lineage) && version',
    replace: 'return version',
    tests: ['test/auth/validity.test.ts'],
  },
  {
    what: 'signing out leaves the token in the cache',
    file: 'src/auth/sign-out.ts',
    find: '    doors.live.forgetToken(hash)\n',
    replace: '',
    tests: ['test/auth/revocation.test.ts', 'test/auth/validity.test.ts'],
  },
  {
    what: 'a token that left the cache is logged out',
    file: 'src/auth/authenticate.ts',
    find: 'known ?? (await doors.live.find(hash, () => currentToken(doors, hash)))',
    replace: 'known',
    tests: ['test/auth/authenticate.test.ts', 'test/auth/validity.test.ts'],
  },
  {
    what: 'what was read before a revocation is kept',
    file: 'src/accounts/positive-cache.ts',
    find: '      open = new Map()\n',
    replace: '',
    tests: ['test/auth/revocation.test.ts', 'test/auth/validity.test.ts'],
  },
  {
    what: 'a cached answer never grows old',
    file: 'src/accounts/positive-cache.ts',
    find: 'clock.monotonic() - entry.askedMs < options.maxAgeMs',
    replace: 'clock.monotonic() >= entry.askedMs',
    tests: ['test/auth/revocation.test.ts', 'test/auth/validity.test.ts'],
  },
  {
    what: 'a wrong login costs no more than a right one',
    file: 'src/auth/sign-in.ts',
    find: '    doors.limits.wrong(from.address, target)\n',
    replace: '',
    tests: ['test/auth/throttle.test.ts', 'test/auth/sign-in.test.ts'],
  },
  {
    what: 'logins of a disabled account succeed',
    file: 'src/auth/sign-in.ts',
    find: '  if (!found.account.enabled) throw accountLocked()\n',
    replace: '',
    tests: ['test/auth/sign-in.test.ts'],
  },
]
