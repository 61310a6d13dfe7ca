import fc from 'fast-check'
import type { ChannelEvent } from 'hookswitch'
import { accountFromAccountCode } from 'hookswitch/asterisk'
import { describe, expect, it } from 'vitest'
import type { SwitchEvent } from '../../../adapters/telephony/asterisk/switch-event.js'
import { STREAMS } from './asterisk-live-streams.js'
import { hooksOf, SWITCH_EVENTS, traceOf } from './asterisk-scenarios.js'

const streams: readonly (readonly SwitchEvent[])[] = [
  ...STREAMS.map(([, stream]) => stream),
  SWITCH_EVENTS.AMI,
  SWITCH_EVENTS.ARI,
]

/** A part of a recording in which messages are missing. */
const incomplete = fc
  .tuple(
    fc.constantFrom(...streams),
    fc.array(fc.nat({ max: 2_000 }), { maxLength: 60 }),
    fc.nat({ max: 1_000 }),
  )
  .map(([stream, dropped, from]) => {
    const missing = new Set(dropped)
    return stream.slice(from, from + 600).filter((_, index) => !missing.has(index))
  })

const legsOf = (events: readonly ChannelEvent[]) => {
  const legs = new Map<string, ChannelEvent[]>()
  for (const event of events) legs.set(event.callId, [...(legs.get(event.callId) ?? []), event])
  return [...legs.values()]
}

describe('whatever messages of an Asterisk are missed', () => {
  const accountOf = accountFromAccountCode({ alpha: 'a', beta: 'b', '': 'none' })
  const any = (leg: Parameters<typeof accountOf>[0]) => accountOf(leg) ?? 'unknown'

  it('each leg begins with its create, is answered at most once, and has nothing after its end', () => {
    fc.assert(
      fc.property(incomplete, (events) => {
        for (const leg of legsOf(traceOf(events, { accountOf: any }).events)) {
          const hooks = hooksOf(leg)
          expect(hooks[0]).toBe('create')
          expect(hooks.filter((hook) => hook === 'create' || hook === 'destroy').length).toBeLessThanOrEqual(
            2,
          )
          expect(hooks.filter((hook) => hook === 'answer').length).toBeLessThanOrEqual(1)
          if (hooks.includes('destroy')) expect(hooks.at(-1)).toBe('destroy')
          expect(new Set(leg.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(leg.length)
        }
      }),
      { numRuns: 60 },
    )
  })

  it('no phone names a half of a Local channel as its other leg', () => {
    fc.assert(
      fc.property(incomplete, (switchEvents) => {
        const { events } = traceOf(switchEvents, { accountOf: any })
        const internal = new Set(events.flatMap((event) => (event.isInternalLeg ? [event.callId] : [])))
        for (const { isInternalLeg, otherLegCallId } of events)
          if (!isInternalLeg && otherLegCallId !== undefined) expect(internal).not.toContain(otherLegCallId)
      }),
      { numRuns: 60 },
    )
  })

  it('durations that are known add up', () => {
    fc.assert(
      fc.property(incomplete, (switchEvents) => {
        for (const event of traceOf(switchEvents, { accountOf: any }).events) {
          const { durationSeconds, ringingSeconds, billingSeconds } = event
          if (durationSeconds === undefined || ringingSeconds === undefined || billingSeconds === undefined)
            continue
          expect(ringingSeconds + billingSeconds).toBe(durationSeconds)
        }
      }),
      { numRuns: 60 },
    )
  })
})
