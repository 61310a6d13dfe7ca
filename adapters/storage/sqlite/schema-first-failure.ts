/** Migration 11: the first failure of a delivery, while it waits and after its end. Null: there was none. */
export const SCHEMA_11 = `
alter table hookswitch_waiting add column failed_ms integer;
alter table hookswitch_attempt add column failed_ms integer;
`
