import fc from 'fast-check'
import type { ChannelEvent } from 'hookswitch'
import type { OpenLeg } from 'hookswitch/adapter'
import { describe, expect, it } from 'vitest'
import { createAsteriskMapping } from '../../../adapters/telephony/asterisk/mapping.js'
import { decodeLeg, encodeLeg, type SavedLeg } from '../../../adapters/telephony/source/open-leg-state.js'
import type { SavableLegs } from '../../../adapters/telephony/source/open-legs.js'
import { propertyRuns } from '../../support/property-runs.js'
import { amiBytes, ariFrames } from './asterisk-recorded.js'
import { amiEvents, ariEvents, createTracer } from './asterisk-scenarios.js'
import { mapAll, mappingFor } from './freeswitch-mapped.js'
import { recordedEvents } from './freeswitch-recorded.js'

/** A mapping of recorded events. */
interface Recording {
  readonly name: string
  readonly length: number
  /** Maps the events from one index to another, in a mapping with these legs. */
  map(
    from: number,
    to: number,
    restored: readonly OpenLeg[],
  ): { readonly published: readonly ChannelEvent[]; readonly legs: SavableLegs }
}

function restoreAll(legs: SavableLegs, rows: readonly OpenLeg[]): void {
  for (const row of rows) expect(legs.restore(row.callId, decodeLeg(row) as SavedLeg)).toBe(true)
}

const freeswitchEvents = recordedEvents('json')
const asterisk = (name: string, events: ReturnType<typeof amiEvents>): Recording => ({
  name,
  length: events.length,
  map(from, to, restored) {
    const { mapping, apply, trace } = createTracer()
    restoreAll(mapping.savable, restored)
    apply(...events.slice(from, to))
    return { published: trace().events, legs: mapping.savable }
  },
})

const recordings: readonly Recording[] = [
  {
    name: 'FreeSWITCH',
    length: freeswitchEvents.length,
    map(from, to, restored) {
      const { mapping, add, published } = mapAll([])
      restoreAll(mapping.savable, restored)
      for (const event of freeswitchEvents.slice(from, to)) add(mapping.map(event))
      return { published, legs: mapping.savable }
    },
  },
  asterisk('Asterisk over AMI', amiEvents([amiBytes])),
  asterisk('Asterisk over ARI', ariEvents(ariFrames)),
]

const isOf = (callId: string) => (event: ChannelEvent) => event.callId === callId

/** What a receiver writes a bill from. */
const billOf = ({ hook, accountId, idempotencyKey, timestampMs, ...event }: ChannelEvent) => {
  const { direction, from, to, callerIdNumber } = event
  const { durationSeconds, ringingSeconds, billingSeconds, durationMs, ringingMs, billingMs } = event
  return [
    { hook, accountId, idempotencyKey, timestampMs, direction, from, to, callerIdNumber },
    { durationSeconds, ringingSeconds, billingSeconds, durationMs, ringingMs, billingMs },
  ]
}

describe.each(recordings)('a restart at any moment of the recording of $name', ({ length, map }) => {
  const whole = map(0, length, []).published
  const endOf = new Map(
    whole.filter(({ hook }) => hook === 'channel_destroy').map((event) => [event.callId, event]),
  )

  it('changes neither the times nor the parties of any leg, and publishes no begin or answer again', () => {
    let continued = 0
    fc.assert(
      fc.property(fc.nat(length), (cut) => {
        const before = map(0, cut, [])
        const begun = new Set(before.published.map(({ callId }) => callId))
        const rows = [...begun].flatMap((callId) => {
          const saved = before.legs.save(callId)
          const row = saved && encodeLeg(callId, saved)
          return row ? [row] : []
        })
        const after = map(cut, length, rows)
        const keys = new Set(before.published.map(({ idempotencyKey }) => idempotencyKey))
        for (const { callId } of rows) {
          const events = after.published.filter((event) => event.callId === callId)
          for (const { hook, idempotencyKey } of events) {
            expect(hook).not.toBe('channel_create')
            expect(keys).not.toContain(idempotencyKey)
          }
          const ended = events.find(({ hook }) => hook === 'channel_destroy')
          const expected = endOf.get(callId)
          expect(ended && billOf(ended)).toEqual(expected && billOf(expected))
          // What follows from a bridge that was missed is not known; a resync, which is left out here, finds it.
          const first = before.published.find(isOf(callId))
          expect([expected?.calleeIdNumber, first?.calleeIdNumber]).toContain(ended?.calleeIdNumber)
          expect([expected?.callGroupId, first?.callGroupId]).toContain(ended?.callGroupId)
          if (ended) continued += 1
        }
      }),
      { numRuns: propertyRuns(25) },
    )
    expect(continued).toBeGreaterThan(0)
  })
})

describe.each([
  ['FreeSWITCH', (maxOpenLegs: number) => mappingFor({ maxOpenLegs }).savable],
  [
    'Asterisk',
    (maxOpenLegs: number) => createAsteriskMapping({ accountOf: () => 'acme', maxOpenLegs }).savable,
  ],
])('stored legs of %s', (name, create) => {
  const recording = recordings.find((recording) => recording.name.startsWith(name))!
  /** A leg of the middle of the recording. */
  const [callId, saved] = (() => {
    for (let cut = 1; ; cut += 1) {
      const { published, legs } = recording.map(0, cut, [])
      const found = published[0] && legs.save(published[0].callId)
      if (found) return [published[0]!.callId, found] as const
    }
  })()

  it('are restored up to maxOpenLegs', () => {
    const legs = create(1)
    expect(legs.restore(callId, saved)).toBe(true)
    expect(legs.restore('another', saved)).toBe(false)
    expect(legs.save(callId)).toMatchObject({
      accountId: saved.accountId,
      leg: JSON.parse(JSON.stringify(saved.leg)),
    })
  })

  it('with values that nobody wrote are refused or restored, and never throw', () => {
    const value = fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.constant(null), fc.constant({}))
    const changed = (values: object) =>
      fc.record(Object.fromEntries(Object.keys(values).map((key) => [key, value])))
    fc.assert(
      fc.property(changed(saved.leg), fc.nat(20), changed(saved.parties), (leg, kept, parties) => {
        const entries = Object.entries(leg).map(([key, wrong], at) => [
          key,
          at === kept ? wrong : saved.leg[key],
        ])
        const legs = create(2)
        for (const savedLeg of [leg, Object.fromEntries(entries)]) {
          const isRestored = legs.restore(callId, { ...saved, leg: savedLeg, parties, variables: parties })
          if (isRestored) expect(legs.save(callId)?.accountId).toBe(saved.accountId)
        }
      }),
      { numRuns: propertyRuns(200) },
    )
  })
})
