import fc from 'fast-check'
import { type ChannelEvent, HookswitchError } from 'hookswitch'
import type { OpenLeg } from 'hookswitch/adapter'
import { manualClock, seededRandom } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { createEventPipeline } from '../../../../adapters/telephony/source/event-pipeline.js'
import type { LegUpdate, Problem } from '../../../../adapters/telephony/source/mapped-events.js'
import { decodeLeg } from '../../../../adapters/telephony/source/open-leg-state.js'
import { createOpenLegRecorder } from '../../../../adapters/telephony/source/open-legs.js'
import { propertyRuns } from '../../../support/property-runs.js'

const limits = { maxWaitMs: 1_000, maxEventsPerLeg: 10, maxLegs: 10 }

/** A source whose mapping counts the events of each leg, with a store and a service of this test. */
function start(publish: (event: ChannelEvent) => Promise<unknown> = async () => {}) {
  const clock = manualClock()
  const random = seededRandom(1)
  /** Open legs of the mapping: how many events each has. */
  const open = new Map<string, { accountId: string; events: number }>()
  const rows = new Map<string, number>()
  /** Number of accepted events of the current leg, by id. */
  const accepted = new Map<string, number>()
  /** States that were written although not all of their events were accepted. */
  const early: string[] = []
  const recorder = createOpenLegRecorder({
    store: {
      async write(_, { put, remove }) {
        const written = put.map((leg) => [leg.callId, decodeLeg(leg)?.leg.events as number] as const)
        for (const [callId, events] of written) if (events > (accepted.get(callId) ?? 0)) early.push(callId)
        await clock.sleep(1)
        for (const [callId, events] of written) rows.set(callId, events)
        for (const callId of remove) rows.delete(callId)
      },
      list: async () => [] as OpenLeg[],
    },
    source: 'switch',
    legs: {
      save(callId) {
        const leg = open.get(callId)
        return leg && { accountId: leg.accountId, leg: { events: leg.events }, parties: {}, variables: {} }
      },
      restore: () => false,
    },
    isWaiting: (callId) => pipeline.isWaiting(callId),
    clock,
    random,
    log: undefined,
  })
  const pipeline = createEventPipeline(
    {
      async publish(event) {
        await publish(event)
        const { hook, callId } = event
        accepted.set(callId, hook === 'channel_destroy' ? 0 : (accepted.get(callId) ?? 0) + 1)
      },
      clock,
      random,
      log: undefined,
      metrics: undefined,
      name: 'switch',
      openLegs: recorder,
    },
    limits,
  )
  const push = (updates: readonly LegUpdate[], problems: readonly Problem[] = []) =>
    pipeline.push({ updates, problems })
  return {
    clock,
    open,
    rows,
    early,
    push,
    /** The switch reports an event of a leg. */
    happen(callId: string, hook: ChannelEvent['hook']) {
      const leg = open.get(callId) ?? { accountId: 'acme', events: 0 }
      leg.events += 1
      const isEnded = hook === 'channel_destroy'
      if (isEnded) open.delete(callId)
      else open.set(callId, leg)
      const events = [{ hook, callId, timestampMs: clock.now() }]
      push([{ callId, accountId: 'acme', events, isEnded }])
    },
    async close(drainMs: number) {
      await pipeline.close(drainMs)
      await recorder.close(drainMs)
    },
  }
}

describe('open legs in the store', () => {
  it('are those whose channel_create is published and whose channel_destroy is not', async () => {
    const { happen, rows, clock } = start()
    happen('a', 'channel_create')
    happen('b', 'channel_create')
    await clock.advance(10)
    expect([...rows]).toEqual([
      ['a', 1],
      ['b', 1],
    ])
    happen('a', 'channel_answer')
    happen('b', 'channel_destroy')
    await clock.advance(10)
    expect([...rows]).toEqual([['a', 2]])
  })

  it('are not stored before their account is known', async () => {
    const { push, open, rows, clock } = start()
    open.set('a', { accountId: 'acme', events: 1 })
    const update = {
      callId: 'a',
      events: [{ hook: 'channel_create' as const, callId: 'a', timestampMs: 1 }],
      isEnded: false,
    }
    push([{ ...update, accountId: undefined }])
    await clock.advance(10)
    expect(rows.size).toBe(0)
    push([{ ...update, accountId: 'acme', events: [] }])
    await clock.advance(10)
    expect([...rows]).toEqual([['a', 1]])
  })

  it('that the mapping drops are removed', async () => {
    const { happen, push, open, rows, clock } = start()
    happen('a', 'channel_create')
    await clock.advance(10)
    open.delete('a')
    push([], [{ kind: 'overflow', message: 'more than 1 open legs', callId: 'a' }])
    await clock.advance(10)
    expect(rows.size).toBe(0)
  })

  it('whose end is refused for good are removed', async () => {
    const { happen, rows, clock } = start(async ({ hook }) => {
      if (hook === 'channel_destroy') throw new HookswitchError('NotFound', 'no such account')
    })
    happen('a', 'channel_create')
    await clock.advance(10)
    happen('a', 'channel_destroy')
    await clock.advance(10)
    expect(rows.size).toBe(0)
  })

  it('whose end is left at the close stay, for the next start', async () => {
    const { happen, rows, clock, close } = start(async ({ hook }) => {
      if (hook === 'channel_destroy') throw new HookswitchError('QueueFull', 'full')
    })
    happen('a', 'channel_create')
    await clock.advance(10)
    happen('a', 'channel_destroy')
    const closed = close(1_000)
    await clock.advance(3_000)
    await closed
    expect([...rows]).toEqual([['a', 1]])
  })

  it('are never stored in a state whose events are not published, whatever the order of answers', async () => {
    const step = fc.record({
      callId: fc.constantFrom('a', 'b', 'c'),
      hook: fc.constantFrom('channel_create', 'channel_answer', 'channel_hold', 'channel_destroy'),
      waitMs: fc.nat(4),
    })
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 30 }),
        fc.array(fc.nat(5), { minLength: 1 }),
        async (steps, delays) => {
          let published = 0
          const run = start(async () => {
            const delayMs = delays[published++ % delays.length] ?? 0
            if (delayMs === 5) throw new HookswitchError('QueueFull', 'full')
            if (delayMs > 0) await run.clock.sleep(delayMs)
          })
          for (const { callId, hook, waitMs } of steps) {
            run.happen(callId, hook)
            await run.clock.advance(waitMs)
          }
          const closed = run.close(60_000)
          await run.clock.advance(200_000)
          await closed
          expect(run.early).toEqual([])
          const expected = [...run.open].map(([callId, { events }]) => [callId, events])
          if (delays.some((delayMs) => delayMs !== 5)) expect([...run.rows].sort()).toEqual(expected.sort())
        },
      ),
      { numRuns: propertyRuns(300) },
    )
  })
})
