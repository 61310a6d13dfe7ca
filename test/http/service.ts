/** A service on the memory store, whose ports a test can replace, and requests to its HTTP API. */
import { manualClock } from 'hookswitch/testkit'
import { afterEach } from 'vitest'
import type { StoredAttempt } from '../../src/delivery/attempt-record.js'
import type { StoredDelivery } from '../../src/delivery/delivery-queries.js'
import { createHookswitch } from '../../src/hookswitch.js'
import type { ResponseRecord } from '../../src/http/message.js'
import type { HookswitchOptions } from '../../src/options/options.js'
import type { Store } from '../../src/store/contract.js'
import { memoryStore } from '../../src/store/memory.js'
import {
  API_KEY,
  CHILD_ACCOUNT,
  FOREIGN_ACCOUNT,
  jsonOf,
  NOW,
  OWN_ACCOUNT,
  type RequestOptions,
  request,
} from './records.js'

type Mutable<Port> = { -readonly [Name in keyof Port]: Port[Name] }

interface ReplaceableStore extends Store {
  readonly deliveries: Mutable<Store['deliveries']>
  readonly webhooks: Mutable<Store['webhooks']>
  readonly tokens: Mutable<Store['tokens']>
}

const RESPONSE = { kind: 'response', status: 200, headers: [], body: '', bodyEnd: 'complete' } as const
const open: { close(): Promise<void> }[] = []

afterEach(async () => {
  await Promise.all(open.splice(0).map((hs) => hs.close()))
})

interface Query {
  readonly cursor?: number
  readonly ascending?: boolean
  readonly fromMs?: number
  readonly toMs?: number
  readonly limit: number
}

/** The rows of one query, as a store selects them. */
function selectRows<Row extends { readonly position: number }>(
  rows: readonly Row[],
  { cursor, ascending = false, fromMs = -Infinity, toMs = Infinity, limit }: Query,
  atMs: (row: Row) => number,
): Row[] {
  const sign = ascending ? 1 : -1
  return rows
    .filter((row) => cursor === undefined || sign * (row.position - cursor) > 0)
    .filter((row) => atMs(row) >= fromMs && atMs(row) <= toMs)
    .sort((a, b) => sign * (a.position - b.position))
    .slice(0, limit)
}

/** Starts a service with an account, one below it, one beside it, and a webhook; it is closed after the test. */
export async function startService(options: Partial<HookswitchOptions> = {}) {
  const memory = memoryStore()
  const store: ReplaceableStore = {
    ...memory,
    deliveries: { ...memory.deliveries },
    webhooks: { ...memory.webhooks },
    tokens: { ...memory.tokens },
  }
  const clock = manualClock({ nowMs: NOW })
  const sender = { send: async () => RESPONSE, close: async () => {} }
  const hs = createHookswitch({ clock, sender, ...options, store })
  open.push(hs)
  await hs.start()
  for (const [id, apiKey, parentId] of [
    [OWN_ACCOUNT, API_KEY, undefined],
    [CHILD_ACCOUNT, 'c'.repeat(64), OWN_ACCOUNT],
    [FOREIGN_ACCOUNT, 'f'.repeat(64), undefined],
  ] as const)
    await hs.accounts.create({
      id,
      name: id,
      realm: `${id}.example.com`,
      apiKey,
      ...(parentId && { parentId }),
    })
  const { token } = await hs.auth.signIn({ apiKey: API_KEY })
  const settings = { name: 'Hook', uri: 'https://receiver.example.com/', hook: 'channel_create' }
  const { id: webhookId } = await hs.webhooks.create(OWN_ACCOUNT, settings)
  const webhooks = `/v1/accounts/${OWN_ACCOUNT}/webhooks`
  const send = (method: string, url: string, sent?: RequestOptions): Promise<ResponseRecord> =>
    hs.handle(request(method, url, { token, ...sent }))
  return {
    hs,
    clock,
    store,
    token,
    send,
    webhookId,
    /** Path of the webhooks of the account. */
    webhooks,
    /** Path of the webhook. */
    webhook: `${webhooks}/${webhookId}`,
    /** The parsed response to a GET. */
    get: async (url: string) => jsonOf(await send('GET', url)),
    /** Makes the store find these attempts and deliveries, whatever account and webhook is queried. */
    serveRows(rows: { attempts?: readonly StoredAttempt[]; deliveries?: readonly StoredDelivery[] }) {
      const { attempts = [], deliveries = [] } = rows
      store.deliveries.attempts = async (query) => selectRows(attempts, query, (row) => row.atMs)
      store.deliveries.deliveries = async (query) => {
        const found = query.states
          ? deliveries.filter(({ state }) => query.states!.includes(state))
          : deliveries
        return selectRows(found, query, (row) => row.acceptedMs)
      }
      store.deliveries.listPart = async ({ cursor, ascending }) => ({
        cursor: cursor ?? (ascending ? 0 : Number.MAX_SAFE_INTEGER),
        end: ascending ? Number.MAX_SAFE_INTEGER : 0,
        hasMore: false,
      })
      store.deliveries.delivery = async (_, id) => deliveries.find((row) => row.id === id)
    },
  }
}
