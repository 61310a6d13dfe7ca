import { describe, expect, it } from 'vitest'
import { constant } from '../../src/delivery/policy.js'
import { type Group, type GroupResult, notWritten, type QueueStore } from '../../src/delivery/queue-store.js'
import { HookswitchError } from '../../src/errors.js'
import { deferred } from '../support/deferred.js'
import { expectNothingUnhandled } from '../support/unhandled-rejections.js'
import { aWebhook } from './fixtures.js'
import { createHarness, type Harness, headerOf, responseWith } from './harness.js'

expectNothingUnhandled()

const states = async (harness: Harness, webhookId = 'w1') =>
  (await harness.deliveries(webhookId)).map(({ state }) => state)
const records = async (harness: Harness) =>
  (await harness.attempts()).map(({ attempt, reason }) => [attempt, reason])
const unavailable = () => new HookswitchError('StoreUnavailable', 'unavailable')

/** A store whose commits pass through `intercept`, which may answer in its place. */
function intercepted(
  harness: Harness,
  intercept: (group: Group, commit: QueueStore['commit']) => Promise<GroupResult>,
): QueueStore {
  const { store } = harness.faults
  return { ...store, commit: (group) => intercept(group, store.commit) }
}

async function disable(harness: Harness, webhookId = 'w1') {
  const row = (await harness.store.webhooks.read('acc', webhookId))!
  const settings = { ...row.settings, enabled: false }
  const next = { ...row, settings, revision: row.revision + 1, epoch: row.epoch + 1 }
  await harness.store.webhooks.replace(next, row.revision)
}

async function closeNode(harness: Harness, node: ReturnType<Harness['node']>) {
  const closing = node.close(0)
  await harness.clock.advance(5000)
  await closing
}

describe('a group that is fenced', () => {
  it('still accepts its events, without a lease: they are sent under the next one', async () => {
    const harness = await createHarness([aWebhook()], true)
    const leases: boolean[] = []
    let isFenced = false
    const store = intercepted(harness, async (group, commit) => {
      leases.push(group.lease !== undefined)
      if (group.lease && isFenced) return { kind: 'fenced' }
      expect(group.lease === undefined ? group.ended.length + group.finished.length : 0).toBe(0)
      return commit(group)
    })
    const node = harness.node({}, { store })
    await node.start()
    isFenced = true
    await harness.publish('a')
    expect(leases.slice(-2)).toEqual([true, false])
    expect(harness.sender.requests).toHaveLength(0)
    isFenced = false
    await harness.clock.advance(30_000)
    expect(await states(harness)).toEqual(['delivered'])
    expect(harness.sender.requests).toHaveLength(1)
    await closeNode(harness, node)
  })

  it('leaves what is in flight to the next owner, and settles it once', async () => {
    const harness = await createHarness([aWebhook()], true)
    harness.sender.script = () => undefined
    let isFenced = false
    const store = intercepted(harness, async (group, commit) =>
      group.lease && isFenced ? { kind: 'fenced' } : commit(group),
    )
    const node = harness.node({}, { store })
    await node.start()
    await harness.publish('a')
    await harness.clock.settle()
    isFenced = true
    harness.sender.open[0]!.answer(responseWith(200))
    await harness.clock.settle()
    expect(node.inFlight('w1')).toBe(0)
    expect(node.stats().inFlight).toBe(0)
    expect(harness.emitted).toEqual([])
    await closeNode(harness, node)
  })
})

