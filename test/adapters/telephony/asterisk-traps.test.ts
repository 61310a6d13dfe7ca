import type { ChannelEvent } from 'hookswitch'
import { accountFromAccountCode, accountFromVariable } from 'hookswitch/asterisk'
import { describe, expect, it } from 'vitest'
import { ariFrames, recordedCalls } from './asterisk-recorded.js'
import {
  amiTexts,
  causeOf,
  eventsOf,
  findEvent,
  hooksOf,
  recordedLegId,
  SWITCH_EVENTS,
  TRACES,
  traceOf,
  UNIQUE_IDS,
} from './asterisk-scenarios.js'

it('a call to an extension that does not exist leaves no event', () => {
  expect(amiTexts.filter((text) => text.includes('a07-no-such-extension'))).toEqual([])
  expect(ariFrames.filter((text) => text.includes('a07-no-such-extension'))).toEqual([])
})

describe.each(TRACES)('special cases of the recording, through %s', (source, trace) => {
  const stream = SWITCH_EVENTS[source]

  it('the first event of a channel has neither its variables nor its SIP Call-ID', () => {
    const began = stream.flatMap((switchEvent) =>
      switchEvent.kind === 'created' ? [switchEvent.channel] : [],
    )
    expect(began).toHaveLength(95)
    for (const channel of began) {
      expect([channel.variable('ACCOUNT_ID'), channel.variable('SIPCALLID'), channel.protocolId]).toEqual([
        ...[undefined, undefined, undefined],
      ])
    }
    expect(findEvent(trace, 'a01-caller-hangup-1', 'create')?.accountId).toBe('alpha')
  })

  it('a dialled leg has its own account code until that of its caller replaces it', () => {
    const dialled = UNIQUE_IDS.get(recordedLegId('a05-no-answer-1'))
    const shown = stream.flatMap((switchEvent) => ('channel' in switchEvent ? [switchEvent.channel] : []))
    const codes = shown.flatMap(({ id, accountCode }) => (id === dialled ? [accountCode] : []))
    expect([codes[0], codes.at(-1)]).toEqual(['beta', 'alpha'])
    const byCode = traceOf(stream, { accountOf: accountFromAccountCode() })
    for (const { legs } of recordedCalls) {
      for (const { callId, account } of legs) {
        for (const { accountId } of eventsOf(byCode, callId)) expect(accountId).toBe(account)
      }
    }
  })

  it('with accountFromVariable alone the Local halves are emitted as account_unknown', () => {
    const byVariable = traceOf(stream, { accountOf: accountFromVariable('ACCOUNT_ID') })
    expect(byVariable.unknown).toHaveLength(8)
    expect(byVariable.unknown.every(({ events }) => events.every(({ isInternalLeg }) => isInternalLeg))).toBe(
      true,
    )
    expect(byVariable.events).toEqual(
      trace.events.filter(({ isInternalLeg }) => !isInternalLeg).map(withoutVariables),
    )
  })

  it('causes 16, 0 and 127 are interpreted by the state of the call', () => {
    const causes = (sipCallId: string) => {
      const id = UNIQUE_IDS.get(sipCallId)
      return stream.flatMap((switchEvent) =>
        switchEvent.kind === 'hung_up' && switchEvent.channel.id === id ? [switchEvent.cause] : [],
      )
    }
    expect(causes('a05-no-answer-1')).toEqual([16])
    expect(causeOf(trace, 'a05-no-answer-1')).toBe('NO_ANSWER')
    expect(causes(recordedLegId('a05-no-answer-1'))).toEqual([0])
    expect(causeOf(trace, recordedLegId('a05-no-answer-1'))).toBe('NO_ANSWER')
    expect(causes('a16-dead-callee-1')).toEqual([16])
    expect(causeOf(trace, 'a16-dead-callee-1')).toBe('NO_USER_RESPONSE')
    expect(causes('a20-self-answer-1')).toEqual([0])
    expect(causeOf(trace, 'a20-self-answer-1')).toBe('NORMAL_CLEARING')
    expect(causes('a04-caller-cancel-1')).toEqual([127])
    expect(causeOf(trace, 'a04-caller-cancel-1')).toBe('ORIGINATOR_CANCEL')
  })

  it('ended_by names the phone of the first HangupRequest, not of the SoftHangupRequest', () => {
    const endedBy = (id: string) => findEvent(trace, id, 'destroy')?.customChannelVars?.ended_by
    const call = 'a02-callee-hangup-1'
    expect([endedBy(call), endedBy(recordedLegId(call))]).toEqual(['other_leg', 'this_leg'])
    for (const file of [
      'a19-parked-1',
      'a21-self-hangup-1',
      'a24-ami-hangup-1',
      'a25-redirected-1',
      'a28-ari-ivr-1',
    ]) {
      expect(endedBy(file), file).toBe('switch')
    }
    // The phone of a call that Busy() refused also requests a hangup, after its 486.
    expect(endedBy('a22-busy-app-1')).toBe('switch')
  })

  it('an originated leg has no other leg, and its end needs no DialEnd', () => {
    const id = recordedLegId('originate-2', 0)
    expect(hooksOf(eventsOf(trace, id))).toEqual(['create', 'destroy'])
    expect(eventsOf(trace, id).every(({ otherLegCallId }) => otherLegCallId === undefined)).toBe(true)
    expect(causeOf(trace, id)).toBe('NO_ANSWER')
    expect(findEvent(trace, id, 'create')).toMatchObject({ from: '5001', to: '2004', direction: 'outbound' })
    expect(findEvent(trace, recordedLegId('originate-1', 0), 'bridge')?.otherLegCallId).toBe(
      UNIQUE_IDS.get(recordedLegId('originate-1')),
    )
  })

  it('unmatched resumes are ignored, and a leg that moves to another bridge no longer holds', () => {
    const count = (kind: string) => stream.filter((switchEvent) => switchEvent.kind === kind).length
    expect([count('held'), count('unheld')]).toEqual([6, 7])
    const emitted = hooksOf(trace.events).filter((hook) => hook.endsWith('hold'))
    expect(emitted.filter((hook) => hook === 'hold')).toHaveLength(6)
    expect(emitted.filter((hook) => hook === 'unhold')).toHaveLength(6)
    expect(hooksOf(eventsOf(trace, recordedLegId('a17-refer-1')))).not.toContain('unhold')
    expect(hooksOf(eventsOf(trace, 'x///df062618-1aa5-41b3-b8de-e70b925b137b'))).not.toContain('unhold')
    expect(hooksOf(eventsOf(trace, recordedLegId('a18-attended-1')))).toEqual([
      ...['create', 'answer', 'bridge', 'hold', 'unhold', 'bridge', 'destroy'],
    ])
  })

  it('display names lose the escapes of AMI and SIP and keep their characters', () => {
    expect(findEvent(trace, 'a02-callee-hangup-1', 'create')?.callerIdName).toBe('Bob "Bobby" Sample')
    expect(findEvent(trace, 'a03-busy-1', 'create')?.callerIdName).toBe('Zoë Ünïcode')
  })
})

/** The event as mapped without `customVariables`. */
function withoutVariables(event: ChannelEvent): ChannelEvent {
  const { SIPCALLID, ...customChannelVars } = event.customChannelVars ?? {}
  const { customChannelVars: _, ...rest } = event
  return Object.keys(customChannelVars).length === 0 ? rest : { ...rest, customChannelVars }
}
