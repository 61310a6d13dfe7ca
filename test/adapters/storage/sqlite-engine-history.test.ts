import fc from 'fast-check'
import type { Claim, Delivery, DeliveryState, Health, Settlement, Store, Webhook } from 'hookswitch/store'
import { expect, it } from 'vitest'
import { memoryStore } from '../../../src/store/memory.js'
import { type ManualClock, manualClock } from '../../../src/testkit/clock.js'
import { newDelivery, newEvent, newRecord, newWebhook } from '../../../src/testkit/conformance/sample-data.js'
import { engineStore, temporaryDatabase } from './sqlite-engine-store.js'

const log = { debug() {}, info() {}, warn() {}, error() {} }
const ACCOUNT = 'account'
const CALLS = ['a', 'b', 'c']
const ENDS: readonly DeliveryState[] = ['delivered', 'exhausted', 'expired', 'cancelled', 'quarantined']

/** A command that both stores execute. Numbers choose among the existing items, modulo their number. */
const command = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('accept' as const),
      calls: fc.array(fc.nat(2), { minLength: 1, maxLength: 3 }),
      targets: fc.uniqueArray(fc.nat(2), { minLength: 1, maxLength: 3 }),
      key: fc.option(fc.nat(2)),
      other: fc.option(fc.nat(2)),
      late: fc.boolean(),
      lane: fc.constantFrom('call', 'call', 'shared'),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('claim' as const),
      targets: fc.array(fc.nat(2), { minLength: 1, maxLength: 3 }),
      slots: fc.nat(4),
      limit: fc.nat(6),
      retriesFirst: fc.boolean(),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      which: fc.array(fc.nat(9), { minLength: 1, maxLength: 4 }),
      end: fc.option(fc.nat(4), { freq: 1 }),
      dueIn: fc.nat(9),
      recorded: fc.boolean(),
      health: fc.option(
        fc.record({
          failuresInRow: fc.nat(3),
          pausedFor: fc.option(fc.nat(30)),
          openings: fc.option(fc.nat(2)),
        }),
      ),
      disable: fc.nat(6),
      stranger: fc.nat(15),
      again: fc.nat(9),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('cancel' as const), which: fc.nat(9) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(20) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('change' as const),
      target: fc.nat(2),
      to: fc.constantFrom('disabled', 'enabled', 'renamed', 'moved'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('erase' as const), call: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('take over' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('roll back' as const) }) },
)
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never

