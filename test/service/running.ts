/** The whole service on real sockets: our server, the real sender, a scripted receiver. */
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { constant, createHookswitch, type Hookswitch, type HookswitchEvents, memoryStore } from 'hookswitch'
import { createServer } from 'hookswitch/node'
import { type ScriptedReceiver, scriptedReceiver } from 'hookswitch/testkit'
import { afterEach } from 'vitest'
import { type Answer, type Ask, ask } from './client.js'

type Store = ReturnType<typeof memoryStore>
export type Options = Partial<Parameters<typeof createHookswitch>[0]>

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

export interface Running {
  readonly hs: Hookswitch
  readonly receiver: ScriptedReceiver
  readonly port: number
  /** A token of the account `parent`. */
  readonly token: string
  /** Asks with that token, unless another is given. */
  ask(method: string, path: string, what?: Ask): Promise<Answer>
  /** A webhook of `parent` for this path of the receiver; `channel_create` unless it says otherwise. */
  webhook(path: string, wish?: Parameters<Hookswitch['webhooks']['create']>[1]): Promise<string>
  /** Closes everything; may be called again. */
  close(): Promise<void>
}

/** Retries come at once, and never by chance. */
const AT_ONCE = constant(1, { jitter: 0 })

/** Starts services that are closed after each test. */
export function services(): (options?: Options) => Promise<Running> {
  const open: Running[] = []
  afterEach(async () => {
    await Promise.all(open.splice(0).map((running) => running.close()))
  })
  return async (options = {}) => {
    const running = await start(options)
    open.push(running)
    return running
  }
}

async function start(options: Options): Promise<Running> {
  const store: Store = options.store ?? memoryStore()
  const hs = createHookswitch({ allowLocal: true, retryPolicy: AT_ONCE, ...options, store })
  await hs.start()
  const known = options.directory ? [] : (await hs.accounts.list()).map(({ id }) => id)
  if (!options.directory)
    for (const account of ACCOUNTS) if (!known.includes(account.id)) await hs.accounts.create({ ...account })
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
    ask: (method, path, what) => ask(port, method, path, { token, ...what }),
    webhook: async (path, wish = {}) =>
      (
        await hs.webhooks.create('parent', {
          name: path,
          uri: receiver.url(path),
          hook: 'channel_create',
          ...wish,
        })
      ).id,
    async close() {
      // What is in flight ends first: a receiver that never answers would hold the drain up.
      await receiver.close()
      await hs.close()
      await shut(server)
    },
  }
}

export async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Resolves when the server and all of its connections are closed. */
export async function shut(server: Server): Promise<void> {
  if (!server.listening) return
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}

/** The next `count` events of a name, when all of them came. */
export function told<Name extends keyof HookswitchEvents & string>(
  hs: Hookswitch,
  name: Name,
  count = 1,
): Promise<readonly HookswitchEvents[Name][]> {
  return new Promise((resolve) => {
    const seen: HookswitchEvents[Name][] = []
    const listener = (payload: HookswitchEvents[Name]) => {
      seen.push(payload)
      if (seen.length < count) return
      hs.events.off(name, listener)
      resolve(seen)
    }
    hs.events.on(name, listener)
  })
}

/** An event of `parent`. */
export const created = (callId: string, more: object = {}) =>
  ({ hook: 'channel_create', accountId: 'parent', callId, ...more }) as const
