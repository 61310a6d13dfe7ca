import { type ManualClock, manualClock, type SeededRandom, seededRandom } from 'hookswitch/testkit'
import { type AcceptDoors, acceptEvents } from '../../src/delivery/accept.js'
import type { DeliveryEvents, Tell } from '../../src/delivery/delivery-events.js'
import type { StoredDelivery } from '../../src/delivery/delivery-queries.js'
import type { DeliveryStore } from '../../src/delivery/delivery-store.js'
import { createDispatcher, type Dispatcher, type DispatcherDoors } from '../../src/delivery/dispatcher.js'
import { POLICY_PRESETS, type RetryPolicy } from '../../src/delivery/policy.js'
import type { EndpointMaterial } from '../../src/delivery/request.js'
import type { Caps } from '../../src/delivery/turns.js'
import { HookswitchError } from '../../src/errors.js'
import type { Log, Observation, Sender, SendRequest } from '../../src/ports.js'
import type { Store } from '../../src/store/contract.js'
import { memoryStore } from '../../src/store/memory.js'
import { idMaker } from '../../src/values/ids.js'
import { HEALTH_PRESETS, type HealthRules } from '../../src/webhooks/health.js'
import type { Webhook } from '../../src/webhooks/webhook.js'
import { anAccount, aWebhook } from './fixtures.js'

export const silent: Log = { debug() {}, info() {}, warn() {}, error() {} }

/** An answer with this status, as a sender observes it. */
export function answered(status: number, headers: readonly string[] = []): Observation {
  return { kind: 'response', status, headers, body: '', bodyEnd: 'complete' }
}

/** What a request says of itself. */
export const headerOf = (request: SendRequest, name: string): string => {
  const at = request.headers.findIndex((text, index) => index % 2 === 0 && text.toLowerCase() === name)
  return at < 0 ? '' : request.headers[at + 1]!
}

export interface FakeSender extends Sender {
  /** Every request, in order. */
  readonly requests: SendRequest[]
  /** Those without an answer yet: call with one. */
  readonly open: { readonly request: SendRequest; readonly answer: (seen: Observation) => void }[]
  /** What is answered at once; `undefined`: nothing until the test does. */
  script: (request: SendRequest, attempt: number) => Observation | undefined
  mostOpen: number
}

export function fakeSender(script: FakeSender['script'] = () => answered(200)): FakeSender {
  const sender: FakeSender = {
    requests: [],
    open: [],
    script,
    mostOpen: 0,
    async send(request) {
      sender.requests.push(request)
      const seen = sender.script(request, Number(headerOf(request, 'x-hook-attempt')))
      if (seen) return seen
      return new Promise((resolve) => {
        const pending = {
          request,
          answer(observation: Observation) {
            sender.open.splice(sender.open.indexOf(pending), 1)
            resolve(observation)
          },
        }
        sender.open.push(pending)
        sender.mostOpen = Math.max(sender.mostOpen, sender.open.length)
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

/** A store whose calls can be made to fail, before (`out`) or after (`unheard`) they were written. */
export function faulty(deliveries: DeliveryStore) {
  const out = new Set<keyof DeliveryStore>()
  const unheard = new Set<keyof DeliveryStore>()
  const failure = () => new HookswitchError('StoreUnavailable', 'out')
  const store = Object.fromEntries(
    Object.entries(deliveries).map(([name, method]: [string, (...args: unknown[]) => unknown]) => [
      name,
      name === 'subscribe'
        ? method
        : async (...args: unknown[]) => {
            if (out.has(name as keyof DeliveryStore)) throw failure()
            const result = await method(...args)
            if (unheard.has(name as keyof DeliveryStore)) throw failure()
            return result
          },
    ]),
  ) as unknown as DeliveryStore
  return { store, out, unheard }
}

export interface NodeOptions {
  readonly caps?: Partial<Caps>
  readonly policy?: RetryPolicy
  readonly healthRules?: HealthRules
  readonly shared?: boolean
  readonly recordSuccesses?: boolean
  readonly material?: (webhook: Webhook) => EndpointMaterial
}

/** A store with accounts `acc` (below it `sub`) and webhooks, and nodes that deliver from it, in manual time. */
export async function deliveryWorld(webhooks: readonly Webhook[] = [aWebhook()], shared = false) {
  const clock: ManualClock = manualClock()
  const random: SeededRandom = seededRandom('world')
  const store: Store = memoryStore(shared ? { shared, clock } : {})
  await store.open({ clock, log: silent })
  for (const webhook of webhooks) await store.webhooks.insert(webhook)
  const newId = idMaker(random.bytes)
  const sender = fakeSender()
  const faults = faulty(store.deliveries)
  const told: { name: keyof DeliveryEvents; payload: DeliveryEvents[keyof DeliveryEvents] }[] = []
  const tell: Tell = (name, payload) => void told.push({ name, payload })
  const accounts = [anAccount('acc'), anAccount('sub', 'acc')]

  const accept: AcceptDoors = {
    clock,
    newId,
    knowsHook: (hook) => hook.startsWith('channel_'),
    storeNow: clock.now,
    directory: {
      async lineage(id) {
        return id === 'sub' ? [accounts[1]!, accounts[0]!] : accounts.filter((account) => account.id === id)
      },
    },
    webhooks: store.webhooks,
    deliveries: store.deliveries,
  }

  function node(options: NodeOptions = {}, doors: Partial<DispatcherDoors> = {}): Dispatcher {
    const { caps, healthRules = HEALTH_PRESETS.standard, policy = POLICY_PRESETS.telephony } = options
    const { material = () => ({ keys: [], headers: [] }), recordSuccesses = true } = options
    return createDispatcher(
      {
        store: faults.store,
        clock,
        random,
        log: silent,
        tell,
        sender,
        newId,
        material,
        rulesOf: (webhook) => ({ policy, functions: {}, retries: webhook.settings.retries }),
        ...doors,
      },
      {
        caps: { perEndpoint: 10, perAccount: 100, perOrigin: 100, inAll: 500, ...caps },
        attemptDeadlineMs: 10_000,
        shared,
        healthRules,
        recordSuccesses,
      },
    )
  }

  return {
    clock,
    random,
    store,
    sender,
    faults,
    told,
    accept,
    node,
    newId,
    /** Publishes an event of this call; its id. */
    async publish(callId: string, event: object = {}): Promise<string> {
      const input = { hook: 'channel_create', accountId: 'acc', callId, ...event }
      return (await acceptEvents(accept, [input], 1_000_000))[0]!.id
    },
    /** All deliveries of a webhook, oldest first. */
    deliveries: async (webhookId = 'w1', accountId = 'acc'): Promise<readonly StoredDelivery[]> =>
      store.deliveries.deliveries({ accountId, webhookId, ascending: true, limit: 10_000 }),
    /** All attempts of the account, oldest first. */
    attempts: async (accountId = 'acc') =>
      store.deliveries.attempts({ accountId, ascending: true, limit: 10_000 }),
    /** Call ids of all requests, in order. */
    sent: () => sender.requests.map((request) => JSON.parse(request.body ?? '{}').call_id as string),
  }
}

export type World = Awaited<ReturnType<typeof deliveryWorld>>