/** Runs the commands on one store. Returns every result and, after each command, everything that can be read. */
async function history(
  store: Store,
  clock: ManualClock,
  commands: readonly Command[],
  rollBack?: (owner: string, now: number, targets: readonly Webhook[]) => void,
): Promise<unknown[]> {
  await store.open({ clock, log })
  const { deliveries, webhooks } = store
  const results: unknown[] = []
  let now = 1_000
  let counter = 0
  let owner = 'node-0'
  const id = (kind: string) => {
    counter += 1
    return `${kind}-${counter}`
  }
  /** Claims that are not settled yet. */
  let unsettled: Claim[] = []
  const settledClaims: Claim[] = []
  const targets: Webhook[] = []
  await deliveries.own(owner, 1)
  for (const ordering of ['call', 'call', 'none'] as const) {
    const webhook = newWebhook({ id: id('webhook'), settings: { ordering, name: ordering } })
    await webhooks.insert(webhook)
    targets.push(webhook)
  }
  const resultOf = async (promise: Promise<unknown>) =>
    promise.catch((thrown) => ({ refused: (thrown as { code: string }).code }))

  async function accept({ calls, targets: chosen, key, other, late, lane }: Command & { kind: 'accept' }) {
    const events = calls.map((call) =>
      newEvent({
        id: id('event'),
        callId: CALLS[call]!,
        ...(other === null ? {} : { otherLegCallId: CALLS[other]! }),
        ...(key === null
          ? {}
          : { idempotency: { key: `key-${key}`, bodyHash: `hash-${calls.length}`, untilMs: now + 50 } }),
      }),
    )
    const newDeliveries = events.flatMap((event) =>
      chosen.map((target) => {
        const webhook = targets[target]!
        const epoch = late ? 1 : webhook.epoch
        return newDelivery(webhook, event, {
          id: id('delivery'),
          epoch,
          ...(webhook.settings.ordering === 'none' ? { lane: `delivery-${counter}` } : {}),
          ...(lane === 'shared' && webhook.settings.ordering === 'call' ? { lane } : {}),
        })
      }),
    )
    return deliveries.accept({ events, deliveries: newDeliveries, maxPending: 30 }, now)
  }

  async function claim({ targets: chosen, slots, limit, retriesFirst }: Command & { kind: 'claim' }) {
    const endpoints = chosen.map((target) => ({ webhookId: targets[target]!.id, slots, retriesFirst }))
    const result = await deliveries.claim({ owner, endpoints, limit, now })
    unsettled.push(...result.claims)
    return { ...result, webhooks: [...result.webhooks] }
  }

  function settlement(delivery: Delivery, command: Command & { kind: 'settle' }): Settlement {
    const { end, dueIn, recorded, health, disable, stranger } = command
    const attempts = delivery.attempts + (recorded ? 1 : 0)
    const state = end === null ? 'waiting' : ENDS[end]!
    const newHealth: Health | null =
      health === null
        ? null
        : {
            failuresInRow: health.failuresInRow,
            ...(health.pausedFor === null ? {} : { pausedUntilMs: now + health.pausedFor }),
            ...(health.openings === null ? {} : { openings: health.openings }),
          }
    return {
      owner: stranger === 0 ? 'stranger' : owner,
      deliveryId: delivery.id,
      webhookId: delivery.webhookId,
      expect: {
        state: delivery.state === 'in_flight' ? 'in_flight' : 'waiting',
        fence: delivery.fence,
      },
      next: {
        state,
        attempts,
        tries: attempts,
        interruptions: 0,
        ...(state === 'waiting' ? { dueMs: now + dueIn } : { reason: 'because' }),
      },
      ...(recorded ? { record: newRecord(delivery, { id: id('attempt'), atMs: now }) } : {}),
      endpoint: {
        epoch: delivery.epoch,
        health: newHealth,
        ...(disable === 0 ? { disable: { reason: 'gone', atMs: now } } : {}),
      },
    }
  }

  async function settle(command: Command & { kind: 'settle' }) {
    const from = command.again === 0 ? settledClaims : unsettled
    const chosen = command.which.flatMap((which) => from[which % Math.max(1, from.length)] ?? [])
    unsettled = unsettled.filter((claim) => !chosen.includes(claim))
    settledClaims.push(...chosen)
    return deliveries.settle(
      chosen.map(({ delivery }) => settlement(delivery, command)),
      now,
    )
  }

  /** Cancels a waiting delivery: a head, one behind it, or a stale one. */
  async function cancel(which: number) {
    const waiting = (await listAll()).flat().filter((row) => row.state === 'waiting')
    const stale = await deliveries.stale(owner, 99)
    const found: readonly Delivery[] = [...waiting, ...[...stale].sort((a, b) => (a.id < b.id ? -1 : 1))]
    const row = found[which % Math.max(1, found.length)]
    if (!row) return undefined
    return deliveries.settle(
      [
        {
          owner,
          deliveryId: row.id,
          webhookId: row.webhookId,
          expect: { state: 'waiting', fence: row.fence },
          next: { state: 'cancelled', attempts: row.attempts, tries: row.tries, interruptions: 0 },
        },
      ],
      now,
    )
  }

  async function change(target: number, to: string) {
    const webhook = await webhooks.read(ACCOUNT, targets[target]!.id)
    if (!webhook) return undefined
    const { settings, revision, epoch } = webhook
    const enabled = to === 'disabled' ? false : to === 'enabled' ? true : settings.enabled
    const next = {
      ...webhook,
      settings: {
        ...settings,
        enabled,
        ...(to === 'renamed' ? { name: id('name') } : {}),
        ...(to === 'moved' ? { uri: `https://${id('host')}.example.com/` } : {}),
      },
      revision: revision + 1,
      epoch: settings.enabled && !enabled ? epoch + 1 : epoch,
    }
    return webhooks.replace(next, revision)
  }

  const list = (webhookId: string, ascending: boolean) =>
    deliveries.deliveries({ accountId: ACCOUNT, webhookId, ascending, limit: 99 })
  const listAll = () => Promise.all(targets.map(({ id: webhookId }) => list(webhookId, true)))
  const sorted = <Row extends { readonly id?: string; readonly webhookId?: string }>(rows: readonly Row[]) =>
    [...rows].sort((a, b) => ((a.id ?? a.webhookId)! < (b.id ?? b.webhookId)! ? -1 : 1))
  const withoutPositions = (rows: readonly object[]) => rows.map((row) => ({ ...row, position: 0 }))

  async function execute(one: Command): Promise<unknown> {
    switch (one.kind) {
      case 'accept':
        return resultOf(accept(one))
      case 'claim':
        return claim(one)
      case 'settle':
        return settle(one)
      case 'cancel':
        return cancel(one.which)
      case 'change':
        return change(one.target, one.to)
      case 'pass':
        now += one.ms
        await clock.advance(one.ms)
        return undefined
      case 'erase':
        // Passes the time to the store, since `erase` does not.
        await deliveries.renew(owner, 1)
        while ((await deliveries.erase({ accountId: ACCOUNT, callIds: [CALLS[one.call]!] }, 3)) > 0) {}
        return undefined
      case 'take over':
        owner = id('node')
        return deliveries.own(owner, 1).then(({ shards }) => shards.length)
      case 'roll back':
        return rollBack?.(owner, now, targets)
    }
  }

  for (const one of commands) {
    results.push(await execute(one))
    for (const [index, { id: webhookId }] of targets.entries()) {
      targets[index] = (await deliveries.webhookOf(webhookId))!
    }
    results.push({
      one,
      pending: await deliveries.pending(),
      ready: sorted(await deliveries.ready(owner)),
      stale: sorted(await deliveries.stale(owner, 99)),
      orphans: sorted(await deliveries.orphans(owner, 99)),
      rows: (await listAll()).map(withoutPositions),
      attempts: withoutPositions(await deliveries.attempts({ accountId: ACCOUNT, limit: 99 })),
      ofCall: withoutPositions(
        await deliveries.attempts({ accountId: ACCOUNT, callIds: ['a', 'b'], limit: 9 }),
      ),
      legs: await Promise.all(CALLS.map((call) => deliveries.legs(ACCOUNT, call))),
      targets: [...targets],
    })
  }
  return results
}