describe('a group of an older version', () => {
  it('starts nothing of a webhook that was disabled between taking and commit; it is cancelled', async () => {
    const harness = await createHarness([aWebhook(), aWebhook({}, { id: 'w2' })])
    let isFirst = true
    const store = intercepted(harness, async (group, commit) => {
      if (group.starting && isFirst) {
        isFirst = false
        await disable(harness)
      }
      return commit(group)
    })
    const node = harness.node({}, { store })
    await node.start()
    await harness.publish('a')
    await harness.clock.advance(2000)
    expect(harness.sender.requests.map(({ group }) => group)).toEqual(['w2'])
    expect(await states(harness, 'w1')).toEqual(['cancelled'])
    expect(await states(harness, 'w2')).toEqual(['delivered'])
    expect(harness.emitted.map(({ name }) => name).sort()).toEqual(['attempt', 'cancelled', 'delivered'])
    expect(node.pending()).toBe(0)
    await node.close(0)
  })

  it('writes nothing of an erased call, and sends the next one', async () => {
    const harness = await createHarness([aWebhook()])
    harness.sender.script = () => undefined
    const node = harness.node()
    await node.start()
    await harness.publish('a')
    await harness.publish('b')
    await harness.clock.settle()
    await harness.store.deliveries.erase({ accountId: 'acc', callIds: ['a'] }, 100)
    for (const { answer } of [...harness.sender.open]) answer(responseWith(200))
    await harness.clock.settle()
    expect((await harness.deliveries()).map(({ callId, state }) => [callId, state])).toEqual([
      ['b', 'delivered'],
    ])
    expect((await harness.attempts()).map(({ callId }) => callId)).toEqual(['b'])
    expect(node.inFlight('w1')).toBe(0)
    expect(node.pending()).toBe(0)
    await node.close(0)
  })
})

describe('a commit whose answer is lost', () => {
  it('is repeated: accepted once, settled once, sent once', async () => {
    const harness = await createHarness()
    const repeats: boolean[] = []
    let losesAnswer = true
    const store = intercepted(harness, async (group, commit) => {
      repeats.push(group.isRepeat)
      const result = await commit(group)
      losesAnswer = !losesAnswer
      if (!losesAnswer) throw unavailable()
      return result
    })
    const node = harness.node({}, { store })
    await node.start()
    const published = [harness.publish('a'), harness.publish('a'), harness.publish('b')]
    await harness.clock.advance(20_000)
    expect(new Set(await Promise.all(published)).size).toBe(3)
    expect(repeats.slice(0, 2)).toEqual([false, true])
    expect(await states(harness)).toEqual(new Array(3).fill('delivered'))
    expect(await records(harness)).toEqual(new Array(3).fill([1, undefined]))
    expect(harness.sender.requests.map(({ body }) => JSON.parse(body!).sequence).sort()).toEqual([1, 1, 2])
    expect(harness.emitted.filter(({ name }) => name === 'delivered')).toHaveLength(3)
    await node.close(0)
  })
})

