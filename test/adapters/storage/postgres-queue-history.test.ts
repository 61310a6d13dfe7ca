import fc from 'fast-check'
import { memoryStore } from 'hookswitch'
import { postgresStore } from 'hookswitch/postgres'
import type {
  Delivery,
  DeliveryState,
  NewDelivery,
  NewEvent,
  ReadyEndpoint,
  Settlement,
  Store,
  Webhook,
} from 'hookswitch/store'
import { seededRandom } from 'hookswitch/testkit'
import { afterAll, describe, expect, it } from 'vitest'
import { manualClock } from '../../../src/testkit/clock.js'
import { newDelivery, newEvent, newRecord, newWebhook } from '../../../src/testkit/conformance/sample-data.js'
import { postgresForTests } from './pg-cluster.js'
import { LEASE_MS, log } from './postgres-queue-harness.js'

const server = await postgresForTests()
afterAll(() => server?.end())

const STEPS = 60
const ENDS: readonly DeliveryState[] = ['delivered', 'exhausted', 'expired', 'cancelled', 'quarantined']
const CALLS = ['a', 'b', 'c']
const OWNERS = ['node-1', 'node-2']
type Random = ReturnType<typeof seededRandom>

/** The state that random operations are drawn from. Both stores must have returned the same so far. */
interface HistoryState {
  readonly webhooks: Webhook[]
  readonly inFlight: Delivery[]
  /** All deliveries offered, accepted or rejected. */
  readonly accepted: NewDelivery[]
  now: number
  owner: string
}

type Operation = (store: Store) => Promise<unknown>

function nextOperation(random: Random, state: HistoryState): Operation {
  const { webhooks, now, owner } = state
  const some = () => webhooks.filter(() => random.chance(0.5))
  switch (
    random.weighted({ accept: 6, replay: 1, claim: 6, settle: 8, stale: 2, replace: 2, lease: 1, pass: 3 })
  ) {
    case 'accept': {
      const events = Array.from({ length: random.integer(1, 3) }, () => randomEvent(random, now))
      const deliveries = events.flatMap((event) =>
        some().map((webhook) => deliveryOf(random, webhook, event)),
      )
      state.accepted.push(...deliveries)
      const maxPending = random.chance(0.1) ? 5 : 1_000
      return ({ deliveries: deps }) => deps.accept({ events, deliveries, maxPending }, now)
    }
    case 'replay': {
      const [old, webhook] = [random.pick([undefined, ...state.accepted]), random.pick(webhooks)]
      const event = newEvent()
      const { eventId, eventAccountId, callId } = old ?? { eventId: event.id, eventAccountId: 'account' }
      const replay = newDelivery(webhook, event, {
        eventId,
        eventAccountId,
        ...(callId !== undefined && { callId }),
        replayOf: old?.id ?? 'unknown',
        lane: `replay-${now}`,
      })
      return ({ deliveries: deps }) =>
        deps.accept({ events: [], deliveries: [replay], maxPending: 1_000 }, now)
    }
    case 'claim': {
      const endpoints = some().map(({ id: webhookId }) => ({
        webhookId,
        slots: random.integer(0, 4),
        retriesFirst: random.chance(0.5),
      }))
      const limit = random.integer(0, 8)
      return async ({ deliveries: deps }) => {
        const claimed = await deps.claim({ owner, endpoints, limit, now })
        return { ...claimed, endpoints: byWebhook(claimed.endpoints) }
      }
    }
    case 'settle': {
      const chosen = state.inFlight.filter(() => random.chance(0.5))
      const settlements = chosen.map((delivery) => settlementOf(random, state, delivery))
      return async ({ deliveries: deps }) => {
        const settled = await deps.settle(settlements, now)
        // With several settlements this store returns endpoints in their state after all of them, the memory store
        // after each.
        return settled.length === 1 ? settled : settled.map((one) => ({ ...one, endpoint: undefined }))
      }
    }
    case 'stale':
      return async ({ deliveries: deps }) => {
        const rows = await deps.stale(owner, 99)
        const ended = byId(rows).map((row) => cancelled(row, owner))
        return [byId(rows).map(({ id }) => id), (await deps.settle(ended, now)).map(({ kind }) => kind)]
      }
    case 'replace': {
      const webhook = random.pick(webhooks)
      const change = changed(random, webhook)
      return ({ webhooks: deps }) => deps.replace(change, webhook.revision)
    }
    case 'lease': {
      const operation = random.pick(['own', 'renew', 'release'] as const)
      const node = random.pick(OWNERS)
      state.owner = random.pick(OWNERS)
      if (operation === 'release') return ({ deliveries: deps }) => deps.release(node)
      return ({ deliveries: deps }) => deps[operation](node, LEASE_MS)
    }
    case 'pass':
      state.now += random.pick([1, 10, 1_000, LEASE_MS])
      return () => Promise.resolve()
  }
}

function randomEvent(random: Random, now: number): NewEvent {
  const accountId = random.pick(['account', 'child'])
  const key = random.chance(0.2) ? random.pick(['one', 'two']) : undefined
  const event = newEvent({ accountId, callId: random.pick(CALLS), numbered: random.chance(0.9) })
  return {
    ...event,
    ...(random.chance(0.3) && { otherLegCallId: random.pick(CALLS) }),
    ...(key && { idempotency: { key, bodyHash: random.pick(['x', 'x', 'y']), untilMs: now + 1_000 } }),
  }
}

function deliveryOf(random: Random, webhook: Webhook, event: NewEvent): NewDelivery {
  const epoch = random.chance(0.1) ? webhook.epoch - 1 : webhook.epoch
  return newDelivery(webhook, event, { epoch })
}

