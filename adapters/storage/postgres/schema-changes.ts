/**
 * What tells whether the webhooks of an account have changed since they were read: a number that is another one after
 * each change, and never again an earlier one. A trigger writes it, so that no statement can forget to, one by hand
 * included. Health does not count: it changes with every failure, and nobody is chosen by it.
 *
 * The row of an account is written last in a transaction that changes webhooks, and sorted, so that it is no reason for
 * a deadlock.
 *
 * @param s the schema's name, quoted
 */
export const webhookChanges = (s: string): string => `
create sequence ${s}.webhook_changed;
create table ${s}.webhook_change (
  account_id text collate "C" primary key,
  changed    bigint not null
) with (fillfactor = 50);

create function ${s}.note_webhook_change() returns trigger language plpgsql as $hookswitch$
begin
  if tg_op <> 'UPDATE' then
    insert into ${s}.webhook_change (account_id, changed)
      select account_id, nextval('${s}.webhook_changed')
      from (select distinct account_id from written order by account_id) a
      on conflict (account_id) do update set changed = excluded.changed;
  else
    insert into ${s}.webhook_change (account_id, changed)
      select account_id, nextval('${s}.webhook_changed')
      from (
        select distinct w.account_id from written w join replaced r on r.key = w.key
        where (w.hook, w.epoch, w.deleted_ms, w.doc) is distinct from (r.hook, r.epoch, r.deleted_ms, r.doc)
        order by w.account_id
      ) a
      on conflict (account_id) do update set changed = excluded.changed;
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
