/** Measures a store alone: writes groups as a busy node does, without sending anything. */
import { PER_ACCOUNT } from '../backlog-layout.js'
import { handleRequests } from '../processes.js'
import { createStore, LOG } from './instance.js'
import { acceptanceOf, deliveredSettlement, groupOf, newEvent, startOf, takeAll } from './store-records.js'

/** Deliveries that a group accepts and starts, and as many that it ends. */
const GROUP = 100
const OWNER = 'group-cycles'
const LEASE_MS = 3_600_000

let store
let node
let now
/** Accounts with endpoints that are not paused, with their webhooks. */
let accounts = []
let nextIndex = 0
let events = 0
let lastKey = 0
/** What the last group has started. */
let started = []

/** The next accounts, round robin. */
function nextAccounts(count) {
  const picked = Array.from({ length: count }, (_, index) => accounts[(nextIndex + index) % accounts.length])
  nextIndex += count
  return picked
}

/** The result of some work, and its duration in ms. */
async function measure(work) {
  const began = performance.now()
  const result = await work()
  return [result, performance.now() - began]
}

/** Accepts an event for each of ten accounts, starts its deliveries, and ends those of the group before. */
async function cycle() {
  // New calls, so that their deliveries do not queue behind the waiting ones.
  const parts = nextAccounts(GROUP / PER_ACCOUNT).map(([name, webhooks]) => [
    newEvent(name, 1e9 + events++, 1),
    webhooks,
  ])
  const acceptance = acceptanceOf(parts)
  const group = groupOf({
    ...node,
    now: now(),
    accepted: [acceptance],
    ended: started.map(deliveredSettlement),
    starting: { key: lastKey + 1, deliveries: acceptance.deliveries.map(startOf) },
    finished: lastKey === 0 ? [] : [lastKey],
  })
  const [result, ms] = await measure(() => store.deliveries.commit(group))
  if (result.kind !== 'committed') throw new Error(`a group was ${result.kind}`)
  if (result.accepted.some(({ kind }) => kind !== 'accepted') || result.notStarted.length > 0)
    throw new Error('a part of a group was refused')
  if (result.ended.some(({ kind }) => kind !== 'settled')) throw new Error('a settlement was fenced')
  started = acceptance.deliveries
  lastKey += 1
  return ms
}

handleRequests(
  {
    /** Opens a filled store; measures how long it takes to read what waits. */
    async open({ location }) {
      const { systemClock } = await import('hookswitch/adapter')
      store = await createStore(location)
      await store.open({ clock: systemClock(), log: LOG })
      const [taken, loadMs] = await measure(() => takeAll(store, OWNER, LEASE_MS))
      const { lease, version, parts } = taken
      node = { lease, version }
      const clockOffsetMs = lease.storeMs - performance.now()
      now = () => performance.now() + clockOffsetMs
      const byAccount = new Map()
      const seen = new Set()
      for (const { id, accountId, health } of parts.flatMap(({ webhooks }) => webhooks)) {
        if (seen.has(id) || (health?.pausedUntilMs ?? 0) > now()) continue
        seen.add(id)
        byAccount.set(accountId, [...(byAccount.get(accountId) ?? []), { id, accountId }])
      }
      accounts = [...byAccount]
      const deliveries = parts.reduce((sum, { waiting }) => sum + waiting.count, 0)
      return { loadMs, deliveries }
    },
    /** @param {{ count?: number, ms?: number }} input number of groups, or their total duration */
    async cycles({ count = Number.POSITIVE_INFINITY, ms = Number.POSITIVE_INFINITY }) {
      const groupMs = []
      const began = performance.now()
      while (groupMs.length < count && performance.now() - began < ms) groupMs.push(await cycle())
      return { groupMs, perSecond: (groupMs.length * GROUP * 1000) / (performance.now() - began) }
    },
  },
  async () => {
    await store?.deliveries.release(OWNER)
    await store?.close()
  },
)
