/** The whole service on real sockets: HTTP server, default sender and a scripted receiver. */
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { constant, createHookswitch, type Hookswitch, type HookswitchEvents, memoryStore } from 'hookswitch'
import { createServer } from 'hookswitch/node'
import { type ScriptedReceiver, scriptedReceiver } from 'hookswitch/testkit'
import { afterEach } from 'vitest'
import { type ApiRequest, type ApiResponse, callApi } from './api-client.js'

type Store = ReturnType<typeof memoryStore>
export type ServiceOptions = Partial<Parameters<typeof createHookswitch>[0]>

export const API_KEY = 'k'.repeat(64)
export const ACCOUNTS = [
  {
    id: 'parent',
    name: 'Parent Telecom',
    realm: 'parent.example.com',
    apiKey: API_KEY,
    users: [{ id: 'ada', username: 'Ada', password: 'lovelace' }],
  },
  { id: 'child', name: 'Child', realm: 'child.example.com', parentId: 'parent', apiKey: 'c'.repeat(64) },
  { id: 'other', name: 'Other', realm: 'other.example.com', apiKey: 'o'.repeat(64) },
] as const

export interface RunningService {
  readonly hs: Hookswitch
  readonly receiver: ScriptedReceiver
  readonly port: number
  /** A token of the account `parent`. */
  readonly token: string
  /** Calls the HTTP API with `token`, unless the request has another. */
  callApi(method: string, path: string, request?: ApiRequest): Promise<ApiResponse>
  /** Creates a webhook of `parent` for a path of the receiver; `hook` defaults to `channel_create`. Returns its id. */
  createWebhook(path: string, input?: Parameters<Hookswitch['webhooks']['create']>[1]): Promise<string>
  /** Closes everything; may be called twice. */
  close(): Promise<void>
}

/** Retries immediately, without jitter. */
const IMMEDIATE = constant(1, { jitter: 0 })

/** Returns a function that starts services; they are closed after each test. */
export function serviceFixture(): (options?: ServiceOptions) => Promise<RunningService> {
  const open: RunningService[] = []
  afterEach(async () => {
    await Promise.all(open.splice(0).map((running) => running.close()))
  })
  return async (options = {}) => {
    const running = await start(options)
    open.push(running)
    return running
  }
}

async function start(options: ServiceOptions): Promise<RunningService> {
  const store: Store = options.store ?? memoryStore()
  const hs = createHookswitch({ allowLocal: true, retryPolicy: IMMEDIATE, ...options, store })
  await hs.start()
  const existing = options.directory ? [] : (await hs.accounts.list()).map(({ id }) => id)
  if (!options.directory)
    for (const account of ACCOUNTS)
      if (!existing.includes(account.id)) await hs.accounts.create({ ...account })
  const { token } = await hs.auth.signIn({ apiKey: API_KEY })
  const receiver = scriptedReceiver()
  await receiver.start()
  const server = createServer(hs)
  const port = await listen(server)
  return {
    hs,
    receiver,
    port,
    token,
    callApi: (method, path, request) => callApi(port, method, path, { token, ...request }),
    createWebhook: async (path, input = {}) =>
      (
        await hs.webhooks.create('parent', {
          name: path,
          uri: receiver.url(path),
          hook: 'channel_create',
          ...input,
        })
      ).id,
    async close() {
      // Ends requests in flight first: a receiver that never responds would delay the drain.
      await receiver.close()
      await hs.close()
      await closeServer(server)
    },
  }
}

export async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Closes a server and all its connections. */
export async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}

/** Resolves to the next `count` events of a name. */
export function nextEvents<Name extends keyof HookswitchEvents & string>(
  hs: Hookswitch,
  name: Name,
  count = 1,
): Promise<readonly HookswitchEvents[Name][]> {
  return new Promise((resolve) => {
    const received: HookswitchEvents[Name][] = []
    const listener = (payload: HookswitchEvents[Name]) => {
      received.push(payload)
      if (received.length < count) return
      hs.events.off(name, listener)
      resolve(received)
    }
    hs.events.on(name, listener)
  })
}

/** A `channel_create` event of the account `parent`. */
export const channelCreate = (callId: string, fields: object = {}) =>
  ({ hook: 'channel_create', accountId: 'parent', callId, ...fields }) as const
