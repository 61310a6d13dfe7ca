/**
 * Deliveries that ended in any state but delivered (2). In place of an index that left out the cancelled ones (5): to find that
 * none was cancelled, all deliveries of the webhook were read.
 *
 * @param s name of the schema, quoted
 */
export const undeliveredIndex = (s: string): string => `
create index attempt_undelivered on ${s}.attempt (webhook_key, delivery) where state > 2;
drop index ${s}.attempt_failed;
`
