import { describe, expect, it } from 'vitest'
import { hooks, mapAll } from './freeswitch-mapped.js'
import { accounts, bytesOf, recorded, recordedEvents } from './freeswitch-recorded.js'

const events = recordedEvents('json')
const json = mapAll(events)
const plain = mapAll(recordedEvents('plain'))

/** A recorded leg: `C14 a`. */
function leg(name: string) {
  const [id, which] = name.split(' ')
  const found = recorded.calls.find((call) => call.id === id)?.legs.find((leg) => leg.leg === which)
  if (!found) throw new Error(`no leg ${name}`)
  return found
}
const of = (name: string) => json.of(leg(name).uuid)
const first = (name: string) => of(name)[0]
const last = (name: string) => of(name).at(-1)
const raw = (name: string) => events.filter((event) => event.header('Unique-ID') === leg(name).uuid)
const acme = accounts['acme.example']

describe('recorded accounts', () => {
  it('an inbound leg has none at its CREATE, so its events are buffered and keep their own times', () => {
    expect(raw('C01 a')[0]?.header('variable_ecallmgr_Account-ID')).toBeUndefined()
    expect(first('C01 a')).toMatchObject({ hook: 'channel_create', accountId: acme })
    expect(first('C01 a')?.timestampMs).toBe(1_795_173_739_034)
    // The other leg has one at its CREATE, which is received later and published earlier.
    const order = json.published.filter((e) => e.hook === 'channel_create').map((e) => e.callId)
    expect(order.indexOf(leg('C01 b').uuid)).toBeLessThan(order.indexOf(leg('C01 a').uuid))
  })

  it('a call that is refused at once has its account only in its last events', () => {
    expect(raw('C03 a').map((event) => event.header('variable_ecallmgr_Account-ID'))).toEqual([
      undefined,
      acme,
      acme,
      acme,
    ])
    expect(hooks(of('C03 a'))).toEqual(['create', 'destroy'])
    expect(first('C03 a')).toMatchObject({ accountId: acme })
  })

  it('C35: an account that is set on answer is not in the ANSWER yet, and then that of the dialled leg too', () => {
    const answer = raw('C35 a').find((event) => event.name === 'CHANNEL_ANSWER')
    expect(answer?.header('variable_ecallmgr_Account-ID')).toBeUndefined()
    expect(hooks(of('C35 a'))).toEqual(['create', 'answer', 'bridge', 'destroy'])
    expect(raw('C35 b').map((event) => event.header('variable_ecallmgr_Account-ID'))).not.toContain(
      leg('C35 a').accountId,
    )
    const { accountId } = leg('C35 a')
    expect(of('C35 b')).toMatchObject(Array(4).fill({ accountId }))
  })

  it('C36: an account in a SIP header is known from the first event on', () => {
    const result = mapAll(raw('C36 a').slice(0, 1))
    expect(result.published).toHaveLength(1)
  })
})

describe('recorded bridges', () => {
  it('C09: a bridge precedes the answer with early media', () => {
    expect(hooks(of('C09 a'))).toEqual(['create', 'bridge', 'answer', 'destroy'])
    expect(hooks(of('C09 b'))).toEqual(['create', 'bridge', 'answer', 'destroy'])
  })

  it('one event of the switch is published for each of the two legs', () => {
    expect(events.filter(({ name }) => name === 'CHANNEL_BRIDGE')).toHaveLength(31)
    expect(raw('C01 b').map(({ name }) => name)).not.toContain('CHANNEL_BRIDGE')
    const [a, b] = ['C01 a', 'C01 b'].map((name) => of(name).find((e) => e.hook === 'channel_bridge'))
    expect(a).toMatchObject({
      otherLegCallId: b?.callId,
      originalNumber: '2001',
      otherLegDestinationNumber: '2001',
    })
    expect(b).toMatchObject({ otherLegCallId: a?.callId, timestampMs: a?.timestampMs })
  })

  it('C27: two phones are bridged with each other through a loopback pair, and not again when it is bypassed', () => {
    expect(raw('C27 a').filter(({ name }) => name === 'CHANNEL_BRIDGE')).toHaveLength(2)
    expect(hooks(of('C27 a'))).toEqual(['create', 'answer', 'bridge', 'destroy'])
    expect(hooks(of('C27 b'))).toEqual(['create', 'answer', 'bridge', 'destroy'])
    for (const event of of('C27 b')) expect(event.otherLegCallId).toBe(leg('C27 a').uuid)
    expect(of('C27 a').map((event) => event.otherLegCallId)).toEqual([
      undefined,
      undefined,
      leg('C27 b').uuid,
      leg('C27 b').uuid,
    ])
    const [a, b] = ['C27 a', 'C27 b'].map((name) => of(name).find((e) => e.hook === 'channel_bridge'))
    expect(b?.timestampMs).toBe(a?.timestampMs)
  })

  it('a receiver without internal legs sees no id of a loopback leg', () => {
    const internal = recorded.calls.flatMap((call) => call.legs.filter((leg) => leg.internal))
    // A call that the switch itself begins with a loopback pair has the id of that leg.
    const seen = JSON.stringify(
      json.published.filter((event) => !event.isInternalLeg).map(({ callGroupId, ...event }) => event),
    )
    expect(internal).toHaveLength(6)
    for (const { uuid } of internal) expect(seen).not.toContain(uuid)
  })
})

