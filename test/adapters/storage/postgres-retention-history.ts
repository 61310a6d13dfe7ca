import fc from 'fast-check'
import type { Delivery, NewEvent, Settlement, Store, Webhook } from 'hookswitch/store'
import type { ManualClock } from 'hookswitch/testkit'
import {
  newDelivery,
  newEvent,
  newRecord,
  newWebhook,
  WALL_MS,
} from '../../../src/testkit/conformance/sample-data.js'

/** Random steps in the life of deliveries, to be run on two stores that must return the same. */
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

/** The state that the next step is planned from. */
export interface HistoryState {
  nameCount: number
  readonly webhooks: Map<string, Webhook>
  readonly events: NewEvent[]
}
export interface HistoryStep {
  readonly label: string
  plan(state: HistoryState): (store: Store, clock: ManualClock) => Promise<unknown>
  readonly [fc.toStringMethod]: () => string
}
const step = (label: string, plan: HistoryStep['plan']): HistoryStep => ({
  label,
  plan,
  [fc.toStringMethod]: () => label,
})

export const ACCOUNTS = ['account', 'parent']
const name = fc.constantFrom('w0', 'w1', 'w2')
const callId = fc.constantFrom('a', 'b', 'c')
/** A call belongs to one account: the stores count a call of two accounts differently. */
const callOfAccount = fc.constantFrom('account-a', 'account-b', 'parent-a', 'parent-c')
const pick = <T>(list: readonly T[], index: number): T | undefined => list[index % Math.max(1, list.length)]
const repeatUntilDone = async (remove: () => Promise<number>) => {
  while ((await remove()) > 0) {}
}

export const steps: fc.Arbitrary<HistoryStep> = fc.oneof(
  fc.record({ name, account: fc.constantFrom(...ACCOUNTS), ordered: fc.boolean() }).map((params) =>
    step(`webhook ${params.name} of ${params.account}`, (state) => {
      if (state.webhooks.has(params.name)) return async () => 'exists already'
      const settings = { ordering: params.ordered ? ('call' as const) : ('none' as const) }
      const webhook = newWebhook({ id: params.name, accountId: params.account, settings })
      state.webhooks.set(params.name, webhook)
      return (store) => store.webhooks.insert(webhook)
    }),
  ),
  {
    weight: 4,
    arbitrary: fc
      .record({ account: fc.constantFrom(...ACCOUNTS), callId, other: fc.option(callId, { nil: undefined }) })
      .map((params) =>
        step(`event of ${params.account} in ${params.callId}`, (state) => {
          state.nameCount += 1
          const id = `event-${state.nameCount}`
          const head = `{"id":"${id}","number":"+1555${params.callId}","sequence":`
          const event = newEvent({
            id,
            accountId: params.account,
            callId: `${params.account}-${params.callId}`,
            bodies: [{ head, tail: '}' }, { head: id }],
            ...(params.other === undefined ? {} : { otherLegCallId: `${params.account}-${params.other}` }),
          })
          state.events.push(event)
          const deliveries = [...state.webhooks.values()].map((webhook, index) =>
            newDelivery(webhook, event, { id: `${id}>${webhook.id}`, variant: index % 2 }),
          )
          return (store, clock) =>
            store.deliveries.accept({ events: [event], deliveries, maxPending: 1_000 }, clock.now())
        }),
      ),
  },
  fc.record({ name, nth: fc.nat(9) }).map((params) =>
    step(`replay ${params.nth} to ${params.name}`, (state) => {
      const [webhook, event] = [state.webhooks.get(params.name), pick(state.events, params.nth)]
      if (!webhook || !event) return async () => 'skipped'
      state.nameCount += 1
      const [id, lane, replayOf] = [
        `replay-${state.nameCount}`,
        `own-${state.nameCount}`,
        `${event.id}>${webhook.id}`,
      ]
      const deliveries = [newDelivery(webhook, event, { id, lane, replayOf })]
      return async (store, clock) => {
        if (!(await store.deliveries.delivery(webhook.accountId, replayOf))) return 'skipped'
        return store.deliveries.accept({ events: [], deliveries, maxPending: 1_000 }, clock.now())
      }
    }),
  ),
  {
    weight: 4,
    arbitrary: fc
      .record({
        slots: fc.integer({ min: 1, max: 4 }),
        states: fc.array(fc.constantFrom('delivered', 'waiting', 'exhausted', 'unsettled'), {
          minLength: 4,
          maxLength: 4,
        }),
      })
      .map((params) =>
        step(`claim ${params.slots} and settle as ${params.states}`, (state) => async (store, clock) => {
          const endpoints = [...state.webhooks.keys()].map((webhookId) => ({
            webhookId,
            slots: params.slots,
          }))
          const request = { owner: OWNER, endpoints, limit: 99, now: clock.now() }
          const claims = (await store.deliveries.claim(request)).claims.map(({ delivery }) => delivery)
          const byId = claims.toSorted((a, b) => (a.id < b.id ? -1 : 1))
          const settlements = byId.flatMap((delivery, index) => {
            const next = params.states[index % 4]!
            return next === 'unsettled' ? [] : settlementOf(delivery, next as 'waiting', clock.now())
          })
          const settled = await store.deliveries.settle(settlements, clock.now())
          return [byId.map(({ id }) => id), settled.map(({ kind }) => kind)]
        }),
      ),
  },
  fc.record({ name, how: fc.constantFrom('disable', 'enable', 'delete') }).map((params) =>
    step(`${params.how} ${params.name}`, (state) => {
      const before = state.webhooks.get(params.name)
      if (!before || before.deletedMs !== undefined) return async () => 'skipped'
      const { enabled } = before.settings
      const next = {
        ...before,
        settings: { ...before.settings, enabled: params.how === 'enable' },
        revision: before.revision + 1,
        epoch: before.epoch + (params.how === 'delete' || (params.how === 'disable' && enabled) ? 1 : 0),
        ...(params.how === 'delete' ? { deletedMs: WALL_MS } : {}),
      }
      state.webhooks.set(params.name, next)
      return (store) => store.webhooks.replace(next, before.revision)
    }),
  ),
  fc.constant(
    step('cancel stale deliveries', () => async (store, clock) => {
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
    step(`${ms} ms pass`, (state) => {
      // Both stores share the clock: it advances for the first of them.
      let hasAdvanced = false
      state.nameCount += 1
      return async (_, clock) => {
        if (!hasAdvanced) await clock.advance(ms)
        hasAdvanced = true
      }
    }),
  ),
  fc.record({ keep: fc.integer({ min: 1, max: 4 }), ageMs: fc.nat(1_500) }).map((params) =>
    step(`prune to ${params.keep}, older than ${params.ageMs}`, () => (store, clock) => {
      const limits = { attemptsPerWebhook: params.keep, beforeMs: clock.now() - params.ageMs, limit: 3 }
      return repeatUntilDone(() => store.deliveries.prune(limits, clock.now()))
    }),
  ),
  fc
    .record({
      account: fc.constantFrom(...ACCOUNTS),
      calls: fc.option(fc.uniqueArray(callOfAccount, { minLength: 1 })),
    })
    .map(({ account, calls }) =>
      step(`erase ${calls ?? 'all'} of ${account}`, (state) => {
        if (!calls) {
          for (const [key, { accountId, deletedMs }] of state.webhooks) {
            if (accountId === account && deletedMs !== undefined) state.webhooks.delete(key)
          }
        }
        const erasure = { accountId: account, ...(calls ? { callIds: calls } : {}) }
        return (store) => repeatUntilDone(() => store.deliveries.erase(erasure, 2))
      }),
    ),
)
