/**
 * Collects everything that a node wants to write, and commits it group by group.
 *
 * Theory of operation
 *
 * - One loop runs everything that must not overlap: groups, and tasks that read the store into the queue. While
 *   one commit runs, the next group collects what was accepted and what ended. There is no timer: an idle node
 *   commits what one turn of the event loop brings, a busy one commits larger groups, each as soon as the store has
 *   written the one before. A store that writes before `commit` returns leaves the host a turn between two groups.
 * - A group is formed in one synchronous step: ended attempts are decided and applied to the queue, which
 *   promotes the next deliveries of their lanes; then due deliveries are taken as far as there are slots. The
 *   group contains the acceptances, the settlements and the starts, in this order.
 * - Only a committed group has effects outside: publishers get their answers, requests are sent, the host is
 *   notified. So every sent request has a stored start, and every reported result is stored.
 * - The requests of a group are sent, and its ends reported, while the store writes the next group: a store in a thread or
 *   on a server works at the same time as this process. If there is no next group yet, the ends are reported a turn of
 *   the event loop before the requests are sent: what the host publishes then is written while they are sent. At most
 *   `MAX_SENT_AT_ONCE` requests are sent in one turn, fewer while several accounts publish.
 * - A delivery that can be sent at once starts in the group that accepts it (`uncommitted-starts`).
 * - Webhooks that the queue does not know yet are read while the group is written that accepts their first event.
 * - Attempts end while a group is written, and their slots would stay empty until the next group is. So a group starts
 *   deliveries before their slots are free (prefetched), at most as many as attempts ended during the previous commit.
 * - A commit that fails is repeated until it succeeds or the node stops. If the store cannot tell whether it was
 *   written, the same group is committed again as a repeat.
 * - A publisher waits at most `MAX_PUBLISH_WAIT_MS` for a store that does not answer, and `MAX_UNKNOWN_WAIT_MS` for one that takes
 *   nothing any more. Its event may still be accepted: the group is not given up. If the store says that it wrote nothing, all publishers get
 *   the error at once.
 */
import { closingError, errorCode, HookswitchError, reasonOf } from '../errors.js'
import type { Clock, Log } from '../ports.js'
import { createLinkedQueue, enqueue, type QueueItem, unqueue } from '../values/linked-queue.js'
import type { Webhook } from '../webhooks/webhook.js'
import { AcceptQueue, type Waiting } from './accept-queue.js'
import type { AttemptResult } from './attempt-record.js'
import type { Acceptance, AcceptedEvent } from './delivery-store.js'
import { eventIndexOf } from './event-index.js'
import type { NodeState } from './node-state.js'
import type { QueuedDelivery } from './queue/queued-delivery.js'
import {
  type AcceptanceResult,
  type EndedResult,
  type Group,
  type GroupResult,
  isNotWritten,
  type QueueStore,
} from './queue-store.js'
import type { StartKeys } from './start-keys.js'
import { type AcceptingEvents, NO_DELIVERIES } from './uncommitted-starts.js'
import type { DecidedSettlement } from './worker/settlement-decider.js'

/** An attempt that has ended, or could not begin (`result` undefined). */
export interface FinishedAttempt {
  readonly delivery: QueuedDelivery
  /** The row with which it began. */
  readonly webhook: Webhook
  readonly result: AttemptResult | undefined
}

/** What starts now, and what ends instead of starting. */
export interface Picked {
  readonly starts: readonly QueuedDelivery[]
  readonly skipped: readonly DecidedSettlement[]
}