describe('a store that fails', () => {
  it('rejects publishers at once when nothing was written, while settlements are retried', async () => {
    const harness = await createHarness()
    harness.sender.script = () => undefined
    let isDown = false
    const store = intercepted(harness, async (group, commit) => {
      if (isDown) throw notWritten(unavailable())
      return commit(group)
    })
    const node = harness.node({}, { store })
    await node.start()
    await harness.publish('a')
    await harness.clock.settle()
    isDown = true
    harness.sender.open[0]!.answer(responseWith(200))
    await expect(harness.publish('b')).rejects.toMatchObject({ code: 'StoreUnavailable' })
    await harness.clock.advance(30_000)
    expect(node.pending()).toBe(0)
    isDown = false
    await harness.clock.advance(5000)
    expect(await states(harness)).toEqual(['delivered'])
    await node.close(0)
  })

  it('rejects publishers behind a group of which nothing was written, too', async () => {
    const harness = await createHarness()
    harness.sender.script = () => undefined
    const outage = { isDown: false, fail: () => {} }
    const store = intercepted(harness, async (group, commit) => {
      if (!outage.isDown) return commit(group)
      await new Promise<void>((resolve) => {
        outage.fail = resolve
      })
      throw notWritten(unavailable())
    })
    const node = harness.node({}, { store })
    await node.start()
    await harness.publish('a')
    await harness.clock.settle()
    outage.isDown = true
    harness.sender.open[0]!.answer(responseWith(200))
    await harness.clock.settle()
    const behind = harness.publish('b').catch(({ code }: HookswitchError) => code)
    await harness.clock.settle()
    outage.isDown = false
    outage.fail()
    expect(await behind).toBe('StoreUnavailable')
    expect(node.pending()).toBe(0)
    await harness.clock.advance(1000)
    expect(await states(harness)).toEqual(['delivered'])
    await node.close(0)
  })

  it('is tried again when something is published, not more than ten times a second', async () => {
    const harness = await createHarness()
    harness.sender.script = () => undefined
    let isDown = false
    let tries = 0
    const store = intercepted(harness, async (group, commit) => {
      if (!isDown) return commit(group)
      tries++
      throw notWritten(unavailable())
    })
    const node = harness.node({}, { store })
    await node.start()
    await harness.publish('a')
    await harness.clock.settle()
    isDown = true
    harness.sender.open[0]!.answer(responseWith(200))
    await harness.clock.advance(60_000)
    const before = tries
    for (let call = 0; call < 10; call++) {
      const published = harness.publish(`call-${call}`).catch(({ code }: HookswitchError) => code)
      await harness.clock.advance(50)
      await harness.clock.advance(50)
      expect(await published).toBe('StoreUnavailable')
    }
    expect(tries - before).toBeLessThanOrEqual(11)
    isDown = false
    await harness.publish('b')
    // It starts in the group that accepts it.
    expect(await states(harness)).toEqual(['delivered', 'in_flight'])
    await node.close(0)
  })

  it('is tried ten times a second while a publisher of the group waits', async () => {
    const harness = await createHarness()
    let failures = 5
    const store = intercepted(harness, async (group, commit) => {
      if (group.accepted.length > 0 && failures-- > 0) throw unavailable()
      return commit(group)
    })
    const node = harness.node({}, { store })
    await node.start()
    let isAccepted = false
    void harness.publish('a').then(() => {
      isAccepted = true
    })
    await harness.clock.advance(499)
    expect(isAccepted).toBe(false)
    await harness.clock.advance(1)
    expect(isAccepted).toBe(true)
    await node.close(0)
  })

  it('keeps a group that may have been written, also when a repeat of it was not', async () => {
    const harness = await createHarness()
    const errors = [unavailable(), notWritten(unavailable())]
    const store = intercepted(harness, async (group, commit) => {
      const error = group.accepted.length > 0 ? errors.shift() : undefined
      if (!error) return commit(group)
      if (errors.length > 0) await commit(group)
      throw error
    })
    const node = harness.node({}, { store })
    await node.start()
    const published = harness.publish('a')
    await harness.clock.advance(5000)
    await published
    await harness.clock.settle()
    expect(harness.sent()).toEqual(['a'])
    expect(await states(harness)).toEqual(['delivered'])
    await node.close(0)
  })

  it('refuses publishers whose events may be written once it takes nothing for two seconds, and still repeats the group', async () => {
    const harness = await createHarness()
    let isAway = true
    const store = intercepted(harness, async (group, commit) => {
      if (group.accepted.length === 0 || !isAway) return commit(group)
      if (group.isRepeat) throw notWritten(unavailable())
      await commit(group)
      throw unavailable()
    })
    const node = harness.node({}, { store })
    await node.start()
    let error: unknown
    const published = harness.publish('a').catch((thrown: unknown) => {
      error = thrown
    })
    await harness.clock.advance(1_900)
    expect(error).toBeUndefined()
    await harness.clock.advance(300)
    await published
    expect(error).toMatchObject({ code: 'StoreUnavailable' })
    expect(harness.sent()).toEqual([])
    isAway = false
    await harness.clock.advance(5_000)
    expect(harness.sent()).toEqual(['a'])
    await node.close(0)
  })

  it('lets publishers wait for ten seconds, those in the group and those behind it', async () => {
    const harness = await createHarness()
    const { promise: released, resolve: release } = deferred()
    const store = intercepted(harness, async (group, commit) => {
      await released
      return commit(group)
    })
    const node = harness.node({}, { store })
    await node.start()
    const outcomes: string[] = []
    const publish = (call: string) =>
      void harness.publish(call).then(
        () => outcomes.push(`${call} accepted`),
        ({ code }: HookswitchError) => outcomes.push(`${call} ${code}`),
      )
    publish('in-group')
    await harness.clock.advance(1000)
    publish('behind')
    await harness.clock.advance(8_999)
    expect(outcomes).toEqual([])
    await harness.clock.advance(1)
    expect(outcomes).toEqual(['in-group StoreUnavailable'])
    await harness.clock.advance(1000)
    expect(outcomes).toEqual(['in-group StoreUnavailable', 'behind StoreUnavailable'])
    // The group is not given up, but nothing was formed of the one behind it.
    release()
    await harness.clock.settle()
    expect(harness.sent()).toEqual(['in-group'])
    expect(node.pending()).toBe(0)
    await node.close(0)
  })

  it.each(['accepted', 'ended', 'starting'] as const)(
    'with another error in a group with several parts: they are committed separately (%s)',
    async (part) => {
      const harness = await createHarness([aWebhook({ ordering: 'none' })])
      harness.sender.script = () => undefined
      const isPoisoned = ({ accepted, ended, starting }: Group) =>
        (part === 'accepted' && accepted.some(({ events }) => events[0]?.callId === 'poison')) ||
        (part === 'ended' && ended.some(({ record }) => record?.callId === 'poison')) ||
        (part === 'starting' && starting !== undefined && starting.deliveries.length > 1)
      let groups = 0
      const store = intercepted(harness, async (group, commit) => {
        if (groups++ > 200) throw new Error('a group is split without end')
        if (isPoisoned(group)) throw new Error('the value is out of range')
        return commit(group)
      })
      const node = harness.node({}, { store })
      await node.start()
      const calls = ['a', 'poison', 'b']
      const published = await Promise.all(
        calls.map((call) => harness.publish(call).catch(({ message }: Error) => message)),
      )
      await harness.clock.settle()
      for (const { answer } of [...harness.sender.open]) answer(responseWith(200))
      harness.sender.script = () => responseWith(200)
      await harness.clock.settle()
      const ended = (await harness.deliveries()).filter(({ state }) => state === 'delivered')
      const endedCalls = ended.map(({ callId }) => callId)
      if (part === 'accepted') {
        expect(published[1]).toBe('the value is out of range')
        expect(endedCalls).toEqual(['a', 'b'])
      } else if (part === 'ended') {
        // Without its record the attempt is settled too: otherwise it would be sent again.
        expect(endedCalls).toEqual(calls)
        expect((await harness.attempts()).map(({ callId }) => callId)).toEqual(['a', 'b'])
      } else {
        // Those that were refused together are tried again after a pause; the other one does not wait.
        expect(endedCalls).toHaveLength(1)
        await harness.clock.advance(1000)
      }
      expect(groups).toBeLessThan(50)
      expect(node.stats().inFlight).toBe(0)
      await closeNode(harness, node)
    },
  )
})

