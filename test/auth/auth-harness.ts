import type { Directory } from '../../src/accounts/directory.js'
import { lineageCache } from '../../src/accounts/lineage-cache.js'
import type { AccountDeps } from '../../src/accounts/manage.js'
import { safeDirectory } from '../../src/accounts/safe-directory.js'
import { storeDirectory } from '../../src/accounts/store-directory.js'
import { accountService } from '../../src/auth/account-service.js'
import { loginRateLimiter } from '../../src/auth/login-rate-limiter.js'
import { tokenCache } from '../../src/auth/token-cache.js'
import type { TokenStore } from '../../src/auth/token-store.js'
import type { Metrics } from '../../src/metrics.js'
import type { ManualClock } from '../../src/testkit/clock.js'
import { createAccountHarness } from '../accounts/account-harness.js'
import { recordingTokenStore } from '../accounts/recording-stores.js'

export const DAY_MS = 86_400_000

/** Creates one node: its own caches over stores that it may share with other nodes. */
export function createAuthNode(
  accountDeps: AccountDeps & { readonly clock: ManualClock },
  tokens: TokenStore,
  options: { readonly max?: number; readonly tokenTtlMs?: number; readonly directory?: Directory } = {},
) {
  /** Counters by name and label. */
  const counted: Record<string, number> = {}
  const metrics: Pick<Metrics, 'count'> = {
    count(name, by, label) {
      const key = `${name} ${label}`
      counted[key] = (counted[key] ?? 0) + by
    },
  }
  const { clock, random } = accountDeps
  const directory = safeDirectory(options.directory ?? storeDirectory(accountDeps))
  const deps = {
    tokens,
    directory,
    tokenCache: tokenCache(clock, options.max === undefined ? {} : { max: options.max }),
    lineages: lineageCache(directory, clock),
    clock,
    random,
    metrics,
    rateLimiter: loginRateLimiter(clock),
    tokenTtlMs: options.tokenTtlMs ?? DAY_MS,
  }
  return { ...deps, accounts: accountService({ ...deps, accountDeps }), counted }
}

/** Creates one node over its own stores, with an account `acme`, its user `bob` and an account `sub` below it. */
export async function createAuthHarness(options: Parameters<typeof createAuthNode>[2] = {}) {
  const accountDeps = createAccountHarness()
  const tokens = recordingTokenStore(accountDeps.calls)
  const node = createAuthNode(accountDeps, tokens, options)
  const { apiKey } = await node.accounts.create({
    id: 'acme',
    name: 'Acme Telecom',
    realm: 'acme.test',
    users: [{ id: 'u1', username: 'Bob', password: 'pw' }],
  })
  await node.accounts.create({ id: 'sub', name: 'Sub', realm: 'sub.test', parentId: 'acme' })
  await node.accounts.create({ id: 'other', name: 'Other', realm: 'other.test' })
  accountDeps.calls.length = 0
  return { ...node, accountDeps, apiKey, calls: accountDeps.calls }
}

/** The code with which a promise rejects, or `resolved`. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
    return 'resolved'
  } catch (thrown) {
    return (thrown as { code?: string }).code ?? String(thrown)
  }
}
