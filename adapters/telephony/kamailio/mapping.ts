/**
 * Maps lines of the stream to updates of calls. `call.ts` decides how a line changes its call and `channel-event.ts`
 * builds the events; this file keeps the table of open calls. No I/O: time is that of the lines, or an argument.
 *
 * Theory of operation:
 * - Calls are found by Call-ID alone, so a request that passes the proxy twice (a spiral) is one call.
 * - Kamailio's workers write the stream concurrently, so lines may be slightly out of order. A call is opened by its
 *   INVITE or by any line that can overtake it (a branch, ringing, the answer), and a stateless reply that arrives before
 *   its INVITE is kept until that arrives.
 * - Ended calls are remembered with the CSeq of their last INVITE: late lines are ignored, and an INVITE with a higher
 *   CSeq opens a new call (RFC 3261, 8.1.3.5).
 * - A proxy cannot be queried for its open calls. A call whose end was missed ends after `maxCallMs`; a caller who was
 *   challenged or redirected and sends no new INVITE ends after 32 s.
 * - The account is resolved at each line until `accountOf` returns it. Events without an account are buffered: by the
 *   source's event pipeline, or by `kamailioMapper` itself.
 */
import type { ChannelEvent } from 'hookswitch'
import { createAccountBuffer } from '../source/account-buffer.js'
import {
  EMPTY_BATCH,
  type LegUpdate,
  type MappedBatch,
  type Problem as MappingProblem,
  type PendingEvent,
} from '../source/mapped-events.js'
import {
  checkFunction,
  checkOptions,
  integerBetween,
  optionWithDefault,
  requiredOption,
  SHARED_OPTIONS,
  WAITING_LIMITS,
} from '../source/options.js'
import { sanitizeError } from '../source/sanitize.js'
import { clockProblem, isClockSetBack } from '../source/seconds.js'
import { truncateEvent } from '../source/truncate.js'
import type { KamailioAccountOf } from './accounts.js'
import {
  applyLine,
  type CallChange,
  endAbandoned,
  endTimedOut,
  type KamailioCall,
  openCall,
  openEndedCall,
} from './call.js'
import { buildCreateEvent, buildEvents, timesOf } from './channel-event.js'
import { type KamailioLine, parseLine, parseLineObject } from './line.js'
import { MAX_CALL_OPTION } from './options.js'

/** How lines are mapped. */
interface MappingOptions {
  readonly accountOf: KamailioAccountOf
  /** Maximum number of open calls; above it, the oldest is dropped and a `problem` is reported. */
  readonly maxOpenCalls: number
  /** A call that has been open for longer has ended, milliseconds. */
  readonly maxCallMs: number
  /**
   * Latest time, Unix microseconds, that a line may have if it is more than an hour ahead of the line before and calls
   * are open. Default: no limit.
   */
  readonly latestUs?: () => number
}

/** The calls of one stream. Never throws for a bad line. */
export interface KamailioMapping {
  /** Maps the next line: its text, or its parsed JSON value. */
  map(line: unknown): MappedBatch
  /** Ends the calls that are due at this time of the stream, Unix microseconds. */
  expire(nowUs: number): MappedBatch
  /** When the next call is due, Unix microseconds; `Infinity`: no call is open. */
  nextDueUs(): number
  /** The newest time of the stream, Unix microseconds. */
  lastUs(): number
  /** Number of open calls. */
  openCalls(): number
}

/** 64 × T1: no side of a transaction waits longer for the other (RFC 3261, 17.1.1.2). */
const RETRY_WITHIN_US = 32_000_000
/** A larger step between two lines is not disorder of the workers, but a clock that was set or a wrong line. */
const CLOCK_STEP_US = 3_600_000_000
/** Lines that may end a call with a dialog. */
const END_LINES: ReadonlySet<string> = new Set(['dialog:end', 'dialog:failed', 'tm:local-request'])
/** Number of ended calls that are remembered. */
const MAX_ENDED = 10_000
/** Number of stateless replies that are kept for their INVITE. */
const MAX_EARLY_REPLIES = 1_000
/** A CSeq that no INVITE exceeds: the call cannot be opened again. */
const NEVER_REOPEN = Number.MAX_SAFE_INTEGER
const TIME_AHEAD = 'time is more than an hour ahead of the line before and of the clock here'

