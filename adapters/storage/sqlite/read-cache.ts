/**
 * Caches, in the host's thread, the reads that every event and every check of a token needs: candidate webhooks, account lineage,
 * tokens and the holders of tokens. They would wait for the group that the worker is writing.
 */
import { LRUCache } from 'lru-cache'
import type { Backend } from './backend.js'
import { effectOf, type RpcRequest } from './rpc-methods.js'

/** Upper bound of cached webhooks, such as two accounts with 10,000, or thousands with a few. */
const MAX_ROWS = 20_000
/** The same of accounts and of tokens, KiB. A document of an account or user has at most 64. */
const MAX_KIB = 20_000

interface Cached {
  readonly value: object
  /** The version it was read at. */
  readonly version: number
}

interface ReadCache {
  /** Returns what is cached, or reads it from the backend. What does not exist is not cached. */
  read(call: RpcRequest): Promise<unknown>
  clear(): void
}

/** The reads of accounts that are cached. */
const ACCOUNT_READS: ReadonlySet<string> = new Set(['lineage', 'apiKey', 'user'])

/**
 * Adds the cache to a backend. Without it each event would need one or two more round trips to the worker, which would
 * send its webhooks along.
 *
 * Webhooks change in the file with every failure, so the backend provides their version. Accounts and tokens change only through
 * requests that pass here: a change increments the version when it is sent and again when it is answered, because a read
 * answered in between may be from before or after it. A new token changes nothing that is cached.
 *
 * @returns the backend with the cache; `invalidate` clears it when the backend is lost, so that reads fail too
 */
export function withReadCache(backend: Backend): Backend & { invalidate(): void } {
  let accountVersion = 0
  let tokenVersion = 0
  const rows = (value: object) => (Array.isArray(value) ? value.length + 1 : 1)
  const kib = (value: object) => 1 + Math.floor(JSON.stringify(value).length / 1024)
  const candidates = createReadCache(backend.request, backend.webhookVersion, MAX_ROWS, rows)
  const accounts = createReadCache(backend.request, () => accountVersion, MAX_KIB, kib)
  // An account is removed with its tokens.
  const tokens = createReadCache(backend.request, () => accountVersion + tokenVersion, MAX_KIB, kib)

  /** Copies the accounts: they reach the host, which may modify them. */
  async function lineage(call: RpcRequest): Promise<readonly unknown[]> {
    const found = (await accounts.read(call)) as readonly object[]
    return found.map((account) => ({ ...account }))
  }

  async function change(call: RpcRequest, count: () => void): Promise<unknown> {
    count()
    try {
      return await backend.request(call)
    } finally {
      count()
    }
  }

  const changeAccounts = (call: RpcRequest) =>
    change(call, () => {
      accountVersion += 1
    })

  function accountRequest(call: RpcRequest): Promise<unknown> {
    if (effectOf(call) === 'write') return changeAccounts(call)
    if (!ACCOUNT_READS.has(call.method) || !hasTexts(call)) return backend.request(call)
    return call.method === 'lineage' ? lineage(call) : accounts.read(call)
  }

  function tokenRequest(call: RpcRequest): Promise<unknown> {
    if (call.method === 'read' && hasTexts(call)) return tokens.read(call)
    if (effectOf(call) === 'read' || call.method === 'issue') return backend.request(call)
    return change(call, () => {
      tokenVersion += 1
    })
  }

  return {
    ...backend,
    request(call) {
      if (call.port === 'accounts') return accountRequest(call)
      if (call.port === 'tokens') return tokenRequest(call)
      // Another secret encrypts the API keys again.
      if (call.port === 'encryption' && effectOf(call) === 'write') return changeAccounts(call)
      if (call.port === 'webhooks' && call.method === 'candidates') return candidates.read(call)
      return backend.request(call)
    },
    invalidate() {
      candidates.clear()
      accounts.clear()
      tokens.clear()
    },
  }
}

/** Whether a host's arguments are what they should be: the key of others may be that of something else. */
const hasTexts = ({ args }: RpcRequest) => args.every((arg) => typeof arg === 'string')

/** @param version changes whenever what is cached may have changed */
function createReadCache(
  request: Backend['request'],
  version: () => number,
  maxSize: number,
  sizeOf: (value: object) => number,
): ReadCache {
  const cache = new LRUCache<string, Cached>({ maxSize, sizeCalculation: ({ value }) => sizeOf(value) })

  return {
    async read(call) {
      const key = JSON.stringify([call.method, call.args])
      const before = version()
      const cached = cache.get(key)
      if (cached?.version === before) return cached.value
      const value = await request(call)
      // If the version has changed, it may be from before or after the change.
      if (typeof value === 'object' && value !== null && version() === before)
        cache.set(key, { value, version: before })
      return value
    },
    clear: () => cache.clear(),
  }
}
