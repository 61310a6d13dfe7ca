import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { positionAt, positionMs } from '../../../src/delivery/positions.js'
import { createPendingQueue } from '../../../src/delivery/queue/pending-queue.js'
import type { QueuedDelivery } from '../../../src/delivery/queue/queued-delivery.js'
import type { DeliveryKey } from '../../../src/delivery/queue-store.js'
import type { Webhook } from '../../../src/webhooks/webhook.js'
import { propertyRuns } from '../../support/property-runs.js'
import { aWebhook } from '../fixtures.js'
import { columnsOf, contentOf, positionsOf, queued, type Row } from './fixtures.js'
import { type Counters, type NaiveDelivery, NaiveQueue } from './naive-queue.js'

const WEBHOOKS = ['w0', 'w1', 'w2']
const POSITIONS = 40
const MAX_CONTENTS = 6
const PER_WEBHOOK = 5
const PER_ACCOUNT = 9
const PATIENCE_MS = 5_000
const HOOKS = ['channel_create', 'channel_answer']
/** Begin of a history. Positions are those of the 20 s before and after it. */
const BEGIN_MS = 1_790_000_000_000
const shardOf = (webhookId: string) => Number(webhookId.slice(1)) % 2

const webhookId = fc.constantFrom(...WEBHOOKS)
const position = fc
  .integer({ min: 1, max: POSITIONS })
  .map((count) => positionAt(BEGIN_MS + (count - POSITIONS / 2) * 1_000) + count)
const limit = fc.integer({ min: 1, max: 6 })
const delay = fc.nat(5).map((seconds) => seconds * 1_000)
const index = fc.nat(30)
const time = fc.integer({ min: -5, max: 20 }).map((seconds) => BEGIN_MS + seconds * 1_000)
/** 0: there was no failure. */
const failedMs = fc.oneof(fc.constant(0), time)
const key: fc.Arbitrary<DeliveryKey> = fc.record({ webhookId, position })
const counters: fc.Arbitrary<Counters> = fc.record({
  dueMs: delay,
  attempts: fc.nat(3),
  tries: fc.nat(3),
  interruptions: fc.nat(2),
  failedMs,
})
const row = fc.record({
  webhookId,
  position,
  lane: fc.constantFrom('', 'acc/one', 'acc/one', 'acc/two', 'acc/two', 'test/'),
  sequence: fc.nat(6),
  dueMs: fc.oneof(fc.constant(0), time),
  attempts: fc.nat(2),
  failedMs,
  /** Against the present epoch of the webhook. */
  epochOffset: fc.constantFrom(-1, 0, 0, 0, 1),
  hook: fc.constantFrom(...HOOKS),
  isReplay: fc.constantFrom(false, false, false, true),
})
type AnyRow = typeof row extends fc.Arbitrary<infer T> ? T : never

const command = fc.oneof(
  fc.record({ kind: fc.constant('wait' as const), delay }),
  fc.record({ kind: fc.constant('wait' as const), delay }),
  fc.record({ kind: fc.constant('add' as const), row }),
  fc.record({ kind: fc.constant('add' as const), row }),
  fc.record({ kind: fc.constant('load' as const), rows: fc.array(row, { maxLength: 6 }) }),
  fc.record({
    kind: fc.constant('set' as const),
    webhookId,
    isRaised: fc.constantFrom(false, false, false, true),
    pausedForMs: delay,
    pause: fc.constantFrom(undefined, 'unavailable' as const, 'rejected' as const),
    failingSinceMs: fc.option(time, { nil: undefined }),
    isStrict: fc.constantFrom(false, false, false, true),
  }),
  fc.record({ kind: fc.constant('reject' as const), webhookId, hooks: fc.subarray(HOOKS) }),
  ...[1, 2].map(() =>
    fc.record({
      kind: fc.constant('take' as const),
      webhookId,
      slots: limit,
      maxOld: fc.option(fc.nat(3), { nil: undefined, freq: 2 }),
    }),
  ),
  fc.record({ kind: fc.constant('takeProbe' as const), webhookId }),
  fc.record({ kind: fc.constant('resume' as const), webhookId }),
  fc.record({ kind: fc.constant('putBack' as const), index, delay }),
  fc.record({ kind: fc.constant('retry' as const), index, counters }),
  fc.record({ kind: fc.constant('end' as const), index }),
  fc.record({ kind: fc.constant('end' as const), index }),
  fc.record({ kind: fc.constant('remove' as const), key }),
  fc.record({ kind: fc.constant('update' as const), key, counters }),
  fc.record({ kind: fc.constant('makeRetriesDue' as const), webhookId }),
  fc.record({ kind: fc.constant('missing' as const), limit }),
  fc.record({ kind: fc.constant('missing' as const), limit }),
  fc.record({ kind: fc.constant('fill' as const), count: limit, gone: fc.nat(8), extra: key }),
  fc.record({ kind: fc.constant('unrequest' as const), count: limit, extra: key }),
  fc.record({ kind: fc.constant('takeStale' as const), limit }),
  fc.record({ kind: fc.constant('trim' as const), maxTotal: fc.constantFrom(1_000, 1_000, 12) }),
  fc.record({ kind: fc.constant('trim' as const), maxTotal: fc.constant(1_000) }),
  fc.record({
    kind: fc.constant('drop' as const),
    shards: fc.constantFrom<readonly number[] | 'all'>([0], [1], 'all'),
  }),
)
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never