describe('names and numbers', () => {
  it.each([
    ['O01 b', '0000000000', '2001'],
    ['O02 b', '2099', '1001'],
    ['C19 b', '1001', '2001'],
    ['C21 b', '1001', '2001'],
    ['C27 loopback-a', '1001', '2001'],
    ['O05 loopback-a', '0000000000', '3000'],
  ])('%s: those of the create stay, although the switch swaps them', (name, caller, callee) => {
    const seen = new Set(raw(name).map((event) => event.header('Caller-Caller-ID-Number')))
    expect(seen.size).toBeGreaterThan(1)
    for (const event of of(name)) {
      expect(event).toMatchObject({ callerIdNumber: caller, calleeIdNumber: callee })
    }
  })

  it('C23: after uuid_bridge a leg keeps its own caller', () => {
    expect(raw('C23 a').at(-1)?.header('Caller-Caller-ID-Number')).toBe('1003')
    expect(last('C23 a')).toMatchObject({ callerIdNumber: '1004', callerIdName: 'Dee Moe' })
  })

  it('C31: a UTF-8 name is preserved; ids and values with a percent sign are preserved in JSON only', () => {
    expect(first('C31 a')).toMatchObject({
      callId: "a%20b+c!d~*'(e)@phone.acme.example",
      callerIdName: 'Zoë Ünal 日本 🎧',
    })
    expect(plain.of("a b+c!d~*'(e)@phone.acme.example")).toHaveLength(3)
  })

  it('C33: a display name, which the switch decodes, is not decoded twice', () => {
    expect(first('C33 a')?.callerIdName).toBe('100% Café & Sons + Co')
    expect(plain.of(leg('C33 a').uuid)[0]?.callerIdName).toBe('100% Café & Sons + Co')
  })

  it('C37: a Latin-1 name has U+FFFD for invalid UTF-8, in both formats', () => {
    for (const mapped of [json, plain])
      expect(mapped.of(leg('C37 a').uuid)[0]?.callerIdName).toBe('Ren\ufffd Fran\ufffdois')
  })

  it('C38: a caller who requests privacy is hidden, although the switch shows the asserted identity', () => {
    expect(raw('C38 a')[0]?.header('Caller-Caller-ID-Name')).toBe('Ann Lee')
    for (const event of of('C38 a')) {
      expect(event).not.toHaveProperty('callerIdName')
      expect(event).not.toHaveProperty('callerIdNumber')
      expect(event.from).toBe('anonymous@anonymous.invalid')
      expect(JSON.stringify(event)).not.toMatch(/Ann Lee|1001/)
    }
  })

  it('the placeholder Outbound Call is not published as a name', () => {
    expect(raw('C01 b')[0]?.header('Caller-Callee-ID-Name')).toBe('Outbound Call')
    for (const event of json.published) expect(JSON.stringify(event)).not.toContain('Outbound Call')
  })

  it('a dialled leg has `from` and `to` at its create, before it has responded, and they do not change', () => {
    expect(raw('C01 b')[0]?.header('variable_sip_to_uri')).toBeUndefined()
    for (const event of of('C01 b')) {
      expect(event).toMatchObject({
        from: '1001@127.0.0.1',
        to: '2001@acme.example',
        request: '2001@acme.example',
      })
    }
    const outbound = json.published.filter((e) => e.direction === 'outbound' && !e.isInternalLeg)
    for (const { callId, hook, from, to } of outbound) {
      const create = json.published.find((e) => e.callId === callId && e.hook === 'channel_create')
      expect({ hook, from, to }).toEqual({ hook, from: create?.from, to: create?.to })
      expect(from).toContain('@')
      expect(to).toContain('@')
    }
  })
})

