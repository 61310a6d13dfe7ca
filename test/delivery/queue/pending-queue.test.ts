/** Examples of what `queue-model.test.ts` rarely reaches, and what it does not compare. */
import { describe, expect, it } from 'vitest'
import { positionAt, positionMs } from '../../../src/delivery/positions.js'
import { Entries } from '../../../src/delivery/queue/entries.js'
import { createPendingQueue, type PendingQueue } from '../../../src/delivery/queue/pending-queue.js'
import type { QueuedDelivery } from '../../../src/delivery/queue/queued-delivery.js'
import type { QueueLimits } from '../../../src/delivery/queue/shares.js'
import type { Webhook } from '../../../src/webhooks/webhook.js'
import { aWebhook } from '../fixtures.js'
import { columnsOf, fillMissing, LIMITS, positionsOf, queued, type Row } from './fixtures.js'

const NOW = 1_000
const LANE = 'acc/call-1'
/** After the time of the positions of these tests. */
const FAILED_MS = positionMs(0) + 5_000

interface Options {
  readonly maxContents?: number
  readonly limits?: QueueLimits
}

function createQueue({ maxContents = 100, limits = LIMITS }: Options = {}) {
  const queue = createPendingQueue({ maxContents, shardOf: (id) => id.length, limits })
  const webhook = aWebhook()
  const endpoint = queue.setWebhook(webhook)
  const key = (position: number, webhookId = 'w1') => ({ webhookId, position })
  return {
    queue,
    webhook,
    endpoint,
    key,
    add(position: number, row: Partial<Row> = {}, now = NOW): QueuedDelivery {
      const delivery = queued(endpoint, { ...row, position })
      expect(queue.add(delivery, now)).toBe(true)
      return delivery
    },
    load: (rows: readonly Partial<Row>[], now = NOW) =>
      queue.load(columnsOf(rows.map((row) => ({ webhookId: 'w1', position: 0, ...row }))), now),
    /** @param oldFirst whether an older delivery gets an odd slot */
    take(slots: number, now = NOW, oldFirst = false) {
      endpoint.oldFirst = oldFirst
      return queue.take(endpoint, slots, now)
    },
    probe: (now = NOW) => queue.takeProbe(endpoint, now),
    dueMs: () => queue.ready(endpoint).dueMs,
  }
}

const next = (dueMs: number, attempts = 1) =>
  ({ state: 'waiting', dueMs, attempts, tries: attempts, interruptions: 0, reason: 'status_500' }) as const

function withHealth(webhook: Webhook, pausedUntilMs: number): Webhook {
  return { ...webhook, health: { failuresInRow: 3, pausedUntilMs } }
}

