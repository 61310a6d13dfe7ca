// @ts-check
/** Scenarios of what a switch does beside connecting phones: queues, parking, voicemail, conferences, recordings, keys. */
import { answeredCall, leg, phonesOf } from './scenario-parts.js'
import * as step from './sipp-steps.js'

/** @typedef {import('./scenario.js').Scenario} Scenario */

const answers = [step.isInvited, step.ring, step.answer, step.isHungUp]
const ringsInVain = [step.isInvited, step.ring, step.isCancelled]
/** A caller whom the switch answers. */
const stays = [step.isAnswered, step.waitForGo, step.hangUp]

/**
 * The extension of a queue whose caller hears music until an agent answers.
 *
 * @param {string} extension
 * @param {{ seconds?: number, next?: string, key?: string }} [options] the longest wait, the phone that is called
 *   afterwards, and the key that ends it
 */
function queueExtension(extension, { seconds, next, key } = {}) {
  const queue = `q${extension}`
  const wait = seconds === undefined ? '' : `,,,,${seconds}`
  return {
    asterisk: [
      `exten => ${extension},1,Set(__ACCOUNT_ID=acme)`,
      ...['same => n,Answer()', `same => n,Queue(${queue}${wait})`],
      ...(next === undefined || key !== undefined ? [] : [`same => n,Dial(PJSIP/${next})`]),
    ],
    freeswitch: [
      `${extension}: answer`,
      ...(key === undefined ? [] : [`${extension}: set cc_exit_keys=${key}`]),
      `${extension}: callcenter ${queue}@live`,
      ...(next === undefined ? [] : [`${extension}: bridge phone(${next})`]),
    ],
  }
}

/** @type {readonly Scenario[]} */
const QUEUE_SCENARIOS = [
  {
    name: 'an agent of a queue answers',
    phones: phonesOf('1501', '1502'),
    queues: [{ name: 'q1509', agents: ['1502'], ringSeconds: 30 }],
    dialplan: queueExtension('1509'),
    async play(stage) {
      stage.callee('1502', ...answers)
      const caller = stage.caller('1501', '1509', ...stays)
      await stage.sees('1501', 'bridge')
      await caller.go()
    },
    legs: [
      leg(
        'inbound',
        '1501',
        '1509',
        [
          ...['create', 'answer', 'queue_join', 'queue_agent_offer:1502', 'queue_leave:answered'],
          ...['queue_agent_answer:1502', 'bridge:1502', 'queue_agent_complete:1502'],
        ],
        { endedBy: 'this_leg' },
      ),
      leg('outbound', '1502', '1501', ['create', 'answer', 'bridge:1501'], { endedBy: 'other_leg' }),
    ],
  },
  {
    name: 'an agent of a queue does not answer, and the next one does',
    phones: phonesOf('1511', '1512', '1513'),
    queues: [{ name: 'q1519', agents: ['1512', '1513'], ringSeconds: 1 }],
    dialplan: queueExtension('1519'),
    async play(stage) {
      stage.callee('1512', ...ringsInVain)
      stage.callee('1513', ...answers)
      const caller = stage.caller('1511', '1519', ...stays)
      await stage.sees('1511', 'bridge')
      await caller.go()
    },
    legs: [
      leg(
        'inbound',
        '1511',
        '1519',
        [
          ...['create', 'answer', 'queue_join', 'queue_agent_offer:1512', 'queue_agent_no_answer:1512'],
          ...['queue_agent_offer:1513', 'queue_leave:answered', 'queue_agent_answer:1513', 'bridge:1513'],
          'queue_agent_complete:1513',
        ],
        { endedBy: 'this_leg', answeredBy: '1513' },
      ),
      leg('outbound', '1512', '1511', ['create'], { cause: 'NO_ANSWER', endedBy: 'switch' }),
      leg('outbound', '1513', '1511', ['create', 'answer', 'bridge:1511'], { endedBy: 'other_leg' }),
    ],
  },
  {
    name: 'the time of a queue is over, and the call goes on to a phone',
    phones: phonesOf('1521', '1522', '1523'),
    queues: [{ name: 'q1529', agents: ['1522'], ringSeconds: 30, waitSeconds: 1 }],
    dialplan: queueExtension('1529', { seconds: 1, next: '1523' }),
    async play(stage) {
      stage.callee('1522', ...ringsInVain)
      stage.callee('1523', ...answers)
      const caller = stage.caller('1521', '1529', ...stays)
      await stage.sees('1521', 'bridge')
      await caller.go()
    },
    // mod_callcenter ends the offer as if the caller had cancelled it, and then the agent had no time to answer.
    legs: ({ kind }) => [
      leg(
        'inbound',
        '1521',
        '1529',
        [
          ...['create', 'answer', 'queue_join', 'queue_agent_offer:1522'],
          ...(kind === 'asterisk' ? ['queue_agent_no_answer:1522'] : []),
          ...['queue_leave:timeout', 'bridge:1523'],
        ],
        { endedBy: 'this_leg', answeredBy: '1523' },
      ),
      leg('outbound', '1522', '1521', ['create'], {
        ...(kind === 'asterisk' ? { cause: 'NO_ANSWER', endedBy: 'switch' } : { cause: 'ORIGINATOR_CANCEL' }),
      }),
      leg('outbound', '1523', '1521', ['create', 'answer', 'bridge:1521'], { endedBy: 'other_leg' }),
    ],
  },
  {
    name: 'the caller gives up a queue',
    phones: phonesOf('1531', '1532'),
    queues: [{ name: 'q1539', agents: ['1532'], ringSeconds: 30 }],
    dialplan: queueExtension('1539'),
    async play(stage) {
      stage.callee('1532', ...ringsInVain)
      const caller = stage.caller('1531', '1539', ...stays)
      await stage.sees('1532', 'create')
      await caller.go()
    },
    legs: [
      leg(
        'inbound',
        '1531',
        '1539',
        ['create', 'answer', 'queue_join', 'queue_agent_offer:1532', 'queue_leave:abandoned'],
        { endedBy: 'this_leg' },
      ),
      leg('outbound', '1532', '1531', ['create'], { cause: 'ORIGINATOR_CANCEL', endedBy: 'other_leg' }),
    ],
  },
  {
    name: 'the caller leaves a queue by a key, and the call goes on to a phone',
    phones: phonesOf('1541', '1542', '1543'),
    queues: [{ name: 'q1549', agents: ['1542'], ringSeconds: 30, keys: 'leave-by-key' }],
    asteriskConf: { 'extensions.conf': ['[leave-by-key]', 'exten => 9,1,Dial(PJSIP/1543)'] },
    dialplan: queueExtension('1549', { next: '1543', key: '9' }),
    async play(stage) {
      stage.callee('1542', ...ringsInVain)
      stage.callee('1543', ...answers)
      const caller = stage.caller(
        '1541',
        '1549',
        ...[step.isAnswered, step.waitForGo, step.press('9'), step.waitForGo, step.hangUp],
      )
      await stage.sees('1542', 'create')
      await caller.go()
      await stage.sees('1541', 'bridge')
      await caller.go()
    },
    legs: [
      leg(
        'inbound',
        '1541',
        '1549',
        [
          ...['create', 'answer', 'queue_join', 'queue_agent_offer:1542', 'dtmf:9', 'queue_leave:key'],
          'bridge:1543',
        ],
        { endedBy: 'this_leg', answeredBy: '1543' },
      ),
      leg('outbound', '1542', '1541', ['create'], { cause: 'ORIGINATOR_CANCEL', endedBy: 'switch' }),
      leg('outbound', '1543', '1541', ['create', 'answer', 'bridge:1541'], { endedBy: 'other_leg' }),
    ],
  },
]

