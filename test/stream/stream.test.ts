import { errorCode, memoryStore } from 'hookswitch'
import { manualClock } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { answer, lastIdOf, readStream, startInstance, typesOf } from './harness.js'

const settleAll = { types: ['attempt'] } as const

describe('attempts', () => {
  it('arrive as they are recorded, as in lists, without headers and bodies', async () => {
    const instance = await startInstance()
    const webhookId = await instance.webhook()
    const reader = await readStream(instance, { accountId: 'top' })
    instance.answers.push(answer(503))
    await instance.publish()
    const [item] = await reader.until(1)
    const [stored] = await instance.hs.webhooks.attempts('top')
    expect(item).toMatchObject({
      type: 'attempt',
      data: {
        id: stored!.id,
        account_id: 'top',
        hook_id: webhookId,
        result: 'failure',
        resp_status_code: '503',
        call_id: 'call-1',
        attempt: 1,
      },
    })
    for (const name of ['req_headers', 'req_body', 'resp_headers', 'resp_body'])
      expect((item as { data: object }).data).not.toHaveProperty(name)
  })

  it('name the parties of the call, also where a stream resumes', async () => {
    const instance = await startInstance()
    await instance.webhook()
    const parties = { call: { from: '1@a.example', direction: 'inbound' }, caller_name: 'Ann' }
    const fields = { from: '1@a.example', direction: 'inbound', callerIdName: 'Ann' }
    const first = await readStream(instance, { accountId: 'top', ...settleAll })
    await instance.publish(1, 'top', fields)
    const items = await first.until(1)
    expect(items[0]).toMatchObject({ data: parties })
    first.stop()
    await instance.publish(1, 'top', fields)
    const next = await readStream(instance, { accountId: 'top', lastId: lastIdOf(items), ...settleAll })
    expect((await next.until(1))[0]).toMatchObject({ data: parties })
  })

  it('that were recorded before a stream began are not part of it', async () => {
    const instance = await startInstance()
    await instance.webhook()
    await instance.publish(3)
    const reader = await readStream(instance, { accountId: 'top' })
    await instance.publish()
    const items = await reader.until(1)
    await instance.clock.advance(5_000)
    expect(items).toHaveLength(1)
    expect(items[0]).toMatchObject({ data: { call_id: 'call-4' } })
  })

  it('have ids in order, from which another stream continues without a gap and without a repeat', async () => {
    const instance = await startInstance()
    await instance.webhook()
    const first = await readStream(instance, { accountId: 'top' })
    await instance.publish(5)
    const before = [...(await first.until(5))]
    first.stop()
    await instance.publish(4)
    for (let index = 0; index < 5; index += 1) {
      const lastId = (before[index] as { id: string }).id
      const next = await readStream(instance, { accountId: 'top', lastId })
      const items = await next.until(9 - 1 - index)
      await instance.clock.advance(3_000)
      expect(items.map((item) => (item as { data: { call_id?: string } }).data.call_id)).toEqual(
        Array.from({ length: 8 - index }, (_, n) => `call-${n + index + 2}`),
      )
      next.stop()
    }
  })

  it('that are recorded while a stream catches up follow in order', async () => {
    const instance = await startInstance()
    await instance.webhook()
    const first = await readStream(instance, { accountId: 'top' })
    await instance.publish()
    const lastId = lastIdOf(await first.until(1))
    first.stop()
    await instance.publish(700)
    const reading = readStream(instance, { accountId: 'top', lastId })
    await instance.publish(50)
    const reader = await reading
    const items = await reader.until(750)
    expect(items.map((item) => (item as { data: { call_id?: string } }).data.call_id)).toEqual(
      Array.from({ length: 750 }, (_, n) => `call-${n + 2}`),
    )
  })

  it('of one webhook, one result or one call are selected', async () => {
    const instance = await startInstance()
    const [first, second] = [await instance.webhook(), await instance.webhook()]
    const readers = await Promise.all([
      readStream(instance, { accountId: 'top', webhookId: second }),
      readStream(instance, { accountId: 'top', result: 'failure' }),
      readStream(instance, { accountId: 'top', callId: 'call-2' }),
    ])
    instance.answers.push(answer(500))
    await instance.publish(2)
    await instance.clock.advance(2_000)
    const all = await instance.hs.webhooks.attempts('top')
    expect(all).toHaveLength(4)
    const wanted = [
      all.filter(({ webhookId }) => webhookId === second),
      all.filter(({ result }) => result === 'failure'),
      all.filter(({ callId }) => callId === 'call-2'),
    ]
    readers.forEach(({ items }, index) => {
      expect(items.map((item) => (item as { data: { id?: string } }).data.id).sort()).toEqual(
        wanted[index]!.map(({ id }) => id).sort(),
      )
    })
    expect(wanted[1]).toHaveLength(1)
    expect(first).not.toBe(second)
  })

  it('of the legs that an event adds to a call belong to the stream of the call', async () => {
    const instance = await startInstance()
    await instance.webhook()
    const reader = await readStream(instance, { accountId: 'top', callId: 'a', types: ['attempt', 'event'] })
    await instance.publish(1, 'top', { callId: 'a' })
    await instance.publish(1, 'top', { callId: 'b', otherLegCallId: 'a' })
    await instance.publish(1, 'top', { callId: 'b' })
    await instance.publish(1, 'top', { callId: 'd', callGroupId: 'a' })
    await instance.publish(1, 'top', { callId: 'c' })
    await instance.clock.advance(1_000)
    const calls = reader.items.map((item) => (item as { data: { call_id?: string } }).data.call_id)
    expect(calls.filter((callId) => callId === 'a')).toHaveLength(2)
    expect(calls.filter((callId) => callId === 'b')).toHaveLength(4)
    expect(calls.filter((callId) => callId === 'd')).toHaveLength(2)
    expect(calls).not.toContain('c')
  })

  it('of ends without a request arrive too', async () => {
    const instance = await startInstance({ pauses: true })
    const webhookId = await instance.webhook('top', { maxAgeSeconds: 1 })
    const reader = await readStream(instance, { accountId: 'top', types: ['attempt'] })
    // It is too old when its receiver takes it again.
    instance.answers.push({
      kind: 'response',
      status: 429,
      headers: ['retry-after', '2'],
      body: '',
      bodyEnd: 'complete',
    })
    await instance.publish(1, 'top')
    await instance.clock.advance(10_000)
    const [, item] = await reader.until(2)
    expect(item).toMatchObject({ type: 'attempt', data: { hook_id: webhookId, reason: 'expired' } })
  })

  it('that are not recorded are not sent', async () => {
    const instance = await startInstance({ recordSuccesses: false })
    await instance.webhook()
    const reader = await readStream(instance, { accountId: 'top' })
    instance.answers.push(answer(200), answer(500), answer(200))
    await instance.publish(3)
    await instance.clock.advance(2_000)
    expect(reader.items.map((item) => (item as { data: { result?: string } }).data.result)).toEqual([
      'failure',
    ])
  })
})