describe('an endpoint', () => {
  it('gets an older webhook after its revisions were forgotten, with its epoch', () => {
    const { queue, endpoint, webhook, add, load, take } = createQueue()
    add(1)
    take(1)
    queue.setWebhook({ ...webhook, revision: 6, epoch: 2 })
    queue.forgetRevisions()
    const older = { ...webhook, revision: 5, epoch: 1 }
    expect(queue.setWebhook(older)).toBe(endpoint)
    expect(endpoint.webhook).toBe(older)
    load([{ position: 2, epoch: 1 }])
    expect([endpoint.waiting, endpoint.taken, queue.hasStale]).toEqual([1, 1, false])
    queue.setWebhook({ ...older, revision: 4 })
    expect(endpoint.webhook).toBe(older)
  })

  it('has its webhook, its shard and what waits and is taken', () => {
    const { queue, endpoint, webhook, add, take } = createQueue()
    expect(endpoint).toMatchObject({ id: 'w1', webhook, shard: 2, waiting: 0, taken: 0 })
    add(1)
    add(2)
    take(1)
    expect(endpoint).toMatchObject({ waiting: 1, taken: 1 })
    expect([queue.size, queue.waitingContents]).toEqual([2, 1])
    expect([queue.endpoint('w1'), queue.endpoint('w2')]).toEqual([endpoint, undefined])
    expect([...queue.endpoints()]).toEqual([endpoint])
  })

  it('gets the newest webhook: a lower revision is ignored, the same revision is used', () => {
    const { queue, endpoint, webhook } = createQueue()
    const edited = {
      ...webhook,
      revision: 2,
      settings: { ...webhook.settings, uri: 'http://other.example:81/x' },
    }
    expect(queue.setWebhook(edited)).toBe(endpoint)
    queue.setWebhook(webhook)
    expect(endpoint.webhook).toBe(edited)
    expect(queue.ready(endpoint).origin).toBe('http://other.example:81')
    const failing = withHealth(edited, 5)
    queue.setWebhook(failing)
    expect(endpoint.webhook).toBe(failing)
    expect(queue.ready(endpoint)).toEqual({
      webhookId: 'w1',
      accountId: 'acc',
      origin: 'http://other.example:81',
      failing: true,
      probed: false,
      limit: Number.POSITIVE_INFINITY,
      dueMs: undefined,
    })
  })

  it('is forgotten when 10,000 others were used since, unless something is pending', () => {
    const { queue, endpoint, webhook, add } = createQueue()
    const busy = queue.setWebhook({ ...webhook, id: 'busy' })
    queue.add(queued(busy, { position: 1 }), NOW)
    queue.end(add(1), NOW)
    const others = Array.from({ length: 10_000 }, (_, index) =>
      queue.setWebhook({ ...webhook, id: `other-${index}` }),
    )
    // Those that were set are not used yet: `load` needs them.
    expect(queue.endpoint('w1')).toBe(endpoint)
    const first = queued(others[0]!, { position: 1 })
    queue.add(first, NOW)
    queue.end(first, NOW)
    expect(queue.endpoint('w1')).toBeUndefined()
    expect(queue.endpoint('busy')).toBe(busy)
    expect(queue.endpoint('other-0')).toBe(others[0])
    // A delivery that was accepted meanwhile brings it back; one of its successor goes there.
    add(2)
    expect(queue.endpoint('w1')).toBe(endpoint)
    expect(endpoint.waiting).toBe(1)
  })

  it('that was set anew gets the deliveries made for the forgotten one', () => {
    const { queue, endpoint, webhook } = createQueue()
    for (let index = 0; index < 10_000; index++) queue.setWebhook({ ...webhook, id: `other-${index}` })
    const other = queued(queue.endpoint('other-5')!, { position: 1 })
    queue.add(other, NOW)
    queue.end(other, NOW)
    expect(queue.endpoint('w1')).toBeUndefined()
    const successor = queue.setWebhook(webhook)
    const delivery = queued(endpoint, { position: 3 })
    queue.add(delivery, NOW)
    expect(delivery.endpoint).toBe(successor)
    expect([endpoint.waiting, successor.waiting]).toEqual([0, 1])
  })
})

describe('load', () => {
  it('rejects rows of a webhook that was not set', () => {
    const { load } = createQueue()
    expect(() => load([{ position: 1, webhookId: 'unknown' }])).toThrow(/webhookIds.*unknown/)
  })
})

describe('take', () => {
  /** Ten first attempts 1–10 and ten retries 11–20, all due. */
  function createBoth() {
    const created = createQueue()
    for (let position = 1; position <= 20; position++)
      created.add(position, { attempts: position > 10 ? 1 : 0 }, NOW - position)
    return created
  }

  it.each([
    [4, false, [10, 9, 20, 19]],
    [5, false, [10, 9, 8, 20, 19]],
    [5, true, [10, 9, 20, 19, 18]],
    [1, false, [10]],
    [1, true, [20]],
  ])('gives %i slots to both kinds, the odd one to an older one: %s', (slots, oldFirst, expected) => {
    expect(positionsOf(createBoth().take(slots, NOW, oldFirst))).toEqual(expected)
  })

  it('gives the odd slot to a live and to an older one by turns', () => {
    const { queue, endpoint } = createBoth()
    const takeNext = (slots: number) => positionsOf(queue.take(endpoint, slots, NOW))
    expect([takeNext(1), takeNext(1), takeNext(1)]).toEqual([[10], [20], [9]])
    expect([takeNext(2), takeNext(3)]).toEqual([
      [8, 19],
      [7, 18, 17],
    ])
  })
})

/** A time at which deliveries are accepted. */
const T = 1_790_000_000_000
/** The position of a delivery that is accepted so many milliseconds after `T`. */
const at = (ms: number, count = 0) => positionAt(T + ms) + count

