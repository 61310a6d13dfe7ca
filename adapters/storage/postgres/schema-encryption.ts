/**
 * The record of the service secrets in use, in one row.
 *
 * @param s name of the schema, quoted
 */
export const encryptionTable = (s: string): string => `
create table ${s}.encryption (id smallint primary key check (id = 1), record text not null);
`
