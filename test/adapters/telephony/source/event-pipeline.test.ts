import fc from 'fast-check'
import { type ChannelEvent, HookswitchError, type Log } from 'hookswitch'
import type { GaugeReading } from 'hookswitch/adapter'
import { manualClock, seededRandom } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import {
  createEventPipeline,
  type EventPipelineDeps,
  type SourceEvents,
} from '../../../../adapters/telephony/source/event-pipeline.js'
import type { LegUpdate, PendingEvent } from '../../../../adapters/telephony/source/mapped-events.js'
import { propertyRuns } from '../../../support/property-runs.js'

const limits = { maxWaitMs: 1_000, maxEventsPerLeg: 10, maxLegs: 10 }

function startPipeline(publish?: EventPipelineDeps['publish'], metrics?: EventPipelineDeps['metrics']) {
  const clock = manualClock()
  const published: ChannelEvent[] = []
  const logged: string[] = []
  const emitted: [keyof SourceEvents & string, unknown][] = []
  const records: [fields: object, message: string][] = []
  const line = (level: string) => (fields: object, message: string) => {
    records.push([fields, message])
    logged.push(`${level} ${message} ${JSON.stringify(fields)}`)
  }
  const log: Log = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }
  const pipeline = createEventPipeline(
    {
      publish:
        publish ??
        (async (event) => {
          published.push(event)
        }),
      clock,
      random: seededRandom(1),
      log,
      metrics,
      name: 'switch',
    },
    limits,
  )
  for (const name of ['connected', 'disconnected', 'account_unknown', 'rejected', 'problem'] as const)
    pipeline.events.on(name, (payload) => emitted.push([name, payload]))
  return { ...pipeline, clock, published, logged, records, emitted }
}

const update = (
  callId: string,
  accountId: string | undefined,
  hooks: readonly PendingEvent['hook'][],
): LegUpdate => ({
  callId,
  accountId,
  events: hooks.map((hook, at) => ({ hook, callId, timestampMs: at + 1 })),
  isEnded: false,
})
const batch = (...all: readonly LegUpdate[]) => ({ updates: all, problems: [] })

