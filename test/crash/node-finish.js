// @ts-check
/** The end of a round: waits for all deliveries to end, and replays those that were not delivered. A node that waits long says what it sees. */
import { sleep } from './load.js'

const POLL_MS = 20
/** A node whose count of deliveries has not changed for this time logs its own state, ms. */
const SILENT_MS = 10_000
const MAX_DELIVERIES = 1000
const UNDELIVERED_STATES = /** @type {const} */ (['exhausted', 'expired', 'cancelled', 'quarantined'])

/**
 * @param {import('hookswitch').Hookswitch} hs
 * @param {() => Promise<number>} countPending
 * @param {AbortSignal} terminated aborted when the node is terminated before it is done
 * @param {(line: string) => void} log
 * @returns {Promise<import('./history.js').Undelivered[]>}
 */
export async function finish(hs, countPending, terminated, log) {
  const waitUntilIdle = async () => {
    let [last, since] = [Number.NaN, performance.now()]
    while (!terminated.aborted) {
      const pending = await countPending()
      if (pending === 0) return
      if (!Object.is(pending, last)) [last, since] = [pending, performance.now()]
      if (performance.now() - since > SILENT_MS) {
        log(`${pending} deliveries have not ended: ${JSON.stringify(hs.nodeHealth())}`)
        since = Number.POSITIVE_INFINITY
      }
      await sleep(POLL_MS)
    }
  }
  await waitUntilIdle()
  /** @type {import('./history.js').Undelivered[]} */
  const all = []
  for (const account of await hs.accounts.list()) {
    for (const { id, name } of await hs.webhooks.list(account.id)) {
      all.push(...(await replayUndelivered(hs, account.id, id, `${account.id}/${name}`)))
    }
  }
  await waitUntilIdle()
  return all
}

/**
 * @param {import('hookswitch').Hookswitch} hs
 * @param {string} accountId
 * @param {string} webhookId
 * @param {string} webhook
 */
async function replayUndelivered(hs, accountId, webhookId, webhook) {
  /** @type {import('./history.js').Undelivered[]} */
  const undelivered = []
  const query = { states: UNDELIVERED_STATES, limit: MAX_DELIVERIES }
  const deliveries = await hs.webhooks.deliveries(accountId, webhookId, query)
  for (const { id: delivery, eventId: event, state, reason = '' } of deliveries) {
    const replay = await hs.webhooks.replay(accountId, webhookId, delivery)
    undelivered.push({ delivery, webhook, event, state, reason, replay })
  }
  return undelivered
}
