import fc from 'fast-check'
import type { Delivery, NewEvent, Settlement, Store, Webhook } from 'hookswitch/store'
import type { ManualClock } from 'hookswitch/testkit'
import {
  newDelivery,
  newEvent,
  newRecord,
  newWebhook,
  WALL_MS,
} from '../../../src/store/conformance/fixtures.js'

/** Histories of what happens to deliveries, for two stores that must agree on all of it. */
export const OWNER = 'node'

export function settlementOf(
  delivery: Delivery,
  state: Settlement['next']['state'],
  now: number,
): Settlement {
  return {
    owner: OWNER,
    deliveryId: delivery.id,
    webhookId: delivery.webhookId,
    expect: { state: delivery.state as 'waiting' | 'in_flight', fence: delivery.fence },
    next: {
      state,
      attempts: delivery.attempts + 1,
      tries: delivery.tries + 1,
      interruptions: 0,
      ...(state === 'waiting' ? { dueMs: now + 500 } : {}),
    },
    record: newRecord(delivery, { id: `${delivery.id}/${delivery.attempts + 1}`, atMs: now }),
  }
}

/** What both stores are asked, one after the other. */
export interface World {
  names: number
  readonly webhooks: Map<string, Webhook>
  readonly events: NewEvent[]
}
export interface PlannedStep {
  readonly words: string
  plan(world: World): (store: Store, clock: ManualClock) => Promise<unknown>
  readonly [fc.toStringMethod]: () => string
}
const step = (words: string, plan: PlannedStep['plan']): PlannedStep => ({
  words,
  plan,
  [fc.toStringMethod]: () => words,
})

export const ACCOUNTS = ['account', 'parent']
const name = fc.constantFrom('w0', 'w1', 'w2')
const callId = fc.constantFrom('a', 'b', 'c')
/** A call is one account's: of what two accounts know of one call the stores do not keep count alike. */
const callOfAccount = fc.constantFrom('account-a', 'account-b', 'parent-a', 'parent-c')
const some = <T>(list: readonly T[], index: number): T | undefined => list[index % Math.max(1, list.length)]
const drained = async (removing: () => Promise<number>) => {
  while ((await removing()) > 0) {}
}

