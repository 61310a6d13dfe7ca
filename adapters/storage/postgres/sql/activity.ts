import type { Statement } from '../statement.js'
import { isSuccess } from './attempts.js'

/** The backlog and the last attempt of a webhook. */
export interface ActivityRow {
  readonly webhookId: string
  readonly pending: number
  readonly oldestDueMs: number | null
  readonly oldestAcceptedMs: number | null
  /** Null: there is no attempt. */
  readonly atMs: number | null
  readonly isSuccess: boolean | null
  readonly status: number | null
  readonly cause: string | null
}

/** The first part of a document ends with cause, detail and flags, where it has them. PostgreSQL cannot read JSON that contains a NUL. */
const CAUSE = ',"([a-z_]+)",(?:null|"(?:[^"\\\\]|\\\\.)*"),[0-9]+\\]$'
/** Characters that contain these three: `detail` has 400 before they are escaped. */
const DOC_END = 3_000

/**
 * The webhooks `$1`, each with up to `$2` deliveries and its newest attempt. A document begins with result, id, retries left,
 * attempt and status.
 */
export const activityStatement = (s: string): Statement => ({
  name: 'webhook_activity',
  text: `select w.id as "webhookId", p.pending, p.due as "oldestDueMs", p.accepted as "oldestAcceptedMs",
      a.at_ms as "atMs", a."isSuccess", a.status, a.cause
    from unnest($1::text[]) g (id)
    cross join lateral (select id, key, epoch from ${s}.webhook where id = g.id offset 0) w
    cross join lateral (
      select count(*)::int as pending, min(due) as due, min(accepted_ms) as accepted from (
        select accepted_ms, coalesce(due_ms, accepted_ms) as due from ${s}.waiting
        where webhook_key = w.key and epoch >= w.epoch order by position limit $2
      ) d
    ) p
    left join lateral (
      select at_ms, ${isSuccess('doc')} as "isSuccess",
        substring(doc from '^\\[[01],"[^"]*",[^,]*,[^,]*,([0-9]+)')::int as status,
        substring(right(split_part(doc, chr(30), 1), ${DOC_END}) from '${CAUSE}') as cause
      from (
        select position, at_ms, n, doc from ${s}.attempt where webhook_key = w.key and doc is not null
        order by position desc limit 1000
      ) newest where n is not null order by position desc limit 1
    ) a on true`,
})
