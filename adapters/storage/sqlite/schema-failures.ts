/**
 * Migration 8: the failures of a webhook in order of their records. A record of a success begins with `[1`
 * (`store/engine/attempt-doc`).
 */
export const SCHEMA_8 = `
create index hookswitch_attempt_failure on hookswitch_attempt (webhook, key, at_ms)
  where doc is not null and substr(doc, 1, 2) <> '[1';
`