describe('live deliveries', () => {
  it('are those accepted at most 10 s ago that were not tried, and no replays', () => {
    const taken = (row: Partial<Row>, afterMs: number) => {
      const { add, take } = createQueue()
      add(at(0), row, T)
      add(at(1), { attempts: 1 }, T + 1)
      return positionsOf(take(1, T + afterMs, true))
    }
    expect(taken({}, 10_000)).toEqual([at(1)])
    expect(taken({}, 10_001)).toEqual([at(0)])
    expect(taken({ isReplay: true }, 1)).toEqual([at(0)])
    expect(taken({ attempts: 1 }, 1)).toEqual([at(0)])
  })

  it('are none of those that are loaded, that failed, or whose lane held them for longer than 10 s', () => {
    const { queue, load, add, take } = createQueue()
    load([{ position: at(0) }], T)
    fillMissing(queue, T)
    add(at(9), {}, T + 9)
    expect(positionsOf(take(1, T + 9, true))).toEqual([at(0)])
    const [failed] = take(1, T + 9)
    queue.retry(failed!, next(T + 20))
    add(at(30), {}, T + 30)
    expect(positionsOf(take(1, T + 30))).toEqual([at(30)])
    const other = createQueue()
    const head = other.add(at(0), { lane: LANE }, T)
    other.add(at(1), { lane: LANE }, T + 1)
    other.take(1, T + 1)
    other.add(at(10_500), {}, T + 10_500)
    other.add(at(5), { attempts: 1 }, T + 11_000)
    other.queue.end(head, T + 11_000)
    expect(positionsOf(other.take(2, T + 11_000))).toEqual([at(10_500), at(1)])
  })
})

/** An endpoint that is paused until 60 s after `T`. */
function createPaused(kind: 'unavailable' | 'rejected' = 'unavailable', options: Options = {}) {
  const created = createQueue(options)
  const health = {
    failuresInRow: 3,
    failingSinceMs: T,
    pausedUntilMs: T + 60_000,
    pause: { kind, probes: 0, sinceMs: 1 },
  }
  created.queue.setWebhook({ ...created.webhook, health })
  return created
}

describe('the probe of a paused endpoint', () => {
  it('is the due head that was sent, or accepted, least recently', () => {
    const { queue, add, probe, take, dueMs } = createPaused()
    const [old, live] = [add(at(0), { attempts: 1 }, T + 3), add(at(2), {}, T + 2)]
    add(at(1), { attempts: 1 }, T + 99_000)
    expect(queue.ready(live.endpoint)).toMatchObject({ probed: true, dueMs: T + 60_000 })
    expect(probe(T + 1)).toEqual([])
    expect(probe(T + 3)).toEqual([live])
    queue.retry(live, { ...next(T + 4), failedMs: T + 3 })
    expect(probe(T + 4)).toEqual([old])
    expect(probe(T + 4)).toEqual([live])
    expect([probe(T + 4), take(9, T + 4)]).toEqual([[], []])
    expect(dueMs()).toBe(T + 99_000)
  })

  it('is a test that waits, at once, whether its content would be kept or not', () => {
    const { queue, add, probe, dueMs } = createPaused('unavailable', { maxContents: 1 })
    add(at(0), {}, T)
    const test = add(at(5), { lane: 'test/1' }, T + 5)
    expect(dueMs()).toBe(T + 5)
    expect(probe(T + 5)).toEqual([test])
    expect(dueMs()).toBe(T + 60_000)
    queue.putBack(test, T + 7)
    queue.remove({ webhookId: 'w1', position: at(0) }, T + 5)
    add(at(6), {}, T + 6)
    expect(dueMs()).toBe(T + 60_000)
  })

  it('is no test before it is due again, and none that has failed', () => {
    const { queue, add, probe, dueMs } = createPaused()
    const other = add(at(0), {}, T)
    const test = add(at(5), { lane: 'test/1' }, T + 5)
    probe(T + 5)
    queue.putBack(test, T + 1_000)
    expect(dueMs()).toBe(T + 1_000)
    expect(probe(T + 999)).toEqual([other])
    queue.putBack(other)
    expect(probe(T + 1_000)).toEqual([test])
    queue.retry(test, next(T + 2_000))
    expect(dueMs()).toBe(T + 60_000)
    expect(probe(T + 2_000)).toEqual([other])
    expect(probe(T + 2_000)).toEqual([test])
  })

  it('is of a kind that was not rejected, also behind a head that was, but not before a test', () => {
    const { queue, endpoint, add, probe } = createPaused('rejected')
    endpoint.rejectedHooks = new Set(['channel_create'])
    add(at(0), { lane: LANE, hook: 'channel_create', attempts: 1 }, T)
    add(at(1), { lane: LANE, hook: 'channel_create' }, T + 1)
    const wanted = add(at(2), { lane: LANE, hook: 'channel_answer' }, T + 2)
    const test = add(at(3), { lane: 'test/1' }, T + 3)
    expect(probe(T + 3)).toEqual([test])
    expect(queue.isOutOfOrder(wanted)).toBe(false)
    expect(probe(T + 3)).toEqual([wanted])
    expect(queue.isOutOfOrder(wanted)).toBe(true)
    expect(positionsOf(probe(T + 3))).toEqual([at(0)])
    expect(probe(T + 3)).toEqual([])
  })

  it('is never one that follows another of its call in strict order', () => {
    const { endpoint, add, probe } = createPaused('rejected')
    const { webhook } = endpoint
    endpoint.webhook = { ...webhook, settings: { ...webhook.settings, ordering: 'strict' } }
    endpoint.rejectedHooks = new Set(['channel_create'])
    add(at(0), { lane: LANE, hook: 'channel_create', attempts: 1 }, T)
    add(at(1), { lane: LANE, hook: 'channel_answer' }, T + 1)
    expect(positionsOf(probe(T + 3))).toEqual([at(0)])
    expect(probe(T + 3)).toEqual([])
  })
})

