/** An instance in virtual time with a sender that answers at once, and readers of its streams. */
import {
  constant,
  createHookswitch,
  type Hookswitch,
  memoryStore,
  type StreamItem,
  type StreamRequest,
} from 'hookswitch'
import type { Observation } from 'hookswitch/adapter'
import { type ManualClock, manualClock, seededRandom } from 'hookswitch/testkit'
import { onTestFinished } from 'vitest'

export type StreamOptions = Partial<Parameters<typeof createHookswitch>[0]>

export const answer = (status: number): Observation => ({
  kind: 'response',
  status,
  headers: [],
  body: '',
  bodyEnd: 'complete',
})

export interface Instance {
  readonly hs: Hookswitch
  readonly clock: ManualClock
  /** The next observations of requests; 200 if there are none. */
  readonly answers: Observation[]
  /** Creates a webhook of an account for all events. Returns its id. */
  webhook(accountId?: string, changes?: object): Promise<string>
  /** Publishes events of an account, and runs what follows without moving time. */
  publish(count?: number, accountId?: string, fields?: object): Promise<void>
}

let seed = 0

/** Accounts: `top` with `left` and `right` below, and `other`. */
export async function startInstance(
  options: StreamOptions = {},
  clock: ManualClock = manualClock(),
): Promise<Instance> {
  const answers: Observation[] = []
  seed += 1
  const hs = createHookswitch({
    store: memoryStore(),
    clock,
    random: seededRandom(seed),
    retryPolicy: constant(1, { jitter: 0 }),
    defaultRetries: 0,
    pauses: false,
    sender: {
      send: async () => answers.shift() ?? answer(200),
      close: async () => {},
    },
    ...options,
  }) as Hookswitch
  await hs.start()
  onTestFinished(() => hs.close({ drainMs: 0 }))
  const known = (await hs.accounts.list()).map(({ id }) => id)
  for (const id of ['top', 'left', 'right', 'other']) {
    const parent = id === 'left' || id === 'right' ? { parentId: 'top' } : {}
    if (!known.includes(id)) {
      await hs.accounts.create({
        id,
        name: id,
        realm: `${id}.example`,
        apiKey: id.padEnd(64, 'k'),
        ...parent,
      })
    }
  }
  let calls = 0
  return {
    hs,
    clock,
    answers,
    async webhook(accountId = 'top', changes = {}) {
      const input = { name: 'w', uri: 'https://receiver.example/', hook: 'all', ...changes }
      return (await hs.webhooks.create(accountId, input)).id
    },
    async publish(count = 1, accountId = 'top', fields = {}) {
      for (let index = 0; index < count; index += 1) {
        calls += 1
        await hs.publish({ hook: 'channel_create', accountId, callId: `call-${calls}`, ...fields })
      }
      await clock.settle()
    },
  }
}

export interface Reader {
  readonly items: StreamItem[]
  /** Moves time until there are so many items; resolves to all. */
  until(count: number): Promise<readonly StreamItem[]>
  readonly isDone: boolean
  /** What reading rejected with. */
  readonly error: unknown
  stop(): void
}

/** Opens a stream and reads it all the time. Resolves when it is open. */
export async function readStream({ hs, clock }: Instance, request: StreamRequest): Promise<Reader> {
  const abort = new AbortController()
  onTestFinished(() => abort.abort())
  const items: StreamItem[] = []
  let isDone = false
  let error: unknown
  void (async () => {
    try {
      for await (const item of hs.stream({ ...request, signal: abort.signal })) items.push(item)
    } catch (thrown) {
      error = thrown
    }
    isDone = true
  })()
  await clock.settle()
  return {
    items,
    async until(count) {
      await clock.runUntil(() => items.length >= count || isDone, { limitMs: 120_000 })
      return items
    },
    get isDone() {
      return isDone
    },
    get error() {
      return error
    },
    stop: () => abort.abort(),
  }
}

export const typesOf = (items: readonly StreamItem[]): readonly string[] => items.map(({ type }) => type)
export const lastIdOf = (items: readonly StreamItem[]): string =>
  items.flatMap((item) => ('id' in item ? [item.id] : [])).at(-1)!

/** Collects the items of a stream as they arrive, until `stop` or the end of the test. */
export function collectItems(hs: Hookswitch, request: StreamRequest) {
  const abort = new AbortController()
  onTestFinished(() => abort.abort())
  const items: StreamItem[] = []
  void (async () => {
    for await (const item of hs.stream({ ...request, signal: abort.signal })) items.push(item)
  })()
  return { items, stop: () => abort.abort() }
}
