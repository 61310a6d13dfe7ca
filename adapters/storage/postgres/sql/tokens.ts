import { deleting, type Statement } from '../statement.js'

export const tokenStatements = (s: string) =>
  ({
    issue: {
      name: 'token_issue',
      text: `insert into ${s}.token (hash, account_id, user_id, expires_ms, doc) values ($1, $2, $3, $4, $5)
        on conflict (hash) do update set account_id = excluded.account_id, user_id = excluded.user_id,
          expires_ms = excluded.expires_ms, doc = excluded.doc`,
    },
    read: { name: 'token_read', text: `select doc from ${s}.token where hash = $1` },
    revoke: { name: 'token_revoke', text: `delete from ${s}.token where hash = $1 returning hash` },
    revokeAll: {
      name: 'token_revoke_all',
      text: `with gone as (delete from ${s}.token where account_id = $1 returning 1)
        select count(*) as removed from gone`,
    },
    /** `$2`: the id of a user, or null for the tokens of the API key. */
    revokeOf: {
      name: 'token_revoke_of',
      text: `with gone as (
          delete from ${s}.token where account_id = $1 and user_id is not distinct from $2 returning 1
        ) select count(*) as removed from gone`,
    },
    prune: {
      name: 'token_prune',
      text: deleting(`${s}.token`, 'expires_ms <= $1 order by expires_ms limit $2 for update skip locked'),
    },
  }) satisfies Record<string, Statement>
