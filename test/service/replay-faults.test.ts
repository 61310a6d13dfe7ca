/** Replay jobs when the store fails, when there are many, and when what they name is erased. */
import { type StoredReplay, shardOf } from 'hookswitch/store'
import { afterEach, describe, expect, it } from 'vitest'
import { closeServices, createService } from './replay-service.js'

afterEach(closeServices)

/** One of 1,000 jobs of ten accounts, which nobody continues. */
function pausedJob(n: number, createdMs: number): StoredReplay {
  const accountId = `account-${n % 10}`
  return {
    id: n.toString(16).padStart(32, '0'),
    accountId,
    state: 'paused',
    createdMs,
    revision: 1,
    doc: JSON.stringify({ request: { accountId }, count: 1, replayed: 0, leftOut: [], isAutomatic: false }),
  }
}

/** A service with lost deliveries of one webhook, and a job that waits: its receiver does not answer. */
async function createWaiting(calls: number, events: number, request: object, maxPendingPerWebhook = 50_000) {
  const service = await createService({ attemptTimeoutMs: 600_000, maxPendingPerWebhook })
  const webhookId = await service.create('crm')
  service.status = 400
  for (let left = events; left > 0; left--) await service.publish(calls, 1)
  service.status = 200
  service.silent.add('crm')
  const job = await service.hs.replays.start({ accountId: 'parent', ...request })
  await service.clock.advance(5_000)
  return { ...service, webhookId, job }
}