/** A settlement that will be rolled back. */
function discardedSettlement(
  owner: string,
  { id, webhookId, fence }: Delivery,
  state: DeliveryState,
  now: number,
): Settlement {
  const expected = { state: 'in_flight', fence } as const
  const health = { failuresInRow: 7, pausedUntilMs: now + 1_000 }
  const next = {
    state,
    attempts: 1,
    tries: 1,
    interruptions: 0,
    ...(state === 'waiting' ? { dueMs: now } : {}),
  }
  return { owner, deliveryId: id, webhookId, expect: expected, next, endpoint: { epoch: 1, health } }
}

it('behaves like the memory store for every sequence of commands and rollbacks', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 60, size: 'max' }), async (commands) => {
      const file = temporaryDatabase()
      const clocks = [manualClock({ nowMs: 1_000 }), manualClock({ nowMs: 1_000 })] as const
      const store = engineStore(file.path, clocks[0])
      store.db.exec('pragma synchronous = off')
      /** Runs a transaction and rolls it back, which must leave nothing in the file or in the engine's caches. */
      const rollBack = (owner: string, now: number, targets: readonly Webhook[]) => {
        const group = () =>
          store.inTransaction(({ webhooks, deliveries }) => {
            webhooks.insert(newWebhook({ id: 'never', accountId: ACCOUNT }))
            const endpoints = targets.map(({ id }) => ({ webhookId: id, slots: 2 }))
            const { claims } = deliveries.claim({ owner, endpoints, limit: 9, now })
            const changes = claims
              .slice(1)
              .map(({ delivery }, index) =>
                discardedSettlement(owner, delivery, index % 2 === 0 ? 'delivered' : 'waiting', now),
              )
            deliveries.settle(changes, now)
            const [target] = targets
            const { revision, epoch, settings } = target!
            const moved = { ...settings, uri: 'https://never.example.com' }
            webhooks.replace(
              { ...target!, settings: moved, revision: revision + 1, epoch: epoch + 1 },
              revision,
            )
            deliveries.erase({ accountId: ACCOUNT, callIds: ['b'] }, 4)
            const event = newEvent({ id: 'never', callId: 'a', otherLegCallId: 'never' })
            const waiting = newDelivery(target!, event, { id: 'never', epoch: 1 })
            deliveries.accept({ events: [event], deliveries: [waiting], maxPending: 99 }, now)
            deliveries.stale(owner, 9)
            deliveries.own('never', 1, now)
            throw new Error('the disk is full')
          })
        expect(group).toThrow('the disk is full')
      }
      try {
        const [actual, expected] = [
          await history(store, clocks[0], commands, rollBack),
          await history(memoryStore(), clocks[1], commands),
        ]
        expect(actual).toEqual(expected)
      } finally {
        await store.close()
        file.remove()
      }
    }),
    { numRuns: Number(process.env.RUNS ?? 40) },
  )
})
