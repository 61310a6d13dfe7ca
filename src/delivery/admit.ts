import { type ErrorCode, errorCode, invalidInput } from '../errors.js'
import type { Clock, Log } from '../ports.js'
import { type AcceptDoors, acceptDrafts, type Draft, draft, drafted } from './accept.js'
import type { AcceptedEvent } from './delivery-store.js'
import type { CheckedEvent } from './event.js'
import type { InboxEntry, InboxStore } from './inbox-store.js'
import { oneAtATime } from './one-at-a-time.js'

/** What is told of an event that came in the host's transaction and cannot be delivered. */
export interface RefusedEvent {
  readonly eventId: string
  readonly accountId: string
  readonly callId?: string
  /** `NotFound`: the account is gone. `Conflict`: its idempotency key was used for another event. */
  readonly code: ErrorCode
  readonly reason: string
}

export interface AdmitDoors extends AcceptDoors {
  readonly inbox: Pick<InboxStore, 'staged'>
  readonly owner: string
  readonly log: Log
  readonly clock: Clock
  readonly maxPending: number
  /** An event was accepted. */
  admitted(event: CheckedEvent, accepted: AcceptedEvent): void
  refused(event: RefusedEvent): void
}

/** How many are admitted at a time. */
const BATCH = 100
/** Pause after the store failed, or while its queue is full. */
const REST_MS = 250

/**
 * The entry of an event in the host's transaction: checked now, matched and numbered when it is admitted.
 *
 * @throws `InvalidInput` naming the field
 */
export function stage(
  doors: Pick<AcceptDoors, 'clock' | 'knowsHook' | 'newId'>,
  input: unknown,
  traceparent: string | undefined,
): InboxEntry {
  const { event, id, hash } = draft(doors, input, undefined)
  const entry: { -readonly [Name in keyof InboxEntry]: InboxEntry[Name] } = {
    id,
    accountId: event.accountId,
    callId: event.callId,
    event: JSON.stringify({ event, hash }),
  }
  if (traceparent !== undefined) entry.traceparent = traceparent
  return entry
}

/** The draft that was staged. */
function draftOf({ id, event: staged, traceparent }: InboxEntry): Draft {
  let read: { readonly event: CheckedEvent; readonly hash?: string }
  try {
    read = JSON.parse(staged)
  } catch {
    throw invalidInput([{ path: '', rule: 'error', message: 'what was staged is not JSON' }])
  }
  return drafted(read.event, id, read.hash, traceparent)
}

const FINAL: readonly ErrorCode[] = ['NotFound', 'Conflict', 'InvalidInput']

/** Whether an event can never be admitted, however often it is tried. */
function isFinal(thrown: unknown): boolean {
  const code = errorCode(thrown)
  // More deliveries than may ever be pending; a queue that is full now has room later.
  if (code === 'QueueFull') return (thrown as { field?: unknown }).field === 'maxPending'
  return code !== undefined && FINAL.includes(code)
}

/** Admits entries as one acceptance. Throws what that throws. */
async function admit(doors: AdmitDoors, entries: readonly InboxEntry[]): Promise<void> {
  const drafts = entries.map(draftOf)
  const ids = entries.map(({ id }) => id)
  const accepted = await acceptDrafts(doors, drafts, doors.maxPending, ids)
  accepted.forEach((one, index) => {
    if (!one.duplicate) doors.admitted(drafts[index]!.event, one)
  })
}

/** Takes an entry out that cannot be admitted. */
async function refuse(doors: AdmitDoors, entry: InboxEntry, thrown: unknown): Promise<void> {
  const { id, accountId, callId } = entry
  await doors.deliveries.accept({ events: [], deliveries: [], maxPending: 0, admits: [id] }, doors.storeNow())
  const reason = (thrown as Error).message
  const code = errorCode(thrown)!
  doors.log.error({ eventId: id, accountId, code, reason }, 'an event of a host transaction was refused')
  doors.refused({ eventId: id, accountId, ...(callId === undefined ? {} : { callId }), code, reason })
}

/** Another node was first: what is left is read anew. */
function wasTaken(thrown: unknown): boolean {
  return errorCode(thrown) === 'Conflict' && (thrown as { field?: unknown }).field === 'admits'
}

/** Admits what is staged, a batch at a time, one by one where a batch is refused. */
async function admitAll(doors: AdmitDoors, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const entries = await doors.inbox.staged(doors.owner, BATCH)
    if (entries.length === 0) return
    try {
      await admit(doors, entries)
      continue
    } catch (thrown) {
      if (wasTaken(thrown)) continue
      // Too many at once may fit one after the other.
      if (!isFinal(thrown) && errorCode(thrown) !== 'QueueFull') throw thrown
    }
    for (const entry of entries) {
      try {
        await admit(doors, [entry])
      } catch (thrown) {
        if (wasTaken(thrown)) break
        if (!isFinal(thrown)) throw thrown
        await refuse(doors, entry, thrown)
      }
    }
  }
}

/** Looks for events that came in the host's transactions. */
export interface Admitting {
  /** Looks once more, after a look under way has ended. */
  look(): void
  /** Resolves when the look under way has ended; none begins after. */
  stop(): Promise<void>
}

/** Admits events of the host's transactions whenever there may be some, until the store lets it. */
export function keepAdmitting(doors: AdmitDoors): Admitting {
  const { clock, log } = doors
  const stopping = new AbortController()
  const looking = oneAtATime(async () => {
    while (!stopping.signal.aborted) {
      try {
        return await admitAll(doors, stopping.signal)
      } catch (thrown) {
        const reason = thrown instanceof Error ? thrown.message : 'unknown'
        log.warn({ reason }, 'admitting events of host transactions failed, trying again')
        await clock.sleep(REST_MS, stopping.signal)
      }
    }
  })
  return {
    look: looking.soon,
    stop() {
      stopping.abort()
      return looking.rest()
    },
  }
}
