import { describe, expect, it } from 'vitest'
import { LEASE_MS } from '../../src/delivery/lease.js'
import type { Caps } from '../../src/delivery/scheduler/fair-queue.js'
import { expectNothingUnhandled } from '../support/unhandled-rejections.js'
import { aWebhook } from './fixtures.js'
import { createHarness, type Harness, responseWith, silentLog } from './harness.js'

expectNothingUnhandled()

const COMMIT_MS = 100
const ENDPOINTS = 8
const LATER_MS = 5_000
const WEBHOOKS = Array.from({ length: ENDPOINTS }, (_, index) =>
  aWebhook({ uri: `https://host-${index}.example/`, ordering: 'none' }, { id: `w${index}` }),
)

interface SlowNodeOptions {
  readonly caps?: Partial<Caps>
  /** Of four deliveries of each webhook that are due later. Default: there are none. */
  readonly interruptions?: number
  /** Called when a request is built. */
  readonly onBuild?: () => void
  readonly webhooks?: typeof WEBHOOKS
  /** Whether the node needs a lease. Default false. */
  readonly isShared?: boolean
}

/** A node with a slow store, whose endpoints have answered fast. Its requests stay open. */
async function createSlowNode(options: SlowNodeOptions = {}) {
  const { caps = { total: 4 }, interruptions, onBuild = () => {}, webhooks = WEBHOOKS, isShared } = options
  /** Fields of log lines. */
  const logged: object[] = []
  const harness = await createHarness(webhooks, isShared)
  if (interruptions !== undefined) for (const callId of ['a', 'b', 'c', 'd']) await harness.publish(callId)
  const { store } = harness.faults
  /** The starts of each group. */
  const starts: { webhookId: string; position: number }[][] = []
  let commitMs = 0
  const node = harness.node(
    { caps },
    {
      log: { ...silentLog, info: (fields: object) => void logged.push(fields) },
      endpointSecrets() {
        onBuild()
        return { keys: [], headers: [] }
      },
      store: {
        ...store,
        async load(...input) {
          const loaded = await store.load(...input)
          loaded?.waiting.interruptions.fill(interruptions ?? 0)
          loaded?.waiting.dueMs.fill(harness.clock.now() + LATER_MS)
          return loaded
        },
        async commit(group) {
          const { deliveries = [] } = group.starting ?? {}
          starts.push(deliveries.map(({ webhookId, position }) => ({ webhookId, position })))
          if (commitMs > 0) await harness.clock.sleep(commitMs)
          return store.commit(group)
        },
      },
    },
  )
  await node.start()
  const publishing = harness.publish('warm-up')
  await harness.clock.settle()
  await publishing
  expect(harness.sender.requests).toHaveLength(webhooks.length)
  harness.sender.script = () => undefined
  harness.sender.requests.length = 0
  commitMs = COMMIT_MS
  starts.length = 0
  /** Answers all open requests. */
  async function answerAll() {
    for (const { answer } of [...harness.sender.open]) answer(responseWith(200))
    await harness.clock.settle()
  }
  async function commit() {
    await harness.clock.advance(COMMIT_MS)
  }
  /** One request ends, and the others while its end is written. */
  async function answerDuringCommit() {
    harness.sender.open[0]?.answer(responseWith(200))
    await harness.clock.settle()
    await answerAll()
    await commit()
  }
  return { harness, node, starts, logged, answerAll, answerDuringCommit, commit }
}

/** Four requests are open, four deliveries are started ahead of a slot, and the others wait. */
async function startBeforeSlots(events = 3, options: SlowNodeOptions = {}) {
  const slow = await createSlowNode(options)
  const { harness, answerAll, commit, starts, node } = slow
  const publishing = Array.from({ length: events }, (_, index) => harness.publish(`call ${index}`))
  await commit()
  await commit()
  await Promise.all(publishing)
  expect(harness.sender.open).toHaveLength(4)
  // They end while a group is written.
  const another = harness.publish('another')
  await harness.clock.settle()
  await answerAll()
  await commit()
  await another
  expect(starts.at(-1)).toHaveLength(8)
  await commit()
  expect(harness.sender.open).toHaveLength(4)
  expect(node.stats().inFlight).toBe(4)
  return slow
}

