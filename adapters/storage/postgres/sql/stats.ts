import { deleting, type Statement } from '../statement.js'
import { COUNT_COLUMNS, failedSum, okSum } from '../stats-columns.js'

const KEY = 'step, slot, account_id, webhook_id'

export const statsStatements = (s: string) => {
  const names = COUNT_COLUMNS.join(', ')
  const given = COUNT_COLUMNS.map(
    (_, index) => `($8::int8[])[(k.i - 1) * ${COUNT_COLUMNS.length} + ${index + 1}]`,
  )
  const added = COUNT_COLUMNS.map((column) => `${column} = s.${column} + excluded.${column}`)
  return {
    /**
     * Adds the rows `$4` to `$7` with their counts, one after the other in `$8`, and their causes `$9`, unless the batch `$2` of the writer `$1` was
     * written before; `$3`: its newest slot. Sorted, so that two nodes lock the rows that both count in one order.
     */
    add: {
      name: 'stats_add',
      text: `with first as (
          insert into ${s}.stat_writer as w (writer, number, slot) values ($1, $2, $3)
          on conflict (writer) do update set number = excluded.number, slot = greatest(w.slot, excluded.slot)
            where w.number < excluded.number
          returning 1
        )
        insert into ${s}.stat as s (${KEY}, causes, ${names})
        select k.step, k.slot, k.account_id, k.webhook_id, k.causes::jsonb, ${given.join(', ')}
        from first cross join unnest($4::int2[], $5::int4[], $6::text[], $7::text[], $9::text[]) with ordinality
          k (step, slot, account_id, webhook_id, causes, i)
        order by k.step, k.slot, k.account_id collate "C", k.webhook_id collate "C"
        on conflict (${KEY}) do update set ${added.join(', ')}, causes = case
          when excluded.causes is null then s.causes when s.causes is null then excluded.causes else (
            select jsonb_object_agg(c.key, c.count) from (
              select b.key, sum(b.value::bigint) as count from (
                select * from jsonb_each_text(s.causes) union all select * from jsonb_each_text(excluded.causes)
              ) b group by b.key
            ) c
          ) end`,
    },
    /** The rows of the series `$1`, `$2` in the slots `$4` of the step `$3`. */
    read: {
      name: 'stats_read',
      text: `select k.account_id as "accountId", k.webhook_id as "webhookId", s.slot, s.causes::text as causes,
          ${COUNT_COLUMNS.map((column) => (column === 'sum_ms' ? 's.sum_ms::float8 as sum_ms' : `s.${column}`)).join(', ')}
        from unnest($1::text[], $2::text[]) k (account_id, webhook_id) cross join unnest($4::int4[]) t (slot)
        cross join lateral (
          select * from ${s}.stat x
          where x.step = $3 and x.slot = t.slot and x.account_id = k.account_id and x.webhook_id = k.webhook_id offset 0
        ) s`,
    },
    /** The same with the totals only; `place`: of the series in `$1`, from 1. */
    totals: {
      name: 'stats_totals',
      text: `select k.place::int, s.slot, ${okSum('s')} as ok, ${failedSum('s')} as failed
        from unnest($1::text[], $2::text[]) with ordinality k (account_id, webhook_id, place)
        cross join unnest($4::int4[]) t (slot)
        cross join lateral (
          select * from ${s}.stat x
          where x.step = $3 and x.slot = t.slot and x.account_id = k.account_id and x.webhook_id = k.webhook_id offset 0
        ) s`,
    },
    prune: {
      name: 'stats_prune',
      text: deleting(`${s}.stat`, 'step = $1 and slot < $2 order by slot limit $3 for update skip locked'),
    },
    pruneWriters: { name: 'stats_prune_writers', text: `delete from ${s}.stat_writer where slot < $1` },
  } satisfies Record<string, Statement>
}
