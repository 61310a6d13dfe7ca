/**
 * Compares a column without using its index. Statements that know the location of a row (`ctid`) read it there; a
 * condition that fits an index would make the planner prefer that index as soon as it believes the table to be empty.
 */
export const unindexed = (column: string, value: string) => `${column} || '' = ${value}`
