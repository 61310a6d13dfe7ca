/** Replays of many deliveries, as jobs of the whole service. Receivers answer at once, on a manual clock. */
import { afterEach, describe, expect, it } from 'vitest'
import { closeServices, createService, type Sent } from './replay-service.js'

afterEach(closeServices)

const ordered = (sent: readonly Sent[]) =>
  sent.every(
    (request, index) =>
      !sent.slice(index).some((later) => later.call === request.call && later.sequence < request.sequence),
  )

describe('a replay of all that was lost', () => {
  it('repeats each event once, in the order of its call, and calls do not wait for each other', async () => {
    const service = await createService()
    const { hs, clock, sent } = service
    await service.create('crm')
    service.status = 400
    await service.publish(20, 5)
    sent.length = 0
    service.status = 200
    expect((await hs.replays.count({ accountId: 'parent' })).count).toBe(100)
    const job = await hs.replays.start({ accountId: 'parent' })
    expect(job).toMatchObject({ state: 'running', count: 100, replayed: 0, leftOut: [] })
    expect(await service.ended(job.id)).toMatchObject({ state: 'completed', count: 100, replayed: 100 })
    await clock.settle()
    expect(sent).toHaveLength(100)
    expect(new Set(sent.map(({ event }) => event)).size).toBe(100)
    expect(ordered(sent)).toBe(true)
    // Nothing is left to replay.
    expect((await hs.replays.count({ accountId: 'parent' })).count).toBe(0)
    const again = await hs.replays.start({ accountId: 'parent' })
    expect(again).toMatchObject({ state: 'completed', count: 0 })
    expect((await hs.replays.count({ accountId: 'parent', includeRecovered: true })).count).toBe(100)
  })

  it('leaves out what was recovered, and repeats what a replay has lost again', async () => {
    const service = await createService()
    const { hs, sent } = service
    await service.create('crm')
    const replay = async (selection: object) => {
      const { id } = await hs.replays.start({ accountId: 'parent', ...selection })
      await service.ended(id)
      await service.clock.advance(1_000)
    }
    service.status = 400
    await service.publish(3, 1)
    await replay({ callId: 'call-1' })
    service.status = 200
    await replay({ callId: 'call-0' })
    sent.length = 0
    await replay({})
    expect(sent.map(({ call }) => call).sort()).toEqual(['call-1', 'call-2'])
  })

  it('repeats each delivery once although the replays fail and the process is killed', async () => {
    const service = await createService({ inFlightPerEndpoint: 1 })
    const webhookId = await service.create('crm')
    service.status = 400
    await service.publish(300, 1)
    const { id } = await service.hs.replays.start({ accountId: 'parent' })
    for (let kill = 0; kill < 2; kill++) {
      await service.clock.advance(100)
      await service.start()
    }
    expect(await service.ended(id)).toMatchObject({ state: 'completed', count: 300, replayed: 300 })
    await service.clock.advance(60_000)
    const replays = (await service.hs.webhooks.deliveries('parent', webhookId, { limit: 1_000 })).filter(
      ({ replayOf }) => replayOf !== undefined,
    )
    expect(replays).toHaveLength(300)
    expect(new Set(replays.map(({ replayOf }) => replayOf)).size).toBe(300)
  })

  it('marks originals and replays', async () => {
    const service = await createService()
    const webhookId = await service.create('crm')
    service.status = 400
    await service.publish(1, 1)
    service.status = 200
    const { id } = await service.hs.replays.start({ accountId: 'parent' })
    await service.ended(id)
    await service.clock.settle()
    const [replay, original] = await service.hs.webhooks.deliveries('parent', webhookId)
    expect(replay).toMatchObject({ state: 'delivered', replayOf: original!.id })
    expect(original).toMatchObject({
      state: 'exhausted',
      replays: { lastId: replay!.id, hasRecovered: true },
    })
  })

  it('covers the accounts below, and no others; without an account, all', async () => {
    const service = await createService()
    for (const account of ['parent', 'child', 'other']) await service.create(account, {}, account)
    service.status = 400
    for (const account of ['parent', 'child', 'other']) await service.publish(1, 1, account)
    const { hs } = service
    expect((await hs.replays.count({ accountId: 'parent' })).count).toBe(2)
    expect((await hs.replays.count({ accountId: 'child' })).count).toBe(1)
    expect(await hs.replays.count({})).toEqual({ count: 3, webhooks: 3, accounts: 3 })
    const { uri } = (await hs.webhooks.list('child'))[0]!
    const { host } = new URL(uri)
    for (const scope of [{}, { accountId: 'parent' }]) {
      expect(await hs.replays.count({ ...scope, host })).toEqual(await hs.replays.count(scope))
      expect(await hs.replays.count({ ...scope, host: 'nobody.example' })).toMatchObject({
        count: 0,
        webhooks: 0,
      })
    }
    service.status = 200
    const { id } = await hs.replays.start({ accountId: 'parent' })
    await service.ended(id)
    await service.clock.settle()
    expect((await hs.replays.count({})).count).toBe(1)
    await expect(hs.replays.read(id, 'other')).rejects.toMatchObject({ code: 'NotFound', id })
    await expect(hs.replays.set(id, 'cancelled', 'other')).rejects.toMatchObject({ code: 'NotFound', id })
    expect(await hs.replays.list({ accountId: 'other' })).toEqual([])
  })

  it('selects by time, result, kind, reason, call and number', async () => {
    const service = await createService()
    const webhookId = await service.create('crm')
    const { hs, clock } = service
    const publish = (callId: string, hook: 'channel_create' | 'channel_destroy', from?: string) =>
      hs.publish({ hook, accountId: 'parent', callId, ...(from && { callerIdNumber: from }) })
    service.status = 400
    await publish('a', 'channel_create', '+493012345')
    await clock.advance(1_000)
    const middle = clock.now()
    service.status = 500
    await publish('b', 'channel_destroy', '+493099999')
    await clock.advance(1_000)
    service.status = 200
    await publish('c', 'channel_create')
    await clock.settle()
    const count = async (selection: object) =>
      (await hs.replays.count({ accountId: 'parent', webhookId, ...selection })).count
    expect(await count({})).toBe(2)
    expect(await count({ result: 'success' })).toBe(1)
    expect(await count({ result: 'exhausted' })).toBe(2)
    expect(await count({ result: 'expired' })).toBe(0)
    expect(await count({ createdFromMs: middle })).toBe(1)
    expect(await count({ createdToMs: middle - 1 })).toBe(1)
    expect(await count({ hook: 'channel_destroy' })).toBe(1)
    expect(await count({ reason: 'status 400' })).toBe(1)
    expect(await count({ callId: 'b' })).toBe(1)
    expect(await count({ callId: 'c' })).toBe(0)
    expect(await count({ number: '+493012345' })).toBe(1)
    expect(await count({ number: '493012346' })).toBe(0)
    for (const selection of [{ hook: 'channel_destroy' }, { callId: 'a' }]) {
      const { id } = await hs.replays.start({ accountId: 'parent', ...selection })
      expect(await service.ended(id)).toMatchObject({ state: 'completed', replayed: 1 })
    }
    await clock.settle()
    expect(await count({})).toBe(0)
  })

  it('leaves out what waits, and what is being replayed by another job', async () => {
    const service = await createService({ inFlightPerEndpoint: 1 })
    const { hs } = service
    await service.create('crm')
    service.status = 400
    await service.publish(50, 1)
    service.sent.length = 0
    service.status = 200
    const jobs = await Promise.all([1, 2, 3].map(() => hs.replays.start({ accountId: 'parent' })))
    for (const { id } of jobs) await service.ended(id)
    await service.clock.settle()
    expect(service.sent).toHaveLength(50)
  })

  it('repeats nothing and skips nothing when its process is killed, however often', async () => {
    const service = await createService({ inFlightPerEndpoint: 5, replayBurst: 1 })
    for (const name of ['crm', 'billing', 'wallboard']) await service.create(name)
    service.status = 400
    await service.publish(400, 3)
    service.sent.length = 0
    service.status = 200
    const { id, count } = await service.hs.replays.start({})
    expect(count).toBe(3_600)
    for (let kill = 0; kill < 3; kill++) {
      await service.clock.yield()
      await service.start()
    }
    expect(await service.ended(id)).toMatchObject({ state: 'completed', replayed: 3_600 })
    await service.clock.advance(60_000)
    const perEvent = new Map<string, number>()
    for (const { webhook, event } of service.sent) {
      const key = `${webhook} ${event}`
      perEvent.set(key, (perEvent.get(key) ?? 0) + 1)
    }
    expect(perEvent.size).toBe(3_600)
    expect((await service.hs.replays.count({})).count).toBe(0)
  })

  it('goes on when a part of what it selects is erased meanwhile', async () => {
    const service = await createService()
    const { hs, clock, store } = service
    await service.create('crm')
    service.status = 400
    await service.publish(6, 1)
    service.sent.length = 0
    service.status = 200
    const { commit } = store.deliveries
    let erased: Promise<unknown> | undefined
    store.deliveries.commit = async (group) => {
      if (!erased && group.accepted.some(({ deliveries }) => deliveries.length === 6)) {
        erased = hs.erase({ accountId: 'parent', callId: 'call-3' })
        await erased
      }
      return commit(group)
    }
    const { id } = await hs.replays.start({ accountId: 'parent' })
    expect(await service.ended(id)).toMatchObject({ state: 'completed', count: 6, replayed: 5 })
    await clock.advance(60_000)
    expect(service.sent.map(({ call }) => call).sort()).toEqual([
      'call-0',
      'call-1',
      'call-2',
      'call-4',
      'call-5',
    ])
  })

  it('is named in the log by account, without calls and numbers', async () => {
    const lines: string[] = []
    const info = (fields: object, text: string) => void lines.push(`${text} ${JSON.stringify(fields)}`)
    const service = await createService({ log: { debug() {}, info, warn: info, error: info } })
    await service.create('crm')
    service.status = 400
    await service.publish(1, 1)
    const { id } = await service.hs.replays.start({ accountId: 'parent', callId: 'call-0' })
    await service.ended(id)
    await service.hs.replays.start({ accountId: 'parent', number: '+493012345' })
    const ofReplays = lines.filter((line) => line.includes('replayId'))
    expect(ofReplays).toHaveLength(3)
    expect(ofReplays.join()).toContain(`{"replayId":"${id}","accountId":"parent","count":1,"replayed":1}`)
    expect(ofReplays.join()).not.toMatch(/call-0|493012345/)
  })

  it('no longer names a call or number that was erased', async () => {
    const service = await createService()
    const { hs } = service
    await service.create('crm')
    service.status = 400
    await hs.publish({
      hook: 'channel_create',
      accountId: 'parent',
      callId: 'a',
      callerIdNumber: '+493012345',
    })
    await service.clock.settle()
    for (const selection of [{ callId: 'a' }, { number: '+493012345' }, { callId: 'b' }]) {
      const { id } = await hs.replays.start({ accountId: 'parent', includeRecovered: true, ...selection })
      await hs.replays.set(id, 'paused').catch(() => {})
    }
    await hs.erase({ accountId: 'parent', number: '493012345' })
    const jobs = await hs.replays.list({ accountId: 'parent' })
    expect(JSON.stringify(jobs)).not.toMatch(/493012345|"callId":"a"/)
    expect(jobs.map(({ state, request: { callId, number } }) => [state, callId ?? number]).sort()).toEqual([
      ['cancelled', '[erased]'],
      ['cancelled', '[erased]'],
      ['completed', 'b'],
    ])
  })

  it('is paused, continued and cancelled', async () => {
    const service = await createService()
    const { hs, clock } = service
    for (let n = 0; n < 5; n++) await service.create(`w${n}`)
    service.status = 400
    await service.publish(10, 2)
    service.status = 200
    const { id } = await hs.replays.start({ accountId: 'parent' })
    expect(await hs.replays.set(id, 'paused', 'parent')).toMatchObject({ state: 'paused' })
    await clock.advance(60_000)
    const paused = await hs.replays.read(id)
    expect(paused).toMatchObject({ state: 'paused', count: 100 })
    expect(await hs.replays.set(id, 'running')).toMatchObject({ state: 'running' })
    expect(await service.ended(id)).toMatchObject({ state: 'completed', replayed: 100 })
    await expect(hs.replays.set(id, 'running')).rejects.toMatchObject({ code: 'Conflict', field: 'state' })
    const next = await hs.replays.start({ accountId: 'parent', includeRecovered: true })
    expect(await hs.replays.set(next.id, 'cancelled')).toMatchObject({
      state: 'cancelled',
      endedMs: clock.now(),
    })
    service.sent.length = 0
    await clock.advance(60_000)
    expect(service.sent.length).toBeLessThan(100)
    expect((await hs.replays.list({ accountId: 'parent' })).map((job) => job.id)).toEqual([next.id, id])
  })

  it('ends the part of a webhook that is disabled or deleted meanwhile, with a reason', async () => {
    const service = await createService({ attemptTimeoutMs: 600_000, inFlightPerEndpoint: 10 })
    const { hs, clock } = service
    const [a, b, c] = [await service.create('a'), await service.create('b'), await service.create('c')]
    service.status = 400
    await service.publish(1_200, 1)
    service.status = 200
    for (const name of ['a', 'b']) service.silent.add(name)
    const job = await hs.replays.start({ accountId: 'parent' })
    // Until the progress is stored.
    await clock.advance(10_000)
    // 10 are in flight, 1,000 wait: more are not given to a webhook.
    expect(await hs.replays.read(job.id)).toMatchObject({ state: 'running', replayed: 3_220 })
    await hs.webhooks.patch('parent', a, { enabled: false })
    await hs.webhooks.remove('parent', b)
    const { leftOut, ...ended } = await service.ended(job.id)
    expect(ended).toMatchObject({ state: 'completed', count: 3_600, replayed: 3_220 })
    expect(new Set(leftOut)).toEqual(
      new Set([
        { webhookId: a, reason: 'disabled' },
        { webhookId: b, reason: 'deleted' },
      ]),
    )
    const disabled = { code: 'Conflict', field: 'enabled' }
    await expect(hs.replays.start({ accountId: 'parent', webhookId: a })).rejects.toMatchObject(disabled)
    expect(await hs.replays.start({ accountId: 'parent', webhookId: c })).toMatchObject({ count: 0 })
  })

  it.each([
    [{ accountId: 'nobody' }, 'NotFound', undefined],
    [{ accountId: 'parent', webhookId: 'nothing' }, 'NotFound', undefined],
    [{ accountId: 'parent', result: 'maybe' }, 'InvalidInput', 'result'],
    [{ accountId: 'parent', result: '__proto__' }, 'InvalidInput', 'result'],
    [{ accountId: 'parent', hook: 'channel_unknown' }, 'InvalidInput', 'hook'],
    [{ accountId: 'parent', reason: '' }, 'InvalidInput', 'reason'],
    [{ accountId: 'parent', callId: 'x'.repeat(257) }, 'InvalidInput', 'callId'],
    [{ accountId: 'parent', number: 7 }, 'InvalidInput', 'number'],
    [{ number: '+4930' }, 'InvalidInput', 'number'],
    [{ accountId: 'parent', number: '+' }, 'InvalidInput', 'number'],
    [{ accountId: 'parent', number: '\ud800\ud800\ud800' }, 'InvalidInput', 'number'],
    [{ accountId: 'parent', createdFromMs: 1e16 }, 'InvalidInput', 'createdFromMs'],
    [{ webhookId: 'w' }, 'InvalidInput', 'webhookId'],
    [{ accountId: 'parent', createdFromMs: 2, createdToMs: 1 }, 'InvalidInput', 'createdFromMs'],
    [{ accountId: 'parent', createdFromMs: Number.NaN }, 'InvalidInput', 'createdFromMs'],
    [{ accountId: 'parent', includeRecovered: 'yes' }, 'InvalidInput', 'includeRecovered'],
    [{ accountId: 'parent', resutl: 'failure' }, 'InvalidInput', 'resutl'],
    [null, 'InvalidInput', undefined],
  ])('refuses %j', async (request, code, field) => {
    const { hs } = await createService()
    for (const call of [hs.replays.start, hs.replays.count])
      await expect(call(request as never)).rejects.toMatchObject(field ? { code, field } : { code })
    expect(await hs.replays.list()).toEqual([])
  })

  it('refuses a hundred and first that has not ended', async () => {
    const service = await createService()
    const { hs } = service
    await service.create('crm')
    service.status = 400
    await service.publish(1, 1)
    for (let n = 0; n < 100; n++) {
      const { id } = await hs.replays.start({ accountId: 'parent', includeRecovered: true })
      await hs.replays.set(id, 'paused')
    }
    await expect(hs.replays.start({ accountId: 'parent' })).rejects.toMatchObject({ code: 'TooManyReplays' })
    expect(await hs.replays.start({ accountId: 'other' })).toMatchObject({ count: 0 })
  })
})