describe('one settlement of many that is always refused', () => {
  it('is found by few commits', async () => {
    const harness = await createHarness([aWebhook({ ordering: 'none' })])
    let commits = 0
    const store = intercepted(harness, async (group, commit) => {
      commits += 1
      if (group.ended.some(({ record }) => record?.callId === 'poison')) throw new Error('out of range')
      return commit(group)
    })
    const node = harness.node(
      { caps: { total: 128, perAccount: 128, perOrigin: 128, perEndpoint: 128 } },
      { store },
    )
    await node.start()
    // An endpoint whose latency is known gets all slots.
    await harness.publish('first')
    await harness.clock.settle()
    harness.sender.script = () => undefined
    const calls = Array.from({ length: 100 }, (_, index) => (index === 61 ? 'poison' : `call-${index}`))
    await Promise.all(calls.map((call) => harness.publish(call)))
    await harness.clock.settle()
    expect(harness.sender.open).toHaveLength(calls.length)
    commits = 0
    for (const { answer } of [...harness.sender.open]) answer(responseWith(200))
    await harness.clock.settle()
    expect(await states(harness)).toEqual(['first', ...calls].map(() => 'delivered'))
    expect((await harness.attempts()).map(({ callId }) => callId)).not.toContain('poison')
    expect(commits).toBeLessThan(2 * Math.ceil(Math.log2(calls.length)) + 5)
    await node.close(0)
  })
})

