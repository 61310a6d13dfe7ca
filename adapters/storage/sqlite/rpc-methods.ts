/** The store methods that the engine executes, as requests that can be sent to a thread. */
import type {
  AccountStore,
  CallIndexStore,
  EncryptionStore,
  HoldStore,
  HookswitchError,
  InboxStore,
  OpenLegStore,
  QueueStore,
  ReplayStore,
  StatsStore,
  TokenStore,
  WebhookStore,
} from 'hookswitch/store'
import type { Encoded } from './encoded-values.js'
import type { SerializedError } from './serialized-error.js'

/** What a method does to the database; `noTransaction`: it must run outside any transaction. */
type MethodEffect = 'read' | 'write' | 'noTransaction'

/** The accounts port as the engine executes it (`account-client.ts`). */
export interface RpcAccounts extends Omit<AccountStore, 'insert' | 'list' | 'users'> {
  /** Inserts accounts in order. Resolves to those that were refused. @param rows see `writeAccountRows` */
  insertAll(rows: Encoded, count: number): Promise<readonly RefusedAccount[]>
  /** A JSON array of all accounts, sorted by id. */
  listDocs(): Promise<string>
  /** A JSON array with the users of each account, in any order. */
  userDocs(accountIds: readonly string[]): Promise<string>
}

/** An account of several, by its place from 0, that was not inserted. */
export interface RefusedAccount {
  readonly index: number
  readonly error: SerializedError
}

/** The ports of the store contract whose methods the engine executes. */
interface RpcPorts {
  readonly accounts: RpcAccounts
  readonly tokens: TokenStore
  readonly webhooks: WebhookStore
  readonly deliveries: Omit<QueueStore, 'subscribe'>
  readonly inbox: Pick<InboxStore, 'staged'>
  readonly openLegs: OpenLegStore
  readonly replays: ReplayStore
  readonly encryption: EncryptionStore
  readonly holds: HoldStore
  readonly stats: StatsStore
  readonly callIndex: CallIndexStore
}

type PortName = keyof RpcPorts

const METHODS: {
  readonly [Port in PortName]: Readonly<Record<keyof RpcPorts[Port], MethodEffect>>
} = {
  accounts: {
    insertAll: 'write',
    update: 'write',
    remove: 'write',
    wasRemoved: 'read',
    lineage: 'read',
    descendants: 'read',
    countDescendants: 'read',
    accountPage: 'read',
    byRealm: 'read',
    byName: 'read',
    listDocs: 'read',
    putUser: 'write',
    removeUser: 'write',
    userDocs: 'read',
    userPage: 'read',
    userByName: 'read',
    user: 'read',
    userByCredential: 'read',
    apiKey: 'read',
    apiKeyByHash: 'read',
    putApiKey: 'write',
  },
  tokens: { issue: 'write', read: 'read', revoke: 'write', revokeAll: 'write', pruneTokens: 'write' },
  webhooks: {
    insert: 'write',
    read: 'read',
    list: 'read',
    page: 'read',
    candidates: 'read',
    unhealthy: 'read',
    ids: 'read',
    replace: 'write',
  },
  deliveries: {
    own: 'write',
    renew: 'write',
    handOver: 'read',
    release: 'write',
    nodes: 'read',
    load: 'read',
    completeTakeover: 'write',
    commit: 'write',
    bodies: 'read',
    changes: 'read',
    poll: 'read',
    webhookOf: 'read',
    delivery: 'read',
    deliveries: 'read',
    search: 'read',
    attempts: 'read',
    eventBodies: 'read',
    attemptLog: 'read',
    lastSuccesses: 'read',
    activity: 'read',
    listPart: 'read',
    countReplayable: 'read',
    eventOf: 'read',
    legs: 'read',
    prune: 'write',
    historyBytes: 'read',
    pruneOldest: 'write',
    erase: 'write',
    mentions: 'read',
    scrub: 'noTransaction',
  },
  inbox: { staged: 'read' },
  openLegs: { write: 'write', list: 'read', erase: 'write', mentions: 'read', prune: 'write' },
  replays: {
    create: 'write',
    read: 'read',
    list: 'read',
    unfinished: 'read',
    replace: 'write',
    prune: 'write',
    erase: 'write',
  },
  encryption: { record: 'read', replaceRecord: 'write', encryptedRows: 'read', reencrypt: 'write' },
  holds: { list: 'read', put: 'write', remove: 'write' },
  stats: { add: 'write', read: 'read', totals: 'read', prune: 'write' },
  callIndex: {
    write: 'write',
    events: 'read',
    calls: 'read',
    excess: 'read',
    erase: 'write',
    trim: 'write',
    prune: 'write',
  },
}

/** A call of a store method. */
export interface RpcRequest {
  readonly port: PortName
  readonly method: string
  readonly args: readonly unknown[]
  /** Buffers in `args` that are moved to the thread instead of being copied. */
  readonly transfer?: readonly ArrayBufferLike[]
}

export function effectOf({ port, method }: RpcRequest): MethodEffect {
  return (METHODS[port] as Readonly<Record<string, MethodEffect>>)[method]!
}

/** The result of a request. */
export type RpcResult = { readonly value: unknown } | { readonly error: HookswitchError }

/** Creates a port of the store contract whose methods send requests. */
export function createPortClient<Name extends PortName>(
  port: Name,
  request: (call: RpcRequest) => Promise<unknown>,
): RpcPorts[Name] {
  const methods = Object.keys(METHODS[port]).map((method) => [
    method,
    (...args: unknown[]) => request({ port, method, args }),
  ])
  return Object.fromEntries(methods) as RpcPorts[Name]
}
