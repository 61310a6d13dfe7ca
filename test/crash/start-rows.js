// @ts-check
/**
 * The starts of nodes that do not run, as PostgreSQL has them: what may be sent twice. Read again and again, because the
 * statement of a paused node may be committed after it was paused, and the next owner removes what it has settled.
 */
import pg from 'pg'
import { nowMicros, sleep } from './load.js'

const POLL_MS = 25
/** Bytes of an entry: key of the webhook (4), position (8), number of the attempt (4). */
const ENTRY_BYTES = 16

/**
 * @param {import('./history.js').History} history its `named` gets `webhook event` of each start, its `leases` say whose it is
 * @param {import('./open-store.js').StoreLocation} location
 */
export async function watchStarts(history, location) {
  if (location.kind !== 'postgres') throw new Error('only PostgreSQL can be read while nodes use it')
  const client = new pg.Client({ connectionString: location.connectionString })
  await client.connect()
  const schema = `"${location.schema}"`
  /** @type {Map<number, string>} */
  const webhooks = new Map()
  /** @type {Map<number, string>} */
  const events = new Map()
  const named = new Set()
  history.named = named
  let isOver = false

  function stoppedFences() {
    const stopped = new Set(
      history.stops
        .filter(({ how, until }) => how === 'killed' || until > nowMicros())
        .map(({ node }) => node),
    )
    return history.leases.filter(({ node }) => stopped.has(node)).map(({ fence }) => fence)
  }

  /** @param {ReadonlySet<number>} keys @param {ReadonlySet<number>} positions */
  async function readNames(keys, positions) {
    const newKeys = [...keys].filter((key) => !webhooks.has(key))
    const newPositions = [...positions].filter((position) => !events.has(position))
    if (newKeys.length > 0) {
      const text = `select key, account_id || '/' || (doc::json -> 'settings' ->> 'name') as name from ${schema}.webhook where key = any ($1)`
      for (const { key, name } of (await client.query(text, [newKeys])).rows) webhooks.set(key, name)
    }
    if (newPositions.length === 0) return
    const text = `select position, id from ${schema}.event where position = any ($1)`
    for (const { position, id } of (await client.query(text, [newPositions])).rows)
      events.set(Number(position), id)
  }

  async function read() {
    const fences = stoppedFences()
    if (fences.length === 0) return
    const text = `select entries from ${schema}.start where fence = any ($1)`
    /** @type {[number, number][]} */
    const starts = []
    for (const { entries } of (await client.query(text, [fences])).rows) {
      for (let at = 0; at < entries.length; at += ENTRY_BYTES)
        starts.push([entries.readInt32BE(at), Number(entries.readBigInt64BE(at + 4))])
    }
    await readNames(new Set(starts.map(([key]) => key)), new Set(starts.map(([, position]) => position)))
    for (const [key, position] of starts) named.add(`${webhooks.get(key)} ${events.get(position)}`)
  }

  const reading = (async () => {
    for (; !isOver; await sleep(POLL_MS)) await read()
  })()
  return {
    async end() {
      isOver = true
      await reading
      await client.end()
    },
  }
}
