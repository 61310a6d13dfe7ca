/**
 * The checks of the delivery policy (docs/concepts/retries.md) run a real instance with the memory store in virtual time.
 * Receivers are functions, traffic is a list of events, and a run measures what its webhooks lost, got late, out of order or
 * too often. The clock jumps from due time to due time, so a virtual day takes seconds.
 *
 * One check alone: `npx vitest run test/policy -t 'check 7'`. Checks that take long have their full size with
 * `POLICY_FULL_SIZE=1` and `--testTimeout 900000` only. `POLICY_FIGURES=1` prints what was measured.
 */
import { createHookswitch, type Hookswitch, type HookswitchOptions, memoryStore } from 'hookswitch'
import { type ManualClock, manualClock, seededRandom, timeQueue } from 'hookswitch/testkit'
import { onTestFinished } from 'vitest'
import type { Account } from '../../src/accounts/account.js'
import type { AttemptRecord } from '../../src/delivery/attempt-record.js'
import type { DeliveryEnd } from '../../src/delivery/delivery-events.js'
import type { ReplaySelection } from '../../src/delivery/replay-selection.js'
import type { DefaultSender, Observation, SendRequest } from '../../src/ports.js'
import type { WebhookInput } from '../../src/runtime/webhook-api.js'
import { headerOf } from '../delivery/harness.js'
import { type Arrival, healthy, OK, type Reaction, type Receiver, singles } from './receivers.js'

/** Whether checks have their full size. */
export const IS_FULL_SIZE = Boolean(process.env.POLICY_FULL_SIZE)

type Options = HookswitchOptions

/** A webhook of a run. */
export interface EndpointInput {
  readonly receiver: Receiver
  readonly arrivals: Iterable<Arrival>
  /** Default: an account of its own. */
  readonly account?: string
  /** Host name of the receiver. Default: one in a domain of its own, since receivers of a domain share slots. */
  readonly host?: string
  readonly settings?: Partial<WebhookInput>
}

/** What happens in a run beside its traffic. */
export interface Action {
  /** Seconds since the run began. */
  readonly at: number
  run(run: PolicyRun): unknown
}

export interface RunInput {
  readonly endpoints: readonly EndpointInput[]
  /** Seconds after which the run ends. */
  readonly until: number
  /** Goes on to `until` also when nothing waits any more. Default false. */
  readonly isFull?: boolean
  /**
   * Adds a healthy receiver with an event every 30 s, so that receivers that are silent together do not look like an outage of
   * the node. Default: with five endpoints or more; fewer never look like one.
   */
  readonly hasWitness?: boolean
  /** Keeps which attempts are marked as out of order, which takes time. Default false. */
  readonly recordsOrder?: boolean
  readonly options?: Partial<Options>
  readonly actions?: readonly Action[]
}

type EndState = 'delivered' | 'exhausted' | 'expired' | 'cancelled' | 'quarantined'

/** One published event and what became of it. */
export interface PublishedEvent {
  readonly id: number
  /** Seconds since the run began. */
  readonly at: number
  readonly call: string
  readonly seq: number
  /** How its first delivery ended; absent: it has not. */
  state?: EndState
  reason?: string | undefined
  deliveryId?: string
  endedAt?: number
  /** How often a receiver has taken it. */
  taken: number
  requests: number
}

/** One request. */
export interface MeasuredRequest {
  readonly at: number
  readonly event: PublishedEvent
  readonly attempt: number
  readonly isReplay: boolean
  /** The status that the receiver gave; 0: none. */
  readonly status: number
  /** Whether its record says that it was out of order; absent unless the run `recordsOrder`. */
  isMarked?: boolean
}

/** What was measured of one webhook. */
export class EndpointRun {
  readonly events: PublishedEvent[] = []
  readonly requests: MeasuredRequest[] = []
  readonly pauses: number[] = []
  /** Seconds; absent: it was not disabled by the service. */
  disabledAt: number | undefined
  /** Events that were delivered after a later one of their call. */
  outOfOrder = 0
  /** Rejected calls of `publish`. */
  readonly refusals: unknown[] = []
  pending = 0
  /** Ends of deliveries beyond the first of their events, by state: replays. */
  readonly replays: { readonly event: PublishedEvent; readonly state: EndState; readonly at: number }[] = []
  readonly calls = new Map<string, PublishedEvent[]>()

  constructor(
    readonly webhookId: string,
    readonly accountId: string,
    readonly receiver: Receiver,
  ) {}

  /** Events whose first delivery ended in a state, and for a reason if one is given. */
  ended(state: EndState, reason?: string): readonly PublishedEvent[] {
    return this.events.filter(
      (event) => event.state === state && (reason === undefined || event.reason === reason),
    )
  }