describe('a lane whose head fails', () => {
  /** Three deliveries of a lane, the first of which failed at `T`; the receiver takes others since then. */
  function createFailed(health: Webhook['health'] = undefined, ordering: 'call' | 'strict' = 'call') {
    const created = createQueue()
    const { queue, webhook, add, take } = created
    const [first, second, third] = [0, 1, 2].map((ms) => add(at(ms), { lane: LANE }, T + ms)) as [
      QueuedDelivery,
      QueuedDelivery,
      QueuedDelivery,
    ]
    take(1, T)
    queue.setWebhook({ ...webhook, settings: { ...webhook.settings, ordering }, ...(health && { health }) })
    queue.retry(first, { ...next(T + 300_000), failedMs: T + 10 })
    return { ...created, first, second, third }
  }
  const AFTER = T + 60_010

  it('waits for it a minute from its first failure, then goes on without it, out of order until that has ended', () => {
    const { queue, first, second, third, load, take, key, dueMs } = createFailed()
    // Another lane goes on at the same time.
    load([{ position: at(7), lane: 'acc/call-2', dueMs: T + 900_000, failedMs: T + 10 }], T)
    expect(dueMs()).toBe(AFTER)
    expect(take(9, AFTER - 1)).toEqual([])
    expect([first, second].map(queue.isOutOfOrder)).toEqual([false, false])
    expect(take(9, AFTER)).toEqual([second])
    expect([first, second, third].map(queue.isOutOfOrder)).toEqual([true, true, true])
    expect(queue.position(key(first.position))).toEqual({ isTaken: false, dueMs: T + 300_000, ahead: 0 })
    expect(take(9, T + 299_999)).toEqual([])
    expect(take(9, T + 300_000)).toEqual([first])
    queue.end(first, T + 300_000)
    expect([second, third].map(queue.isOutOfOrder)).toEqual([false, false])
  })

  it('waits for it also where it is loaded, updated, or follows an earlier one that was inserted before it', () => {
    const { queue, load, key, dueMs } = createQueue()
    load([{ position: at(5), lane: LANE, sequence: 2, dueMs: T + 300_000, failedMs: T + 10 }], T)
    expect(dueMs()).toBe(AFTER)
    load([{ position: at(0), lane: LANE, sequence: 1, dueMs: T + 200_000 }], T)
    expect(dueMs()).toBe(T + 200_000)
    queue.remove(key(at(0)), T + 20)
    expect(dueMs()).toBe(AFTER)
    queue.update(key(at(5)), { ...next(T + 300_000), failedMs: T + 30 })
    expect(dueMs()).toBe(T + 60_030)
    queue.update(key(at(5)), next(T + 300_000))
    expect(dueMs()).toBe(T + 300_000)
  })
})

