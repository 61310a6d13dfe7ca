import type { ChannelEvent } from 'hookswitch'
import { describe, expect, it } from 'vitest'
import {
  eventsOf,
  find,
  HAPPENINGS,
  hooks,
  legOf,
  legsOf,
  othersOf,
  STORIES,
  type Story,
  UNIQUEID,
} from './asterisk-stories.js'

const halvesOf = ({ events }: Story, from: string) =>
  events.filter((event) => event.isInternalLeg && event.from === from)

describe.each(STORIES)('who talks to whom, heard through %s', (source, story) => {
  const stream = HAPPENINGS[source]

  it('two halves of a Local channel are one imaginary leg: they are internal, and phones see each other', () => {
    const caller = 'a13-local-kept-1'
    expect(othersOf(story, caller)).toEqual([UNIQUEID.get(legOf(caller))])
    expect(othersOf(story, legOf(caller))).toEqual([UNIQUEID.get(caller)])
    const halves = halvesOf(story, '1013')
    expect(hooks(halves).sort()).toEqual([
      ...['answer', 'answer', 'bridge', 'bridge', 'create', 'create', 'destroy', 'destroy'],
    ])
    const beside = halves.filter(({ hook }) => hook === 'channel_bridge').map((event) => event.otherLegCallId)
    expect(beside.sort()).toEqual([UNIQUEID.get(caller), UNIQUEID.get(legOf(caller))].sort())
  })

  it('a Local pair that optimises itself away joins nobody anew', () => {
    const caller = 'a14-local-optimised-1'
    const id = UNIQUEID.get(caller)
    const entered = stream.filter((one) => one.kind === 'entered' && one.channel.id === id)
    expect(entered).toHaveLength(2)
    expect(hooks(eventsOf(story, caller))).toEqual(['create', 'answer', 'bridge', 'destroy'])
    expect(hooks(eventsOf(story, legOf(caller)))).toEqual(['create', 'answer', 'bridge', 'destroy'])
  })

  it('the callee is up and in the bridge before the caller: both are told when the second is in', () => {
    const [caller, dialled] = ['a01-caller-hangup-1', legOf('a01-caller-hangup-1')]
    const order = stream.flatMap((one) => (one.kind === 'entered' ? [one.channel.id] : []))
    expect(order.slice(0, 2)).toEqual([UNIQUEID.get(dialled), UNIQUEID.get(caller)])
    for (const id of [caller, dialled]) {
      expect(hooks(eventsOf(story, id))).toEqual(['create', 'answer', 'bridge', 'destroy'])
    }
    const times = [caller, dialled].map((id) => find(story, id, 'bridge')?.timestampMs)
    expect(times[0]).toBe(times[1])
  })

  it('a conference joins its members to nobody in particular, the first when the second comes', () => {
    const members = [1, 2, 3].map((n) => `a26-conference-${n}-1`)
    const told = members.map((id) => find(story, id, 'bridge')!)
    for (const event of told) {
      expect(event.otherLegCallId).toBeUndefined()
      expect(event.customChannelVars).toMatchObject({ bridge_name: 'team' })
    }
    expect(members.map((id) => othersOf(story, id).length)).toEqual([1, 1, 1])
    expect(told[0]?.timestampMs).toBe(told[1]?.timestampMs)
    expect(told[2]!.timestampMs!).toBeGreaterThan(told[1]!.timestampMs!)
  })

  it('whoever is parked talks to nobody', () => {
    expect(othersOf(story, 'a19-parked-1')).toEqual([UNIQUEID.get(legOf('a19-parked-1'))])
  })

  it('an answered call may have no bridge at all', () => {
    for (const id of ['a20-self-answer-1', 'a21-self-hangup-1', 'a28-ari-ivr-1']) {
      expect(hooks(eventsOf(story, id)), id).toEqual(['create', 'answer', 'destroy'])
    }
  })

  it('a bridge of an application is a bridge', () => {
    expect(othersOf(story, 'a29-ari-bridge-1')).toEqual([UNIQUEID.get(legOf('a29-ari-bridge-1'))])
  })

  it('after a blind transfer the caller talks to the target', () => {
    const [caller, transferer, target] = legsOf('a17-refer-1').map(({ callId }) => UNIQUEID.get(callId))
    expect(othersOf(story, 'a17-refer-1')).toEqual([transferer, target])
    expect(othersOf(story, legOf('a17-refer-1', 2))).toEqual([caller])
  })

  it('after an attended transfer the caller may stay in its bridge: its partner changes all the same', () => {
    const [caller, transferer, target] = legsOf('a18-attended-1').map(({ callId }) => UNIQUEID.get(callId))
    expect(stream.filter((one) => one.kind === 'entered' && one.channel.id === caller)).toHaveLength(1)
    expect(othersOf(story, 'a18-attended-1')).toEqual([transferer, target])
    expect(othersOf(story, legOf('a18-attended-1', 2))).toEqual([transferer, caller])
  })
})

it('both streams tell the same story, ARI to the millisecond', () => {
  const told = ({ events }: Story) => {
    const byLeg = new Map<string, ChannelEvent[]>()
    for (const event of events) byLeg.set(event.callId, [...(byLeg.get(event.callId) ?? []), event])
    return byLeg
  }
  const ami = told(STORIES[0][1])
  const ari = told(STORIES[1][1])
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

/** What the two protocols have in common: their ids beside the leg's differ, and so do times by a millisecond. */
function comparable({ timestampMs, idempotencyKey, customChannelVars, ...event }: ChannelEvent) {
  const { linked_id, sip_call_id, ...vars } = customChannelVars ?? {}
  const { durationSeconds, ringingSeconds, billingSeconds, ...rest } = event
  const isOnce = /_(create|answer|destroy)$/.test(event.hook)
  return { ...rest, vars, key: isOnce ? idempotencyKey : undefined }
}