  count(state: EndState, reason?: string): number {
    return this.ended(state, reason).length
  }

  /** Events that ended undelivered. */
  get lost(): number {
    return this.events.filter(({ state }) => state !== undefined && state !== 'delivered').length
  }

  /** Seconds from publish to delivery, of events that were published from one time to another. */
  latencies(from = 0, to = Infinity): readonly number[] {
    return this.ended('delivered')
      .filter(({ at }) => at >= from && at < to)
      .map(({ at, endedAt }) => endedAt! - at)
  }

  /** Seconds from a recovery to the deliveries after it, of events that were published before it. */
  backlog(recovery: number): readonly number[] {
    return this.ended('delivered')
      .filter(({ at, endedAt }) => at < recovery && endedAt! >= recovery)
      .map(({ endedAt }) => endedAt! - recovery)
  }

  /** Requests that were not taken, from one time to another. */
  failures(from = 0, to = Infinity): readonly MeasuredRequest[] {
    return this.requests.filter(({ at, status }) => at >= from && at < to && !isTaken(status))
  }

  /** Requests for one event. */
  requestsFor(event: PublishedEvent): readonly MeasuredRequest[] {
    return this.requests.filter((request) => request.event === event)
  }

  /**
   * Requests that were sent while an earlier event of their call had not ended, or after a later one. `isCertain`: false for
   * those that started together with the other event.
   */
  requestsOutOfOrder(): readonly { readonly request: MeasuredRequest; readonly isCertain: boolean }[] {
    const starts = new Map<PublishedEvent, number>()
    for (const { event, at } of this.requests) if (!starts.has(event)) starts.set(event, at)
    return this.requests.flatMap((request) => {
      const { event, at } = request
      let isPossible = false
      let isCertain = false
      for (const other of this.calls.get(event.call)!) {
        if (other === event) continue
        const isEarlier = other.id < event.id
        const distance = isEarlier ? (other.endedAt ?? Infinity) - at : at - (starts.get(other) ?? Infinity)
        if (distance >= 0) isPossible = true
        if (distance > 0.001) isCertain = true
      }
      return isPossible ? [{ request, isCertain }] : []
    })
  }

  get duplicates(): number {
    return this.events.filter(({ taken }) => taken > 1).length
  }
}

export interface PolicyRun {
  readonly hs: Hookswitch
  readonly clock: ManualClock
  readonly endpoints: readonly EndpointRun[]
  /** Seconds since the run began. */
  now(): number
}

const HOOKS = ['channel_create', 'channel_answer', 'channel_destroy'] as const
/** Silent origins that are an outage of the node (src/delivery/worker/outage-detector.ts). */
const OUTAGE_MIN_ORIGINS = 5
const isTaken = (status: number) => status >= 200 && status < 300
const TIMEOUT: Observation = {
  kind: 'no_response',
  failure: 'timeout',
  detail: 'no answer in time',
  cause: 'timeout_answer',
  isSent: true,
}
const CLOSED: Observation = {
  kind: 'no_response',
  failure: 'connection',
  detail: 'closed',
  cause: 'closed_early',
  isSent: true,
}

/**
 * Runs webhooks beside each other on one instance, and closes it when the test has finished.
 *
 * @throws what an action throws
 */
