/**
 * Accepts events: checks them, matches them with webhooks, and commits them with one delivery per matching
 * webhook.
 */
import type { Account } from '../accounts/account.js'
import type { Directory } from '../accounts/directory.js'
import { closingError, errorCode, HookswitchError, invalidInput, notFound } from '../errors.js'
import type { Metrics } from '../metrics.js'
import type { Clock } from '../ports.js'
import { yieldingOf } from '../values/yielding.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { WebhookStore } from '../webhooks/webhook-store.js'
import {
  type BatchLimits,
  checkEventCount,
  maxBodyCharacters,
  tooLargeBodies,
  tooManyDeliveries,
} from './batch-limits.js'
import { createBodyVariants, encodingOf } from './body-variants.js'
import type { CallIndex } from './call-index.js'
import { MIN_PART } from './commit-loop.js'
import { firstDeliveryId } from './delivery-ids.js'
import type { Acceptance, AcceptedEvent, BodyTemplate, NewDelivery, NewEvent } from './delivery-store.js'
import { type CheckedEvent, type CustomKinds, checkEvent, checkPayloadSize, hashEventBody } from './event.js'
import { matches, type Payload } from './match.js'
import { payloadFields } from './payload.js'

export interface AcceptDeps {
  readonly clock: Clock
  readonly directory: Pick<Directory, 'lineage'>
  readonly webhooks: Pick<WebhookStore, 'candidates'>
  /**
   * Commits events with their deliveries.
   *
   * @param isContinued they continue a list whose beginning is accepted, and wait instead of being refused with `QueueFull`
   */
  accept(acceptance: Acceptance, isContinued?: boolean): Promise<readonly AcceptedEvent[]>
  /** Events and deliveries of a long list that are to be accepted at once. `sinceMs`: when its first part was, monotonic. */
  partSize(sinceMs: number): number
  newId(): string
  /** Whether a kind of event is in the catalogue. */
  isKnownHook(hook: string): boolean
  /** Ids of the catalogue, for error messages. Default: none. */
  readonly knownHooks?: readonly string[]
  /** The kinds that the host registers. Default: none. */
  readonly customKinds?: CustomKinds
  /** Store time, ms. */
  storeNow(): number
  /** Read at each call. */
  readonly limits: BatchLimits
  /** Whether the service is closing, which does not wait for what is read to match events. Default: it is not. */
  isClosing?(): boolean
  readonly metrics?: Pick<Metrics, 'count'>
  /** Notes each event that was accepted and is no duplicate. Default: nothing is noted. */
  readonly callIndex?: Pick<CallIndex, 'note'>
}

/** The part of the dependencies that preparing an event needs. */
export type PrepareDeps = Pick<AcceptDeps, 'clock' | 'isKnownHook' | 'knownHooks' | 'customKinds' | 'newId'>

/** The source of events of the host that names none. */
const DEFAULT_SOURCE = 'application'

/** How long an idempotency key is stored: 24 h, in milliseconds. @internal */
export const IDEMPOTENCY_WINDOW_MS = 86_400_000

/** The lane of a delivery: one per delivery for `ordering: 'none'`, otherwise one per call. */
function laneOf(event: CheckedEvent, webhook: Webhook, deliveryId: string): string {
  return webhook.settings.ordering === 'none' ? `-/${deliveryId}` : `${event.accountId}/${event.callId}`
}

/** A delivery of an event to a webhook, with everything that stays the same on every attempt. */
export function buildDelivery(
  id: string,
  event: CheckedEvent,
  eventId: string,
  webhook: Webhook,
  variant: number,
  lane: string,
): NewDelivery {
  return {
    id,
    accountId: webhook.accountId,
    webhookId: webhook.id,
    eventId,
    eventAccountId: event.accountId,
    callId: event.callId,
    hook: event.hook,
    eventTimestampMs: event.timestampMs,
    variant,
    encoding: encodingOf(webhook.settings),
    httpVerb: webhook.settings.httpVerb,
    lane,
    epoch: webhook.epoch,
    // A field that is added later would be an array of its own.
    position: undefined,
  }
}

