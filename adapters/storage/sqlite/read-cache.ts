/** Caches, in the host's thread, the two reads that every event needs: candidate webhooks and account lineage. */
import { LRUCache } from 'lru-cache'
import type { Backend } from './backend.js'
import { effectOf, type RpcRequest } from './rpc-methods.js'

/** Upper bound of cached rows of each kind: two accounts with 10,000 webhooks, or thousands with a few. */
const MAX_ROWS = 20_000

interface CachedRows {
  readonly rows: readonly unknown[]
  /** The version they were read at. */
  readonly version: number
}

interface RowCache {
  /** Returns cached rows, or reads them from the backend. */
  read(key: string, call: RpcRequest): Promise<readonly unknown[]>
  clear(): void
}

/**
 * Adds the cache to a backend. Without it each event would need one or two more round trips to the worker, which would
 * send its webhooks along.
 *
 * Webhooks change in the file with every failure, so the backend provides their version. Accounts change only through
 * requests that pass here: a change increments the version when it is sent and again when it is answered, because a read
 * answered in between may be from before or after it.
 *
 * @returns the backend with the cache; `invalidate` clears it when the backend is lost, so that reads fail too
 */
export function withReadCache(backend: Backend): Backend & { invalidate(): void } {
  let accountVersion = 0
  const candidates = createRowCache(backend.request, backend.webhookVersion)
  const lineages = createRowCache(backend.request, () => accountVersion)

  /** Copies the accounts: they reach the host, which may modify them. */
  async function lineage(accountId: string, call: RpcRequest): Promise<readonly unknown[]> {
    const accounts = await lineages.read(accountId, call)
    return accounts.map((account) => ({ ...(account as object) }))
  }

  async function changeAccounts(call: RpcRequest): Promise<unknown> {
    accountVersion += 1
    try {
      return await backend.request(call)
    } finally {
      accountVersion += 1
    }
  }

  return {
    ...backend,
    request(call) {
      const { port, method, args } = call
      if (port === 'webhooks' && method === 'candidates') return candidates.read(JSON.stringify(args), call)
      if (port !== 'accounts') return backend.request(call)
      if (method === 'lineage' && typeof args[0] === 'string') return lineage(args[0], call)
      return effectOf(call) === 'write' ? changeAccounts(call) : backend.request(call)
    },
    invalidate() {
      candidates.clear()
      lineages.clear()
    },
  }
}

/** @param version changes whenever the cached rows may have changed */
function createRowCache(request: Backend['request'], version: () => number): RowCache {
  const cache = new LRUCache<string, CachedRows>({
    maxSize: MAX_ROWS,
    sizeCalculation: ({ rows }) => rows.length + 1,
  })

  return {
    async read(key, call) {
      const before = version()
      const cached = cache.get(key)
      if (cached?.version === before) return cached.rows
      const rows = (await request(call)) as readonly unknown[]
      // If the version has changed, the rows may be from before or after the change.
      if (version() === before) cache.set(key, { rows, version: before })
      return rows
    },
    clear: () => cache.clear(),
  }
}
