import fc from 'fast-check'
import {
  createPositions,
  type Delivery,
  type DeliveryKey,
  type DeliveryState,
  type Group,
  type GroupResult,
  type NewDelivery,
  type NodeLease,
  type Settlement,
  type Store,
  type StoredDelivery,
  type Webhook,
} from 'hookswitch/store'
import { expect, it } from 'vitest'
import { encodeGroup } from '../../../adapters/storage/sqlite/group-encoding.js'
import { memoryStore } from '../../../src/store/memory.js'
import { type ManualClock, manualClock } from '../../../src/testkit/clock.js'
import { keysOf, rowsOf } from '../../../src/testkit/conformance/node.js'
import { newDelivery, newEvent, newRecord, newWebhook } from '../../../src/testkit/conformance/sample-data.js'
import { engineStore, temporaryDatabase } from './sqlite-engine-store.js'

const log = { debug() {}, info() {}, warn() {}, error() {} }
const ACCOUNT = 'account'
/** More than a day, which retention looks back. */
const START_MS = 100_000_000
const CALLS = ['a', 'b', 'c']
const ENDS: readonly DeliveryState[] = ['delivered', 'exhausted', 'expired', 'cancelled', 'quarantined']

/** A command that both stores execute. Numbers choose among the existing items, modulo their number. */
const command = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('accept' as const),
      calls: fc.array(fc.nat(2), { minLength: 1, maxLength: 3 }),
      targets: fc.uniqueArray(fc.nat(2), { maxLength: 3 }),
      key: fc.option(fc.nat(2)),
      other: fc.option(fc.nat(2)),
      late: fc.boolean(),
      hasLease: fc.nat(5),
      starts: fc.boolean(),
      again: fc.nat(3),
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
      failures: fc.option(fc.nat(3)),
      disable: fc.nat(6),
      late: fc.nat(9),
      again: fc.nat(3),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('replay' as const), which: fc.nat(9) }) },
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
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('prune' as const), most: fc.nat(4) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('prune all' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('take over' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('roll back' as const) }) },
)
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never

