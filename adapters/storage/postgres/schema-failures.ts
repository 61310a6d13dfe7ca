/**
 * The failures of a webhook in order of their records. Documents of successes begin with `[1,` or, of version 0.1, contain
 * their result as a member: JSON escapes the quotes of such a text in a value.
 *
 * @param s name of the schema, quoted
 */
export const failureIndex = (s: string): string => `
create index attempt_failure on ${s}.attempt (webhook_key, position)
  where doc is not null and not (starts_with(doc, '[1,') or strpos(doc, '"result":"success"') > 0);
`