describe('recorded ends', () => {
  it.each([
    ['C08 b', 'REDIRECTION_TO_NEW_DESTINATION'],
    ['C24 b', 'LOSE_RACE'],
  ])('%s: a leg can end while the call continues', (name, cause) => {
    const caller = name.replace(' b', ' a')
    expect(last(name)?.hangupCause).toBe(cause)
    expect(last(name)?.timestampMs).toBeLessThan(last(caller)?.timestampMs ?? 0)
    expect(hooks(of(caller))).toEqual(['create', 'answer', 'bridge', 'destroy'])
  })

  it('a cause that occurs twice in an event is read once', () => {
    const bytes = bytesOf('json').toString('latin1')
    const at = bytes.indexOf('"Event-Name":"CHANNEL_HANGUP_COMPLETE"')
    const body = bytes.slice(at, bytes.indexOf('}Content-Length', at))
    expect(body.split('"Hangup-Cause":').length).toBe(3)
    expect(events.find(({ name }) => name === 'CHANNEL_HANGUP_COMPLETE')?.header('Hangup-Cause')).toBe(
      'USER_BUSY',
    )
  })

  it('seconds are rounded down from the exact times: the switch’s own are often off by one', () => {
    let different = 0
    for (const { uuid } of recorded.calls.flatMap((call) => call.legs)) {
      const end = events.findLast((event) => event.header('Unique-ID') === uuid)
      const exact = Number(end?.header('variable_billmsec'))
      const billedMs = exact - (json.of(uuid).at(-1)?.billingSeconds ?? -1) * 1000
      expect(billedMs >= 0 && billedMs <= 1000).toBe(true)
      if (Number(end?.header('variable_billsec')) !== Math.floor(exact / 1000)) different += 1
    }
    expect(different).toBe(15)
  })

  it('the other leg of an end is the bridged leg or the originator, never Channel-Call-UUID', () => {
    const end = raw('C01 b').at(-1)
    expect(end?.header('Channel-Call-UUID')).toBe(leg('C01 b').uuid)
    expect(last('C01 b')?.otherLegCallId).toBe(leg('C01 a').uuid)
    expect(last('C03 b')?.otherLegCallId).toBe(leg('C03 a').uuid)
  })
})

describe('recorded legs', () => {
  it('O05, O06: a CHANNEL_UUID before the CREATE opens no leg', () => {
    const renamed = events.filter(({ name }) => name === 'CHANNEL_UUID')
    expect(renamed).toHaveLength(2)
    for (const event of renamed) expect(json.of(event.header('Old-Unique-ID') ?? '')).toEqual([])
    expect(hooks(of('O05 loopback-a'))).toEqual(['create', 'answer', 'destroy'])
  })

  it('loopback legs are internal from their create on, and a loopback pair is not a bridge', () => {
    expect(raw('O05 loopback-b')[0]?.header('variable_is_loopback')).toBeUndefined()
    for (const event of of('O05 loopback-b')) {
      expect(event).toMatchObject({ isInternalLeg: true, direction: 'inbound' })
      expect(event).not.toHaveProperty('from')
      expect(event).not.toHaveProperty('hangupCode')
    }
    expect(hooks(of('O05 loopback-b'))).not.toContain('bridge')
  })

  it('events that are swapped in the stream are all mapped', () => {
    const numbers = events.flatMap((event) => Number(event.header('Event-Sequence') ?? []))
    const swapped = numbers.filter((number, index) => number < (numbers[index - 1] ?? 0))
    expect(swapped).toHaveLength(13)
    expect(json.problems).toEqual([])
  })

  it('KAZOO’s variables are published under their names, arrays as arrays, some as separate fields', () => {
    for (const mapped of [json, plain]) {
      const end = mapped.of(leg('C32 a').uuid).at(-1)
      expect(end?.callerIdNumber).toBe('+15550142')
    }
    const end = last('C31 a')
    expect(end?.customChannelVars).toMatchObject({
      'Account-ID': acme,
      List: ['one', 'two, with: comma|pipe', 'drei ü'],
      Json: '{"a":[1,2],"b":"x\\"y"}',
      Note: '50% off & more = yes; a+b, c%20d; “Grüße” 日本 🎧',
    })
    expect(end).toMatchObject({ ownerId: '5f2d8a', callForwarded: true })
    expect(json.published.find((event) => event.authorizingType)).toMatchObject({
      authorizingType: 'device',
      authorizingId: '0d7b3f1e52c94a86b0c1d2e3f4a5b6c7',
    })
  })
})
