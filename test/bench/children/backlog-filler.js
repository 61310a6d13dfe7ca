/** Fills a store with waiting deliveries, without sending anything. */
import { backlogLayout, PER_ACCOUNT } from '../backlog-layout.js'
import { handleRequests } from '../processes.js'
import { createAccounts, createStore, forEachConcurrently, LOG, startInstance } from './instance.js'
import { acceptanceOf, failedSettlement, newEvent } from './store-records.js'

const EVENTS_PER_CALL = 10
/** Events of one `accept`, which has ten deliveries for each. */
const EVENTS_PER_BATCH = 100
/** Concurrent calls of `accept` and of `claim`. */
const CONCURRENCY = 4
const CLAIMS_PER_BATCH = 100
const OWNER = 'backlog-filler'
const LEASE_MS = 3_600_000
const DAY_MS = 86_400_000

/** @returns {Promise<Map<string, object[]>>} the webhooks of each account */
async function webhooksOf(store, accountIds) {
  const lists = new Map()
  for (const id of accountIds) lists.set(id, await store.webhooks.list([id]))
  return lists
}

const namesOf = (kind, { accounts }) => Array.from({ length: accounts }, (_, index) => `${kind}-${index}`)

function* batchesOf(items, size) {
  let batch = []
  for (const item of items) {
    batch.push(item)
    if (batch.length < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** The first event of every account, then the second of every account, and so on: dead and healthy accounts mixed. */
function* interleaveEvents(parts) {
  const end = Math.max(...parts.map(({ last }) => last))
  for (let index = 0; index < end; index += 1) {
    for (const { names, first, last } of parts) {
      if (index >= first && index < last) for (const name of names) yield [name, index]
    }
  }
}

/** Accepts events for all webhooks of their accounts. */
const acceptAll = (store, webhooks, events, now) =>
  forEachConcurrently(
    batchesOf(events, EVENTS_PER_BATCH),
    (batch) => {
      const parts = batch.map(([name, index]) => [newEvent(name, index, EVENTS_PER_CALL), webhooks.get(name)])
      return store.deliveries.accept(acceptanceOf(parts), now)
    },
    CONCURRENCY,
  )

/** Settles one failed attempt of each endpoint, which opens its circuit breaker for a day. */
const openBreakers = (store, webhookIds, now) =>
  forEachConcurrently(
    batchesOf(webhookIds, CLAIMS_PER_BATCH),
    async (batch) => {
      const endpoints = batch.map((webhookId) => ({ webhookId, slots: 1 }))
      const { claims } = await store.deliveries.claim({ owner: OWNER, endpoints, limit: batch.length, now })
      if (claims.length < batch.length) throw new Error(`claimed ${claims.length} of ${batch.length}`)
      const settlements = claims.map((claim) => failedSettlement(OWNER, claim, now, now + DAY_MS))
      await store.deliveries.settle(settlements, now)
    },
    CONCURRENCY,
  )

/** Creates accounts with webhooks: dead ones on a closed port, healthy ones on the receiver's port. */
async function setUp(location, layout, port) {
  const hs = await startInstance(location)
  for (const [kind, { accounts }] of Object.entries(layout)) {
    await createAccounts(hs, {
      accounts,
      perAccount: PER_ACCOUNT,
      nameOf: (account) => `${kind}-${account}`,
      settings: (account, index) => ({
        uri:
          kind === 'dead'
            ? `http://dead-${account}-${index}.localhost:9/hooks`
            : `http://127.0.0.1:${port}/hooks/${account}/${index}`,
        hook: 'channel_answer',
      }),
    })
  }
  await hs.close()
}

handleRequests({
  /** @param {{ location: import('../stores.js').StoreLocation, pending: number, port: number }} input */
  async fill({ location, pending, port }) {
    const layout = backlogLayout(pending)
    await setUp(location, layout, port)
    const store = await createStore(location)
    const { systemClock } = await import('hookswitch')
    await store.open({ clock: systemClock(), log: LOG })
    const { storeMs: now } = await store.deliveries.own(OWNER, LEASE_MS)
    const [dead, healthy] = [namesOf('dead', layout.dead), namesOf('healthy', layout.healthy)]
    const webhooks = await webhooksOf(store, [...dead, ...healthy])
    const started = performance.now()
    const part = (names, first, last) => ({ names, first, last })
    await acceptAll(store, webhooks, interleaveEvents([part(dead, 0, 1)]), now)
    const deadIds = dead.flatMap((name) => webhooks.get(name).map(({ id }) => id))
    await openBreakers(store, deadIds, now + 1)
    const rest = [part(dead, 1, layout.dead.events), part(healthy, 0, layout.healthy.events)]
    await acceptAll(store, webhooks, interleaveEvents(rest), now)
    const ms = performance.now() - started
    const waiting = await store.deliveries.pending()
    await store.deliveries.release(OWNER)
    await store.close()
    return { pending: waiting, ms }
  },
})
