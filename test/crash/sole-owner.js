// @ts-check
import pg from 'pg'
import { waitUntil } from './node-waits.js'

/**
 * Waits until the last node owns all shards: before that it does not know what is left in those of terminated nodes.
 *
 * @param {import('./history.js').History} history
 * @param {import('./nodes.js').NodeProcess} node
 * @param {{ readonly connectionString: string, readonly schema: string }} location
 */
export async function waitForSoleOwner(history, node, { connectionString, schema }) {
  const client = new pg.Client({ connectionString })
  await client.connect()
  const text = `select count(distinct owner) = 1 and count(owner) = count(*) as "isSole" from "${schema}".shard`
  await waitUntil(history, node, 'it did not take the shards of terminated nodes', async () => {
    const { rows } = await client.query(text)
    return rows[0].isSole
  })
  await client.end()
}
