// @ts-check
/** The end of a round: all deliveries end, and what was given up is sent again. */
import { sleep } from './load.js'

const LOOK_EVERY_MS = 20
const MOST = 1000
const OTHER_ENDS = /** @type {const} */ (['exhausted', 'expired', 'cancelled', 'quarantined'])

/**
 * @param {import('hookswitch').Hookswitch} hs
 * @param {() => Promise<number>} pending
 * @param {AbortSignal} ending it is asked to end before it is done
 * @returns {Promise<import('./ledger.js').GivenUp[]>}
 */
export async function finish(hs, pending, ending) {
  const quiet = async () => {
    while (!ending.aborted && (await pending()) !== 0) await sleep(LOOK_EVERY_MS)
  }
  await quiet()
  /** @type {import('./ledger.js').GivenUp[]} */
  const all = []
  for (const account of await hs.accounts.list()) {
    for (const { id, name } of await hs.webhooks.list(account.id)) {
      all.push(...(await sendAgain(hs, account.id, id, `${account.id}/${name}`)))
    }
  }
  await quiet()
  return all
}

/**
 * @param {import('hookswitch').Hookswitch} hs
 * @param {string} accountId
 * @param {string} webhookId
 * @param {string} webhook
 */
async function sendAgain(hs, accountId, webhookId, webhook) {
  /** @type {import('./ledger.js').GivenUp[]} */
  const found = []
  const deliveries = await hs.webhooks.deliveries(accountId, webhookId, { states: OTHER_ENDS, limit: MOST })
  for (const { id: delivery, eventId: event, state, reason = '' } of deliveries) {
    const [replay] = await hs.webhooks.replay(accountId, webhookId, { deliveryId: delivery })
    found.push({ delivery, webhook, event, state, reason, ...(replay !== undefined && { replay }) })
  }
  return found
}
