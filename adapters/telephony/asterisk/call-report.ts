/**
 * What the switch reports of a call beyond its channels: transfers, parking, voicemail, queues, recordings and keys; and
 * missed calls, which follow from the legs. Decides which events that yields; the leg's own events are left to the mapping.
 */
import type { PendingEvent } from '../source/mapped-events.js'
import {
  type CallDetails,
  definedDetails,
  detailsKey,
  MISSED,
  type OptionalHook,
  partyDetails,
} from '../source/optional-hooks.js'
import type { ChannelRegistry } from './channel-registry.js'
import { buildEvent, type EventContext } from './event-builder.js'
import type { CallNotes, Leg } from './leg.js'
import { agentDetails, createQueueCalls } from './queue-calls.js'
import type { CallReport, SwitchEvent } from './switch-event.js'

/** Dependencies on the mapping. */
interface CallReporterDeps {
  readonly legs: ChannelRegistry
  /** The hooks to publish. */
  readonly hooks: ReadonlySet<string>
  /** Publishes the `channel_create` of a leg if that is due. */
  readonly advance: (leg: Leg, atMs: number) => void
  readonly contextOf: (leg: Leg) => EventContext
  /** The legs in a bridge. */
  readonly membersOf: (bridgeId: string) => Iterable<Leg>
}

type RecordingEvent = Extract<SwitchEvent, { kind: 'recorded' }>

/** Maximum number of recordings of a leg at the same time; above it the oldest is forgotten. */
const MAX_RECORDINGS = 100

/** The hooks for which every event of a queue is needed: why a caller has left, and which calls a queue dials. */
const NEED_QUEUES: readonly OptionalHook[] = ['queue_leave', 'missed_call']

/** Builds the events of reports. */
interface CallReporter {
  /** Adds the events of reports whose hooks are selected. */
  add(reports: readonly CallReport[], atMs: number): void
  /** Notes what a later event needs. */
  note(leg: Leg, notes: Partial<CallNotes> & { readonly queueStatus?: string }): void
  /** Whether the next step of the dial plan of a leg tells why it has left a queue. */
  isStepNeeded(id: string): boolean
  /** Handles the next step of the dial plan: a caller who left a queue without a status has pressed a key. */
  onStep(leg: Leg): void
  /** Handles the begin or the end of a recording. */
  onRecorded(event: RecordingEvent): void
  /** Handles a voicemail message that the caller has left. */
  onMessageLeft(leg: Leg, mailbox: string | undefined, atMs: number): void
  /** Notes that a leg dials another. */
  onDialled(caller: Leg, called: Leg, atMs: number): void
  /** An event of the leg follows: adds what is held before it. */
  beforeEvent(leg: Leg): void
  /** Adds the return of a parked call whose time was over. @param other `undefined`: a conference */
  onBridged(leg: Leg, other: Leg | undefined, atMs: number): void
  /** Adds `missed_call`, and the end of a parked call whose time was over, before the end of a leg. */
  onEnd(leg: Leg, atMs: number): void
  /** The end of a leg was missed, or the leg is dropped: adds what is held of it. */
  forget(leg: Leg): void
  /** Adds all that is held. */
  flush(): void
}