/** No delivery fails before it was accepted. */
const failureOf = (key: { position: number }, ms: number) =>
  ms === 0 ? 0 : Math.max(ms, positionMs(key.position))

/** The queue and the naive queue, side by side. */
class Comparison {
  now = BEGIN_MS
  readonly queue = createPendingQueue({
    maxContents: MAX_CONTENTS,
    shardOf,
    hashSeed: 7,
    limits: { maxPending: 1_000, maxPendingPerAccount: PER_ACCOUNT, maxPendingPerWebhook: PER_WEBHOOK },
    // So that what is found ahead goes stale in every way.
    foundAhead: 1,
    patienceMs: PATIENCE_MS,
  })
  readonly naive = new NaiveQueue(
    MAX_CONTENTS,
    { perWebhook: PER_WEBHOOK, perAccount: PER_ACCOUNT },
    PATIENCE_MS,
  )
  readonly webhooks = new Map<string, Webhook>()
  /** Objects that were added or taken, whatever became of them. */
  readonly objects: QueuedDelivery[] = []
  requested: DeliveryKey[] = []

  constructor() {
    for (const id of WEBHOOKS) {
      this.naive.endpoints.set(id, {
        id,
        shard: shardOf(id),
        epoch: 2,
        pausedUntilMs: 0,
        pause: undefined,
        failingSinceMs: undefined,
        isStrict: false,
        rejectedHooks: new Set(),
        oldFirst: false,
      })
      this.setWebhook(aWebhook({}, { id, epoch: 2 }))
    }
  }

  setWebhook(webhook: Webhook): void {
    this.webhooks.set(webhook.id, webhook)
    const endpoint = this.naive.endpoints.get(webhook.id)!
    endpoint.epoch = webhook.epoch
    endpoint.pausedUntilMs = webhook.health?.pausedUntilMs ?? 0
    endpoint.pause = webhook.health?.pause?.kind
    endpoint.failingSinceMs = webhook.health?.failingSinceMs
    endpoint.isStrict = webhook.settings.ordering === 'strict'
    expect(this.queue.setWebhook(webhook).webhook).toBe(webhook)
  }

  naiveOf(source: AnyRow, changes: Partial<NaiveDelivery>): NaiveDelivery {
    const { epochOffset, ...rest } = source
    const epoch = this.naive.endpoints.get(source.webhookId)!.epoch + epochOffset
    const isSole = source.lane === 'test/'
    return {
      ...rest,
      epoch,
      lane: isSole ? `test/${source.position}` : source.lane,
      sequence: isSole ? 0 : source.sequence,
      failedMs: failureOf(source, source.failedMs),
      tries: 1,
      interruptions: 1,
      isTaken: false,
      content: undefined,
      isRequested: false,
      isDisplaced: false,
      isLive: false,
      isTest: false,
      patience: undefined,
      leftLane: '',
      ...changes,
    }
  }

