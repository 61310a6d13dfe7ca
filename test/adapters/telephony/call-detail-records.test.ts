import type { ChannelEvent } from 'hookswitch'
import { describe, expect, it } from 'vitest'
import { amiTexts, TRACES } from './asterisk-scenarios.js'
import { mapAll } from './freeswitch-mapped.js'
import { recordedEvents } from './freeswitch-recorded.js'

/** Records of Asterisk that do not tell how long a leg lasted and talked: its own durations, then those of the record. */
const WRONG_RECORDS = [
  // They begin with the last talk of a leg that was transferred, or that transferred.
  '1795174213.62 PJSIP/2018-0000003a 2,2 1,1',
  '1795174214.74 Local/2001@from-phones-00000002;1 3,3 1,1',
  // In a conference each pair of members has a record, from when the later one joined.
  '1795174219.91 PJSIP/1033-00000051 1,1 0,0',
  '1795174218.84 PJSIP/1032-0000004e 2,2 1,1',
  // It was dialled by a program, and has a record only of its talk.
  '1795174221.96 PJSIP/2001-00000056 1,1 0,0',
]

const endsOf = (events: readonly ChannelEvent[]) =>
  new Map(events.filter(({ hook }) => hook === 'channel_destroy').map((event) => [event.callId, event]))

describe('the durations of the recorded FreeSWITCH', () => {
  const all = [...recordedEvents('json'), ...recordedEvents('plain-all')]
  const { published, unknown } = mapAll(all)
  const buffered = unknown.flatMap(({ events }) => events) as ChannelEvent[]
  const ends = endsOf([...published, ...buffered])
  const records = all.filter(({ name }) => name === 'CHANNEL_DESTROY')
  const number = (record: (typeof records)[number], name: string) => Number(record.header(`variable_${name}`))

  it('are those of each call detail record, in milliseconds, which differs by one at most', () => {
    expect(records.length).toBeGreaterThan(90)
    const differences = records.flatMap((record) => {
      const { durationMs, billingMs, ringingMs } = ends.get(record.header('Unique-ID')!)!
      expect(ringingMs).toBe(durationMs! - billingMs!)
      return [number(record, 'mduration') - durationMs!, number(record, 'billmsec') - billingMs!]
    })
    // The record has the difference of two times that have lost their microseconds.
    expect(new Set(differences)).toEqual(new Set([0, 1]))
  })

  it('are less than those of some records, in seconds, and never more', () => {
    const differences = records.map((record) => {
      const { durationSeconds, billingSeconds } = ends.get(record.header('Unique-ID')!)!
      return [number(record, 'duration') - durationSeconds!, number(record, 'billsec') - billingSeconds!]
    })
    expect(new Set(differences.flat())).toEqual(new Set([0, 1]))
    // Whole seconds of the clock between the begin and the end: 0.9 s to 1.1 s is one second.
    const wrong = differences.filter(([duration, billed]) => duration !== 0 || billed !== 0)
    expect(wrong.length).toBeGreaterThan(0)
  })
})

describe('the durations of the recorded Asterisk', () => {
  const [, { events }] = TRACES[0]
  const ends = endsOf(events)
  const records = amiTexts
    .filter((text) => text.startsWith('Event: Cdr'))
    .map((text) => new Map(text.split('\r\n').map((line) => line.split(/: ?(.*)/s, 2) as [string, string])))

  it('are those of each call detail record of a caller that has only one', () => {
    const perCaller = new Map<string, typeof records>()
    for (const record of records) {
      const id = record.get('UniqueID')!
      perCaller.set(id, [...(perCaller.get(id) ?? []), record])
    }
    const wrong: string[] = []
    let compared = 0
    for (const [id, [record, ...others]] of perCaller) {
      const end = ends.get(id)
      if (!record || !end || others.length > 0) continue
      compared += 1
      const own = [end.durationSeconds, end.billingSeconds]
      const its = [Number(record.get('Duration')), Number(record.get('BillableSeconds'))]
      if (own.join() !== its.join()) wrong.push(`${id} ${record.get('Channel')} ${own} ${its}`)
    }
    expect(wrong).toEqual(WRONG_RECORDS)
    expect(compared).toBeGreaterThan(20)
  })
})
