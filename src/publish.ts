import type { Core } from './core.js'
import { acceptEvents } from './delivery/accept.js'
import { stage } from './delivery/admit.js'
import type { AcceptedEvent } from './delivery/delivery-store.js'
import type { ChannelEvent } from './delivery/event.js'
import { type ErrorCode, errorCode, HookswitchError, invalidInput } from './errors.js'
import type { LabelOf, Metrics } from './metrics.js'
import type { SpanFacts, Tracing } from './ports.js'
import { readTraceparent } from './values/traceparent.js'

/** What became of a published event. */
export interface Published {
  /** The event's id: the same for every publish with the same idempotency key. */
  readonly eventId: string
  /** 1, 2, … within its call, in order of acceptance. */
  readonly sequence: number
  /** True: this idempotency key was accepted before; nothing new was written. */
  readonly duplicate: boolean
}

/** What is known of an event that was published in the host's own transaction: the rest comes after its commit. */
export interface Staged {
  /** The event's id, if it is the first with its idempotency key. */
  readonly eventId: string
}

export interface PublishOptions {
  /** As the field of the event; the field wins. */
  readonly idempotencyKey?: string
  /**
   * The host's open transaction, where the store `supports.transactions`: the handle given to `sqliteStore({ database })`,
   * a `pg` client between `BEGIN` and `COMMIT`. Committed: the event is delivered. Rolled back: it never was. Matching,
   * the sequence number and the idempotency key are decided after the commit; a listener of `event_refused` hears of
   * what could not be accepted then.
   */
  readonly tx?: unknown
  /**
   * The trace that the event belongs to (W3C Trace Context); its receivers get a `traceparent` of it. Default: with
   * the option `tracing` that of the publishing code, else none.
   */
  readonly traceparent?: string
}

export interface PublishDoors {
  /** The open instance; throws when there is none. */
  core(): Core
  readonly metrics: Pick<Metrics, 'count'>
  readonly tracing: Tracing | undefined
  readonly maxPending: number
}

/** Accepts one event of the host. */
export function publishOne(
  doors: PublishDoors,
  event: ChannelEvent,
  { idempotencyKey, tx, traceparent }: PublishOptions,
): Promise<Published | Staged> {
  let parent: string | undefined
  try {
    parent = checkedTraceparent(traceparent)
  } catch (thrown) {
    return Promise.reject(refused(doors, thrown, 1))
  }
  // A field that is there but undefined says nothing: with it, the option would be lost.
  const own = idempotencyKey === undefined || event?.idempotencyKey !== undefined
  const input = own ? event : { ...event, idempotencyKey }
  return tx === undefined ? publishAll(doors, [input], parent).then(only) : stageOne(doors, input, tx, parent)
}

const only = <Item>(items: readonly Item[]): Item => items[0]!

/** What is wrong with a caller's `traceparent` must not be lost in silence: the trace would end here. */
function checkedTraceparent(given: unknown): string | undefined {
  if (given === undefined) return undefined
  const read = readTraceparent(given)
  if (read !== undefined) return read
  const message = 'must be a traceparent of W3C Trace Context'
  throw invalidInput([{ path: 'traceparent', rule: 'wrong_format', message }])
}

/**
 * Writes one event in the host's transaction. Everything up to the write happens before this returns, so that with a
 * synchronous driver the event is written then.
 *
 * @param traceparent checked
 */
function stageOne(
  doors: PublishDoors,
  event: ChannelEvent,
  tx: unknown,
  traceparent: string | undefined,
): Promise<Staged> {
  try {
    const core = doors.core()
    const { inbox } = core.store
    if (!inbox) {
      throw new HookswitchError('Unsupported', 'this store takes no transaction of the host', { field: 'tx' })
    }
    const span = doors.tracing?.begin('publish', traceparent, FACTS)
    const entry = stage(core.accept, event, span?.traceparent ?? traceparent)
    const written = inbox.put(tx, entry)
    const end = () => {
      span?.end({ 'messaging.message.id': entry.id })
      return { eventId: entry.id }
    }
    if (!written) return Promise.resolve(end())
    return written.then(end, (thrown) => {
      span?.end({}, 'StoreUnavailable')
      throw refused(doors, thrown, 1)
    })
  } catch (thrown) {
    return Promise.reject(refused(doors, thrown, 1))
  }
}