  rowOf({ lane, ...rest }: NaiveDelivery): Row {
    return lane === '' ? rest : { ...rest, lane }
  }

  /** The naive delivery of an object that the queue still refers to. */
  ownerOf(object: QueuedDelivery): NaiveDelivery | undefined {
    return this.naive.deliveries.find(({ content }) => content === object)
  }

  link(taken: readonly QueuedDelivery[], expected: readonly NaiveDelivery[]): void {
    for (const [place, object] of taken.entries()) {
      const delivery = expected[place]!
      if (delivery.content !== true) expect(object).toBe(delivery.content)
      expect(object.state).toBe('in_flight')
      const { attempts, tries, interruptions, sequence, failedMs = 0 } = object
      expect({ attempts, tries, interruptions, sequence, failedMs }).toEqual({
        attempts: delivery.attempts,
        tries: delivery.tries,
        interruptions: delivery.interruptions,
        sequence: delivery.sequence,
        failedMs: delivery.failedMs,
      })
      delivery.content = object
      if (!this.objects.includes(object)) this.objects.push(object)
    }
  }

  run(step: Command): void {
    const { queue, naive, now } = this
    switch (step.kind) {
      case 'wait':
        this.now += step.delay
        break
      case 'add': {
        const { attempts, isReplay, lane } = step.row
        const isTest = lane === 'test/'
        const isLive = attempts === 0 && !isReplay
        const delivery = this.naiveOf(step.row, { dueMs: 0, tries: 0, interruptions: 0, isLive, isTest })
        const object = queued(queue.endpoint(delivery.webhookId)!, this.rowOf(delivery))
        const isKept = isTest || naive.waitingContents < MAX_CONTENTS
        const isNew = naive.insert(delivery, now)
        if (isNew && isKept) delivery.content = object
        if (isNew) naive.age(delivery.webhookId, 2, now)
        expect(queue.add(object, now)).toBe(isNew)
        this.objects.push(object)
        break
      }
      case 'load': {
        const rows = step.rows.map((source) => this.naiveOf(source, {}))
        const before = rows.map((delivery) => this.rowOf(delivery))
        const changed = new Set<string>()
        for (const delivery of rows) if (naive.insert(delivery, now)) changed.add(delivery.webhookId)
        const endpoints = queue.load(columnsOf(before), now)
        expect(endpoints.map(({ id }) => id).sort()).toEqual([...changed].sort())
        break
      }
      case 'set': {
        const { health: _health, ...webhook } = this.webhooks.get(step.webhookId)!
        this.setWebhook({
          ...webhook,
          epoch: webhook.epoch + (step.isRaised ? 1 : 0),
          settings: { ...webhook.settings, ordering: step.isStrict ? 'strict' : 'call' },
          health: {
            failuresInRow: 1,
            ...(step.failingSinceMs !== undefined && { failingSinceMs: step.failingSinceMs }),
            ...(step.pausedForMs > 0 && { pausedUntilMs: now + step.pausedForMs }),
            ...(step.pause && { pause: { kind: step.pause, probes: 0, sinceMs: 1 } }),
          },
        })
        break
      }
      case 'reject':
        queue.endpoint(step.webhookId)!.rejectedHooks =
          step.hooks.length > 0 ? new Set(step.hooks) : undefined
        naive.endpoints.get(step.webhookId)!.rejectedHooks = new Set(step.hooks)
        break
      case 'take': {
        const { slots, maxOld } = step
        const expected = naive.take(step.webhookId, slots, now, maxOld ?? slots)
        const taken = queue.take(queue.endpoint(step.webhookId)!, slots, now, maxOld)
        expect(positionsOf(taken)).toEqual(positionsOf(expected))
        this.link(taken, expected)
        break
      }
      case 'takeProbe': {
        naive.endPatience(step.webhookId, now)
        const candidates = naive.probes(step.webhookId, now)
        const taken = queue.takeProbe(queue.endpoint(step.webhookId)!, now)
        expect(taken).toHaveLength(Math.min(1, candidates.length))
        const expected = taken.map((object) => naive.find(object)!)
        for (const delivery of expected) {
          expect(candidates).toContain(delivery)
          if (!naive.isHead(delivery)) naive.leave(delivery, now)
          naive.markTaken(delivery)
        }
        this.link(taken, expected)
        break
      }
      case 'resume':
        naive.resume(step.webhookId, now)
        queue.resume(queue.endpoint(step.webhookId)!, now)
        break
      case 'putBack':
      case 'retry': {
        const object = this.objects[step.index]
        if (!object) break
        const owner = this.ownerOf(object)
        const isRetry = step.kind === 'retry'
        const next = isRetry
          ? {
              ...step.counters,
              dueMs: now + step.counters.dueMs,
              failedMs: failureOf(object, step.counters.failedMs),
            }
          : { dueMs: now + step.delay }
        if (owner?.isTaken) {
          naive.waitAgain(owner, next, isRetry ? Math.ceil(MAX_CONTENTS / 2) : MAX_CONTENTS)
          if (isRetry) owner.isTest = false
          if (isRetry) naive.setPatience(owner)
        }
        if (isRetry) queue.retry(object, { ...step.counters, ...next, state: 'waiting', reason: 'failed' })
        else queue.putBack(object, next.dueMs)
        break
      }
      case 'end': {
        const object = this.objects[step.index]
        if (!object) break
        const owner = this.ownerOf(object)
        if (owner) naive.remove(owner, now)
        queue.end(object, now)
        expect(object.entry).toBe(-1)
        break
      }
      case 'remove': {
        const delivery = naive.find(step.key)
        if (delivery) naive.remove(delivery, now)
        const removed = queue.remove(step.key, now)
        expect(removed).toBe(delivery?.isTaken ? delivery.content : undefined)
        break
      }
      case 'update': {
        const delivery = naive.find(step.key)
        const next = {
          ...step.counters,
          dueMs: now + step.counters.dueMs,
          failedMs: failureOf(step.key, step.counters.failedMs),
        }
        if (delivery && !delivery.isTaken) {
          Object.assign(delivery, next)
          if (naive.isHead(delivery)) naive.setPatience(delivery)
        }
        expect(queue.update(step.key, { ...next, state: 'waiting' })).toBe(delivery?.isTaken === false)
        break
      }
      case 'makeRetriesDue':
        for (const head of naive.waitingHeads(step.webhookId)) head.dueMs = Math.min(head.dueMs, now)
        queue.makeRetriesDue(queue.endpoint(step.webhookId)!, now)
        break
      case 'missing':
        this.compareMissing(step.limit)
        break
      case 'fill': {
        const keys = [...this.requested.splice(0, step.count), step.extra]
        const contents = keys.map((entry, place) =>
          step.gone === place ? undefined : contentOf(entry, { hook: naive.find(entry)?.hook ?? HOOKS[0]! }),
        )
        const changed = new Set<string>()
        for (const [place, entry] of keys.entries()) {
          const delivery = naive.find(entry)
          if (!delivery?.isRequested || delivery.content) continue
          changed.add(entry.webhookId)
          if (contents[place]) delivery.content = true
          else naive.remove(delivery, now)
        }
        const endpoints = queue.fill(keys, contents, now)
        expect(endpoints.map(({ id }) => id).sort()).toEqual([...changed].sort())
        break
      }
      case 'unrequest': {
        const keys = [...this.requested.splice(0, step.count), step.extra]
        for (const entry of keys) {
          const delivery = naive.find(entry)
          if (delivery && !delivery.content) delivery.isRequested = false
        }
        queue.unrequest(keys)
        break
      }
      case 'takeStale': {
        const stale = naive.staleHeads()
        const taken = queue.takeStale(step.limit)
        expect(taken.length).toBe(Math.min(step.limit, stale.length))
        const expected = taken.map((object) => naive.find(object)!)
        for (const delivery of expected) {
          expect(stale).toContain(delivery)
          expect(delivery.isTaken).toBe(false)
          naive.markTaken(delivery)
        }
        this.link(taken, expected)
        break
      }
      case 'trim':
        this.compareTrim(step.maxTotal)
        break
      case 'drop':
        naive.drop(step.shards)
        queue.dropShards(step.shards)
        break
    }
  }

