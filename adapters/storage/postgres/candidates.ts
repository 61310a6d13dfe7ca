import type { Webhook, WebhookStore } from 'hookswitch/store'
import { LRUCache } from 'lru-cache'
import { grouped, type Outcome, READ_PATIENCE_MS } from './group.js'
import { webhookOf } from './rows.js'
import type { Doors } from './session-doors.js'
import { type CandidateRow, webhookStatements } from './sql/webhooks.js'

/** Events of one statement. */
const MOST = 200
/** Webhooks of all remembered answers together: two accounts of ten thousand, or thousands of a few. */
const MOST_WEBHOOKS = 20_000

interface Asked {
  readonly accountIds: readonly string[]
  readonly hook: string
}

/** The webhooks of one account that listen to a kind of event. */
interface Known {
  /** Of the account's last change; without one it is not remembered. */
  readonly mark: string | null
  readonly webhooks: readonly Webhook[]
}

/**
 * Who may want an event, read for all events that came meanwhile by one statement: one each would cost this process and
 * the server more than all else of an acceptance. What several ask for is read once, and what was read before is not
 * sent again unless the account's webhooks have changed: the server is asked that each time, so nodes need not tell
 * each other.
 */
export function candidateReader({ session, schema }: Pick<Doors, 'session' | 'schema'>): {
  readonly candidates: WebhookStore['candidates']
} {
  const sql = webhookStatements(schema)
  const known = new LRUCache<string, Known>({
    maxSize: MOST_WEBHOOKS,
    sizeCalculation: ({ webhooks }) => webhooks.length + 1,
  })

  async function read(asked: readonly Asked[]): Promise<readonly Outcome<readonly Webhook[]>[]> {
    const places = new Map<string, number>()
    const accounts: string[] = []
    const hooks: string[] = []
    /** By place; what is forgotten meanwhile is still in hand here. */
    const before: (Known | undefined)[] = []
    const placesOf = asked.map(({ accountIds, hook }) =>
      [...new Set(accountIds)].map((accountId) => {
        const name = nameOf(accountId, hook)
        let place = places.get(name)
        if (place === undefined) {
          place = accounts.push(accountId) - 1
          hooks.push(hook)
          before.push(known.get(name))
          places.set(name, place)
        }
        return place
      }),
    )
    const marks = before.map((one) => one?.mark ?? null)
    const rows = await session.query<CandidateRow>(sql.candidates, [accounts, hooks, marks])
    const now = changed(rows)
    for (const [place, found] of now) {
      if (found.mark !== null) known.set(nameOf(accounts[place]!, hooks[place]!), found)
    }
    const webhooksAt = (place: number) => (now.get(place) ?? before[place]!).webhooks
    return placesOf.map(([first, ...others]) => {
      if (first === undefined) return { value: [] }
      const value = webhooksAt(first)
      return { value: others.length === 0 ? value : [value, ...others.map(webhooksAt)].flat() }
    })
  }

  const group = grouped(read, { most: MOST, patienceMs: READ_PATIENCE_MS })
  return { candidates: (accountIds, hook) => group.run({ accountIds, hook }) }
}

const nameOf = (accountId: string, hook: string) => JSON.stringify([accountId, hook])

/** What the server has told, by place. */
function changed(rows: readonly CandidateRow[]): ReadonlyMap<number, Known> {
  const found = new Map<number, { readonly mark: string | null; readonly webhooks: Webhook[] }>()
  for (const { place, mark, doc, health } of rows) {
    const one = found.get(place - 1) ?? { mark, webhooks: [] }
    found.set(place - 1, one)
    if (doc !== null) one.webhooks.push(webhookOf({ doc, health }))
  }
  return found
}
