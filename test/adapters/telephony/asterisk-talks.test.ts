import type { ChannelEvent } from 'hookswitch'
import { describe, expect, it } from 'vitest'
import {
  eventsOf,
  findEvent,
  hooksOf,
  otherLegsOf,
  recordedLegId,
  SWITCH_EVENTS,
  TRACES,
  type Trace,
  UNIQUE_IDS,
} from './asterisk-scenarios.js'

const halvesOf = ({ events }: Trace, from: string) =>
  events.filter((event) => event.isInternalLeg && event.from === from)

describe.each(TRACES)('bridges, through %s', (source, trace) => {
  const stream = SWITCH_EVENTS[source]

  it('halves of a Local channel are internal legs, and the phones are bridged with each other', () => {
    const caller = 'a13-local-kept-1'
    expect(otherLegsOf(trace, caller)).toEqual([UNIQUE_IDS.get(recordedLegId(caller))])
    expect(otherLegsOf(trace, recordedLegId(caller))).toEqual([UNIQUE_IDS.get(caller)])
    const halves = halvesOf(trace, '1013')
    expect(hooksOf(halves).sort()).toEqual([
      ...['answer', 'answer', 'bridge', 'bridge', 'create', 'create', 'destroy', 'destroy'],
    ])
    const beside = halves.filter(({ hook }) => hook === 'channel_bridge').map((event) => event.otherLegCallId)
    expect(beside.sort()).toEqual([UNIQUE_IDS.get(caller), UNIQUE_IDS.get(recordedLegId(caller))].sort())
  })

  it('both legs are bridged when the second enters, which is the caller', () => {
    const [caller, dialled] = ['a01-caller-hangup-1', recordedLegId('a01-caller-hangup-1')]
    const order = stream.flatMap((switchEvent) =>
      switchEvent.kind === 'entered' ? [switchEvent.channel.id] : [],
    )
    expect(order.slice(0, 2)).toEqual([UNIQUE_IDS.get(dialled), UNIQUE_IDS.get(caller)])
    for (const id of [caller, dialled]) {
      expect(hooksOf(eventsOf(trace, id))).toEqual(['create', 'answer', 'bridge', 'destroy'])
    }
    const times = [caller, dialled].map((id) => findEvent(trace, id, 'bridge')?.timestampMs)
    expect(times[0]).toBe(times[1])
  })

  it('members of a conference have no other leg; the first is bridged when the second enters', () => {
    const members = [1, 2, 3].map((n) => `a26-conference-${n}-1`)
    const emitted = members.map((id) => findEvent(trace, id, 'bridge')!)
    for (const event of emitted) {
      expect(event.otherLegCallId).toBeUndefined()
      expect(event.customChannelVars).toMatchObject({ bridge_name: 'team' })
    }
    expect(members.map((id) => otherLegsOf(trace, id).length)).toEqual([1, 1, 1])
    expect(emitted[0]?.timestampMs).toBe(emitted[1]?.timestampMs)
    expect(emitted[2]!.timestampMs!).toBeGreaterThan(emitted[1]!.timestampMs!)
  })
})

it('AMI and ARI yield the same events, with times at most 2 ms apart', () => {
  const emitted = ({ events }: Trace) => {
    const byLeg = new Map<string, ChannelEvent[]>()
    for (const event of events) byLeg.set(event.callId, [...(byLeg.get(event.callId) ?? []), event])
    return byLeg
  }
  const ami = emitted(TRACES[0][1])
  const ari = emitted(TRACES[1][1])
  expect(new Set(ari.keys())).toEqual(new Set(ami.keys()))
  for (const [id, events] of ami) {
    const others = ari.get(id)!
    expect(others.map(comparable), id).toEqual(events.map(comparable))
    events.forEach((event, index) => {
      const apartMs = Math.abs(event.timestampMs! - others[index]!.timestampMs!)
      expect(apartMs, `${id} ${event.hook}`).toBeLessThanOrEqual(2)
    })
  }
})

/** Removes what differs between the protocols: ids other than the leg's, and times by a millisecond. */
function comparable({ timestampMs, idempotencyKey, customChannelVars, ...event }: ChannelEvent) {
  const { sip_call_id, ...vars } = customChannelVars ?? {}
  // ARI does not tell before a bridge who calls the phone of an attended transfer by feature code, or of a program.
  const { callGroupId, ...others } = event
  const { durationSeconds, ringingSeconds, billingSeconds, durationMs, ringingMs, billingMs, ...rest } =
    others
  const isOnce = /_(create|answer|destroy)$/.test(event.hook)
  return { ...rest, vars, key: isOnce ? idempotencyKey : undefined }
}
