/**
 * The world in which a golden file plays: five accounts, time that stands at 2026-01-01T00:00:00Z until a deed moves
 * it, chance that repeats itself, and receivers that answer what the file says.
 */
import { createHookswitch, type Hookswitch, type Observation, type SendRequest, VERSION } from 'hookswitch'
import { type ManualClock, manualClock, seededRandom, until } from 'hookswitch/testkit'
import type { Deed } from './golden-file.js'
import type { StoreMaker } from './store-maker.js'
import { type Troubled, trouble } from './troubled-store.js'

/** 64 hex digits each, as the service makes them. */
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

/** A request that waits for the answer of its receiver. */
export interface Sent {
  readonly request: SendRequest
  answer(observation: Observation): void
}

export interface World {
  readonly hs: Hookswitch
  /** Values that a file may use as `{{name}}`. */
  readonly values: Map<string, string>
  do(deed: Deed): Promise<void>
  /** The next request to a receiver that nobody has looked at. */
  sent(): Promise<Sent>
  /** Answers a request, and waits until the service has recorded it. */
  answer(sent: Sent, observation: Observation): Promise<void>
  /** Requests that nobody has looked at. */
  readonly unseen: readonly Sent[]
  close(): Promise<void>
}

/** Opens a world with the options of a file. */
export async function openWorld(
  maker: StoreMaker,
  options: Readonly<Record<string, unknown>>,
): Promise<World> {
  const clock = manualClock()
  const { store, dispose } = await maker.make(clock)
  const unseen: Sent[] = []
  const troubled = trouble(store)
  const hs = createHookswitch({
    store: troubled.store,
    clock,
    random: seededRandom('golden'),
    secret: 'the secret of the golden files',
    sender: {
      send: (request) => new Promise((answer) => void unseen.push({ request, answer })),
      async close() {
        for (const { answer } of unseen.splice(0)) answer({ kind: 'own_fault', detail: 'the file is over' })
      },
    },
    ...options,
  })
  await hs.start()
  for (const account of ACCOUNTS) await hs.accounts.create(account)
  const values = await firstValues(hs)
  return {
    hs,
    values,
    unseen,
    do: (deed) => act(deed, { hs, clock, troubled, values }),
    async sent() {
      await clock.settle()
      return until(() => unseen.shift(), { what: 'the service sends a request' })
    },
    async answer({ answer }, observation) {
      const recorded = new Promise((resolve) => hs.events.once('attempt', resolve))
      answer(observation)
      await recorded
      await clock.settle()
    },
    async close() {
      troubled.say(undefined)
      await hs.close({ drainMs: 0 })
      await dispose()
    },
  }
}

async function firstValues(hs: Hookswitch): Promise<Map<string, string>> {
  const values = new Map<string, string>()
  for (const [account, apiKey] of Object.entries(KEYS)) {
    values.set(`${account}_key`, apiKey)
    values.set(`${account}_token`, (await hs.auth.signIn({ apiKey })).token)
  }
  await hs.accounts.update('closed', { enabled: false })
  return values.set('version', VERSION)
}

interface Stage {
  readonly hs: Hookswitch
  readonly clock: ManualClock
  readonly troubled: Troubled
  readonly values: Map<string, string>
}

async function act({ name, argument }: Deed, { hs, clock, troubled, values }: Stage): Promise<void> {
  switch (name) {
    case 'webhook': {
      const [as, account, wish] = argument as [
        string,
        string,
        Parameters<Hookswitch['webhooks']['create']>[1],
      ]
      return void values.set(as, (await hs.webhooks.create(account, wish)).id)
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
      return troubled.say(argument as string)
    case 'close':
      return hs.close({ drainMs: 0 })
    default:
      throw new Error(`a golden file asks for the unknown deed ${name}`)
  }
}