/** A checked event, independent of the host's object. */
export interface PreparedEvent {
  readonly event: CheckedEvent
  readonly id: string
  /** The payload that is sent, without the custom data of a webhook and the sequence number. */
  readonly payload: Payload
  /** The payload as JSON. */
  readonly json: string
  /** Hash of the host's event; present iff it has an idempotency key. */
  readonly hash: string | undefined
  /** W3C Trace Context of the publisher. */
  readonly traceparent: string | undefined
}

/**
 * Checks one event of the host. The host may change its object later, so all reads of it are synchronous and
 * in this function.
 *
 * @throws `InvalidInput` naming the field
 */
export function prepareEvent(
  { clock, isKnownHook, knownHooks, customKinds, newId }: PrepareDeps,
  input: unknown,
  traceparent: string | undefined,
): PreparedEvent {
  const event = checkEvent(input, clock.now(), isKnownHook, knownHooks, customKinds)
  const hash = event.idempotencyKey === undefined ? undefined : hashEventBody(input as CheckedEvent)
  return prepareCheckedEvent(event, newId(), hash, traceparent)
}

/** @throws `InvalidInput` for an event that is too large */
export function prepareCheckedEvent(
  event: CheckedEvent,
  id: string,
  hash: string | undefined,
  traceparent: string | undefined,
): PreparedEvent {
  const payload = payloadFields(event, id)
  const json = JSON.stringify(payload)
  // Only the event counts: custom data of a webhook has its own limit and must not make the event too large
  // for others.
  checkPayloadSize(json)
  return { event, id, payload, json, hash, traceparent }
}

/** Steps between two checks whether the work has taken too long: a webhook that is examined, a delivery that is built. */
const STEPS_PER_CHECK = 256
/** Characters of a body that cost as much as one step. */
const CHARACTERS_PER_STEP = 64
/** Events that are prepared between two checks. */
const EVENTS_PER_CHECK = 16
/** Characters of different bodies above which nothing is added to a part of a list. */
const CHARACTERS_PER_PART = 1_048_576

function buildEvent(
  { event, id, hash, traceparent }: PreparedEvent,
  bodies: readonly BodyTemplate[],
  now: number,
): NewEvent {
  const { accountId, callId, hook, timestampMs, idempotencyKey: key } = event
  const built: { -readonly [Name in keyof NewEvent]: NewEvent[Name] } = {
    id,
    accountId,
    callId,
    hook,
    timestampMs,
    numbered: true,
    bodies,
    position: undefined,
  }
  const otherLegCallId = linkedCallId(event)
  if (otherLegCallId !== undefined) built.otherLegCallId = otherLegCallId
  if (traceparent !== undefined) built.traceparent = traceparent
  if (key !== undefined && hash !== undefined) {
    built.idempotency = { key, bodyHash: hash, untilMs: now + IDEMPOTENCY_WINDOW_MS }
  }
  return built
}

/**
 * The call that an event becomes a leg of, and is found by: the first event of a leg links it to its whole call, later ones to
 * the leg at the other end.
 */
function linkedCallId({ hook, callId, callGroupId, otherLegCallId }: CheckedEvent): string | undefined {
  if (callGroupId === undefined || callGroupId === callId) return otherLegCallId
  return hook === 'channel_create' ? callGroupId : (otherLegCallId ?? callGroupId)
}

/** Called with the error of the event at `index` of a list. One that throws refuses the whole list. */
type OnRefused = (thrown: unknown, index: number) => void

const refuseAll: OnRefused = (thrown) => {
  throw thrown
}

interface AcceptEventsOptions extends Pick<AcceptOptions, 'inParts' | 'onAccepted'> {
  /** W3C Trace Context of the publisher; it is sent to the receivers. */
  readonly traceparent?: string | undefined
  /** Whether errors name the place of the event: `events[3].hook`. Default: of more than one. */
  readonly isList?: boolean
  /** What publishes the events, for the call index. */
  readonly source?: string | undefined
  /** Gets the events as they will be sent, before they are matched. */
  onChecked?(events: readonly CheckedEvent[]): void
}

