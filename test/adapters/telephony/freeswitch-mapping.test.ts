import { describe, expect, it } from 'vitest'
import {
  accountFromAccountCode,
  accountFromContext,
  accountFromEndpoint,
  accountFromRealm,
  accountFromSipHeader,
  accountFromVariable,
  type FreeswitchAccountOf,
} from '../../../adapters/telephony/freeswitch/account-resolver.js'
import { account, createdMs, hooks, mapAll, mappingFor, syntheticEvent, time } from './freeswitch-mapped.js'

const acme = account('acme')
const answered = { ...acme, 'Caller-Channel-Answered-Time': time(2_000) }
const hungUp = { ...answered, 'Caller-Channel-Hangup-Time': time(9_000), 'Hangup-Cause': 'NORMAL_CLEARING' }
const create = (uuid: string, headers = {}) =>
  syntheticEvent('CHANNEL_CREATE', uuid, 0, { ...acme, ...headers })
const end = (uuid: string, headers = {}) =>
  syntheticEvent('CHANNEL_DESTROY', uuid, 9_000, { ...hungUp, ...headers })

describe('events that were missed', () => {
  it('a missed create is published at the next event of the leg, with its own time', () => {
    const { published } = mapAll([syntheticEvent('CHANNEL_ANSWER', 'a', 2_000, answered)])
    expect(hooks(published)).toEqual(['create', 'answer'])
    expect(published.map((event) => event.timestampMs)).toEqual([createdMs, createdMs + 2_000])
  })

  it('a missed answer is published once, before the next event, with its own time', () => {
    const held = syntheticEvent('CHANNEL_HOLD', 'a', 5_000, answered)
    const { published } = mapAll([
      create('a'),
      held,
      syntheticEvent('CHANNEL_ANSWER', 'a', 5_001, answered),
      end('a'),
    ])
    expect(hooks(published)).toEqual(['create', 'answer', 'hold', 'destroy'])
    expect(published[1]?.timestampMs).toBe(createdMs + 2_000)
  })

  it('a leg of which only the end is received is published completely', () => {
    const { published } = mapAll([end('a')])
    expect(hooks(published)).toEqual(['create', 'answer', 'destroy'])
    expect(published[2]).toMatchObject({ durationSeconds: 9, billingSeconds: 7, hangupCode: 'sip:200' })
  })

  it('missed events have the same idempotency keys as received ones', () => {
    const received = mapAll([create('a'), syntheticEvent('CHANNEL_ANSWER', 'a', 2_000, answered), end('a')])
    const missed = mapAll([syntheticEvent('CHANNEL_DATA', 'a', 3_000, answered), end('a')])
    const keys = (all: typeof received) => all.published.map((event) => event.idempotencyKey)
    expect(keys(missed)).toEqual(keys(received))
    expect(new Set(keys(received)).size).toBe(3)
  })
})