/** The parts of the dispatcher that the loop calls. @internal */
export interface CommitHandlers {
  /** Decides an ended attempt, applies it to the queue and frees its slot. `undefined`: there is nothing to write. */
  settle(finished: FinishedAttempt, now: number): DecidedSettlement | undefined
  /** Reads what the queue needs about these events, while they are being committed. */
  readAhead(accepting: readonly AcceptingEvents[]): void
  /**
   * Takes due deliveries for free slots, and for `prefetch` slots that will be free when the group is committed. Those that the
   * group accepts may be among them: they enter the queue before they are committed (`AcceptingEvents.uncommitted`).
   */
  pick(now: number, prefetch: number, accepting: readonly AcceptingEvents[]): Picked
  /** Whether this acceptance has to wait; `undefined`: none has. */
  isHeld(): ((acceptance: Acceptance) => boolean) | undefined
  /** The acceptance is committed: its deliveries enter the queue, or can be sent if they start. */
  accepted(
    acceptance: AcceptingEvents,
    result: Extract<AcceptanceResult, { kind: 'accepted' }>,
    /** Whether any acceptance of the group may have a gap. */
    mayHaveGap: boolean,
    now: number,
  ): void | Promise<void>
  /** Abandons uncommitted deliveries: they were not accepted, or may not start. */
  withdraw(uncommitted: readonly QueuedDelivery[]): void
  /** A settlement is written, or fenced: the queue takes note. */
  ended(decided: DecidedSettlement, result: EndedResult, now: number): void
  /** Reports a settlement that is written. */
  report(decided: DecidedSettlement, result: EndedResult, now: number): void
  /** The start of an attempt is committed: send it. */
  start(delivery: QueuedDelivery): void
  /** A start was refused: the delivery is gone, or stale. */
  notStarted(deliveries: readonly QueuedDelivery[]): Promise<void>
  /** A start is given up, because the lease has ended. */
  abandon(delivery: QueuedDelivery): void
  /** Whether a delivery that was taken for a start may still be sent. */
  mayStart(delivery: QueuedDelivery): boolean
  /** A delivery that may not be sent now goes back to the queue. */
  putBack(delivery: QueuedDelivery): void
  /** The lease has ended. */
  onFenced(): void
  /** Reads and applies the changes of others. */
  applyChanges(): Promise<void>
  /** The store is reachable again, after a group with an unknown outcome. */
  onRecovered(): void
  /** Nothing is left to do: sets the timer for the next due time. */
  onIdle(): void
}

/** `refused`: the store refused some of the settlements; `lost`: the node closes while its store fails, and gave them up. */
export type SettledNow = 'settled' | 'refused' | 'lost'

export interface CommitLoop {
  /**
   * Commits an acceptance. Rejects with what the store refuses it with, with `StoreUnavailable` when the store is out or
   * does not answer, and with `Closing`.
   */
  accept(acceptance: Acceptance): Promise<readonly AcceptedEvent[]>
  /** Adds an ended attempt to the next group. */
  finish(finished: FinishedAttempt): void
  /** Commits these settlements now. Only inside a task. */
  settleNow(decided: readonly DecidedSettlement[]): Promise<SettledNow>
  /** Forms a group as soon as possible, if there is anything to write. */
  trigger(): void
  /** Sends and reports what is committed, if that has been put off until the next commit. */
  flush(): void
  /** Runs a task when no group is being committed. It must not reject. */
  exclusively(task: () => Promise<void>): Promise<void>
  /** Deliveries of acceptances that are not committed yet. */
  readonly queuedDeliveries: number
  /** What waits for the next groups. */
  readonly accepting: Pick<AcceptQueue<Waiting>, 'size' | 'sizeOf'>
  /** Events and deliveries of a long list that are to be accepted at once. `sinceMs`: when its first part was, monotonic. */
  partSize(sinceMs: number): number
  /** Resolves when nothing is in progress. */
  idle(): Promise<void>
  /** Rejects what is in no group yet; later acceptances reject with `Closing`. */
  stop(): void
  /** Rejects all publishers without an answer, and forms no further group. What is in progress has no effect any more. */
  abandon(): void
  /** Whether settlements or starts of this lease were given up: the store may have starts without an end. */
  readonly hasLost: boolean
}