export function createKamailioMapping({
  accountOf,
  maxOpenCalls,
  maxCallMs,
  latestUs,
}: MappingOptions): KamailioMapping {
  const maxCallUs = maxCallMs * 1000
  /** By Call-ID, oldest first. */
  const open = new Map<string, KamailioCall>()
  /** Ended calls by Call-ID, with the CSeq of their last INVITE. */
  const ended = new Map<string, { readonly cseq: number; readonly callerTag: string | undefined }>()
  /** Stateless replies that arrived before their INVITE, by Call-ID. */
  const earlyReplies = new Map<string, KamailioLine>()
  /** Calls whose caller was challenged or redirected, by Call-ID, oldest first. */
  const pendingRetries = new Map<string, KamailioCall>()
  let dueUs = Number.POSITIVE_INFINITY
  let lastUs = 0
  let updates: LegUpdate[] = []
  let problems: MappingProblem[] = []

  /** Whether a time is ahead of both the stream and the local clock: it would end every open call. */
  const isAhead = (timeUs: number) =>
    latestUs !== undefined && open.size > 0 && timeUs > lastUs + CLOCK_STEP_US && timeUs > latestUs()

  /** The updates and problems since the last call. */
  const takeBatch = (): MappedBatch => {
    if (updates.length === 0 && problems.length === 0) return EMPTY_BATCH
    const batch = { updates, problems }
    updates = []
    problems = []
    return batch
  }
  const addUpdate = (
    { callId, accountId }: KamailioCall,
    events: readonly PendingEvent[],
    isEnded: boolean,
  ) => void updates.push({ callId, accountId, events, isEnded })

  /** Returns whether this line made the call's account known. */
  const resolveAccount = (call: KamailioCall, line: KamailioLine): boolean => {
    if (call.accountId !== undefined) return false
    try {
      const accountId: unknown = accountOf(line)
      if (accountId === undefined) return false
      if (typeof accountId === 'string' && accountId !== '') {
        call.accountId = accountId
        return true
      }
      if (call.hasReportedBadAccountId) return false
      call.hasReportedBadAccountId = true
      const message = 'accountOf returned no string, or an empty one'
      problems.push({ kind: 'callback_failed', message, callId: call.callId })
      return false
    } catch (thrown) {
      const message = `accountOf threw ${sanitizeError(thrown)}`
      problems.push({ kind: 'callback_failed', message, callId: call.callId })
      return false
    }
  }

  const close = ({ callId, callerTag }: KamailioCall, cseq: number) => {
    open.delete(callId)
    pendingRetries.delete(callId)
    setNewest(ended, callId, { cseq, callerTag }, MAX_ENDED)
  }
  const checkClock = (call: KamailioCall, endedUs: number) => {
    if (isClockSetBack(timesOf(call, endedUs))) problems.push(clockProblem(call.callId))
  }
  const end = (call: KamailioCall, change: CallChange) => {
    addUpdate(call, buildEvents(call, change), true)
    checkClock(call, change.atUs)
    close(call, call.cseq)
  }

  /** Applies a line to an open call. */
  const advance = (call: KamailioCall, line: KamailioLine, isNew: boolean) => {
    const isAccountNew = resolveAccount(call, line)
    const change = applyLine(call, line)
    if (isNew || isAccountNew || change) {
      const events = change ? buildEvents(call, change) : []
      if (isNew) events.unshift(buildCreateEvent(call))
      addUpdate(call, events, change?.kind === 'ended')
    }
    if (change?.kind === 'ended') {
      checkClock(call, change.atUs)
      return close(call, Math.max(call.cseq, line.cseq))
    }
    if (!call.pendingRetry) pendingRetries.delete(call.callId)
    else if (!pendingRetries.has(call.callId)) {
      pendingRetries.set(call.callId, call)
      dueUs = Math.min(dueUs, call.pendingRetry.atUs + RETRY_WITHIN_US)
    }
  }

  /**
   * Whether a line opens a call: an initial INVITE, or a branch, ringing or answer that overtook it or is the first line
   * after the stream was joined. A CSeq that an ended call has reached is a late line or a retransmission.
   */
  const opensCall = ({ event, code = 0, cseq, callId }: KamailioLine): boolean => {
    const isOpening = event === 'invite' || event === 'branch' || event === 'dialog:start'
    return (isOpening || (event === 'reply' && code < 200)) && cseq > (ended.get(callId)?.cseq ?? -1)
  }

  const begin = (line: KamailioLine) => {
    if (open.size >= maxOpenCalls) {
      const [oldest] = open.values()
      if (oldest) {
        close(oldest, NEVER_REOPEN)
        // Its buffered events are given up: its account will not become known.
        if (oldest.accountId === undefined) addUpdate(oldest, [], true)
        const message = `more than ${maxOpenCalls} open calls: the oldest is forgotten`
        problems.push({ kind: 'overflow', message, callId: oldest.callId })
      }
    }
    const previous = ended.get(line.callId)
    const isSameTag = previous?.callerTag === (line.dialog?.fromTag ?? line.fromTag)
    const call = openCall(line, isSameTag ? previous?.cseq : undefined)
    open.set(line.callId, call)
    dueUs = Math.min(dueUs, call.createdUs + maxCallUs)
    advance(call, line, true)
    const earlyReply = earlyReplies.get(line.callId)
    earlyReplies.delete(line.callId)
    if (earlyReply && open.has(line.callId)) advance(call, earlyReply, false)
  }

  /** Publishes the end of a call whose begin was missed, for example during a restart: nothing else of it is known. */
  const endUnseen = (line: KamailioLine) => {
    const call = openEndedCall(line)
    resolveAccount(call, line)
    const change = applyLine(call, line)
    if (change?.kind === 'ended') end(call, change)
  }

  const expire = (nowUs: number) => {
    // Callers who were challenged and never retried (every scanner) must not stay open.
    for (const call of pendingRetries.values()) {
      if (!call.pendingRetry || nowUs - call.pendingRetry.atUs < RETRY_WITHIN_US) break
      end(call, endAbandoned(call.pendingRetry))
    }
    for (const call of open.values()) {
      if (nowUs - call.createdUs < maxCallUs) break
      end(call, endTimedOut(call, call.createdUs + maxCallUs))
    }
    const [oldestRetry] = pendingRetries.values()
    const [oldest] = open.values()
    dueUs = Math.min(
      oldestRetry?.pendingRetry ? oldestRetry.pendingRetry.atUs + RETRY_WITHIN_US : Number.POSITIVE_INFINITY,
      oldest ? oldest.createdUs + maxCallUs : Number.POSITIVE_INFINITY,
    )
  }

  const mapLine = (line: KamailioLine) => {
    // A step back of more than an hour is a clock that was set, or one line with a wrong time: follow it.
    if (line.timeUs > lastUs || lastUs - line.timeUs > CLOCK_STEP_US) lastUs = line.timeUs
    if (line.timeUs >= dueUs) expire(line.timeUs)
    const call = open.get(line.callId)
    if (call) advance(call, line, false)
    else if (opensCall(line)) begin(line)
    else if (!ended.has(line.callId)) {
      if (line.event === 'sl:local-response') setNewest(earlyReplies, line.callId, line, MAX_EARLY_REPLIES)
      if (line.dialog && END_LINES.has(line.event)) endUnseen(line)
    }
  }

  return {
    map(input) {
      const line = typeof input === 'string' ? parseLine(input) : parseLineObject(input)
      if ('malformed' in line) problems.push({ kind: 'malformed', message: line.malformed })
      else if (isAhead(line.timeUs)) {
        problems.push({ kind: 'malformed', message: TIME_AHEAD, callId: line.callId })
      } else mapLine(line)
      return takeBatch()
    },
    expire(nowUs) {
      if (nowUs >= dueUs) expire(nowUs)
      return takeBatch()
    },
    nextDueUs: () => (open.size === 0 ? Number.POSITIVE_INFINITY : dueUs),
    lastUs: () => lastUs,
    openCalls: () => open.size,
  }
}

