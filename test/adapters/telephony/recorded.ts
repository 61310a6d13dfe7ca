import { readFileSync } from 'node:fs'

/** What happened on one recorded call, from the message logs of the phones. */
export interface RecordedCall {
  callId: string
  scenario: string
  account: string
  fromDisplay: string
  from: string
  dialled: string
  outcome: 'answered' | 'busy' | 'cancelled' | 'no_answer' | 'not_found' | 'declined' | 'unreachable'
  answered: boolean
  code: number
  endedBy: 'caller' | 'callee' | 'proxy' | 'nobody' | null
  inviteMs: number
  ringingMs?: number
  answerMs?: number
  endMs?: number
  talkMs?: number
  holds?: { by: 'caller' | 'callee'; holdMs: number; resumeMs: number }[]
}

const demo = (name: string) =>
  readFileSync(new URL(`../../../examples/demo/${name}`, import.meta.url), 'utf8')

/** The lines of the recorded stream of a Kamailio proxy. */
export const recordedLines: readonly string[] = demo('kamailio-dialogs.ndjson').trimEnd().split('\n')

/** What happened on its 77 calls. */
export const recordedCalls: readonly RecordedCall[] = JSON.parse(demo('kamailio-expected.json')).calls

/** The expected hooks of a call, in order. */
export function hooksOf(call: RecordedCall): string[] {
  const holds = (call.holds ?? []).flatMap(() => ['channel_hold', 'channel_unhold'])
  const talk = call.answered ? ['channel_answer', 'channel_bridge', ...holds] : []
  return ['channel_create', ...talk, 'channel_destroy']
}

/** The expected `ended_by` of a call: a phone refuses with its own status, the proxy with that of a number it has not. */
export function endedByOf({ scenario, endedBy, outcome }: RecordedCall): string {
  if (endedBy !== null)
    return { caller: 'this_leg', callee: 'other_leg', proxy: 'switch', nobody: 'switch' }[endedBy]
  return outcome === 'unreachable' || scenario === 'k07-proxy-404' ? 'switch' : 'other_leg'
}

/** The expected hangup cause of a call. */
export function causeOf(call: RecordedCall): string {
  if (call.outcome === 'answered') {
    return call.endedBy === 'caller' || call.endedBy === 'callee'
      ? 'NORMAL_CLEARING'
      : 'RECOVERY_ON_TIMER_EXPIRE'
  }
  return {
    busy: 'USER_BUSY',
    cancelled: 'ORIGINATOR_CANCEL',
    no_answer: 'NO_ANSWER',
    not_found: 'UNALLOCATED_NUMBER',
    declined: 'CALL_REJECTED',
    unreachable: 'RECOVERY_ON_TIMER_EXPIRE',
  }[call.outcome]
}
