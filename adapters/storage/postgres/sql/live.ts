import { LIVE_RETENTION_MS } from 'hookswitch/store'
import type { Statement } from '../statement.js'

/** Batches that one statement returns. */
export const BATCHES_PER_READ = 8

const OLDEST = `now() - interval '${2 * LIVE_RETENTION_MS} ms'`

/** Identifies what all readers watch; null: nobody watches anything. */
export const watchMark = (s: string) =>
  `(select string_agg(reader || md5(watches), ',' order by reader) from ${s}.live_watch where until > now())`

export const liveStatements = (s: string) =>
  ({
    /** Returns whether that changes what is watched, or only prolongs it. */
    watch: {
      name: 'live_watch',
      text: `with before as materialized (
          select from ${s}.live_watch where reader = $1 and watches = $2 and until > now()
        ), written as (
          insert into ${s}.live_watch (reader, watches, until) values ($1, $2, now() + $3 * interval '1 ms')
          on conflict (reader) do update set watches = excluded.watches, until = excluded.until
        )
        select not exists (select from before) as "isChange"`,
    },
    unwatch: {
      name: 'live_unwatch',
      text: `delete from ${s}.live_watch where reader = $1 returning true as "isChange"`,
    },
    watched: {
      name: 'live_watched',
      text: `select watches from ${s}.live_watch where until > now() and reader <> $1`,
    },
    /**
     * Writes the batch `$2` of the writer `$1`, and removes its batches up to `$3`. Takes the lock of the table before the
     * snapshot: after an erasure it sees that the events are gone.
     */
    put: {
      name: 'live_put',
      text: `with gone as (delete from ${s}.live where writer = $1 and number <= $3)
        insert into ${s}.live (writer, number, account_ids, call_ids, items)
        select $1, $2, $4::text[], $5::text[], array(
          select case when u.event_id is null or exists (select from ${s}.event e where e.id = u.event_id) then u.item end
          from unnest($6::text[], $7::text[]) with ordinality u (event_id, item, i) order by u.i
        ) on conflict (writer, number) do nothing`,
    },
    forget: { name: 'live_forget', text: `delete from ${s}.live where writer = $1 and number <= $2` },
    ends: {
      name: 'live_ends',
      text: `select writer, max(number) as number from ${s}.live where writer <> $1 group by writer`,
    },
    /** Batches after the numbers `$3` of the writers `$2`. Reads the arrays of the selected batches only. */
    read: {
      name: 'live_read',
      text: `select b.writer, b.number, array_to_json(b.account_ids)::text as "accountIds",
          array_to_json(b.items)::text as items
        from (
          select l.*, row_number() over (partition by l.writer order by l.number) as turn
          from ${s}.live l left join unnest($2::text[], $3::bigint[]) c (writer, number) on c.writer = l.writer
          where l.writer <> $1 and l.number > coalesce(c.number, 0) and l.at > ${OLDEST}
          order by turn, l.writer limit ${BATCHES_PER_READ}
        ) b order by b.turn, b.writer`,
    },
    /** Waits for batches that are being written, and keeps others from being written until the end of the transaction. */
    lock: { name: '', text: `lock table ${s}.live in share row exclusive mode` },
    /** Erases the items of the account `$1`, of the calls `$2` or (null) all. */
    erase: {
      name: 'live_erase',
      text: `update ${s}.live set items = array(
          select case when u.account_id <> $1 or u.call_id <> all ($2::text[]) then u.item end
          from unnest(account_ids, call_ids, items) with ordinality u (account_id, call_id, item, i) order by u.i
        ) where $1 = any (account_ids)`,
    },
    pruneBatches: { name: 'live_prune', text: `delete from ${s}.live where at < ${OLDEST}` },
    pruneWatches: { name: 'live_prune_watches', text: `delete from ${s}.live_watch where until < now()` },
  }) satisfies Record<string, Statement>
