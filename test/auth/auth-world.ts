import type { Directory } from '../../src/accounts/directory.js'
import type { AccountDoors } from '../../src/accounts/doors.js'
import { guardedDirectory } from '../../src/accounts/guarded-directory.js'
import { lineageCache } from '../../src/accounts/lineage-cache.js'
import { storedDirectory } from '../../src/accounts/stored-directory.js'
import { accountVerbs } from '../../src/auth/account-verbs.js'
import { liveTokens } from '../../src/auth/live-tokens.js'
import { loginLimits } from '../../src/auth/login-limits.js'
import type { TokenStore } from '../../src/auth/token-store.js'
import type { Metrics } from '../../src/metrics.js'
import type { ManualClock } from '../../src/testkit/clock.js'
import { accountWorld } from '../accounts/account-world.js'
import { mapTokenStore } from '../accounts/map-stores.js'

export const DAY_MS = 86_400_000

/** One node: caches of its own over stores that it may share with others. */
export function authNode(
  stored: AccountDoors & { readonly clock: ManualClock },
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
  const { clock, random } = stored
  const directory = guardedDirectory(options.directory ?? storedDirectory(stored))
  const live = liveTokens(clock, options.max === undefined ? {} : { max: options.max })
  const lineages = lineageCache(directory, clock)
  const doors = {
    tokens,
    directory,
    live,
    lineages,
    clock,
    random,
    metrics,
    limits: loginLimits(clock),
    tokenTtlMs: options.tokenTtlMs ?? DAY_MS,
  }
  return { ...doors, accounts: accountVerbs({ ...doors, stored }), counted }
}

/** One node over stores of its own, with an account `acme`, its user `bob` and an account `sub` below it. */
export async function authWorld(options: Parameters<typeof authNode>[2] = {}) {
  const stored = accountWorld()
  const tokens = mapTokenStore(stored.heard)
  const node = authNode(stored, tokens, options)
  const { apiKey } = await node.accounts.create({
    id: 'acme',
    name: 'Acme Telecom',
    realm: 'acme.test',
    users: [{ id: 'u1', username: 'Bob', password: 'pw' }],
  })
  await node.accounts.create({ id: 'sub', name: 'Sub', realm: 'sub.test', parentId: 'acme' })
  await node.accounts.create({ id: 'other', name: 'Other', realm: 'other.test' })
  stored.heard.length = 0
  return { ...node, stored, apiKey, heard: stored.heard }
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