describe('an id', () => {
  it('is ignored after the end of its leg', () => {
    const { published, mapping } = mapAll([
      create('a'),
      end('a'),
      end('a'),
      syntheticEvent('CHANNEL_HOLD', 'a', 9_001, hungUp),
    ])
    expect(hooks(published)).toEqual(['create', 'answer', 'destroy'])
    expect(mapping.openLegs()).toBe(0)
  })

  it('that is reused is another leg', () => {
    const later = { 'Caller-Channel-Created-Time': time(20_000) }
    const { published } = mapAll([create('a'), end('a'), create('a', later)])
    expect(hooks(published)).toEqual(['create', 'answer', 'destroy', 'create'])
    expect(published[3]?.timestampMs).toBe(createdMs + 20_000)
    expect(published[3]?.idempotencyKey).not.toBe(published[0]?.idempotencyKey)
  })

  it('that is reused before its end was received ends the earlier leg', () => {
    const reused = syntheticEvent('CHANNEL_CREATE', 'a', 20_000, {
      ...acme,
      'Caller-Channel-Created-Time': time(20_000),
    })
    const { published } = mapAll([create('a'), reused])
    expect(hooks(published)).toEqual(['create', 'destroy', 'create'])
    expect(published[1]).toMatchObject({
      hangupCause: 'NORMAL_UNSPECIFIED',
      customChannelVars: { 'Account-ID': 'acme', found_by: 'resync' },
    })
    for (const field of ['durationSeconds', 'ringingSeconds', 'billingSeconds'])
      expect(published[1]).not.toHaveProperty(field)
    expect(published[1]).not.toHaveProperty('hangupCode')
  })

  it('of an earlier run is another leg, and all legs of that run are ended', () => {
    const restarted = create('a', { 'Core-UUID': 'run-2', 'Event-Date-Timestamp': time(60_000) })
    const { published, mapping } = mapAll([create('a'), create('b'), restarted])
    expect(published.map((event) => `${event.callId} ${event.hook}`)).toEqual([
      'a channel_create',
      'b channel_create',
      'a channel_destroy',
      'b channel_destroy',
      'a channel_create',
    ])
    expect(published[2]?.timestampMs).toBe(createdMs + 60_000)
    expect(mapping.openLegs()).toBe(1)
  })

  it('that the switch changes in mid-call stays the published one', () => {
    const renamed = syntheticEvent('CHANNEL_UUID', 'new', 1_000, { 'Old-Unique-ID': 'old' })
    const bridge = syntheticEvent('CHANNEL_BRIDGE', 'b', 3_000, {
      ...acme,
      'Bridge-A-Unique-ID': 'b',
      'Bridge-B-Unique-ID': 'new',
    })
    const { published, mapping } = mapAll([create('old'), create('b'), renamed, bridge, end('new')])
    expect(published.filter(({ callId }) => callId === 'new')).toEqual([])
    expect(hooks(published.filter(({ callId }) => callId === 'old'))).toEqual([
      'create',
      'bridge',
      'answer',
      'destroy',
    ])
    expect(published.find((e) => e.hook === 'channel_bridge' && e.callId === 'b')?.otherLegCallId).toBe('old')
    expect(mapping.openUuids()).toEqual(['b'])
  })
})

describe('an unhold while the phone still sends sendonly', () => {
  const unhold = syntheticEvent('CHANNEL_UNHOLD', 'a', 5_000, {
    ...answered,
    variable_remote_audio_media_flow: 'sendonly',
  })
  const before = [create('a'), syntheticEvent('CHANNEL_HOLD', 'a', 4_000, answered)]

  it('is not published if the leg ends', () => {
    expect(hooks(mapAll([...before, unhold, end('a')]).published)).not.toContain('unhold')
  })

  it('is published with its own time if the leg continues', () => {
    const bridge = syntheticEvent('CHANNEL_BRIDGE', 'a', 8_000, { ...answered, 'Bridge-B-Unique-ID': 'b' })
    const { published } = mapAll([...before, unhold, bridge, end('a')])
    expect(hooks(published)).toEqual(['create', 'answer', 'hold', 'unhold', 'bridge', 'destroy'])
    expect(published[3]?.timestampMs).toBe(createdMs + 5_000)
  })

  it('is not published if the event has the final SIP status', () => {
    const marked = syntheticEvent('CHANNEL_UNHOLD', 'a', 5_000, {
      ...answered,
      variable_sip_term_status: '200',
    })
    const bridge = syntheticEvent('CHANNEL_BRIDGE', 'a', 8_000, { ...answered, 'Bridge-B-Unique-ID': 'b' })
    expect(hooks(mapAll([...before, marked, bridge]).published)).not.toContain('unhold')
  })
})

describe('bad events', () => {
  it('without an id or a time are problems, and other events are still mapped', () => {
    const noTime = syntheticEvent('CHANNEL_CREATE', 'b', 0, { 'Caller-Channel-Created-Time': 'soon' })
    const noId = syntheticEvent('CHANNEL_ANSWER', '', 0)
    const without = {
      ...noId,
      header: (name: string) => (name === 'Unique-ID' ? undefined : noId.header(name)),
    }
    const { published, problems } = mapAll([without, noTime, create('a')])
    expect(problems).toEqual([
      { kind: 'malformed', message: 'CHANNEL_ANSWER without Unique-ID' },
      { kind: 'malformed', message: 'CHANNEL_CREATE without a time' },
    ])
    expect(hooks(published)).toEqual(['create'])
  })

  it('that are not subscribed to are ignored', () => {
    const mapping = mappingFor()
    for (const name of ['HEARTBEAT', 'CHANNEL_STATE', 'CHANNEL_HANGUP', 'CUSTOM', ''])
      expect(mapping.map(syntheticEvent(name || 'x', 'a', 0))).toEqual({ updates: [], problems: [] })
  })
})