describe('accounts', () => {
  it('below are included on request, also those that are created later', async () => {
    const instance = await startInstance()
    for (const id of ['top', 'left', 'other']) await instance.webhook(id)
    const own = await readStream(instance, { accountId: 'top', ...settleAll })
    const tree = await readStream(instance, { accountId: 'top', descendants: true, ...settleAll })
    await instance.hs.accounts.create({ id: 'late', name: 'late', realm: 'late.example', parentId: 'left' })
    await instance.webhook('late')
    for (const id of ['top', 'left', 'other', 'late']) await instance.publish(1, id)
    await tree.until(3)
    await instance.clock.advance(2_000)
    const accountsOf = (items: readonly unknown[]) =>
      items.map((item) => (item as { data: { account_id: string } }).data.account_id).sort()
    expect(accountsOf(own.items)).toEqual(['top'])
    expect(accountsOf(tree.items)).toEqual(['late', 'left', 'top'])
  })

  it('that are moved away leave the stream at once', async () => {
    const instance = await startInstance()
    await instance.webhook('left')
    const tree = await readStream(instance, { accountId: 'top', descendants: true, ...settleAll })
    await instance.publish(1, 'left')
    await tree.until(1)
    await instance.hs.accounts.update('left', { parentId: 'other' })
    await instance.publish(1, 'left')
    await instance.clock.advance(2_000)
    expect(tree.items).toHaveLength(1)
  })

  it('of a tree resume after a position that misses nothing', async () => {
    const instance = await startInstance()
    for (const id of ['left', 'right']) await instance.webhook(id)
    const request = { accountId: 'top', descendants: true, ...settleAll }
    const first = await readStream(instance, request)
    await instance.publish(2, 'left')
    await instance.publish(2, 'right')
    const lastId = lastIdOf(await first.until(4))
    first.stop()
    await instance.publish(1, 'right')
    const second = await readStream(instance, { ...request, lastId })
    await instance.clock.advance(3_000)
    const ids = second.items.map((item) => (item as { data: { id?: string } }).data.id)
    const [newest] = await instance.hs.webhooks.attempts('right')
    expect(ids).toContain(newest!.id)
    expect(new Set(ids).size).toBe(ids.length)
    // Later ids are those of positions that are ten seconds old, so that they do not repeat everything.
    await instance.clock.advance(20_000)
    await instance.publish(1, 'left')
    const latest = lastIdOf(await second.until(ids.length + 1))
    second.stop()
    const third = await readStream(instance, { ...request, lastId: latest })
    await instance.clock.advance(3_000)
    expect(third.items.length).toBeLessThanOrEqual(1)
  })

  it('more than a thousand are refused', async () => {
    const instance = await startInstance()
    for (let index = 0; index < 998; index += 1) {
      const id = `a${index}`
      await instance.hs.accounts.create({ id, name: id, realm: `${id}.example`, parentId: 'right' })
    }
    const fits = await readStream(instance, { accountId: 'right', descendants: true })
    expect(fits.error).toBeUndefined()
    const { error } = await readStream(instance, { accountId: 'top', descendants: true })
    expect(errorCode(error)).toBe('InvalidInput')
    expect(error).toMatchObject({ failures: [{ path: 'descendants', rule: 'maximum', target: 1000 }] })
  })
})