describe('a replay job', () => {
  it('does not repeat tests', async () => {
    const service = await createService()
    const { hs, clock, sent } = service
    const webhookId = await service.create('crm')
    service.status = 400
    await hs.webhooks.test('parent', webhookId)
    await service.publish(1, 1)
    service.status = 200
    sent.length = 0
    const job = await hs.replays.start({ accountId: 'parent' })
    expect(await service.ended(job.id)).toMatchObject({ count: 1, replayed: 1 })
    await clock.settle()
    expect(sent.map(({ call }) => call)).toEqual(['call-0'])
  })

  it('of a call ends although its deliveries have gone meanwhile', async () => {
    const { hs, clock, store, release, ended, job } = await createWaiting(1, 30, { callId: 'call-0' }, 20)
    const limits = { attemptsPerWebhook: 1_000, beforeMs: clock.now() + 1, limit: 500 }
    await store.deliveries.prune(limits, clock.now())
    await release()
    const { replayed, state } = await ended(job.id)
    expect(state).toBe('completed')
    expect(replayed).toBeLessThan(30)
    expect((await hs.replays.count({ accountId: 'parent' })).count).toBe(0)
  })

  it('of a call leaves out what somebody has replayed meanwhile', async () => {
    const { hs, clock, webhookId, release, ended, job } = await createWaiting(1, 30, { callId: 'call-0' }, 20)
    const [last] = await hs.webhooks.deliveries('parent', webhookId, { states: ['exhausted'], limit: 1 })
    await hs.webhooks.replay('parent', webhookId, last!.id)
    await release()
    expect(await ended(job.id)).toMatchObject({ state: 'completed', replayed: 30 })
    await clock.settle()
    const all = await hs.webhooks.deliveries('parent', webhookId, { limit: 100 })
    expect(all.filter(({ replayOf }) => replayOf === last!.id)).toHaveLength(1)
    expect(all).toHaveLength(60)
  })

  it('names a webhook that it leaves out once, though it begins again', async () => {
    const service = await createService({ attemptTimeoutMs: 600_000 })
    const { hs, clock } = service
    await service.create('a')
    const webhookId = await service.create('b')
    service.status = 400
    await service.publish(1_200, 1)
    service.silent.add('a')
    await hs.webhooks.patch('parent', webhookId, { enabled: false })
    const { id } = await hs.replays.start({ accountId: 'parent' })
    for (const state of ['paused', 'running', 'paused'] as const) {
      await clock.advance(5_000)
      await hs.replays.set(id, state)
    }
    await clock.advance(5_000)
    expect((await hs.replays.read(id)).leftOut).toEqual([{ webhookId, reason: 'disabled' }])
  })

  it('of an account displaces nothing where its webhooks belong to another node', async () => {
    const service = await createService({ maxPendingPerAccount: 300, attemptTimeoutMs: 600_000 }, true)
    await service.start()
    const { hs, clock } = service
    const names = Array.from({ length: 16 }, (_, n) => `w${n}`)
    for (const name of names) await service.create(name)
    await clock.advance(20_000)
    service.status = 400
    for (let left = 8; left > 0; left--) {
      await service.publish(5, 1)
      await clock.advance(1_000)
    }
    expect((await hs.replays.count({ accountId: 'parent' })).count).toBe(640)
    service.status = 200
    for (const name of names) service.silent.add(name)
    const job = await hs.replays.start({ accountId: 'parent' })
    await clock.advance(60_000)
    expect(await hs.replays.list()).toHaveLength(1)
    for (let left = 200; left > 0; left--) {
      await service.release()
      await clock.advance(1_000)
    }
    expect(await hs.replays.read(job.id)).toMatchObject({ state: 'completed', replayed: 640, count: 640 })
  })

  it('displaces nothing beside others of the account, where all their webhooks belong to another node', async () => {
    const service = await createService({ maxPendingPerAccount: 300, attemptTimeoutMs: 600_000 }, true)
    await service.start()
    const { hs, clock, store } = service
    const shards = new Map<string, readonly number[]>()
    const { renew } = store.deliveries
    store.deliveries.renew = async (owner, leaseMs) => {
      const lease = await renew(owner, leaseMs)
      shards.set(owner, lease.shards)
      return lease
    }
    await clock.advance(20_000)
    const [own] = [...shards.values()]
    const webhooks: string[] = []
    while (webhooks.length < 12) {
      const name = `w${webhooks.length}`
      const id = await service.create(name, { uri: `https://${name}.example.com/${name}` })
      if (own!.includes(shardOf(id))) webhooks.push(name)
      else await hs.webhooks.remove('parent', id)
    }
    service.status = 400
    for (let left = 12; left > 0; left--) {
      await service.publish(5, 1)
      await clock.advance(1_000)
    }
    service.status = 200
    for (const name of webhooks) service.silent.add(name)
    const jobs: string[] = []
    for (const name of webhooks) {
      const { id } = await hs.replays.start({ accountId: 'parent', host: `${name}.example.com` })
      jobs.push(id)
    }
    expect(jobs.filter((id) => !own!.includes(shardOf(id))).length).toBeGreaterThan(3)
    await clock.advance(60_000)
    // The service would replay what is displaced.
    expect(await hs.replays.list()).toHaveLength(12)
    for (let left = 300; left > 0; left--) {
      await service.release()
      await clock.advance(1_000)
    }
    for (const id of jobs)
      expect(await hs.replays.read(id)).toMatchObject({ state: 'completed', replayed: 60, count: 60 })
  })

  it('begins a second later if the store failed', async () => {
    const service = await createService()
    const { hs, store } = service
    await service.create('crm')
    service.status = 400
    await service.publish(10, 1)
    service.status = 200
    const { list } = store.webhooks
    let calls = 0
    store.webhooks.list = async (ids) => {
      calls += 1
      // The first call counts.
      if (calls === 2) throw new Error('the store is down')
      return list(ids)
    }
    const job = await hs.replays.start({ accountId: 'parent' })
    expect(await service.ended(job.id)).toMatchObject({ state: 'completed', replayed: 10 })
  })

  it('works on four webhooks at a time, and on one where they could take more room than there is', async () => {
    for (const [maxPendingPerAccount, expected] of [
      [10_000, 4],
      [99, 1],
    ] as const) {
      const service = await createService({ maxPendingPerAccount })
      const { hs, store } = service
      for (let n = 0; n < 12; n += 1) await service.create(`w${n}`)
      service.status = 400
      await service.publish(2, 1)
      service.status = 200
      const { deliveries } = store.deliveries
      let reading = 0
      let most = 0
      store.deliveries.deliveries = async (query) => {
        reading += 1
        most = Math.max(most, reading)
        await service.clock.yield()
        reading -= 1
        return deliveries(query)
      }
      const job = await hs.replays.start({ accountId: 'parent' })
      expect(await service.ended(job.id)).toMatchObject({ state: 'completed', replayed: 24, count: 24 })
      expect(most).toBe(expected)
    }
  })

  it('counts what was replayed beside a webhook whose step failed', async () => {
    const service = await createService()
    const { hs, store } = service
    for (let n = 0; n < 4; n += 1) await service.create(`w${n}`)
    service.status = 400
    await service.publish(3, 1)
    service.status = 200
    const { deliveries } = store.deliveries
    let calls = 0
    store.deliveries.deliveries = async (query) => {
      calls += 1
      if (calls === 1) throw new Error('the store is down')
      return deliveries(query)
    }
    const job = await hs.replays.start({ accountId: 'parent' })
    expect(await service.ended(job.id)).toMatchObject({ state: 'completed', replayed: 12, count: 12 })
    expect(service.sent).toHaveLength(24)
  })

  it('asks the store seldom while it waits for a receiver, or the store fails', async () => {
    const { clock, store, release, ended, job } = await createWaiting(1_200, 1, {})
    const { unfinished } = store.replays
    let calls = 0
    const answers = { isDown: false }
    store.replays.unfinished = async (limit) => {
      calls += 1
      if (answers.isDown && calls < 1_000) throw new Error('the store is down')
      return unfinished(limit)
    }
    await clock.advance(60_000)
    expect(calls).toBeLessThan(30)
    calls = 0
    answers.isDown = true
    await clock.advance(60_000)
    expect(calls).toBeLessThan(70)
    answers.isDown = false
    await release()
    expect(await ended(job.id)).toMatchObject({ state: 'completed', replayed: 1_200 })
  })

  it('does not hold up closing while it looks for the deliveries of a call', async () => {
    const service = await createService()
    const { hs, store } = service
    await service.create('crm')
    service.status = 400
    await service.publish(1, 1)
    const { search } = store.deliveries
    let pages = 0
    store.deliveries.search = async (query) => {
      pages += 1
      // The first call counts; the history that the job reads has no end.
      if (pages === 1) return search(query)
      await new Promise(setImmediate)
      return { deliveries: [], cursor: 1_000_000 - pages }
    }
    await hs.replays.start({ accountId: 'parent', callId: 'call-0' })
    while (pages < 10) await new Promise(setImmediate)
    await hs.close({ drainMs: 0 })
    expect(pages).toBeLessThan(20)
  })
})

