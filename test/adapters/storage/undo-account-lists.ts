/** SQL that turns tables with sorted pages of accounts and a record of secrets into those before both. */

/** @param schema quoted */
export const undoPostgres = (
  schema: string,
): string => `drop table ${schema}.gone_user; drop table ${schema}.encryption;
  alter table ${schema}.account drop column sort_key, drop column realm_search;
  alter table ${schema}.account_user drop column sort_key;`
