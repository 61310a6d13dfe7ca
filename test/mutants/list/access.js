/** Seeded faults in tokens, logins and their caches. */

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'a token is valid at the millisecond it expires',
    file: 'src/auth/token.ts',
    find: 'return nowMs < row.expiresMs',
    replace: 'return nowMs <= row.expiresMs',
    tests: ['test/auth/token.test.ts', 'test/auth/validity.test.ts'],
  },
  {
    what: 'a token for an older credential is valid',
    file: 'src/auth/authenticate.ts',
    find: 'isAccountEnabled(lineage) && version === row.credentialVersion',
    replace: 'isAccountEnabled(lineage)',
    tests: ['test/auth/account-service.test.ts', 'test/auth/revocation.test.ts'],
  },
  {
    what: 'a token of a disabled account is valid',
    file: 'src/auth/authenticate.ts',
    find: 'return isAccountEnabled(lineage) && version',
    replace: 'return version',
    tests: ['test/auth/validity.test.ts'],
  },
  {
    what: 'signing out leaves the token in the cache',
    file: 'src/auth/sign-out.ts',
    find: '    deps.tokenCache.invalidateToken(hash)\n',
    replace: '',
    tests: ['test/auth/revocation.test.ts', 'test/auth/validity.test.ts'],
  },
  {
    what: 'a token evicted from the cache is logged out',
    file: 'src/auth/authenticate.ts',
    find: 'cached ?? (await deps.tokenCache.getOrLoad(hash, () => readValidToken(deps, hash)))',
    replace: 'cached',
    tests: ['test/auth/authenticate.test.ts', 'test/auth/validity.test.ts'],
  },
  {
    what: 'a load that started before an invalidation is cached',
    file: 'src/accounts/single-flight-cache.ts',
    find: '      pending = new Map()\n',
    replace: '',
    tests: ['test/auth/revocation.test.ts', 'test/auth/validity.test.ts'],
  },
  {
    what: 'cached values never become stale',
    file: 'src/accounts/single-flight-cache.ts',
    find: 'clock.monotonic() - entry.startedMs < options.maxAgeMs',
    replace: 'clock.monotonic() >= entry.startedMs',
    tests: ['test/accounts/single-flight-cache.test.ts'],
  },
  {
    what: 'a wrong login costs no more than a correct one',
    file: 'src/auth/sign-in.ts',
    find: '    deps.rateLimiter.penalize(from.address, target)\n',
    replace: '',
    tests: ['test/auth/login-rate-limiter.test.ts', 'test/auth/sign-in.test.ts'],
  },
  {
    what: 'logins to a disabled account succeed',
    file: 'src/auth/sign-in.ts',
    find: '  if (!found.account.enabled) throw accountLocked()\n',
    replace: '',
    tests: ['test/auth/sign-in.test.ts'],
  },
]