/**
 * Accepts events, all or none unless they are accepted in parts: each is checked and matched before any is accepted. When it
 * resolves, they and their deliveries are committed. A single event is read before this returns; a longer list must not change
 * meanwhile.
 *
 * @throws `InvalidInput` naming the field, `TooLarge`, `NotFound` for the account, `Conflict` for an idempotency key that
 *   was used with another body, `QueueFull`, `StoreUnavailable`, `Closing`
 */
export async function acceptEvents(
  deps: AcceptDeps,
  inputs: readonly unknown[],
  options: AcceptEventsOptions = {},
): Promise<readonly AcceptedEvent[]> {
  const { traceparent, onChecked, isList = inputs.length > 1, source = DEFAULT_SOURCE } = options
  const refuse: OnRefused = (thrown, index) => {
    throw isList ? withIndex(thrown, index) : thrown
  }
  const prepared = (await prepareEvents(deps, inputs, traceparent, refuse)) as readonly PreparedEvent[]
  onChecked?.(prepared.map(({ event }) => event))
  const { inParts, onAccepted } = options
  return acceptPreparedEvents(deps, prepared, { source, inParts, onAccepted, onRefused: refuse })
}

/**
 * Accepts events, each for itself: the refusal of one has no effect on the others. Those that are accepted are committed in
 * their order, by one commit as far as a group can take them, while nobody else publishes. The list must not change meanwhile.
 *
 * @param onChecked gets the events as they will be sent, before they are matched; `undefined` in place of a refused one
 * @param source what publishes the events, for the call index
 * @returns a result for each event, in order
 * @throws `TooLarge`: then none is accepted
 */
export async function acceptSeparately(
  deps: AcceptDeps,
  inputs: readonly unknown[],
  traceparent: string | undefined,
  onChecked: (events: readonly (CheckedEvent | undefined)[]) => void,
  source = DEFAULT_SOURCE,
): Promise<readonly PromiseSettledResult<AcceptedEvent>[]> {
  const results: PromiseSettledResult<AcceptedEvent>[] = []
  const refuse: OnRefused = (reason, index) => {
    results[index] = { status: 'rejected', reason }
  }
  const prepared = await prepareEvents(deps, inputs, traceparent, refuse)
  onChecked(prepared.map((event) => event?.event))
  const matched = await matchEvents(deps, prepared, false, refuse)
  const { events, deliveries } = await build(deps, matched, allOf(deps, matched))
  let from = 0
  // All of them before the next turn: one group takes them, unless others publish.
  const accepting = matched.map(async ({ prepared, webhooks }, index) => {
    const own = deliveries.slice(from, from + webhooks.length)
    from += webhooks.length
    const accepted = await deps.accept({ events: [events[index]!], deliveries: own })
    countAccepted(deps, accepted, own)
    noteAccepted(deps, accepted[0]!, prepared, webhooks, source)
    return accepted[0]!
  })
  const settled = await Promise.allSettled(accepting)
  matched.forEach(({ index }, position) => {
    results[index] = settled[position]!
  })
  return results
}

/**
 * Checks the events of a list.
 *
 * @returns one item for each; `undefined` in place of a refused one
 * @throws `TooLarge`, and what `onRefused` throws
 */
async function prepareEvents(
  deps: AcceptDeps,
  inputs: readonly unknown[],
  traceparent: string | undefined,
  onRefused: OnRefused,
): Promise<readonly (PreparedEvent | undefined)[]> {
  checkEventCount(inputs.length, deps.limits)
  const prepared: (PreparedEvent | undefined)[] = []
  let accountId = ''
  for (const input of inputs) {
    const index = prepared.length
    if (index % EVENTS_PER_CHECK === EVENTS_PER_CHECK - 1) await yieldingOf(deps.clock).whenDue(accountId)
    let event: PreparedEvent | undefined
    try {
      event = prepareEvent(deps, input, traceparent)
      accountId ||= event.event.accountId
    } catch (thrown) {
      onRefused(thrown, index)
    }
    prepared.push(event)
  }
  return prepared
}