describe('what expired because too many waited', () => {
  it('is replayed by itself, once, when less than half of the limit waits', async () => {
    const service = await createService({ maxPendingPerWebhook: 100, pauses: true, defaultRetries: 3 })
    const { hs, clock, sent } = service
    const webhookId = await service.create('crm')
    service.status = 503
    await service.publish(300, 1)
    await clock.advance(1_000)
    const expired = await hs.webhooks.deliveries('parent', webhookId, { states: ['expired'], limit: 500 })
    expect(expired.length).toBeGreaterThanOrEqual(195)
    expect(expired.every(({ reason, replays }) => reason === 'queue_full' && !replays)).toBe(true)
    sent.length = 0
    service.status = 200
    await clock.advance(600_000)
    expect(new Set(sent.map(({ event }) => event)).size).toBe(300)
    const [job] = await hs.replays.list({ accountId: 'parent' })
    expect(job!.replayed).toBe(expired.length)
    expect(job).toMatchObject({ isAutomatic: true, request: { accountId: 'parent', reason: 'queue_full' } })
    await clock.advance(3_600_000)
    expect(await hs.replays.read(job!.id)).toMatchObject({ state: 'completed', replayed: expired.length })
    expect(sent.filter(({ event }) => expired.some(({ eventId }) => eventId === event))).toHaveLength(
      expired.length,
    )
  })

  it('is not replayed when it is older than the maximum age', async () => {
    const service = await createService({
      maxPendingPerWebhook: 10,
      pauses: true,
      defaultRetries: 3,
      defaultMaxAgeSeconds: 60,
    })
    const { hs, clock, sent } = service
    await service.create('crm')
    service.status = 503
    await service.publish(30, 1)
    await clock.advance(120_000)
    sent.length = 0
    service.status = 200
    await clock.advance(600_000)
    expect(sent).toEqual([])
    expect((await hs.replays.count({ accountId: 'parent', reason: 'queue_full' })).count).toBeGreaterThan(0)
  })
})