/** The same with one webhook. */
const startAheadToOne = () => startBeforeSlots(30, { webhooks: WEBHOOKS.slice(0, 1) })

async function close({ harness, node }: Awaited<ReturnType<typeof createSlowNode>>) {
  const closing = node.close(0)
  await harness.clock.advance(5_000)
  await closing
}

const sentTo = ({ sender }: Harness, webhookId: string) =>
  sender.requests.filter(({ group }) => group === webhookId).length

describe('deliveries that are started before a slot is free', () => {
  it('are sent when slots are free, without another commit', async () => {
    const slow = await startBeforeSlots()
    const { harness, answerAll } = slow
    const before = harness.sender.requests.length
    await answerAll()
    expect(harness.sender.requests).toHaveLength(before + 4)
    expect(harness.sender.maxOpen).toBe(4)
    await close(slow)
  })

  it('are as many as attempts ended during the last commit', async () => {
    const slow = await createSlowNode({ caps: { total: 8 } })
    const { harness, commit, starts } = slow
    const events = ['a', 'b', 'c'].map((callId) => harness.publish(callId))
    await commit()
    await commit()
    await Promise.all(events)
    const publishing = harness.publish('d')
    await harness.clock.settle()
    for (const { answer } of harness.sender.open.slice(0, 3)) answer(responseWith(200))
    await commit()
    await publishing
    // Three for free slots, three ahead.
    expect(starts.at(-1)).toHaveLength(6)
    await close(slow)
  })

  it('are none where nothing ends during a commit', async () => {
    const slow = await createSlowNode()
    const { harness, commit, starts } = slow
    const events = ['a', 'b', 'c'].map((callId) => harness.publish(callId))
    await commit()
    await commit()
    await Promise.all(events)
    await harness.clock.advance(10 * COMMIT_MS)
    expect(Math.max(...starts.map(({ length }) => length))).toBe(4)
    await close(slow)
  })

  it('leave the next slots to others once a slower endpoint waits', async () => {
    const slow = await startBeforeSlots()
    const { harness, answerDuringCommit } = slow
    await harness.store.webhooks.insert(
      aWebhook({ uri: 'https://new.example/', hook: 'channel_answer' }, { id: 'new' }),
    )
    const backlog = Array.from({ length: 40 }, (_, index) => harness.publish(`of the backlog ${index}`))
    const publishing = harness.publish('new', { hook: 'channel_answer' })
    let rounds = 0
    for (; sentTo(harness, 'new') === 0; rounds += 1) {
      expect(rounds).toBeLessThan(6)
      await answerDuringCommit()
    }
    await Promise.all([...backlog, publishing])
    expect(await harness.pending()).toBeGreaterThan(200)
    await close(slow)
  })

  it('wait in the queue again when the node closes: they are not interrupted', async () => {
    const slow = await startBeforeSlots()
    const { harness } = slow
    const open = harness.sender.open.length
    const sent = harness.sender.requests.length
    await close(slow)
    expect(harness.sender.requests).toHaveLength(sent)
    // Put back when the close began, not when the requests ended.
    expect(slow.logged).toEqual([{ requests: open }])
    const interrupted = (await harness.attempts()).filter(({ reason }) => reason === 'interrupted')
    expect(interrupted).toHaveLength(open)
  })

  it('are not sent to a webhook that is disabled meanwhile', async () => {
    const slow = await startBeforeSlots()
    const { harness, node, starts, answerAll } = slow
    const sent = new Set(harness.sender.open.map(({ request }) => request.group))
    const ahead = starts.flat().find(({ webhookId }) => !sent.has(webhookId))!.webhookId
    const before = sentTo(harness, ahead)
    const row = (await harness.store.webhooks.read('acc', ahead))!
    const settings = { ...row.settings, enabled: false }
    const next = { ...row, settings, revision: row.revision + 1, epoch: row.epoch + 1 }
    await harness.store.webhooks.replace(next, row.revision)
    node.cancelUnsent(ahead)
    await answerAll()
    expect(sentTo(harness, ahead)).toBe(before)
    await close(slow)
  })

  it.each([
    [0, 7],
    [1, 4],
  ])(
    'are not those that were interrupted before (%i times: at most %i starts in a group)',
    async (count, most) => {
      const slow = await createSlowNode({ interruptions: count })
      const { harness, answerDuringCommit, starts } = slow
      await harness.clock.advance(LATER_MS)
      while ((await harness.pending()) > 0) await answerDuringCommit()
      expect(Math.max(...starts.map(({ length }) => length))).toBe(most)
      expect(harness.sender.maxOpen).toBe(4)
      await close(slow)
    },
  )

  it('are not sent to a receiver that has paused its webhook meanwhile', async () => {
    const slow = await startAheadToOne()
    const { harness, answerAll, commit } = slow
    harness.sender.open[0]!.answer(responseWith(429, ['retry-after', '600']))
    await harness.clock.settle()
    const sent = harness.sender.requests.length
    await commit()
    await answerAll()
    await commit()
    expect(harness.sender.requests.length - sent).toBe(0)
    await close(slow)
  })

  it('are not sent once their receiver is silent: the slots are free for others', async () => {
    const slow = await startAheadToOne()
    const { harness, commit } = slow
    const row = aWebhook({ uri: 'https://healthy.example/', hook: 'channel_answer' }, { id: 'healthy' })
    await harness.store.webhooks.insert(row)
    await harness.clock.advance(2_000)
    const publishing = harness.publish('new', { hook: 'channel_answer' })
    for (let round = 0; round < 3; round += 1) await commit()
    await publishing
    await harness.clock.advance(8_000)
    for (const { answer } of [...harness.sender.open])
      answer({ kind: 'no_response', failure: 'timeout', detail: '' })
    await harness.clock.settle()
    for (let round = 0; round < 3; round += 1) await commit()
    expect(sentTo(harness, 'healthy')).toBe(1)
    await close(slow)
  })

  it('are sent one after the other if none of their requests can be built', async () => {
    let isBroken = false
    const slow = await createSlowNode({
      caps: { total: 3_000, perAccount: 9_000, perEndpoint: 9_000, perOrigin: 9_000 },
      onBuild() {
        if (isBroken) throw new Error('no key')
      },
    })
    const { harness, answerAll, commit, node } = slow
    const events = Array.from({ length: 1_200 }, (_, index) => harness.publish(`call ${index}`))
    for (let round = 0; round < 4; round += 1) await commit()
    await Promise.all(events)
    const publishing = harness.publish('another')
    await harness.clock.settle()
    await answerAll()
    for (let round = 0; round < 3; round += 1) await commit()
    await publishing
    expect(harness.sender.open).toHaveLength(3_000)
    isBroken = true
    harness.sender.open[0]!.answer(responseWith(200))
    await harness.clock.settle()
    expect(node.stats().inFlight).toBe(harness.sender.open.length)
    await close(slow)
  })

  it('are not sent when the lease is about to end', async () => {
    const slow = await createSlowNode({ isShared: true })
    const { harness, answerAll, answerDuringCommit, commit, node } = slow
    // Without a renewal nothing is started after two thirds of the lease.
    const endMs = harness.clock.now() + (LEASE_MS * 2) / 3
    harness.faults.failing.add('renew')
    const publishing = Array.from({ length: 300 }, (_, index) => harness.publish(`call ${index}`))
    while (harness.clock.now() < endMs - 5 * COMMIT_MS) await answerDuringCommit()
    await Promise.all(publishing)
    await commit()
    await commit()
    const before = harness.sender.requests.length
    harness.sender.open[0]!.answer(responseWith(200))
    await harness.clock.settle()
    expect(harness.sender.requests).toHaveLength(before + 1)
    await harness.clock.advance(endMs - harness.clock.now())
    const sent = harness.sender.requests.length
    await answerAll()
    expect(harness.sender.requests).toHaveLength(sent)
    expect(node.stats().inFlight).toBe(0)
    await close(slow)
  })
})