describe('a start', () => {
  it('is stored before its request is sent, with the number of the attempt, and forgotten after it', async () => {
    const harness = await createHarness([aWebhook({ retries: 1 })])
    const starts: number[] = []
    const finished: number[] = []
    const keys: number[] = []
    const store = intercepted(harness, async (group, commit) => {
      const before = harness.sender.requests.length
      const result = await commit(group)
      if (group.starting) {
        expect(harness.sender.requests).toHaveLength(before)
        starts.push(...group.starting.deliveries.map(({ attempt }) => attempt))
        keys.push(group.starting.key)
      }
      finished.push(...group.finished)
      return result
    })
    harness.sender.script = (_, attempt) => responseWith(attempt === 1 ? 500 : 200)
    const node = harness.node({ policy: constant(1000, { jitter: 0 }) }, { store })
    await node.start()
    await harness.publish('a')
    await harness.clock.advance(2000)
    expect(starts).toEqual([1, 2])
    expect(keys).toEqual([1, 2])
    expect(finished).toEqual([1, 2])
    await node.close(0)
  })

  it('is not sent when its commit took so long that the lease may end: the delivery waits', async () => {
    const harness = await createHarness([aWebhook()], true)
    let delayMs = 0
    const store = intercepted(harness, async (group, commit) => {
      const result = await commit(group)
      if (group.starting && delayMs > 0) await harness.clock.sleep(delayMs)
      return result
    })
    const node = harness.node({}, { store })
    await node.start()
    delayMs = 22_000
    harness.faults.failing.add('renew')
    await harness.publish('a')
    await harness.clock.advance(22_000)
    expect(harness.sender.requests).toHaveLength(0)
    delayMs = 0
    harness.faults.failing.clear()
    await harness.clock.advance(30_000)
    expect(harness.sender.requests.map((request) => headerOf(request, 'x-hook-attempt'))).toEqual(['1'])
    expect(await records(harness)).toEqual([[1, undefined]])
    await closeNode(harness, node)
  })

  it('that the store refuses because of other counters is corrected, without a busy loop', async () => {
    const harness = await createHarness()
    harness.sender.script = () => undefined
    let groups = 0
    let refuses = true
    const store = intercepted(harness, async (group, commit) => {
      groups++
      const result = await commit({ ...group, ...(refuses && { starting: undefined }) } as Group)
      if (!group.starting || !refuses || result.kind !== 'committed') return result
      return { ...result, notStarted: group.starting.deliveries.map((_, index) => index) }
    })
    const node = harness.node({}, { store })
    await node.start()
    await harness.publish('a')
    await harness.clock.advance(10_000)
    expect(groups).toBeLessThan(40)
    expect(node.stats().inFlight).toBe(0)
    refuses = false
    await harness.clock.advance(1000)
    expect(harness.sender.open).toHaveLength(1)
    const closing = node.close(0)
    await harness.clock.settle()
    await closing
  })
})

describe('a close while the store cannot be written', () => {
  it('leaves the starts to the next owner: the attempt is recorded as interrupted, and sent once more', async () => {
    const harness = await createHarness([aWebhook()], true)
    harness.sender.script = () => undefined
    const node = harness.node()
    await node.start()
    await harness.publish('a')
    await harness.clock.settle()
    harness.faults.failing.add('commit')
    harness.sender.open[0]!.answer(responseWith(200))
    await closeNode(harness, node)
    harness.faults.failing.clear()
    harness.sender.script = () => responseWith(200)
    const next = harness.node()
    await next.start()
    await harness.clock.advance(40_000)
    expect(await records(harness)).toEqual([
      [1, 'interrupted'],
      [2, undefined],
    ])
    expect(harness.sender.requests).toHaveLength(2)
    await closeNode(harness, next)
  })

  it('ends although the store has not answered the start yet', async () => {
    const harness = await createHarness()
    harness.faults.failing.add('load')
    const node = harness.node()
    const started = node.start()
    await harness.clock.advance(1000)
    let isClosed = false
    const closing = node.close(3000).then(() => {
      isClosed = true
    })
    await harness.clock.advance(8000)
    expect(isClosed).toBe(true)
    await Promise.all([closing, started])
    expect(harness.clock.sleepers().count).toBe(0)
  })
})
