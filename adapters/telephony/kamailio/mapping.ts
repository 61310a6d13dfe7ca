/**
 * Lines of the stream → news of calls: the table of open calls around the decisions of `call.ts`. Pure: time is the
 * stream's own, or an argument.
 *
 * Calls are found by their Call-ID alone, so a request that passes the proxy twice (a spiral) is one call.
 */
import type { ChannelDraft, LegNews, Mapped, Problem } from '../source/leg-news.js'
import { NOTHING } from '../source/leg-news.js'
import { said } from '../source/said.js'
import {
  gaveUp,
  type Happening,
  type KamailioCall,
  openCall,
  stepCall,
  timedOut,
  unseenCall,
} from './call.js'
import { createdDraft, draftsOf } from './channel-event.js'
import { type KamailioLine, readLine, readRow } from './line.js'

/** How lines are mapped. */
export interface MappingOptions {
  /** The id of the account that a call belongs to; `undefined`: this line does not tell, a later one may. */
  readonly accountOf: (line: KamailioLine) => string | undefined
  /** Most calls open at once; one more and the oldest is forgotten. */
  readonly maxOpenCalls: number
  /** A call that has been open for so long has ended, milliseconds. */
  readonly maxCallMs: number
  /** How far ahead, Unix microseconds, a line may leap from the one before while calls are open. Default: any far. */
  readonly latestUs?: () => number
}

/** The calls of one stream. It never throws for a bad line. */
export interface KamailioMapping {
  /** Maps the next line: its text, or what JSON made of it. */
  map(line: unknown): Mapped
  /** Ends the calls whose time is up at this moment of the stream, Unix microseconds. */
  expire(nowUs: number): Mapped
  /** When the first of them is; `Infinity`: no call is open. */
  nextDueUs(): number
  /** The newest time of the stream, Unix microseconds. */
  lastUs(): number
  openCalls(): number
}

/** 64 × T1: no side of a transaction waits longer for the other (RFC 3261, 17.1.1.2). */
const COMES_AGAIN_US = 32_000_000
/** A step of so long between two lines is no disorder of workers, but a clock that was set or a line that is wrong. */
const CLOCK_WAS_SET_US = 3_600_000_000
/** Lines that may end a call with a dialog. */
const ENDS: ReadonlySet<string> = new Set(['dialog:end', 'dialog:failed', 'tm:local-request'])
const MAX_ENDED = 10_000
const MAX_EARLY = 1_000
const NEVER_AGAIN = Number.MAX_SAFE_INTEGER
const AHEAD = 'time is more than an hour ahead of the line before and of the clock here'

