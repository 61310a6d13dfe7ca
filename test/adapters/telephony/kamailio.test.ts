import type { ChannelEvent } from 'hookswitch'
import { accountByDomain, kamailioMapper, type Problem } from 'hookswitch/kamailio'
import { describe, expect, it } from 'vitest'
import { causeOf, endedByOf, hooksOf, recordedCalls, recordedLines } from './recorded.js'

const ACCOUNTS = { 'alpha.example': 'alpha', 'beta.example': 'beta' }
/** Difference of the phones' and the proxy's clocks, and the time on the network. */
const TOLERANCE_MS = 20

function mapAll(lines: readonly string[], options: { maxOpenCalls?: number } = {}) {
  const mapper = kamailioMapper({ accountOf: accountByDomain(ACCOUNTS), ...options })
  const events: ChannelEvent[] = []
  const problems: Problem[] = []
  for (const line of lines) {
    const mapped = mapper.map(line)
    events.push(...mapped.events)
    problems.push(...mapped.problems)
  }
  return { events, problems, mapper }
}

const whole = mapAll(recordedLines)
const eventsOf = (callId: string) => whole.events.filter((event) => event.callId === callId)
const find = (callId: string, hook: string) => eventsOf(callId).find((event) => event.hook === hook)
const hooks = (events: readonly ChannelEvent[]) => events.map((event) => event.hook)
const ofScenario = (scenario: string) => recordedCalls.filter((call) => call.scenario === scenario)

describe('the recorded calls are published as the phones logged them', () => {
  it('there are 77 calls and no events of any other call', () => {
    expect(recordedCalls).toHaveLength(77)
    expect(new Set(whole.events.map((event) => event.callId))).toEqual(
      new Set(recordedCalls.map((c) => c.callId)),
    )
    expect(whole.problems).toEqual([])
  })

  it.each(recordedCalls.map((call) => [call.callId, call] as const))('%s', (callId, call) => {
    const events = eventsOf(callId)
    expect(hooks(events)).toEqual(hooksOf(call))
    for (const event of events) {
      expect(event).toMatchObject({
        accountId: ACCOUNTS[call.account as keyof typeof ACCOUNTS],
        direction: 'inbound',
        from: `${call.from}@${call.account}`,
        to: `${call.dialled}@${call.account}`,
        request: `${call.dialled}@${call.account}`,
        callerIdName: call.fromDisplay,
        callerIdNumber: call.from,
        calleeIdNumber: call.dialled,
        isInternalLeg: false,
      })
    }

    const near = (actual: number | undefined, expected: number | undefined) => {
      if (expected !== undefined) expect(Math.abs((actual ?? 0) - expected)).toBeLessThanOrEqual(TOLERANCE_MS)
    }
    near(events[0]?.timestampMs, call.inviteMs)
    near(find(callId, 'channel_answer')?.timestampMs, call.answerMs)
    near(find(callId, 'channel_destroy')?.timestampMs, call.endMs)
    near(find(callId, 'channel_hold')?.timestampMs, call.holds?.[0]?.holdMs)
    near(find(callId, 'channel_unhold')?.timestampMs, call.holds?.[0]?.resumeMs)

    const destroy = find(callId, 'channel_destroy')
    expect(destroy).toMatchObject({ hangupCause: causeOf(call), hangupCode: `sip:${call.code}` })
    expect(destroy?.customChannelVars).toEqual({ ended_by: endedByOf(call) })
    if (call.endMs !== undefined) near(destroy?.durationMs, call.endMs - call.inviteMs)
    if (call.talkMs !== undefined) near(destroy?.billingMs, call.talkMs)
    if (!call.answered) expect(destroy?.billingSeconds).toBe(0)
    const rangUntil = call.answerMs ?? call.endMs
    const { durationSeconds, ringingSeconds = Number.NaN, billingSeconds = Number.NaN } = destroy ?? {}
    if (rangUntil !== undefined) near(destroy?.ringingMs, rangUntil - call.inviteMs)
    expect(durationSeconds).toBe(ringingSeconds + billingSeconds)
  })

  it('also where the script writes every value as a string, or every number as one', () => {
    const rewrite = (value: unknown, change: (value: unknown) => unknown): unknown =>
      typeof value === 'object' && value !== null
        ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, rewrite(item, change)]))
        : change(value)
    const rewritten = (change: (value: unknown) => unknown) =>
      mapAll(recordedLines.map((line) => JSON.stringify(rewrite(JSON.parse(line), change))))
    const quoted = rewritten((value) => String(value))
    expect(quoted.problems).toEqual([])
    expect(quoted.events).toEqual(whole.events)
    const unquoted = rewritten((value) => (/^\d+(\.\d{6})?$/.test(String(value)) ? Number(value) : value))
    expect(unquoted.problems).toEqual([])
    expect(unquoted.events).toEqual(whole.events)
  })

  it('the events add up to the recorded totals', () => {
    const count = (hook: string) => whole.events.filter((event) => event.hook === hook).length
    expect(count('channel_create')).toBe(77)
    expect(count('channel_answer')).toBe(52)
    expect(count('channel_bridge')).toBe(52)
    expect(count('channel_hold')).toBe(7)
    expect(count('channel_unhold')).toBe(7)
    expect(count('channel_destroy')).toBe(77)
    expect(whole.mapper.openCalls()).toBe(0)
  })
})

