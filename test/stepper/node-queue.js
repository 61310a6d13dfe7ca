// @ts-check
/** The queue of a node: what it has loaded, accepted and found by polling. */
import { laneKey, shardOf } from 'hookswitch/store'

/**
 * @typedef {import('hookswitch/store').Webhook} Webhook
 * @typedef {import('hookswitch/store').WaitingDeliveries} WaitingDeliveries
 * @typedef {import('hookswitch/store').DeliveryKey} DeliveryKey
 *
 * @typedef {object} Entry a delivery that waits or is in flight
 * @property {string} webhookId
 * @property {number} position
 * @property {number} lane
 * @property {number} sequence
 * @property {number} epoch
 * @property {number} attempts
 * @property {number} dueMs
 * @property {boolean} isInFlight
 * @property {number} since the step at which the node got it
 */

/** @param {DeliveryKey} key */
export const nameOf = ({ webhookId, position }) => `${webhookId}/${position}`

export function createQueue() {
  /** @type {Map<string, Entry>} */
  const entries = new Map()
  /** @type {Map<string, Webhook>} */
  const webhooks = new Map()

  /** @param {Entry} entry */
  const isHead = (entry) => {
    for (const other of entries.values()) {
      if (other.webhookId !== entry.webhookId || other.lane !== entry.lane) continue
      if (other.sequence < entry.sequence) return false
    }
    return true
  }

  return {
    entries,
    webhooks,
    clear() {
      entries.clear()
      webhooks.clear()
    },
    /** @param {readonly Webhook[]} rows */
    learn(rows) {
      for (const row of rows) {
        const known = webhooks.get(row.id)
        if (!known || known.revision <= row.revision) webhooks.set(row.id, row)
      }
    },
    /** Adds what it does not have. @param {WaitingDeliveries} waiting @param {number} since */
    add(waiting, since) {
      for (let row = 0; row < waiting.count; row += 1) {
        const at = (/** @type {ArrayLike<number>} */ column) => column[row] ?? 0
        const entry = {
          webhookId: waiting.webhookIds[at(waiting.webhook)] ?? '',
          position: at(waiting.position),
          lane: at(waiting.lane),
          sequence: at(waiting.sequence),
          epoch: at(waiting.epoch),
          attempts: at(waiting.attempts),
          dueMs: at(waiting.dueMs),
          isInFlight: false,
          since,
        }
        if (!entries.has(nameOf(entry))) entries.set(nameOf(entry), entry)
      }
    },
    /** @param {import('hookswitch/store').NewDelivery} delivery @param {number} sequence @param {number} since */
    accepted({ webhookId, position = 0, lane, epoch }, sequence, since) {
      const key = { webhookId, position }
      if (entries.has(nameOf(key))) return
      const counts = { attempts: 0, dueMs: 0, isInFlight: false, since }
      entries.set(nameOf(key), { ...key, lane: laneKey(lane), sequence, epoch, ...counts })
    },
    /** @param {readonly number[]} shards */
    dropShards(shards) {
      for (const [name, { webhookId }] of entries)
        if (shards.includes(shardOf(webhookId))) entries.delete(name)
    },
    inFlight: () => [...entries.values()].filter(({ isInFlight }) => isInFlight),
    /** What may be started: heads that are due, of webhooks that are enabled as far as the node knows. @param {number} now */
    heads: (now) =>
      [...entries.values()].filter(
        (entry) =>
          !entry.isInFlight &&
          entry.dueMs <= now &&
          entry.epoch >= (webhooks.get(entry.webhookId)?.epoch ?? 0) &&
          isHead(entry),
      ),
    /** What waits although its webhook was disabled. */
    stale: () =>
      [...entries.values()].filter(
        ({ isInFlight, epoch, webhookId }) => !isInFlight && epoch < (webhooks.get(webhookId)?.epoch ?? 0),
      ),
  }
}