describe('a taken delivery', () => {
  it('that is put back without a due time keeps its place among those that are due', () => {
    const { queue, add, take } = createQueue()
    const [first, second, third] = [add(1, {}, 100), add(2, {}, 200), add(3, {}, 300)]
    expect(take(2)).toEqual([first, second])
    queue.putBack(second)
    queue.putBack(first)
    expect(take(9)).toEqual([first, second, third])
  })

  it('that failed waits as a retry, with its counters', () => {
    const { queue, add, take } = createQueue()
    const delivery = add(1)
    take(1)
    queue.retry(delivery, { ...next(2_000, 3), tries: 2, interruptions: 1, failedMs: FAILED_MS })
    expect(delivery).toMatchObject({
      state: 'waiting',
      dueMs: 2_000,
      attempts: 3,
      tries: 2,
      interruptions: 1,
      reason: 'status_500',
      failedMs: FAILED_MS,
    })
    add(2, {}, 2_000)
    expect(take(1, 2_000, true)).toEqual([delivery])
    queue.retry(delivery, next(3_000, 4))
    expect(delivery.failedMs).toBeUndefined()
  })
})

describe('a delivery that is added before its number is known', () => {
  it('gets it while it is taken: what is loaded later comes after it, whatever its position', () => {
    const { queue, add, take, load, key } = createQueue()
    const delivery = add(5, { lane: LANE })
    take(1)
    delivery.sequence = 2
    queue.setSequence(delivery)
    queue.retry(delivery, next(3_000))
    load([{ position: 4, lane: LANE, sequence: 3 }])
    expect(queue.position(key(5))?.ahead).toBe(0)
    expect(queue.position(key(4))?.ahead).toBe(1)
  })

  it('does not change the number of an entry when it was removed', () => {
    const { queue, add, take, load, key } = createQueue()
    const removed = add(1, { lane: LANE })
    take(1)
    queue.remove(key(1), NOW)
    load([{ position: 3, lane: LANE, sequence: 1 }])
    removed.sequence = 9
    queue.setSequence(removed)
    load([{ position: 2, lane: LANE, sequence: 2 }])
    expect(queue.position(key(3))?.ahead).toBe(0)
  })
})

describe('update', () => {
  it('replaces the counters and the due time of a waiting delivery', () => {
    const { queue, add, take, key } = createQueue()
    const delivery = add(1)
    expect(queue.update(key(1), next(3_000, 2))).toBe(true)
    expect(queue.position(key(1))?.dueMs).toBe(3_000)
    expect(delivery).toMatchObject({ attempts: 2, reason: 'status_500' })
    expect(take(1, 2_999)).toEqual([])
    expect(take(1, 3_000, true)).toEqual([delivery])
    expect(queue.update(key(1), next(3_000, 3))).toBe(false)
    expect(queue.update(key(9), next(3_000, 3))).toBe(false)
  })
})