/** How long a publisher waits for a store that does not answer, ms. */
const MAX_PUBLISH_WAIT_MS = 10_000
/** Longest wait of a publisher whose event may be written, while the store takes nothing. */
const MAX_UNKNOWN_WAIT_MS = 2_000
const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 5000
/** The abort reason of a wait. Without one, an abort creates an exception with a stack. */
const IDLE = 'nothing waits'
const NO_SETTLEMENTS: readonly DecidedSettlement[] = Object.freeze([])
/** How often an acceptance gets new positions when others have taken them. */
const MAX_COLLISIONS = 3
/** Committed starts that are sent in one turn of the event loop, and the same while several accounts publish. */
const MAX_SENT_AT_ONCE = 64
const MAX_SENT_WHILE_SHARED = 16
/** A group takes no further acceptance from this number of events and deliveries on. */
const MAX_GROUP_SIZE = 5_000
/** The same of one account, while others publish too: they wait for the group. More, the longer its first acceptance has waited. */
export const MIN_PART = 20
const MAX_PART = 200
const MAX_PART_MS = 1_000
/** How long a list has been accepted in small parts, ms: then it must end. */
const LONG_LIST_MS = 10_000
/** How long ago accounts may have published together, ms. */
const TOGETHER_MS = 10_000

/** The part of an account whose first acceptance has waited so long. */
const partAfter = (waitedMs: number) =>
  Math.min(MAX_PART, Math.max(MIN_PART, Math.floor((waitedMs * MAX_PART) / MAX_PART_MS)))

/** A group that is written, and the effects that it still has. */
interface CommittedGroup {
  readonly starts: readonly QueuedDelivery[]
  /** The number of those that were sent. */
  sent: number
  /** Those that are not reported yet. */
  ended: readonly DecidedSettlement[]
  readonly results: readonly EndedResult[]
}

interface PendingAcceptance extends AcceptingEvents, Waiting, QueueItem<PendingAcceptance> {
  /** Monotonic, ms. */
  readonly requestedMs: number
  /** How often it was refused because a position was taken. */
  collisions: number
  readonly resolve: (events: readonly AcceptedEvent[]) => void
  readonly reject: (thrown: unknown) => void
}

/** A group that is being committed. Its parts may become fewer before it is. */
interface PendingGroup {
  accepted: readonly PendingAcceptance[]
  ended: readonly DecidedSettlement[]
  starts: readonly QueuedDelivery[]
  /** 0: it has no starts. */
  startKey: number
  finished: readonly number[]
  isRepeat: boolean
}

