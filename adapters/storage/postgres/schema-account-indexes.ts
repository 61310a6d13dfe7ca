/**
 * Removes an index that costs time with every new account: `account_children` begins with the parent, too.
 *
 * @param s name of the schema, quoted
 */
export const withoutParentIndex = (s: string): string => `
drop index ${s}.account_parent;
`