describe('changes of webhooks', () => {
  it('are announced: created, changed, disabled, deleted', async () => {
    const instance = await startInstance()
    const { hs } = instance
    const reader = await readStream(instance, { accountId: 'top', types: ['webhook'] })
    const id = await instance.webhook()
    await hs.webhooks.patch('top', id, { name: 'renamed' })
    await hs.webhooks.patch('top', id, { enabled: false })
    await hs.webhooks.patch('top', id, { enabled: true })
    await hs.webhooks.rotateSecret('top', id)
    await hs.webhooks.remove('top', id)
    await instance.webhook('other')
    await instance.clock.settle()
    expect(reader.items.map(({ data }) => data)).toEqual(
      ['created', 'changed', 'disabled', 'changed', 'changed', 'deleted'].map((change) => ({
        id,
        account_id: 'top',
        change,
      })),
    )
  })

  it('by the service have its reason', async () => {
    const instance = await startInstance()
    const id = await instance.webhook()
    const reader = await readStream(instance, { accountId: 'top', types: ['webhook'] })
    instance.answers.push(answer(410))
    await instance.publish()
    await reader.until(1)
    expect(reader.items[0]).toMatchObject({
      type: 'webhook',
      data: { id, change: 'disabled', disable_reason: 'gone' },
    })
  })

  it('are announced when a webhook is paused and resumed', async () => {
    const instance = await startInstance({ pauses: true })
    const id = await instance.webhook()
    const reader = await readStream(instance, { accountId: 'top', types: ['webhook'] })
    instance.answers.push(...Array.from({ length: 10 }, () => answer(500)))
    await instance.publish(10)
    await reader.until(1)
    await instance.publish(1)
    await reader.until(2)
    expect(reader.items.map(({ data }) => data)).toEqual(
      ['changed', 'changed'].map((change) => ({ id, account_id: 'top', change })),
    )
  })
})