describe('a thousand paused jobs of other accounts', () => {
  it('keep nobody from replays, and start no automatic job twice', async () => {
    const service = await createService({ maxPendingPerWebhook: 100, pauses: true, defaultRetries: 3 })
    const { hs, clock, store } = service
    for (let n = 0; n < 1_000; n++) await store.replays.create(pausedJob(n, clock.now() - 1))
    await service.create('crm')
    let created = 0
    const { create } = store.replays
    store.replays.create = async (job) => {
      created += 1
      if (created > 10) throw new Error('too many jobs')
      return create(job)
    }
    service.status = 503
    await service.publish(300, 1)
    await clock.advance(1_000)
    expect(created).toBe(1)
    const job = await hs.replays.start({ accountId: 'parent', includeRecovered: true })
    await hs.replays.set(job.id, 'paused')
    await expect(hs.replays.start({ accountId: 'parent' })).rejects.toMatchObject({ code: 'TooManyReplays' })
    service.status = 200
    await clock.advance(900_000)
    expect((await hs.replays.count({ accountId: 'parent', reason: 'queue_full' })).count).toBe(0)
  })
})

describe('an erasure', () => {
  it('removes a call from a job whose progress is written at the same time', async () => {
    const { hs, store, job } = await createWaiting(1, 1_200, { callId: 'call-0' })
    const { list } = store.replays
    store.replays.list = async (query) => {
      const found = await list(query)
      const stored = (await store.replays.read(job.id))!
      await store.replays.replace({ ...stored, revision: stored.revision + 1 })
      return found
    }
    await hs.erase({ accountId: 'parent', callId: 'call-0' })
    expect(await hs.replays.read(job.id)).toMatchObject({
      state: 'cancelled',
      request: { callId: '[erased]' },
    })
  })

  it('leaves the jobs of other accounts, and changes those of the accounts above', async () => {
    const service = await createService()
    const { hs } = service
    const jobs: string[] = []
    for (const account of ['parent', 'other']) {
      await service.create('crm', {}, account)
      service.status = 400
      await service.publish(1, 1, account)
      const { id } = await hs.replays.start({ accountId: account, callId: 'call-0', includeRecovered: true })
      jobs.push(id)
    }
    await hs.erase({ accountId: 'child', callId: 'call-0' })
    const [above, other] = await Promise.all(jobs.map((id) => hs.replays.read(id)))
    expect(above!.request.callId).toBe('[erased]')
    expect(other).toMatchObject({ request: { callId: 'call-0' } })
    expect(other!.state).not.toBe('cancelled')
  })
})
