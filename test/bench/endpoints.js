/** Lists of endpoints. Each endpoint has a different host name, so a different origin. */

/**
 * @param {{ name: string, accounts: number, perAccount: number, port: number }} group its accounts are
 *   `name-0`, `name-1`, …
 * @returns {{ accountId: string, uri: string }[]}
 */
export function endpointsOf({ name, accounts, perAccount, port }) {
  return Array.from({ length: accounts * perAccount }, (_, index) => ({
    accountId: `${name}-${index % accounts}`,
    uri: `http://${name}-${index}.localhost:${port}/hooks/${index}`,
  }))
}

/** The account ids of a group. */
export const accountsOf = ({ name, accounts }) =>
  Array.from({ length: accounts }, (_, index) => `${name}-${index}`)
