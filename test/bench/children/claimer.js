/** What a store takes for its part in deliveries: accept, claim and settle, a hundred at a time, nothing sent. */
import { PER_ACCOUNT } from '../backlog-shape.js'
import { answerParent } from '../processes.js'
import { acceptanceOf, delivered, newEvent } from './acceptances.js'
import { LOG, storeOf } from './instance.js'

const GROUP = 100
const OWNER = 'the claimer'
const LEASE_MS = 3_600_000

let store
let now
/** Accounts with what is due, with their webhooks. */
let accounts = []
let turn = 0
let events = 0

/** The next accounts in turn. */
function nextAccounts(count) {
  const picked = Array.from({ length: count }, (_, index) => accounts[(turn + index) % accounts.length])
  turn += count
  return picked
}

async function millisecondsOf(work) {
  const started = performance.now()
  const result = await work()
  return [result, performance.now() - started]
}

/** As much comes as goes: one event for each of some accounts, one head of each of their endpoints. */
async function cycle() {
  const picked = nextAccounts(GROUP / PER_ACCOUNT)
  const at = now()
  // Calls of their own, behind those that wait.
  const parts = picked.map(([name, webhooks]) => [newEvent(name, 1e9 + events++, 1), webhooks])
  const [, acceptMs] = await millisecondsOf(() => store.deliveries.accept(acceptanceOf(parts), at))
  const endpoints = picked.flatMap(([, webhooks]) => webhooks.map(({ id }) => ({ webhookId: id, room: 1 })))
  const request = { owner: OWNER, endpoints, limit: GROUP, now: at }
  const [{ claims }, claimMs] = await millisecondsOf(() => store.deliveries.claim(request))
  if (claims.length !== GROUP) throw new Error(`claimed ${claims.length} of ${GROUP}`)
  const settlements = claims.map((claim) => delivered(OWNER, claim))
  const [settled, settleMs] = await millisecondsOf(() => store.deliveries.settle(settlements, now()))
  if (settled.some(({ kind }) => kind !== 'settled')) throw new Error('a settlement was fenced')
  return { acceptMs, claimMs, settleMs }
}

answerParent(
  {
    /** Opens a filled place; how long it takes to find what is due. */
    async open({ place }) {
      const { systemClock } = await import('hookswitch')
      store = await storeOf(place)
      await store.open({ clock: systemClock(), log: LOG })
      const { storeMs } = await store.deliveries.own(OWNER, LEASE_MS)
      const aheadMs = storeMs - performance.now()
      now = () => performance.now() + aheadMs
      const [ready, readyMs] = await millisecondsOf(() => store.deliveries.ready(OWNER))
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
    /** @param {{ count?: number, ms?: number }} input so many, or for so long */
    async cycles({ count = Number.POSITIVE_INFINITY, ms = Number.POSITIVE_INFINITY }) {
      const done = []
      const started = performance.now()
      while (done.length < count && performance.now() - started < ms) done.push(await cycle())
      const of = (name) => done.map((times) => times[name])
      return {
        acceptMs: of('acceptMs'),
        claimMs: of('claimMs'),
        settleMs: of('settleMs'),
        perSecond: (done.length * GROUP * 1000) / (performance.now() - started),
      }
    },
  },
  async () => {
    await store?.deliveries.release(OWNER)
    await store?.close()
  },
)
