import { type ChannelEvent, HookswitchError, type Log } from 'hookswitch'
import { manualClock, seededRandom } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { type FeedDoors, feed, type SourceEvents } from '../../../../adapters/telephony/source/feed.js'
import type { LegNews } from '../../../../adapters/telephony/source/leg-news.js'

const limits = { holdMs: 1_000, maxPerLeg: 10, maxLegs: 10 }

function underTest(publish?: FeedDoors['publish']) {
  const clock = manualClock()
  const published: ChannelEvent[] = []
  const said: string[] = []
  const told: [keyof SourceEvents & string, unknown][] = []
  const line = (level: string) => (fields: object, message: string) =>
    said.push(`${level} ${message} ${JSON.stringify(fields)}`)
  const log: Log = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') }
  const made = feed(
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
    made.events.on(name, (payload) => told.push([name, payload]))
  return { ...made, clock, published, said, told }
}

const news = (callId: string, accountId: string | undefined, hooks: readonly string[]): LegNews => ({
  callId,
  accountId,
  drafts: hooks.map((hook, at) => ({ hook, callId, timestampMs: at + 1 })),
  ended: false,
})
const heard = (...all: readonly LegNews[]) => ({ news: all, problems: [] })

describe('a feed', () => {
  it('publishes what has an account and keeps what has none until it has', async () => {
    const { take, published, clock, counts, told } = underTest()
    take(heard(news('a', undefined, ['channel_create']), news('b', 'acme', ['channel_create'])))
    await clock.settle()
    expect(published.map((e) => e.callId)).toEqual(['b'])
    expect(counts()).toEqual({ published: 1, waiting: 0, legsWithoutAccount: 1 })
    take(heard(news('a', 'acme', ['channel_answer'])))
    await clock.advance(5_000)
    expect(published.map((e) => `${e.callId} ${e.hook}`)).toEqual([
      'b channel_create',
      'a channel_create',
      'a channel_answer',
    ])
    expect(told).toEqual([])
  })

  it('tells of a leg whose account never came, at its time, with its events, and says so in the log', async () => {
    const { take, told, said, clock, counts } = underTest()
    take(heard(news('a', undefined, ['channel_create'])))
    await clock.advance(999)
    expect(told).toEqual([])
    await clock.advance(1)
    expect(told).toEqual([
      [
        'account_unknown',
        {
          callId: 'a',
          reason: 'waited',
          drafts: [{ hook: 'channel_create', callId: 'a', timestampMs: 1 }],
        },
      ],
    ])
    expect(said.join()).toContain('no account is known')
    expect(counts().legsWithoutAccount).toBe(0)
    expect(clock.sleepers().count).toBe(0)
  })

  it('looks after one that comes later, when the first has gone', async () => {
    const { take, told, clock } = underTest()
    take(heard(news('a', undefined, ['channel_create'])))
    await clock.advance(600)
    take(heard(news('b', undefined, ['channel_create'])))
    await clock.advance(400)
    expect(told).toHaveLength(1)
    await clock.advance(600)
    expect(told).toHaveLength(2)
  })

  it('tells of problems and of events that the service refuses', async () => {
    const { take, told, said, clock } = underTest(async () => {
      throw new HookswitchError('NotFound', 'no such account')
    })
    take({ news: [news('a', 'acme', ['channel_create'])], problems: [{ kind: 'malformed', message: 'no' }] })
    await clock.settle()
    expect(told.map(([name]) => name)).toEqual(['problem', 'rejected'])
    expect(said.join()).toContain('no such account')
  })

  it('is hurt by no listener and no logger that throws', async () => {
    const { take, events, published, clock } = underTest()
    events.on('problem', () => {
      throw new Error('listener')
    })
    take({ news: [news('a', 'acme', ['channel_create'])], problems: [{ kind: 'malformed', message: 'no' }] })
    await clock.settle()
    expect(published).toHaveLength(1)
  })

  it('publishes what waits when it is closed, and tells of what it cannot publish', async () => {
    const { take, told, close, clock } = underTest(() => new Promise(() => {}))
    take(heard(news('a', 'acme', ['channel_create']), news('b', undefined, ['channel_create'])))
    const closed = close(1_000)
    await clock.advance(1_000)
    await closed
    expect(told.map(([name]) => name).sort()).toEqual(['account_unknown', 'rejected'])
  })

  it('tells also of what a connection has kept until there was room', async () => {
    const { take, told, close, clock, isFull, onRoom } = underTest(() => new Promise(() => {}))
    const kept = [heard(news('late', 'acme', ['channel_create']))]
    onRoom(() => {
      while (kept.length > 0 && !isFull()) take(kept.shift() as never)
    })
    take(heard(...Array.from({ length: 1_024 }, (_, leg) => news(`leg-${leg}`, 'acme', ['channel_create']))))
    expect(isFull()).toBe(true)
    const closed = close(1_000)
    await clock.advance(1_000)
    await closed
    expect(told.filter(([name]) => name === 'rejected')).toHaveLength(1_025)
  })

  it('is not ended by what cannot become a text', async () => {
    const { take, told, clock } = underTest(() => Promise.reject(Object.create(null)))
    take(heard(news('a', 'acme', ['channel_create'])))
    await clock.runUntil(() => told.length > 0)
    expect(told.map(([name]) => name)).toEqual(['rejected'])
  })
})
