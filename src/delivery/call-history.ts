/** The history of a call, as far as an account's webhooks were told of it. Pure. */
import type { StoredDelivery } from './delivery-queries.js'

/** The history of a call. */
export interface CallHistory {
  /** Id of the leg of the request. */
  readonly callId: string
  /** The leg of the request, then the others. */
  readonly legs: readonly {
    /** Id of the leg. */
    readonly callId: string
    /** `inbound` or `outbound`. */
    readonly direction?: string
    /** Calling party, `user@realm`. */
    readonly from?: string
    /** Called party, `user@realm`. */
    readonly to?: string
    /** Number of its events in `CallHistory.events`. */
    readonly events: number
  }[]
  /** Oldest first. */
  readonly events: readonly {
    /** Id of the event. */
    readonly id: string
    /** Id of the account in which it happened. */
    readonly accountId: string
    /** Id of its leg. */
    readonly callId: string
    /** Kind of the event, as in the catalogue. */
    readonly hook: string
    /** Its number within the leg: 1, 2, … in order of acceptance. */
    readonly sequence: number
    /** When it happened: wall clock, Unix ms. */
    readonly timestampMs: number
    /** Its deliveries to webhooks of the account, oldest first; replays too. */
    readonly deliveries: readonly (StoredDelivery & {
      /** Name of the webhook. Absent: it is not stored any more. */
      readonly webhookName?: string
      /** HTTP status code of the last attempt. Absent: it had no response, or is not recorded. */
      readonly lastStatus?: number
    })[]
  }[]
  /** Events that no webhook of the account matched, or whose deliveries were pruned; at most 500. */
  readonly unwanted: readonly {
    /** Id of its leg. */
    readonly callId: string
    /** Its number within the leg. */
    readonly sequence: number
  }[]
  /** True: older events are left out. */
  readonly isTruncated: boolean
  /**
   * `all`: every event up to the newest is in `events`. `part`: some are left out or in `unwanted`. `none`: the legs are known,
   * and none of their events is stored for the account any more, or ever was.
   */
  readonly records: 'none' | 'part' | 'all'
}

export type CallEvent = CallHistory['events'][number]
export type CallLeg = CallHistory['legs'][number]
type UnwantedEvent = CallHistory['unwanted'][number]

/** Maximum number of events of a history, and of unwanted ones. */
const MAX_CALL_EVENTS = 500

/**
 * The events of these deliveries.
 *
 * @param isPartial there are older deliveries
 */
export function callEventsOf(
  deliveries: readonly StoredDelivery[],
  isPartial: boolean,
): Pick<CallHistory, 'events' | 'unwanted' | 'isTruncated' | 'records'> {
  const byEvent = new Map<string, StoredDelivery[]>()
  for (const delivery of deliveries) {
    // A test is no event of a call.
    if (delivery.sequence === 0) continue
    const ofEvent = byEvent.get(delivery.eventId)
    if (ofEvent) ofEvent.push(delivery)
    else byEvent.set(delivery.eventId, [delivery])
  }
  const all = [...byEvent.values()].map(toEvent).sort(byAcceptance)
  const events = all.slice(-MAX_CALL_EVENTS)
  const isTruncated = isPartial || events.length < all.length
  const unwanted = unwantedOf(events, isTruncated ? undefined : 1)
  const isPart = isTruncated || unwanted.length > 0
  return { events, unwanted, isTruncated, records: events.length === 0 ? 'none' : isPart ? 'part' : 'all' }
}

function toEvent(deliveries: StoredDelivery[]): CallEvent {
  const [{ eventId, eventAccountId, callId = '', hook, sequence, eventTimestampMs }] = deliveries as [
    StoredDelivery,
  ]
  return {
    id: eventId,
    accountId: eventAccountId,
    callId,
    hook,
    sequence,
    timestampMs: eventTimestampMs,
    deliveries: deliveries.sort((a, b) => a.position - b.position),
  }
}

/** In the order of acceptance: an event has the position of its first delivery. */
function byAcceptance(a: CallEvent, b: CallEvent): number {
  return a.deliveries[0]!.position - b.deliveries[0]!.position
}

/** @param first number of the first event of a leg; `undefined`: that of the first one that is given */
function unwantedOf(events: readonly CallEvent[], first: number | undefined): readonly UnwantedEvent[] {
  const unwanted: UnwantedEvent[] = []
  const next = new Map<string, number>()
  for (const { accountId, callId, sequence } of [...events].sort((a, b) => a.sequence - b.sequence)) {
    const key = `${accountId}/${callId}`
    const from = next.get(key) ?? first ?? sequence
    for (let gap = from; gap < sequence && unwanted.length < MAX_CALL_EVENTS; gap++)
      unwanted.push({ callId, sequence: gap })
    next.set(key, sequence + 1)
  }
  return unwanted
}
