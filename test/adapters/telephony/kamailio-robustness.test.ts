import fc from 'fast-check'
import type { ChannelEvent } from 'hookswitch'
import { accountByDomain, kamailioMapper, type Problem } from 'hookswitch/kamailio'
import { describe, expect, it } from 'vitest'
import { type KamailioLine, parseLine } from '../../../adapters/telephony/kamailio/line.js'
import { matchReinvite, type PendingReinvite } from '../../../adapters/telephony/kamailio/reinvite.js'
import { hostileText } from '../../support/hostile-text.js'
import { recordedLines } from './recorded.js'

const accountOf = accountByDomain({ 'alpha.example': 'alpha', 'beta.example': 'beta' })

function mapAll(lines: readonly string[], maxOpenCalls?: number) {
  const mapper = kamailioMapper({ accountOf, ...(maxOpenCalls ? { maxOpenCalls } : {}) })
  const mapped = lines.map((line) => mapper.map(line))
  return {
    events: mapped.flatMap((m): readonly ChannelEvent[] => m.events),
    problems: mapped.flatMap((m): readonly Problem[] => m.problems),
    openCalls: mapper.openCalls(),
  }
}

/** The events of each call without times, which a shuffle moves by a millisecond. */
function eventsByCall(events: readonly ChannelEvent[]): Record<string, unknown[]> {
  const times = new Set([
    'timestampMs',
    'durationSeconds',
    'ringingSeconds',
    'billingSeconds',
    'durationMs',
    'ringingMs',
    'billingMs',
    'idempotencyKey',
  ])
  const calls: Record<string, unknown[]> = {}
  for (const event of events) {
    calls[event.callId] ??= []
    calls[event.callId]?.push(Object.fromEntries(Object.entries(event).filter(([key]) => !times.has(key))))
  }
  return calls
}

const expected = eventsByCall(mapAll(recordedLines).events)
const timeUs = (line: string) => Math.round(Number(JSON.parse(line).time) * 1_000_000)
const oneCall = (id: string) => recordedLines.filter((line) => line.includes(`"call_id":"${id}"`))
const changed = (line: string, change: object) => JSON.stringify({ ...JSON.parse(line), ...change })
const hooks = (events: readonly ChannelEvent[]) => events.map((event) => event.hook)

describe('the order of lines', () => {
  it('may differ by a millisecond, because several workers write them', () => {
    const times = recordedLines.map(timeUs)
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: times.length, maxLength: times.length }),
        (delaysUs) => {
          const order = times
            .map((time, i) => [time + (delaysUs[i] ?? 0), i] as const)
            .sort((a, b) => a[0] - b[0])
          const { events, problems, openCalls } = mapAll(order.map(([, i]) => recordedLines[i] ?? ''))
          expect(problems).toEqual([])
          expect(openCalls).toBe(0)
          expect(eventsByCall(events)).toEqual(expected)
        },
      ),
      { numRuns: 25 },
    )
  })

  it('a stateless refusal that overtakes its INVITE ends the call', () => {
    const [invite = '', refusal = ''] = oneCall('k07-proxy-404-1')
    const { events, openCalls } = mapAll([refusal, invite])
    expect(hooks(events)).toEqual(['channel_create', 'channel_destroy'])
    expect(openCalls).toBe(0)
  })

  it('a timeout whose failure line follows it is a timeout', () => {
    const lines = oneCall('k05-ring-timeout-1')
    const failure = lines.findIndex((line) => line.includes('"event":"failure"'))
    const swapped = [...lines]
    ;[swapped[failure], swapped[failure + 1]] = [lines[failure + 1] ?? '', lines[failure] ?? '']
    expect(mapAll(swapped).events.at(-1)).toMatchObject({ hangupCause: 'NO_ANSWER', hangupCode: 'sip:408' })
  })
})