describe('missing contents', () => {
  const rows = (webhookId: string, count: number, row: Partial<Row> = {}) =>
    Array.from({ length: count }, (_, index): Row => ({ webhookId, position: index + 1, ...row }))

  it('are requested for each endpoint in turn', () => {
    const { queue, webhook } = createQueue()
    for (const id of ['w2', 'w3']) queue.setWebhook({ ...webhook, id })
    queue.load(columnsOf([...rows('w1', 500), ...rows('w2', 2), ...rows('w3', 500)]), NOW)
    const first = queue.missing(6, NOW)
    for (const id of ['w1', 'w2', 'w3'])
      expect(first.filter(({ webhookId }) => webhookId === id)).toHaveLength(2)
    const second = queue.missing(4, NOW)
    for (const id of ['w1', 'w3']) expect(second.filter(({ webhookId }) => webhookId === id)).toHaveLength(2)
  })

  it('are requested ahead of what an endpoint takes, at most', () => {
    const { queue, load, take } = createQueue()
    load(rows('w1', 500))
    expect(fillMissing(queue, NOW, 1_000)).toHaveLength(8)
    expect(fillMissing(queue, NOW, 1_000)).toHaveLength(0)
    take(8)
    expect(fillMissing(queue, NOW, 1_000)).toHaveLength(24)
    take(8)
    expect(fillMissing(queue, NOW, 1_000)).toHaveLength(24)
  })

  it('are requested one at a time while the contents of as many deliveries are in memory as may be', () => {
    const { queue, webhook, add, load } = createQueue({ maxContents: 3 })
    const other = queue.setWebhook({ ...webhook, id: 'w2' })
    for (const position of [1, 2, 3]) queue.add(queued(other, { position }), NOW)
    load(rows('w1', 500))
    expect(fillMissing(queue, NOW)).toHaveLength(1)
    expect(fillMissing(queue, NOW)).toHaveLength(0)
    add(1_000)
    expect(queue.waitingContents).toBe(4)
  })

  it('are kept beside a full memory for an account with few deliveries, up to half as many more', () => {
    const { queue, webhook, endpoint, add } = createQueue({ maxContents: 96 })
    for (let position = 1; position <= 100; position++) add(position)
    expect(queue.waitingContents).toBe(96)
    expect(queue.keepsContent(endpoint)).toBe(false)
    const addOf = (account: number) => {
      const id = `other-${account}`
      const other = queue.setWebhook({ ...webhook, id, accountId: id })
      const before = queue.waitingContents
      for (const position of [1, 2, 3, 4]) queue.add(queued(other, { position, lane: `${position}` }), NOW)
      return queue.waitingContents - before
    }
    expect(addOf(1)).toBe(3)
    for (let account = 2; account <= 20; account++) addOf(account)
    expect(queue.waitingContents).toBe(96 * 1.5)
  })

  it('alternate between live and older deliveries', () => {
    const { queue, webhook, add, load } = createQueue({ maxContents: 1 })
    const other = queued(queue.setWebhook({ ...webhook, id: 'other' }), { position: 1 })
    queue.add(other, NOW)
    for (let position = 1; position <= 4; position++) add(position)
    load(rows('w1', 4).map((row) => ({ ...row, position: row.position + 10 })))
    queue.end(other, NOW)
    const found = positionsOf(queue.missing(4, NOW))
    expect(found.sort((a, b) => a - b)).toEqual([1, 2, 11, 12])
  })
})

describe('stale deliveries', () => {
  const raise = (queue: PendingQueue, webhook: Webhook, epoch: number) =>
    queue.setWebhook({ ...webhook, epoch, revision: epoch })

  it('are taken once until they are put back, head by head', () => {
    const { queue, webhook, add } = createQueue()
    const [first, second, third] = [add(1, { lane: LANE }), add(2, { lane: LANE }), add(3, {}, 9_000)]
    raise(queue, webhook, 2)
    expect(queue.hasStale).toBe(true)
    expect(queue.takeStale(1)).toEqual([first])
    expect(queue.takeStale(9)).toEqual([third])
    expect(queue.hasStale).toBe(false)
    queue.putBack(third, 20_000)
    expect(queue.takeStale(9)).toEqual([third])
    queue.end(first, NOW)
    expect(queue.takeStale(9)).toEqual([second])
    queue.end(second, NOW)
    queue.end(third, NOW)
    expect(queue.size).toBe(0)
  })

  it('stay stale when an older row of the webhook is set', () => {
    const { queue, webhook, add, take } = createQueue()
    add(1)
    raise(queue, webhook, 2)
    queue.setWebhook({ ...webhook, revision: 3 })
    expect(take(9)).toEqual([])
    expect(queue.takeStale(9)).toHaveLength(1)
  })
})

