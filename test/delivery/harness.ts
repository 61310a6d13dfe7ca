import { type ManualClock, manualClock, type SeededRandom, seededRandom } from 'hookswitch/testkit'
import { type AcceptDeps, acceptEvents } from '../../src/delivery/accept.js'
import type { DeliveryEvents, Emit } from '../../src/delivery/delivery-events.js'
import type { StoredDelivery } from '../../src/delivery/delivery-queries.js'
import type { Acceptance, AcceptedEvent } from '../../src/delivery/delivery-store.js'
import { createDispatcher, type Dispatcher, type DispatcherDeps } from '../../src/delivery/dispatcher.js'
import { createNodeClock } from '../../src/delivery/node-clock.js'
import { exponential, type RetryPolicy } from '../../src/delivery/policy.js'
import { createPositions } from '../../src/delivery/positions.js'
import type { QueueLimits } from '../../src/delivery/queue/shares.js'
import type { QueueStore } from '../../src/delivery/queue-store.js'
import type { EndpointSecrets } from '../../src/delivery/request.js'
import type { Caps } from '../../src/delivery/scheduler/fair-queue.js'
import { HookswitchError } from '../../src/errors.js'
import type { Log, Observation, Sender, SendRequest } from '../../src/ports.js'
import type { Store } from '../../src/store/contract.js'
import { memoryStore } from '../../src/store/memory.js'
import { shardOf } from '../../src/store/shards.js'
import { createIdGenerator } from '../../src/values/ids.js'
import { HEALTH_PRESETS, type HealthRules } from '../../src/webhooks/health.js'
import type { Webhook } from '../../src/webhooks/webhook.js'
import { anAccount, aWebhook } from './fixtures.js'

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} }

/** The observation of a response with this status. */
export function responseWith(status: number, headers: readonly string[] = []): Observation {
  return { kind: 'response', status, headers, body: '', bodyEnd: 'complete' }
}

/** The value of a request header; empty: absent. */
export const headerOf = (request: SendRequest, name: string): string => {
  const at = request.headers.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === name)
  return at < 0 ? '' : request.headers[at + 1]!
}

export interface FakeSender extends Sender {
  /** All requests, in order. */
  readonly requests: SendRequest[]
  /** The requests without an answer; `answer` gives one. */
  readonly open: { readonly request: SendRequest; readonly answer: (observation: Observation) => void }[]
  /** The immediate answer to a request; `undefined`: none until the test calls `answer`. */
  script: (request: SendRequest, attempt: number) => Observation | undefined
  /** Most requests that were open at the same time. */
  maxOpen: number
}

export function fakeSender(script: FakeSender['script'] = () => responseWith(200)): FakeSender {
  const sender: FakeSender = {
    requests: [],
    open: [],
    script,
    maxOpen: 0,
    async send(request) {
      sender.requests.push(request)
      const observation = sender.script(request, Number(headerOf(request, 'x-hook-attempt')))
      if (observation) return observation
      return new Promise((resolve) => {
        const pending = {
          request,
          answer(observation: Observation) {
            sender.open.splice(sender.open.indexOf(pending), 1)
            resolve(observation)
          },
        }
        sender.open.push(pending)
        sender.maxOpen = Math.max(sender.maxOpen, sender.open.length)
      })
    },
    async close() {
      for (const { answer } of [...sender.open]) {
        answer({ kind: 'no_response', failure: 'connection', detail: 'closed' })
      }
    },
  }
  return sender
}

/**
 * A store whose calls can be made to fail: before they do anything (`failing`), or after they have committed
 * (`losesAnswer`).
 */
export function createFaultyStore(deliveries: QueueStore) {
  const failing = new Set<keyof QueueStore>()
  const losesAnswer = new Set<keyof QueueStore>()
  const failure = () => new HookswitchError('StoreUnavailable', 'unavailable')
  const store = Object.fromEntries(
    Object.entries(deliveries).map(([name, method]: [string, (...args: unknown[]) => unknown]) => [
      name,
      name === 'subscribe'
        ? method
        : async (...args: unknown[]) => {
            if (failing.has(name as keyof QueueStore)) throw failure()
            const result = await method(...args)
            if (losesAnswer.has(name as keyof QueueStore)) throw failure()
            return result
          },
    ]),
  ) as unknown as QueueStore
  return { store, failing, losesAnswer }
}

const DEFAULT_MAX_AGE_SECONDS = 86_400

/** The default limits of waiting deliveries. */
export const LIMITS: QueueLimits = { maxPending: 1_000_000, maxPendingPerWebhook: 50_000 }

export interface NodeOptions {
  readonly caps?: Partial<Caps>
  readonly limits?: QueueLimits
  readonly policy?: RetryPolicy
  readonly healthRules?: HealthRules
  readonly recordSuccesses?: boolean
  readonly patienceMs?: number
  /** Requests a second that a webhook allows at most. Default: no limit. */
  readonly rateLimitOf?: (webhook: Webhook) => number | undefined
  readonly endpointSecrets?: (webhook: Webhook) => EndpointSecrets
}

/**
 * A memory store with webhooks and the accounts `acc` and `sub` (its child), and nodes that deliver from it,
 * in manual time.
 */
