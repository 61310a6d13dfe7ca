import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { asteriskConf } from './asterisk.js'
import { asteriskFiles, configurationBlocks, type SwitchConfig } from './asterisk-config.js'
import { recordingOf } from './fake-load.js'
import { freeswitchFiles } from './freeswitch-config.js'
import { compareLegs, type ExpectedLeg, legsOf, type PublishedLeg } from './legs.js'
import { compareRecords, parseRecord } from './records.js'
import { startRelay } from './relay.js'
import { createReport, SKIPPED } from './report.js'
import { answeredCall } from './scenario-parts.js'
import { SCENARIOS } from './scenarios.js'
import type { Received } from './service.js'
import * as step from './sipp-steps.js'

const SIP = { address: '127.0.0.1', port: 5060 }
const LIVE = {
  ...{ kind: 'asterisk' as const, sip: SIP, phonesAddress: '127.0.0.1', transferor: 'hangs up' as const },
  ...{ portOf: Number, restart: undefined },
}
const legsOfScenario = ({ legs }: (typeof SCENARIOS)[number]) =>
  typeof legs === 'function' ? legs(LIVE) : legs

const config: SwitchConfig = {
  ...{
    address: '192.0.2.1',
    phonesAddress: '192.0.2.2',
    secret: 'live-secret',
    trunk: { port: 29_999, calls: '1261' },
  },
  ports: { sip: 25_060, ami: 25_038, http: 25_088, eventSocket: 25_021, rtp: 10_000 },
  phones: [
    { number: '1011', port: 21_011, account: 'acme' },
    { number: '2011', port: 22_011, account: 'globex' },
    { number: '1311', port: 21_311 },
  ],
  dialplan: [],
  asteriskConf: {},
  queues: [{ name: 'q1', agents: ['1011'], ringSeconds: 5, keys: 'leave' }],
  mailboxes: ['1011'],
}

/** The events of an answered call, as they are received. */
function published(): PublishedLeg[] {
  const events = (callId: string, other: string, endpoint: object, first: object, end: object) =>
    ['create', 'answer', 'bridge', 'destroy'].map((name, index) => ({
      source: 'ami',
      account: 'acme',
      atMs: index,
      event: {
        ...first,
        ...{ hook_event: `channel_${name}`, account_id: 'acme', call_id: callId, sequence: index + 1 },
        ...{ call_group_id: 'one', answered_by: { number: '1012' }, endpoint },
        ...{ timestamp: 63_962_420_250 + index, other_leg_call_id: other },
        ...(name === 'destroy' ? end : {}),
      },
    }))
  const end = { hangup_cause: 'NORMAL_CLEARING', hangup_code: 'sip:200', billing_seconds: 1 }
  const parties = { from: '1011@acme.example', to: '1012@acme.example' }
  const received = [
    ...events(
      'one',
      'two',
      { kind: 'extension', name: '1011' },
      { call_direction: 'inbound', ...parties },
      { ...end, custom_channel_vars: { ended_by: 'this_leg' } },
    ),
    ...events(
      'two',
      'one',
      { kind: 'extension', name: '1012' },
      { call_direction: 'outbound', ...parties },
      { ...end, custom_channel_vars: { ended_by: 'other_leg' } },
    ),
  ]
  return legsOf(received, 'ami')
}
const expected = () => answeredCall('1011', '1012', 'caller')

