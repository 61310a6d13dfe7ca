/** `hs.publish`: accepts events, in a trace span where tracing is on; counts them and notifies the host's listeners. */
import { acceptEvents, acceptSeparately, withIndex } from '../delivery/accept.js'
import { type BatchLimits, checkEventCount } from '../delivery/batch-limits.js'
import type { AcceptedEvent } from '../delivery/delivery-store.js'
import type { CheckedEvent } from '../delivery/event.js'
import { stageEvent } from '../delivery/inbox-relay.js'
import type { InboxEntry } from '../delivery/inbox-store.js'
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
  /** Absent. A refused event of a list has the error here, and no other field. */
  readonly error?: undefined
}

/** A refused event of a list. */
interface Refused {
  readonly eventId?: undefined
  readonly sequence?: undefined
  readonly error: HookswitchError
}

/** Result of `publish` with the option `tx`. The event is accepted after the host's commit. */
interface StagedEvent {
  /** The event's id, unless its idempotency key was used before. */
  readonly eventId: string
  readonly error?: undefined
}

/** Options of `publish`; all are optional. */
export interface PublishOptions {
  /**
   * Within 24 h, a publish with the same key is the same event. The event's own field `idempotencyKey` takes precedence.
   * Not of a list, whose events have keys of their own. Default: every publish is a new event.
   */
  readonly idempotencyKey?: string | undefined
  /**
   * Of a list. True: all events are accepted or none, and the error of the first that is refused names its place
   * (`events[3].hook`). Default false: each is accepted or refused for itself.
   */
  readonly atomic?: boolean | undefined
  /**
   * The host's open transaction, for stores with `supports.transactions`: the handle given to `sqliteStore({ database })`,
   * or a `pg` client between `BEGIN` and `COMMIT`. If it commits, the event is delivered; if it rolls back, the event is
   * never sent. Matching, sequence number and idempotency key are decided after the commit, for each event of a list; an event
   * that cannot be accepted then is reported as `event_refused`. Call `hs.wake()` after the commit. Default: none.
   */
  readonly tx?: unknown
  /**
   * Trace context of the event (W3C Trace Context); receivers get a `traceparent` of the same trace. Default: with the
   * option `tracing` the active context of the calling code, else none.
   */
  readonly traceparent?: string | undefined
  /**
   * What publishes, 1 to 255 characters: `hookswitch why` and the page show it. Sources of switches name themselves. Not stored with
   * the option `tx`. Default: `application`.
   */
  readonly source?: string | undefined
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

const OPTION_NAMES: readonly (keyof PublishOptions)[] = [
  'idempotencyKey',
  'tx',
  'traceparent',
  'atomic',
  'source',
]

/** Publishes one event of the host, or a list. */
export function publish(
  deps: PublishDeps,
  input: unknown,
  options: PublishOptions,
): Promise<Published | StagedEvent | readonly (Published | StagedEvent | Refused)[]> {
  const { idempotencyKey, atomic, tx, source } = options
  const isList = Array.isArray(input)
  // A copy, since the host may change its list while it is being stored.
  const inputs: readonly unknown[] = isList ? [...input] : [withKey(input, idempotencyKey)]
  let parent: string | undefined
  try {
    checkOptionNames('publish', options, OPTION_NAMES)
    parent = checkTraceparent(options.traceparent)
    checkSource(source)
    if (isList) checkListOptions(options)
  } catch (thrown) {
    return Promise.reject(countRefused(deps, thrown, inputs.length))
  }
  if (!isList)
    return tx === undefined
      ? publishEvents(deps, inputs, { parent, source }).then(first)
      : stage(deps, inputs[0], tx, parent)
  if (tx !== undefined) return stageList(deps, inputs, tx, parent, atomic === true)
  return atomic === true
    ? publishEvents(deps, inputs, { parent, source, isList: true })
    : publishSeparately(deps, inputs, parent, source)
}

const first = <Item>(items: readonly Item[]): Item => items[0]!

/** The option applies unless the field has a value; a field that is present but undefined must not hide it. */
function withKey(input: unknown, idempotencyKey: string | undefined): unknown {
  const event = input as Partial<CheckedEvent> | null | undefined
  return idempotencyKey === undefined || event?.idempotencyKey !== undefined
    ? event
    : { ...event, idempotencyKey }
}

/** @throws `InvalidInput` naming the option */
function checkListOptions({ idempotencyKey, atomic }: PublishOptions): void {
  const refuse = (path: keyof PublishOptions, message: string) =>
    invalidInput([{ path, rule: 'error', message }])
  if (idempotencyKey !== undefined)
    throw refuse(
      'idempotencyKey',
      'is an option of one event: give each event of a list its own idempotencyKey',
    )
  if (atomic !== undefined && typeof atomic !== 'boolean') throw refuse('atomic', 'must be true or false')
}

/** @throws `InvalidInput`: ignoring an invalid `traceparent` would silently end the caller's trace */
function checkTraceparent(traceparent: unknown): string | undefined {
  if (traceparent === undefined) return undefined
  const parsed = parseTraceparent(traceparent)
  if (parsed !== undefined) return parsed
  const message = 'must be a traceparent of W3C Trace Context'
  throw invalidInput([{ path: 'traceparent', rule: 'wrong_format', message }])
}

const MAX_SOURCE = 255

/** @throws `InvalidInput` */
function checkSource(source: unknown): void {
  if (source === undefined) return
  if (
    typeof source === 'string' &&
    source !== '' &&
    source.length <= MAX_SOURCE &&
    source.isWellFormed() &&
    !source.includes('\0')
  )
    return
  throw invalidInput([
    { path: 'source', rule: 'error', message: `must be a text of 1 to ${MAX_SOURCE} characters` },
  ])
}

/** Writes one event into the inbox, in the host's transaction. @param parent already checked */
function stage(
  deps: PublishDeps,
  input: unknown,
  tx: unknown,
  parent: string | undefined,
): Promise<StagedEvent> {
  const refuse = (thrown: unknown) => {
    throw thrown
  }
  return stageEvents(deps, [input], tx, parent, refuse).then(first) as Promise<StagedEvent>
}

/** As `stage`, for a list. */
function stageList(
  deps: PublishDeps,
  inputs: readonly unknown[],
  tx: unknown,
  parent: string | undefined,
  isAtomic: boolean,
): Promise<readonly (StagedEvent | Refused)[]> {
  return stageEvents(deps, inputs, tx, parent, (thrown, index) => {
    if (isAtomic) throw withIndex(thrown, index)
    return refusedOf(deps, thrown)
  })
}

/**
 * Writes events into the inbox. Everything up to the writes happens synchronously, so that with a synchronous driver the
 * events are written when this returns. Rejects where the database refuses a row: then the host's transaction has failed.
 *
 * @param onRefused returns the result of an event that is refused; if it throws, none is written
 */
function stageEvents(
  deps: PublishDeps,
  inputs: readonly unknown[],
  tx: unknown,
  parent: string | undefined,
  onRefused: (thrown: unknown, index: number) => Refused,
): Promise<readonly (StagedEvent | Refused)[]> {
  const span = deps.tracing?.begin('publish', parent, PUBLISH_ATTRIBUTES)
  let left = inputs.length
  const fail = (thrown: unknown, code: ErrorCode) => {
    span?.end(countAttributes(inputs), code)
    return countRefused(deps, thrown, left)
  }
  try {
    const core = deps.core()
    const { inbox } = core.store
    if (!inbox) {
      throw new HookswitchError('Unsupported', 'this store does not support transactions of the host', {
        field: 'tx',
      })
    }
    checkEventCount(inputs.length, deps.limits)
    const staged = inputs.map((input, index) => {
      try {
        return stageEvent(core.accept, input, span?.traceparent ?? parent)
      } catch (thrown) {
        const refused = onRefused(thrown, index)
        left--
        return refused
      }
    })
    const entries = staged.filter((entry): entry is InboxEntry => !('error' in entry))
    const writing = entries.length > 0 ? inbox.put(tx, entries) : undefined
    const end = () => {
      const results = staged.map((entry) => ('error' in entry ? entry : { eventId: entry.id }))
      const [only] = results
      span?.end(
        inputs.length === 1 && only?.eventId
          ? { 'messaging.message.id': only.eventId }
          : countAttributes(inputs),
      )
      return results
    }
    if (!writing) return Promise.resolve(end())
    return writing.then(end, (thrown) => {
      throw fail(thrown, 'StoreUnavailable')
    })
  } catch (thrown) {
    return Promise.reject(fail(thrown, errorCode(thrown) ?? 'Internal'))
  }
}

/** Attributes of every `publish` span (OpenTelemetry semantic conventions for messaging). */
const PUBLISH_ATTRIBUTES: SpanAttributes = Object.freeze({
  'messaging.system': 'hookswitch',
  'messaging.operation.name': 'publish',
  'messaging.operation.type': 'send',
})

interface PublishEventsOptions {
  /** `traceparent` of the publisher, already checked. */
  readonly parent?: string | undefined
  /** `PublishOptions.source`, already checked. */
  readonly source?: string | undefined
  /** Whether errors name the place of the event. Default false. */
  readonly isList?: boolean
  /** Whether a long list is accepted in parts. Default: all or none. */
  readonly inParts?: boolean
}

/** Accepts events, counts them and notifies the host's listeners of the new ones. */
export async function publishEvents(
  deps: PublishDeps,
  inputs: readonly unknown[],
  { parent, source, isList = false, inParts = false }: PublishEventsOptions,
): Promise<readonly Published[]> {
  const span = deps.tracing?.begin('publish', parent, PUBLISH_ATTRIBUTES)
  const published: Published[] = []
  try {
    const core = deps.core()
    // Reads the host's events before the first await, because the host may change them afterwards.
    const attributesOf = span && spanAttributes(inputs)
    let checked: readonly CheckedEvent[] = []
    await acceptEvents(core.accept, inputs, {
      traceparent: span?.traceparent ?? parent,
      source,
      isList,
      inParts,
      onChecked(events) {
        checked = events
      },
      onAccepted(accepted, from) {
        const part = accepted.map((event, index) => announce(core, checked[from + index]!, event))
        countAccepted(deps, part)
        published.push(...part)
      },
    })
    if (attributesOf) span.end(attributesOf(published))
    return published
  } catch (thrown) {
    span?.end(countAttributes(inputs), errorCode(thrown) ?? 'Internal')
    throw countRefused(deps, thrown, inputs.length - published.length)
  }
}

/** As `publishEvents`, but each event is accepted or refused for itself. Rejects where all of them are refused as a list. */
async function publishSeparately(
  deps: PublishDeps,
  inputs: readonly unknown[],
  parent: string | undefined,
  source: string | undefined,
): Promise<readonly (Published | Refused)[]> {
  const span = deps.tracing?.begin('publish', parent, PUBLISH_ATTRIBUTES)
  try {
    const core = deps.core()
    let checked: readonly (CheckedEvent | undefined)[] = []
    const onChecked = (events: readonly (CheckedEvent | undefined)[]) => {
      checked = events
    }
    const context = span?.traceparent ?? parent
    const settled = await acceptSeparately(core.accept, inputs, context, onChecked, source)
    const results = settled.map((result, index) =>
      result.status === 'rejected'
        ? refusedOf(deps, result.reason)
        : announce(core, checked[index]!, result.value),
    )
    countAccepted(deps, results)
    const error = results.every(({ error }) => error !== undefined) ? results[0]?.error : undefined
    span?.end(countAttributes(inputs), error?.code)
    return results
  } catch (thrown) {
    span?.end(countAttributes(inputs), errorCode(thrown) ?? 'Internal')
    throw countRefused(deps, thrown, inputs.length)
  }
}

/** Notifies listeners of an accepted event, unless it is a duplicate. */
function announce(
  core: Core,
  event: CheckedEvent,
  { id: eventId, sequence, duplicate }: AcceptedEvent,
): Published {
  if (!duplicate) notifyListeners(core, event, eventId, sequence)
  return { eventId, sequence, duplicate }
}

function countAccepted({ metrics }: PublishDeps, results: readonly (Published | Refused)[]): void {
  const count = results.filter((result) => result.error === undefined && !result.duplicate).length
  if (count > 0) metrics.count('hookswitch_events_accepted_total', count, undefined)
}

/** Counts a refused event of a list and returns its result. */
function refusedOf(deps: PublishDeps, thrown: unknown): Refused {
  countRefused(deps, thrown, 1)
  if (errorCode(thrown) !== undefined) return { error: thrown as HookswitchError }
  return { error: new HookswitchError('Internal', 'the event could not be accepted', { cause: thrown }) }
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
  const { hook, accountId, callId } = (inputs[0] ?? {}) as CheckedEvent
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
  Closing: 'closing',
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
