/** Measures a store alone: accepts, claims and settles deliveries in batches of 100, without sending anything. */
import { PER_ACCOUNT } from '../backlog-layout.js'
import { handleRequests } from '../processes.js'
import { createStore, LOG } from './instance.js'
import { acceptanceOf, deliveredSettlement, newEvent } from './store-records.js'

const BATCH = 100
const OWNER = 'claim-cycles'
const LEASE_MS = 3_600_000

let store
let now
/** Accounts with due deliveries, with their webhooks. */
let accounts = []
let nextIndex = 0
let events = 0

/** The next accounts, round robin. */
function nextAccounts(count) {
  const picked = Array.from({ length: count }, (_, index) => accounts[(nextIndex + index) % accounts.length])
  nextIndex += count
  return picked
}

/** The result of some work, and its duration in ms. */
async function measure(work) {
  const started = performance.now()
  const result = await work()
  return [result, performance.now() - started]
}

/** Accepts an event for each of ten accounts and settles a head of each of their endpoints: the backlog is constant. */
async function cycle() {
  const picked = nextAccounts(BATCH / PER_ACCOUNT)
  const at = now()
  // New calls, so that their lanes queue behind the waiting ones.
  const parts = picked.map(([name, webhooks]) => [newEvent(name, 1e9 + events++, 1), webhooks])
  const [, acceptMs] = await measure(() => store.deliveries.accept(acceptanceOf(parts), at))
  const endpoints = picked.flatMap(([, webhooks]) => webhooks.map(({ id }) => ({ webhookId: id, slots: 1 })))
  const request = { owner: OWNER, endpoints, limit: BATCH, now: at }
  const [{ claims }, claimMs] = await measure(() => store.deliveries.claim(request))
  if (claims.length !== BATCH) throw new Error(`claimed ${claims.length} of ${BATCH}`)
  const settlements = claims.map((claim) => deliveredSettlement(OWNER, claim))
  const [settled, settleMs] = await measure(() => store.deliveries.settle(settlements, now()))
  if (settled.some(({ kind }) => kind !== 'settled')) throw new Error('a settlement was fenced')
  return { acceptMs, claimMs, settleMs }
}

handleRequests(
  {
    /** Opens a filled store; measures how long `ready` takes to find the due endpoints. */
    async open({ location }) {
      const { systemClock } = await import('hookswitch')
      store = await createStore(location)
      await store.open({ clock: systemClock(), log: LOG })
      const { storeMs } = await store.deliveries.own(OWNER, LEASE_MS)
      const clockOffsetMs = storeMs - performance.now()
      now = () => performance.now() + clockOffsetMs
      const [ready, readyMs] = await measure(() => store.deliveries.ready(OWNER))
      const due = ready.filter(({ dueMs }) => dueMs !== undefined && dueMs <= now())
      const byAccount = new Map()
      for (const { accountId, webhookId } of due) {
        const webhooks = byAccount.get(accountId) ?? []
        webhooks.push({ id: webhookId, accountId })
        byAccount.set(accountId, webhooks)
      }
      accounts = [...byAccount]
      return { readyMs, endpoints: ready.length, due: due.length }
    },
    /** @param {{ count?: number, ms?: number }} input number of cycles, or their total duration */
    async cycles({ count = Number.POSITIVE_INFINITY, ms = Number.POSITIVE_INFINITY }) {
      const done = []
      const started = performance.now()
      while (done.length < count && performance.now() - started < ms) done.push(await cycle())
      const of = (name) => done.map((times) => times[name])
      return {
        acceptMs: of('acceptMs'),
        claimMs: of('claimMs'),
        settleMs: of('settleMs'),
        perSecond: (done.length * BATCH * 1000) / (performance.now() - started),
      }
    },
  },
  async () => {
    await store?.deliveries.release(OWNER)
    await store?.close()
  },
)
