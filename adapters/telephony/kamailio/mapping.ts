/**
 * Lines of the stream → channel events: the table of open calls around the decisions of `call.ts`.
 *
 * Calls are found by their Call-ID alone, so a request that passes the proxy twice (a spiral) is one call.
 */
import type { ChannelEvent } from 'hookswitch'
import { gaveUp, type KamailioCall, openCall, stepCall } from './call.js'
import { createdEvent, eventsOf } from './channel-event.js'
import { type KamailioLine, present, readLine } from './line.js'

/** What could not be mapped. The line, or the call, is left out; everything else goes on. */
export interface Problem {
  /**
   * `malformed`: not JSON, or a key is missing. `unknown_account`: no account for the call, nothing of it is
   * published. `unknown_call`: the end of a call whose begin was not seen. `overflow`: too many open calls, the
   * oldest was forgotten.
   */
  readonly kind: 'malformed' | 'unknown_account' | 'unknown_call' | 'overflow'
  readonly message: string
  readonly callId?: string
}

/** How lines are mapped. */
export interface MappingOptions {
  /** The id of the account that a call belongs to; `undefined`: this line does not tell, a later one may. */
  readonly accountOf: (line: KamailioLine) => string | undefined
  /** Most calls open at once; one more and the oldest is forgotten. */
  readonly maxOpenCalls: number
}

/** An open call and the account it was given; without one its `channel_create` still waits. */
interface Entry {
  readonly call: KamailioCall
  readonly accountId?: string
}

/** All that the mapping remembers. Make it with `emptyState()`. */
export interface MappingState {
  /** By Call-ID, oldest first. */
  readonly open: Map<string, Entry>
  /** Call-IDs of finished calls with the CSeq of their last INVITE: late lines say nothing, a new INVITE does. */
  readonly ended: Map<string, number>
  /** Stateless refusals that overtook their INVITE, by Call-ID. */
  readonly early: Map<string, KamailioLine>
  /** Since when calls were sent away (microseconds), by Call-ID, oldest first. */
  readonly sentAway: Map<string, number>
}

/** What a line became. */
export interface Mapped {
  readonly state: MappingState
  /** In the order in which they happened, as `hs.publish` takes them. */
  readonly events: readonly ChannelEvent[]
  readonly problems: readonly Problem[]
}

/** 64 × T1: no side of a transaction waits longer for the other (RFC 3261, 17.1.1.2). */
const COMES_AGAIN_US = 32_000_000
const MAX_ENDED = 10_000
const MAX_EARLY = 1_000
const NEVER_AGAIN = Number.MAX_SAFE_INTEGER

/** The state before the first line. */
export function emptyState(): MappingState {
  return { open: new Map(), ended: new Map(), early: new Map(), sentAway: new Map() }
}

/**
 * Maps one line. Never throws for a bad line: it is reported in `problems`.
 *
 * The state is taken over and changed in place: go on with the one that is returned.
 */
export function mapLine(state: MappingState, text: string, options: MappingOptions): Mapped {
  const events: ChannelEvent[] = []
  const problems: Problem[] = []
  const read = readLine(text)
  if ('malformed' in read) {
    return { state, events, problems: [{ kind: 'malformed', message: read.malformed }] }
  }
  const { line } = read
  endThoseWhoGaveUp(state, line, events)

  const found = state.open.get(line.callId)
  if (found) {
    advance(state, found, line, options, events, problems)
  } else if (opensCall(state, line)) {
    makeRoom(state, options.maxOpenCalls, problems)
    const early = state.early.get(line.callId)
    state.early.delete(line.callId)
    const entry = advance(state, { call: openCall(line) }, line, options, events, problems)
    if (entry && early && early.cseq === line.cseq) advance(state, entry, early, options, events, problems)
  } else if (!state.ended.has(line.callId)) {
    if (line.event === 'sl:local-response') keep(state.early, line.callId, line, MAX_EARLY)
    if (line.event === 'dialog:end' || line.event === 'dialog:failed') {
      const message = `${line.event} of a call that was not seen before`
      problems.push({ kind: 'unknown_call', message, callId: line.callId })
    }
  }
  return { state, events, problems }
}

/** Applies a line to an open call; the entry that remains open, if it does. */
function advance(
  state: MappingState,
  before: Entry,
  line: KamailioLine,
  options: MappingOptions,
  events: ChannelEvent[],
  problems: Problem[],
): Entry | undefined {
  const accountId = before.accountId ?? options.accountOf(line)
  const { call, happening } = stepCall(before.call, line)
  const { callId } = call
  if (accountId !== undefined) {
    if (before.accountId === undefined) events.push(createdEvent(accountId, call))
    if (happening) events.push(...eventsOf(accountId, call, happening))
  } else if (happening) {
    const message = 'no account for this call: nothing of it is published'
    problems.push({ kind: 'unknown_account', message, callId })
    forget(state, callId, NEVER_AGAIN)
    return undefined
  }
  if (happening?.kind === 'ended') {
    forget(state, callId, Math.max(call.cseq, line.cseq))
    return undefined
  }
  const entry: Entry = { call, ...present({ accountId }) }
  state.open.set(callId, entry)
  if (!call.sentAway) state.sentAway.delete(callId)
  else if (!state.sentAway.has(callId)) state.sentAway.set(callId, call.sentAway.atUs)
  return entry
}

/**
 * An initial INVITE opens a call; and so does its branch, its ringing or its answer, when it overtook the INVITE
 * or the stream was joined in the middle. A CSeq that a finished call has had already is a late line or a
 * retransmission; a higher one is a new try (RFC 3261, 8.1.3.5).
 */
function opensCall(state: MappingState, line: KamailioLine): boolean {
  const { event, code = 0 } = line
  const opening = event === 'invite' || event === 'branch' || event === 'dialog:start'
  const ringing = event === 'reply' && code < 200
  return (opening || ringing) && line.cseq > (state.ended.get(line.callId) ?? -1)
}

/** Callers who were asked for credentials and never came back (every scanner) must not stay open for ever. */
function endThoseWhoGaveUp(state: MappingState, line: KamailioLine, events: ChannelEvent[]): void {
  for (const [callId, sinceUs] of state.sentAway) {
    if (line.timeUs - sinceUs < COMES_AGAIN_US) return
    const { call, accountId } = state.open.get(callId) ?? {}
    if (call?.sentAway && accountId !== undefined)
      events.push(...eventsOf(accountId, call, gaveUp(call.sentAway)))
    forget(state, callId, call?.cseq ?? 0)
  }
}

function makeRoom(state: MappingState, maxOpenCalls: number, problems: Problem[]): void {
  if (state.open.size < maxOpenCalls) return
  const [oldest = ''] = state.open.keys()
  forget(state, oldest, NEVER_AGAIN)
  const message = `more than ${maxOpenCalls} open calls: the oldest is forgotten`
  problems.push({ kind: 'overflow', message, callId: oldest })
}

function forget(state: MappingState, callId: string, cseq: number): void {
  state.open.delete(callId)
  state.sentAway.delete(callId)
  keep(state.ended, callId, cseq, MAX_ENDED)
}

/** Sets an entry as the newest; the oldest goes when there are too many. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value, most: number): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > most) {
    const [oldest = ''] = map.keys()
    map.delete(oldest)
  }
}
