/** Fills a store with deliveries that wait, and leaves it: nothing is sent. */
import { backlogOf, PER_ACCOUNT } from '../backlog-shape.js'
import { answerParent } from '../processes.js'
import { acceptanceOf, brokenOff, newEvent } from './acceptances.js'
import { LOG, makeAccounts, startInstance, storeOf, workThrough } from './instance.js'

const EVENTS_OF_CALL = 10
/** Events of one acceptance: a thousand deliveries. */
const EVENTS_AT_ONCE = 100
/** Acceptances and claims under way at once. */
const AT_ONCE = 4
const CLAIMED_AT_ONCE = 100
const OWNER = 'the filler'
const LEASE_MS = 3_600_000
const DAY_MS = 86_400_000

/** @returns {Promise<Map<string, object[]>>} the webhooks of each account */
async function webhooksOf(store, accountIds) {
  const lists = new Map()
  for (const id of accountIds) lists.set(id, await store.webhooks.list([id]))
  return lists
}

const namesOf = (kind, { accounts }) => Array.from({ length: accounts }, (_, index) => `${kind}-${index}`)

function* groupsOf(items, size) {
  let group = []
  for (const item of items) {
    group.push(item)
    if (group.length < size) continue
    yield group
    group = []
  }
  if (group.length > 0) yield group
}

/** Every account's first event, then every account's second, … until each has its number: all kinds mixed. */
function* turnsOf(kinds) {
  const most = Math.max(...kinds.map(({ last }) => last))
  for (let index = 0; index < most; index += 1) {
    for (const { names, first, last } of kinds) {
      if (index >= first && index < last) for (const name of names) yield [name, index]
    }
  }
}

/** Accepts these events for all webhooks of their accounts. */
const acceptAll = (store, webhooks, turns, now) =>
  workThrough(
    groupsOf(turns, EVENTS_AT_ONCE),
    (group) => {
      const parts = group.map(([name, index]) => [newEvent(name, index, EVENTS_OF_CALL), webhooks.get(name)])
      return store.deliveries.accept(acceptanceOf(parts), now)
    },
    AT_ONCE,
  )

/** One attempt of each of these endpoints, after which all of them are left alone for a day. */
const breakOff = (store, webhookIds, now) =>
  workThrough(
    groupsOf(webhookIds, CLAIMED_AT_ONCE),
    async (group) => {
      const endpoints = group.map((webhookId) => ({ webhookId, room: 1 }))
      const { claims } = await store.deliveries.claim({ owner: OWNER, endpoints, limit: group.length, now })
      if (claims.length < group.length) throw new Error(`claimed ${claims.length} of ${group.length}`)
      const settlements = claims.map((claim) => brokenOff(OWNER, claim, now, now + DAY_MS))
      await store.deliveries.settle(settlements, now)
    },
    AT_ONCE,
  )

/** Accounts with webhooks: dead ones nowhere, healthy ones at the receiver's port. */
async function setUp(place, shape, port) {
  const hs = await startInstance(place)
  for (const [kind, { accounts }] of Object.entries(shape)) {
    await makeAccounts(hs, {
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

answerParent({
  /** @param {{ place: import('../places.js').Place, pending: number, port: number }} input see `backlogOf` */
  async fill({ place, pending, port }) {
    const shape = backlogOf(pending)
    await setUp(place, shape, port)
    const store = await storeOf(place)
    const { systemClock } = await import('hookswitch')
    await store.open({ clock: systemClock(), log: LOG })
    const { storeMs: now } = await store.deliveries.own(OWNER, LEASE_MS)
    const [dead, healthy] = [namesOf('dead', shape.dead), namesOf('healthy', shape.healthy)]
    const webhooks = await webhooksOf(store, [...dead, ...healthy])
    const started = performance.now()
    const part = (names, first, last) => ({ names, first, last })
    await acceptAll(store, webhooks, turnsOf([part(dead, 0, 1)]), now)
    const deadIds = dead.flatMap((name) => webhooks.get(name).map(({ id }) => id))
    await breakOff(store, deadIds, now + 1)
    const rest = [part(dead, 1, shape.dead.events), part(healthy, 0, shape.healthy.events)]
    await acceptAll(store, webhooks, turnsOf(rest), now)
    const ms = performance.now() - started
    const waiting = await store.deliveries.pending()
    await store.deliveries.release(OWNER)
    await store.close()
    return { pending: waiting, ms }
  },
})