export function createCommitLoop(
  deps: {
    readonly store: Pick<QueueStore, 'commit'>
    readonly clock: Clock
    readonly log: Log
    readonly now: () => number
    readonly canStart: () => boolean
    /** Deliveries in the queue of this node. */
    readonly pending: () => number
    /** Aborts when `drainMs` of `close` have passed: a commit that fails then is given up. */
    readonly drainDeadline: AbortSignal
  },
  state: NodeState,
  startKeys: StartKeys,
  handlers: CommitHandlers,
): CommitLoop {
  const { store, clock, log, now, drainDeadline } = deps
  const accepting = new AcceptQueue<PendingAcceptance>()
  let finishedAttempts: FinishedAttempt[] = []
  const tasks: (() => Promise<void>)[] = []
  /** Of the last acceptance. */
  let lastAccountId: string | undefined
  /** When an acceptance was last followed by one of another account, monotonic, ms. */
  let togetherMs = Number.NEGATIVE_INFINITY
  let isTriggered = false
  let isRunning = false
  let running: Promise<void> | undefined
  /** Aborts the wait of `watch`; `undefined`: it is not running. */
  let watching: AbortController | undefined
  /** Aborts the pause before a commit is repeated; `undefined`: there is none that may be aborted. */
  let pausing: AbortController | undefined
  let isStopped = false
  let isAbandoned = false
  let hasLost = false
  /** Settlements that the store has refused. */
  let refusedSettlements = 0
  let queuedDeliveries = 0
  let isCommitting = false
  /** Attempts that ended during the last commit. */
  let endedMeanwhile = 0
  /**
   * Publishers without an answer, the oldest first. No set: a set that changes all the time leaves a chain of dead tables
   * in the old generation, and with them everything that was ever in it, until a full garbage collection.
   */
  const unanswered = createLinkedQueue<PendingAcceptance>()
  /** What is committed and not yet sent or reported. */
  const committed: CommittedGroup[] = []

  const unavailable = () =>
    new HookswitchError('StoreUnavailable', 'the store does not answer', { retryAfterSeconds: 1 })

  /** Rejects publishers that have waited too long. Acceptances that are in no group yet are dropped. */
  async function watch(): Promise<void> {
    const abort = new AbortController()
    watching = abort
    while (!abort.signal.aborted) {
      const oldest = unanswered.first
      if (!oldest) break
      const leftMs = oldest.requestedMs + MAX_PUBLISH_WAIT_MS - clock.monotonic()
      if (leftMs > 0) {
        await clock.sleep(leftMs, abort.signal)
        continue
      }
      for (let late = unanswered.first; late; late = unanswered.first) {
        if (late.requestedMs + MAX_PUBLISH_WAIT_MS - clock.monotonic() > 0) break
        refuse(late, unavailable())
      }
      accepting.removeIf(({ queue }) => queue === undefined).forEach(forget)
    }
    if (watching === abort) watching = undefined
  }

  function refuse(pending: PendingAcceptance, thrown: unknown): void {
    unqueue(pending)
    pending.reject(thrown)
  }

  function stopWatching(): void {
    watching?.abort(IDLE)
    watching = undefined
  }

  /** Refuses what is in no group yet. */
  function refuseAccepts(thrown: unknown): void {
    for (const pending of accepting.removeIf(() => true)) {
      refuse(pending, thrown)
      forget(pending)
    }
  }

  /** Refuses the acceptances of a group that was not written. */
  function refuseAccepted(group: PendingGroup, thrown: unknown): void {
    for (const pending of group.accepted) {
      refuse(pending, thrown)
      handlers.withdraw(pending.uncommitted)
      forget(pending)
    }
    group.accepted = []
    group.starts = withoutAbandoned(group.starts)
  }

  function withoutAbandoned(starts: readonly QueuedDelivery[]): readonly QueuedDelivery[] {
    return starts.filter((delivery) => {
      if (delivery.isAbandoned) handlers.abandon(delivery)
      return !delivery.isAbandoned
    })
  }

  const isShared = () => clock.monotonic() - togetherMs < TOGETHER_MS

  function takeAccepts(): readonly PendingAcceptance[] {
    const isHeld = state.lease && deps.canStart() ? handlers.isHeld() : undefined
    const nowMs = clock.monotonic()
    const taken = accepting.take(
      MAX_GROUP_SIZE,
      isHeld && (({ acceptance }) => isHeld(acceptance)),
      isShared() ? ({ requestedMs }) => partAfter(nowMs - requestedMs) : undefined,
    )
    for (const { acceptance } of taken) setPositions(acceptance)
    return taken
  }

  function setPositions({ events, deliveries }: Acceptance): void {
    const { positions } = state
    const ms = now()
    for (const event of events) event.position = positions.next(ms)
    let hint = 0
    for (const delivery of deliveries) {
      const index = eventIndexOf(events, delivery.eventId, hint)
      if (index >= 0) hint = index
      delivery.position = index < 0 ? positions.next(ms) : events[index]!.position!
    }
  }

  function form(): PendingGroup {
    const ms = now()
    const ended: DecidedSettlement[] = []
    const attempts = finishedAttempts
    finishedAttempts = []
    for (const attempt of attempts) {
      const settlement = handlers.settle(attempt, ms)
      if (settlement) ended.push(settlement)
    }
    // Without a lease everything that was in flight is abandoned: there is nothing to settle.
    if (!state.lease) return { ...emptyGroup(), accepted: takeAccepts() }
    const accepted = takeAccepts()
    let starts = NO_DELIVERIES
    if (deps.canStart()) {
      const picked = handlers.pick(ms, endedMeanwhile, accepted)
      starts = picked.starts
      for (const skipped of picked.skipped) ended.push(skipped)
      // The queue counts them.
      for (const { uncommitted } of accepted) queuedDeliveries -= uncommitted.length
    }
    const startKey = starts.length > 0 ? startKeys.add(starts) : 0
    // The start of a lost settlement is what tells the next owner that it was sent.
    const finished = hasLost ? [] : startKeys.takeFinished()
    return { accepted, ended, starts, startKey, finished, isRepeat: false }
  }

  function toGroup(group: PendingGroup): Group {
    const { accepted, ended, starts, startKey, finished, isRepeat } = group
    const built: { -readonly [Name in keyof Group]: Group[Name] } = {
      lease: state.lease,
      version: state.version,
      now: now(),
      accepted: accepted.map(({ acceptance }) => acceptance),
      ended: withNewestHealth(ended),
      finished,
      pending: deps.pending(),
      isRepeat,
    }
    if (starts.length > 0) {
      built.starting = {
        key: startKey,
        deliveries: starts.map(({ webhookId, position, attempts, epoch }) => ({
          webhookId,
          position,
          attempt: attempts + 1,
          epoch,
        })),
      }
    }
    return built
  }

  /** Waits before a commit is repeated, not for long once a publisher waits for the store. */
  async function pause(ms: number): Promise<void> {
    await clock.sleep(Math.min(ms, FIRST_PAUSE_MS), drainDeadline)
    if (ms <= FIRST_PAUSE_MS || unanswered.first || drainDeadline.aborted) return
    pausing = new AbortController()
    await clock.sleep(ms - FIRST_PAUSE_MS, AbortSignal.any([pausing.signal, drainDeadline]))
    pausing = undefined
  }

  /** Commits a group, whatever happens on the way. */
  async function commit(group: PendingGroup): Promise<void> {
    let isUnknown = group.isRepeat
    for (let pauseMs = FIRST_PAUSE_MS; ; ) {
      let result: GroupResult
      try {
        const answer = store.commit(toGroup(group))
        handlers.readAhead(group.accepted)
        result = 'kind' in answer ? answer : await answer
        if (isAbandoned) return
      } catch (thrown) {
        if (isAbandoned) return
        // What ends during an outage says nothing about how many end during a commit.
        isCommitting = false
        endedMeanwhile = 0
        const reason = reasonOf(thrown)
        if (errorCode(thrown) !== 'StoreUnavailable' && canSplit(group)) {
          log.warn({ reason }, 'a group was refused: its parts are committed separately')
          // Each part would show only its own gaps.
          for (const { uncommitted } of group.accepted) handlers.withdraw(uncommitted)
          await commitParts(group)
          return
        }
        const isOut = errorCode(thrown) === 'StoreUnavailable'
        const isUnwritten = isOut && isNotWritten(thrown)
        if (!isOut || (isUnwritten && !group.isRepeat)) refuseAccepted(group, thrown)
        if (!isOut && dropRecord(group, reason)) continue
        if (!isOut) {
          log.error({ reason }, 'a part of a group was refused')
          for (const { delivery } of group.ended) startKeys.retain(delivery)
          refusedSettlements += group.ended.length
          giveUp(group, handlers.putBack)
          return
        }
        if (isUnwritten) {
          refuseAccepts(thrown)
          // The store is away. The group, which may be written, is still repeated.
          const sinceMs = clock.monotonic() - MAX_UNKNOWN_WAIT_MS
          for (const pending of group.accepted) if (pending.requestedMs <= sinceMs) refuse(pending, thrown)
        } else group.isRepeat = isUnknown = true
        log.warn({ reason, deliveries: group.ended.length }, 'committing failed, retrying')
        if (sizeOf(group) === 0 && group.finished.length === 0) return
        if (drainDeadline.aborted) {
          hasLost ||= group.ended.length + group.starts.length > 0
          for (const pending of group.accepted) refuse(pending, thrown)
          giveUp(group, handlers.abandon)
          return
        }
        await pause(pauseMs)
        pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)
        continue
      }
      if (result.kind === 'committed') {
        await apply(group, result)
        if (isUnknown) handlers.onRecovered()
        return
      }
      if (result.kind === 'outdated') {
        await handlers.applyChanges()
        if (state.lease) dropOutdated(group)
      } else handlers.onFenced()
      if (!state.lease) {
        giveUp(group, handlers.abandon)
        Object.assign(group, { ended: [], starts: [], startKey: 0, finished: [] })
      }
      if (sizeOf(group) === 0 && group.finished.length === 0) return
    }
  }

  /** A settlement that the store cannot write with its record is written without it: otherwise the delivery is sent again. */
  function dropRecord(group: PendingGroup, reason: string): boolean {
    const [only] = group.ended
    if (!only?.settlement.record) return false
    const { record: unstoredRecord, ...settlement } = only.settlement
    const { deliveryId } = settlement
    log.error({ reason, deliveryId }, 'an attempt record was refused: the attempt is settled without it')
    group.ended = [{ ...only, settlement, unstoredRecord }]
    return true
  }

  /** Changes of others have been applied to the queue: what they removed is neither settled nor started. */
  function dropOutdated(group: PendingGroup): void {
    const ms = now()
    group.ended = group.ended.filter((decided) => {
      if (!decided.delivery.isAbandoned) return true
      handlers.ended(decided, { kind: 'fenced' }, ms)
      return false
    })
    group.starts = withoutAbandoned(group.starts).filter((delivery) => {
      const mayStart = handlers.mayStart(delivery)
      if (!mayStart) handlers.putBack(delivery)
      return mayStart
    })
  }

  /**
   * Commits a refused group in parts, in order: what was accepted, what ended, the starts, which have one key. A part that
   * is refused too is halved, so that few commits find the part that causes the error.
   */
  async function commitParts(group: PendingGroup): Promise<void> {
    const { accepted, ended, starts, startKey, finished, isRepeat } = group
    const none = { ...emptyGroup(), isRepeat }
    const isMixed = sizeOf(group) > Math.max(accepted.length, ended.length) || finished.length > 0
    const commitPart = async (part: Partial<PendingGroup>) => {
      const committing = commit({ ...none, ...part })
      flush()
      await committing
    }
    for (const part of isMixed ? [accepted] : halvesOf(accepted))
      if (part.length > 0) await commitPart({ accepted: part })
    for (const part of isMixed ? [ended] : halvesOf(ended))
      if (part.length > 0) await commitPart({ ended: part })
    const startable = withoutAbandoned(starts)
    if (startable.length > 0) await commitPart({ starts: startable, startKey })
    if (hasLost) return
    const forgettable = finished.filter((key) => !startKeys.isRetained(key))
    if (forgettable.length > 0) await commitPart({ finished: forgettable })
  }

  /** The effects of the group are lost: its settlements stay unwritten, and its starts are not sent. */
  function giveUp({ ended, starts }: PendingGroup, giveUpStart: (delivery: QueuedDelivery) => void): void {
    for (const decided of ended) handlers.ended(decided, { kind: 'fenced' }, now())
    for (const delivery of starts) giveUpStart(delivery)
  }

  async function apply(
    { accepted, ended, starts }: PendingGroup,
    result: Extract<GroupResult, { kind: 'committed' }>,
  ): Promise<void> {
    const ms = now()
    state.version = Math.max(state.version, result.version)
    const again: PendingAcceptance[] = []
    const entering: Promise<void>[] = []
    const mayHaveGap = result.accepted.some((answer) => answer.kind === 'accepted' && answer.mayHaveGap)
    for (let index = 0; index < accepted.length; index++) {
      const pending = accepted[index]!
      const answer = result.accepted[index]!
      if (answer.kind === 'refused') {
        handlers.withdraw(pending.uncommitted)
        // Its publisher may have waited too long.
        const isWaiting = pending.queue !== undefined
        if (isWaiting && isCollision(answer.error) && pending.collisions++ < MAX_COLLISIONS && !isStopped)
          again.push(pending)
        else refuse(pending, answer.error)
        forget(pending)
        pending.uncommitted = NO_DELIVERIES
        continue
      }
      unqueue(pending)
      pending.resolve(answer.events)
      const reading = handlers.accepted(pending, answer, mayHaveGap, ms)
      if (reading) entering.push(reading.then(() => forget(pending)))
      else forget(pending)
    }
    const refused = new Set(result.notStarted)
    committed.push({
      starts: refused.size > 0 ? starts.filter((_, index) => !refused.has(index)) : starts,
      sent: 0,
      ended,
      results: result.ended,
    })
    for (let index = 0; index < ended.length; index++) handlers.ended(ended[index]!, result.ended[index]!, ms)
    if (entering.length > 0) {
      // They read the store, which may be out.
      flush()
      await Promise.all(entering)
    }
    for (const { acceptance } of again) queuedDeliveries += acceptance.deliveries.length
    if (again.length > 0) accepting.addFirst(again)
    const notStarted = withoutAbandoned(result.notStarted.map((index) => starts[index]!))
    if (notStarted.length === 0) return
    flush()
    await handlers.notStarted(notStarted)
  }

  function flush(maxStarts = Number.POSITIVE_INFINITY): void {
    if (committed.length === 0) return
    const ms = now()
    // The commit may have taken long, and waited for the store: the lease may be about to end.
    const isInTime = deps.canStart()
    let left = maxStarts
    for (let group = committed[0]; group; group = committed[0]) {
      for (; group.sent < group.starts.length; left--) {
        if (left === 0) return
        const delivery = group.starts[group.sent++]!
        // Since the commit the lease has ended, the delivery was erased, its webhook disabled, or its account held.
        if (delivery.isAbandoned) handlers.abandon(delivery)
        else if (isInTime && handlers.mayStart(delivery)) handlers.start(delivery)
        else handlers.putBack(delivery)
      }
      committed.shift()
      report(group, ms)
    }
  }

  /** Sends what is committed at this moment, a part in each turn of the event loop: many receivers may answer at once. */
  async function flushInParts(): Promise<void> {
    const last = committed.at(-1)
    for (;;) {
      flush(isShared() ? MAX_SENT_WHILE_SHARED : MAX_SENT_AT_ONCE)
      if (!last || !committed.includes(last)) return
      await clock.yield()
      if (isAbandoned) return
    }
  }

  function report(group: CommittedGroup, ms: number): void {
    const { ended, results } = group
    group.ended = NO_SETTLEMENTS
    for (let index = 0; index < ended.length; index++) handlers.report(ended[index]!, results[index]!, ms)
  }

  /** Reports the ends of what is committed; its requests are sent in the next step of the loop. False: there are none. */
  function reportEnds(): boolean {
    const unreported = committed.filter(({ ended }) => ended.length > 0)
    if (unreported.length === 0) return false
    isTriggered = true
    const ms = now()
    for (const group of unreported) report(group, ms)
    return true
  }

  /** The deliveries of an acceptance are in the queue, or will not be. */
  function forget({ acceptance, uncommitted }: PendingAcceptance): void {
    queuedDeliveries -= acceptance.deliveries.length - uncommitted.length
  }

  async function run(): Promise<void> {
    /** The turn of the event loop in which the last commit began. */
    let turn: Promise<void> | undefined
    while (!isAbandoned) {
      const task = tasks.shift()
      if (task) {
        flush()
        await task()
        continue
      }
      if (!isTriggered) break
      isTriggered = false
      await (turn ?? clock.yield())
      turn = undefined
      const group = form()
      if (sizeOf(group) === 0 && group.finished.length === 0) {
        if (!reportEnds()) await flushInParts()
        continue
      }
      // What was accepted or ended meanwhile, and what the group made due, is in the next one.
      isTriggered = true
      endedMeanwhile = 0
      isCommitting = true
      const committing = commit(group).finally(() => {
        isCommitting = false
      })
      turn = clock.yield()
      await flushInParts()
      await committing
    }
    if (!isAbandoned) await flushInParts()
  }

  function begin(): void {
    if (isRunning || isAbandoned) return
    // The first step of a task may call this again, before `run` returns.
    isRunning = true
    running = run()
      .catch((thrown: unknown) => log.error({ reason: reasonOf(thrown) }, 'the delivery loop failed'))
      .then(() => {
        running = undefined
        isRunning = false
        if (isTriggered || tasks.length > 0) begin()
        else {
          stopWatching()
          handlers.onIdle()
        }
      })
  }

  function trigger(): void {
    isTriggered = true
    begin()
  }

  return {
    trigger,
    flush,
    accept(acceptance) {
      if (isStopped) return Promise.reject(closingError())
      return new Promise((resolve, reject) => {
        const { events, deliveries } = acceptance
        const pending: PendingAcceptance = {
          acceptance,
          accountId: lineOf(acceptance),
          size: events.length + deliveries.length,
          uncommitted: NO_DELIVERIES,
          requestedMs: clock.monotonic(),
          collisions: 0,
          resolve,
          reject,
          queue: undefined,
          previous: undefined,
          next: undefined,
        }
        const accountId = accountOf(acceptance)
        if (lastAccountId !== undefined && lastAccountId !== accountId) togetherMs = pending.requestedMs
        lastAccountId = accountId
        accepting.add(pending)
        enqueue(unanswered, pending)
        queuedDeliveries += deliveries.length
        if (!watching) void watch()
        pausing?.abort(IDLE)
        trigger()
      })
    },
    finish(attempt) {
      finishedAttempts.push(attempt)
      if (isCommitting) endedMeanwhile++
      trigger()
    },
    async settleNow(settlements) {
      const refusedBefore = refusedSettlements
      if (settlements.length > 0) await commit({ ...emptyGroup(), ended: settlements })
      if (hasLost) return 'lost'
      return refusedSettlements > refusedBefore ? 'refused' : 'settled'
    },
    exclusively(task) {
      return new Promise((resolve) => {
        tasks.push(() => task().then(resolve, resolve))
        begin()
      })
    },
    accepting,
    get queuedDeliveries() {
      return queuedDeliveries
    },
    partSize: (sinceMs) => (isShared() && clock.monotonic() - sinceMs < LONG_LIST_MS ? MIN_PART : MAX_PART),
    async idle() {
      while (running) await running
    },
    stop() {
      isStopped = true
      refuseAccepts(closingError())
    },
    abandon() {
      isAbandoned = true
      stopWatching()
      for (let pending = unanswered.first; pending; pending = unanswered.first) refuse(pending, unavailable())
      if (running) hasLost = true
    },
    get hasLost() {
      return hasLost
    },
  }
}

