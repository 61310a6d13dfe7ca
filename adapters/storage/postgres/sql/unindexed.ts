/**
 * The same text, looked at in rows that were found otherwise. Statements that know where a row is (`ctid`) go there; a
 * condition that fits an index would lead the planner through that index as soon as it believes the table to be empty.
 */
export const unindexed = (column: string, value: string) => `${column} || '' = ${value}`