describe('events', () => {
  it('are sent on request, with their id and number, whether or not a webhook wants them', async () => {
    const instance = await startInstance()
    const none = await readStream(instance, { accountId: 'top' })
    const reader = await readStream(instance, { accountId: 'top', types: ['event'] })
    const { eventId } = await instance.hs.publish({
      hook: 'channel_answer',
      accountId: 'top',
      callId: 'x',
      from: 'a@b',
    })
    await instance.clock.settle()
    expect(reader.items).toHaveLength(1)
    expect(reader.items[0]).toMatchObject({
      type: 'event',
      data: {
        hook_event: 'channel_answer',
        event_id: eventId,
        sequence: 1,
        account_id: 'top',
        call_id: 'x',
        from: 'a@b',
      },
    })
    expect(none.items).toEqual([])
  })

  it('have no custom data of a webhook', async () => {
    const instance = await startInstance()
    await instance.webhook('top', { customData: { secret_note: 'x', from: 'forged' } })
    const reader = await readStream(instance, { accountId: 'top', types: ['event'] })
    await instance.publish(1, 'top', { from: 'a@b' })
    expect(reader.items[0]).toMatchObject({ data: { from: 'a@b' } })
    expect(JSON.stringify(reader.items)).not.toContain('secret_note')
  })

  it('that are duplicates are not sent', async () => {
    const instance = await startInstance()
    const reader = await readStream(instance, { accountId: 'top', types: ['event'] })
    await instance.publish(2, 'top', { callId: 'same', idempotencyKey: 'k' })
    expect(reader.items).toHaveLength(1)
  })
})

describe('an id that cannot be continued', () => {
  it('is refused if no stream has issued it', async () => {
    const instance = await startInstance()
    for (const lastId of ['x', '', 'czEuMS', `${'A'.repeat(40)}=`]) {
      const { error } = await readStream(instance, { accountId: 'top', lastId })
      expect(errorCode(error)).toBe('InvalidInput')
      expect(error).toMatchObject({ field: 'lastId' })
    }
  })

  it('of another process without a durable store begins with a gap', async () => {
    const earlier = await startInstance()
    await earlier.webhook()
    const first = await readStream(earlier, { accountId: 'top' })
    await earlier.publish()
    const lastId = lastIdOf(await first.until(1))
    const instance = await startInstance()
    await instance.webhook()
    await instance.publish(2)
    const reader = await readStream(instance, { accountId: 'top', lastId })
    await instance.publish()
    const items = await reader.until(2)
    expect(items[0]).toEqual({ type: 'gap', data: { from: lastId, dropped: null } })
    expect(items[1]).toMatchObject({ data: { call_id: 'call-3' } })
  })

  it('has a gap if more attempts of a webhook were recorded since than are stored', async () => {
    const instance = await startInstance({
      store: memoryStore({ attemptsPerWebhook: 20 }),
      attemptsPerWebhook: 20,
    })
    await instance.webhook()
    const first = await readStream(instance, { accountId: 'top' })
    await instance.publish()
    const lastId = lastIdOf(await first.until(1))
    first.stop()
    await instance.publish(30)
    const reader = await readStream(instance, { accountId: 'top', lastId })
    const items = await reader.until(21)
    expect(items.filter(({ type }) => type === 'gap')).toEqual([
      { type: 'gap', data: { from: expect.any(String), dropped: null } },
    ])
    expect(items.filter(({ type }) => type === 'attempt')).toHaveLength(20)
  })

  it('has a gap if it is older than records are kept', async () => {
    const instance = await startInstance({ retentionDays: 1 })
    await instance.webhook()
    const first = await readStream(instance, { accountId: 'top' })
    await instance.publish()
    const lastId = lastIdOf(await first.until(1))
    first.stop()
    await instance.clock.advance(86_400_000 + 2_000)
    const reader = await readStream(instance, { accountId: 'top', lastId })
    const items = await reader.until(1)
    expect(items[0]).toEqual({ type: 'gap', data: { from: lastId, dropped: null } })
  })
})