/** What every span of this kind says from its beginning (OpenTelemetry's names for messaging). */
const FACTS: SpanFacts = Object.freeze({
  'messaging.system': 'hookswitch',
  'messaging.operation.name': 'publish',
  'messaging.operation.type': 'send',
})

/**
 * Accepts events, all or nothing, in a span of its own where there is tracing.
 *
 * @param parent the `traceparent` that they came with; checked
 */
export function publishAll(
  doors: PublishDoors,
  inputs: readonly unknown[],
  parent: string | undefined,
): Promise<readonly Published[]> {
  return doors.tracing ? traced(doors, doors.tracing, inputs, parent) : accept(doors, inputs, parent)
}

async function traced(
  doors: PublishDoors,
  tracing: Tracing,
  inputs: readonly unknown[],
  parent: string | undefined,
): Promise<readonly Published[]> {
  const span = tracing.begin('publish', parent, FACTS)
  try {
    const facts = factsOf(inputs)
    const published = await accept(doors, inputs, span.traceparent ?? parent)
    span.end(facts(published))
    return published
  } catch (thrown) {
    span.end(countOf(inputs), errorCode(thrown) ?? 'Internal')
    throw thrown
  }
}

/** What is said of accepted events: read before the first wait, told when they were found valid. */
function factsOf(inputs: readonly unknown[]): (published: readonly Published[]) => SpanFacts {
  const { hook, accountId, callId } = (inputs[0] ?? {}) as ChannelEvent
  return ([first]) => {
    if (inputs.length !== 1 || !first) return countOf(inputs)
    return {
      'messaging.destination.name': hook,
      'messaging.message.id': first.eventId,
      'hookswitch.account_id': accountId,
      'hookswitch.call_id': callId,
    }
  }
}

const countOf = ({ length }: readonly unknown[]): SpanFacts => ({ 'messaging.batch.message_count': length })

const REASONS: Readonly<Partial<Record<ErrorCode, LabelOf<'hookswitch_events_refused_total'>>>> = {
  InvalidInput: 'invalid',
  NotFound: 'invalid',
  Conflict: 'invalid',
  QueueFull: 'queue_full',
  StoreUnavailable: 'store',
  StoreCorrupt: 'store',
}

/** Counts refused events; the error as it was. */
export function refused({ metrics }: Pick<PublishDoors, 'metrics'>, thrown: unknown, count: number): unknown {
  const code = errorCode(thrown)
  metrics.count('hookswitch_events_refused_total', count, (code && REASONS[code]) ?? 'other')
  return thrown
}

/** Accepts events and counts them, then tells the host's listeners of the new ones. */
async function accept(
  doors: PublishDoors,
  inputs: readonly unknown[],
  traceparent: string | undefined,
): Promise<readonly Published[]> {
  try {
    const core = doors.core()
    // Copied before the first wait: afterwards the host may have changed its event.
    const heard = inputs.map((input) => copyIfHeard(core, input as ChannelEvent))
    const accepted = await acceptEvents(core.accept, inputs, doors.maxPending, traceparent)
    let fresh = 0
    const published = accepted.map(
      ({ id: eventId, sequence, duplicate }: AcceptedEvent, index): Published => {
        if (!duplicate) {
          fresh++
          const event = heard[index]
          if (event) announce(core, event, eventId, sequence)
        }
        return { eventId, sequence, duplicate }
      },
    )
    if (fresh > 0) doors.metrics.count('hookswitch_events_accepted_total', fresh, undefined)
    return published
  } catch (thrown) {
    throw refused(doors, thrown, inputs.length)
  }
}

/** The copy for listeners is made where there are any. */
function copyIfHeard({ events }: Core, event: ChannelEvent): ChannelEvent | undefined {
  return events.isHeard(event?.hook as 'event') || events.isHeard('event') ? { ...event } : undefined
}

export function announce(
  { events, clock }: Core,
  event: ChannelEvent,
  eventId: string,
  sequence: number,
): void {
  const hook = event.hook as 'event'
  const { timestampMs = clock.now() } = event
  const published = { ...event, timestampMs, eventId, sequence }
  events.emit(hook, published)
  events.emit('event', published)
}
