import type { Statement } from '../statement.js'

export interface KeyRow {
  readonly account: string
  readonly key: string
  readonly eventId: string
  readonly sequence: number
  readonly bodyHash: string
}

/** Location of a key that this transaction has locked, so that the row does not move. */
const keyAt = (s: string) =>
  `(select ctid as at from ${s}.idempotency where account_id = k.account_id and key = k.key offset 0)`

/** Idempotency keys: each is used once per account in its window, even when several nodes accept at the same time. */
export const keyStatements = (s: string) =>
  ({
    /** Acquires keys that are new or expired; waits for transactions that are acquiring them. */
    acquire: {
      name: 'keys_take',
      text: `insert into ${s}.idempotency (account_id, key, event_id, body_hash, until_ms, call_id, sequence)
        select *, 0 from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::float8[], $6::text[])
          k (account_id, key, event_id, body_hash, until_ms, call_id) order by account_id collate "C", key collate "C"
        on conflict (account_id, key) do update
          set event_id = excluded.event_id, body_hash = excluded.body_hash, until_ms = excluded.until_ms,
            call_id = excluded.call_id, sequence = 0
          where idempotency.until_ms <= $7
        returning account_id as account, key`,
    },
    /** Keys of earlier events. A separate statement, which sees what the other transactions committed. */
    read: {
      name: 'keys_read',
      text: `select i.account_id as account, i.key, i.event_id as "eventId", i.sequence, i.body_hash as "bodyHash"
        from unnest($1::text[], $2::text[]) k (account_id, key) cross join lateral (
          select * from ${s}.idempotency i where i.account_id = k.account_id and i.key = k.key offset 0
        ) i`,
    },
    /** Writes the events that the acquired keys stand for. */
    use: {
      name: 'keys_use',
      text: `update ${s}.idempotency i
        set event_id = k.event_id, body_hash = k.body_hash, until_ms = k.until_ms, call_id = k.call_id,
          sequence = k.sequence
        from (
          select k.*, t.at from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::float8[], $6::text[], $7::int[])
            k (account_id, key, event_id, body_hash, until_ms, call_id, sequence) cross join lateral ${keyAt(s)} t
        ) k where i.ctid = k.at`,
    },
    /** Removes acquired keys whose call was rejected. */
    release: {
      name: 'keys_leave',
      text: `delete from ${s}.idempotency i using (
          select t.at from unnest($1::text[], $2::text[]) k (account_id, key) cross join lateral ${keyAt(s)} t
        ) k where i.ctid = k.at`,
    },
  }) satisfies Record<string, Statement>
