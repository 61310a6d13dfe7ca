import type { ChannelEvent } from 'hookswitch'
import { accountFromAccountCode, accountFromVariable } from 'hookswitch/asterisk'
import { describe, expect, it } from 'vitest'
import { ariFrames, recordedCalls } from './asterisk-recorded.js'
import {
  amiTexts,
  causeOf,
  eventsOf,
  find,
  HAPPENINGS,
  hooks,
  legOf,
  legsOf,
  othersOf,
  STORIES,
  storyOf,
  UNIQUEID,
} from './asterisk-stories.js'

it('a call that finds no extension leaves no trace', () => {
  expect(amiTexts.filter((text) => text.includes('a07-no-such-extension'))).toEqual([])
  expect(ariFrames.filter((text) => text.includes('a07-no-such-extension'))).toEqual([])
})

describe.each(STORIES)('traps of the recording, heard through %s', (source, story) => {
  const stream = HAPPENINGS[source]

  it('the first event of a channel knows neither its variables nor its SIP Call-ID', () => {
    const began = stream.flatMap((one) => (one.kind === 'began' ? [one.channel] : []))
    expect(began).toHaveLength(95)
    for (const channel of began) {
      expect([channel.variable('ACCOUNT_ID'), channel.variable('SIPCALLID'), channel.protocolId]).toEqual([
        ...[undefined, undefined, undefined],
      ])
    }
    expect(find(story, 'a01-caller-hangup-1', 'create')?.accountId).toBe('alpha')
  })

  it('a dialled leg has its own account code, until that of its caller replaces it', () => {
    const dialled = UNIQUEID.get(legOf('a05-no-answer-1'))
    const shown = stream.filter((one) => one.kind !== 'dialled').map(({ channel }) => channel)
    const codes = shown.flatMap(({ id, accountCode }) => (id === dialled ? [accountCode] : []))
    expect([codes[0], codes.at(-1)]).toEqual(['beta', 'alpha'])
    const byCode = storyOf(stream, { accountOf: accountFromAccountCode() })
    for (const { legs } of recordedCalls) {
      for (const { callId, account } of legs) {
        for (const { accountId } of eventsOf(byCode, callId)) expect(accountId).toBe(account)
      }
    }
  })

  it('a host that knows accounts by the variable alone is told of the halves, which have none', () => {
    const byVariable = storyOf(stream, { accountOf: accountFromVariable('ACCOUNT_ID') })
    expect(byVariable.unknown).toHaveLength(8)
    expect(byVariable.unknown.every(({ drafts }) => drafts.every(({ isInternalLeg }) => isInternalLeg))).toBe(
      true,
    )
    expect(byVariable.events).toEqual(story.events.filter(({ isInternalLeg }) => !isInternalLeg).map(asHeard))
  })

  it('16 "Normal Clearing" is no answer, 0 no failure and 127 no interworking', () => {
    const causes = (sipCallId: string) => {
      const id = UNIQUEID.get(sipCallId)
      return stream.flatMap((one) => (one.kind === 'hung_up' && one.channel.id === id ? [one.cause] : []))
    }
    expect(causes('a05-no-answer-1')).toEqual([16])
    expect(causeOf(story, 'a05-no-answer-1')).toBe('NO_ANSWER')
    expect(causes(legOf('a05-no-answer-1'))).toEqual([0])
    expect(causeOf(story, legOf('a05-no-answer-1'))).toBe('NO_ANSWER')
    expect(causes('a16-dead-callee-1')).toEqual([16])
    expect(causeOf(story, 'a16-dead-callee-1')).toBe('NO_USER_RESPONSE')
    expect(causes('a20-self-answer-1')).toEqual([0])
    expect(causeOf(story, 'a20-self-answer-1')).toBe('NORMAL_CLEARING')
    expect(causes('a04-caller-cancel-1')).toEqual([127])
    expect(causeOf(story, 'a04-caller-cancel-1')).toBe('ORIGINATOR_CANCEL')
  })

  it('NOANSWER is the status of a 404 and of a 603 too, where the cause knows better', () => {
    for (const [call, status, name] of [
      ['a06-callee-404-1', 404, 'UNALLOCATED_NUMBER'],
      ['a15-declined-1', 603, 'CALL_REJECTED'],
    ] as const) {
      const id = UNIQUEID.get(legOf(call))
      const ends = stream.flatMap((one) =>
        one.kind === 'dialled' && one.called.id === id ? [one.status] : [],
      )
      expect(ends).toContain('NOANSWER')
      expect(find(story, legOf(call), 'destroy')).toMatchObject({
        hangupCause: name,
        hangupCode: `sip:${status}`,
      })
    }
  })

  it('a code that the switch gave itself was never on the wire', () => {
    const codes = (sipCallId: string) => {
      const id = UNIQUEID.get(sipCallId)
      return stream.flatMap((one) => (one.kind === 'hung_up' && one.channel.id === id ? [one.techCause] : []))
    }
    expect(codes(legOf('a04-caller-cancel-1'))).toEqual([500])
    expect(find(story, legOf('a04-caller-cancel-1'), 'destroy')).not.toHaveProperty('hangupCode')
    expect(codes(legOf('originate-2', 0))).toEqual([480])
    expect(find(story, legOf('originate-2', 0), 'destroy')).not.toHaveProperty('hangupCode')
  })

  it('a branch that another phone was faster than is not a missed call', () => {
    for (const call of ['a11-forked-1', 'a11-forked-2']) {
      const lost = legsOf(call).find(({ outcome }) => outcome === 'cancelled by the switch')!
      expect(causeOf(story, lost.callId)).toBe('LOSE_RACE')
      expect(othersOf(story, call)).toHaveLength(1)
    }
  })

  it('SoftHangupRequest mostly names the caller; who hung up is the phone of the first HangupRequest', () => {
    const endedBy = (id: string) => find(story, id, 'destroy')?.customChannelVars?.ended_by
    const call = 'a02-callee-hangup-1'
    expect([endedBy(call), endedBy(legOf(call))]).toEqual(['other_leg', 'this_leg'])
    for (const one of [
      'a19-parked-1',
      'a21-self-hangup-1',
      'a24-ami-hangup-1',
      'a25-redirected-1',
      'a28-ari-ivr-1',
    ]) {
      expect(endedBy(one), one).toBe('switch')
    }
    // The phone of a call that Busy() refused asks for the hangup too, after its 486.
    expect(endedBy('a22-busy-app-1')).toBe('switch')
  })

  it('a failed dialling is no end of the caller, who dials again', () => {
    const [caller, busy, answered] = legsOf('a12-failover-1').map(({ callId }) => callId) as [
      string,
      string,
      string,
    ]
    expect(causeOf(story, busy)).toBe('USER_BUSY')
    expect(othersOf(story, caller)).toEqual([UNIQUEID.get(answered)])
    expect(causeOf(story, caller)).toBe('NORMAL_CLEARING')
  })

  it('nobody dials an originated leg: it has no other leg, and its end needs no DialEnd', () => {
    const id = legOf('originate-2', 0)
    expect(hooks(eventsOf(story, id))).toEqual(['create', 'destroy'])
    expect(eventsOf(story, id).every(({ otherLegCallId }) => otherLegCallId === undefined)).toBe(true)
    expect(causeOf(story, id)).toBe('NO_ANSWER')
    expect(find(story, id, 'create')).toMatchObject({ from: '5001', to: '2004', direction: 'outbound' })
    expect(find(story, legOf('originate-1', 0), 'bridge')?.otherLegCallId).toBe(
      UNIQUEID.get(legOf('originate-1')),
    )
  })

  it('holds do not pair up: what nobody held is not resumed, who moves on does not hold', () => {
    const count = (kind: string) => stream.filter((one) => one.kind === kind).length
    expect([count('held'), count('unheld')]).toEqual([6, 7])
    const told = hooks(story.events).filter((hook) => hook.endsWith('hold'))
    expect(told.filter((hook) => hook === 'hold')).toHaveLength(6)
    expect(told.filter((hook) => hook === 'unhold')).toHaveLength(6)
    expect(hooks(eventsOf(story, legOf('a17-refer-1')))).not.toContain('unhold')
    expect(hooks(eventsOf(story, 'x///df062618-1aa5-41b3-b8de-e70b925b137b'))).not.toContain('unhold')
    expect(hooks(eventsOf(story, legOf('a18-attended-1')))).toEqual([
      ...['create', 'answer', 'bridge', 'hold', 'unhold', 'bridge', 'destroy'],
    ])
  })

  it('music on a channel is no hold of its phone, nor is the hold of an application', () => {
    expect(hooks(eventsOf(story, legOf('a08-caller-hold-1')))).not.toContain('hold')
    expect(hooks(eventsOf(story, 'a28-ari-ivr-1'))).not.toContain('hold')
  })

  it('no duration is negative though times go back by microseconds', () => {
    for (const { durationSeconds = 0, ringingSeconds = 0, billingSeconds = 0 } of story.events) {
      expect(Math.min(durationSeconds, ringingSeconds, billingSeconds)).toBeGreaterThanOrEqual(0)
    }
  })

  it('names lose the backslashes of AMI and of SIP, and keep their letters', () => {
    expect(find(story, 'a02-callee-hangup-1', 'create')?.callerIdName).toBe('Bob "Bobby" Sample')
    expect(find(story, 'a03-busy-1', 'create')?.callerIdName).toBe('Zoë Ünïcode')
  })
})

/** As a mapping tells it that is asked for no variables. */
function asHeard(event: ChannelEvent): ChannelEvent {
  const { SIPCALLID, ...customChannelVars } = event.customChannelVars ?? {}
  const { customChannelVars: _, ...rest } = event
  return Object.keys(customChannelVars).length === 0 ? rest : { ...rest, customChannelVars }
}