export function kamailioMapping({
  accountOf,
  maxOpenCalls,
  maxCallMs,
  latestUs,
}: MappingOptions): KamailioMapping {
  const maxCallUs = maxCallMs * 1000
  /** By Call-ID, oldest first. */
  const open = new Map<string, KamailioCall>()
  /** Finished calls by Call-ID, with the CSeq of their last INVITE: late lines say nothing, a new INVITE does. */
  const ended = new Map<string, { readonly cseq: number; readonly callerTag: string | undefined }>()
  /** Stateless refusals that overtook their INVITE, by Call-ID. */
  const early = new Map<string, KamailioLine>()
  /** Calls that were sent away, by Call-ID, oldest first. */
  const sentAway = new Map<string, KamailioCall>()
  let dueUs = Number.POSITIVE_INFINITY
  let lastUs = 0
  let news: LegNews[] = []
  let problems: Problem[] = []

  /** A leap ahead, of the stream and of the clock here: it would end every open call. */
  const isOdd = (timeUs: number) =>
    latestUs !== undefined && open.size > 0 && timeUs > lastUs + CLOCK_WAS_SET_US && timeUs > latestUs()

  /** What was gathered since the last time. */
  const gathered = (): Mapped => {
    if (news.length === 0 && problems.length === 0) return NOTHING
    const mapped = { news, problems }
    news = []
    problems = []
    return mapped
  }
  const tell = ({ callId, accountId }: KamailioCall, drafts: readonly ChannelDraft[], isOver: boolean) =>
    void news.push({ callId, accountId, drafts, ended: isOver })

  /** Whether the call has an account now that it had not before. */
  const learnsAccount = (call: KamailioCall, line: KamailioLine): boolean => {
    if (call.accountId !== undefined) return false
    try {
      const told: unknown = accountOf(line)
      if (told === undefined) return false
      if (typeof told === 'string' && told !== '') {
        call.accountId = told
        return true
      }
      if (call.hasToldOfNoText) return false
      call.hasToldOfNoText = true
      const message = 'accountOf returned no text'
      problems.push({ kind: 'account_of_threw', message, callId: call.callId })
      return false
    } catch (thrown) {
      const message = `accountOf threw ${said(thrown)}`
      problems.push({ kind: 'account_of_threw', message, callId: call.callId })
      return false
    }
  }

  const forget = ({ callId, callerTag }: KamailioCall, cseq: number) => {
    open.delete(callId)
    sentAway.delete(callId)
    keep(ended, callId, { cseq, callerTag }, MAX_ENDED)
  }
  const end = (call: KamailioCall, happening: Happening) => {
    tell(call, draftsOf(call, happening), true)
    forget(call, call.cseq)
  }

  /** Applies a line to an open call. */
  const advance = (call: KamailioCall, line: KamailioLine, isNew: boolean) => {
    const isLearnt = learnsAccount(call, line)
    const happening = stepCall(call, line)
    if (isNew || isLearnt || happening) {
      const drafts = happening ? draftsOf(call, happening) : []
      if (isNew) drafts.unshift(createdDraft(call))
      tell(call, drafts, happening?.kind === 'ended')
    }
    if (happening?.kind === 'ended') return forget(call, Math.max(call.cseq, line.cseq))
    if (!call.sentAway) sentAway.delete(call.callId)
    else if (!sentAway.has(call.callId)) {
      sentAway.set(call.callId, call)
      dueUs = Math.min(dueUs, call.sentAway.atUs + COMES_AGAIN_US)
    }
  }

  /**
   * An initial INVITE opens a call; and so does its branch, its ringing or its answer, when it overtook the INVITE
   * or the stream was joined in the middle. A CSeq that a finished call has had already is a late line or a
   * retransmission; a higher one is a new try (RFC 3261, 8.1.3.5).
   */
  const opensCall = ({ event, code = 0, cseq, callId }: KamailioLine): boolean => {
    const isOpening = event === 'invite' || event === 'branch' || event === 'dialog:start'
    return (isOpening || (event === 'reply' && code < 200)) && cseq > (ended.get(callId)?.cseq ?? -1)
  }

  const begin = (line: KamailioLine) => {
    if (open.size >= maxOpenCalls) {
      const [oldest] = open.values()
      if (oldest) {
        forget(oldest, NEVER_AGAIN)
        // What waits for its account waits in vain.
        if (oldest.accountId === undefined) tell(oldest, [], true)
        const message = `more than ${maxOpenCalls} open calls: the oldest is forgotten`
        problems.push({ kind: 'overflow', message, callId: oldest.callId })
      }
    }
    const before = ended.get(line.callId)
    const isSameTag = before?.callerTag === (line.dialog?.fromTag ?? line.fromTag)
    const call = openCall(line, isSameTag ? before?.cseq : undefined)
    open.set(line.callId, call)
    dueUs = Math.min(dueUs, call.createdUs + maxCallUs)
    advance(call, line, true)
    const overtook = early.get(line.callId)
    early.delete(line.callId)
    if (overtook && open.has(line.callId)) advance(call, overtook, false)
  }

  /** The end of a call whose begin was not heard, as after a restart: it is all that is told. */
  const endUnseen = (line: KamailioLine) => {
    const call = unseenCall(line)
    learnsAccount(call, line)
    const happening = stepCall(call, line)
    if (happening?.kind === 'ended') end(call, happening)
  }

  const expire = (nowUs: number) => {
    // Callers who were asked for credentials and never came back (every scanner) must not stay open for ever.
    for (const call of sentAway.values()) {
      if (!call.sentAway || nowUs - call.sentAway.atUs < COMES_AGAIN_US) break
      end(call, gaveUp(call.sentAway))
    }
    for (const call of open.values()) {
      if (nowUs - call.createdUs < maxCallUs) break
      end(call, timedOut(call, call.createdUs + maxCallUs))
    }
    const [away] = sentAway.values()
    const [oldest] = open.values()
    dueUs = Math.min(
      away?.sentAway ? away.sentAway.atUs + COMES_AGAIN_US : Number.POSITIVE_INFINITY,
      oldest ? oldest.createdUs + maxCallUs : Number.POSITIVE_INFINITY,
    )
  }

  const take = (line: KamailioLine) => {
    // Workers write a little out of order; further back is a clock that was set, or one line with a wrong time.
    if (line.timeUs > lastUs || lastUs - line.timeUs > CLOCK_WAS_SET_US) lastUs = line.timeUs
    if (line.timeUs >= dueUs) expire(line.timeUs)
    const call = open.get(line.callId)
    if (call) advance(call, line, false)
    else if (opensCall(line)) begin(line)
    else if (!ended.has(line.callId)) {
      if (line.event === 'sl:local-response') keep(early, line.callId, line, MAX_EARLY)
      if (line.dialog && ENDS.has(line.event)) endUnseen(line)
    }
  }

  return {
    map(given) {
      const line = typeof given === 'string' ? readLine(given) : readRow(given)
      if ('malformed' in line) problems.push({ kind: 'malformed', message: line.malformed })
      else if (isOdd(line.timeUs)) {
        problems.push({ kind: 'malformed', message: AHEAD, callId: line.callId })
      } else take(line)
      return gathered()
    },
    expire(nowUs) {
      if (nowUs >= dueUs) expire(nowUs)
      return gathered()
    },
    nextDueUs: () => (open.size === 0 ? Number.POSITIVE_INFINITY : dueUs),
    lastUs: () => lastUs,
    openCalls: () => open.size,
  }
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
