/** `hs.publish`: accepts events, in a trace span where tracing is on; counts them and notifies the host's listeners. */
import { acceptEvents } from '../delivery/accept.js'
import { type BatchLimits, checkEventCount } from '../delivery/batch-limits.js'
import type { AcceptedEvent } from '../delivery/delivery-store.js'
import type { ChannelEvent, CheckedEvent } from '../delivery/event.js'
import { stageEvent } from '../delivery/inbox-relay.js'
import { checkOptionNames, type ErrorCode, errorCode, HookswitchError, invalidInput } from '../errors.js'
import type { LabelOf, Metrics } from '../metrics.js'
import type { SpanAttributes, Tracing } from '../ports.js'
import { parseTraceparent } from '../values/traceparent.js'
import type { Core } from './core.js'

/** Result of `publish`. */
export interface Published {
  /** The event's id: the same for every publish with the same idempotency key. */
  readonly eventId: string
  /** 1, 2, … within its call, in order of acceptance. */
  readonly sequence: number
  /** True: this idempotency key was used before; nothing new was written. */
  readonly duplicate: boolean
}

/** Result of `publish` with the option `tx`. The event is accepted after the host's commit. */
interface StagedEvent {
  /** The event's id, unless its idempotency key was used before. */
  readonly eventId: string
}

/** Options of `publish`; all are optional. */
export interface PublishOptions {
  /**
   * Within 24 h, a publish with the same key is the same event. The event's own field `idempotencyKey` takes precedence.
   * Default: every publish is a new event.
   */
  readonly idempotencyKey?: string
  /**
   * The host's open transaction, for stores with `supports.transactions`: the handle given to `sqliteStore({ database })`,
   * or a `pg` client between `BEGIN` and `COMMIT`. If it commits, the event is delivered; if it rolls back, the event is
   * never sent. Matching, sequence number and idempotency key are decided after the commit; an event that cannot be
   * accepted then is reported as `event_refused`. Call `hs.wake()` after the commit. Default: none.
   */
  readonly tx?: unknown
  /**
   * Trace context of the event (W3C Trace Context); receivers get a `traceparent` of the same trace. Default: with the
   * option `tracing` the active context of the calling code, else none.
   */
  readonly traceparent?: string
}

/** Dependencies of publishing. */
export interface PublishDeps {
  /** The running instance; throws while there is none. */
  core(): Core
  readonly metrics: Pick<Metrics, 'count'>
  readonly tracing: Tracing | undefined
  /** Read at each call. */
  readonly limits: BatchLimits
}

const OPTION_NAMES: readonly (keyof PublishOptions)[] = ['idempotencyKey', 'tx', 'traceparent']

/** Publishes one event of the host. */
export function publish(
  deps: PublishDeps,
  event: ChannelEvent,
  options: PublishOptions,
): Promise<Published | StagedEvent> {
  const { idempotencyKey, tx, traceparent } = options
  let parent: string | undefined
  try {
    checkOptionNames('publish', options, OPTION_NAMES)
    parent = checkTraceparent(traceparent)
  } catch (thrown) {
    return Promise.reject(countRefused(deps, thrown, 1))
  }
  // The option applies unless the field has a value; a field that is present but undefined must not hide it.
  const isComplete = idempotencyKey === undefined || event?.idempotencyKey !== undefined
  const input = isComplete ? event : { ...event, idempotencyKey }
  return tx === undefined ? publishEvents(deps, [input], parent).then(first) : stage(deps, input, tx, parent)
}

const first = <Item>(items: readonly Item[]): Item => items[0]!

/** @throws `InvalidInput`: ignoring an invalid `traceparent` would silently end the caller's trace */
function checkTraceparent(traceparent: unknown): string | undefined {
  if (traceparent === undefined) return undefined
  const parsed = parseTraceparent(traceparent)
  if (parsed !== undefined) return parsed
  const message = 'must be a traceparent of W3C Trace Context'
  throw invalidInput([{ path: 'traceparent', rule: 'wrong_format', message }])
}

/**
 * Writes one event into the inbox, in the host's transaction. Everything up to the write happens synchronously, so that
 * with a synchronous driver the event is written when this returns.
 *
 * @param traceparent already checked
 */
