/** Fills a store with waiting deliveries, without sending anything. */
import { backlogLayout, PER_ACCOUNT } from '../backlog-layout.js'
import { handleRequests } from '../processes.js'
import { createAccounts, createStore, LOG, startInstance } from './instance.js'
import { acceptanceOf, failedSettlement, groupOf, newEvent, takeAll } from './store-records.js'

const EVENTS_PER_CALL = 10
/** Events of one group, which has ten deliveries for each. */
const EVENTS_PER_GROUP = 400
const SETTLEMENTS_PER_GROUP = 500
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

/** Accepts events for all webhooks of their accounts. Returns the number of deliveries; `onAccepted` gets them. */
async function acceptAll(commit, webhooks, events, onAccepted = () => {}) {
  let count = 0
  for (const batch of batchesOf(events, EVENTS_PER_GROUP)) {
    const parts = batch.map(([name, index]) => [newEvent(name, index, EVENTS_PER_CALL), webhooks.get(name)])
    const acceptance = acceptanceOf(parts)
    const [result] = (await commit({ accepted: [acceptance] })).accepted
    if (result.kind === 'refused') throw result.error
    onAccepted(acceptance.deliveries)
    count += acceptance.deliveries.length
  }
  return count
}

/** Settles a failed attempt of each delivery, which opens the circuit breaker of its endpoint for a day. */
async function openBreakers(commit, deliveries, now) {
  for (const batch of batchesOf(deliveries, SETTLEMENTS_PER_GROUP)) {
    const { ended } = await commit({
      ended: batch.map((delivery) => failedSettlement(delivery, now, now + DAY_MS)),
    })
    if (ended.some(({ kind }) => kind !== 'settled')) throw new Error('a settlement was fenced')
  }
}

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
    const { systemClock } = await import('hookswitch/adapter')
    await store.open({ clock: systemClock(), log: LOG })
    const { lease, version } = await takeAll(store, OWNER, LEASE_MS)
    const now = lease.storeMs
    const commit = async (parts) => {
      const result = await store.deliveries.commit(groupOf({ lease, version, now, ...parts }))
      if (result.kind !== 'committed') throw new Error(`a group was ${result.kind}`)
      return result
    }
    const [dead, healthy] = [namesOf('dead', layout.dead), namesOf('healthy', layout.healthy)]
    const webhooks = await webhooksOf(store, [...dead, ...healthy])
    const started = performance.now()
    const part = (names, first, last) => ({ names, first, last })
    const failing = []
    let waiting = await acceptAll(commit, webhooks, interleaveEvents([part(dead, 0, 1)]), (deliveries) => {
      failing.push(...deliveries)
    })
    await openBreakers(commit, failing, now)
    const rest = [part(dead, 1, layout.dead.events), part(healthy, 0, layout.healthy.events)]
    waiting += await acceptAll(commit, webhooks, interleaveEvents(rest))
    const ms = performance.now() - started
    await store.deliveries.release(OWNER)
    await store.close()
    return { pending: waiting, ms }
  },
})