  compareTrim(maxTotal: number): void {
    const { queue, naive, now } = this
    const excess = new Map([...naive.full].map((id) => [id, naive.backlog(id).length - PER_WEBHOOK]))
    queue.trim(maxTotal, now, ({ id }, count, limit) => {
      const before = naive.backlog().length
      const last = naive.displace(id, count, now)
      const most = {
        maxPendingPerWebhook: excess.get(id) ?? 0,
        maxPendingPerAccount: naive.isAccountFull ? before - PER_ACCOUNT : 0,
        maxPending: before - maxTotal,
      }[limit]
      // Never one call more than is needed.
      expect(count - last).toBeLessThan(most)
    })
    for (const id of naive.full) expect(naive.backlog(id).length).toBeLessThanOrEqual(PER_WEBHOOK)
    if (naive.isAccountFull) expect(naive.backlog().length).toBeLessThanOrEqual(PER_ACCOUNT)
    expect(naive.backlog().length).toBeLessThanOrEqual(maxTotal)
    naive.full.clear()
    naive.isAccountFull = false
  }

  compareMissing(max: number): void {
    const { queue, naive, now } = this
    const nextMs = () => queue.nextMissingMs() ?? Number.POSITIVE_INFINITY
    const expectedMs = nextMs()
    const needed = WEBHOOKS.map((id) => naive.needed(id, now))
    const keys = queue.missing(max, now)
    if (keys.length > 0) expect(expectedMs).toBeLessThanOrEqual(now)
    if (keys.length < max) expect(nextMs()).toBeGreaterThan(now)
    for (const entry of keys) {
      const delivery = naive.find(entry)!
      expect(needed.flat()).toContain(delivery)
      expect(delivery.isRequested).toBe(false)
      delivery.isRequested = true
    }
    this.requested.push(...keys)
    if (keys.length === max) return
    // Whatever is still needed has to wait for a delivery that was requested before.
    for (const id of WEBHOOKS)
      if (naive.needed(id, now).length > 0)
        expect(naive.of(id, false).some(({ isRequested }) => isRequested)).toBe(true)
  }

