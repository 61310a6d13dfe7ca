/** One open stream: what it contains, where it resumes, and who reads it. */
import type { Account } from '../accounts/account.js'
import type { Caller } from '../auth/authenticate.js'
import type { AttemptRecord } from '../delivery/attempt-record.js'
import type { CheckedEvent } from '../delivery/event.js'
import type { LiveKind } from '../delivery/live-store.js'
import {
  DEFAULT_STREAM_TYPES,
  encodeStreamId,
  type StreamFilter,
  type StreamPlace,
  type StreamType,
} from '../wire/stream-json.js'
import { type StreamContent, Subscriber, type SubscriberDeps } from './subscriber.js'

/** A record whose position may be unknown: this node has just written it. */
export interface LiveRecord {
  readonly record: AttemptRecord
  readonly content: StreamContent
  readonly position?: number
}

/** Records that are held while a stream catches up; above it, it reads the log once more. */
const MAX_HELD = 1_000

interface OpenStreamOptions {
  readonly accountId: string
  readonly filter: StreamFilter
  /** Absent: the host reads the stream. */
  readonly caller?: Caller
  /** Accounts of the stream when it was opened. */
  readonly accountIds: readonly string[]
  /** The call of the filter and its other legs. */
  readonly callIds: ReadonlySet<string> | undefined
  /** Where it begins: everything up to this position is not part of it. */
  readonly position: number
  /** See `StreamPlace`. */
  readonly scope: string
  /** The id with which the reader resumes. */
  readonly lastId?: string
}

export class OpenStream extends Subscriber {
  readonly accountId: string
  readonly filter: StreamFilter
  readonly hasDescendants: boolean
  readonly types: readonly StreamType[]
  /** Kinds of items that it has as they happen, on every node. */
  readonly liveKinds: readonly LiveKind[]
  caller: Caller | undefined
  /** Accounts whose log is read for it. */
  accountIds: readonly string[]
  /** Legs of the call, which grow. */
  readonly callIds: Set<string> | undefined
  /** Records up to this position are not sent. */
  readonly startPosition: number
  /** Resuming after this position misses nothing. */
  position: number
  /** When the token is checked next: monotonic, ms. */
  nextCheckMs = 0
  /** Records that wait until the stream has caught up; `undefined`: it has. */
  held: LiveRecord[] | undefined = undefined
  /** Whether its reader had an earlier stream. */
  readonly isResumed: boolean
  /** True: more than can be held was recorded while it caught up. */
  hasOverflowed = false
  /** Ids that it sent while it caught up. */
  sentIds: Set<string> | undefined = undefined
  private readonly scope: string
  private readonly clock: SubscriberDeps['clock']

  constructor(deps: SubscriberDeps, options: OpenStreamOptions) {
    const { accountId, filter, position, scope, lastId, caller } = options
    const issued = Math.floor(deps.clock.now() / 1000)
    super(deps, lastId ?? encodeStreamId({ position, issued, scope }))
    this.accountId = accountId
    this.filter = filter
    this.hasDescendants = filter.descendants === true
    this.types = filter.types ?? DEFAULT_STREAM_TYPES
    this.caller = caller
    this.accountIds = options.accountIds
    this.callIds = options.callIds && new Set(options.callIds)
    this.startPosition = position
    this.position = position
    this.liveKinds = [
      ...(this.needsEvents ? (['event'] as const) : []),
      ...(this.types.includes('webhook') ? (['webhook'] as const) : []),
    ]
    this.scope = scope
    this.isResumed = lastId !== undefined
    this.clock = deps.clock
  }

  /** Whether it has events, or attempts of a call, whose legs are known by events. */
  get needsEvents(): boolean {
    return this.types.includes('event') || this.callIds !== undefined
  }

  /** The id of an item that is sent now. */
  get id(): string {
    const place: StreamPlace = {
      position: this.position,
      issued: Math.floor(this.clock.now() / 1000),
      scope: this.scope,
    }
    return encodeStreamId(place)
  }

  /** Whether the account of an item belongs to the stream. The caller's access is checked besides. */
  covers(accountId: string, lineage: readonly Account[]): boolean {
    if (accountId === this.accountId) return true
    return this.hasDescendants && lineage.some(({ id }) => id === this.accountId)
  }

  wantsAttempt({ webhookId, callId, result }: AttemptRecord): boolean {
    const { filter, callIds, types } = this
    if (!types.includes('attempt')) return false
    if (filter.webhookId !== undefined && filter.webhookId !== webhookId) return false
    if (filter.result !== undefined && filter.result !== result) return false
    return callIds === undefined || (callId !== undefined && callIds.has(callId))
  }

  wantsWebhook(webhookId: string): boolean {
    const { filter, types } = this
    return types.includes('webhook') && (filter.webhookId === undefined || filter.webhookId === webhookId)
  }

  /** Also notes legs that an event adds to the call. */
  wantsEvent({ callId, callGroupId, otherLegCallId }: CheckedEvent): boolean {
    const { callIds } = this
    for (const linked of [callGroupId, otherLegCallId]) {
      if (!callIds || linked === undefined) continue
      if (callIds.has(callId)) callIds.add(linked)
      else if (callIds.has(linked)) callIds.add(callId)
    }
    if (!this.types.includes('event')) return false
    return callIds === undefined || callIds.has(callId)
  }

  /** Sends a record as soon as the stream has caught up. */
  record(live: LiveRecord): void {
    const { record, content, position } = live
    if (position !== undefined && position <= this.startPosition) return
    if (this.held) {
      if (this.held.length < MAX_HELD) this.held.push(live)
      else this.hasOverflowed = true
      return
    }
    if (this.wantsAttempt(record) && !this.sentIds?.has(record.id)) this.push(content, this.id)
  }
}