describe('rare lines', () => {
  const held = oneCall('k08-caller-hold-1')
  const begin = held.findIndex((line) => line.includes('"event":"reinvite'))
  const end = held.findIndex((line) => line.includes('"event":"dialog:end"'))
  const [request = '', reply = ''] = held
    .slice(begin)
    .filter((line) => /"reinvite_hold"|"reinvite_reply"/.test(line))
  const [resume = ''] = held.slice(begin).filter((line) => /"reinvite"/.test(line))

  it('each hold of a party has its own idempotency key', () => {
    const reused = held.slice(begin, end).map((line) => {
      const { cseq } = JSON.parse(line)
      return changed(line, { cseq: String(Number(cseq) + 10) })
    })
    const { events } = mapAll([...held.slice(0, end), ...reused, ...held.slice(end)])
    expect(hooks(events).filter((hook) => hook === 'channel_hold')).toHaveLength(2)
    expect(new Set(events.map((event) => event.idempotencyKey)).size).toBe(events.length)
  })

  it('a late reply to an older re-INVITE does not hide the newer one', () => {
    const cseq = Number(JSON.parse(request).cseq)
    const lines = [request, changed(reply, { cseq: String(cseq - 1) }), reply]
    const { events } = mapAll([...held.slice(0, begin), ...lines])
    expect(hooks(events).at(-1)).toBe('channel_hold')
    expect(JSON.parse(resume).event).toBe('reinvite')
  })

  it('unmatched re-INVITEs with ever new tags do not accumulate', () => {
    const pending = new Map<string, PendingReinvite>()
    for (let nth = 0; nth < 100; nth += 1) {
      const line = parseLine(changed(request, { from_tag: `tag-${nth}` })) as KamailioLine
      expect(matchReinvite(pending, `tag-${nth}`, line)).toBeUndefined()
      expect(pending.size).toBeLessThanOrEqual(2)
    }
  })

  it('the failure of an earlier branch is not the cause of the end', () => {
    const failover = oneCall('k12-failover-1')
    const second = failover.findLastIndex((line) => line.includes('"event":"branch"'))
    const [dummy = ''] = oneCall('k05-ring-timeout-1').filter((line) => line.includes('dialog:failed'))
    const { dialog } = JSON.parse(failover[second] ?? '')
    const lines = [...failover.slice(0, second + 1), changed(dummy, { dialog })]
    expect(failover.slice(0, second).some((line) => line.includes('"event":"failure"'))).toBe(true)
    expect(mapAll(lines).events.at(-1)).toMatchObject({ hook: 'channel_destroy', hangupCode: 'sip:408' })
  })

  it('a stateless reply within a dialog does not end the call', () => {
    const call = oneCall('k01-caller-hangup-1')
    const answered = call.findIndex((line) => line.includes('dialog:start'))
    const [, refusal = ''] = oneCall('k07-proxy-404-1')
    const stray = changed(refusal, {
      call_id: 'k01-caller-hangup-1',
      time: JSON.parse(call[answered] ?? '').time,
    })
    const lines = [...call.slice(0, answered), stray, ...call.slice(answered)]
    expect(eventsByCall(mapAll(lines).events)).toEqual(eventsByCall(mapAll(call).events))
  })

  it('a lone surrogate becomes a replacement character, because it could not be sent', () => {
    const [invite = ''] = oneCall('k01-caller-hangup-1')
    const { events } = mapAll([changed(invite, { from_display: 'half \ud83d' })])
    expect(events[0]?.callerIdName).toBe('half \uFFFD')
  })

  it('a reused Call-ID is another call, with other keys', () => {
    const call = oneCall('k07-proxy-404-1')
    const later = call.map((line) => {
      const { time, cseq } = JSON.parse(line)
      return changed(line, { time: (Number(time) + 3600).toFixed(6), cseq: String(Number(cseq) + 1) })
    })
    const { events } = mapAll([...call, ...later])
    expect(events).toHaveLength(4)
    expect(new Set(events.map((event) => event.idempotencyKey)).size).toBe(4)
  })
})