function settlementOf(random: Random, { now, owner }: HistoryState, delivery: Delivery): Settlement {
  const ends = random.chance(0.6)
  const attempts = delivery.attempts + (random.chance(0.9) ? 1 : 0)
  const health = random.chance(0.5) ? null : { failuresInRow: random.integer(1, 3) }
  const paused = random.chance(0.3) ? { pausedUntilMs: now + 50, openings: random.integer(0, 1) } : {}
  const disable = random.chance(0.1) ? { disable: { reason: 'gone', atMs: now } } : {}
  const changes = random.chance(0.5) ? { health: health && { ...health, ...paused } } : {}
  return {
    owner: random.chance(0.05) ? 'another-node' : owner,
    deliveryId: delivery.id,
    webhookId: delivery.webhookId,
    expect: { state: 'in_flight', fence: delivery.fence + (random.chance(0.05) ? 1 : 0) },
    next: {
      state: ends ? random.pick(ENDS) : 'waiting',
      attempts,
      tries: attempts,
      interruptions: random.integer(0, 1),
      ...(ends ? {} : { dueMs: now + random.integer(0, 20) }),
      ...(random.chance(0.5) && { reason: 'timeout' }),
    },
    ...(attempts > delivery.attempts && { record: newRecord(delivery, { atMs: now }) }),
    ...(random.chance(0.7) && { endpoint: { epoch: delivery.epoch, ...changes, ...disable } }),
  }
}

function cancelled({ id, webhookId, fence, attempts, tries }: Delivery, owner: string): Settlement {
  const next = { state: 'cancelled', attempts, tries, interruptions: 0, reason: 'cancelled' } as const
  return { owner, deliveryId: id, webhookId, expect: { state: 'waiting', fence }, next }
}

function changed(random: Random, webhook: Webhook): Webhook {
  const { settings, revision, epoch } = webhook
  const enabled = random.chance(0.6)
  const uri = random.chance(0.3) ? `https://${random.integer(1, 9)}.example.com/` : settings.uri
  const next = { ...webhook, settings: { ...settings, enabled, uri }, revision: revision + 1 }
  return settings.enabled && !enabled ? { ...next, epoch: epoch + 1 } : next
}

const byId = <Row extends { readonly id: string }>(rows: readonly Row[]) =>
  [...rows].sort((a, b) => (a.id < b.id ? -1 : 1))

const byWebhook = (rows: readonly ReadyEndpoint[]) =>
  [...rows].sort((a, b) => (a.webhookId < b.webhookId ? -1 : 1))

/** Reads everything. Positions differ between stores, their order does not. */
async function readEverything({ deliveries: deps, webhooks }: Store, state: HistoryState): Promise<unknown> {
  const withoutPosition = (rows: readonly object[]) => rows.map((row) => ({ ...row, position: 0 }))
  return {
    pending: await deps.pending(),
    ready: byWebhook(await deps.ready(state.owner)),
    orphans: byId(await deps.orphans(state.owner, 99)),
    webhooks: await webhooks.list(['account']),
    attempts: withoutPosition(await deps.attempts({ accountId: 'account', limit: 999 })),
    legs: await Promise.all(CALLS.map((call) => deps.legs('account', call))),
    deliveries: await Promise.all(
      state.webhooks.map(async ({ id: webhookId }) =>
        withoutPosition(
          await deps.deliveries({ accountId: 'account', webhookId, ascending: true, limit: 999 }),
        ),
      ),
    ),
  }
}

const resultOf = (promise: Promise<unknown>) =>
  promise.catch((thrown: { code?: string; message: string }) => thrown.code ?? thrown.message)

describe.skipIf(!server)('the PostgreSQL store', () => {
  const direct = server!

  it('returns the same results as the memory store in every history', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const random = seededRandom(seed)
        const state: HistoryState = {
          webhooks: [],
          inFlight: [],
          accepted: [],
          now: 1_000_000,
          owner: OWNERS[0]!,
        }
        const clock = { ...manualClock(), now: () => state.now, monotonic: () => state.now }
        const ours = postgresStore({ connectionString: direct.url, schema: direct.freshSchema(), clock })
        const theirs = memoryStore({ shared: true, clock })
        const both = async (operation: Operation) => {
          const [one, other] = await Promise.all([resultOf(operation(ours)), resultOf(operation(theirs))])
          expect(one).toEqual(other)
          return one
        }
        await Promise.all([ours.open({ clock, log }), theirs.open({ clock, log })])
        try {
          for (const ordering of ['call', 'call', 'none', 'call'] as const) {
            const webhook = newWebhook({ settings: { ordering } })
            state.webhooks.push(webhook)
            await both(({ webhooks }) => webhooks.insert(webhook))
          }
          await both(({ deliveries }) => deliveries.own(state.owner, LEASE_MS))
          for (let step = 0; step < STEPS; step += 1) {
            const result = await both(nextOperation(random, state))
            const { claims = [] } = (result ?? {}) as { claims?: readonly { delivery: Delivery }[] }
            state.inFlight.push(...claims.map(({ delivery }) => delivery))
            state.inFlight.splice(0, Math.max(0, state.inFlight.length - 12))
            await both((store) => readEverything(store, state))
            for (const [index, { id }] of state.webhooks.entries()) {
              state.webhooks[index] = (await theirs.deliveries.webhookOf(id))!
            }
          }
        } finally {
          await Promise.all([ours.close(), theirs.close()])
        }
      }),
      { numRuns: 8 },
    )
  }, 240_000)
})