describe('displaced deliveries', () => {
  it('of a lane longer than a call are its oldest thousand', () => {
    const { queue, endpoint, load } = createQueue({ limits: { ...LIMITS, maxPendingPerWebhook: 4_999 } })
    load(
      Array.from({ length: 5_000 }, (_, index) => ({ position: index + 1, lane: LANE, sequence: index + 1 })),
    )
    queue.trim(LIMITS.maxPending, NOW, () => {})
    expect([endpoint.backlog, endpoint.displaced, queue.displaced]).toEqual([3_999, 1_001, 1_001])
  })

  it('are the oldest in order of acceptance, whatever they are due, and found in few searches', () => {
    const COUNT = 2_000
    const limits = { ...LIMITS, maxPendingPerWebhook: COUNT }
    const { queue, endpoint, load, add } = createQueue({ limits })
    // The youngest is due first.
    load(
      Array.from({ length: COUNT }, (_, index) => ({
        position: index + 1,
        dueMs: 9_000 - index,
        attempts: 1,
      })),
    )
    for (let count = 1; count <= 30; count++) {
      add(COUNT + count)
      queue.trim(LIMITS.maxPending, NOW, () => {})
      expect([endpoint.backlog, endpoint.displaced]).toEqual([COUNT, count])
    }
    fillMissing(queue, NOW)
    expect(positionsOf(queue.takeStale(100)).sort((left, right) => left - right)).toEqual(
      Array.from({ length: 30 }, (_, index) => index + 1),
    )
  })

  it.each([[[2]], ['all' as const]])(
    'stay displaced while they are taken and shards %s are dropped',
    (shards) => {
      const { queue, endpoint, add } = createQueue({ limits: { ...LIMITS, maxPendingPerWebhook: 1 } })
      for (const position of [1, 2]) add(position)
      queue.trim(LIMITS.maxPending, NOW, () => {})
      const taken = queue.takeStale(1)
      queue.dropShards(shards)
      queue.putBack(taken[0]!, NOW)
      expect([queue.displaced, endpoint.displaced, endpoint.backlog]).toEqual([1, 1, 0])
      expect(queue.takeStale(9)).toEqual(taken)
    },
  )

  it('are not counted again once they have ended', () => {
    const { queue, endpoint, add } = createQueue({ limits: { ...LIMITS, maxPendingPerWebhook: 1 } })
    for (const position of [1, 2, 3]) add(position)
    const counted: number[] = []
    const trim = () => queue.trim(LIMITS.maxPending, NOW, (_, count) => void counted.push(count))
    trim()
    for (const delivery of queue.takeStale(9)) queue.end(delivery, NOW)
    expect([endpoint.backlog, endpoint.displaced, queue.size]).toEqual([1, 0, 1])
    trim()
    queue.limitsChanged()
    trim()
    expect(counted).toEqual([2])
  })
})

describe('lanes that a search for the oldest has found before', () => {
  /** An endpoint just above its limit of 300, of which the next lanes are known. */
  function above() {
    const created = createQueue({ maxContents: 5, limits: { ...LIMITS, maxPendingPerWebhook: 300 } })
    const { queue, endpoint, add } = created
    const other = queue.setWebhook(aWebhook({}, { id: 'other' }))
    const others = Array.from({ length: 20 }, (_, index) => queued(other, { position: 9_000 + index }))
    for (const delivery of others) queue.add(delivery, NOW)
    for (let position = 1; position <= 301; position++) add(position)
    const trim = () => queue.trim(LIMITS.maxPending, NOW, () => {})
    trim()
    expect(endpoint.oldest.length).toBeGreaterThan(0)
    return { ...created, others, trim }
  }

  it('may have left the queue: what was erased is not displaced, and everything else is sent or ends', () => {
    const { queue, endpoint, key, add, take, others, trim } = above()
    queue.remove(key(endpoint.oldest.at(-1)!), NOW)
    // Their entries are used again before that of the erased one.
    for (const { position } of others) queue.remove(key(position, 'other'), NOW)
    for (const position of [302, 303, 304]) add(position)
    trim()
    expect([endpoint.backlog, queue.displaced]).toEqual([300, 3])
    let ended = 0
    let sent = 0
    for (let round = 0; queue.size > 0 && round < 500; round++) {
      fillMissing(queue, NOW)
      for (const delivery of queue.takeStale(100)) {
        ended++
        queue.end(delivery, NOW)
      }
      for (const delivery of take(10)) {
        sent++
        queue.end(delivery, NOW)
      }
    }
    expect([sent, ended, queue.size, endpoint.backlog, queue.displaced]).toEqual([300, 3, 0, 0, 0])
  })

  it('are forgotten when the queue is built again', () => {
    const { queue, endpoint, load, take, trim } = above()
    fillMissing(queue, NOW)
    take(1)
    queue.dropShards('all')
    expect([endpoint.taken, endpoint.oldest]).toEqual([1, []])
    load(Array.from({ length: 310 }, (_, index) => ({ position: 500 + index })))
    trim()
    expect([endpoint.backlog, queue.displaced]).toEqual([300, 10])
  })

  it('cost an addition to a long lane nothing', () => {
    const { queue, load, add } = createQueue({ limits: { ...LIMITS, maxPendingPerWebhook: 20_000 } })
    load(Array.from({ length: 500 }, (_, index) => ({ position: index + 1 })))
    load(
      Array.from({ length: 19_501 }, (_, index) => ({
        position: 1_000 + index,
        lane: LANE,
        sequence: index + 1,
      })),
    )
    queue.trim(LIMITS.maxPending, NOW, () => {})
    const { word } = Entries.prototype
    let reads = 0
    Entries.prototype.word = function counted(entry, field) {
      reads++
      return word.call(this, entry, field)
    }
    try {
      for (let index = 0; index < 100; index++) add(30_000 + index, { lane: LANE, sequence: 20_000 + index })
    } finally {
      Entries.prototype.word = word
    }
    // A walk through the lane would read it 100 times.
    expect(reads).toBeLessThan(20_000)
  })
})

