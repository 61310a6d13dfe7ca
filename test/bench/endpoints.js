/** Endpoints of a load as lists: each has a host name, so an origin, of its own. */

/**
 * @param {{ name: string, accounts: number, perAccount: number, port: number }} shape accounts are `name-0`, `name-1`, …
 * @returns {{ accountId: string, uri: string }[]}
 */
export function endpoints({ name, accounts, perAccount, port }) {
  return Array.from({ length: accounts * perAccount }, (_, index) => ({
    accountId: `${name}-${index % accounts}`,
    uri: `http://${name}-${index}.localhost:${port}/hooks/${index}`,
  }))
}

/** The accounts of a shape. */
export const accountsOf = ({ name, accounts }) =>
  Array.from({ length: accounts }, (_, index) => `${name}-${index}`)
