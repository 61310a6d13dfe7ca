import { describe, expect, it } from 'vitest'
import { acceptEvents, acceptPreparedEvents, prepareEvent } from '../../src/delivery/accept.js'
import type { DeliveryEvents } from '../../src/delivery/delivery-events.js'
import type { QueueLimits } from '../../src/delivery/queue/shares.js'
import { replayDelivery } from '../../src/delivery/replay.js'
import { deferred } from '../support/deferred.js'
import { aWebhook } from './fixtures.js'
import { createHarness, type Harness, LIMITS, responseWith, silentLog } from './harness.js'

const SILENT = { w1: true }

/** A webhook that never answers (`w1`), and one that answers (`w2`), of the same account. */
async function silentAndHealthy(limits: QueueLimits, perEndpoint = 1) {
  const webhooks = [aWebhook(), aWebhook({ uri: 'https://healthy.example/' }, { id: 'w2' })]
  const harness = await createHarness(webhooks)
  harness.sender.script = ({ group }) => (group in SILENT ? undefined : responseWith(200))
  const logged: { readonly level: string; readonly fields: object; readonly text: string }[] = []
  const warn = (fields: object, text: string) => void logged.push({ level: 'warn', fields, text })
  const node = harness.node({ caps: { perEndpoint }, limits }, { log: { ...silentLog, warn } })
  await node.start()
  return { harness, node, logged }
}

async function publishAll(harness: Harness, callIds: readonly string[]): Promise<void> {
  for (const callId of callIds) {
    await harness.publish(callId)
    await harness.clock.settle()
  }
  await settleAll(harness)
}

/** Displaced deliveries end in groups, each after the contents of the next were read. */
async function settleAll(harness: Harness): Promise<void> {
  for (let count = 0; count < 50; count++) await harness.clock.settle()
}