interface AcceptOptions {
  /** What publishes the events, for the call index. */
  readonly source: string
  /**
   * The inbox entries of these events, which the same transaction deletes. Where all events make too many deliveries, only the
   * first ones are accepted, at least one: as many as the result has.
   */
  readonly inboxIds?: readonly string[]
  /**
   * Whether a long list is accepted in parts, one after the other. If a part cannot be accepted, the events of the parts before it
   * are accepted, and the error, never `QueueFull`, has their number (`acceptedEvents`). Default: all or none.
   */
  readonly inParts?: boolean | undefined
  /** Gets what was accepted, part by part, and the place of the first. */
  readonly onAccepted?: ((accepted: readonly AcceptedEvent[], from: number) => void) | undefined
  /** Default: the error of an event is thrown as it is. */
  readonly onRefused?: OnRefused
}

/** Matches prepared events with webhooks and commits them, all or none unless they are accepted in parts. */
export async function acceptPreparedEvents(
  deps: AcceptDeps,
  prepared: readonly PreparedEvent[],
  { source, inboxIds, inParts = false, onAccepted, onRefused = refuseAll }: AcceptOptions,
): Promise<readonly AcceptedEvent[]> {
  const mayBeFewer = inboxIds !== undefined
  // All are matched before anything is built: what is refused costs little.
  const matched = await matchEvents(deps, prepared, mayBeFewer, onRefused)
  const whole = { ...allOf(deps, matched), mayBeFewer }
  const isInParts = inParts && endOfPart(matched, 0, MIN_PART) < matched.length
  if (isInParts) await addBodies(deps, matched, whole)
  const sinceMs = deps.clock.monotonic()
  const all: AcceptedEvent[] = []
  while (all.length < matched.length) {
    const from = all.length
    const part = isInParts ? matched.slice(from, endOfPart(matched, from, deps.partSize(sinceMs))) : matched
    let accepted: readonly AcceptedEvent[]
    let built: Built
    try {
      built = await build(deps, part, isInParts ? PART_LIMIT : whole)
      const ids = inboxIds?.slice(0, built.events.length)
      accepted = await deps.accept(ids ? { ...built, inboxIds: ids } : built, from > 0)
    } catch (thrown) {
      throw from === 0 ? thrown : partlyAccepted(thrown, from)
    }
    countAccepted(deps, accepted, built.deliveries)
    for (let index = 0; index < accepted.length; index++)
      noteAccepted(deps, accepted[index]!, part[index]!.prepared, part[index]!.webhooks, source)
    onAccepted?.(accepted, from)
    all.push(...accepted)
    if (!isInParts) break
  }
  return all
}

/** The place behind a part that begins at `from`: at least one event. */
function endOfPart(matched: readonly MatchedEvent[], from: number, maxSize: number): number {
  let size = 0
  for (let to = from; to < matched.length; to++) {
    size += 1 + matched[to]!.webhooks.length
    if (size > maxSize && to > from) return to
  }
  return matched.length
}

/** The error of a part, with the number of events before it, for people and in `acceptedEvents`. */
function partlyAccepted(thrown: unknown, acceptedEvents: number): unknown {
  const { message, field, failures, id, retryAfterSeconds } = (thrown ?? {}) as Partial<HookswitchError>
  const before =
    acceptedEvents === 1 ? 'first event of the list was' : `first ${acceptedEvents} events of the list were`
  const error = new HookswitchError(errorCode(thrown) ?? 'Internal', `${message}; the ${before} accepted`, {
    field,
    failures,
    id,
    retryAfterSeconds,
    cause: thrown,
  })
  return Object.assign(error, { acceptedEvents })
}