describe('special cases of the stream', () => {
  it('an end by timeout has a dummy message, and its call is that of the dialog', () => {
    for (const callId of ['k05-ring-timeout-1', 'k15-dead-callee-1', 'k19-vanished-1']) {
      const line = recordedLines.find((l) => l.includes(callId) && l.includes('"call_id":"123"'))
      expect(line).toContain('sip:you@kamailio.org')
      expect(find(callId, 'channel_destroy')).toMatchObject({
        from: expect.stringContaining('@alpha.example'),
      })
    }
    expect(eventsOf('123')).toEqual([])
  })

  it('the code of a dummy end is that of the failure line before it', () => {
    expect(find('k05-ring-timeout-1', 'channel_destroy')?.hangupCode).toBe('sip:408')
  })

  it('a timeout after ringing is NO_ANSWER, a timeout without any reply is not', () => {
    expect(find('k05-ring-timeout-1', 'channel_destroy')?.hangupCause).toBe('NO_ANSWER')
    expect(find('k15-dead-callee-1', 'channel_destroy')?.hangupCause).toBe('RECOVERY_ON_TIMER_EXPIRE')
  })

  it('a call that the proxy ends itself has no dialog:end: the first of its two BYEs ends it', () => {
    expect(recordedLines.filter((l) => l.includes('k16-lost-1') && l.includes('dialog:end'))).toEqual([])
    expect(hooks(eventsOf('k16-lost-1')).filter((hook) => hook === 'channel_destroy')).toHaveLength(1)
    expect(find('k16-lost-1', 'channel_destroy')?.customChannelVars).toEqual({ ended_by: 'switch' })
  })

  it('a failure does not end a call when the proxy tries another phone', () => {
    for (const { callId } of ofScenario('k12-failover')) {
      expect(hooks(eventsOf(callId))).toContain('channel_answer')
      expect(find(callId, 'channel_destroy')?.hangupCause).toBe('NORMAL_CLEARING')
    }
  })

  it('late replies of cancelled branches change nothing after the answer and after the end', () => {
    expect(hooks(eventsOf('k11-forked-1')).at(-1)).toBe('channel_destroy')
    expect(hooks(eventsOf('k05-ring-timeout-1'))).toEqual(['channel_create', 'channel_destroy'])
    const late = recordedLines.filter((l) => l.includes('k05-ring-timeout-1')).at(-1) ?? ''
    expect(JSON.parse(late)).toMatchObject({ event: 'reply', code: 487 })
  })

  it('a call that is answered despite a CANCEL is an answered call', () => {
    for (const { callId } of ofScenario('k18-cancel-crosses')) {
      expect(hooks(eventsOf(callId))).toContain('channel_answer')
      expect(find(callId, 'channel_destroy')).toMatchObject({ hangupCode: 'sip:200', billingSeconds: 0 })
    }
  })

  it('a 401 does not end a call, and the next INVITE does not open a second one', () => {
    for (const { callId } of ofScenario('k13-auth')) {
      expect(hooks(eventsOf(callId)).filter((hook) => hook === 'channel_create')).toHaveLength(1)
    }
  })

  it('the parties of a callee’s request are swapped, those of its events are not', () => {
    const bye = recordedLines.find(
      (l) => l.includes('k02-callee-hangup-1') && l.includes('"event":"dialog:end"'),
    )
    expect(JSON.parse(bye ?? '').from_uri).toBe('sip:2002@beta.example')
    expect(find('k02-callee-hangup-1', 'channel_destroy')).toMatchObject({
      from: '1002@beta.example',
      to: '2002@beta.example',
      customChannelVars: { ended_by: 'other_leg' },
    })
  })

  it('a call that the proxy refuses before any dialog ends with the stateless reply', () => {
    for (const { callId } of ofScenario('k07-proxy-404')) {
      expect(hooks(eventsOf(callId))).toEqual(['channel_create', 'channel_destroy'])
    }
  })

  it('who refused is known where the script sends no replies, too', () => {
    const endedBy = (scenario: string) => {
      const lines = recordedLines.filter((l) => l.includes(`${scenario}-1`) && !l.includes('"event":"reply"'))
      return mapAll(lines).events.at(-1)?.customChannelVars?.ended_by
    }
    expect(endedBy('k03-busy')).toBe('other_leg')
    expect(endedBy('k04-caller-cancel')).toBe('this_leg')
    expect(endedBy('k05-ring-timeout')).toBe('switch')
  })

  it('durations come from the microseconds of the lines, not from whole-second lifetimes', () => {
    const lines = recordedLines.filter((l) => l.includes('k01-caller-hangup-1"'))
    expect(JSON.parse(lines.at(-1) ?? '').dialog.lifetime).toBe(2)
    expect(find('k01-caller-hangup-1', 'channel_destroy')?.billingSeconds).toBe(1)
  })

  it('slashes in a Call-ID are preserved', () => {
    expect(hooks(eventsOf('x///k17-transfer-1'))).toContain('channel_answer')
  })

  it('display names are unquoted and unescaped once', () => {
    expect(find('k02-callee-hangup-1', 'channel_create')?.callerIdName).toBe('Bob "Bobby" Sample')
    expect(find('k03-busy-1', 'channel_create')?.callerIdName).toBe('Zoë Ünïcode')
  })

  it('hold and unhold name the party that holds', () => {
    expect(find('k08-caller-hold-1', 'channel_hold')?.customChannelVars).toEqual({ held_by: 'caller' })
    expect(find('k09-callee-hold-1', 'channel_unhold')?.customChannelVars).toEqual({ held_by: 'callee' })
  })

  it.each([491, 488, 500])('a hold or resume that is refused with %i changes nothing', (code) => {
    const lines = recordedLines.filter((l) => l.includes('k08-caller-hold-1"'))
    const refused = (cseq: string) =>
      lines.map((l) =>
        l.includes('reinvite_reply') && l.includes(`"cseq":"${cseq}"`)
          ? l.replace('"code":200', `"code":${code}`)
          : l,
      )
    expect(hooks(mapAll(refused('2')).events).filter((hook) => hook.endsWith('hold'))).toEqual([])
    expect(hooks(mapAll(refused('3')).events).filter((hook) => hook.endsWith('hold'))).toEqual([
      'channel_hold',
    ])
  })

  it('a bye line after dialog:end is not a second end', () => {
    const order = recordedLines
      .filter((l) => l.includes('k01-caller-hangup-1"'))
      .map((l) => JSON.parse(l).event)
    expect(order.slice(-2)).toEqual(['dialog:end', 'bye'])
    expect(hooks(eventsOf('k01-caller-hangup-1')).filter((hook) => hook === 'channel_destroy')).toHaveLength(
      1,
    )
  })
})