/** Sets an entry as the newest one, and removes the oldest above the limit. */
function setNewest<Value>(map: Map<string, Value>, key: string, value: Value, limit: number): void {
  map.delete(key)
  map.set(key, value)
  if (map.size > limit) {
    const [oldest = ''] = map.keys()
    map.delete(oldest)
  }
}

/** A line or call that could not be mapped. It is left out; everything else continues. */
export type Problem =
  | MappingProblem
  /** The call ended, or was evicted, before its account became known: its events are not published. */
  | { readonly kind: 'unknown_account'; readonly message: string; readonly callId: string }

/** Options of `kamailioMapper`. */
export interface KamailioMapperOptions {
  /**
   * Returns the id of a call's account; `accountByDomain` is ready-made. Called with every line until it returns one;
   * events are buffered until then. A call that ends without an account is a problem, and its events are not published.
   */
  readonly accountOf: KamailioAccountOf
  /** Maximum number of open calls; above it, the oldest is dropped and a `problem` is reported. Default 100,000. */
  readonly maxOpenCalls?: number | undefined
  /**
   * A call that has been open for longer, by the times of the lines, has ended; milliseconds. Default 43,260,000
   * (12 h 1 min).
   */
  readonly maxCallMs?: number | undefined
}

/** The result of one line. */
export interface MappedLine {
  /** In the order in which they happened, for `hs.publish`. */
  readonly events: readonly ChannelEvent[]
  /** Lines and calls that could not be used, and why. */
  readonly problems: readonly Problem[]
}

