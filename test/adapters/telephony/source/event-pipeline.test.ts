import { type ChannelEvent, HookswitchError, type Log } from 'hookswitch'
import { manualClock, seededRandom } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import {
  createEventPipeline,
  type EventPipelineDeps,
  type SourceEvents,
} from '../../../../adapters/telephony/source/event-pipeline.js'
import type { LegUpdate } from '../../../../adapters/telephony/source/mapped-events.js'

const limits = { maxWaitMs: 1_000, maxEventsPerLeg: 10, maxLegs: 10 }

function startPipeline(publish?: EventPipelineDeps['publish']) {
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
      name: 'switch',
    },
    limits,
  )
  for (const name of ['connected', 'disconnected', 'account_unknown', 'rejected', 'problem'] as const)
    pipeline.events.on(name, (payload) => emitted.push([name, payload]))
  return { ...pipeline, clock, published, logged, records, emitted }
}

const update = (callId: string, accountId: string | undefined, hooks: readonly string[]): LegUpdate => ({
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
    expect(counts()).toEqual({ published: 1, waiting: 0, legsWithoutAccount: 1 })
    push(batch(update('a', 'acme', ['channel_answer'])))
    await clock.advance(5_000)
    expect(published.map((e) => `${e.callId} ${e.hook}`)).toEqual([
      'b channel_create',
      'a channel_create',
      'a channel_answer',
    ])
    expect(emitted).toEqual([])
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
})
