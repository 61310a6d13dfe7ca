// @ts-check
/** Scenarios of the dial plan: forks, Local channels, tenants, trunks, redirects, refusals, late accounts. */
import { answeredCall, leg, phonesOf } from './scenario-parts.js'
import * as step from './sipp-steps.js'

/** The phone that calls of the trunk ring. */
export const TRUNK_CALLS = '1261'

const TRUNK = { kind: 'trunk', name: 'trunk' }

/** A half is bridged with a phone or with a leg that is no phone's. */
const TALK_THROUGH = ['create', 'answer', 'bridge']

/** Both halves of a Local channel. @param {readonly string[]} hooks @param {Partial<import('./legs.js').ExpectedLeg>} [rest] */
const localHalves = (hooks, rest = {}) => [
  leg('outbound', 'local', '', hooks, { isInternal: true, ...rest }),
  leg('inbound', 'local', '', hooks, { isInternal: true, ...rest }),
]

const answers = [step.isInvited, step.ring, step.answer, step.isHungUp]

/**
 * An answered call that the caller ends.
 *
 * @param {string} caller
 * @param {string} dialled
 * @param {string} callee
 * @returns {(stage: import('./scenario.js').Stage) => Promise<void>}
 */
const talk = (caller, dialled, callee) => async (stage) => {
  stage.callee(callee, ...answers)
  const placed = stage.caller(caller, dialled, step.isAnswered, step.waitForGo, step.hangUp)
  await stage.sees(caller, 'bridge')
  await placed.go()
}