describe('limits', () => {
  it('the oldest leg is forgotten and reported above maxOpenLegs', () => {
    const { problems, mapping } = mapAll([create('a'), create('b'), create('c')], { maxOpenLegs: 2 })
    expect(problems).toEqual([
      { kind: 'overflow', message: 'more than 2 open legs: the oldest is forgotten', callId: 'a' },
    ])
    expect(mapping.openUuids()).toEqual(['b', 'c'])
  })
})

describe('the account of a leg', () => {
  it('is resolved at each event until it is known, and then no more', () => {
    const resolved: string[] = []
    mapAll(
      [
        create('a'),
        syntheticEvent('CHANNEL_PROGRESS', 'a', 1, acme),
        syntheticEvent('CHANNEL_ANSWER', 'a', 2, acme),
        end('a'),
      ],
      {
        accountOf({ event, uuid, variable }) {
          resolved.push(`${event} ${uuid} ${variable('ecallmgr_Account-ID')}`)
          return resolved.length < 3 ? undefined : 'acme'
        },
      },
    )
    expect(resolved).toEqual(['CHANNEL_CREATE a acme', 'CHANNEL_PROGRESS a acme', 'CHANNEL_ANSWER a acme'])
  })

  it('may be resolved from an extra event, which opens no leg', () => {
    const execute = (uuid: string) => syntheticEvent('CHANNEL_EXECUTE', uuid, 1, { Application: 'set' })
    const { published } = mapAll([execute('b'), create('a'), execute('a')], {
      extraEvents: ['CHANNEL_EXECUTE'],
      accountOf: ({ header }) => (header('Application') === 'set' ? 'acme' : undefined),
    })
    expect(published.map((event) => `${event.callId} ${event.accountId}`)).toEqual(['a acme'])
  })

  it('is unknown while accountOf throws or returns no string, and the leg is still published', () => {
    let times = 0
    const accountOf = (() => {
      times += 1
      if (times === 1) throw new TypeError('no such account: secret')
      return times === 2 ? 7 : times === 3 ? '' : 'acme'
    }) as unknown as FreeswitchAccountOf
    const { published, problems } = mapAll(
      [
        create('a'),
        syntheticEvent('CHANNEL_PROGRESS', 'a', 1),
        syntheticEvent('CHANNEL_PROGRESS', 'a', 2),
        end('a'),
      ],
      { accountOf },
    )
    expect(problems).toEqual([
      { kind: 'callback_failed', message: 'accountOf threw (TypeError) at CHANNEL_CREATE', callId: 'a' },
      {
        kind: 'callback_failed',
        message: 'accountOf returned no string (number) at CHANNEL_PROGRESS',
        callId: 'a',
      },
    ])
    expect(hooks(published)).toEqual(['create', 'answer', 'destroy'])
  })

  const resolve = (accountOf: FreeswitchAccountOf, headers: Record<string, string>) =>
    mapAll([syntheticEvent('CHANNEL_CREATE', 'a', 0, headers)], { accountOf }).published[0]?.accountId

  it.each([
    ['a variable, KAZOO’s by default', accountFromVariable(), { 'variable_ecallmgr_Account-ID': 'x' }],
    ['a variable with its prefix', accountFromVariable('variable_account'), { variable_account: 'x' }],
    ['a SIP header', accountFromSipHeader('X-Account'), { 'variable_sip_h_X-Account': 'x' }],
    ['an account code', accountFromAccountCode(), { variable_accountcode: 'x' }],
    ['a context', accountFromContext({ acme: 'x' }), { 'Caller-Context': 'acme' }],
    ['a profile', accountFromEndpoint({ internal: 'x' }), { variable_sofia_profile_name: 'internal' }],
    [
      'a gateway before its profile',
      accountFromEndpoint({ external: 'y', carrier: 'x' }),
      { variable_sofia_profile_name: 'external', variable_sip_gateway_name: 'carrier' },
    ],
    [
      'the realm of the caller',
      accountFromRealm({ 'ACME.example': 'x', 'globex.example': 'y' }),
      { variable_sip_from_host: 'acme.Example', variable_sip_to_host: 'globex.example' },
    ],
    [
      'the realm of the callee, for a caller of an unknown realm',
      accountFromRealm({ 'acme.example': 'x' }),
      { variable_sip_from_host: 'carrier.example', variable_sip_to_host: 'acme.example' },
    ],
    [
      'the realm that an outbound leg calls',
      accountFromRealm({ 'acme.example': 'x', '10.0.0.1': 'y' }),
      {
        'Call-Direction': 'outbound',
        variable_sip_req_uri: '2001@acme.example:5062',
        variable_sip_from_host: '10.0.0.1',
      },
    ],
  ])('can be resolved by %s', (_, accountOf, headers) => {
    expect(resolve(accountOf, headers)).toBe('x')
    expect(resolve(accountOf, {})).toBeUndefined()
  })
})