describe('invalid lines', () => {
  it.each([
    ['', /not JSON/],
    ['{"event":"invite"', /not JSON/],
    ['null', /not a JSON object/],
    ['[]', /not a JSON object/],
    ['{}', /event is missing/],
    ['{"event":7}', /event is missing/],
    ['{"event":"invite"}', /time/],
    ['{"event":"invite","time":true}', /time/],
    ['{"event":"invite","time":1e21}', /time/],
    ['{"event":"invite","time":"yesterday"}', /time/],
    ['{"event":"invite","time":"1795173566.483333"}', /call_id is missing/],
    ['{"event":"invite","time":"1795173566.483333","call_id":true}', /call_id is missing/],
    ['{"event":"invite","time":"1795173566.483333","call_id":""}', /1 to 255 printable/],
    ['{"event":"invite","time":"1795173566.483333","call_id":"a\\u0000b"}', /1 to 255 printable/],
    ['{"event":"reply","time":"1795173566.483333","call_id":"a"}', /code is missing/],
    ['{"event":"reply","time":"1795173566.483333","call_id":"a","code":"2e2"}', /code is missing/],
    ['{"event":"dialog:end","time":"1795173566.483333","call_id":"a"}', /dialog is missing/],
    ['{"event":"dialog:end","time":"1795173566.483333","call_id":"a","dialog":{}}', /dialog has no call_id/],
    ['{"event":"dialog:end","time":"1795173566.483333","call_id":"a","dialog":"x"}', /dialog has no call_id/],
  ])('%s is reported', (line, message) => {
    const { events, problems } = mapAll([line])
    expect(events).toEqual([])
    expect(problems).toMatchObject([{ kind: 'malformed', message: expect.stringMatching(message) }])
  })

  it('are reported and do not affect the calls around them', () => {
    const garbage = fc.oneof(
      hostileText(),
      fc.json(),
      fc
        .constantFrom(...recordedLines)
        .chain((line) => fc.nat(line.length - 1).map((end) => line.slice(0, end))),
    )
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(recordedLines.length), garbage), { maxLength: 40 }),
        (additions) => {
          const lines = recordedLines.flatMap((line, i) => [
            ...additions.flatMap(([at, text]) => (at === i ? [text] : [])),
            line,
          ])
          const added = lines.length - recordedLines.length
          const { events, problems } = mapAll(lines)
          expect(problems).toHaveLength(added)
          expect(new Set(problems.map((problem) => problem.kind)).size).toBeLessThanOrEqual(1)
          expect(eventsByCall(events)).toEqual(expected)
        },
      ),
      { numRuns: 40 },
    )
  })

  it('with missing keys or values of another type never throw', () => {
    const other = fc.constantFrom<unknown>(undefined, null, 0, -1, '', '__proto__', '\ud800', [], {}, true)
    const keys = [...new Set(recordedLines.flatMap((line) => Object.keys(JSON.parse(line))))]
    const inner = [...new Set(recordedLines.flatMap((line) => Object.keys(JSON.parse(line).dialog ?? {})))]
    const change = fc.record({
      line: fc.nat(recordedLines.length - 1),
      key: fc.constantFrom(...keys),
      inner: fc.constantFrom('', ...inner),
      value: other,
    })
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
        const rows = recordedLines.map((line) => JSON.parse(line))
        for (const { line, key, inner, value } of changes) {
          const target = inner !== '' && rows[line].dialog ? rows[line].dialog : rows[line]
          if (typeof target === 'object' && target !== null) target[inner !== '' ? inner : key] = value
        }
        const { events } = mapAll(rows.map((row) => JSON.stringify(row)))
        for (const event of events) {
          expect(event.callId).toMatch(/^.{1,255}$/u)
          expect(JSON.stringify(event)).not.toMatch(/\\ud[89a-f]/)
          expect(['alpha', 'beta']).toContain(event.accountId)
        }
      }),
      { numRuns: 25 },
    )
  })
})

describe('the state of the mapper', () => {
  it('is bounded: above maxOpenCalls the oldest call is forgotten and reported', () => {
    const invites = recordedLines.filter((line) => line.includes('"event":"invite"')).slice(0, 5)
    const { problems, openCalls } = mapAll(invites, 3)
    expect(openCalls).toBe(3)
    expect(problems.map(({ kind, callId }) => [kind, callId])).toEqual([
      ['overflow', 'k01-caller-hangup-1'],
      ['overflow', 'k02-callee-hangup-1'],
    ])
  })

  it('a forgotten call is not opened reused by its next line', () => {
    const first = oneCall('k01-caller-hangup-1')
    const [second = ''] = oneCall('k02-callee-hangup-1')
    const { events } = mapAll([first[0] ?? '', second, ...first.slice(1)], 1)
    expect(hooks(events.filter((event) => event.callId === 'k01-caller-hangup-1'))).toEqual([
      'channel_create',
    ])
  })

  it('a stream joined in the middle starts with the calls that are answered later', () => {
    const lines = oneCall('k01-caller-hangup-1')
    const answered = lines.findIndex((line) => line.includes('dialog:start'))
    expect(hooks(mapAll(lines.slice(answered)).events)).toEqual([
      'channel_create',
      'channel_answer',
      'channel_bridge',
      'channel_destroy',
    ])
    const late = mapAll(lines.slice(answered + 1))
    expect(hooks(late.events)).toEqual(['channel_destroy'])
    expect(late.problems).toEqual([])
  })

  it('an INVITE repeated after its refusal opens no new call, one with a higher CSeq does', () => {
    const [invite = '', refusal = ''] = oneCall('k07-proxy-404-1')
    expect(hooks(mapAll([invite, refusal, invite, refusal]).events)).toEqual([
      'channel_create',
      'channel_destroy',
    ])
    const reused = [invite, refusal].map((line) => line.replace('"cseq":"1"', '"cseq":"2"'))
    expect(hooks(mapAll([invite, refusal, ...reused]).events)).toEqual([
      'channel_create',
      'channel_destroy',
      'channel_create',
      'channel_destroy',
    ])
  })

  it('a late refusal of the INVITE without credentials does not end the call', () => {
    const [invite = '', challenge = '', retried = ''] = oneCall('k13-auth-1')
    const refusal = changed(challenge, { code: 403 })
    expect(mapAll([invite, challenge, retried, refusal]).openCalls).toBe(1)
    expect(mapAll([invite, challenge, retried, changed(refusal, { cseq: '2' })]).openCalls).toBe(0)
  })

  it('a challenged caller who sends no new INVITE is rejected after 32 seconds', () => {
    const [invite = '', challenge = ''] = oneCall('k13-auth-1')
    const later = (us: number) =>
      JSON.stringify({
        event: 'other',
        call_id: 'x',
        time: `${((timeUs(challenge) + us) / 1_000_000).toFixed(6)}`,
      })
    expect(hooks(mapAll([invite, challenge, later(31_999_000)]).events)).toEqual(['channel_create'])
    // A repetition of the challenge gives no more time.
    const repeated = changed(challenge, { time: JSON.parse(later(20_000_000)).time })
    const { events, openCalls } = mapAll([invite, challenge, repeated, later(32_001_000)])
    expect(openCalls).toBe(0)
    expect(events.at(-1)).toMatchObject({
      hook: 'channel_destroy',
      hangupCause: 'CALL_REJECTED',
      hangupCode: 'sip:401',
      customChannelVars: { ended_by: 'this_leg' },
    })
  })
})

