/**
 * The store's clock (`store-time.ts`), in one row: what is added to the server's clock, and the latest store time that a
 * lease was granted at. It begins where the latest lease was granted, in a schema that was used before.
 *
 * @param s name of the schema, quoted
 */
export const storeClockTable = (s: string): string => `
create table ${s}.store_clock (
  id        smallint primary key check (id = 0),
  offset_ms double precision not null,
  last_ms   double precision not null
) with (fillfactor = 25);
insert into ${s}.store_clock (id, offset_ms, last_ms)
  select 0, 0, greatest(0, coalesce(max(alive_until_ms), 0) - 30000) from ${s}.node;
`