describe('a stream', () => {
  it('names every wrong field', async () => {
    const instance = await startInstance()
    const { error } = await readStream(instance, {
      accountId: 'top',
      types: ['nothing' as never],
      result: 'maybe' as never,
      webhookId: 'not an id',
      callId: '',
      descendants: 'yes' as never,
    })
    expect((error as { failures: { path: string }[] }).failures.map(({ path }) => path)).toEqual([
      'types',
      'result',
      'webhookId',
      'callId',
      'descendants',
    ])
  })

  it('of an unknown account is refused', async () => {
    const instance = await startInstance()
    const { error } = await readStream(instance, { accountId: 'nobody' })
    expect(errorCode(error)).toBe('NotFound')
  })

  it('above a limit is refused until another ends', async () => {
    const instance = await startInstance({ maxStreams: 3, maxStreamsPerAccount: 2 })
    const first = await readStream(instance, { accountId: 'top' })
    await readStream(instance, { accountId: 'top' })
    const third = await readStream(instance, { accountId: 'top' })
    expect(third.error).toMatchObject({ code: 'TooManyStreams', field: 'maxStreamsPerAccount' })
    await readStream(instance, { accountId: 'other' })
    const fifth = await readStream(instance, { accountId: 'left' })
    expect(fifth.error).toMatchObject({ code: 'TooManyStreams', field: 'maxStreams', retryAfterSeconds: 5 })
    first.stop()
    await instance.clock.settle()
    const sixth = await readStream(instance, { accountId: 'top' })
    expect(sixth.error).toBeUndefined()
  })

  it('ends when the instance closes, before requests in flight have ended', async () => {
    const instance = await startInstance({
      sender: { send: () => new Promise(() => {}), close: async () => {} },
    })
    await instance.webhook()
    const reader = await readStream(instance, { accountId: 'top' })
    await instance.publish()
    const closed = instance.hs.close({ drainMs: 60_000 })
    await instance.clock.settle()
    expect(reader.items).toEqual([{ type: 'end', data: { reason: 'closing' } }])
    expect(reader.isDone).toBe(true)
    await instance.clock.advance(70_000)
    await closed
    const { error } = await readStream(instance, { accountId: 'top' })
    expect(errorCode(error)).toBe('Closing')
  })

  it('that nobody reads never delays deliveries, and ends after thirty seconds', async () => {
    const instance = await startInstance()
    await instance.webhook()
    const iterator = instance.hs.stream({ accountId: 'top' })[Symbol.asyncIterator]()
    const opening = iterator.next()
    await instance.clock.settle()
    await instance.publish()
    let isOpen = false
    void opening.then(() => {
      isOpen = true
    })
    await instance.clock.runUntil(() => isOpen)
    await instance.publish(150)
    expect(await instance.hs.webhooks.attempts('top', undefined, { limit: 500 })).toHaveLength(151)
    await instance.clock.advance(31_000)
    const items = [await iterator.next(), await iterator.next()]
    expect(items).toEqual([
      { done: false, value: { type: 'end', data: { reason: 'slow' } } },
      { done: true, value: undefined },
    ])
  })

  it('leaves no timer behind when its reader stops', async () => {
    const instance = await startInstance()
    await instance.clock.advance(100)
    const { count } = instance.clock.sleepers()
    const reader = await readStream(instance, { accountId: 'top', descendants: true })
    expect(instance.clock.sleepers().count).toBeGreaterThan(count)
    reader.stop()
    await instance.clock.advance(100)
    expect(instance.clock.sleepers().count).toBe(count)
    expect(reader.isDone).toBe(true)
    expect(typesOf(reader.items)).toEqual([])
  })
})

it('events that are accepted together reach streams in parts, between which other work runs', async () => {
  const clock = manualClock()
  const { hs } = await startInstance({}, clock)
  const stream = hs.stream({ accountId: 'left', types: ['event'] })[Symbol.asyncIterator]()
  const first = stream.next()
  await clock.settle()
  // Each look at the time costs more than a slice.
  const { monotonic, yield: yieldOnce } = clock
  let [lookedMs, yields] = [0, 0]
  Object.assign(clock, {
    monotonic() {
      lookedMs += 12
      return monotonic() + lookedMs
    },
    yield() {
      yields += 1
      return yieldOnce()
    },
  })
  const event = (callId: string) => ({ hook: 'channel_create' as const, accountId: 'left', callId })
  await Promise.all(Array.from({ length: 40 }, (_, n) => hs.publish(event(`${n}`))))
  await clock.settle()
  Object.assign(clock, { monotonic: () => monotonic() + lookedMs })
  expect(yields).toBeGreaterThanOrEqual(40)
  expect((await first).value).toMatchObject({ type: 'event' })
  for (let n = 1; n < 40; n++) expect((await stream.next()).done).toBe(false)
})