export const steps: fc.Arbitrary<PlannedStep> = fc.oneof(
  fc.record({ name, account: fc.constantFrom(...ACCOUNTS), ordered: fc.boolean() }).map((given) =>
    step(`webhook ${given.name} of ${given.account}`, (world) => {
      if (world.webhooks.has(given.name)) return async () => 'there'
      const settings = { ordering: given.ordered ? ('call' as const) : ('none' as const) }
      const webhook = newWebhook({ id: given.name, accountId: given.account, settings })
      world.webhooks.set(given.name, webhook)
      return (store) => store.webhooks.insert(webhook)
    }),
  ),
  {
    weight: 4,
    arbitrary: fc
      .record({ account: fc.constantFrom(...ACCOUNTS), callId, other: fc.option(callId, { nil: undefined }) })
      .map((given) =>
        step(`event of ${given.account} in ${given.callId}`, (world) => {
          world.names += 1
          const id = `event-${world.names}`
          const head = `{"id":"${id}","number":"+1555${given.callId}","sequence":`
          const event = newEvent({
            id,
            accountId: given.account,
            callId: `${given.account}-${given.callId}`,
            bodies: [{ head, tail: '}' }, { head: id }],
            ...(given.other === undefined ? {} : { otherLegCallId: `${given.account}-${given.other}` }),
          })
          world.events.push(event)
          const deliveries = [...world.webhooks.values()].map((webhook, index) =>
            newDelivery(webhook, event, { id: `${id}>${webhook.id}`, variant: index % 2 }),
          )
          return (store, clock) =>
            store.deliveries.accept({ events: [event], deliveries, maxPending: 1_000 }, clock.now())
        }),
      ),
  },
  fc.record({ name, nth: fc.nat(9) }).map((given) =>
    step(`replay ${given.nth} to ${given.name}`, (world) => {
      const [webhook, event] = [world.webhooks.get(given.name), some(world.events, given.nth)]
      if (!webhook || !event) return async () => 'nothing'
      world.names += 1
      const [id, lane, replayOf] = [
        `replay-${world.names}`,
        `own-${world.names}`,
        `${event.id}>${webhook.id}`,
      ]
      const deliveries = [newDelivery(webhook, event, { id, lane, replayOf })]
      return async (store, clock) => {
        if (!(await store.deliveries.delivery(webhook.accountId, replayOf))) return 'nothing'
        return store.deliveries.accept({ events: [], deliveries, maxPending: 1_000 }, clock.now())
      }
    }),
  ),
  {
    weight: 4,
    arbitrary: fc
      .record({
        room: fc.integer({ min: 1, max: 4 }),
        states: fc.array(fc.constantFrom('delivered', 'waiting', 'exhausted', 'kept'), {
          minLength: 4,
          maxLength: 4,
        }),
      })
      .map((given) =>
        step(`claim ${given.room} and settle as ${given.states}`, (world) => async (store, clock) => {
          const endpoints = [...world.webhooks.keys()].map((webhookId) => ({ webhookId, room: given.room }))
          const request = { owner: OWNER, endpoints, limit: 99, now: clock.now() }
          const claims = (await store.deliveries.claim(request)).claims.map(({ delivery }) => delivery)
          const byId = claims.toSorted((a, b) => (a.id < b.id ? -1 : 1))
          const settlements = byId.flatMap((delivery, index) => {
            const state = given.states[index % 4]!
            return state === 'kept' ? [] : settlementOf(delivery, state as 'waiting', clock.now())
          })
          const settled = await store.deliveries.settle(settlements, clock.now())
          return [byId.map(({ id }) => id), settled.map(({ kind }) => kind)]
        }),
      ),
  },
  fc.record({ name, how: fc.constantFrom('disable', 'enable', 'delete') }).map((given) =>
    step(`${given.how} ${given.name}`, (world) => {
      const before = world.webhooks.get(given.name)
      if (!before || before.deletedMs !== undefined) return async () => 'nothing'
      const { enabled } = before.settings
      const next = {
        ...before,
        settings: { ...before.settings, enabled: given.how === 'enable' },
        revision: before.revision + 1,
        epoch: before.epoch + (given.how === 'delete' || (given.how === 'disable' && enabled) ? 1 : 0),
        ...(given.how === 'delete' ? { deletedMs: WALL_MS } : {}),
      }
      world.webhooks.set(given.name, next)
      return (store) => store.webhooks.replace(next, before.revision)
    }),
  ),
  fc.constant(
    step('end what is stale', () => async (store, clock) => {
      const rows = (await store.deliveries.stale(OWNER, 99)).toSorted((a, b) => (a.id < b.id ? -1 : 1))
      const settlements = rows.map((delivery) => {
        const { record: _none, ...settlement } = settlementOf(delivery, 'cancelled', clock.now())
        return settlement
      })
      await store.deliveries.settle(settlements, clock.now())
      return rows.map(({ id }) => id)
    }),
  ),
  fc.nat(800).map((ms) =>
    step(`${ms} ms pass`, (world) => {
      // Both have the same clock: it moves for the first of them.
      let moved = false
      world.names += 1
      return async (_, clock) => {
        if (!moved) await clock.advance(ms)
        moved = true
      }
    }),
  ),
  fc.record({ keep: fc.integer({ min: 1, max: 4 }), ageMs: fc.nat(1_500) }).map((given) =>
    step(`prune to ${given.keep}, older than ${given.ageMs}`, () => (store, clock) => {
      const limits = { attemptsPerWebhook: given.keep, beforeMs: clock.now() - given.ageMs, limit: 3 }
      return drained(() => store.deliveries.prune(limits, clock.now()))
    }),
  ),
  fc
    .record({
      account: fc.constantFrom(...ACCOUNTS),
      calls: fc.option(fc.uniqueArray(callOfAccount, { minLength: 1 })),
    })
    .map(({ account, calls }) =>
      step(`erase ${calls ?? 'all'} of ${account}`, (world) => {
        if (!calls) {
          for (const [key, { accountId, deletedMs }] of world.webhooks) {
            if (accountId === account && deletedMs !== undefined) world.webhooks.delete(key)
          }
        }
        const what = { accountId: account, ...(calls ? { callIds: calls } : {}) }
        return (store) => drained(() => store.deliveries.erase(what, 2))
      }),
    ),
)
