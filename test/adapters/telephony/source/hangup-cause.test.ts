import { describe, expect, it } from 'vitest'
import { causeOfHangup, causeOfRefusal } from '../../../../adapters/telephony/source/hangup-cause.js'

/** Q.850 causes with their names in FreeSWITCH and KAZOO. */
const NAMES: readonly (readonly [number, string])[] = [
  [1, 'UNALLOCATED_NUMBER'],
  [2, 'NO_ROUTE_TRANSIT_NET'],
  [3, 'NO_ROUTE_DESTINATION'],
  [16, 'NORMAL_CLEARING'],
  [17, 'USER_BUSY'],
  [18, 'NO_USER_RESPONSE'],
  [19, 'NO_ANSWER'],
  [20, 'SUBSCRIBER_ABSENT'],
  [21, 'CALL_REJECTED'],
  [22, 'NUMBER_CHANGED'],
  [25, 'EXCHANGE_ROUTING_ERROR'],
  [27, 'DESTINATION_OUT_OF_ORDER'],
  [28, 'INVALID_NUMBER_FORMAT'],
  [31, 'NORMAL_UNSPECIFIED'],
  [34, 'NORMAL_CIRCUIT_CONGESTION'],
  [38, 'NETWORK_OUT_OF_ORDER'],
  [41, 'NORMAL_TEMPORARY_FAILURE'],
  [42, 'SWITCH_CONGESTION'],
  [63, 'SERVICE_UNAVAILABLE'],
  [79, 'SERVICE_NOT_IMPLEMENTED'],
  [88, 'INCOMPATIBLE_DESTINATION'],
  [102, 'RECOVERY_ON_TIMER_EXPIRE'],
  [127, 'INTERWORKING'],
]

/** SIP status codes by Q.850 cause: RFC 4497, 8.4.4. */
const CODES: readonly (readonly [number, readonly number[]])[] = [
  [1, [404, 485, 604]],
  [17, [486, 600]],
  [18, [480]],
  [21, [401, 402, 403, 407, 603]],
  [22, [410]],
  [25, [482, 483]],
  [28, [484]],
  [38, [502]],
  [41, [400, 481, 500, 503]],
  [63, [405]],
  [79, [406, 415, 501]],
  [102, [408, 504]],
  [127, [413, 414, 416, 420, 421, 423, 505, 513]],
]

const reason = (cause: number) => `Q.850;cause=${cause}`

describe('the cause of an answered call', () => {
  it.each(NAMES)('%i is %s', (cause, name) => {
    expect(causeOfHangup(reason(cause))).toBe(name)
  })

  it.each([undefined, '', reason(99), 'SIP;cause=486', 'Q.850;text="Q.850;cause=17"'])(
    'is normal clearing for the Reason header %s',
    (header) => {
      expect(causeOfHangup(header)).toBe('NORMAL_CLEARING')
    },
  )

  it.each(['SIP;cause=200, Q.850;cause=17', 'q.850 ; text="a, b" ; CAUSE = 17', 'Q.850;cause=17;text="x"'])(
    'is read from the Reason header %s',
    (header) => {
      expect(causeOfHangup(header)).toBe('USER_BUSY')
    },
  )
})

describe('the cause of a call that was not answered', () => {
  it.each(CODES)('Q.850 %i: SIP %j', (cause, codes) => {
    for (const code of codes)
      expect(causeOfRefusal(code, false), `SIP ${code}`).toBe(causeOfHangup(reason(cause)))
  })

  it.each([
    [487, 'ORIGINATOR_CANCEL'],
    [488, 'INCOMPATIBLE_DESTINATION'],
    [606, 'INCOMPATIBLE_DESTINATION'],
    [499, 'NORMAL_UNSPECIFIED'],
    [0, 'NORMAL_UNSPECIFIED'],
  ])('SIP %i, without a row in the RFC, is %s', (code, name) => {
    expect(causeOfRefusal(code, false)).toBe(name)
  })

  it('a timeout is no answer only if the phone rang', () => {
    expect(causeOfRefusal(408, true)).toBe('NO_ANSWER')
    expect(causeOfRefusal(408, false)).toBe('RECOVERY_ON_TIMER_EXPIRE')
    expect(causeOfRefusal(480, true)).toBe('NO_USER_RESPONSE')
  })

  it('a quoted text in a Reason header is no cause, whether or not it ends', () => {
    expect(causeOfRefusal(486, true, 'SIP;text="a, Q.850;cause=21", Q.850;cause=20')).toBe(
      'SUBSCRIBER_ABSENT',
    )
    expect(causeOfRefusal(486, true, 'SIP;text="a\\", Q.850;cause=21')).toBe('USER_BUSY')
  })

  it('a Reason header takes precedence over the code, unless it says normal clearing or a cause without a name', () => {
    expect(causeOfRefusal(486, true, reason(21))).toBe('CALL_REJECTED')
    expect(causeOfRefusal(408, true, reason(20))).toBe('SUBSCRIBER_ABSENT')
    expect(causeOfRefusal(486, true, reason(16))).toBe('USER_BUSY')
    expect(causeOfRefusal(486, true, reason(99))).toBe('USER_BUSY')
  })
})