export async function runPolicy(input: RunInput): Promise<PolicyRun> {
  const clock = manualClock()
  const random = seededRandom('policy')
  const byId = new Map<string, EndpointRun>()
  let startMs = 0
  let pending = 0
  /** Webhooks whose traffic has not ended, without the witness. */
  let fed = 0
  const now = () => (clock.monotonic() - startMs) / 1000
  const sender = createSender(clock, (request) => receive(request))

  const hs = createHookswitch({
    store: memoryStore(),
    clock,
    random,
    sender,
    directory: flatDirectory(),
    statistics: false,
    recordSuccesses: false,
    ...input.options,
  } as Options) as unknown as Hookswitch
  await hs.start()
  onTestFinished(() => hs.close({ drainMs: 0 }))

  const inputs = [...input.endpoints]
  if (input.hasWitness ?? input.endpoints.length >= OUTAGE_MIN_ORIGINS) {
    const arrivals = singles(Math.ceil(input.until / 30), 30)
    inputs.push({ receiver: healthy, arrivals, account: 'witness', host: 'witness.example.org' })
  }
  const feeds = timeQueue<{ readonly atMs: number; readonly endpoint: EndpointRun; readonly feed: Feed }>()
  for (const [index, endpoint] of inputs.entries()) {
    const { account = `a${index}`, host = `r${index}.example`, receiver, settings, arrivals } = endpoint
    const webhook = await hs.webhooks.create(account, {
      name: 'w',
      uri: `https://${host}/${index}`,
      hook: 'all',
      only: [...HOOKS],
      ...settings,
    })
    const run = new EndpointRun(webhook.id, account, receiver)
    byId.set(webhook.id, run)
    const feed: Feed = { arrivals: arrivals[Symbol.iterator](), next: undefined }
    advance(run, feed)
  }
  startMs = clock.monotonic()
  const run: PolicyRun = {
    hs,
    clock,
    endpoints: [...byId.values()].slice(0, input.endpoints.length),
    now,
  }

  for (const state of ['delivered', 'exhausted', 'expired', 'cancelled', 'quarantined'] as const) {
    hs.events.on(state, (end) => ended(end, state))
  }
  hs.events.on('webhook_paused', ({ webhookId }) => void byId.get(webhookId)?.pauses.push(now()))
  hs.events.on('webhook_disabled', ({ webhookId }) => {
    const endpoint = byId.get(webhookId)
    if (endpoint) endpoint.disabledAt = now()
  })
  if (input.recordsOrder) hs.events.on('attempt', markOrder)

  let openActions = input.actions?.length ?? 0
  let failure: unknown
  for (const action of input.actions ?? []) {
    void clock
      .sleep(action.at * 1000)
      .then(() => action.run(run))
      .catch((thrown: unknown) => {
        failure ??= thrown
      })
      .finally(() => {
        openActions -= 1
      })
  }
  void publishAll()
  const endMs = startMs + input.until * 1000
  if (input.isFull) await clock.advance(endMs - clock.monotonic())
  else {
    // The sleep makes the clock reach the end if nothing else does.
    void clock.sleep(endMs - clock.monotonic())
    await clock.runUntil(
      () =>
        clock.monotonic() >= endMs || (fed === input.endpoints.length && openActions === 0 && pending === 0),
      { limitMs: Number.MAX_SAFE_INTEGER },
    )
  }
  if (failure !== undefined) throw failure
  return run

  interface Feed {
    readonly arrivals: Iterator<Arrival>
    next: Arrival | undefined
  }

  function advance(endpoint: EndpointRun, feed: Feed): void {
    const { value, done } = feed.arrivals.next()
    feed.next = done ? undefined : value
    if (feed.next) feeds.add({ atMs: feed.next[0] * 1000, endpoint, feed })
    else fed += 1
  }

  async function publishAll(): Promise<void> {
    while (feeds.size > 0) {
      const waitMs = startMs + feeds.firstMs() - clock.monotonic()
      if (waitMs > 0) await clock.sleep(waitMs)
      while (startMs + feeds.firstMs() <= clock.monotonic()) {
        const { endpoint, feed } = feeds.take()
        publish(endpoint, feed.next!)
        advance(endpoint, feed)
      }
    }
  }

  function publish(endpoint: EndpointRun, [, call, seq]: Arrival): void {
    const event: PublishedEvent = {
      id: endpoint.events.length + 1,
      at: now(),
      call,
      seq,
      taken: 0,
      requests: 0,
    }
    endpoint.events.push(event)
    const ofCall = endpoint.calls.get(call)
    if (ofCall) ofCall.push(event)
    else endpoint.calls.set(call, [event])
    if (endpoint.disabledAt !== undefined) return
    endpoint.pending += 1
    pending += 1
    const { accountId, webhookId } = endpoint
    hs.publish({ hook: HOOKS[seq]!, accountId, callId: `${webhookId}-${call}` }).catch((thrown: unknown) => {
      endpoint.pending -= 1
      pending -= 1
      endpoint.refusals.push(thrown)
    })
  }

  function eventOf(endpoint: EndpointRun, callId: string, hook: string): PublishedEvent {
    const seq = HOOKS.indexOf(hook as (typeof HOOKS)[number])
    const event = endpoint.calls
      .get(callId.slice(endpoint.webhookId.length + 1))
      ?.find((call) => call.seq === seq)
    if (!event) throw new Error(`the event ${hook} of ${callId} was never published`)
    return event
  }

  function receive(request: SendRequest): Reaction {
    const endpoint = byId.get(request.group)
    const callId = /call_id(?:":"|=)([^"&]*)/.exec(request.body ?? '')?.[1]
    // The test of a webhook has a call of its own.
    if (!endpoint || !callId?.startsWith(request.group)) return OK
    const event = eventOf(endpoint, callId, headerOf(request, 'x-hook-event'))
    const deliveryId = headerOf(request, 'webhook-id')
    event.deliveryId ??= deliveryId
    event.requests += 1
    const attempt = Number(headerOf(request, 'x-hook-attempt'))
    const isReplay = event.deliveryId !== deliveryId
    const { id, call, seq } = event
    const reaction = endpoint.receiver(now(), { id, call, seq, attempt, isReplay })
    const status = reaction.status ?? 0
    if (isTaken(status)) event.taken += 1
    endpoint.requests.push({ at: now(), event, attempt, isReplay, status })
    return reaction
  }

  function ended({ webhookId, callId = '', hook, deliveryId, reason }: DeliveryEnd, state: EndState): void {
    const endpoint = byId.get(webhookId)
    if (!endpoint || !callId.startsWith(webhookId)) return
    const event = eventOf(endpoint, callId, hook)
    if (event.state !== undefined) {
      endpoint.replays.push({ event, state, at: now() })
      return
    }
    event.state = state
    event.reason = reason
    event.deliveryId ??= deliveryId
    event.endedAt = now()
    endpoint.pending -= 1
    pending -= 1
    if (state !== 'delivered') return
    const isLate = endpoint.calls
      .get(event.call)!
      .some((other) => other.id > event.id && other.state === 'delivered')
    if (isLate) endpoint.outOfOrder += 1
  }

  function markOrder({ webhookId, deliveryId, attempt, outOfOrder = false }: AttemptRecord): void {
    const requests = byId.get(webhookId)?.requests ?? []
    for (let index = requests.length - 1; index >= 0; index--) {
      const request = requests[index]!
      if (request.attempt !== attempt || request.event.deliveryId !== deliveryId) continue
      request.isMarked = outOfOrder
      return
    }
  }
}

/** A sender whose requests `receive` answers, after the time that its reaction says. */
function createSender(clock: ManualClock, receive: (request: SendRequest) => Reaction): DefaultSender {
  const open = new Set<(observation: Observation) => void>()
  return {
    sendWithCallback(request, onEnd) {
      const reaction = receive(request)
      const isInTime = reaction.seconds * 1000 < request.deadlineMs
      const end = (observation: Observation) => {
        if (open.delete(end)) onEnd(observation, 'public')
      }
      open.add(end)
      void clock
        .sleep(isInTime ? reaction.seconds * 1000 : request.deadlineMs)
        .then(() => end(isInTime ? observationOf(reaction) : TIMEOUT))
    },
    send: () => Promise.reject(new Error('not used')),
    connect: () => Promise.reject(new Error('not used')),
    cancel() {},
    releaseIdle() {},
    async close() {
      for (const end of [...open]) end(CLOSED)
    },
  }
}

function observationOf({ status, retryAfter, failure }: Reaction): Observation {
  if (failure) return { kind: 'no_response', detail: failure.cause, ...failure }
  const headers = retryAfter === undefined ? [] : ['retry-after', String(retryAfter)]
  return { kind: 'response', status: status ?? 200, headers, body: '', bodyEnd: 'complete' }
}

/** Accounts without parents: every id is one. */
function flatDirectory(): NonNullable<Options['directory']> {
  const accounts = new Map<string, Account>()
  return {
    async lineage(id) {
      let account = accounts.get(id)
      if (!account) {
        account = {
          id,
          name: id,
          realm: `${id.toLowerCase()}.example.org`,
          enabled: true,
          language: 'en-us',
          isReseller: false,
          createdMs: 0,
          modifiedMs: 0,
        }
        accounts.set(id, account)
      }
      return [account]
    },
    descendants: async () => [],
    accountsByRealm: async () => [],
    accountsByName: async () => [],
    holderOfApiKey: async () => undefined,
    holderOfCredentials: async () => undefined,
    credentialVersion: async () => undefined,
    readApiKey: async () => undefined,
  }
}

/** Prints figures of a check with `POLICY_FIGURES=1`. */
export function figures(check: string, values: Readonly<Record<string, number | string | undefined>>): void {
  if (!process.env.POLICY_FIGURES) return
  const shown = Object.entries(values).map(
    ([name, value]) => `${name} ${typeof value === 'number' ? Math.round(value * 100) / 100 : value}`,
  )
  process.stderr.write(`${check}: ${shown.join(', ')}\n`)
}

/** The health of a webhook: `checkedMs` is when a probe last found that no connection can be made. */
export async function readHealth(hs: Hookswitch, { accountId, webhookId }: EndpointRun) {
  const { health } = await hs.webhooks.read(accountId, webhookId)
  return health as typeof health & { readonly checkedMs?: number }
}

/** Deliveries of a webhook that were given up since its last success. */
export async function countGivenUp(hs: Hookswitch, { accountId }: EndpointRun): Promise<number> {
  return (await hs.webhooks.health(accountId)).endpoints[0]!.exhausted
}

/** Starts a replay of all deliveries of a webhook that a request selects; resolves to their number. */
export async function replayAll(
  hs: Hookswitch,
  { accountId, webhookId }: EndpointRun,
  selection: ReplaySelection,
): Promise<number> {
  return (await hs.replays.start({ accountId, webhookId, ...selection })).count
}
