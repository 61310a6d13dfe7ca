// @ts-check
/** The end of a round: waits for all deliveries to end, and replays those that were not delivered. */
import { sleep } from './load.js'

const POLL_MS = 20
const MAX_DELIVERIES = 1000
const UNDELIVERED_STATES = /** @type {const} */ (['exhausted', 'expired', 'cancelled', 'quarantined'])

/**
 * @param {import('hookswitch').Hookswitch} hs
 * @param {() => Promise<number>} countPending
 * @param {AbortSignal} terminated aborted when the node is terminated before it is done
 * @returns {Promise<import('./history.js').Undelivered[]>}
 */
export async function finish(hs, countPending, terminated) {
  const waitUntilIdle = async () => {
    while (!terminated.aborted && (await countPending()) !== 0) await sleep(POLL_MS)
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
