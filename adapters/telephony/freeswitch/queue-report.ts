/**
 * Reads what the switch reports of its queues. The names and values of the headers are those of mod_callcenter.c and
 * mod_fifo.c. Pure.
 */
import { type CallDetails, definedDetails, type OptionalHook } from '../source/optional-hooks.js'
import type { EslEvent } from './event.js'
import { readEventTimeUs } from './leg.js'
import { type CallReport, countOf, idsOf } from './report.js'

/** The number of the state in which a leg runs applications of its dial plan (`switch_channel_state_t`). */
const CS_EXECUTE = '4'

/** Subclass of the events of mod_callcenter. */
export const CALLCENTER = 'callcenter::info'
/** Subclass of the events of mod_fifo. */
export const FIFO = 'fifo::info'

/** The queue of mod_fifo that is none: calls that `fifo_track_call` counts. */
const TRACKED_CALLS = 'manual_calls'

/** mod_fifo dials no more members at once. */
const MAX_MEMBERS = 250

type Details = Parameters<typeof definedDetails>[0]

const CANCEL_REASONS: ReadonlyMap<string, CallDetails['queueLeaveReason']> = new Map([
  ['TIMEOUT', 'timeout'],
  ['NO_AGENT_TIMEOUT', 'no_agent'],
  ['EXIT_WITH_KEY', 'key'],
])

/** Causes of an agent's leg whose agent had no time to answer. */
const NOT_MISSED: ReadonlySet<string> = new Set(['ORIGINATOR_CANCEL', 'LOSE_RACE', 'PICKED_OFF'])

/** Reads an event of mod_callcenter. */
export function callcenterReports(event: EslEvent): readonly CallReport[] {
  const agentId = event.header('CC-Agent')
  const agentCallId = event.header('CC-Agent-UUID')
  const waitedUntil = (name: string) => secondsBetween(event, 'CC-Member-Joined-Time', name)
  const report = reporter(event.header('CC-Queue'), event.header('CC-Member-Session-UUID'))
  switch (event.header('CC-Action')) {
    case 'member-queue-start':
    // A caller who comes back in time gets the old place.
    case 'member-queue-resume':
      return [report('queue_join')]
    case 'agent-offering':
      return [report('queue_agent_offer', { agentId })]
    case 'bridge-agent-start': {
      const waitingSeconds = waitedUntil('CC-Agent-Answered-Time')
      return [
        report('queue_leave', { queueLeaveReason: 'answered', waitingSeconds }),
        report('queue_agent_answer', { agentId, agentCallId, otherLegCallId: agentCallId, waitingSeconds }),
      ]
    }
    case 'bridge-agent-fail': {
      if (NOT_MISSED.has(event.header('CC-Hangup-Cause') ?? '')) return []
      const seconds = secondsBetween(event, 'CC-Agent-Called-Time', 'CC-Agent-Aborted-Time')
      const ringingMs = seconds === undefined ? undefined : seconds * 1000
      return [report('queue_agent_no_answer', { agentId, ringingMs })]
    }
    case 'bridge-agent-end': {
      const waitingSeconds = waitedUntil('CC-Agent-Answered-Time')
      const talkingSeconds = secondsBetween(event, 'CC-Agent-Answered-Time', 'CC-Bridge-Terminated-Time')
      const times = { waitingSeconds, talkingSeconds, reason: endOfTalk(event) }
      return [report('queue_agent_complete', { agentId, agentCallId, otherLegCallId: agentCallId, ...times })]
    }
    case 'member-queue-end': {
      // Of an answered caller it comes only when the conversation is over.
      if (event.header('CC-Cause') !== 'Cancel') return []
      const reason = event.header('CC-Cancel-Reason') ?? ''
      const queueLeaveReason =
        reason === 'BREAK_OUT' ? reasonOfBreak(event, 'variable_cc_exit_key') : CANCEL_REASONS.get(reason)
      const waitingSeconds = waitedUntil('CC-Member-Leaving-Time')
      return [report('queue_leave', { queueLeaveReason, waitingSeconds })]
    }
    default:
      return []
  }
}