describe('the event pipeline', () => {
  it('publishes events with an account and buffers the others until theirs is known', async () => {
    const { push, published, clock, counts, emitted } = startPipeline()
    push(batch(update('a', undefined, ['channel_create']), update('b', 'acme', ['channel_create'])))
    await clock.settle()
    expect(published.map((e) => e.callId)).toEqual(['b'])
    expect(counts()).toMatchObject({ read: 2, published: 1, held: 1, waiting: 0, legsWithoutAccount: 1 })
    push(batch(update('a', 'acme', ['channel_answer'])))
    await clock.advance(5_000)
    expect(published.map((e) => `${e.callId} ${e.hook}`)).toEqual([
      'b channel_create',
      'a channel_create',
      'a channel_answer',
    ])
    expect(emitted).toEqual([])
  })

  it('logs no more of a call id than an event can hold', async () => {
    const invalid = new HookswitchError('InvalidInput', 'callId is too long')
    const { push, logged, clock } = startPipeline(() => Promise.reject(invalid))
    const callId = 'x'.repeat(1_048_576)
    push(
      batch(update(callId, 'acme', ['channel_create']), update(`${callId}2`, undefined, ['channel_create'])),
    )
    push({ updates: [], problems: [{ kind: 'unknown_leg', message: 'unknown', callId }] })
    await clock.advance(1_000)
    expect(logged).toHaveLength(3)
    for (const line of logged) expect(line.length).toBeLessThan(1_000)
  })

  it('emits and logs account_unknown after maxWaitMs, with the events of the leg', async () => {
    const { push, emitted, logged, clock, counts } = startPipeline()
    push(batch(update('a', undefined, ['channel_create'])))
    await clock.advance(999)
    expect(emitted).toEqual([])
    await clock.advance(1)
    expect(emitted).toEqual([
      [
        'account_unknown',
        {
          callId: 'a',
          reason: 'waited',
          events: [{ hook: 'channel_create', callId: 'a', timestampMs: 1 }],
        },
      ],
    ])
    expect(logged.join()).toContain('the account of a leg is not known')
    expect(counts().legsWithoutAccount).toBe(0)
    expect(clock.sleepers().count).toBe(0)
  })

  it('publishes the events of a leg whose account a busy process reads at the end of the wait', async () => {
    const { push, published, emitted, clock } = startPipeline()
    push(batch(update('a', undefined, ['channel_create'])))
    // The first turn of the event loop after the timer: what arrived before it is read now.
    clock.yield = async () => push(batch(update('a', 'acme', ['channel_answer'])))
    await clock.advance(1_000)
    expect(published.map(({ hook }) => hook)).toEqual(['channel_create', 'channel_answer'])
    expect(emitted).toEqual([])
  })

  it('expires each leg at its own time', async () => {
    const { push, emitted, clock } = startPipeline()
    push(batch(update('a', undefined, ['channel_create'])))
    await clock.advance(600)
    push(batch(update('b', undefined, ['channel_create'])))
    await clock.advance(400)
    expect(emitted).toHaveLength(1)
    await clock.advance(600)
    expect(emitted).toHaveLength(2)
  })

  it('emits problems and events that the service refuses', async () => {
    const { push, emitted, logged, clock } = startPipeline(async () => {
      throw new HookswitchError('NotFound', 'no such account')
    })
    push({
      updates: [update('a', 'acme', ['channel_create'])],
      problems: [{ kind: 'malformed', message: 'no' }],
    })
    await clock.settle()
    expect(emitted.map(([name]) => name)).toEqual(['problem', 'rejected'])
    expect(logged.join()).toContain('no such account')
  })

  it('logs the message of a problem as reason, beside its kind and leg', () => {
    const { push, records } = startPipeline()
    const message = 'accountOf threw: Error: oops'
    push({ updates: [], problems: [{ kind: 'callback_failed', message, callId: 'a' }] })
    push({ updates: [], problems: [{ kind: 'malformed', message: 'no Uniqueid' }] })
    expect(records).toEqual([
      [
        { source: 'switch', kind: 'callback_failed', callId: 'a', reason: message },
        'a function of the host failed',
      ],
      [
        { source: 'switch', kind: 'malformed', reason: 'no Uniqueid' },
        'a message of the switch could not be used',
      ],
    ])
  })

  it('publishes even if a listener throws', async () => {
    const { push, events, published, clock } = startPipeline()
    events.on('problem', () => {
      throw new Error('listener')
    })
    push({
      updates: [update('a', 'acme', ['channel_create'])],
      problems: [{ kind: 'malformed', message: 'no' }],
    })
    await clock.settle()
    expect(published).toHaveLength(1)
  })

  it('emits what it cannot publish before its close', async () => {
    const { push, emitted, close, clock } = startPipeline(() => new Promise(() => {}))
    push(batch(update('a', 'acme', ['channel_create']), update('b', undefined, ['channel_create'])))
    const closed = close(1_000)
    await clock.advance(1_000)
    await closed
    expect(emitted.map(([name]) => name).sort()).toEqual(['account_unknown', 'rejected'])
  })

  it('emits what a connection has held back for capacity', async () => {
    const { push, emitted, close, clock, isFull, onCapacity } = startPipeline(() => new Promise(() => {}))
    const held = [batch(update('late', 'acme', ['channel_create']))]
    onCapacity(() => {
      while (held.length > 0 && !isFull()) push(held.shift() as never)
    })
    push(
      batch(...Array.from({ length: 1_024 }, (_, leg) => update(`leg-${leg}`, 'acme', ['channel_create']))),
    )
    expect(isFull()).toBe(true)
    const closed = close(1_000)
    await clock.advance(1_000)
    await closed
    expect(emitted.filter(([name]) => name === 'rejected')).toHaveLength(1_025)
  })

  it('handles a thrown value without a string form', async () => {
    const { push, emitted, clock } = startPipeline(() => Promise.reject(Object.create(null)))
    push(batch(update('a', 'acme', ['channel_create'])))
    await clock.runUntil(() => emitted.length > 0)
    expect(emitted.map(([name]) => name)).toEqual(['rejected'])
  })

  it('logs the reason of a lost connection at once, and again only when it changes or after ten minutes', async () => {
    const { reportConnected, reportDisconnected, logged, emitted, clock, connection } = startPipeline()
    for (const reason of ['refused', 'refused', 'wrong password', 'wrong password', 'refused'])
      reportDisconnected('switch', reason, 100)
    expect(logged.filter((line) => line.startsWith('warn'))).toEqual(
      ['refused', 'wrong password', 'refused'].map(
        (reason) =>
          `warn not connected to the switch {"source":"switch","reason":"${reason}","retryInMs":100}`,
      ),
    )
    expect(logged.filter((line) => line.startsWith('debug'))).toHaveLength(2)
    await clock.advance(600_000)
    reportDisconnected('switch', 'refused', 100)
    expect(logged.filter((line) => line.startsWith('warn'))).toHaveLength(4)
    expect(emitted).toHaveLength(6)
    expect(connection()).toEqual({
      peer: 'switch',
      isConnected: false,
      disconnectReason: 'refused',
      reconnects: 0,
    })
    reportConnected('switch')
    await clock.advance(10_000)
    reportDisconnected('switch', 'refused', 100)
    expect(logged.filter((line) => line.startsWith('warn'))).toHaveLength(5)
    reportConnected('switch')
    expect(connection()).toMatchObject({ isConnected: true, disconnectReason: undefined, reconnects: 1 })
  })

  it('does not log each time that a switch evicts it at once', async () => {
    const { reportConnected, reportDisconnected, logged, emitted, clock } = startPipeline()
    for (let round = 0; round < 100; round += 1) {
      reportConnected('switch')
      reportDisconnected('switch', 'another client has taken over', 5_000)
      await clock.advance(5_000)
    }
    expect(emitted).toHaveLength(200)
    const warnings = logged.filter((line) => line.startsWith('warn not connected'))
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain('another client has taken over')
    expect(logged.filter((line) => line.startsWith('info connected')).length).toBeLessThanOrEqual(90)
  })

  it('counts the delay of the last event as lag for a minute, and the age of what it holds', async () => {
    const { push, clock, counts, published } = startPipeline()
    const at = (callId: string, ageMs: number, accountId?: string) =>
      batch({
        callId,
        accountId,
        events: [{ hook: 'channel_create', callId, timestampMs: clock.now() - ageMs }],
        isEnded: false,
      })
    push(at('a', 3_000, 'acme'))
    await clock.settle()
    expect(published).toHaveLength(1)
    expect(counts().lagMs).toBe(3_000)
    await clock.advance(60_000)
    expect(counts().lagMs).toBe(3_000)
    await clock.advance(1)
    expect(counts().lagMs).toBe(0)
    push(at('b', 50))
    await clock.advance(900)
    expect(counts().lagMs).toBe(950)
    push(at('c', -5_000, 'acme'))
    expect(counts()).toMatchObject({ lagMs: 950, held: 2 })
  })

  it('gives the figures of its status to the metrics until it is closed', async () => {
    let read: () => Promise<readonly GaugeReading[]> = async () => []
    let ended: AbortSignal | undefined
    const metrics = {
      watch(reader: typeof read, signal?: AbortSignal) {
        read = reader
        ended = signal
      },
    }
    const { push, reportConnected, reportDisconnected, close, clock } = startPipeline(undefined, metrics)
    const values = async () =>
      Object.fromEntries(
        (await read()).map(({ name, label, value }) => [
          name.replace('hookswitch_source_', `${label} `),
          value,
        ]),
      )
    expect(await values()).not.toHaveProperty('switch connected')
    reportConnected('switch')
    reportDisconnected('switch', 'gone', 50)
    reportConnected('switch')
    push(batch(update('a', 'acme', ['channel_create']), update('b', undefined, ['channel_create'])))
    push(batch({ ...update('c', undefined, ['channel_create']), isEnded: true }))
    await clock.settle()
    expect(await values()).toMatchObject({
      'switch connected': 1,
      'switch reconnects_total': 1,
      'switch events_read_total': 3,
      'switch events_published_total': 1,
      'switch events_refused_total': 1,
      'switch events_held': 1,
      'switch lag_seconds': (clock.now() - 1) / 1000,
    })
    expect(ended?.aborted).toBe(false)
    const closed = close(0)
    await clock.settle()
    await closed
    expect(ended?.aborted).toBe(true)
  })

  it('works without metrics that fail', async () => {
    const metrics = {
      watch() {
        throw new Error('no meter')
      },
    }
    const { push, published, logged, clock } = startPipeline(undefined, metrics)
    push(batch(update('a', 'acme', ['channel_create'])))
    await clock.settle()
    expect(published).toHaveLength(1)
    expect(logged).toEqual(['warn metrics failed {"source":"switch","reason":"Error: no meter"}'])
  })

  it('counts every event once: read is published, refused or held', async () => {
    const account = fc.constantFrom('acme', 'acme', 'unwanted', undefined)
    const step = fc.record({
      leg: fc.integer({ min: 0, max: 12 }).map(String),
      accountId: account,
      events: fc.integer({ min: 0, max: 12 }),
      isEnded: fc.boolean(),
      waitMs: fc.constantFrom(0, 0, 0, 1, 300, 1_000),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const outcomes = ['accepted', 'refused', 'full', 'duplicate'] as const
        let calls = 0
        const clock = manualClock()
        const publish = async (event: ChannelEvent) => {
          await clock.sleep(10)
          calls += 1
          const outcome = event.accountId === 'unwanted' ? 'refused' : outcomes[calls % 4]
          if (outcome === 'refused') throw new HookswitchError('NotFound', 'no such account')
          if (outcome === 'full') throw new HookswitchError('QueueFull', 'full')
          if (outcome === 'duplicate') throw new HookswitchError('Conflict', 'published before')
        }
        const deps = { publish, clock, random: seededRandom(1), log: undefined, metrics: undefined }
        const pipeline = createEventPipeline({ ...deps, name: 'switch' }, limits)
        let emitted = 0
        pipeline.events.on('rejected', () => {
          emitted += 1
        })
        pipeline.events.on('account_unknown', ({ events }) => {
          emitted += events.length
        })
        let pushed = 0
        const check = () => {
          const { read, published, refused, held } = pipeline.counts()
          expect([read, published + refused + held, refused]).toEqual([pushed, pushed, emitted])
        }
        for (const { leg, accountId, events, isEnded, waitMs } of steps) {
          const hooks = Array.from({ length: events }, () => 'channel_hold' as const)
          pushed += events
          pipeline.push(batch({ ...update(leg, accountId, hooks), isEnded }))
          check()
          if (waitMs > 0) await clock.advance(waitMs)
          check()
        }
        const closed = pipeline.close(100)
        await clock.advance(100)
        await closed
        check()
        expect(pipeline.counts().held).toBe(0)
      }),
      { numRuns: propertyRuns(300) },
    )
  })

  it('publishes an event with a value of a mebibyte, cut, and says so', async () => {
    const { push, published, emitted, records, clock } = startPipeline()
    const event = {
      hook: 'channel_create' as const,
      callId: 'a',
      timestampMs: 1,
      customChannelVars: { big: 'x'.repeat(1_048_576) },
    }
    push(batch({ callId: 'a', accountId: 'acme', events: [event], isEnded: false }))
    await clock.settle()
    expect(published[0]?.customChannelVars).toEqual({ big: 'x'.repeat(1_024) })
    const message = 'customChannelVars is longer than an event can hold'
    expect(emitted).toEqual([['problem', { kind: 'truncated', callId: 'a', message }]])
    expect(records).toEqual([
      [
        { source: 'switch', kind: 'truncated', callId: 'a', reason: message },
        'a value of the switch was cut',
      ],
    ])
  })

  it('does not flood the log with ten thousand useless messages, and emits each', async () => {
    const { push, emitted, records, close, clock } = startPipeline()
    for (let nth = 0; nth < 10_000; nth += 1)
      push({ updates: [], problems: [{ kind: 'malformed', message: `no Uniqueid ${nth}` }] })
    expect(emitted).toHaveLength(10_000)
    expect(records).toHaveLength(10)
    const closed = close(0)
    await clock.settle()
    await closed
    expect(records.slice(10)).toEqual([
      [
        { source: 'switch', kind: 'malformed', reason: 'no Uniqueid 9999', repeated: 9_990 },
        'a message of the switch could not be used',
      ],
    ])
  })
})