function stage(
  deps: PublishDeps,
  event: ChannelEvent,
  tx: unknown,
  traceparent: string | undefined,
): Promise<StagedEvent> {
  try {
    const core = deps.core()
    const { inbox } = core.store
    if (!inbox) {
      throw new HookswitchError('Unsupported', 'this store does not support transactions of the host', {
        field: 'tx',
      })
    }
    const span = deps.tracing?.begin('publish', traceparent, PUBLISH_ATTRIBUTES)
    const entry = stageEvent(core.accept, event, span?.traceparent ?? traceparent)
    const written = inbox.put(tx, entry)
    const end = () => {
      span?.end({ 'messaging.message.id': entry.id })
      return { eventId: entry.id }
    }
    if (!written) return Promise.resolve(end())
    return written.then(end, (thrown) => {
      span?.end({}, 'StoreUnavailable')
      throw countRefused(deps, thrown, 1)
    })
  } catch (thrown) {
    return Promise.reject(countRefused(deps, thrown, 1))
  }
}

/** Attributes of every `publish` span (OpenTelemetry semantic conventions for messaging). */
const PUBLISH_ATTRIBUTES: SpanAttributes = Object.freeze({
  'messaging.system': 'hookswitch',
  'messaging.operation.name': 'publish',
  'messaging.operation.type': 'send',
})

/**
 * Accepts events, all or none, counts them and notifies the host's listeners of the new ones.
 *
 * @param parent `traceparent` of the publisher, already checked
 */
export async function publishEvents(
  deps: PublishDeps,
  inputs: readonly unknown[],
  parent: string | undefined,
): Promise<readonly Published[]> {
  const span = deps.tracing?.begin('publish', parent, PUBLISH_ATTRIBUTES)
  try {
    const core = deps.core()
    // Reads the host's events before the first await, because the host may change them afterwards.
    const attributesOf = span && spanAttributes(inputs)
    let checked: readonly CheckedEvent[] = []
    const accepted = await acceptEvents(core.accept, inputs, span?.traceparent ?? parent, (events) => {
      checked = events
    })
    let newEvents = 0
    const published = accepted.map(
      ({ id: eventId, sequence, duplicate }: AcceptedEvent, index): Published => {
        if (!duplicate) {
          newEvents++
          notifyListeners(core, checked[index]!, eventId, sequence)
        }
        return { eventId, sequence, duplicate }
      },
    )
    if (newEvents > 0) deps.metrics.count('hookswitch_events_accepted_total', newEvents, undefined)
    if (attributesOf) span.end(attributesOf(published))
    return published
  } catch (thrown) {
    span?.end(countAttributes(inputs), errorCode(thrown) ?? 'Internal')
    throw countRefused(deps, thrown, inputs.length)
  }
}

/** Refuses a list of events by its length, before it is parsed. @throws `TooLarge` */
export function refuseLongList(deps: PublishDeps, count: number): void {
  try {
    checkEventCount(count, deps.limits)
  } catch (thrown) {
    throw countRefused(deps, thrown, count)
  }
}

/** Span attributes of accepted events. Reads the inputs at once; the result completes them with the assigned ids. */
function spanAttributes(inputs: readonly unknown[]): (published: readonly Published[]) => SpanAttributes {
  const { hook, accountId, callId } = (inputs[0] ?? {}) as ChannelEvent
  return ([only]) => {
    if (inputs.length !== 1 || !only) return countAttributes(inputs)
    return {
      'messaging.destination.name': hook,
      'messaging.message.id': only.eventId,
      'hookswitch.account_id': accountId,
      'hookswitch.call_id': callId,
    }
  }
}

const countAttributes = ({ length }: readonly unknown[]): SpanAttributes => ({
  'messaging.batch.message_count': length,
})

const REASONS: Readonly<Partial<Record<ErrorCode, LabelOf<'hookswitch_events_refused_total'>>>> = {
  InvalidInput: 'invalid',
  TooLarge: 'invalid',
  NotFound: 'invalid',
  Conflict: 'invalid',
  QueueFull: 'queue_full',
  StoreUnavailable: 'store',
  StoreCorrupt: 'store',
}

/** Counts refused events and returns the error unchanged. */
export function countRefused(
  { metrics }: Pick<PublishDeps, 'metrics'>,
  thrown: unknown,
  count: number,
): unknown {
  const code = errorCode(thrown)
  metrics.count('hookswitch_events_refused_total', count, (code && REASONS[code]) ?? 'other')
  return thrown
}

/** Passes an accepted event to the streams, and emits it under its hook's id and as `event`, if somebody listens. */
export function notifyListeners(
  { events, exchange }: Core,
  event: CheckedEvent,
  eventId: string,
  sequence: number,
): void {
  exchange.accepted(event, eventId, sequence)
  const hook = event.hook as 'event'
  if (!events.hasListeners(hook) && !events.hasListeners('event')) return
  const published = { ...event, eventId, sequence }
  events.emit(hook, published)
  events.emit('event', published)
}