export async function createHarness(
  webhooks: readonly Webhook[] = [aWebhook()],
  isShared = false,
  retention: { readonly attemptsPerWebhook?: number } = {},
) {
  const clock: ManualClock = manualClock()
  const random: SeededRandom = seededRandom('world')
  const store: Store = memoryStore({ ...retention, ...(isShared && { shared: true, clock }) })
  await store.open({ clock, log: silentLog })
  for (const webhook of webhooks) await store.webhooks.insert(webhook)
  const newId = createIdGenerator(random.bytes)
  const sender = fakeSender()
  const faults = createFaultyStore(store.deliveries)
  const emitted: { name: keyof DeliveryEvents; payload: DeliveryEvents[keyof DeliveryEvents] }[] = []
  const emit: Emit = (name, payload) => void emitted.push({ name, payload })
  const accounts = [anAccount('acc'), anAccount('sub', 'acc')]

  const nodes: Dispatcher[] = []
  const positions = createPositions(127)

  /** As a node without a lease accepts. */
  async function acceptWithoutNode(acceptance: Acceptance): Promise<readonly AcceptedEvent[]> {
    for (const event of acceptance.events) event.position = positions.next(clock.now())
    for (const delivery of acceptance.deliveries) {
      const event = acceptance.events.find(({ id }) => id === delivery.eventId)
      delivery.position = event?.position ?? positions.next(clock.now())
    }
    const result = await store.deliveries.commit({
      lease: undefined,
      version: 0,
      now: clock.now(),
      accepted: [acceptance],
      ended: [],
      finished: [],
      pending: 0,
      isRepeat: false,
    })
    const accepted = result.kind === 'committed' ? result.accepted[0] : undefined
    if (accepted?.kind === 'accepted') return accepted.events
    throw accepted?.kind === 'refused' ? accepted.error : new Error(result.kind)
  }

  const accept: AcceptDeps = {
    clock,
    newId,
    isKnownHook: (hook) => hook.startsWith('channel_'),
    storeNow: clock.now,
    limits: { maxEventsPerRequest: 1_000, maxDeliveriesPerRequest: 20_000 },
    directory: {
      async lineage(id) {
        return id === 'sub' ? [accounts[1]!, accounts[0]!] : accounts.filter((account) => account.id === id)
      },
    },
    webhooks: store.webhooks,
    partSize: (sinceMs) => nodes[0]?.partSize(sinceMs) ?? 200,
    accept: (acceptance, isContinued) => (nodes[0]?.accept ?? acceptWithoutNode)(acceptance, isContinued),
  }

  function node(options: NodeOptions = {}, deps: Partial<DispatcherDeps> = {}): Dispatcher {
    const { caps, limits = LIMITS, healthRules = HEALTH_PRESETS.standard, policy = exponential() } = options
    const { endpointSecrets = () => ({ keys: [], headers: [] }), recordSuccesses = true } = options
    const { patienceMs = 60_000, rateLimitOf = () => undefined } = options
    const dispatcher = createDispatcher(
      {
        shardOf,
        store: faults.store,
        clock: createNodeClock(clock, silentLog),
        random,
        log: silentLog,
        emit,
        sender,
        newId,
        endpointSecrets,
        rulesOf: (webhook) => ({ policy, functions: {}, retries: webhook.settings.retries }),
        ...deps,
      },
      {
        caps: { perEndpoint: 10, perAccount: 100, perOrigin: 100, total: 500, probes: 1_000, ...caps },
        limits,
        attemptDeadlineMs: 10_000,
        isShared,
        healthRules,
        recordSuccesses,
        maxAgeMsOf: ({ settings }) => (settings.maxAgeSeconds ?? DEFAULT_MAX_AGE_SECONDS) * 1000,
        patienceMs,
        rateLimitOf,
      },
    )
    const started: Dispatcher = {
      ...dispatcher,
      start: async () => {
        await dispatcher.start()
        nodes.push(dispatcher)
      },
      close: (drainMs) => {
        const index = nodes.indexOf(dispatcher)
        if (index >= 0) nodes.splice(index, 1)
        return dispatcher.close(drainMs)
      },
    }
    return started
  }

  return {
    clock,
    random,
    store,
    sender,
    faults,
    emitted,
    accept,
    acceptWithoutNode,
    node,
    newId,
    /** Publishes an event of this call; returns its id. */
    async publish(callId: string, event: object = {}): Promise<string> {
      const input = { hook: 'channel_create', accountId: 'acc', callId, ...event }
      return (await acceptEvents(accept, [input]))[0]!.id
    },
    /** All deliveries of a webhook, oldest first. */
    deliveries: async (webhookId = 'w1', accountId = 'acc'): Promise<readonly StoredDelivery[]> => {
      const rows = await store.deliveries.deliveries({ accountId, webhookId, ascending: true, limit: 10_000 })
      return rows.map((row) => nodes.reduce((shown, node) => node.withQueueState(shown), row))
    },
    /** Deliveries that wait or are in flight, in the store or in a node; a store does not count those to be cancelled. */
    async pending(): Promise<number> {
      const inNodes = Math.max(0, ...nodes.map((node) => node.pending()))
      if (inNodes > 0) return inNodes
      let count = 0
      for (let cursor: number | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
        const found = await store.deliveries.search({
          states: ['waiting'],
          limit: 10_000,
          ...(cursor !== undefined && { cursor }),
        })
        count += found.deliveries.length
        cursor = found.cursor
      }
      return count
    },
    /** All attempts of the account, oldest first. */
    attempts: async (accountId = 'acc') =>
      store.deliveries.attempts({ accountId, ascending: true, limit: 10_000 }),
    /** Call ids of all requests, in order. */
    sent: () => sender.requests.map((request) => JSON.parse(request.body ?? '{}').call_id as string),
  }
}

export type Harness = Awaited<ReturnType<typeof createHarness>>