function noteAccepted(
  { callIndex }: AcceptDeps,
  accepted: AcceptedEvent,
  { event }: PreparedEvent,
  webhooks: readonly Webhook[],
  source: string,
): void {
  if (!accepted.duplicate) callIndex?.note(event, accepted, webhooks.length > 0, source)
}

interface MatchedEvent {
  readonly prepared: PreparedEvent
  /** Of the event in the list. */
  readonly index: number
  readonly webhooks: readonly Webhook[]
}

/**
 * Finds the webhooks that get the events.
 *
 * @param events `undefined` in place of one that was refused before
 * @param mayBeFewer leaves out the last events where all make too many deliveries
 * @throws `TooLarge`, and what `onRefused` throws
 */
async function matchEvents(
  deps: AcceptDeps,
  events: readonly (PreparedEvent | undefined)[],
  mayBeFewer: boolean,
  onRefused: OnRefused,
): Promise<readonly MatchedEvent[]> {
  const { limits } = deps
  const isSeveral = events.length > 1
  const cache = isSeveral ? new Map<string, Matching>() : undefined
  const matched: MatchedEvent[] = []
  /** The error of the first event for which the store did not answer. All later events of the list are refused with it. */
  let outage: unknown
  let count = 0
  let steps = 0
  for (let index = 0; index < events.length; index++) {
    const prepared = events[index]
    if (!prepared) continue
    const { event, payload } = prepared
    let matching: Matching
    try {
      if (outage !== undefined) throw outage
      matching = await readMatching(deps, event, cache)
    } catch (thrown) {
      if (errorCode(thrown) === 'StoreUnavailable') outage = thrown
      onRefused(thrown, index)
      continue
    }
    const { lineage, candidates } = matching
    const webhooks: Webhook[] = []
    for (const webhook of candidates) {
      if (++steps >= STEPS_PER_CHECK) {
        steps = 0
        await yieldingOf(deps.clock).whenDue(event.accountId)
      }
      if (!matches(webhook, event, lineage, payload)) continue
      webhooks.push(webhook)
      count++
      if (isSeveral && count > limits.maxDeliveriesPerRequest) {
        if (!mayBeFewer) throw tooManyDeliveries(limits)
        // One event is accepted whatever the number of its webhooks.
        if (matched.length > 0) return matched
      }
    }
    matched.push({ prepared, index, webhooks })
  }
  return matched
}

/** How large the different bodies of events may be together. */
interface BodiesLimit {
  readonly maxCharacters: number
  /** Whether the last events are left out where the bodies of all are too large. Otherwise all are refused. */
  readonly mayBeFewer: boolean
}

const PART_LIMIT: BodiesLimit = { maxCharacters: CHARACTERS_PER_PART, mayBeFewer: true }

/** The limit of what is accepted at once. One event may have any number of webhooks. */
const allOf = ({ limits }: AcceptDeps, { length }: readonly MatchedEvent[]): BodiesLimit => ({
  maxCharacters: length > 1 ? maxBodyCharacters(limits) : Number.POSITIVE_INFINITY,
  mayBeFewer: false,
})

/** Events, and a delivery for each webhook that gets one. */
interface Built {
  readonly events: NewEvent[]
  readonly deliveries: NewDelivery[]
}

/** @throws `TooLarge` */
async function build(deps: AcceptDeps, matched: readonly MatchedEvent[], limit: BodiesLimit): Promise<Built> {
  const built: Built = { events: [], deliveries: [] }
  await addBodies(deps, matched, limit, built)
  return built
}

/**
 * Makes the bodies that the webhooks get.
 *
 * @param built gets the events and deliveries. Absent: the bodies are measured, and not kept
 * @throws `TooLarge`
 */