/** @type {readonly import('./scenario.js').Scenario[]} */
export const ROUTING_SCENARIOS = [
  {
    name: 'two phones ring and one answers',
    phones: phonesOf('1201', '1202', '1203'),
    dialplan: {
      asterisk: ['exten => 1202,1,Dial(PJSIP/1202&PJSIP/1203)'],
      freeswitch: ['1202: bridge phone(1202),phone(1203)'],
    },
    async play(stage) {
      const callee = stage.callee(
        '1202',
        step.isInvited,
        step.ring,
        step.waitForGo,
        step.answer,
        step.isHungUp,
      )
      const other = stage.callee('1203', step.isInvited, step.ring, step.isCancelled)
      const caller = stage.caller('1201', '1202', step.isAnswered, step.waitForGo, step.hangUp)
      await callee.took('ringing')
      await other.took('ringing')
      await callee.go()
      await stage.sees('1201', 'bridge')
      await caller.go()
    },
    legs: [
      ...answeredCall('1201', '1202', 'caller'),
      leg('outbound', '1203', '1201', ['create'], { cause: 'LOSE_RACE', endedBy: 'switch' }),
    ],
  },
  {
    name: 'three phones ring and the caller gives up',
    phones: phonesOf('1651', '1652', '1653', '1654'),
    dialplan: {
      asterisk: ['exten => 1659,1,Dial(PJSIP/1652&PJSIP/1653&PJSIP/1654)'],
      freeswitch: ['1659: bridge phone(1652),phone(1653),phone(1654)'],
    },
    async play(stage) {
      const callees = ['1652', '1653', '1654']
      const phones = callees.map((number) =>
        stage.callee(number, step.isInvited, step.ring, step.isCancelled),
      )
      const parties = { from: '1651', to: '1659' }
      const caller = stage.caller('1651', '1659', step.hearsRinging, step.waitForGo, step.cancel(parties))
      for (const phone of phones) await phone.took('ringing')
      for (const number of callees) await stage.sees(number, 'create')
      await caller.go()
    },
    legs: [
      leg('inbound', '1651', '1659', ['create', 'missed_call'], {
        ...{ cause: 'ORIGINATOR_CANCEL', endedBy: 'this_leg' },
      }),
      ...['1652', '1653', '1654'].map((number) =>
        leg('outbound', number, '1651', ['create'], { cause: 'ORIGINATOR_CANCEL', endedBy: 'other_leg' }),
      ),
    ],
  },
  {
    name: 'a phone of a ring group refuses, and another answers',
    phones: phonesOf('1661', '1662', '1663'),
    dialplan: {
      asterisk: ['exten => 1669,1,Dial(PJSIP/1662&PJSIP/1663)'],
      freeswitch: ['1669: bridge phone(1662),phone(1663)'],
    },
    async play(stage) {
      stage.callee('1662', step.isInvited, step.ring, step.refuse('486 Busy Here'))
      const steps = [step.isInvited, step.ring, step.waitForGo, step.answer, step.isHungUp]
      const callee = stage.callee('1663', ...steps)
      const caller = stage.caller('1661', '1669', step.isAnswered, step.waitForGo, step.hangUp)
      await stage.sees('1662', 'destroy')
      await callee.go()
      await stage.sees('1661', 'bridge')
      await caller.go()
    },
    legs: [
      leg('inbound', '1661', '1669', ['create', 'answer', 'bridge:1663'], {
        ...{ endedBy: 'this_leg', answeredBy: '1663' },
      }),
      leg('outbound', '1662', '1661', ['create'], { cause: 'USER_BUSY', code: 486, endedBy: 'this_leg' }),
      leg('outbound', '1663', '1661', ['create', 'answer', 'bridge:1661'], {
        ...{ endedBy: 'other_leg', answeredBy: '1663' },
      }),
    ],
  },
  {
    name: 'a Local channel between two phones',
    only: ['asterisk'],
    phones: phonesOf('1211', '1212'),
    dialplan: {
      asterisk: ['exten => 1212,1,Set(__ACCOUNT_ID=acme)', 'same => n,Dial(Local/1212@inner/n)'],
    },
    play: talk('1211', '1212', '1212'),
    legs: [...answeredCall('1211', '1212', 'caller'), ...localHalves(TALK_THROUGH)],
  },
  {
    name: 'the phone behind a Local channel loses the race',
    only: ['asterisk'],
    phones: phonesOf('1221', '1222', '1223'),
    dialplan: {
      asterisk: ['exten => 1222,1,Set(__ACCOUNT_ID=acme)', 'same => n,Dial(PJSIP/1222&Local/1223@inner/n)'],
    },
    async play(stage) {
      const callee = stage.callee(
        '1222',
        step.isInvited,
        step.ring,
        step.waitForGo,
        step.answer,
        step.isHungUp,
      )
      const other = stage.callee('1223', step.isInvited, step.ring, step.isCancelled)
      const caller = stage.caller('1221', '1222', step.isAnswered, step.waitForGo, step.hangUp)
      await other.took('ringing')
      await callee.go()
      await stage.sees('1221', 'bridge')
      await caller.go()
    },
    legs: [
      ...answeredCall('1221', '1222', 'caller'),
      leg('outbound', '1223', '1221', ['create'], { cause: 'LOSE_RACE' }),
      ...localHalves(['create'], { cause: 'LOSE_RACE' }),
    ],
  },
  {
    name: 'a phone calls a phone of another tenant',
    phones: phonesOf('1231', '2231'),
    play: talk('1231', '2231', '2231'),
    legs: answeredCall('1231', '2231', 'caller').map((leg) =>
      leg.phone === '2231' ? { ...leg, account: 'globex' } : leg,
    ),
  },
  {
    name: 'a phone without an account is called, and its leg is of the account of the caller',
    phones: { ...phonesOf('2232'), 1233: undefined },
    only: ['asterisk'],
    play: talk('2232', '1233', '1233'),
    legs: answeredCall('2232', '1233', 'caller', { account: 'globex' }),
  },
  {
    name: 'a phone calls out through the trunk',
    phones: phonesOf('1241'),
    async play(stage) {
      stage.callee('trunk', ...answers)
      const caller = stage.caller('1241', '00441234567', step.isAnswered, step.waitForGo, step.hangUp)
      await stage.sees('1241', 'bridge')
      await caller.go()
    },
    legs: answeredCall('1241', '00441234567', 'caller').map((leg) => ({
      ...{ ...leg, account: 'acme' },
      ...(leg.phone === '1241' ? {} : { endpoint: TRUNK }),
    })),
  },
  {
    name: 'the trunk refuses a call',
    phones: phonesOf('1251'),
    async play(stage) {
      stage.callee('trunk', step.isInvited, step.refuse('503 Service Unavailable'))
      stage.caller('1251', '00441234568', step.isRefused(503))
    },
    legs: [
      leg('inbound', '1251', '00441234568', ['create'], {
        cause: 'NORMAL_CIRCUIT_CONGESTION',
        code: 503,
        endedBy: 'other_leg',
      }),
      leg('outbound', '00441234568', '1251', ['create'], {
        cause: 'NORMAL_CIRCUIT_CONGESTION',
        code: 503,
        endedBy: 'this_leg',
      }),
    ],
  },
  {
    name: 'a call comes in through the trunk',
    phones: phonesOf(TRUNK_CALLS),
    async play(stage) {
      stage.callee(TRUNK_CALLS, ...answers)
      const from = '15551234'
      const parties = { from, to: TRUNK_CALLS, headers: ['X-Carrier: yes'] }
      const steps = [step.invite(parties), step.isAnswered, step.waitForGo, step.hangUp]
      const carrier = stage.phone({ number: 'trunk', steps, places: true })
      await stage.sees('15551234', 'bridge')
      await carrier.go()
    },
    legs: answeredCall('15551234', TRUNK_CALLS, 'caller').map((leg) =>
      leg.phone === TRUNK_CALLS ? leg : { ...leg, endpoint: TRUNK },
    ),
  },
  {
    name: 'the callee redirects the call',
    only: ['asterisk'],
    phones: phonesOf('1271', '1272', '1273'),
    async play(stage) {
      const { sip } = stage.run.live
      const contact = `Contact: <sip:1273@${sip.address}:${sip.port}>`
      stage.callee('1272', step.isInvited, step.refuse('302 Moved Temporarily', [contact]))
      stage.callee('1273', ...answers)
      const caller = stage.caller('1271', '1272', step.isAnswered, step.waitForGo, step.hangUp)
      await stage.sees('1271', 'bridge')
      await caller.go()
    },
    legs: [
      leg('inbound', '1271', '1272', ['create', 'answer', 'bridge:1273'], { endedBy: 'this_leg' }),
      leg('outbound', '1272', '1271', ['create'], {
        cause: 'REDIRECTION_TO_NEW_DESTINATION',
        code: 302,
        endedBy: 'this_leg',
      }),
      leg('outbound', '1273', '1271', ['create', 'answer', 'bridge:1271'], { endedBy: 'other_leg' }),
      // Asterisk follows a redirect through a Local channel.
      ...localHalves(TALK_THROUGH),
    ],
  },
  {
    name: 'the switch refuses a call',
    phones: phonesOf('1281'),
    dialplan: {
      asterisk: ['exten => 1289,1,Hangup(21)'],
      freeswitch: ['1289: hangup CALL_REJECTED'],
    },
    async play(stage) {
      stage.caller('1281', '1289', step.isRefused(stage.run.live.kind === 'asterisk' ? 403 : 603))
    },
    legs: [leg('inbound', '1281', '1289', ['create'], { cause: 'CALL_REJECTED', endedBy: 'switch' })],
  },
  {
    name: 'the switch is busy after early media',
    phones: phonesOf('1291'),
    dialplan: {
      asterisk: ['exten => 1299,1,Progress()', 'same => n,Hangup(17)'],
      freeswitch: ['1299: pre_answer', '1299: hangup USER_BUSY'],
    },
    async play(stage) {
      stage.caller('1291', '1299', step.isRefused(486))
    },
    legs: [leg('inbound', '1291', '1299', ['create'], { cause: 'USER_BUSY', code: 486, endedBy: 'switch' })],
  },
  {
    name: 'a number that the dial plan does not have',
    only: ['asterisk'],
    phones: phonesOf('1301'),
    async play(stage) {
      stage.caller('1301', 'nobody', step.isRefused(404))
    },
    legs: [],
  },
  {
    name: 'the dial plan sets the account after it began',
    // The end of the call must not be what reveals the account: the caller cancels only after the create.
    phones: { 1311: undefined },
    dialplan: {
      asterisk: ['exten => 1319,1,Progress()', 'same => n,Set(ACCOUNT_ID=acme)', 'same => n,Wait(600)'],
      freeswitch: ['1319: pre_answer', '1319: export ecallmgr_Account-ID=acme', '1319: sleep 600000'],
    },
    async play(stage) {
      const parties = { from: '1311', to: '1319' }
      const caller = stage.caller('1311', '1319', step.hearsEarlyMedia, step.waitForGo, step.cancel(parties))
      await caller.took('early media')
      try {
        await stage.sees('1311', 'create')
      } finally {
        await caller.go()
        await caller.done()
      }
    },
    legs: [leg('inbound', '1311', '1319', ['create'], { cause: 'ORIGINATOR_CANCEL', endedBy: 'this_leg' })],
  },
]
