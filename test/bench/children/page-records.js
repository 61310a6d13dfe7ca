/** Fills a store with the webhooks, attempts and statistics of an account that a page shows. Sends nothing. */
import { forEachConcurrently, LOG, startWithStore } from './instance.js'
import { writePast } from './past-statistics.js'
import {
  acceptanceOf,
  deliveredSettlement,
  groupOf,
  newEvent,
  settlementOf,
  startOf,
  takeAll,
} from './store-records.js'

export const ACCOUNT = 'bench'
const BRANCHES = 1_000
const WEBHOOKS_PER_EVENT = 20
const EVENTS_PER_CALL = 5
const EVENTS_PER_GROUP = 50
/** Every tenth delivery is one to the busiest webhook. */
const BUSY_SHARE = 10
/** Of a hundred webhooks three fail: one of them is paused, and one was disabled. */
const FAILING_SHARE = 100
/** Every 200th attempt of the busiest webhook fails. */
const BUSY_FAILURES = 200
const PENDING = 1_500
const OWNER = 'page-records'
const LEASE_MS = 3_600_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

const stateOf = (index) => ['failing', 'paused', 'disabled'][index % FAILING_SHARE] ?? 'ok'

async function createWebhooks(store, webhooks) {
  const hs = await startWithStore(store)
  await hs.accounts.create({ id: ACCOUNT, name: 'Bench', realm: 'bench.example.com' })
  const range = (count) => Array.from({ length: count }, (_, index) => index)
  await forEachConcurrently(range(BRANCHES), (index) => {
    const id = `branch-${index}`
    return hs.accounts.create({ id, name: `Branch ${index}`, realm: `${id}.example.com`, parentId: ACCOUNT })
  })
  const created = []
  await forEachConcurrently(range(webhooks), async (index) => {
    const { id } = await hs.webhooks.create(ACCOUNT, {
      name: `Receiver ${String(index).padStart(5, '0')}`,
      uri: `https://hooks-${index}.example.com/calls`,
      hook: 'channel_answer',
      ...(index % 7 === 0 && { group: `group ${index % 11}` }),
    })
    created[index] = { id, accountId: ACCOUNT }
  })
  await hs.close()
  return created
}

const failure = (delivery) =>
  settlementOf(
    delivery,
    { state: 'exhausted', reason: 'bad status' },
    {
      result: 'failure',
      reason: 'bad status',
      status: 503,
      responseHeaders: ['content-type', 'application/json'],
      responseBody: '{"error":"pool exhausted"}',
    },
  )

/** The settlement after which a webhook fails, or is paused. */
function lastSettlement(delivery, state, now) {
  const health = {
    failuresInRow: 12,
    failingSinceMs: now - HOUR_MS,
    ...(state === 'paused' && { openings: 1, pausedUntilMs: now + DAY_MS }),
  }
  return { ...failure(delivery), endpoint: { epoch: 1, health } }
}

/** Disables a webhook as the service does. */
async function disable(store, { id, accountId }) {
  const webhook = await store.webhooks.read(accountId, id)
  const { settings, revision, epoch } = webhook
  const disabled = {
    ...webhook,
    settings: { ...settings, enabled: false },
    disableReason: 'too many failed attempts',
    disabledMs: Date.now(),
    revision: revision + 1,
    epoch: epoch + 1,
  }
  if (!(await store.webhooks.replace(disabled, revision))) throw new Error('a webhook was not disabled')
}

/**
 * @param {import('hookswitch/store').Store} store is closed afterwards
 * @param {{ webhooks: number, attempts: number }} size
 * @returns ids for requests
 */
