import type { Statement } from '../session.js'

/** A table that is not empty. */
export interface UsedRow {
  readonly table: string
}

/** A move that this schema has heard of; `counts`: of its rows, once they are all there. */
export interface MoveRow {
  readonly counts: string | null
}

/** @param tables that must be empty before, by name */
export const loadSteps = (s: string, tables: readonly string[]) =>
  ({
    place: { name: 'load_place', text: 'select current_database() as database' },
    /** Vacuuming gives way after a second; whoever else is at work is not waited for. */
    impatience: { name: 'load_impatience', text: `set local lock_timeout = '2s'` },
    patience: { name: 'load_patience', text: 'set local lock_timeout = 0' },
    /** Nobody writes here until the end. */
    lock: {
      name: 'load_lock',
      text: `lock table ${[...tables, 'shard', 'node', 'pending', 'lane'].map((table) => `${s}.${table}`).join(', ')}
        in exclusive mode`,
    },
    used: {
      name: 'load_used',
      text: tables
        .map((table) => `select '${table}' as "table" where exists (select from ${s}.${table})`)
        .join(' union all '),
    },
    /** A node whose lease lives. */
    node: {
      name: 'load_node',
      text: `select 1 from ${s}.node where alive_until_ms > extract(epoch from clock_timestamp()) * 1000 limit 1`,
    },
    createMoves: {
      name: 'load_create_moves',
      text: `create table if not exists ${s}.hookswitch_move (id text primary key, counts text)`,
    },
    move: { name: 'load_move', text: `select counts from ${s}.hookswitch_move where id = $1` },
    announce: {
      name: 'load_announce',
      text: `insert into ${s}.hookswitch_move (id) values ($1) on conflict do nothing`,
    },
    end: { name: 'load_end', text: `update ${s}.hookswitch_move set counts = $2 where id = $1` },
    /** What is given out from now on lies behind all that comes. */
    position: {
      name: 'load_position',
      text: `select setval('${s}.position', greatest($1::bigint, (select last_value from ${s}.position)))`,
    },
    /** Nobody's, and what is in flight was claimed under a former term. */
    free: {
      name: 'load_free',
      text: `update ${s}.shard set owner = null, alive_until_ms = 0, leaving = false`,
    },
    lanes: {
      name: 'load_lanes',
      text: `insert into ${s}.lane (webhook_key, lane, open)
        select webhook_key, lane, count(*) from ${s}.delivery where state < 2 group by webhook_key, lane`,
    },
    pending: {
      name: 'load_pending',
      text: `update ${s}.pending
        set deliveries = case slot when 0 then (select count(*) from ${s}.delivery where state < 2) else 0 end`,
    },
    stale: {
      name: 'load_stale',
      text: `update ${s}.webhook w set stale = true
        from (select webhook_key, min(epoch) as epoch from ${s}.delivery where state = 0 group by webhook_key) d
        where d.webhook_key = w.key and d.epoch < w.epoch`,
    },
  }) satisfies Record<string, Statement>
