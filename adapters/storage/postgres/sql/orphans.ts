import { DELIVERY_COLUMNS, type DeliveryRow } from '../rows.js'
import type { Statement } from '../statement.js'
import { mayClaim } from './ready.js'

/** A webhook marked as stale with one of its stale deliveries, or with `id` null when it has none. */
export interface StaleRow extends Omit<DeliveryRow, 'id'> {
  readonly id: string | null
  readonly staleKey: number
}

export const orphanStatements = (s: string) =>
  ({
    /** In flight under an earlier term of the owner's shards, or claimed with one of the tokens `$4`. */
    orphans: {
      name: 'orphans',
      text: `with mine as materialized (${mayClaim(s)}), found as materialized (
          select x.id from mine m cross join lateral (
            (select d.id from ${s}.delivery d where d.shard = m.id and d.state = 1 and d.term < m.term limit $3)
            union all
            (select d.id from ${s}.delivery d where d.shard = m.id and d.state = 1 and d.term = m.term
              and d.claim = any ($4::bigint[]) and cardinality($4::bigint[]) > 0 limit $3)
          ) x limit $3
        )
        select ${DELIVERY_COLUMNS} from found f cross join lateral (
          select * from ${s}.delivery d where d.id = f.id offset 0
        ) d join ${s}.event e on e.position = d.event and e.variant = d.variant
        join ${s}.webhook w on w.key = d.webhook_key`,
    },
    stale: {
      name: 'stale',
      text: `with mine as materialized (${mayClaim(s)}), late as materialized (
          select w.key, w.epoch from ${s}.webhook w where w.stale and w.shard = any (array(select id from mine))
          order by w.key
        ), found as materialized (
          select l.key, x.id from late l left join lateral (
            (select d.id from ${s}.delivery d where d.webhook_key = l.key and d.epoch < l.epoch
              and d.state = 0 and d.due_ms is not null limit $3)
            union all
            (select d.id from ${s}.delivery d where d.webhook_key = l.key and d.epoch < l.epoch
              and d.state = 0 and d.due_ms is null limit $3)
          ) x on true limit $3
        )
        select ${DELIVERY_COLUMNS}, f.key as "staleKey"
        from found f left join lateral (
          select * from ${s}.delivery d where d.id = f.id offset 0
        ) d on true
        left join ${s}.event e on e.position = d.event and e.variant = d.variant
        left join ${s}.webhook w on w.key = d.webhook_key`,
    },
    /** Waits for acceptances and settlements that lock the webhook, so that the next statement sees their rows. */
    lock: {
      name: 'stale_hold',
      text: `select key from ${s}.webhook where key = any ($1::int[]) and stale order by key for update`,
    },
    unmark: {
      name: 'stale_unmark',
      text: `update ${s}.webhook w set stale = false
        where w.key = any ($1::int[]) and w.stale and not exists (
          select from ${s}.delivery d where d.webhook_key = w.key and d.epoch < w.epoch
            and d.state = 0 and d.due_ms is not null
        ) and not exists (
          select from ${s}.delivery d where d.webhook_key = w.key and d.epoch < w.epoch
            and d.state = 0 and d.due_ms is null
        )`,
    },
    /** A delivery was written that waits for an ended epoch. */
    mark: {
      name: 'stale_mark',
      text: `update ${s}.webhook set stale = true where key = any (array(
          select key from ${s}.webhook where key = any ($1::int[]) and not stale order by key for no key update
        ))`,
    },
  }) satisfies Record<string, Statement>
