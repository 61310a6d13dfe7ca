import { deleting, type Statement } from '../statement.js'

export const openLegStatements = (s: string) =>
  ({
    /**
     * Adds or replaces the legs `$3`, `$4`, `$5` of the source `$1`. Sorted, so that two nodes that write the same legs
     * lock them in one order.
     */
    put: {
      name: 'open_leg_put',
      text: `insert into ${s}.open_leg (source, added_ms, call_id, account_id, state)
        select $1, $2, l.call_id, l.account_id, l.state
        from unnest($3::text[], $4::text[], $5::text[]) l (call_id, account_id, state) order by l.call_id collate "C"
        on conflict (source, call_id) do update set account_id = excluded.account_id, state = excluded.state`,
    },
    remove: {
      name: 'open_leg_remove',
      text: `delete from ${s}.open_leg where source = $1 and call_id in (
          select o.call_id from ${s}.open_leg o where o.source = $1 and o.call_id = any ($2::text[])
          order by o.call_id for update
        )`,
    },
    list: {
      name: 'open_leg_list',
      text: `select call_id as "callId", account_id as "accountId", state from ${s}.open_leg
        where source = $1 and call_id > $2 order by call_id limit $3`,
    },
    eraseCalls: {
      name: 'open_leg_erase_calls',
      text: deleting(`${s}.open_leg`, 'account_id = $1 and call_id = any ($2::text[]) limit $3'),
    },
    eraseAccount: { name: 'open_leg_erase', text: deleting(`${s}.open_leg`, 'account_id = $1 limit $2') },
    prune: { name: 'open_leg_prune', text: deleting(`${s}.open_leg`, 'added_ms < $1 limit $2') },
    /** Legs that may mention the text `$2`. */
    candidates: {
      name: 'open_leg_candidates',
      text: `select call_id as "callId", account_id as "accountId", state from ${s}.open_leg
        where account_id = $1 and (position($2 in state) > 0 or position($2 in call_id) > 0)`,
    },
  }) satisfies Record<string, Statement>