export async function fillPage(store, size) {
  const webhooks = await createWebhooks(store, size.webhooks)
  const { systemClock } = await import('hookswitch/adapter')
  await store.open({ clock: systemClock(), log: LOG })
  const { lease, version } = await takeAll(store, OWNER, LEASE_MS)
  const now = lease.storeMs
  let key = 0
  async function commit(acceptance, ended) {
    key += 1
    const starting = { key, deliveries: acceptance.deliveries.map(startOf) }
    const group = { lease, version, now, accepted: [acceptance], ...(ended && { starting }) }
    const accepted = await store.deliveries.commit(groupOf(group))
    if (accepted.kind !== 'committed') throw new Error(`a group was ${accepted.kind}`)
    if (accepted.accepted.some(({ kind }) => kind !== 'accepted')) throw new Error('a part was refused')
    if (!ended) return
    const settled = await store.deliveries.commit(groupOf({ lease, version, now, ended, finished: [key] }))
    if (settled.ended.some(({ kind }) => kind !== 'settled')) throw new Error('a settlement was fenced')
  }

  const busy = { index: 50, webhook: webhooks[50] }
  let next = 0
  const pick = () => {
    const index = next % webhooks.length
    next += 1
    return { index, webhook: webhooks[index] }
  }
  const perEvent = Math.min(WEBHOOKS_PER_EVENT, webhooks.length)
  const events = Math.ceil(size.attempts / perEvent)
  const example = {}
  for (let first = 0; first < events; first += EVENTS_PER_GROUP) {
    const indexes = new Map()
    const parts = []
    for (let index = first; index < Math.min(first + EVENTS_PER_GROUP, events); index += 1) {
      const targets = new Map()
      for (let nth = 0; nth < perEvent; nth += 1) {
        const target = nth % BUSY_SHARE === 0 ? busy : pick()
        targets.set(target.index, target.webhook)
      }
      for (const [position, { id }] of targets) indexes.set(id, position)
      parts.push([newEvent(ACCOUNT, index, EVENTS_PER_CALL), [...targets.values()]])
    }
    const acceptance = acceptanceOf(parts)
    const ended = acceptance.deliveries.map((delivery, nth) => {
      const fails =
        stateOf(indexes.get(delivery.webhookId)) !== 'ok' ||
        (delivery.webhookId === busy.webhook.id && (first + nth) % BUSY_FAILURES === 0)
      return fails ? failure(delivery) : deliveredSettlement(delivery)
    })
    await commit(acceptance, ended)
    const failed = acceptance.deliveries.find(({ webhookId }) => stateOf(indexes.get(webhookId)) !== 'ok')
    Object.assign(example, failed && { deliveryId: failed.id, callId: failed.callId })
  }
  // One more failure of each webhook that is not ok, with its health, and what waits for those that are paused.
  const broken = webhooks.flatMap((webhook, index) =>
    stateOf(index) === 'ok' ? [] : [{ webhook, state: stateOf(index) }],
  )
  const paused = broken.filter(({ state }) => state === 'paused')
  for (const [nth, { webhook }] of paused.slice(0, 5).entries()) {
    const waiting = Array.from({ length: nth === 0 ? PENDING : 10 }, (_, index) => index)
    await commit(acceptanceOf(waiting.map((index) => [newEvent(ACCOUNT, 1e8 + index, 5), [webhook]])))
  }
  for (const { webhook, state } of broken) {
    if (state === 'disabled') continue
    const acceptance = acceptanceOf([[newEvent(ACCOUNT, 2e8, 5), [webhook]]])
    await commit(acceptance, [lastSettlement(acceptance.deliveries[0], state, now)])
  }
  const share = (webhookId, attempts, failedShare = 0) => ({
    accountId: ACCOUNT,
    webhookId,
    attempts,
    failedShare,
  })
  const each = size.attempts / webhooks.length
  await writePast(
    store,
    webhooks.map(({ id }, index) => share(id, each, stateOf(index) === 'ok' ? 0 : 1)),
    { hours: 24, minutes: 0 },
  )
  await store.deliveries.release(OWNER)
  for (const { webhook, state } of broken) if (state === 'disabled') await disable(store, webhook)
  await store.close()
  const failing = broken.find(({ state }) => state === 'failing').webhook
  return { ...example, busyId: busy.webhook.id, failingId: failing.id, pausedId: paused[0].webhook.id }
}
