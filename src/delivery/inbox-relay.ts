/**
 * The inbox: stages events in the host's own transaction, and relays them after its commit. Staging checks
 * the event; relaying matches and accepts it, and deletes its inbox entry in the same transaction.
 */
import { type ErrorCode, errorCode, invalidInput, reasonOf } from '../errors.js'
import type { Clock, Log } from '../ports.js'
import { yieldingOf } from '../values/yielding.js'
import {
  type AcceptDeps,
  acceptPreparedEvents,
  type PrepareDeps,
  type PreparedEvent,
  prepareCheckedEvent,
  prepareEvent,
} from './accept.js'
import { createCoalescingTask } from './coalescing-task.js'
import type { DeliveryEvents } from './delivery-events.js'
import type { AcceptedEvent } from './delivery-store.js'
import type { CheckedEvent } from './event.js'
import type { InboxEntry, InboxStore } from './inbox-store.js'

interface InboxRelayDeps extends AcceptDeps {
  readonly inbox: Pick<InboxStore, 'staged'>
  readonly owner: string
  readonly log: Log
  readonly clock: Clock
  /** Called for each accepted event that is not a duplicate. */
  onAccepted(event: CheckedEvent, accepted: AcceptedEvent): void
  onRefused(event: DeliveryEvents['event_refused']): void
}

/** Entries per batch. */
const BATCH_SIZE = 100
/** Pause after the store failed, or while its queue is full, ms. */
const PAUSE_MS = 250

/**
 * Builds the inbox entry of an event. The event is checked now; it is matched and numbered when it is
 * relayed.
 *
 * @throws `InvalidInput` naming the field
 */
export function stageEvent(deps: PrepareDeps, input: unknown, traceparent: string | undefined): InboxEntry {
  const { event, id, hash } = prepareEvent(deps, input, undefined)
  const entry: { -readonly [Name in keyof InboxEntry]: InboxEntry[Name] } = {
    id,
    accountId: event.accountId,
    callId: event.callId,
    event: JSON.stringify({ event, hash }),
  }
  if (traceparent !== undefined) entry.traceparent = traceparent
  return entry
}

function readEntry({ id, event: json, traceparent }: InboxEntry): PreparedEvent {
  let staged: { readonly event: CheckedEvent; readonly hash?: string }
  try {
    staged = JSON.parse(json)
  } catch {
    throw invalidInput([{ path: '', rule: 'error', message: 'the inbox entry is not valid JSON' }])
  }
  return prepareCheckedEvent(staged.event, id, staged.hash, traceparent)
}

const FINAL_ERRORS: readonly ErrorCode[] = ['NotFound', 'Conflict', 'InvalidInput']

/** Whether an event can never be accepted, however often it is retried. */
function isFinal(thrown: unknown): boolean {
  const code = errorCode(thrown)
  return code !== undefined && FINAL_ERRORS.includes(code)
}

/**
 * Relays entries in one transaction: the first ones, where all make too many deliveries for one. Returns their number. Throws
 * what `acceptPreparedEvents` throws.
 */
async function relayEntries(deps: InboxRelayDeps, entries: readonly InboxEntry[]): Promise<number> {
  const prepared: PreparedEvent[] = []
  for (const entry of entries) {
    if (prepared.length > 0) await yieldingOf(deps.clock).whenDue(entry.accountId)
    prepared.push(readEntry(entry))
  }
  const ids = entries.map(({ id }) => id)
  const accepted = await acceptPreparedEvents(deps, prepared, { source: 'transaction', inboxIds: ids })
  accepted.forEach((result, index) => {
    if (!result.duplicate) deps.onAccepted(prepared[index]!.event, result)
  })
  return accepted.length
}

/** Deletes an entry that cannot be accepted. */
async function refuseEntry(deps: InboxRelayDeps, entry: InboxEntry, thrown: unknown): Promise<void> {
  const { id, accountId, callId } = entry
  await deps.accept({ events: [], deliveries: [], inboxIds: [id] })
  const reason = (thrown as Error).message
  const code = errorCode(thrown)!
  deps.log.error({ eventId: id, accountId, code, reason }, 'an event from a host transaction was refused')
  deps.onRefused({ eventId: id, accountId, ...(callId === undefined ? {} : { callId }), code, reason })
}

/** Whether another node has relayed one of the entries already: the batch must be read again. */
function wasRelayed(thrown: unknown): boolean {
  return errorCode(thrown) === 'Conflict' && (thrown as { field?: unknown }).field === 'inboxIds'
}

/** Relays everything that is staged, in batches; the entries of a refused batch one by one. */
async function relayAll(deps: InboxRelayDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const entries = await deps.inbox.staged(deps.owner, BATCH_SIZE)
    if (entries.length === 0) return
    try {
      for (let from = 0; from < entries.length && !signal.aborted; )
        from += await relayEntries(deps, entries.slice(from))
      continue
    } catch (thrown) {
      if (wasRelayed(thrown)) continue
      // A batch that is too large for the queue may fit one by one.
      if (!isFinal(thrown) && errorCode(thrown) !== 'QueueFull') throw thrown
    }
    for (const entry of entries) {
      try {
        await relayEntries(deps, [entry])
      } catch (thrown) {
        if (wasRelayed(thrown)) break
        if (!isFinal(thrown)) throw thrown
        await refuseEntry(deps, entry, thrown)
      }
    }
  }
}

export interface InboxRelay {
  /** Requests a pass over the inbox that begins after this call. One pass runs at a time. */
  trigger(): void
  /** Starts no further pass; resolves when the current one has ended. */
  stop(): Promise<void>
}

/** Relays staged events whenever it is triggered, retrying while the store fails. */
export function startInboxRelay(deps: InboxRelayDeps): InboxRelay {
  const { clock, log } = deps
  const stopping = new AbortController()
  const relaying = createCoalescingTask(async () => {
    while (!stopping.signal.aborted) {
      try {
        return await relayAll(deps, stopping.signal)
      } catch (thrown) {
        const reason = reasonOf(thrown)
        log.warn({ reason }, 'relaying events of host transactions failed, retrying')
        await clock.sleep(PAUSE_MS, stopping.signal)
      }
    }
  })
  return {
    trigger: relaying.trigger,
    stop() {
      stopping.abort()
      return relaying.idle()
    },
  }
}