describe('the comparison of legs', () => {
  it('finds no difference where there is none', () => {
    expect(compareLegs(expected(), published())).toEqual([])
  })

  const change = (index: number, changed: object) => (legs: PublishedLeg[]) =>
    legs.map((leg, at) =>
      at === 0
        ? { ...leg, events: leg.events.map((event, n) => (n === index ? { ...event, ...changed } : event)) }
        : leg,
    )
  const without = (index: number) => (legs: PublishedLeg[]) =>
    legs.map((leg, at) => (at === 0 ? { ...leg, events: leg.events.filter((_, n) => n !== index) } : leg))

  it.each<[string, (legs: PublishedLeg[]) => PublishedLeg[], RegExp]>([
    ['a missing leg', ([first]) => [first!], /outbound leg of 1012: not published/],
    ['a leg too many', (legs) => [...legs, { ...legs[0]!, callId: 'three' }], /a leg that no phone had/],
    ['a missing event', without(1), /the events are create bridge:1012 destroy/],
    ['a gap in the sequence', change(3, { sequence: 5 }), /the sequence is 1,2,3,5/],
    [
      'a leg in another account',
      ([first, second]) => [{ ...first!, account: 'globex' }, second!],
      /account is globex, not acme/,
    ],
    [
      'an event of another account',
      change(2, { account_id: 'globex' }),
      /account of the events is acme,globex/,
    ],
    ['another party', change(0, { to: '1013@acme.example' }), /the other number is 1013, not 1012/],
    ['a bridge with another leg', change(2, { other_leg_call_id: 'one' }), /bridge:1011/],
    ['another cause', change(3, { hangup_cause: 'USER_BUSY' }), /the cause is USER_BUSY/],
    ['another code', change(3, { hangup_code: 'sip:486' }), /the code is sip:486/],
    [
      'another end',
      change(3, { custom_channel_vars: { ended_by: 'switch' } }),
      /ended by switch, not this_leg/,
    ],
    ['another id of the call', change(3, { call_group_id: 'two' }), /one call has several ids: two,one/],
    ['another one who answered', change(3, { answered_by: { number: '1' } }), /who answered is 1, not 1012/],
    [
      'another endpoint',
      change(3, { endpoint: { kind: 'trunk', name: '1011' } }),
      /the endpoint is trunk 1011, not extension 1011/,
    ],
    [
      'events that arrive out of order',
      (legs) => legs.map((leg) => ({ ...leg, events: leg.events.toReversed() })),
      /the sequence is 4,3,2,1/,
    ],
    ['times that go back', change(1, { timestamp: 1 }), /the times go back/],
    [
      'a duration that is no sum',
      change(3, { duration_seconds: 9, ringing_seconds: 1 }),
      /the duration is 9 s, but 1 s of ringing and 1 s billed/,
    ],
  ])('finds %s', (_, changed, sentence) => {
    expect(compareLegs(expected(), changed(published())).join('\n')).toMatch(sentence)
  })

  it('finds an invented duration', () => {
    const legs: ExpectedLeg[] = answeredCall('1011', '1012', 'caller', { billed: [3, 5] })
    expect(compareLegs(legs, published()).join('\n')).toMatch(/1 s are billed, not 3 to 5 s/)
  })

  it('permits an event that may be missing, but no other', () => {
    const [first, second] = expected()
    const optional = { ...first!, hooks: ['create', 'answer', 'bridge:1012', 'unhold?', 'destroy'] }
    expect(compareLegs([optional, second!], published())).toEqual([])
  })
})

