/**
 * A change mark per account, which shows whether its webhooks have changed since they were read. The mark is random,
 * not a counter: it never returns to an earlier value, even on a server that lost its last changes in a failover. A
 * trigger writes it, so that no statement can forget to, manual ones included. Health does not count: it changes with
 * every failure, and has no influence on which webhooks match.
 *
 * A transaction that changes webhooks writes the rows of their accounts last, and sorted, so that they cause no
 * deadlock.
 *
 * @param s name of the schema, quoted
 */
export const webhookChangeMarks = (s: string): string => `
create table ${s}.webhook_change (
  account_id text collate "C" primary key,
  mark       uuid not null
) with (fillfactor = 50);

create function ${s}.note_webhook_change() returns trigger language plpgsql as $hookswitch$
begin
  if tg_op <> 'UPDATE' then
    insert into ${s}.webhook_change (account_id, mark)
      select account_id, gen_random_uuid()
      from (select distinct account_id from written order by account_id) a
      on conflict (account_id) do update set mark = excluded.mark;
  else
    insert into ${s}.webhook_change (account_id, mark)
      select account_id, gen_random_uuid()
      from (
        select distinct w.account_id from written w join replaced r on r.key = w.key
        where (w.hook, w.epoch, w.deleted_ms, w.doc) is distinct from (r.hook, r.epoch, r.deleted_ms, r.doc)
        order by w.account_id
      ) a
      on conflict (account_id) do update set mark = excluded.mark;
  end if;
  return null;
end $hookswitch$;
create trigger webhook_inserted after insert on ${s}.webhook referencing new table as written
  for each statement execute function ${s}.note_webhook_change();
create trigger webhook_removed after delete on ${s}.webhook referencing old table as written
  for each statement execute function ${s}.note_webhook_change();
create trigger webhook_updated after update on ${s}.webhook
  referencing old table as replaced new table as written
  for each statement execute function ${s}.note_webhook_change();
`
