/**
 * Reads the webhooks that may match an event, those of all events since the previous read with one statement: one
 * statement per event would cost more than everything else of an acceptance.
 *
 * Results are cached per account and kind of event. Each read sends the mark of the cached result, and the server
 * returns webhooks only where the account's mark has changed, so nodes need no cache invalidation.
 */
import type { Webhook, WebhookStore } from 'hookswitch/store'
import { LRUCache } from 'lru-cache'
import { type CallResult, createGroupCommit, READ_OVERLAP_MS } from './group-commit.js'
import { webhookOf } from './rows.js'
import type { Deps } from './session-deps.js'
import { type CandidateRow, webhookStatements } from './sql/webhooks.js'

/** Events per statement. */
const MAX_EVENTS = 200
/** Webhooks of all cached results together: two accounts with ten thousand, or thousands with a few. */
const MAX_WEBHOOKS = 20_000

interface Query {
  readonly accountIds: readonly string[]
  readonly hook: string
}

/** The webhooks of one account for one kind of event. */
interface AccountWebhooks {
  /** Mark of the account's last change; without one the result is not cached. */
  readonly mark: string | null
  readonly webhooks: readonly Webhook[]
}

export function candidateReader({ session, schema }: Pick<Deps, 'session' | 'schema'>): {
  readonly candidates: WebhookStore['candidates']
} {
  const sql = webhookStatements(schema)
  const cache = new LRUCache<string, AccountWebhooks>({
    maxSize: MAX_WEBHOOKS,
    sizeCalculation: ({ webhooks }) => webhooks.length + 1,
  })

  async function read(queries: readonly Query[]): Promise<readonly CallResult<readonly Webhook[]>[]> {
    const places = new Map<string, number>()
    const accounts: string[] = []
    const hooks: string[] = []
    /** Cached results by place, held here in case they are evicted in the meantime. */
    const cached: (AccountWebhooks | undefined)[] = []
    const placesOf = queries.map(({ accountIds, hook }) =>
      [...new Set(accountIds)].map((accountId) => {
        const name = nameOf(accountId, hook)
        let place = places.get(name)
        if (place === undefined) {
          place = accounts.push(accountId) - 1
          hooks.push(hook)
          cached.push(cache.get(name))
          places.set(name, place)
        }
        return place
      }),
    )
    const marks = cached.map((result) => result?.mark ?? null)
    const rows = await session.query<CandidateRow>(sql.candidates, [accounts, hooks, marks])
    const changed = byPlace(rows)
    for (const [place, result] of changed) {
      if (result.mark !== null) cache.set(nameOf(accounts[place]!, hooks[place]!), result)
    }
    const webhooksAt = (place: number) => (changed.get(place) ?? cached[place]!).webhooks
    return placesOf.map(([first, ...others]) => {
      if (first === undefined) return { value: [] }
      const value = webhooksAt(first)
      return { value: others.length === 0 ? value : [value, ...others.map(webhooksAt)].flat() }
    })
  }

  const group = createGroupCommit(read, { maxCalls: MAX_EVENTS, overlapAfterMs: READ_OVERLAP_MS })
  return { candidates: (accountIds, hook) => group.run({ accountIds, hook }) }
}

const nameOf = (accountId: string, hook: string) => JSON.stringify([accountId, hook])

function byPlace(rows: readonly CandidateRow[]): ReadonlyMap<number, AccountWebhooks> {
  const results = new Map<number, { readonly mark: string | null; readonly webhooks: Webhook[] }>()
  for (const { place, mark, doc, health } of rows) {
    const result = results.get(place - 1) ?? { mark, webhooks: [] }
    results.set(place - 1, result)
    if (doc !== null) result.webhooks.push(webhookOf({ doc, health }))
  }
  return results
}
