import type { Statement } from '../statement.js'

/** A webhook, or with `doc` null the information that the account has none. */
export interface CandidateRow {
  readonly place: number
  /** Null: no change of the account's webhooks is recorded. */
  readonly mark: string | null
  readonly doc: string | null
  readonly health: string | null
}

/**
 * `$2` webhooks of the account `$1` in order, behind the name `$3` and the id `$4` if `isAfter`. A document may contain a NUL,
 * which no JSON function of the server accepts, so the condition is on its text: no value contains it, because JSON escapes
 * the quotes there, but an object among the client's own keys may, and that webhook is returned too.
 */
export function pageStatement(
  s: string,
  kind: { readonly ascending: boolean; readonly isAfter: boolean; readonly onlyTroubled: boolean },
): Statement {
  const { ascending, isAfter, onlyTroubled } = kind
  const direction = ascending ? '' : ' desc'
  const after = isAfter ? `and (sort_key, id) ${ascending ? '>' : '<'} ($3, $4)` : ''
  const troubled = onlyTroubled ? `and (health is not null or strpos(doc, '"enabled":false') > 0)` : ''
  return {
    name: `webhook_page${ascending ? '' : '_down'}${isAfter ? '_after' : ''}${onlyTroubled ? '_troubled' : ''}`,
    text: `select doc, health from ${s}.webhook
      where account_id = $1 and deleted_ms is null ${after} ${troubled}
      order by sort_key${direction}, id${direction} limit $2`,
  }
}

export const webhookStatements = (s: string) =>
  ({
    insert: {
      name: 'webhook_insert',
      text: `insert into ${s}.webhook
          (id, account_id, hook, revision, epoch, deleted_ms, shard, doc, health, sort_key)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (id) do nothing returning id`,
    },
    read: {
      name: 'webhook_read',
      text: `select doc, health from ${s}.webhook where id = $1 and account_id = $2 and deleted_ms is null`,
    },
    /** Also deleted ones. */
    readAny: {
      name: 'webhook_read_any',
      text: `select w.doc, w.health from unnest($1::text[]) u (id) cross join lateral (
          select doc, health from ${s}.webhook where id = u.id offset 0
        ) w`,
    },
    list: {
      name: 'webhook_list',
      text: `select doc, health from ${s}.webhook where account_id = any ($1::text[]) and deleted_ms is null`,
    },
    /**
     * Webhooks of all accounts with a health or a reason why they are disabled: `$1` of them, with an id above `$2`. As for
     * `pageStatement`, also those whose client's own keys have an object with a field of this name.
     */
    unhealthy: {
      name: 'webhook_unhealthy',
      text: `select doc, health from ${s}.webhook
        where deleted_ms is null and id > $2
          and (health is not null or strpos(doc, '"disableReason":') > 0)
        order by id limit $1`,
    },
    /** `$1` webhooks of all accounts, with an id above `$2`. */
    ids: {
      name: 'webhook_ids',
      text: `select id, account_id as "accountId" from ${s}.webhook where deleted_ms is null and id > $2 order by id limit $1`,
    },
    /**
     * Webhooks of the accounts `$1` for the kinds of event `$2`, with the place of the request, from 1. Each request
     * has at least one row, unless the account still has the mark `$3`.
     */
    candidates: {
      name: 'webhook_candidates',
      text: `select k.place::int, c.mark, w.doc, w.health
        from unnest($1::text[], $2::text[], $3::uuid[]) with ordinality k (account_id, hook, known, place)
        cross join lateral (
          select (select mark from ${s}.webhook_change where account_id = k.account_id) as mark offset 0
        ) c left join lateral (
          select doc, health from ${s}.webhook
          where account_id = k.account_id and hook = any (array[k.hook, 'all']) and deleted_ms is null
            and (c.mark = k.known) is not true offset 0
        ) w on true
        where (c.mark = k.known) is not true`,
    },
    lock: {
      name: 'webhook_lock',
      text: `select doc, health from ${s}.webhook
        where id = $1 and account_id = $2 and revision = $3 and deleted_ms is null for no key update`,
    },
    /** The webhooks of an account that is removed. */
    lockAll: {
      name: 'webhook_lock_all',
      text: `select doc, health from ${s}.webhook where account_id = $1 and deleted_ms is null
        order by key for no key update`,
    },
    replace: {
      name: 'webhook_replace',
      text: `update ${s}.webhook set hook = $2, revision = $3, epoch = $4, deleted_ms = $5, doc = $6, health = $7,
        sort_key = $8 where id = $1`,
    },
  }) satisfies Record<string, Statement>
