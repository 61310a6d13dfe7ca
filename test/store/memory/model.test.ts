import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Acceptance, Settlement } from '../../../src/delivery/delivery-store.js'
import type { Group, GroupResult, Start } from '../../../src/delivery/queue-store.js'
import { freshId } from '../../../src/testkit/conformance/sample-data.js'
import { LEASE_MS, openStore, settlement, startOf, TestNode } from './fixture.js'
import { keyOf, Model, type ModelResult } from './model.js'

const OWNERS = ['one', 'two']
const CALLS = ['call-1', 'call-2']
const WEBHOOKS = 4

const part = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('accept' as const),
      webhooks: fc.uniqueArray(fc.nat(WEBHOOKS - 1), { maxLength: 3 }),
      call: fc.constantFrom(...CALLS),
      key: fc.option(fc.constantFrom('key-1', 'key-2'), { freq: 3 }),
      bodyHash: fc.constantFrom('hash', 'hash', 'hash', 'another'),
      isUnknown: fc.nat(9).map((n) => n === 0),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      delivery: fc.nat(12),
      state: fc.constantFrom('delivered' as const, 'waiting' as const, 'exhausted' as const),
      isStale: fc.nat(5).map((n) => n === 0),
      isSlim: fc.nat(4).map((n) => n === 0),
      isDisabling: fc.nat(9).map((n) => n === 0),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('start' as const),
      delivery: fc.nat(12),
      isStale: fc.nat(5).map((n) => n === 0),
    }),
  },
)

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('group' as const),
      node: fc.constantFrom(...OWNERS),
      parts: fc.array(part, { minLength: 1, maxLength: 6 }),
      hasLease: fc.nat(5).map((n) => n > 0),
      isRepeated: fc.boolean(),
      finished: fc.option(fc.nat(5), { freq: 3 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('renew' as const, 'sync' as const, 'load' as const, 'poll' as const),
      node: fc.constantFrom(...OWNERS),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('handOver' as const, 'takeover' as const, 'release' as const),
      node: fc.constantFrom(...OWNERS),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('edit' as const, 'disable' as const),
      webhook: fc.nat(WEBHOOKS - 1),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('erase' as const), call: fc.constantFrom(...CALLS) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(1, LEASE_MS / 2) }),
  },
)
type Of<T> = T extends fc.Arbitrary<infer Value> ? Value : never
type Step = Of<typeof step>
type Part = Of<typeof part>

