/** Migration 3: the record of the service secrets in use, in one row. */
export const SCHEMA_3 = `
create table hookswitch_encryption (id integer primary key check (id = 1), record text not null);
`
