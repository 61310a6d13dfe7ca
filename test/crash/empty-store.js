// @ts-check
import pg from 'pg'
import { waitUntil } from './node-waits.js'

/**
 * Waits until nothing waits in the store: a node that has not loaded the shards of terminated nodes yet does not know what is
 * left there.
 *
 * @param {import('./history.js').History} history
 * @param {import('./nodes.js').NodeProcess} node the last one, which is idle as far as it knows
 * @param {{ readonly connectionString: string, readonly schema: string }} location
 */
export async function waitUntilEmpty(history, node, { connectionString, schema }) {
  const client = new pg.Client({ connectionString })
  await client.connect()
  const text = `select not exists (select from "${schema}".waiting) as "isEmpty"`
  await waitUntil(history, node, 'deliveries wait in the store', async () => {
    const { rows } = await client.query(text)
    return rows[0].isEmpty
  })
  await client.end()
}