/** Creates a reporter. */
export function createCallReporter(deps: CallReporterDeps): CallReporter {
  const { legs, hooks, advance, contextOf, membersOf } = deps
  /** The phone that a half of a Local channel stands for. */
  const phoneOf = (leg: Leg): Leg | undefined => (leg.isInternal ? legs.get(legs.phoneBehind(leg.id)) : leg)
  const idOfPhone = (id: string) => legs.phoneBehind(id) ?? id
  const queues = createQueueCalls({
    legs,
    publish(leg, hook, details, atMs) {
      if (hooks.has(hook)) add(leg, hook, details, atMs)
    },
  })

  const add = (leg: Leg, hook: OptionalHook, details: CallDetails, atMs: number): void => {
    const key = `${Math.round(atMs * 1000)}/${detailsKey(details)}`
    const event = buildEvent(leg, { hook, atMs, key }, contextOf(leg))
    legs.addEvent(leg, Object.assign(event, details))
  }

  /** Replaces halves of Local channels with the phones behind them, and adds what was noted before. */
  const complete = (leg: Leg, { hook, details, bridgeId }: CallReport): CallDetails => {
    const { targetCallId, agentCallId } = details
    const completed: { -readonly [Key in keyof CallDetails]: CallDetails[Key] } = { ...details }
    if (targetCallId !== undefined) completed.targetCallId = idOfPhone(targetCallId)
    if (agentCallId !== undefined) {
      // The Local channel to the phone of the agent may have ended before the talk.
      const agent = hook === 'queue_agent_complete' ? queues.completed(leg) : undefined
      completed.agentCallId = agent?.id ?? idOfPhone(agentCallId)
      if (completed.agentCallId !== leg.id) completed.otherLegCallId = completed.agentCallId
      Object.assign(completed, agentDetails(agent ?? legs.get(completed.agentCallId)))
    }
    if (bridgeId !== undefined) {
      // The leg enters and leaves the bridge just before or just after the report. Announcers are no members.
      const phones = new Set([...membersOf(bridgeId)].map(phoneOf).filter((phone) => phone !== undefined))
      if (hook === 'conference_join') phones.add(leg)
      else phones.delete(leg)
      completed.members = phones.size
    }
    if (hook === 'queue_leave' && leg.notes.abandonedAfterSeconds !== undefined)
      completed.waitingSeconds = leg.notes.abandonedAfterSeconds
    return completed
  }

  /** Adds an event of a queue, or holds it until what it lacks is known. */
  const addOfQueue = (leg: Leg, report: CallReport, atMs: number): void => {
    const { hook } = report
    const details = complete(leg, report)
    const { agentCallId, otherLegCallId: _, ...others } = details
    if (hook === 'queue_join') leg.notes.abandonedAfterSeconds = undefined
    if (hook === 'queue_join' || hook === 'queue_leave') leg.notes.isInQueue = hook === 'queue_join'
    const agent = agentCallId === undefined ? undefined : legs.get(agentCallId)
    const isUndialled = agent !== undefined && (agent.isInternal || agent.diallerId === undefined)
    if (hook === 'queue_agent_answer') {
      queues.flushLeave(leg, 'answered', details.waitingSeconds)
      const phone = legs.get(details.agentCallId)
      if (phone) queues.answered({ leg, details, atMs }, phone)
    }
    if (hook === 'queue_leave') queues.left({ leg, details, atMs })
    else if (hook === 'queue_agent_offer' && isUndialled)
      queues.offered({ leg, details: others, atMs }, agent.id)
    else if (hooks.has(hook)) add(leg, hook, details, atMs)
  }

  /** The parking slot counts as left when somebody answers the call that returns from it, or when that call ends. */
  const leaveSlot = (leg: Leg, details: CallDetails, atMs: number): void => {
    const { timedOutSlot } = leg.notes
    leg.notes.timedOutSlot = undefined
    if (timedOutSlot === undefined || !hooks.has('parking')) return
    const parkingSlot = timedOutSlot === '' ? undefined : timedOutSlot
    add(leg, 'parking', definedDetails({ ...details, parkingSlot }), atMs)
  }

  const endRecording = (
    leg: Leg,
    { path, startedMs }: { readonly path: string | undefined; readonly startedMs: number | undefined },
    reason: string | undefined,
    atMs: number,
  ): void => {
    if (!hooks.has('recording_ready')) return
    const durationMs = startedMs === undefined ? undefined : Math.max(0, Math.round(atMs - startedMs))
    add(leg, 'recording_ready', definedDetails({ path, durationMs, reason }), atMs)
  }

  return {
    add(reports, atMs) {
      for (const report of reports) {
        const { hook, channel } = report
        const isOfQueue = hook.startsWith('queue_')
        const isNeeded = hooks.has(hook) || (isOfQueue && NEED_QUEUES.some((needing) => hooks.has(needing)))
        const leg = isNeeded ? legs.track(channel, atMs, 'updated') : undefined
        // The keys of a phone pass through the Local channels behind it.
        const reportedPhone = leg && (hook === 'channel_dtmf' && leg.isInternal ? undefined : phoneOf(leg))
        const isAgent = leg !== undefined && leg.id === report.details.agentCallId
        // The leg of the agent stands for that of a caller who has hung up.
        const caller = isAgent && reportedPhone ? legs.get(legs.otherPhone(reportedPhone)) : undefined
        const phone = caller ?? reportedPhone
        if (!phone) continue
        advance(phone, atMs)
        if (isOfQueue) addOfQueue(phone, report, atMs)
        else add(phone, hook, complete(phone, report), atMs)
      }
    },
    note(leg, { queueStatus, ...notes }) {
      const phone = phoneOf(leg)
      if (!phone) return
      Object.assign(phone.notes, notes)
      if (queueStatus !== undefined) queues.onStatus(phone, queueStatus)
    },
    isStepNeeded: queues.isLeaving,
    onStep: (leg) => queues.flushLeave(leg, 'key'),
    onRecorded({ channelId, isBegin, path, reason, atMs }) {
      const leg = legs.get(channelId)
      const phone = leg && phoneOf(leg)
      if (!phone) return
      advance(phone, atMs)
      const { notes } = phone
      if (isBegin) {
        const started = { path: path ?? notes.recordingPath, startedMs: atMs, mayHaveEnded: false }
        notes.recordingPath = undefined
        if (notes.recordings.push(started) > MAX_RECORDINGS) notes.recordings.shift()
        if (hooks.has('recording_started'))
          add(phone, 'recording_started', definedDetails({ path: started.path }), atMs)
        return
      }
      const index =
        path === undefined ? 0 : notes.recordings.findIndex((recording) => recording.path === path)
      const [ended] = index < 0 ? [] : notes.recordings.splice(index, 1)
      const isByPhone = reason !== 'failed' && phone.hasRequestedHangup
      endRecording(phone, ended ?? { path, startedMs: undefined }, isByPhone ? 'hangup' : reason, atMs)
    },
    onMessageLeft(leg, mailbox, atMs) {
      const phone = phoneOf(leg)
      if (!phone) return
      phone.notes.hasLeftMessage = true
      if (!hooks.has('voicemail_new')) return
      advance(phone, atMs)
      const voicemailBox = mailbox ?? phone.notes.mailbox
      const details = voicemailBox === undefined ? {} : { voicemailBox }
      const parties = partyDetails(buildEvent(phone, { hook: 'voicemail_new', atMs }, contextOf(phone)))
      add(phone, 'voicemail_new', { ...parties, ...details }, atMs)
    },
    beforeEvent: (leg) => queues.flushLeave(leg),
    onDialled(caller, called, atMs) {
      if (!called.isInternal && (caller.isInternal || queues.isOffered(called.id))) {
        advance(called, atMs)
        queues.onDialled(caller, called)
      }
      // A dialled number beside the endpoint: the endpoint is a trunk.
      if (called.isInternal || called.dialledNumber !== undefined) return
      const phone = phoneOf(caller)
      // A queue dials agents for a caller, who called none of them.
      if (phone && !phone.notes.isInQueue && phone.channel.application !== 'Queue')
        phone.notes.hasDialledPhone = true
    },
    onBridged(leg, other, atMs) {
      if (leg.notes.timedOutSlot === undefined || leg.isInternal) return
      const details = { eventName: 'PARK_RETRIEVED', otherLegCallId: other?.id } as const
      leaveSlot(leg, definedDetails(details), atMs)
    },
    onEnd(leg, atMs) {
      queues.flushLeave(leg, leg.notes.abandonedAfterSeconds === undefined ? undefined : 'abandoned')
      queues.onEnd(leg, atMs)
      leaveSlot(leg, { eventName: 'PARK_ABANDONED' }, atMs)
      for (const { path, startedMs, mayHaveEnded } of leg.notes.recordings.splice(0))
        endRecording(leg, { path, startedMs: mayHaveEnded ? undefined : startedMs }, 'hangup', atMs)
      if (!hooks.has('missed_call') || !isMissed(leg)) return
      const occurrence = { hook: 'missed_call', atMs, key: '' } as const
      const event: PendingEvent = buildEvent(leg, occurrence, contextOf(leg))
      legs.addEvent(leg, Object.assign(event, partyDetails(event), MISSED))
    },
    forget: queues.forget,
    flush: queues.flush,
  }
}

/** Whether a call to a phone ends that nobody has answered, and that left no message. */
function isMissed({ direction, isInternal, notes, pastBridges, dialStatus }: Leg): boolean {
  if (direction !== 'inbound' || isInternal || !notes.hasDialledPhone || notes.hasLeftMessage) return false
  return pastBridges.size === 0 && dialStatus !== 'ANSWER'
}