/** Runs the commands on one store. Returns every result and, after each command, everything that can be read. */
async function history(
  store: Store,
  clock: ManualClock,
  commands: readonly Command[],
  rollBack: (group: Group) => void = () => {},
): Promise<unknown[]> {
  await store.open({ clock, log })
  const { deliveries, webhooks } = store
  const results: unknown[] = []
  const positions = createPositions(0)
  let now = START_MS
  let counter = 0
  let startKey = 0
  let lease: NodeLease = await deliveries.own('node-0', 1)
  let version = (await deliveries.load(lease, lease.shards))!.version
  const id = (kind: string) => {
    counter += 1
    return `${kind}-${counter}`
  }
  /** Every accepted delivery, with the attempts that its next settlement expects. */
  const accepted: { readonly delivery: NewDelivery; attempts: number }[] = []
  const targets: Webhook[] = []
  for (const ordering of ['call', 'call', 'none'] as const) {
    const webhook = newWebhook({ id: id('webhook'), settings: { ordering, name: ordering } })
    await webhooks.insert(webhook)
    targets.push(webhook)
  }

  const groupOf = (parts: Partial<Group>): Group => ({
    lease,
    version,
    now,
    accepted: [],
    ended: [],
    finished: [],
    pending: 0,
    isRepeat: false,
    ...parts,
  })

  /** Commits a group, and commits it once more as its repeat if `again` is 0. */
  async function commit(parts: Partial<Group>, again: number): Promise<GroupResult> {
    for (let round = 0; ; round += 1) {
      const result = await deliveries.commit(groupOf(parts))
      if (result.kind === 'outdated' && round < 9) {
        const changes = await deliveries.changes(lease, version)
        const { webhooks, removed } = changes!
        results.push({ webhooks: sorted(webhooks), removed: keysOf(removed) })
        version = changes!.version
        continue
      }
      if (result.kind === 'committed' && !('lease' in parts)) version = result.version
      if (again === 0) results.push(plain(await deliveries.commit(groupOf({ ...parts, isRepeat: true }))))
      return plain(result)
    }
  }

  async function accept(one: Command & { kind: 'accept' }) {
    const { calls, targets: chosen, key, other, late, hasLease, starts, again } = one
    const events = calls.map((call) =>
      newEvent({
        id: id('event'),
        position: positions.next(now),
        callId: CALLS[call]!,
        ...(other === null ? {} : { otherLegCallId: CALLS[other]! }),
        ...(key === null
          ? {}
          : { idempotency: { key: `key-${key}`, bodyHash: `hash-${calls.length}`, untilMs: now + 50 } }),
      }),
    )
    const added = events.flatMap((event) =>
      chosen.map((target) => {
        const webhook = targets[target]!
        const name = id('delivery')
        return newDelivery(webhook, event, {
          id: name,
          position: event.position!,
          epoch: late ? 1 : webhook.epoch,
          ...(webhook.settings.ordering === 'none' ? { lane: `-/${name}` } : {}),
        })
      }),
    )
    startKey += 1
    const started = added.map(({ webhookId, position, epoch }) => ({
      webhookId,
      position: position!,
      attempt: 1,
      epoch,
    }))
    const result = await commit(
      {
        accepted: [{ events, deliveries: added }],
        ...(hasLease === 0 ? { lease: undefined } : {}),
        ...(hasLease > 0 && starts && started.length > 0
          ? { starting: { key: startKey, deliveries: started } }
          : {}),
      },
      again,
    )
    for (const delivery of added) accepted.push({ delivery, attempts: 0 })
    return result
  }

  async function replay({ which }: Command & { kind: 'replay' }) {
    const old = accepted[which % Math.max(1, accepted.length)]?.delivery
    if (!old) return undefined
    const delivery = {
      ...old,
      id: id('replay'),
      replayOf: old.replayOf ?? old.id,
      originalPosition: old.originalPosition ?? old.position,
      lane: 'replay/all',
      position: positions.next(now),
    }
    accepted.push({ delivery, attempts: 0 })
    return commit({ accepted: [{ events: [], deliveries: [delivery] }] }, 1)
  }

  async function settle(one: Command & { kind: 'settle' }) {
    const { which, end, dueIn, recorded, failures, disable, late, again } = one
    const chosen = new Set(which.flatMap((index) => accepted[index % Math.max(1, accepted.length)] ?? []))
    const ended = [...chosen].map((entry): Settlement => {
      const { delivery } = entry
      const attempts = entry.attempts - (late === 0 ? 1 : 0)
      const state = end === null ? 'waiting' : ENDS[end]!
      // A success counts as an attempt even where it is not recorded.
      const next = attempts + (recorded || state === 'delivered' ? 1 : 0)
      if (recorded) entry.attempts = next
      return {
        deliveryId: delivery.id,
        webhookId: delivery.webhookId,
        position: delivery.position!,
        expect: { attempts },
        next: {
          state,
          attempts: next,
          tries: next,
          interruptions: 0,
          ...(state === 'waiting' ? { dueMs: now + dueIn } : { reason: 'because' }),
        },
        ...(recorded && {
          record: newRecord({ ...delivery, attempts } as Delivery, { id: id('attempt'), atMs: now }),
        }),
        endpoint: {
          epoch: delivery.epoch,
          health: failures === null ? null : { failuresInRow: failures },
          ...(disable === 0 ? { disable: { reason: 'gone', atMs: now } } : {}),
        },
      }
    })
    return commit({ ended }, again)
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

  async function execute(one: Command): Promise<unknown> {
    switch (one.kind) {
      case 'accept':
        return accept(one)
      case 'settle':
        return settle(one)
      case 'replay':
        return replay(one)
      case 'change':
        return change(one.target, one.to)
      case 'pass':
        now += one.ms
        await clock.advance(one.ms)
        return undefined
      case 'erase':
        while ((await deliveries.erase({ accountId: ACCOUNT, callIds: [CALLS[one.call]!] }, 3)) > 0) {}
        return undefined
      case 'prune': {
        const limits = { attemptsPerWebhook: one.most, beforeMs: 0, limit: 99 }
        while ((await deliveries.prune(limits, now)) > 0) {}
        return undefined
      }
      case 'prune all':
        while ((await deliveries.pruneOldest(3)) > 0) {}
        return undefined
      case 'take over': {
        lease = await deliveries.own(id('node'), 1)
        const { shards } = lease
        const part = (await deliveries.load(lease, shards))!
        version = part.version
        await deliveries.completeTakeover(lease, shards)
        return part.interrupted.toSorted(byPosition)
      }
      case 'roll back': {
        const event = newEvent({
          id: 'never',
          position: positions.next(now),
          callId: 'a',
          otherLegCallId: 'b',
        })
        const delivery = newDelivery(targets[0]!, event, { id: 'not', position: event.position! })
        rollBack(
          groupOf({
            lease: undefined,
            accepted: [{ events: [event], deliveries: [delivery] }],
          }),
        )
        return undefined
      }
    }
  }

  const withoutPositions = (rows: readonly object[]) => rows.map((row) => ({ ...row, position: 0 }))
  for (const one of commands) {
    results.push(await execute(one))
    for (const [index, { id: webhookId }] of targets.entries()) {
      targets[index] = (await deliveries.webhookOf(webhookId))!
    }
    const part = (await deliveries.load(lease, lease.shards))!
    const rows = rowsOf(part.waiting).sort(byPosition)
    results.push({
      one,
      rows,
      bodies: await deliveries.bodies(rows),
      polled: rowsOf((await deliveries.poll(lease))!.waiting).sort(byPosition),
      lists: await Promise.all(
        targets.map(({ id: webhookId }) =>
          deliveries
            .deliveries({ accountId: ACCOUNT, webhookId, ascending: true, limit: 99 })
            .then((found) => found.map(withoutPlace)),
        ),
      ),
      details: (
        await Promise.all(accepted.map(({ delivery }) => deliveries.delivery(ACCOUNT, delivery.id)))
      ).map(withoutPlace),
      originals: await Promise.all(
        targets.map(({ id: webhookId }) => {
          const query = { accountId: ACCOUNT, webhookId, onlyOriginals: true, limit: 99 }
          return Promise.all([deliveries.deliveries(query), deliveries.countDeliveries(query)]).then(
            ([found, count]) => [found.map(withoutPlace), count],
          )
        }),
      ),
      replayable: await Promise.all(
        [true, false].flatMap((includeRecovered) =>
          [{}, { reason: 'because' }, { reason: 'cancelled' }].map((more) =>
            deliveries.countReplayable({
              webhookIds: targets.map((webhook) => webhook.id),
              states: ENDS,
              includeRecovered,
              ...more,
            }),
          ),
        ),
      ),
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

/** A delivery without what the SQLite store leaves to the queue, and the memory store counts. */
function withoutPlace(delivery: StoredDelivery | undefined) {
  if (delivery?.state !== 'waiting') return delivery
  const { ahead: _, dueMs: _due, ...rest } = delivery
  return rest
}

const byPosition = (a: DeliveryKey, b: DeliveryKey) =>
  a.position - b.position || (a.webhookId < b.webhookId ? -1 : 1)

const sorted = (webhooks: readonly Webhook[]) => [...webhooks].sort((a, b) => (a.id < b.id ? -1 : 1))

/** A result with codes instead of errors, without a version, and without possible gaps, where stores may differ. */
function plain(result: GroupResult): GroupResult {
  if (result.kind !== 'committed') return result
  const accepted = result.accepted.map((one) =>
    one.kind === 'refused' ? { refused: one.error.code } : one.events,
  )
  return { ...result, version: 0, accepted } as unknown as GroupResult
}

it('behaves like the memory store for every sequence of commands and rollbacks', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 1, maxLength: 60, size: 'max' }), async (commands) => {
      const file = temporaryDatabase()
      const clocks = [manualClock({ nowMs: START_MS }), manualClock({ nowMs: START_MS })] as const
      const store = engineStore(file.path, clocks[0])
      store.db.exec('pragma synchronous = off')
      /** Runs a transaction and rolls it back, which must leave nothing in the file or in the engine's caches. */
      const rollBack = (group: Group) => {
        const transaction = () =>
          store.inTransaction(({ webhooks, deliveries }) => {
            webhooks.insert(newWebhook({ id: 'never', accountId: ACCOUNT }))
            for (const webhook of webhooks.list([ACCOUNT])) {
              const settings = { ...webhook.settings, uri: 'https://never.example.com' }
              const { revision, epoch } = webhook
              webhooks.replace({ ...webhook, settings, revision: revision + 1, epoch: epoch + 1 }, revision)
            }
            deliveries.erase({ accountId: ACCOUNT, callIds: ['b'] }, 4)
            deliveries.commit(encodeGroup(group))
            deliveries.own('never', 1, group.now)
            throw new Error('the disk is full')
          })
        expect(transaction).toThrow('the disk is full')
      }
      try {
        const [actual, expected] = [
          await history(store, clocks[0], commands, rollBack),
          await history(memoryStore() as Store, clocks[1], commands),
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