/** The mapper of one stream. */
export interface KamailioMapper {
  /** Maps the next line. Never throws for a bad line: it is reported in `problems`. */
  map(line: string): MappedLine
  /** Number of open calls. */
  openCalls(): number
}

const MAPPER_OPTIONS = {
  accountOf: requiredOption(checkFunction),
  maxOpenCalls: optionWithDefault(
    integerBetween(1, Number.MAX_SAFE_INTEGER),
    SHARED_OPTIONS.maxOpenLegs.default,
  ),
  maxCallMs: MAX_CALL_OPTION,
}
const NO_EVENTS: readonly ChannelEvent[] = Object.freeze([])

/**
 * The mapping without a source, for hosts that read the stream and publish the events themselves. Overdue calls end with
 * the next line.
 *
 * @throws `InvalidOption` naming the option
 * @example
 * const mapper = kamailioMapper({ accountOf: accountByDomain({ 'alpha.example': 'alpha' }) })
 * for (const event of mapper.map(line).events) await hs.publish(event)
 */
export function kamailioMapper(options: KamailioMapperOptions): KamailioMapper {
  const mapping = createKamailioMapping(checkOptions('kamailioMapper', options, MAPPER_OPTIONS))
  const buffer = createAccountBuffer({ ...WAITING_LIMITS, maxWaitMs: Number.POSITIVE_INFINITY })

  return {
    map(line) {
      const { updates, problems } = mapping.map(line)
      if (updates.length === 0) return { events: NO_EVENTS, problems }
      const events: ChannelEvent[] = []
      const all: Problem[] = [...problems]
      const report = (field: string, { callId }: ChannelEvent) =>
        void all.push({ kind: 'truncated', message: `${field} is longer than an event can hold`, callId })
      for (const update of updates) {
        const { ready, unknown } = buffer.add(update, 0)
        for (const event of ready) events.push(truncateEvent(event, report))
        for (const { callId } of unknown) {
          all.push({
            kind: 'unknown_account',
            message: 'the account of this call is not known: its events are not published',
            callId,
          })
        }
      }
      return { events, problems: all }
    },
    openCalls: mapping.openCalls,
  }
}
