import type { Statement } from '../statement.js'

/** The other legs of a call, in the order of their first event; one row with null for a call without other legs. */
export interface LegRow {
  readonly other: string | null
}

export const legsStatement = (s: string): Statement => ({
  name: 'legs',
  text: `select l.other from ${s}.call c
    left join ${s}.call_leg l on l.account_id = c.account_id and l.call_id = c.call_id
    where c.account_id = $1 and c.call_id = $2 order by l.position`,
})
