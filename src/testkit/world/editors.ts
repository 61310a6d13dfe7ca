import { errorCode } from '../../errors.js'
import type { SeededRandom } from '../random.js'
import type { Cluster, Running } from './cluster.js'
import type { Ledger, WebhookChange, WebhookHistory, WebhookWish } from './ledger.js'
import { paced } from './paced.js'
import type { Receiver } from './receivers.js'
import type { RunQueue } from './run-queue.js'
import type { Secrets } from './secrets.js'
import type { Trace } from './trace.js'

export interface EditorDoors {
  readonly queue: RunQueue
  readonly trace: Trace
  readonly ledger: Ledger
  readonly random: SeededRandom
  readonly cluster: Cluster
  readonly receivers: readonly Receiver[]
  readonly secrets: Secrets
}

/** Owners of webhooks: they make, change, disable and delete them. */
export interface Editors {
  /** Accounts and the first webhooks, before anything goes wrong. */
  prepare(): Promise<void>
  /** `haste`: how many times as often as in a run of an hour. */
  begin(untilMs: number, haste: number): void
  readonly accounts: readonly string[]
  /** Their API keys. */
  readonly keys: ReadonlyMap<string, string>
}

/** `branch` is below `root`, `rival` is on its own. */
const ACCOUNTS = [
  { id: 'root', name: 'Root', realm: 'root.example' },
  { id: 'branch', name: 'Branch', realm: 'branch.example', parentId: 'root' },
  { id: 'rival', name: 'Rival', realm: 'rival.example' },
]
const HOOKS = ['all', 'all', 'channel_create', 'channel_answer', 'channel_destroy']
const PATIENCE_MS = 60_000
const EDIT_GAP_MS = 360_000
/** So many are made at first, at most, and no more while there are so many: a long run is no wider than a short one. */
const MOST_WEBHOOKS = 5

export function createEditors(doors: EditorDoors): Editors {
  const { queue, trace, ledger, random, cluster, receivers, secrets } = doors
  const keys = new Map<string, string>()
  let made = 0

  function drawWish(): WebhookWish {
    return {
      hook: random.pick(HOOKS),
      enabled: true,
      includeSubaccounts: random.chance(0.4),
      includeInternalLegs: random.chance(0.5),
      retries: random.integer(0, 4),
      ordering: random.chance(0.8) ? 'call' : 'none',
      httpVerb: random.pick(['post', 'post', 'post', 'put', 'get'] as const),
      format: random.chance(0.8) ? 'json' : 'form-data',
      ...(random.chance(0.15) && { maxAgeSeconds: random.integer(5, 120) }),
      isDeleted: false,
    }
  }

  async function create({ hs }: Running): Promise<void> {
    const accountId = random.pick(ACCOUNTS).id
    const receiver = random.pick(receivers).name
    const drawn = drawWish()
    const { isDeleted: _, ...wish } = drawn
    made += 1
    const change = begun(drawn)
    const { id } = await hs.webhooks.create(accountId, {
      name: `w${made}`,
      uri: `http://${receiver}/${made}`,
      ...wish,
    })
    change.doneMs = queue.now()
    change.outcome = 'done'
    ledger.webhooks.set(id, { id, accountId, receiver, changes: [change], disabledMs: [] })
    trace.step(queue.now(), `webhook made: ${JSON.stringify(wish)}`, id, accountId, receiver)
  }

  function begun(wish: WebhookWish): WebhookChange {
    return { atMs: queue.now(), doneMs: Number.POSITIVE_INFINITY, wish, outcome: 'open' }
  }

  async function edit({ hs, life }: Running, history: WebhookHistory): Promise<void> {
    const before = history.changes.at(-1)!.wish
    const how = random.weighted({ disable: 3, enable: 4, change: 3, remove: 1 })
    const wish: WebhookWish = {
      ...(how === 'change' ? drawWish() : before),
      enabled: how !== 'disable',
      isDeleted: how === 'remove',
    }
    const change = begun(wish)
    history.changes.push(change)
    trace.step(queue.now(), `webhook: ${how}`, history.id, life.name)
    const { isDeleted: _, ...patch } = wish
    const { accountId, id } = history
    const verb =
      how === 'remove' ? hs.webhooks.remove(accountId, id) : hs.webhooks.patch(accountId, id, patch)
    const ended = verb.then(
      () => 'done' as const,
      (thrown) => (errorCode(thrown) === 'StoreUnavailable' ? 'unknown' : 'failed'),
    )
    // A node that died answers nobody: whoever asked gives up, and does not know.
    change.outcome = await Promise.race([ended, queue.sleep(PATIENCE_MS).then(() => 'unknown' as const)])
    if (change.outcome !== 'unknown') change.doneMs = queue.now()
    trace.step(queue.now(), `webhook: ${how} ${change.outcome}`, history.id, life.name)
  }

  /** Sends one of the latest ended deliveries once more. */
  async function replay({ hs, life }: Running, { accountId, id }: WebhookHistory): Promise<void> {
    const states = ['delivered', 'exhausted', 'cancelled', 'expired', 'quarantined'] as const
    const ended = await hs.webhooks.deliveries(accountId, id, { limit: 5, states })
    if (ended.length === 0) return
    const deliveryId = random.pick(ended).id
    trace.step(queue.now(), `replay of ${deliveryId}`, id, deliveryId, life.name)
    await hs.webhooks.replay(accountId, id, { deliveryId })
  }

  const change = (on: Running, history: WebhookHistory) =>
    random.chance(0.3) ? replay(on, history) : edit(on, history)

  function step(): void {
    const up = cluster.up()
    if (up.length === 0) return
    const on = random.pick(up)
    const live = [...ledger.webhooks.values()].filter(
      ({ changes }) => !changes.at(-1)!.wish.isDeleted && changes.at(-1)!.outcome !== 'open',
    )
    const work =
      live.length === 0 || (live.length < MOST_WEBHOOKS && random.chance(0.2))
        ? create(on)
        : change(on, random.pick(live))
    // What a node refuses, or cannot do now, its owner asks for no more.
    work.catch(() => {})
  }

  return {
    accounts: ACCOUNTS.map(({ id }) => id),
    keys,
    async prepare() {
      const [first] = cluster.up()
      for (const account of ACCOUNTS) {
        const { apiKey } = await first!.hs.accounts.create(account)
        keys.set(account.id, apiKey)
        secrets.add(apiKey)
      }
      const count = random.integer(2, MOST_WEBHOOKS)
      for (let index = 0; index < count; index += 1) await create(first!)
    },
    begin: (untilMs, haste) => paced(queue, random, { gapMs: EDIT_GAP_MS / haste, untilMs }, step),
  }
}