/** Longer than the longest message. */
const MESSAGE_MS = 6_000

/** @type {readonly Scenario[]} */
export const APPLICATION_SCENARIOS = [
  ...QUEUE_SCENARIOS,
  {
    name: 'the caller presses a key',
    phones: phonesOf('1551', '1552'),
    async play(stage) {
      stage.callee('1552', ...answers)
      const caller = stage.caller(
        '1551',
        '1552',
        ...[step.isAnswered, step.waitForGo, step.press('5'), step.waitForGo, step.hangUp],
      )
      await stage.sees('1551', 'bridge')
      await stage.sees('1552', 'bridge')
      await caller.go()
      await stage.sees('1551', 'dtmf')
      await caller.go()
    },
    legs: answeredCall('1551', '1552', 'caller').map((expected) =>
      expected.phone === '1551'
        ? { ...expected, hooks: ['create', 'answer', 'bridge:1552', 'dtmf:5', 'destroy'] }
        : expected,
    ),
  },
  {
    name: 'a call is parked and retrieved',
    phones: phonesOf('1601', '1602'),
    asteriskConf: { 'res_parking.conf': ['[lot160]', 'parkpos => 701-701', 'context => lot160'] },
    dialplan: {
      asterisk: [
        ...['exten => 1609,1,Answer()', 'same => n,Park(lot160)'],
        'exten => 1608,1,ParkedCall(lot160,701)',
      ],
      freeswitch: [
        '1609: answer',
        '1609: valet_park lot160 701',
        '1608: answer',
        '1608: valet_park lot160 701',
      ],
    },
    async play(stage) {
      const parked = stage.caller('1601', '1609', ...stays)
      await stage.sees('1601', 'answer')
      await stage.sees('1601', 'parking')
      stage.caller('1602', '1608', step.isAnswered, step.isHungUp)
      await stage.sees('1601', 'bridge')
      await stage.sees('1602', 'bridge')
      await parked.go()
    },
    legs: [
      leg(
        'inbound',
        '1601',
        '1609',
        ['create', 'answer', 'parking:PARK_PARKED', 'parking:PARK_RETRIEVED', 'bridge:1602'],
        { endedBy: 'this_leg' },
      ),
      leg('inbound', '1602', '1608', ['create', 'answer', 'bridge:1601'], {
        ...{ endedBy: 'other_leg', joins: true },
      }),
    ],
  },
  {
    name: 'the time of a parked call is over, and it is put through to a phone',
    only: ['asterisk'],
    phones: phonesOf('1611', '1612'),
    asteriskConf: {
      'res_parking.conf': [
        ...['[lot161]', 'parkpos => 702-702', 'context => lot161', 'parkingtime = 1'],
        ...['comebacktoorigin = no', 'comebackcontext = from-lot'],
      ],
      'extensions.conf': ['[from-lot]', 'exten => _.!,1,Dial(PJSIP/1612)'],
    },
    dialplan: { asterisk: ['exten => 1619,1,Answer()', 'same => n,Park(lot161)'] },
    async play(stage) {
      stage.callee('1612', ...answers)
      const parked = stage.caller('1611', '1619', ...stays)
      await stage.sees('1611', 'bridge')
      await parked.go()
    },
    legs: [
      leg(
        'inbound',
        '1611',
        '1619',
        ['create', 'answer', 'parking:PARK_PARKED', 'bridge:1612', 'parking:PARK_RETRIEVED'],
        { endedBy: 'this_leg', answeredBy: '1612' },
      ),
      leg('outbound', '1612', '1611', ['create', 'answer', 'bridge:1611'], { endedBy: 'other_leg' }),
    ],
  },
  {
    name: 'nobody answers, and the caller leaves a message',
    // Asterisk hangs up when the message is full. FreeSWITCH asks what to do with it, until the caller hangs up.
    phones: phonesOf('1621', '1622'),
    mailboxes: ['1622'],
    dialplan: {
      asterisk: ['exten => 1622,1,Dial(PJSIP/1622,1)', 'same => n,VoiceMail(1622@default,s)'],
      freeswitch: [
        ...['1622: set call_timeout=1', '1622: set continue_on_fail=true', '1622: bridge phone(1622)'],
        ...['1622: answer', '1622: set skip_greeting=true', '1622: voicemail live live 1622'],
      ],
    },
    async play(stage) {
      stage.callee('1622', ...ringsInVain)
      const isAsterisk = stage.run.live.kind === 'asterisk'
      const last = isAsterisk ? [step.isHungUp] : [step.talk(MESSAGE_MS), step.hangUp]
      stage.speaker('1621', '1622', step.isAnswered, ...last)
    },
    legs: ({ kind }) => [
      leg('inbound', '1621', '1622', ['create', 'answer', 'voicemail_new'], {
        endedBy: kind === 'asterisk' ? 'switch' : 'this_leg',
      }),
      leg('outbound', '1622', '1621', ['create'], { cause: 'NO_ANSWER', endedBy: 'switch' }),
    ],
  },
  {
    name: 'two phones are in a conference',
    phones: phonesOf('1631', '1632'),
    dialplan: {
      asterisk: ['exten => 1639,1,Answer()', 'same => n,ConfBridge(room163)'],
      freeswitch: ['1639: answer', '1639: conference room163@default'],
    },
    async play(stage) {
      const first = stage.caller('1631', '1639', ...stays)
      await stage.sees('1631', 'answer')
      await stage.sees('1631', 'conference_join')
      const second = stage.caller('1632', '1639', ...stays)
      await stage.sees('1632', 'answer')
      await stage.sees('1632', 'conference_join')
      await second.go()
      await stage.sees('1632', 'destroy')
      await first.go()
    },
    legs: [
      leg(
        'inbound',
        '1631',
        '1639',
        ['create', 'answer', 'conference_join:1', 'bridge?', 'conference_leave:0'],
        { endedBy: 'this_leg' },
      ),
      leg(
        'inbound',
        '1632',
        '1639',
        // Asterisk reports the two in either order.
        ['create', 'answer', 'bridge?', 'conference_join:2', 'bridge?', 'conference_leave:1'],
        { endedBy: 'this_leg', group: 'second' },
      ),
    ],
  },
  {
    name: 'a call is recorded',
    phones: phonesOf('1641', '1642'),
    dialplan: {
      asterisk: [
        ...['exten => 1642,1,Set(__ACCOUNT_ID=acme)', 'same => n,MixMonitor(live-164.wav)'],
        'same => n,Dial(PJSIP/1642)',
      ],
      freeswitch: ['1642: record_session live-164.wav', '1642: bridge phone(1642)'],
    },
    async play(stage) {
      stage.callee('1642', ...answers)
      const caller = stage.caller('1641', '1642', ...stays)
      await stage.sees('1641', 'bridge')
      await caller.go()
    },
    legs: answeredCall('1641', '1642', 'caller').map((expected) =>
      expected.phone === '1641'
        ? {
            ...expected,
            hooks: [
              'create',
              'recording_started',
              'answer',
              'bridge:1642',
              'recording_ready:hangup',
              'destroy',
            ],
          }
        : expected,
    ),
  },
]
