/**
 * The harness of a golden file: an instance with five accounts, a clock set to 2026-01-01T00:00:00Z until an action
 * advances it, seeded random numbers, and receivers that respond as the file says.
 */
import { createHookswitch, exponential, type Hookswitch, VERSION } from 'hookswitch'
import type { Observation, SendRequest } from 'hookswitch/adapter'
import { type ManualClock, manualClock, seededRandom, until } from 'hookswitch/testkit'
import { createFailingStore, type FailingStore } from './failing-store.js'
import type { HostAction } from './golden-file.js'
import { hostDirectory } from './host-directory.js'
import type { StoreFactory } from './store-factory.js'

/** API keys of 64 hex digits, as the service generates them. */
const KEYS = {
  parent: 'a1'.repeat(32),
  child: 'b2'.repeat(32),
  other: 'c3'.repeat(32),
  closed: 'd4'.repeat(32),
}

const ACCOUNTS = [
  {
    id: 'parent',
    name: 'Parent Telecom',
    realm: 'parent.example.com',
    apiKey: KEYS.parent,
    isReseller: true,
    users: [{ id: 'ada', username: 'Ada', password: 'lovelace' }],
  },
  {
    id: 'child',
    name: 'Child & Sons',
    realm: 'child.example.com',
    parentId: 'parent',
    resellerId: 'parent',
    apiKey: KEYS.child,
  },
  { id: 'grandchild', name: 'Grandchild', realm: 'grandchild.example.com', parentId: 'child' },
  { id: 'other', name: 'Other', realm: 'other.example.com', apiKey: KEYS.other },
  { id: 'closed', name: 'Closed', realm: 'closed.example.com', apiKey: KEYS.closed },
]

/** A request to a receiver that waits for its response. */
export interface ReceiverRequest {
  readonly request: SendRequest
  resolve(observation: Observation): void
}

export interface GoldenHarness {
  readonly hs: Hookswitch
  /** Values that a file can use as `{{name}}`. */
  readonly values: Map<string, string>
  perform(action: HostAction): Promise<void>
  /** Waits for the next request to a receiver. */
  nextRequest(): Promise<ReceiverRequest>
  /** Responds to a request, and waits until the service has recorded the attempt. */
  respond(request: ReceiverRequest, observation: Observation): Promise<void>
  /** Requests that no exchange of the file has consumed. */
  readonly unmatched: readonly ReceiverRequest[]
  close(): Promise<void>
}

/** Starts an instance with the options of a file; `hostDirectory: true` keeps the accounts in a directory of the host. */
export async function createHarness(
  factory: StoreFactory,
  options: Readonly<Record<string, unknown>>,
): Promise<GoldenHarness> {
  const clock = manualClock()
  const { hostDirectory: isDirectoryOfHost, ...serviceOptions } = options
  const host = isDirectoryOfHost ? hostDirectory(ACCOUNTS) : undefined
  const { store, dispose } = await factory.create(clock)
  const unmatched: ReceiverRequest[] = []
  const failingStore = createFailingStore(store)
  const hs = createHookswitch({
    store: failingStore.store,
    clock,
    random: seededRandom('golden'),
    secret: 'the secret of the golden files',
    sender: {
      send: (request) => new Promise((resolve) => void unmatched.push({ request, resolve })),
      connect: async (url) =>
        url.startsWith('https:')
          ? { kind: 'connected', certificateValidToMs: Date.UTC(2026, 3, 1) }
          : { kind: 'connected' },
      async close() {
        for (const { resolve } of unmatched.splice(0))
          resolve({ kind: 'own_fault', detail: 'end of the golden file' })
      },
    },
    // Short delays, so that files need not advance the clock far.
    ...(serviceOptions.preset === undefined && { retryPolicy: exponential() }),
    ...serviceOptions,
    ...(host && { directory: host.directory }),
  })
  await hs.start()
  if (!host) for (const account of ACCOUNTS) await hs.accounts.create(account)
  const values = await initialValues(hs)
  // Signed in while it was enabled.
  if (host) host.disable('closed')
  else await hs.accounts.update('closed', { enabled: false })
  return {
    hs,
    values,
    unmatched,
    perform: (action) => performAction(action, { hs, clock, failingStore, values }),
    async nextRequest() {
      await clock.settle()
      return until(() => unmatched.shift(), { description: 'the service sends a request' })
    },
    async respond({ resolve }, observation) {
      const recorded = new Promise((done) => hs.events.once('attempt', done))
      resolve(observation)
      await recorded
      await clock.settle()
    },
    async close() {
      failingStore.setFailure(undefined)
      await hs.close({ drainMs: 0 })
      await dispose()
    },
  }
}

async function initialValues(hs: Hookswitch): Promise<Map<string, string>> {
  const values = new Map<string, string>()
  for (const [account, apiKey] of Object.entries(KEYS)) {
    values.set(`${account}_key`, apiKey)
    values.set(`${account}_token`, (await hs.auth.signIn({ apiKey })).token)
  }
  return values.set('version', VERSION)
}

interface ActionContext {
  readonly hs: Hookswitch
  readonly clock: ManualClock
  readonly failingStore: FailingStore
  readonly values: Map<string, string>
}

async function performAction(
  { name, argument }: HostAction,
  { hs, clock, failingStore, values }: ActionContext,
): Promise<void> {
  switch (name) {
    case 'webhook': {
      const [name, account, input] = argument as [
        string,
        string,
        Parameters<Hookswitch['webhooks']['create']>[1],
      ]
      return void values.set(name, (await hs.webhooks.create(account, input)).id)
    }
    case 'advance':
      return clock.advance(argument as number)
    case 'publish':
      await hs.publish(argument as Parameters<Hookswitch['publish']>[0])
      return clock.settle()
    case 'update': {
      const [account, change] = argument as [string, Parameters<Hookswitch['accounts']['update']>[1]]
      return void (await hs.accounts.update(account, change))
    }
    case 'password': {
      const [account, user, password] = argument as [string, string, string]
      return hs.accounts.setPassword(account, user, password)
    }
    case 'store':
      return failingStore.setFailure(argument as string | undefined)
    case 'close':
      return hs.close({ drainMs: 0 })
    default:
      throw new Error(`unknown action ${name} in a golden file`)
  }
}
