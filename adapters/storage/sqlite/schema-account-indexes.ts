/**
 * Migration 9: indexes that cost less per account.
 *
 * - `hookswitch_account_children` begins with the parent, too.
 * - Hashes of API keys are random, so each new one changes another page of their index. Of 40 bits of a hash, it is half as large,
 *   and two of a million accounts rarely share them; queries compare the whole hash, and the one writer of the file checks that it
 *   is unique.
 */
export const SCHEMA_9 = `
drop index hookswitch_account_parent;
drop index hookswitch_api_key_hash;
create index hookswitch_api_key_hash on hookswitch_api_key (substr(hash, 1, 10));
`