describe('custom variables', () => {
  it('are KAZOO’s of both kinds and those listed by the host, without missing ones', () => {
    const { published } = mapAll(
      [create('a', { variable_cav_crm: '7', variable_queue: 'sales', variable_legs: ['one', 'two'] })],
      { customVariables: ['queue', 'legs', 'nothing'] },
    )
    expect(published[0]).toMatchObject({
      customChannelVars: { Account: 'x', 'Account-ID': 'acme', queue: 'sales', legs: ['one', 'two'] },
      customApplicationVars: { crm: '7' },
    })
    expect(published[0]?.customChannelVars).not.toHaveProperty('nothing')
  })
})

describe('a caller who requests privacy', () => {
  const hidden = { 'Caller-Privacy-Hide-Number': 'true', 'Caller-Privacy-Hide-Name': 'true' }
  it('is hidden in the address too, if the phone shows it there', () => {
    const { published } = mapAll([create('a', { ...hidden, variable_sip_from_uri: '1001@acme.example' })])
    expect(published[0]).not.toHaveProperty('from')
    expect(published[0]).not.toHaveProperty('callerIdNumber')
  })
})

describe('a leg without SIP', () => {
  const addressesOf = (headers: Record<string, string>) => {
    const [{ from, to, request } = {} as never] = mapAll([create('a', headers)]).published
    return { from, to, request }
  }

  it('has the two numbers, at the domain of its user if the switch knows one', () => {
    const to = '2001@acme.example'
    const both = { from: '1001@acme.example', to, request: to }
    expect(addressesOf({ 'Channel-Name': 'verto.rtc/1001', variable_verto_host: 'Acme.Example' })).toEqual(
      both,
    )
    const dialled = {
      'Channel-Name': 'verto.rtc/7f9a1c',
      'Call-Direction': 'outbound',
      'Caller-Destination-Number': '7f9a1c',
      variable_dialed_user: '2001',
      variable_dialed_domain: 'acme.example',
    }
    expect(addressesOf(dialled)).toEqual(both)
    const numbers = { from: '1001', to: '2001', request: '2001' }
    expect(addressesOf({ 'Channel-Name': 'FreeTDM/1:1/2001' })).toEqual(numbers)
  })

  it('does not show the number of a caller who requests privacy', () => {
    const hidden = { 'Channel-Name': 'FreeTDM/1:1/2001', 'Caller-Privacy-Hide-Number': 'true' }
    expect(addressesOf(hidden)).toEqual({ from: undefined, to: '2001', request: '2001' })
  })

  it('has no status code, answered or not', () => {
    const verto = { 'Channel-Name': 'verto.rtc/2001', variable_sip_invite_failure_status: '486' }
    const { published } = mapAll([create('a', verto), end('a', verto)])
    expect(published.at(-1)).not.toHaveProperty('hangupCode')
  })
})