describe('the Reason header of a phone', () => {
  const withReason = (reason: string) =>
    oneCall('k02-callee-hangup-1').map((line) => {
      const row = JSON.parse(line)
      return JSON.stringify(row.reason_header ? { ...row, reason_header: reason } : row)
    })
  it.each([
    ['Q.850;cause=41', 'NORMAL_TEMPORARY_FAILURE'],
    ['Q.850 ;text="a, \\"cause=1\\"" ;cause=27', 'DESTINATION_OUT_OF_ORDER'],
    ['SIP;cause=200;text="Call completed elsewhere", Q.850;cause=16', 'NORMAL_CLEARING'],
    ['SIP;cause=486', 'NORMAL_CLEARING'],
    ['Q.850;cause=999', 'NORMAL_CLEARING'],
    ['nonsense', 'NORMAL_CLEARING'],
  ])('%s is %s', (reason, cause) => {
    expect(mapAll(withReason(reason)).events.at(-1)?.hangupCause).toBe(cause)
  })

  it('takes precedence over the status code, except normal clearing of an unanswered call', () => {
    const refused = (reason: string) =>
      oneCall('k03-busy-1').map((line) => JSON.stringify({ ...JSON.parse(line), reason_header: reason }))
    expect(mapAll(refused('Q.850;cause=34')).events.at(-1)?.hangupCause).toBe('NORMAL_CIRCUIT_CONGESTION')
    expect(mapAll(refused('Q.850;cause=16')).events.at(-1)?.hangupCause).toBe('USER_BUSY')
  })
})

describe('a call during which the clock of Kamailio was set back', () => {
  it('has no durations, which is one problem', () => {
    const [answered] = mapAll(recordedLines).events.filter(({ billingSeconds }) => (billingSeconds ?? 0) > 0)
    const callId = answered?.callId ?? ''
    const lines = oneCall(callId)
    const endIndex = lines.findIndex(
      (line) => mapAll(lines.slice(0, lines.indexOf(line) + 1)).openCalls === 0,
    )
    const end = lines[endIndex] ?? ''
    const early = changed(end, { time: (Number(JSON.parse(end).time) - 600).toFixed(6) })
    const { events, problems } = mapAll([...lines.slice(0, endIndex), early])
    const destroyed = events.at(-1)
    expect(destroyed?.hook).toBe('channel_destroy')
    for (const field of ['durationSeconds', 'ringingSeconds', 'billingSeconds'])
      expect(destroyed).not.toHaveProperty(field)
    const message = 'the clock of the switch was set back during a leg: its durations are left out'
    expect(problems).toEqual([{ kind: 'clock', message, callId }])
  })
})

describe('a caller whose name', () => {
  const named = (name: string) =>
    mapAll(
      oneCall('k01-caller-hangup-1').map((line) =>
        JSON.stringify({ ...JSON.parse(line), from_display: name }),
      ),
    )

  it.each([
    ['has 60,000 characters', 'x'.repeat(60_000), 'x'.repeat(1_024)],
    ['has 30,000 quotes', '"'.repeat(30_000), '"'.repeat(1_024)],
    ['has 10,000 control characters', '\u0001'.repeat(10_000), '\u0001'.repeat(1_024)],
    ['was in another encoding', 'Zo\ufffd', 'Zo\ufffd'],
  ])('%s loses no event', (_, name, published) => {
    const { events, problems } = named(name)
    expect(hooks(events)).toEqual(hooks(mapAll(oneCall('k01-caller-hangup-1')).events))
    for (const event of events) {
      expect(event.callerIdName).toBe(published)
      expect(JSON.stringify(event).length).toBeLessThan(65_536)
    }
    const kinds = new Set(problems.map(({ kind }) => kind))
    expect(kinds).toEqual(new Set(name.length > 1_024 ? ['truncated'] : []))
  })
})
