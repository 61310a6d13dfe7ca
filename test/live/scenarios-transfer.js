// @ts-check
/** Scenarios of transferred calls. */
import { leg, phonesOf } from './scenario-parts.js'
import * as step from './sipp-steps.js'

/** Added to the port of a phone for its second call. */
const SECOND_PORT = 5_000

/** @type {readonly import('./scenario.js').Scenario[]} */
export const TRANSFER_SCENARIOS = [
  {
    name: 'the callee transfers the caller blindly',
    phones: phonesOf('1101', '1102', '1103'),
    async play(stage) {
      const { sip, transferor } = stage.run.live
      const target = `<sip:1103@${sip.address}:${sip.port}>`
      const callee = stage.callee(
        '1102',
        ...[step.isInvited, step.ring, step.answer, step.waitForGo, step.refer(target, transferor)],
      )
      stage.callee('1103', step.isInvited, step.ring, step.answer, step.isHungUp)
      const caller = stage.caller('1101', '1102', step.isAnswered, step.waitForGo, step.hangUp)
      await stage.sees('1102', 'bridge')
      await stage.sees('1101', 'bridge')
      await callee.go()
      await stage.sees('1103', 'bridge')
      await stage.sees('1101', 'bridge', 2)
      await caller.go()
    },
    legs: [
      leg('inbound', '1101', '1102', ['create', 'answer', 'bridge:1102', 'transferee', 'bridge:1103'], {
        endedBy: 'this_leg',
      }),
      leg('outbound', '1102', '1101', ['create', 'answer', 'bridge:1101', 'transferor']),
      leg('outbound', '1103', '1101', ['create', 'answer', 'bridge:1101'], { endedBy: 'other_leg' }),
    ],
  },
  {
    name: 'the caller transfers the callee blindly',
    phones: phonesOf('1121', '1122', '1123'),
    async play(stage) {
      const { sip, transferor } = stage.run.live
      const target = `<sip:1123@${sip.address}:${sip.port}>`
      const callee = stage.callee(
        '1122',
        ...[step.isInvited, step.ring, step.answer, step.waitForGo, step.hangUp],
      )
      stage.callee('1123', step.isInvited, step.ring, step.answer, step.isHungUp)
      const caller = stage.caller(
        '1121',
        '1122',
        ...[step.isAnswered, step.waitForGo, step.refer(target, transferor)],
      )
      await stage.sees('1121', 'bridge')
      await stage.sees('1122', 'bridge')
      await caller.go()
      await stage.sees('1123', 'bridge')
      await stage.sees('1122', 'bridge', 2)
      await callee.go()
    },
    legs: [
      leg('inbound', '1121', '1122', ['create', 'answer', 'bridge:1122', 'transferor']),
      leg('outbound', '1122', '1121', ['create', 'answer', 'bridge:1121', 'transferee', 'bridge:1123'], {
        endedBy: 'this_leg',
      }),
      leg('outbound', '1123', '1122', ['create', 'answer', 'bridge:1122'], { endedBy: 'other_leg' }),
    ],
  },
  {
    name: 'the callee transfers the caller after it talked to the third phone',
    phones: phonesOf('1111', '1112', '1113'),
    async play(stage) {
      const { sip, transferor, portOf } = stage.run.live
      const callee = stage.callee(
        '1112',
        ...[step.isInvited, step.ring, step.answer, step.waitForGo, step.hold],
        ...[step.waitForGo, step.refer('[$value]', transferor)],
      )
      stage.callee('1113', step.isInvited, step.ring, step.answer, step.isHungUp)
      const caller = stage.caller('1111', '1112', step.isAnswered, step.waitForGo, step.hangUp)
      await stage.sees('1112', 'bridge')
      await stage.sees('1111', 'bridge')
      await callee.go()
      await stage.sees('1112', 'hold')
      const consultation = stage.phone({
        number: '1112',
        port: portOf('1112') + SECOND_PORT,
        steps: [step.invite({ from: '1112', to: '1113' }), step.isAnswered, step.isHungUp],
        places: true,
      })
      const remoteTag = /tag=(\S+)/.exec(await consultation.took('answered'))?.[1]
      await stage.sees('1113', 'bridge')
      const replaces = `${consultation.callId};to-tag=${remoteTag};from-tag=${consultation.tag}`
      await callee.go(`<sip:1113@${sip.address}:${sip.port}?Replaces=${encodeURIComponent(replaces)}>`)
      await callee.done()
      await consultation.done()
      await stage.sees('1113', 'bridge', 2)
      await stage.sees('1111', 'bridge', 2)
      await caller.go()
    },
    legs: [
      leg('inbound', '1111', '1112', ['create', 'answer', 'bridge:1112', 'bridge:1113', 'transferee'], {
        endedBy: 'this_leg',
      }),
      leg('outbound', '1112', '1111', ['create', 'answer', 'bridge:1111', 'hold', 'unhold?', 'transferor']),
      leg('inbound', '1112', '1113', ['create', 'answer', 'bridge:1113'], { group: 'consultation' }),
      leg('outbound', '1113', '1112', ['create', 'answer', 'bridge:1112', 'bridge:1111'], {
        ...{ endedBy: 'other_leg', joins: true },
      }),
    ],
  },
]
