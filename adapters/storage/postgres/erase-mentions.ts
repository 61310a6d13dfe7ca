import { isMentioned, type Mentions } from 'hookswitch/store'
import type { Doors, Readback } from './session-doors.js'
import { type LookedRow, mentionStatements } from './sql/mentions.js'

/**
 * Where to look, one after the other: the account's events; what other accounts' events sent to its webhooks; what hosts
 * have put and nobody has admitted. A cursor is a position in one of them.
 */
const PLACES = ['events', 'received', 'inbox'] as const

/** Looks through bodies for a number or name, some at a time. */
export function postgresMentions({
  session,
  schema,
}: Pick<Doors, 'session' | 'schema'>): Readback['mentions'] {
  const sql = mentionStatements(schema)

  return async (accountId, text, cursor = 0, limit): Promise<Mentions> => {
    const found = new Set<string>()
    let place = cursor % PLACES.length
    let after = Math.floor(cursor / PLACES.length)
    for (let left = limit; place < PLACES.length; place += 1, after = 0) {
      const rows = await session.query<LookedRow>(sql[PLACES[place]!], [accountId, after, left])
      for (const { callId, bodies } of rows) {
        if (callId === null || found.has(callId)) continue
        if ((JSON.parse(bodies) as string[]).some((body) => isMentioned(body, text))) found.add(callId)
      }
      if (rows.length >= left) {
        return { callIds: [...found], cursor: rows[rows.length - 1]!.position * PLACES.length + place }
      }
      left -= rows.length
    }
    return { callIds: [...found], cursor: undefined }
  }
}
