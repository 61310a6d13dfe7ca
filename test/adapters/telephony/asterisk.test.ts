import { describe, expect, it } from 'vitest'
import { type RecordedLeg, recordedCalls } from './asterisk-recorded.js'
import { eventsOf, findEvent, hooksOf, TRACES, type Trace, UNIQUE_IDS } from './asterisk-scenarios.js'

/** Network latency between phone and switch. */
const TOLERANCE_MS = 20

const CAUSES: Readonly<Record<string, string>> = {
  answered: 'NORMAL_CLEARING',
  busy: 'USER_BUSY',
  cancelled: 'ORIGINATOR_CANCEL',
  congestion: 'NORMAL_CIRCUIT_CONGESTION',
  declined: 'CALL_REJECTED',
  no_answer: 'NO_ANSWER',
  not_found: 'UNALLOCATED_NUMBER',
  unreachable: 'NO_USER_RESPONSE',
  'a04-caller-cancel, cancelled by the switch': 'ORIGINATOR_CANCEL',
  'a05-no-answer, cancelled by the switch': 'NO_ANSWER',
  'a11-forked, cancelled by the switch': 'LOSE_RACE',
}

/** Legs whose code is in no event: an INVITE that the switch gave up. */
const UNREPORTED = new Set([
  'a04-caller-cancel callee',
  'a05-no-answer callee',
  'a11-forked callee',
  'o2-originate-no-answer originated',
])

/** A phone that transfers hangs up, but Asterisk ends the leg before, without a hangup request. */
const TRANSFERERS = new Set(['a17-refer', 'a30-attended-sip'])

const legs = recordedCalls.flatMap((call) => call.legs.map((leg) => ({ ...leg, call })))
/** Two calls never get a channel. */
const seen = legs.filter(({ call }) => call.scenario !== 'a07-no-such-extension')

/** A name in the configuration of the endpoint replaces that of the phone. */
const callerName = (leg: RecordedLeg) => (leg.phone === '2012' ? 'Phone 2012' : leg.callerName)

function near(given: number | undefined, truth: number | null | undefined) {
  if (truth === undefined || truth === null) return
  expect(Math.abs((given ?? 0) - truth)).toBeLessThanOrEqual(TOLERANCE_MS)
}

/** Returns the bridges of a call as pairs of SIP Call-IDs, in order; each is published for both legs. */
function pairsOf({ events }: Trace, callIds: readonly string[]): string[][] {
  const sipCallId = new Map(callIds.map((id) => [UNIQUE_IDS.get(id), id]))
  const emitted = events.filter(({ hook, callId }) => hook === 'channel_bridge' && sipCallId.has(callId))
  const pairs = emitted
    .filter(({ otherLegCallId }) => otherLegCallId !== undefined)
    .map((event) => [sipCallId.get(event.callId), sipCallId.get(event.otherLegCallId)] as string[])
  const keys = pairs.map((pair) => [...pair].sort().join(' '))
  expect(keys.every((key, index) => keys[index % 2 === 0 ? index + 1 : index - 1] === key)).toBe(true)
  return pairs.filter((_, index) => index % 2 === 0).map((pair) => [...pair].sort())
}