/** Reads an event of mod_fifo. The mapping adds how long the caller has waited, which it does not report. */
export function fifoReports(event: EslEvent): readonly CallReport[] {
  const queueId = event.header('FIFO-Name')
  if (queueId === TRACKED_CALLS) return []
  const uuid = event.header('Unique-ID')
  const report = reporter(queueId, uuid)
  switch (event.header('FIFO-Action')) {
    case 'push':
      // The agent of a caller who still waits hung up before the talk.
      return event.header('variable_fifo_status') === 'WAITING' ? [] : [report('queue_join')]
    case 'timeout':
      return [report('queue_leave', { queueLeaveReason: 'timeout' })]
    case 'abort': {
      const queueLeaveReason = reasonOfBreak(event, 'variable_fifo_caller_exit_key')
      return [report('queue_leave', { queueLeaveReason })]
    }
    case 'pre-dial':
      return membersOf(event).map((agentId) =>
        reporter(queueId, event.header('caller-uuid'))('queue_agent_offer', { agentId }),
      )
    case 'post-dial':
      if (event.header('result') !== 'failure' || NOT_MISSED.has(event.header('cause') ?? '')) return []
      return membersOf(event).map((agentId) =>
        reporter(queueId, event.header('caller-uuid'))('queue_agent_no_answer', { agentId }),
      )
    case 'bridge-consumer-start': {
      const withCaller = reporter(queueId, event.header('variable_fifo_target'))
      return [
        withCaller('queue_leave', { queueLeaveReason: 'answered' }),
        withCaller('queue_agent_answer', consumerOf(event)),
      ]
    }
    case 'bridge-consumer-stop': {
      const startedSeconds = countOf(event.header('variable_fifo_epoch_start_bridge'))
      const endedSeconds = Math.floor(readEventTimeUs(event) / 1_000_000)
      const talkingSeconds =
        startedSeconds === undefined ? undefined : Math.max(0, endedSeconds - startedSeconds)
      // An agent who waits for the next caller stays on the line, whoever ended the talk.
      const ended = endOfTalk(event)
      const reason = ended === 'caller' && event.header('Answer-State') !== 'hangup' ? undefined : ended
      const withCaller = reporter(queueId, event.header('variable_fifo_target'))
      return [withCaller('queue_agent_complete', { ...consumerOf(event), talkingSeconds, reason })]
    }
    default:
      return []
  }
}

/** Returns a function that builds a report of a caller in a queue. */
function reporter(queueId: string | undefined, callerUuid: string | undefined) {
  return (hook: OptionalHook, details: Details = {}): CallReport => ({
    hook,
    uuids: idsOf(callerUuid),
    details: definedDetails({ queueId, ...details }),
  })
}

/** The outbound members that mod_fifo dials for a caller; none with the strategy `enterprise`, which dials for nobody. */
function membersOf(event: EslEvent): readonly string[] {
  if (event.header('caller-uuid') === undefined) return []
  return (event.header('FIFO-Outbound-UUID-List') ?? '').split(',', MAX_MEMBERS).filter(Boolean)
}

/** The agent of mod_fifo of whose leg an event is. */
function consumerOf(event: EslEvent): Details {
  const agentCallId = event.header('Unique-ID')
  const agentId =
    event.header('FIFO-Consumer-Outbound-ID') ?? event.header('variable_fifo_consumer_id') ?? agentCallId
  return { agentId, agentCallId, otherLegCallId: agentCallId }
}

/**
 * Why a caller left who was not connected, from an event of the caller's leg. A call that goes on without a key was taken
 * out of the queue by a command.
 *
 * @param exitKey header with the key that was pressed
 */
function reasonOfBreak(event: EslEvent, exitKey: string): CallDetails['queueLeaveReason'] {
  if (event.header('Answer-State') === 'hangup') return 'abandoned'
  return event.header('Channel-State-Number') === CS_EXECUTE && event.header(exitKey) ? 'key' : undefined
}

/** Who ended the talk, from an event of the agent's leg; `undefined`: not known. */
function endOfTalk(event: EslEvent): CallDetails['reason'] {
  if (event.header('variable_transfer_to') !== undefined) return 'transfer'
  if (event.header('variable_sip_hangup_disposition')?.startsWith('recv_')) return 'agent'
  const isOver = event.header('Answer-State') === 'hangup'
  const otherEnd = event.header('variable_last_bridge_proto_specific_hangup_cause')
  return !isOver || otherEnd === 'sip:200' ? 'caller' : undefined
}

/** The time between two times of the event, in whole seconds of the Unix epoch; `undefined`: one of them is absent. */
function secondsBetween(event: EslEvent, fromName: string, toName: string): number | undefined {
  const [from, to] = [countOf(event.header(fromName)), countOf(event.header(toName))]
  return from === undefined || to === undefined ? undefined : Math.max(0, to - from)
}
