/** SQL that turns tables with sorted pages of accounts and a record of secrets into those before both. */

export const UNDO_SQLITE = `drop index hookswitch_account_children; drop index hookswitch_account_sorted;
  drop index hookswitch_user_sorted; drop table hookswitch_gone_user;
  alter table hookswitch_account drop column sort_key; alter table hookswitch_account drop column realm_search;
  alter table hookswitch_user drop column sort_key;`