describe('the scenarios', () => {
  it('share no phones, so that a late event of one is not taken for another', () => {
    const numbers = SCENARIOS.flatMap(({ phones }) => Object.keys(phones))
    expect(new Set(numbers).size).toBe(numbers.length)
  })

  it('expect legs of their own phones, which end', () => {
    for (const scenario of SCENARIOS) {
      const legs = legsOfScenario(scenario)
      for (const leg of legs) expect(leg.hooks.at(-1)).toBe('destroy')
      const inside = legs.filter(({ phone, isInternal }) => !isInternal && /^[12]\d{3}$/.test(phone))
      for (const { phone } of inside) expect(Object.keys(scenario.phones)).toContain(phone)
    }
  })

  it.each<[string, readonly step.Step[]]>([
    [
      'caller',
      [
        step.invite({ from: '1', to: '2' }),
        step.hearsRinging,
        step.waitForGo,
        step.cancel({ from: '1', to: '2' }),
      ],
    ],
    ['caller', [step.invite({ from: '1', to: '2' }), step.isAnswered, step.hold, step.resume, step.hangUp]],
    ['callee', [step.isInvited, step.ring, step.answer, step.waitForGo, step.refer('<sip:3@x>', 'hangs up')]],
    ['callee', [step.isInvited, step.sendEarlyMedia, step.answer, step.refer('[$value]', 'is hung up')]],
    ['callee', [step.isInvited, step.ring, step.isCancelled]],
  ])('have no step of a %s after a request that SIPp would miss the response in', (role, steps) => {
    const xml = step.scenarioXml(role as step.Role, steps)
    const beforeNop = xml.split(/<\/send>\s*<nop>/).slice(0, -1)
    // Nothing answers a provisional response.
    for (const text of beforeNop)
      expect(text.slice(text.lastIndexOf('CDATA['))).toMatch(/^CDATA\[\s+SIP\/2\.0 1/)
    const captured = [...xml.matchAll(/assign_to="(\w+)"/g)].map(([, name]) => name)
    const referenced = /<Reference variables="([^"]*)"/.exec(xml)?.[1]?.split(',') ?? []
    expect(referenced).toEqual(expect.arrayContaining(captured))
  })
})