  compare(): void {
    const { queue, naive } = this
    expect(queue.size).toBe(naive.deliveries.length)
    expect(queue.waitingContents).toBe(naive.waitingContents)
    expect(queue.hasStale).toBe(naive.staleHeads().length > 0)
    for (const id of WEBHOOKS) {
      const endpoint = queue.endpoint(id)!
      expect(endpoint.waiting).toBe(naive.of(id, false).length)
      expect(endpoint.taken).toBe(naive.of(id, true).length)
      expect(endpoint.backlog).toBe(naive.backlog(id).length)
      expect(endpoint.displaced).toBe(naive.of(id, false).filter(({ isDisplaced }) => isDisplaced).length)
      expect(endpoint.requested).toBe(naive.of(id, false).filter(({ isRequested }) => isRequested).length)
      expect(queue.ready(endpoint).dueMs).toBe(naive.readyMs(id))
    }
    // All are found, and there are no others: the sizes are equal.
    for (const delivery of naive.deliveries) {
      const lane = naive.laneOf(delivery)
      const dueMs = delivery.isDisplaced ? expect.any(Number) : delivery.dueMs
      expect(queue.position(delivery)).toEqual({
        isTaken: delivery.isTaken,
        dueMs: lane[0] === delivery && !delivery.isTaken ? dueMs : undefined,
        ahead: lane.indexOf(delivery),
      })
    }
    for (const object of this.objects) {
      const owner = this.ownerOf(object)
      expect(object.entry >= 0).toBe(owner !== undefined)
      expect(queue.isOutOfOrder(object)).toBe(owner !== undefined && naive.isOutOfOrder(owner))
    }
  }
}

describe('the queue and a naive one', () => {
  it('agree after any sequence of commands', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 100, size: 'max' }), (commands) => {
        const comparison = new Comparison()
        for (const step of commands) {
          comparison.run(step)
          comparison.compare()
        }
      }),
      { numRuns: propertyRuns(1_000) },
    )
  })
})
