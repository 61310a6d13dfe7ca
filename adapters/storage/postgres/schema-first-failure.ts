/**
 * The first failure of a delivery, while it waits and after its end. Null: there was none.
 *
 * @param s name of the schema, quoted
 */
export const firstFailure = (s: string): string => `
alter table ${s}.waiting add column failed_ms double precision;
alter table ${s}.attempt add column failed_ms double precision;
`
