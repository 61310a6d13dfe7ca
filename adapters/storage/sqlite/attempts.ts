import type { AttemptQuery, StoredAttempt } from 'hookswitch/store'
import { type AttemptRecord, type Delivery, readAttempt } from 'hookswitch/store'
import { attemptPlaces } from './attempt-places.js'
import { query } from './query.js'
import type { Tools } from './tools.js'

interface AttemptRow {
  readonly doc: string
  readonly httpVerb: Delivery['httpVerb'] | null
  readonly variant: number
  readonly event: number
  readonly body: string
}

/** Looks for places first, so that only what is shown is read. */
export function attemptReader(tools: Tools): (asked: AttemptQuery) => readonly StoredAttempt[] {
  const { db, accounts, bodies } = tools
  const placesOf = attemptPlaces(tools)
  const read = query<AttemptRow>(
    db,
    `select a.doc, d.http_verb as "httpVerb", d.variant, d.event, e.body
    from hookswitch_attempt a
    left join hookswitch_delivery d on d.position = a.delivery
    left join hookswitch_event e on e.key = d.event
    where a.position = ?`,
  )

  function attemptAt(position: number): StoredAttempt {
    const { doc, httpVerb, variant, event, body } = read.get(position)!
    const record = JSON.parse(doc) as AttemptRecord
    if (httpVerb === null) return readAttempt(record, position, undefined)
    const sent = variant === 0 ? body : bodies.other(event, variant)
    return readAttempt(record, position, { httpVerb, body: sent })
  }

  return (asked) => {
    const account = accounts.find(asked.accountId)
    return account === undefined ? [] : placesOf(account, asked).map(attemptAt)
  }
}