async function addBodies(
  deps: AcceptDeps,
  matched: readonly MatchedEvent[],
  { maxCharacters, mayBeFewer }: BodiesLimit,
  built?: Built,
): Promise<void> {
  // Store time: the wall clocks of nodes may differ.
  const now = deps.storeNow()
  let characters = 0
  let steps = 0
  for (const { prepared, webhooks } of matched) {
    const { event, id, payload, json } = prepared
    const bodies = createBodyVariants(payload, json, true)
    for (let index = 0; index < webhooks.length; index++) {
      const webhook = webhooks[index]!
      const known = bodies.templates.length
      const variant = bodies.indexFor(webhook.settings)
      if (built) {
        const deliveryId = firstDeliveryId(id, index)
        const lane = laneOf(event, webhook, deliveryId)
        built.deliveries.push(buildDelivery(deliveryId, event, id, webhook, variant, lane))
      }
      const { length } = bodies.templates[variant]!.head
      if (variant === known) characters += length
      if (characters > maxCharacters && !mayBeFewer) throw tooLargeBodies(deps.limits)
      // A body with custom data is searched by them.
      const isPlain = variant < known && webhook.settings.customData === undefined
      steps += isPlain ? 1 : 1 + length / CHARACTERS_PER_STEP
      if (steps < STEPS_PER_CHECK) continue
      steps = 0
      await yieldingOf(deps.clock).whenDue(event.accountId)
    }
    built?.events.push(buildEvent(prepared, bodies.templates, now))
    if (characters > maxCharacters) break
  }
}

/** The accounts and the webhooks that events of one account and kind may match. */
interface Matching {
  readonly lineage: readonly Account[]
  readonly candidates: readonly Webhook[]
}

/** Reads what an event may match. @param cache of the other events of the request */
async function readMatching(
  deps: AcceptDeps,
  { accountId, hook }: CheckedEvent,
  cache: Map<string, Matching> | undefined,
): Promise<Matching> {
  const key = cache && `${accountId}/${hook}`
  const cached = key === undefined ? undefined : cache?.get(key)
  if (cached) return cached
  try {
    const lineage = await deps.directory.lineage(accountId)
    if (lineage.length === 0) throw notFound(accountId, 'account')
    const accountIds = lineage.map(({ id }) => id)
    const matching = { lineage, candidates: await deps.webhooks.candidates(accountIds, hook) }
    if (key !== undefined) cache?.set(key, matching)
    return matching
  } catch (thrown) {
    // The store was closed meanwhile. Nothing is committed yet, and the store is not out.
    if (errorCode(thrown) === 'StoreUnavailable' && deps.isClosing?.()) throw closingError()
    throw thrown
  }
}

function countAccepted(
  deps: AcceptDeps,
  accepted: readonly AcceptedEvent[],
  deliveries: readonly NewDelivery[],
): void {
  if (!deps.metrics || deliveries.length === 0) return
  if (!accepted.some(({ duplicate }) => duplicate)) {
    countDeliveries(deps, deliveries.length)
    return
  }
  // A duplicate has the id of the first event: the store did not write the deliveries of the new id.
  const newIds = new Set(accepted.filter(({ duplicate }) => !duplicate).map(({ id }) => id))
  countDeliveries(deps, deliveries.filter(({ eventId }) => newIds.has(eventId)).length)
}

/** Counts new deliveries in the metrics. */
export function countDeliveries({ metrics }: Pick<AcceptDeps, 'metrics'>, count: number): void {
  if (count > 0) metrics?.count('hookswitch_deliveries_accepted_total', count, undefined)
}

/** Makes the error of an event name its place in the list: `events[3].hook`. Returns errors of the service unchanged. */
export function withIndex(thrown: unknown, index: number): unknown {
  const place = `events[${index}]`
  const { message, failures = [], id } = thrown as HookswitchError
  if (errorCode(thrown) === 'InvalidInput') {
    const at = (path: string) => (path === '' ? place : `${place}.${path}`)
    return invalidInput(failures.map((failure) => ({ ...failure, path: at(failure.path) })))
  }
  if (errorCode(thrown) !== 'NotFound' || id === undefined) return thrown
  return new HookswitchError('NotFound', `${place}: ${message}`, { id, field: `${place}.accountId` })
}