it('displaced deliveries end while many contents of their endpoint wait for the end of a pause', () => {
  const limits = { ...LIMITS, maxPendingPerWebhook: 600 }
  const { queue, endpoint, webhook, load, take } = createQueue({ maxContents: 2_000, limits })
  load(Array.from({ length: 400 }, (_, index) => ({ position: index + 1, dueMs: NOW + 90_000, attempts: 1 })))
  load(Array.from({ length: 200 }, (_, index) => ({ position: 1_000 + index })))
  fillMissing(queue, NOW)
  const taken = take(40)
  fillMissing(queue, NOW)
  for (const delivery of taken) queue.retry(delivery, next(NOW + 90_000))
  queue.setWebhook(withHealth({ ...webhook, revision: 2 }, NOW + 60_000))
  load(Array.from({ length: 300 }, (_, index) => ({ position: 2_000 + index })))
  queue.trim(LIMITS.maxPending, NOW, () => {})
  expect(endpoint.displaced).toBe(300)
  for (let round = 0; queue.displaced > 0 && round < 100; round++) {
    fillMissing(queue, NOW)
    for (const delivery of queue.takeStale(100)) queue.end(delivery, NOW)
  }
  expect(queue.displaced).toBe(0)
})

it('a replay, whose deliveries have no sequence numbers, is displaced one by one', () => {
  const { queue, endpoint, load } = createQueue({ limits: { ...LIMITS, maxPendingPerWebhook: 9 } })
  load(Array.from({ length: 10 }, (_, index) => ({ position: index + 1, lane: LANE })))
  queue.trim(LIMITS.maxPending, NOW, () => {})
  expect([endpoint.backlog, endpoint.displaced]).toEqual([9, 1])
})

it('a delivery that returns is among the oldest that an earlier search has found', () => {
  const limits = { ...LIMITS, maxPendingPerWebhook: 300 }
  const { queue, endpoint, add, take } = createQueue({ maxContents: 1_000, limits })
  for (let position = 1; position <= 301; position++) add(position)
  const [oldest] = take(1)
  add(302)
  queue.trim(LIMITS.maxPending, NOW, () => {})
  add(303)
  queue.trim(LIMITS.maxPending, NOW, () => {})
  expect([oldest!.position, endpoint.oldest.length > 0]).toEqual([1, true])
  queue.retry(oldest!, next(NOW))
  add(304)
  queue.trim(LIMITS.maxPending, NOW, () => {})
  expect(positionsOf(queue.takeStale(9)).sort((left, right) => left - right)).toEqual([1, 2, 3, 4])
})

it('a call goes whole although a delivery of an older epoch stands in the middle of it', () => {
  const limits = { ...LIMITS, maxPendingPerWebhook: 300 }
  const { queue, webhook, add, load } = createQueue({ maxContents: 1_000, limits })
  queue.setWebhook({ ...webhook, revision: 2, epoch: 2 })
  for (let lane = 1; lane <= 301; lane++) add(lane * 10, { epoch: 2 })
  queue.trim(LIMITS.maxPending, NOW, () => {})
  load([{ position: 21, lane: LANE, sequence: 2, epoch: 1 }])
  load([{ position: 22, lane: LANE, sequence: 2, epoch: 2 }])
  load([{ position: 9_000, lane: LANE, sequence: 1, epoch: 2 }])
  queue.trim(LIMITS.maxPending, NOW, () => {})
  fillMissing(queue, NOW)
  expect(positionsOf(queue.takeStale(9)).sort((left, right) => left - right)).toEqual([10, 20, 30])
})