describe('the configuration of Asterisk', () => {
  it('is that of the documents, with address, port and secret', () => {
    const { 'manager.conf': manager = '', 'ari.conf': ari = '' } = asteriskFiles(config)
    expect(manager).toMatch(/^\[general\]\nbindaddr = 192\.0\.2\.1\nport = 25038\nenabled = yes\n/)
    expect(manager).toMatch(/^secret = live-secret$/m)
    expect(manager).toMatch(/^write = reporting$/m)
    expect(ari).toMatch(/^password = live-secret$/m)
    expect(ari).toMatch(/^channelvars = ACCOUNT_ID,/m)
    expect(manager + ari).not.toContain('…')
  })

  it('has the queues and mailboxes of the scenarios, and their own lines', () => {
    const files = asteriskFiles({ ...config, asteriskConf: { 'res_parking.conf': ['[lot1]'] } })
    expect(files['queues.conf']).toMatch(/\[q1\]\nstrategy = linear\ntimeout = 5\n(.*\n)*context = leave\n/)
    expect(files['queues.conf']).toContain('member => PJSIP/1011\n')
    expect(files['voicemail.conf']).toContain('1011 => 1234,Phone 1011\n')
    expect(files['res_parking.conf']).toBe('[general]\n[lot1]\n')
  })

  it('gives each phone its account, except the phone whose account the dial plan sets', () => {
    const { 'pjsip.conf': pjsip = '' } = asteriskFiles(config)
    expect(pjsip).toContain('[1011](phone)\ntype = endpoint\nset_var = ACCOUNT_ID=acme\n')
    expect(pjsip).toContain('[2011](phone)\ntype = endpoint\nset_var = ACCOUNT_ID=globex\n')
    expect(pjsip).toContain('[1311](phone)\ntype = endpoint\naors = 1311\n')
  })

  it('has the documented dial plan, with the extensions of the scenarios before its patterns', () => {
    const { 'extensions.conf': plan = '' } = asteriskFiles({
      ...config,
      dialplan: ['exten => 1289,1,Hangup(21)'],
    })
    const [phones = ''] = plan.split(/^\[(?!phones)/m)
    expect(phones).toMatch(/Set\(__ACCOUNT_ID=\$\{ACCOUNT_ID\}\)/)
    expect(phones).toContain('exten => 1289,1,Hangup(21)')
    expect(plan).toMatch(/^\[from-trunk\]\n(.*\n)*.*Dial\(PJSIP\/1261\)/m)
  })

  it('finds each block of a page by what only its file has', () => {
    const page = '```ini\n[1001]\nset_var = A=b\n```\n\n```ini\nread = call\n```\n'
    expect([...configurationBlocks(page)]).toEqual([
      ['manager.conf', 'read = call\n'],
      ['pjsip.conf', '[1001]\nset_var = A=b\n'],
    ])
  })

  it('takes the folders of the installed Asterisk and writes only into its own', () => {
    const installed =
      '[directories](!)\nastetcdir => /etc/asterisk\nastdatadir => /usr/share/asterisk ; sounds\n'
    const lines = asteriskConf(installed, '/srv/asterisk', '/usr/lib/asterisk/modules').split('\n')
    expect(lines).toContain('astetcdir => /srv/asterisk')
    expect(lines).toContain('astdatadir => /usr/share/asterisk')
    expect(lines).toContain('astmoddir => /usr/lib/asterisk/modules')
    expect(lines).toContain('astrundir => /srv/asterisk')
  })
})

describe('the configuration of FreeSWITCH', () => {
  it('has the queues of the scenarios, with the account of each agent, and their mailboxes', () => {
    const files = freeswitchFiles(config)
    const callCenter = files['autoload_configs/callcenter.conf.xml']
    expect(callCenter).toContain('<queue name="q1@live">')
    expect(callCenter).toContain(
      'contact="{ecallmgr_Account-ID=acme}[leg_timeout=5]sofia/live/1011@192.0.2.2:21011"',
    )
    expect(callCenter).toContain('<tier agent="1011" queue="q1@live" level="1" position="1"/>')
    expect(files['directory/live.xml']).toContain('<user id="1011"/>')
  })

  it('is that of the documents, with address, port and password', () => {
    const { 'autoload_configs/event_socket.conf.xml': socket = '' } = freeswitchFiles(config)
    expect(socket).toContain('<param name="listen-ip" value="192.0.2.1"/>')
    expect(socket).toContain('<param name="listen-port" value="25021"/>')
    expect(socket).toContain('<param name="password" value="live-secret"/>')
  })

  it('sets the account of a caller as documented, and that of a dialled phone', () => {
    const { 'dialplan/live.xml': dialplan = '' } = freeswitchFiles({
      ...config,
      dialplan: ['1011: set call_timeout=1', '1011: bridge phone(1011),phone(2011)'],
    })
    expect(dialplan).toContain('<action application="export" data="ecallmgr_Account-ID=globex"/>')
    expect(dialplan).toContain(
      '"{ecallmgr_Account-ID=acme}sofia/live/1011@192.0.2.2:21011,sofia/live/2011@192.0.2.2:22011"',
    )
    expect(dialplan).toContain('"{ecallmgr_Account-ID=globex}sofia/live/2011@192.0.2.2:22011"')
    expect(dialplan).toContain('<action application="set" data="call_timeout=1"/>')
    expect(dialplan.match(/expression="\^1011\$"/g)).toHaveLength(1)
  })
})

describe('the comparison with call detail records', () => {
  const line = (duration: number, billed: number, id: string) =>
    `"","1011","1012","phones","""A, B"" <1011>","PJSIP/1011-1","PJSIP/1012-2","Dial","PJSIP/1012,60","2026-11-29 04:00:00",,"2026-11-29 04:00:03",${duration},${billed},"ANSWERED","DOCUMENTATION","${id}",""`
  const end = (id: string, durationMs: number, billingMs: number): Received => ({
    ...{ source: 'ami', account: 'acme', atMs: 0 },
    event: {
      ...{ hook_event: 'channel_destroy', call_id: id, duration_ms: durationMs, billing_ms: billingMs },
      ...{
        duration_seconds: Math.floor(durationMs / 1_000),
        billing_seconds: Math.floor(billingMs / 1_000),
      },
    },
  })

  it('reads a record of cdr_csv, with quotes, commas and a call without an answer', () => {
    expect(parseRecord(line(3, 1, 'a'))).toEqual({
      ...{ id: 'a', channel: 'PJSIP/1011-1', application: 'Dial', duration: 3, billed: 1 },
    })
  })

  it.each<[string, string[], number, object]>([
    ['the same seconds', [line(3, 1, 'a')], 3_400, { equal: 1 }],
    [
      'a record that was written some milliseconds later',
      [line(3, 1, 'a')],
      2_990,
      { near: 1, farthestMs: 10 },
    ],
    ['several records of one leg', [line(3, 1, 'a'), line(1, 1, 'a')], 3_400, { several: 1 }],
  ])('counts %s', (_, lines, durationMs, counts) => {
    const received = [end('a', durationMs, 1_500)]
    expect(compareRecords(lines.map(parseRecord), received, 'ami')).toMatchObject({
      ...counts,
      different: [],
    })
  })

  it('names a leg whose record has another duration', () => {
    const { different } = compareRecords([parseRecord(line(3, 1, 'a'))], [end('a', 5_400, 1_500)], 'ami')
    expect(different).toEqual([
      'PJSIP/1011-1 Dial: the record has 3 s and 1 s billed, the event 5400 ms and 1500 ms',
    ])
  })
})

describe('the report', () => {
  afterEach(() => vi.restoreAllMocks())
  const reportOf = (...checks: readonly (readonly [string, readonly string[]])[]) => {
    vi.spyOn(console, 'log').mockImplementation(() => {})
    const report = createReport(['ami', 'ari'])
    for (const [source, problems] of checks) report.add(`calls of ${source}`, [{ source, problems }])
    return report
  }

  it('passes only if nothing failed and nothing was skipped', () => {
    expect(reportOf(['ami', []]).end()).toBe(0)
    expect(reportOf(['ami', []], ['ari', ['no event']]).end()).toBe(1)
    const report = reportOf(['ami', []])
    report.skip('FreeSWITCH')
    expect(report.end()).toBe(SKIPPED)
  })

  it('has a table of the results by interface', () => {
    const report = reportOf(['ami', []], ['ari-context', ['no event']])
    expect(report.table()).toBe(
      '| | ami | ari |\n|---|---|---|\n| calls of ami | passed | – |\n| calls of ari-context | – | failed |\n',
    )
  })
})

describe('the load of the fakes', () => {
  it('is the recorded call under other ids and times, in the order of the times', () => {
    const call = {
      messages: ['1000 1795174204.0 PJSIP/1001-00000000\n', '1050 1795174204.0 hangup\n'],
      ids: ['1795174204.0', 'PJSIP/1001-00000000'],
      timeOf: (message: string) => Number(message.split(' ')[0]),
      shift: (message: string, ms: number) =>
        message.replace(/^\d+/, (time: string) => String(Number(time) + ms)),
    }
    expect(String(recordingOf(call, { calls: 2, rate: 25, startMs: 5_000 }))).toBe(
      [
        ...['5000 1000000000.0 PJSIP/1001-00000000', '5040 1000000001.0 PJSIP/1001-00000001'],
        ...['5050 1000000000.0 hangup', '5090 1000000001.0 hangup', ''],
      ].join('\n'),
    )
  })
})

describe('the relay', () => {
  const cleanups: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })

  it('ends connections when it is cut, accepts none, and connects again when it is restored', async () => {
    const server = createServer((socket) => socket.on('error', () => {}).write('hello'))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanups.push(async () => server.close())
    const { port } = server.address() as { port: number }
    const relay = await startRelay({ address: '127.0.0.1', port })
    cleanups.push(relay.end)
    const dial = () => connect(relay.port, '127.0.0.1').on('error', () => {})

    const first = dial()
    expect(String(await once(first, 'data'))).toBe('hello')
    const ended = once(first, 'close')
    relay.cut()
    await ended
    await once(dial(), 'close')
    relay.restore()
    expect(String(await once(dial(), 'data'))).toBe('hello')
  })
})
