import type { Webhook, WebhookStore } from 'hookswitch/store'
import { grouped, type Outcome } from './group.js'
import { webhookOf } from './rows.js'
import type { Doors } from './session-doors.js'
import { type CandidateRow, webhookStatements } from './sql/webhooks.js'

/** Events of one statement. */
const MOST = 200

interface Asked {
  readonly accountIds: readonly string[]
  readonly hook: string
}

/**
 * Who may want an event, read for all events that came meanwhile by one statement: one each would cost this process and
 * the server more than all else of an acceptance. What several ask for is read once.
 */
export function candidateReader({ session, schema }: Pick<Doors, 'session' | 'schema'>): {
  readonly candidates: WebhookStore['candidates']
} {
  const sql = webhookStatements(schema)

  async function read(asked: readonly Asked[]): Promise<readonly Outcome<readonly Webhook[]>[]> {
    const places = new Map<string, number>()
    const accounts: string[] = []
    const hooks: string[] = []
    const placesOf = asked.map(({ accountIds, hook }) =>
      [...new Set(accountIds)].map((accountId) => {
        const name = JSON.stringify([accountId, hook])
        let place = places.get(name)
        if (place === undefined) {
          place = accounts.push(accountId) - 1
          hooks.push(hook)
          places.set(name, place)
        }
        return place
      }),
    )
    const found: Webhook[][] = accounts.map(() => [])
    for (const row of await session.query<CandidateRow>(sql.candidates, [accounts, hooks])) {
      found[row.place - 1]!.push(webhookOf(row))
    }
    return placesOf.map((wanted) => ({ value: wanted.flatMap((place) => found[place]!) }))
  }

  const group = grouped(read, { most: MOST })
  return { candidates: (accountIds, hook) => group.run({ accountIds, hook }) }
}