const callsOf = (count: number, prefix = 'c') =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`)

const endsOf = async (harness: Harness, webhookId = 'w1') => {
  const rows = await harness.deliveries(webhookId)
  const ended = rows.filter(({ state }) => state === 'expired')
  return {
    ended: ended.map(({ callId }) => callId),
    waiting: rows.filter(({ state }) => state === 'waiting').map(({ callId }) => callId),
    inFlight: rows.filter(({ state }) => state === 'in_flight').map(({ callId }) => callId),
    reasons: new Set(ended.map(({ reason }) => reason)),
  }
}

describe('above the share of a webhook', () => {
  // One more is in flight, and does not count.
  it.each([
    ['at the limit', 5, []],
    ['one above', 6, ['c1']],
    ['ten times the limit', 50, callsOf(50).slice(1, 45)],
  ])('%s, the oldest waiting deliveries expire, and publish is not refused', async (_, waiting, expected) => {
    const { harness, node } = await silentAndHealthy({ ...LIMITS, maxPendingPerWebhook: 5 })
    const calls = waiting === 50 ? callsOf(50) : callsOf(waiting + 1)
    await publishAll(harness, calls)
    const { ended, waiting: left, inFlight, reasons } = await endsOf(harness)
    expect(inFlight).toEqual(['c0'])
    expect(ended).toEqual(expected)
    expect(left).toEqual(calls.slice(1 + expected.length))
    if (expected.length > 0) expect([...reasons]).toEqual(['queue_full'])
    // The other webhook of the account notices nothing.
    expect(harness.sender.requests.filter(({ group }) => group === 'w2').length).toBe(calls.length)
    await node.close(0)
  })

  it('each end is recorded, and the delivery can be replayed', async () => {
    const { harness, node } = await silentAndHealthy({ ...LIMITS, maxPendingPerWebhook: 1 })
    await publishAll(harness, ['in flight', 'oldest', 'newest'])
    const records = (await harness.attempts()).filter(({ webhookId }) => webhookId === 'w1')
    expect(records.map(({ reason, attempt, callId }) => ({ reason, attempt, callId }))).toEqual([
      { reason: 'queue_full', attempt: undefined, callId: 'oldest' },
    ])
    const end = harness.emitted.find(({ name }) => name === 'expired')!.payload
    expect(end).toMatchObject({ webhookId: 'w1', callId: 'oldest', reason: 'queue_full', attempts: 0 })
    const [row] = (await harness.deliveries()).filter(({ state }) => state === 'expired')
    const deps = { ...harness.accept, ...harness.store }
    harness.sender.script = () => responseWith(200)
    harness.sender.open[0]!.answer(responseWith(200))
    const again = await replayDelivery(deps, 'acc', 'w1', row!.id)
    await settleAll(harness)
    const replayed = (await harness.deliveries()).find(({ id }) => id === again)
    expect(replayed).toMatchObject({ state: 'delivered', replayOf: row!.id })
    await node.close(0)
  })

  it('calls go whole, the oldest first, whatever came last', async () => {
    const { harness, node } = await silentAndHealthy({ ...LIMITS, maxPendingPerWebhook: 5 })
    await publishAll(harness, ['x', 'old', 'new', 'old', 'new', 'old', 'other'])
    const { ended, waiting } = await endsOf(harness)
    expect(ended).toEqual(['old', 'old', 'old'])
    expect(waiting).toEqual(['new', 'new', 'other'])
    // What comes later for the call is sent again.
    await publishAll(harness, ['old'])
    expect((await endsOf(harness)).waiting).toEqual(['new', 'new', 'other', 'old'])
    await node.close(0)
  })

  it('what is in flight stays, and the rest of its call may go', async () => {
    const { harness, node } = await silentAndHealthy({ ...LIMITS, maxPendingPerWebhook: 2 })
    await publishAll(harness, ['sent', 'sent', 'b', 'c'])
    expect(await endsOf(harness)).toMatchObject({ inFlight: ['sent'], ended: ['sent'], waiting: ['b', 'c'] })
    harness.sender.open[0]!.answer(responseWith(200))
    await settleAll(harness)
    expect((await harness.deliveries())[0]).toMatchObject({ callId: 'sent', state: 'delivered' })
    await node.close(0)
  })

  it('what returns from an attempt displaces nothing: nothing new came', async () => {
    const { harness, node } = await silentAndHealthy({ ...LIMITS, maxPendingPerWebhook: 3 }, 2)
    await publishAll(harness, callsOf(5))
    // The endpoint pauses: what returns cannot be sent at once.
    for (const open of [...harness.sender.open]) open.answer(responseWith(429, ['retry-after', '60']))
    await settleAll(harness)
    expect((await endsOf(harness)).ended).toEqual([])
    await node.close(0)
  })

  it('a lower limit applies at once', async () => {
    const limits = { maxPending: 1_000, maxPendingPerWebhook: 100 }
    const { harness, node } = await silentAndHealthy(limits)
    await publishAll(harness, callsOf(11))
    expect((await endsOf(harness)).ended).toEqual([])
    limits.maxPendingPerWebhook = 4
    node.limitsChanged()
    await settleAll(harness)
    expect(await endsOf(harness)).toMatchObject({
      ended: callsOf(7).slice(1),
      waiting: ['c7', 'c8', 'c9', 'c10'],
    })
    await node.close(0)
  })

  it('a restart finds what was above the limit', async () => {
    const { harness, node } = await silentAndHealthy(LIMITS)
    await publishAll(harness, callsOf(11))
    await node.close(0)
    const next = harness.node({ caps: { perEndpoint: 1 }, limits: { ...LIMITS, maxPendingPerWebhook: 4 } })
    await next.start()
    await settleAll(harness)
    const left = await endsOf(harness)
    expect(left).toMatchObject({ ended: callsOf(7), inFlight: ['c7'], waiting: ['c8', 'c9', 'c10'] })
    await next.close(0)
  })
})

describe('above the share of an account, or of all', () => {
  const webhooks = [
    aWebhook({ hook: 'channel_create' }, { id: 'w1' }),
    aWebhook({ hook: 'channel_answer' }, { id: 'w2' }),
    aWebhook({ hook: 'channel_create', uri: 'https://other.test/' }, { id: 'w3', accountId: 'sub' }),
  ]
  const publish = (harness: Harness, hook: string, accountId: string, count: number) =>
    acceptEvents(
      harness.accept,
      Array.from({ length: count }, (_, index) => ({
        hook,
        accountId,
        callId: `${accountId}-${hook}-${index}`,
      })),
    )

  async function silent(limits: QueueLimits) {
    const harness = await createHarness(webhooks)
    harness.sender.script = () => undefined
    const node = harness.node({ caps: { perEndpoint: 1 }, limits })
    await node.start()
    const counts = async () => {
      await settleAll(harness)
      const waitingOf = async (id: string, accountId: string) =>
        (await harness.deliveries(id, accountId)).filter(({ state }) => state === 'waiting').length
      return [await waitingOf('w1', 'acc'), await waitingOf('w2', 'acc'), await waitingOf('w3', 'sub')]
    }
    return { harness, node, counts }
  }

  it('of an account, its webhook with the largest backlog gives up deliveries', async () => {
    const { harness, node, counts } = await silent({ ...LIMITS, maxPendingPerAccount: 20 })
    await publish(harness, 'channel_create', 'acc', 16)
    await publish(harness, 'channel_answer', 'acc', 6)
    await publish(harness, 'channel_create', 'sub', 19)
    expect(await counts()).toEqual([15, 5, 18])
    await publish(harness, 'channel_answer', 'acc', 3)
    expect(await counts()).toEqual([12, 8, 18])
    await node.close(0)
  })

  it('of all, the webhook with the largest backlog gives up deliveries', async () => {
    const { harness, node, counts } = await silent({ ...LIMITS, maxPending: 30, maxPendingPerAccount: 30 })
    await publish(harness, 'channel_create', 'acc', 26)
    await publish(harness, 'channel_create', 'sub', 6)
    expect(await counts()).toEqual([25, 0, 5])
    await publish(harness, 'channel_create', 'sub', 4)
    expect(await counts()).toEqual([21, 0, 9])
    await node.close(0)
  })

  it('a fifth of the queue is the share of an account without a limit of its own', async () => {
    const { harness, node, counts } = await silent({ ...LIMITS, maxPending: 50 })
    await publish(harness, 'channel_create', 'acc', 12)
    expect(await counts()).toEqual([10, 0, 0])
    await node.close(0)
  })
})

describe('the trouble is reported', () => {
  it('at once and then once a minute, with the number of deliveries and the limit', async () => {
    const { harness, node, logged } = await silentAndHealthy({ ...LIMITS, maxPendingPerWebhook: 5 })
    const events = () =>
      harness.emitted
        .filter(({ name }) => name === 'webhook_backlog_full')
        .map(({ payload }) => payload as DeliveryEvents['webhook_backlog_full'])
    const lines = () => logged.filter(({ text }) => text.includes('queue_full'))
    await publishAll(harness, callsOf(6))
    expect(events()).toEqual([])
    await publishAll(harness, ['one above'])
    const about = { webhookId: 'w1', accountId: 'acc', share: 'webhook', limit: 5 }
    expect(events()).toEqual([{ ...about, expired: 1 }])
    await publishAll(harness, callsOf(20, 'more'))
    expect(events().length).toBe(1)
    await harness.clock.advance(60_000)
    expect(events().slice(1)).toEqual([{ ...about, expired: 20 }])
    expect(lines().map(({ fields }) => fields)).toEqual([
      {
        deliveries: 1,
        webhooks: [{ webhookId: 'w1', accountId: 'acc', deliveries: 1, maxPendingPerWebhook: 5 }],
      },
      {
        deliveries: 20,
        webhooks: [{ webhookId: 'w1', accountId: 'acc', deliveries: 20, maxPendingPerWebhook: 5 }],
      },
    ])
    await harness.clock.advance(600_000)
    expect(events().length).toBe(2)
    await node.close(0)
  })

  it('when the node closes, if it has not been yet', async () => {
    const { harness, node, logged } = await silentAndHealthy({ ...LIMITS, maxPendingPerWebhook: 5 })
    await publishAll(harness, callsOf(20))
    const before = logged.length
    await node.close(0)
    const counts = logged.map(({ fields }) => (fields as { deliveries?: number }).deliveries ?? 0)
    expect(logged.length).toBeGreaterThanOrEqual(before)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(14)
  })
})

describe('publishers wait while displaced deliveries have not ended', () => {
  it('those whose webhooks have displaced ones; others do not', async () => {
    const webhooks = [
      aWebhook(),
      aWebhook({ uri: 'https://healthy.example/' }, { id: 'w2', accountId: 'sub' }),
    ]
    const harness = await createHarness(webhooks)
    harness.sender.script = ({ group }) => (group in SILENT ? undefined : responseWith(200))
    const node = harness.node({
      caps: { perEndpoint: 1, total: 10 },
      // Those that one limit for all displaces are not paced.
      limits: { maxPending: 100, maxPendingPerAccount: 10_000, maxPendingPerWebhook: 10_000 },
    })
    await node.start()
    // Contents of displaced deliveries cannot be read.
    harness.faults.failing.add('bodies')
    for (const prefix of ['a', 'b', 'c'])
      await acceptEvents(
        harness.accept,
        callsOf(840, prefix).map((callId) => ({ hook: 'channel_create', accountId: 'acc', callId })),
      )
    await settleAll(harness)
    let isAccepted = false
    const waits = harness.publish('waits').then(() => {
      isAccepted = true
    })
    await settleAll(harness)
    expect(isAccepted).toBe(false)
    await harness.publish('other', { accountId: 'sub' })
    harness.faults.failing.delete('bodies')
    await harness.clock.advance(1_000)
    await settleAll(harness)
    await waits
    expect((await endsOf(harness)).waiting.length).toBeLessThanOrEqual(100)
    await node.close(0)
  })
})

describe('an account whose webhooks are full displaces 1,000 deliveries a second', () => {
  async function displaced(count: number, limits: QueueLimits = { ...LIMITS, maxPendingPerWebhook: 100 }) {
    const webhooks = [
      aWebhook(),
      aWebhook({ uri: 'https://healthy.example/' }, { id: 'w2', accountId: 'sub' }),
    ]
    const harness = await createHarness(webhooks)
    harness.sender.script = ({ group }) => (group in SILENT ? undefined : responseWith(200))
    const node = harness.node({ caps: { perEndpoint: 1, total: 10 }, limits })
    await node.start()
    const publish = (events: number, prefix: string, accountId = 'acc') =>
      acceptEvents(
        harness.accept,
        callsOf(events, prefix).map((callId) => ({ hook: 'channel_create', accountId, callId })),
      )
    // One is in flight and 100 wait.
    await publish(500, 'first')
    await publish(count + 101 - 500, 'next')
    await settleAll(harness)
    /** Whether events are accepted without a wait. */
    async function isAcceptedAtOnce(publishing: Promise<unknown>): Promise<boolean> {
      let isAccepted = false
      void publishing.then(() => {
        isAccepted = true
      })
      await settleAll(harness)
      return isAccepted
    }
    return { harness, node, publish, isAcceptedAtOnce }
  }

  it('and its next events wait, while those of others do not', async () => {
    const { harness, node, publish, isAcceptedAtOnce } = await displaced(1_200)
    const late = publish(1, 'late')
    expect(await isAcceptedAtOnce(late)).toBe(false)
    expect(await isAcceptedAtOnce(publish(1, 'other', 'sub'))).toBe(true)
    await harness.clock.advance(200)
    await late
    expect((await endsOf(harness)).waiting.at(-1)).toBe('late0')
    await node.close(0)
  })

  it('and it does not wait below that', async () => {
    const { node, publish, isAcceptedAtOnce } = await displaced(1_000)
    expect(await isAcceptedAtOnce(publish(1, 'next'))).toBe(true)
    await node.close(0)
  })

  it('and it does not wait for what the limit of all displaces, perhaps because of others', async () => {
    const limits = { maxPending: 100, maxPendingPerAccount: 10_000, maxPendingPerWebhook: 10_000 }
    const { node, publish, isAcceptedAtOnce } = await displaced(1_200, limits)
    expect(await isAcceptedAtOnce(publish(1, 'next'))).toBe(true)
    await node.close(0)
  })

  it('and at most 5,000 of its events and deliveries wait', async () => {
    const { harness, node, publish } = await displaced(1_200)
    const waiting = [publish(1_000, 'a'), publish(1_000, 'b'), publish(500, 'c')]
    await settleAll(harness)
    await expect(publish(1, 'refused')).rejects.toMatchObject({
      code: 'QueueFull',
      retryAfterSeconds: 1,
      message: expect.stringContaining('more than 5000 of its events and deliveries wait'),
    })
    await publish(1, 'other', 'sub')
    await harness.clock.advance(5_000)
    await Promise.all(waiting)
    await node.close(0)
  })
})

describe('while an account has to wait because its queues are full', () => {
  async function full() {
    const webhooks = [
      aWebhook(),
      aWebhook({ uri: 'https://healthy.example/' }, { id: 'w2', accountId: 'sub' }),
    ]
    const harness = await createHarness(webhooks)
    harness.sender.script = ({ group }) => (group in SILENT ? undefined : responseWith(200))
    const node = harness.node({ caps: { perEndpoint: 1 }, limits: { ...LIMITS, maxPendingPerWebhook: 100 } })
    await node.start()
    const publish = (count: number, prefix: string) =>
      acceptEvents(
        harness.accept,
        callsOf(count, prefix).map((callId) => ({ hook: 'channel_create', accountId: 'acc', callId })),
      )
    for (const prefix of ['a', 'b']) await publish(1_000, prefix)
    await settleAll(harness)
    return { harness, node, publish }
  }

  it('the relay of transactions does not, in which the events of other accounts stand behind its own', async () => {
    const { harness, node } = await full()
    const events = ['acc', 'sub'].map((accountId) =>
      prepareEvent(harness.accept, { hook: 'channel_create', accountId, callId: 'staged' }, undefined),
    )
    await acceptPreparedEvents(harness.accept, events, { source: 'transaction', inboxIds: [] })
    expect((await harness.deliveries('w2', 'sub')).map(({ callId }) => callId)).toEqual(['staged'])
    await node.close(0)
  })

  it('the rest of its list, whose beginning is accepted, is not refused', async () => {
    const { harness, node, publish } = await full()
    const waiting = [publish(1_000, 'c'), publish(1_000, 'd'), publish(500, 'e')]
    await settleAll(harness)
    await expect(publish(1, 'refused')).rejects.toMatchObject({ code: 'QueueFull' })
    const { accept } = harness.accept
    harness.accept.accept = (acceptance) => accept(acceptance, true)
    waiting.push(publish(1, 'rest'))
    await settleAll(harness)
    await harness.clock.advance(5_000)
    await Promise.all(waiting)
    expect((await endsOf(harness)).waiting.at(-1)).toBe('rest0')
    await node.close(0)
  })

  it('a close answers its publishers', async () => {
    const { harness, node, publish } = await full()
    const waiting = publish(1, 'late')
    const refused = expect(waiting).rejects.toMatchObject({ code: 'Closing' })
    await settleAll(harness)
    const closing = node.close(1_000)
    await harness.clock.advance(5_000)
    await closing
    await refused
  })
})

describe('what the store cannot take', () => {
  it('is refused above 100,000 events and deliveries of one account that wait for it', async () => {
    const { harness, node } = await silentAndHealthy(LIMITS)
    const { commit } = harness.faults.store
    const { promise: gate, resolve: open } = deferred()
    Object.assign(harness.faults.store, {
      async commit(group: Parameters<typeof commit>[0]) {
        await gate
        return commit(group)
      },
    })
    const accept = (accountId: string, events: number, prefix: string) => {
      const stored = Array.from({ length: events }, (_, index) => ({
        id: `${prefix}-${index}`,
        accountId,
        hook: 'channel_create',
        timestampMs: 1,
        numbered: false,
        bodies: [{ head: '{}' }],
      }))
      return harness.accept.accept({ events: stored, deliveries: [] })
    }
    const first = accept('acc', 1, 'committing')
    await harness.clock.settle()
    const waiting = accept('acc', 100_000, 'waiting')
    const refused = accept('acc', 1, 'refused')
    const other = accept('sub', 1, 'other')
    await expect(refused).rejects.toMatchObject({ code: 'QueueFull', retryAfterSeconds: 1 })
    await expect(refused).rejects.toThrow(/100000 events and deliveries of this account/)
    open()
    await Promise.all([first, waiting, other])
    await accept('acc', 1, 'again')
    // What comes alone is taken, whatever its size.
    await accept('acc', 100_001, 'alone')
    await node.close(0)
  })
})
