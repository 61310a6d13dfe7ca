// @ts-check
/** The scenarios of calls: what the phones do, and the legs that must be published. */

import { answeredCall, leg, phonesOf } from './scenario-parts.js'
import { APPLICATION_SCENARIOS } from './scenarios-applications.js'
import { FAILURE_SCENARIOS } from './scenarios-failures.js'
import { PARTY_SCENARIOS } from './scenarios-parties.js'
import { ROUTING_SCENARIOS } from './scenarios-routing.js'
import { TRANSFER_SCENARIOS } from './scenarios-transfer.js'
import * as step from './sipp-steps.js'

/** @typedef {import('./scenario.js').Scenario} Scenario */

/** Asterisk 22.10 ignores the Reason header of a response: nothing that it reports has its cause. */
const REJECTED = ['CALL_REJECTED', 'USER_BUSY']
/** What the caller's leg publishes when no user answers. */
const MISSED = ['create', 'missed_call']
const TALK = ['create', 'answer']

/** @type {readonly Scenario[]} */
const BASIC_SCENARIOS = [
  {
    name: 'the caller hangs up',
    phones: phonesOf('1011', '1012'),
    async play(stage) {
      stage.callee('1012', step.isInvited, step.ring, step.answer, step.isHungUp)
      const caller = stage.caller(
        '1011',
        '1012',
        step.hearsRinging,
        step.isAnswered,
        step.waitForGo,
        step.hangUp,
      )
      await stage.sees('1011', 'bridge')
      await stage.sees('1012', 'bridge')
      await caller.go()
    },
    legs: answeredCall('1011', '1012', 'caller'),
  },
  {
    name: 'the callee hangs up',
    phones: phonesOf('1021', '1022'),
    async play(stage) {
      const callee = stage.callee('1022', step.isInvited, step.ring, step.answer, step.waitForGo, step.hangUp)
      stage.caller('1021', '1022', step.isAnswered, step.isHungUp)
      await stage.sees('1021', 'bridge')
      await stage.sees('1022', 'bridge')
      await callee.go()
    },
    legs: answeredCall('1021', '1022', 'callee'),
  },
  {
    name: 'the callee is busy',
    phones: phonesOf('1031', '1032'),
    async play(stage) {
      stage.callee('1032', step.isInvited, step.refuse('486 Busy Here'))
      stage.caller('1031', '1032', step.isRefused(486))
    },
    legs: [
      leg('inbound', '1031', '1032', MISSED, { cause: 'USER_BUSY', code: 486, endedBy: 'other_leg' }),
      leg('outbound', '1032', '1031', ['create'], { cause: 'USER_BUSY', code: 486, endedBy: 'this_leg' }),
    ],
  },
  {
    name: 'the callee is busy and rejects the call by its Reason header',
    phones: phonesOf('1041', '1042'),
    async play(stage) {
      const reason = 'Reason: Q.850;cause=21;text="Call Rejected"'
      stage.callee('1042', step.isInvited, step.ring, step.refuse('486 Busy Here', [reason]))
      stage.caller('1041', '1042', step.isRefused(486))
    },
    legs: [
      leg('inbound', '1041', '1042', MISSED, { cause: REJECTED, code: 486, endedBy: 'other_leg' }),
      leg('outbound', '1042', '1041', ['create'], { cause: REJECTED, code: 486, endedBy: 'this_leg' }),
    ],
  },
  {
    name: 'the caller cancels while it rings',
    phones: phonesOf('1051', '1052'),
    async play(stage) {
      stage.callee('1052', step.isInvited, step.ring, step.isCancelled)
      const parties = { from: '1051', to: '1052' }
      const caller = stage.caller('1051', '1052', step.hearsRinging, step.waitForGo, step.cancel(parties))
      await stage.sees('1052', 'create')
      await caller.go()
    },
    legs: [
      leg('inbound', '1051', '1052', MISSED, { cause: 'ORIGINATOR_CANCEL', endedBy: 'this_leg' }),
      leg('outbound', '1052', '1051', ['create'], { cause: 'ORIGINATOR_CANCEL', endedBy: 'other_leg' }),
    ],
  },
  {
    name: 'nobody answers, and the switch gives up',
    phones: phonesOf('1061', '1062'),
    dialplan: {
      asterisk: ['exten => 1062,1,Dial(PJSIP/1062,1)', 'same => n,Hangup(19)'],
      freeswitch: ['1062: set call_timeout=1', '1062: bridge phone(1062)', '1062: hangup NO_ANSWER'],
    },
    async play(stage) {
      stage.callee('1062', step.isInvited, step.ring, step.isCancelled)
      stage.caller('1061', '1062', step.hearsRinging, step.isRefused(480))
    },
    legs: [
      leg('inbound', '1061', '1062', MISSED, { cause: 'NO_ANSWER', code: 480, endedBy: 'switch' }),
      leg('outbound', '1062', '1061', ['create'], { cause: 'NO_ANSWER', endedBy: 'switch' }),
    ],
  },
  {
    name: 'the caller holds the call and resumes it',
    phones: phonesOf('1071', '1072'),
    async play(stage) {
      stage.callee('1072', step.isInvited, step.ring, step.answer, step.isHungUp)
      const caller = stage.caller(
        '1071',
        '1072',
        step.isAnswered,
        ...[step.waitForGo, step.hold, step.waitForGo, step.resume, step.waitForGo, step.hangUp],
      )
      await stage.sees('1071', 'bridge')
      await caller.go()
      await stage.sees('1071', 'hold')
      await caller.go()
      await stage.sees('1071', 'unhold')
      await caller.go()
    },
    legs: [
      leg('inbound', '1071', '1072', [...TALK, 'bridge:1072', 'hold', 'unhold'], { endedBy: 'this_leg' }),
      leg('outbound', '1072', '1071', [...TALK, 'bridge:1071'], { endedBy: 'other_leg' }),
    ],
  },
  {
    name: 'the callee sends early media before it answers',
    phones: phonesOf('1081', '1082'),
    async play(stage) {
      const callee = stage.callee(
        '1082',
        step.isInvited,
        step.sendEarlyMedia,
        step.waitForGo,
        step.answer,
        step.isHungUp,
      )
      const caller = stage.caller(
        '1081',
        '1082',
        step.hearsEarlyMedia,
        step.isAnswered,
        step.waitForGo,
        step.hangUp,
      )
      await caller.took('early media')
      await callee.go()
      await stage.sees('1081', 'bridge')
      await stage.sees('1082', 'bridge')
      await caller.go()
    },
    legs: answeredCall('1081', '1082', 'caller'),
  },
]

/** All scenarios, in the order in which they are played. */
export const SCENARIOS = [
  ...BASIC_SCENARIOS,
  ...TRANSFER_SCENARIOS,
  ...ROUTING_SCENARIOS,
  ...APPLICATION_SCENARIOS,
  ...PARTY_SCENARIOS,
  ...FAILURE_SCENARIOS,
]