/** The store and its model side by side. */
async function openBoth() {
  const { store, clock, now, webhook } = await openStore({ shared: true })
  const model = new Model()
  const webhookIds: string[] = []
  for (let index = 0; index < WEBHOOKS; index += 1) {
    const row = await webhook()
    webhookIds.push(row.id)
    model.webhooks.set(row.id, row)
  }
  const nodes = new Map<string, TestNode>()
  for (const owner of OWNERS) {
    const node = new TestNode(store, owner, now)
    nodes.set(owner, await node.own())
    model.granted(owner, node.lease)
  }
  let lastKey = 0

  function groupOf(node: TestNode, { parts, hasLease, finished }: Extract<Step, { kind: 'group' }>): Group {
    const accepted: Acceptance[] = []
    const ended: Settlement[] = []
    const starts: Start[] = []
    const settled = new Set<string>()
    const pick = (index: number) => {
      const waiting = model.deliveries.map(({ delivery }) => delivery)
      return waiting[index % Math.max(1, waiting.length)]
    }
    const attemptsOf = (one: { webhookId: string; position?: number | undefined }) =>
      model.find(one)?.attempts ?? 0
    const add = (one: Part) => {
      if (one.kind === 'accept') {
        const rows = one.webhooks.map((index) => model.webhooks.get(webhookIds[index]!)!)
        if (one.isUnknown) rows.push({ ...rows[0]!, ...model.webhooks.get(webhookIds[0]!)!, id: 'unknown' })
        const acceptance = node.acceptance(rows, {
          callId: one.call,
          // The repeat of a refused event may find that a later event of its group has taken the key.
          ...(one.key !== null &&
            !one.isUnknown && {
              idempotency: { key: one.key, bodyHash: one.bodyHash, untilMs: Number.MAX_SAFE_INTEGER },
            }),
        })
        accepted.push(acceptance)
        starts.push(...acceptance.deliveries.slice(0, 1).map((delivery) => startOf(delivery)))
        return
      }
      const delivery = pick(one.delivery)
      if (!delivery) return
      const attempts = attemptsOf(delivery) + (one.isStale ? 1 : 0)
      if (one.kind === 'start') {
        starts.push(startOf(delivery, attempts + 1))
        return
      }
      // A group settles a delivery once: the next attempt needs a start of a group before.
      const name = keyOf(delivery)
      if (settled.has(name)) return
      settled.add(name)
      const next = {
        state: one.state,
        attempts: attempts + 1,
        tries: 1,
        interruptions: 0,
        ...(one.state === 'waiting' && { dueMs: now() + 5 }),
      }
      const { epoch } = model.webhooks.get(delivery.webhookId)!
      const { record, ...rest } = settlement(delivery, { attempts, next })
      ended.push({
        ...rest,
        ...(!(one.isSlim && one.state === 'delivered') && record && { record }),
        ...(one.isDisabling && { endpoint: { epoch, disable: { reason: freshId('reason'), atMs: 1 } } }),
      })
    }
    for (const one of parts) add(one)
    lastKey += 1
    return node.group({
      ...(hasLease ? {} : { lease: undefined }),
      accepted,
      ended,
      ...(starts.length > 0 && { starting: { key: lastKey, deliveries: starts } }),
      finished: finished === null ? [] : [lastKey - finished - 1],
    })
  }

  async function commit(one: Extract<Step, { kind: 'group' }>): Promise<void> {
    const node = nodes.get(one.node)!
    const group = groupOf(node, one)
    const result = await store.deliveries.commit(group)
    const expected = model.commit(model.node(one.node), group)
    expect(typeof expected === 'string' ? result.kind : outcomeOf(result)).toEqual(expected)
    if (result.kind !== 'committed') return
    const version = node.version
    node.version = result.version
    if (!one.isRepeated) return
    const repeat = await store.deliveries.commit({ ...group, version: result.version, isRepeat: true })
    expect(outcomeOf(repeat)).toEqual(expected)
    if (group.lease && result.version !== version) {
      expect(await store.deliveries.commit({ ...group, isRepeat: true })).toEqual({ kind: 'outdated' })
    }
  }

  async function run(one: Step): Promise<void> {
    if (one.kind === 'group') return commit(one)
    if ('ms' in one) return clock.advance(one.ms)
    if ('webhook' in one) {
      const before = model.webhooks.get(webhookIds[one.webhook]!)!
      const after = {
        ...before,
        revision: before.revision + 1,
        epoch: before.epoch + (one.kind === 'disable' ? 1 : 0),
      }
      expect(await store.webhooks.replace(after, before.revision)).toBe(true)
      model.replaced(after)
      return
    }
    if ('call' in one) {
      while ((await store.deliveries.erase({ accountId: 'account', callIds: [one.call] }, 2)) > 0);
      model.erased(one.call)
      return
    }
    const { kind, node: owner } = one
    const node = nodes.get(owner)!
    const modelNode = model.node(owner)
    const isAlive = model.isAlive(modelNode, node.lease.fence, now())
    if (kind === 'renew') {
      await node.renew()
      model.granted(owner, node.lease)
    } else if (kind === 'load') {
      const loaded = await node.load()
      if (!isAlive) {
        expect(loaded).toBeUndefined()
        return
      }
      expect(loaded?.keys.map(keyOf).sort()).toEqual(
        model
          .waitingOf(modelNode)
          .map(({ delivery }) => keyOf(delivery))
          .sort(),
      )
      expect(loaded?.interrupted.map(keyOf).sort()).toEqual(model.interruptedOf(modelNode))
      modelNode.isOutdated = modelNode.mustLoad = false
      modelNode.changed.clear()
      modelNode.removed.clear()
    } else if (kind === 'sync') {
      const changes = await store.deliveries.changes(node.lease, node.version)
      if (!isAlive) expect(changes).toBeUndefined()
      else if (modelNode.mustLoad) expect(changes?.mustReload).toBe(true)
      else {
        const changed = new Set(changes?.webhooks.map(({ id }) => id))
        for (const id of modelNode.changed) expect(changed).toContain(id)
        expect(new Set(changes?.removed.map(keyOf))).toEqual(modelNode.removed)
        node.version = changes!.version
        modelNode.isOutdated = false
        modelNode.changed.clear()
        modelNode.removed.clear()
      }
    } else if (kind === 'poll') {
      const polled = await store.deliveries.poll(node.lease)
      if (!isAlive) {
        expect(polled).toBeUndefined()
        return
      }
      const nudged = model.deliveries.filter(
        (row) => row.isNudged && model.ownerOf(row.delivery.webhookId) === modelNode,
      )
      const positions = nudged
        .filter(({ state }) => state === 'waiting')
        .map(({ delivery }) => delivery.position!)
      expect([...polled!.waiting.position].sort()).toEqual(positions.sort())
      for (const row of nudged) row.isNudged = false
    } else if (kind === 'handOver') {
      await store.deliveries.handOver(node.lease, node.lease.leaving)
      if (isAlive) model.handedOver(modelNode, node.lease.leaving)
    } else if (kind === 'takeover') {
      await store.deliveries.completeTakeover(node.lease, node.lease.shards)
      if (isAlive) {
        model.left = model.left.filter(({ webhookId }) => model.ownerOf(webhookId) !== modelNode)
      }
    } else {
      await store.deliveries.release(owner)
      modelNode.starts.clear()
      model.endLease(modelNode)
    }
  }

  /** All reads show the model's deliveries and records. */
  async function compare(): Promise<void> {
    for (const webhookId of webhookIds) {
      const query = { accountId: 'account', webhookId, ascending: true, limit: 999 }
      const rows = model.deliveries
        .filter(({ delivery }) => delivery.webhookId === webhookId)
        .sort((a, b) => a.delivery.position! - b.delivery.position!)
      const stored = await store.deliveries.deliveries(query)
      expect(stored.map(({ id, state, attempts }) => [id, state, attempts])).toEqual(
        rows.map((row) => [row.delivery.id, model.stateOf(row), row.attempts]),
      )
      const ahead = (row: (typeof rows)[number]) =>
        rows.filter(
          (other) =>
            model.stateOf(other) === 'waiting' &&
            other.delivery.lane === row.delivery.lane &&
            other.sequence < row.sequence,
        ).length
      expect(stored.map((one) => one.ahead)).toEqual(
        rows.map((row) => (model.stateOf(row) === 'waiting' ? ahead(row) : 0)),
      )
      const records = await store.deliveries.attempts(query)
      expect(records.map(({ id }) => id).sort()).toEqual(rows.flatMap((row) => row.records).sort())
    }
  }
  return { run, compare }
}

function outcomeOf(result: GroupResult): ModelResult | string {
  if (result.kind !== 'committed') return result.kind
  return {
    accepted: result.accepted.map((one) => {
      if (one.kind === 'refused') return one.error.code === 'NotFound' ? 'NotFound' : one.error.field!
      const { id, sequence, duplicate } = one.events[0]!
      return [id, sequence, duplicate] as const
    }),
    ended: result.ended.map((one) => (one.kind === 'settled' && one.disabled ? 'disabled' : one.kind)),
    notStarted: [...result.notStarted],
  }
}

it('behaves like the model, whatever groups, edits, erasures, lost leases and repeats come in which order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { run, compare } = await openBoth()
      for (const one of steps) await run(one)
      await compare()
    }),
    { numRuns: 150 },
  )
}, 60_000)
