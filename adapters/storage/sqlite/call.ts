import type {
  AccountStore,
  DeliveryStore,
  HookswitchError,
  InboxStore,
  TokenStore,
  WebhookStore,
} from 'hookswitch/store'

/** What a method does to the database; `alone`: it stands outside any transaction. */
export type Effect = 'reads' | 'writes' | 'alone'

/** The doors of the contract whose methods go to the engine. */
interface Doors {
  readonly accounts: AccountStore
  readonly tokens: TokenStore
  readonly webhooks: WebhookStore
  readonly deliveries: Omit<DeliveryStore, 'subscribe'>
  readonly inbox: Pick<InboxStore, 'staged'>
}

export type DoorName = keyof Doors

/** Every method, by its door. */
export const METHODS: {
  readonly [Door in DoorName]: Readonly<Record<keyof Doors[Door], Effect>>
} = {
  accounts: {
    insert: 'writes',
    update: 'writes',
    remove: 'writes',
    lineage: 'reads',
    descendants: 'reads',
    byRealm: 'reads',
    byName: 'reads',
    list: 'reads',
    putUser: 'writes',
    removeUser: 'writes',
    users: 'reads',
    user: 'reads',
    userByCredential: 'reads',
    apiKey: 'reads',
    apiKeyByHash: 'reads',
    putApiKey: 'writes',
  },
  tokens: { issue: 'writes', read: 'reads', revoke: 'writes', revokeAll: 'writes', pruneTokens: 'writes' },
  webhooks: { insert: 'writes', read: 'reads', list: 'reads', candidates: 'reads', replace: 'writes' },
  deliveries: {
    accept: 'writes',
    own: 'writes',
    renew: 'writes',
    release: 'writes',
    ready: 'reads',
    claim: 'writes',
    settle: 'writes',
    orphans: 'reads',
    stale: 'reads',
    webhookOf: 'reads',
    delivery: 'reads',
    deliveries: 'reads',
    attempts: 'reads',
    legs: 'reads',
    pending: 'reads',
    prune: 'writes',
    erase: 'writes',
    mentions: 'reads',
    scrub: 'alone',
  },
  inbox: { staged: 'reads' },
}

/** One call of a store's door, as it travels to the engine. */
export interface Call {
  readonly door: DoorName
  readonly method: string
  readonly args: readonly unknown[]
}

export function effectOf({ door, method }: Call): Effect {
  return (METHODS[door] as Readonly<Record<string, Effect>>)[method]!
}

/** How a call ended. */
export type Outcome = { readonly value: unknown } | { readonly failure: HookswitchError }

/** A door of the contract whose methods ask `ask`. */
export function doorOf<Name extends DoorName>(
  door: Name,
  ask: (call: Call) => Promise<unknown>,
): Doors[Name] {
  const methods = Object.keys(METHODS[door]).map((method) => [
    method,
    (...args: unknown[]) => ask({ door, method, args }),
  ])
  return Object.fromEntries(methods) as Doors[Name]
}