describe.each(TRACES)('the recorded calls, through %s, match the logs of the phones', (_, trace) => {
  it('have 87 phone legs and 8 Local halves, none of which stays open', () => {
    const ids = new Set(trace.events.map(({ callId }) => callId))
    const halves = new Set(
      trace.events.filter(({ isInternalLeg }) => isInternalLeg).map(({ callId }) => callId),
    )
    expect(seen).toHaveLength(87)
    expect(seen.every(({ callId }) => ids.has(UNIQUE_IDS.get(callId)!))).toBe(true)
    expect(trace.problems).toEqual([])
    expect(trace.openLegs).toBe(0)
    // The halves of the Local channel of originate-3 have no account.
    expect(trace.unknown.map(({ reason }) => reason)).toEqual(['ended', 'ended'])
    expect([ids.size, halves.size]).toEqual([87 + 6, 6])
  })

  it.each(seen.map((leg) => [`${leg.call.call} ${leg.role} ${leg.phone}`, leg] as const))('%s', (_, leg) => {
    const events = eventsOf(trace, leg.callId)
    const isInbound = leg.role.startsWith('caller')
    const emitted = hooksOf(events)
    expect(emitted[0]).toBe('create')
    expect(emitted.indexOf('answer')).toBe(leg.answered ? 1 : -1)
    expect(emitted.at(-1)).toBe('destroy')
    for (const once of ['create', 'answer', 'destroy']) {
      expect(emitted.filter((hook) => hook === once).length).toBeLessThanOrEqual(1)
    }
    expect(new Set(events.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(events.length)
    for (const event of events) {
      expect(event).toMatchObject({
        accountId: leg.account,
        direction: isInbound ? 'inbound' : 'outbound',
        isInternalLeg: false,
      })
    }
    if (isInbound) {
      expect(events[0]).toMatchObject({
        from: leg.callerNumber,
        to: leg.dialled,
        request: leg.dialled,
        callerIdNumber: leg.callerNumber,
        callerIdName: callerName(leg),
        calleeIdNumber: leg.dialled,
      })
    } else expect(events[0]).toMatchObject({ to: leg.phone, calleeIdNumber: leg.phone })

    near(events[0]?.timestampMs, leg.inviteMs)
    near(findEvent(trace, leg.callId, 'answer')?.timestampMs, leg.answerMs)
    checkHolds(trace, leg)
    checkEnd(trace, leg, leg.call.scenario)
  })

  it.each(recordedCalls.map((call) => [call.call, call] as const))(
    '%s: the bridges match the phones',
    (_, call) => {
      const pairs = pairsOf(
        trace,
        call.legs.map(({ callId }) => callId),
      )
      expect(pairs).toEqual(call.bridges.map((pair) => [...pair].sort()))
    },
  )
})

function checkHolds(trace: Trace, leg: RecordedLeg): void {
  const events = eventsOf(trace, leg.callId)
  for (const { holdMs, resumeMs } of leg.holds ?? []) {
    near(events.find(({ hook }) => hook === 'channel_hold')?.timestampMs, holdMs)
    near(events.find(({ hook }) => hook === 'channel_unhold')?.timestampMs, resumeMs)
  }
  const holds = hooksOf(events).filter((hook) => hook.endsWith('hold'))
  // The attended transfer of the switch holds like a phone.
  const isAtxfer = leg.phone === '2018'
  expect(holds).toEqual(leg.holds || isAtxfer ? ['hold', 'unhold'] : [])
}

function checkEnd(trace: Trace, leg: RecordedLeg, scenario: string): void {
  const destroy = findEvent(trace, leg.callId, 'destroy')
  expect(destroy?.hangupCause).toBe(CAUSES[leg.outcome] ?? CAUSES[`${scenario}, ${leg.outcome}`])
  const isUnreported = leg.code === null || (!leg.answered && UNREPORTED.has(`${scenario} ${leg.role}`))
  expect(destroy?.hangupCode).toBe(isUnreported ? undefined : `sip:${leg.code}`)

  const isTransferer = TRANSFERERS.has(scenario) && ['2011', '2012'].includes(leg.phone)
  if (!isTransferer) near(destroy?.timestampMs, leg.endMs)
  const endedBy = destroy?.customChannelVars?.ended_by
  if (leg.endedBy === 'this phone') expect(endedBy).toBe(isTransferer ? 'switch' : 'this_leg')
  // A callee that refuses ends its leg itself, although the phone's log has only the ACK of the switch.
  else if (!leg.answered && leg.code !== null && leg.code !== 487 && !leg.role.startsWith('caller')) {
    expect(endedBy).toBe('this_leg')
  } else if (leg.endedBy === 'the other leg') expect(endedBy).toBe('other_leg')
  else expect(['other_leg', 'switch']).toContain(endedBy)

  if (!leg.answered) expect(destroy?.billingSeconds).toBe(0)
  else if (leg.talkMs !== undefined && !isTransferer) near(destroy?.billingMs, leg.talkMs)
  if (leg.endMs !== undefined && !isTransferer) near(destroy?.durationMs, leg.endMs - leg.inviteMs)
  const { durationSeconds, ringingSeconds, billingSeconds } = destroy ?? {}
  expect((ringingSeconds ?? Number.NaN) + (billingSeconds ?? Number.NaN)).toBe(durationSeconds)
}
