import fc from 'fast-check'
import type { Acceptance, DeliveryState, NewEvent, Webhook } from 'hookswitch/store'
import type { ManualClock } from 'hookswitch/testkit'
import { acceptanceOf, type StoreNode } from '../../../src/testkit/conformance/node.js'
import { newDelivery, newEvent, newWebhook, WALL_MS } from '../../../src/testkit/conformance/sample-data.js'

/** Random steps in the life of deliveries, to be run on two stores that must return the same. */
export const OWNER = 'node'

/** The state that the next step is planned from. */
export interface HistoryState {
  nameCount: number
  readonly webhooks: Map<string, Webhook>
  readonly events: NewEvent[]
  /** `account call` for each call that an account erased. */
  readonly erased: Set<string>
  hasPruned: boolean
}
export interface HistoryStep {
  readonly label: string
  plan(state: HistoryState): (node: StoreNode, clock: ManualClock) => Promise<unknown>
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
      return ({ store }) => store.webhooks.insert(webhook)
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
          const acceptance = acceptanceOf(event, deliveries)
          return async (node) => {
            const result = await node.acceptOne(acceptance)
            return result.kind === 'accepted' ? result.events : result.error.code
          }
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
        `replay/${state.nameCount}`,
        `${event.id}>${webhook.id}`,
      ]
      // Both stores get the same positions.
      let acceptance: Acceptance | undefined
      return async (node) => {
        const original = await node.store.deliveries.delivery(webhook.accountId, replayOf)
        if (!original) return 'skipped'
        const originalPosition = original.position
        acceptance ??= acceptanceOf(
          [],
          [newDelivery(webhook, event, { id, lane, replayOf, originalPosition })],
        )
        const result = await node.acceptOne(acceptance)
        return result.kind === 'accepted' ? result.kind : result.error.code
      }
    }),
  ),
  {
    weight: 4,
    arbitrary: fc
      .record({
        count: fc.integer({ min: 1, max: 4 }),
        states: fc.array(fc.constantFrom<DeliveryState[]>('delivered', 'waiting', 'exhausted', 'cancelled'), {
          minLength: 4,
          maxLength: 4,
        }),
        isRecorded: fc.boolean(),
      })
      .map(({ count, states, isRecorded }) =>
        step(`settle ${count} as ${states}`, () => async (node, clock) => {
          const waiting = (await node.waiting()).toSorted((a, b) => (a.id < b.id ? -1 : 1)).slice(0, count)
          const ended = waiting.map((delivery, index) => {
            const settlement = node.settlement(delivery, states[index % 4]!)
            const record = {
              ...settlement.record!,
              id: `${delivery.id}/${delivery.attempts}`,
              atMs: clock.now(),
            }
            const { record: _none, ...slim } = settlement
            return isRecorded || settlement.next.state === 'waiting' ? { ...settlement, record } : slim
          })
          const result = await node.commit({ ended })
          return [waiting.map(({ id }) => id), result.ended.map(({ kind }) => kind)]
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
      return ({ store }) => store.webhooks.replace(next, before.revision)
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
    step(`prune to ${params.keep}, older than ${params.ageMs}`, (state) => {
      state.hasPruned = true
      return ({ store }, clock) => {
        const limits = { attemptsPerWebhook: params.keep, beforeMs: clock.now() - params.ageMs, limit: 3 }
        return repeatUntilDone(() => store.deliveries.prune(limits, clock.now()))
      }
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
        for (const one of calls ?? []) state.erased.add(`${account} ${one}`)
        const erasure = { accountId: account, ...(calls ? { callIds: calls } : {}) }
        return ({ store }) => repeatUntilDone(() => store.deliveries.erase(erasure, 2))
      }),
    ),
)