/** The line in which an acceptance waits: events of host transactions, which are relayed for all accounts at once, have their own. */
export const lineOf = (acceptance: Acceptance): string => (acceptance.inboxIds ? '' : accountOf(acceptance))

/** The account that an acceptance belongs to: that of its events. Those of one call have the same. */
function accountOf({ events, deliveries }: Acceptance): string {
  return events[0]?.accountId ?? deliveries[0]?.eventAccountId ?? ''
}

/**
 * Whether another node used the position of an event or a delivery. Ids are random, so a `Conflict` of an id means that; a node
 * without a lease has no node number, and its positions are not unique.
 */
function isCollision({ code, field }: HookswitchError): boolean {
  return code === 'Conflict' && field === 'id'
}

function emptyGroup(): PendingGroup {
  return { accepted: [], ended: [], starts: [], startKey: 0, finished: [], isRepeat: false }
}

/** Whether the group has several parts, so that a single part may cause an error. */
function canSplit({ accepted, ended, starts, finished }: PendingGroup): boolean {
  const others = (starts.length > 0 ? 1 : 0) + (finished.length > 0 ? 1 : 0)
  return accepted.length + ended.length + others > 1
}

function halvesOf<Entry>(entries: readonly Entry[]): readonly (readonly Entry[])[] {
  const half = Math.ceil(entries.length / 2)
  return [entries.slice(0, half), entries.slice(half)]
}

function sizeOf({ accepted, ended, starts }: PendingGroup): number {
  return accepted.length + ended.length + starts.length
}

/** An endpoint's health is written once per group, as the node knows it now. */
function withNewestHealth(ended: readonly DecidedSettlement[]): Group['ended'] {
  let seen: Set<string> | undefined
  const settlements = ended.map(({ settlement }) => settlement)
  for (let index = ended.length - 1; index >= 0; index--) {
    const settlement = settlements[index]!
    const { endpoint, webhookId } = settlement
    if (endpoint?.health === undefined) continue
    const { webhook } = ended[index]!.delivery.endpoint
    seen ??= new Set()
    const isLast = !seen.has(webhookId)
    seen.add(webhookId)
    const { health: _, ...others } = endpoint
    if (isLast && webhook.epoch === endpoint.epoch) {
      settlements[index] = { ...settlement, endpoint: { ...others, health: webhook.health ?? null } }
    } else if (endpoint.disable) settlements[index] = { ...settlement, endpoint: others }
    else if (!isLast) {
      const { endpoint: _unchanged, ...rest } = settlement
      settlements[index] = rest
    }
  }
  return settlements
}
