/** Webhook owners: they create, change, disable and delete webhooks, and replay deliveries. */

import { errorCode } from '../errors.js'
import type { RunningNode } from './cluster.js'
import type { WebhookChange, WebhookHistory, WebhookInput } from './history.js'
import type { Receiver } from './receivers.js'
import type { Secrets } from './secrets.js'
import { repeatedly, type Workload, type WorkloadDeps } from './workload.js'

interface AdminActorDeps extends WorkloadDeps {
  readonly receivers: readonly Receiver[]
  readonly secrets: Secrets
}

export interface AdminActors extends Workload {
  /** Creates the accounts and the first webhooks, before any fault. */
  prepare(): Promise<void>
  readonly accounts: readonly string[]
  /** API keys by account. */
  readonly keys: ReadonlyMap<string, string>
}

/** `branch` is below `root`; `rival` is unrelated. */
const ACCOUNTS = [
  { id: 'root', name: 'Root', realm: 'root.example' },
  { id: 'branch', name: 'Branch', realm: 'branch.example', parentId: 'root' },
  { id: 'rival', name: 'Rival', realm: 'rival.example' },
]
const HOOKS = ['all', 'all', 'channel_create', 'channel_answer', 'channel_destroy']
/** Webhooks with a filter get no call from here. */
const FILTERED_REALM = 'root.example'
/** An owner gives up after this time. */
const TIMEOUT_MS = 60_000
const EDIT_GAP_MS = 360_000
/** How often an edit comes with a step of a replay job. */
const REPLAY_CHANCE = 0.5
/** Maximum number of live webhooks, so that a long run has no larger fan-out than a short one. */
const MAX_WEBHOOKS = 5

export function createAdminActors(deps: AdminActorDeps): AdminActors {
  const { queue, trace, history, random, cluster, receivers, secrets } = deps
  /** Separate streams: seeds recorded before these existed still produce the same runs. */
  const narrowing = random.stream('narrowing')
  const jobs = random.stream('replay jobs')
  const keys = new Map<string, string>()
  let created = 0

  function drawInput(): WebhookInput {
    const hook = random.pick(HOOKS)
    return {
      hook,
      ...(hook === 'all' && narrowing.chance(0.3) && { only: ['channel_create', 'channel_destroy'] }),
      ...(narrowing.chance(0.15) && { filter: { not: { suffix: { from: FILTERED_REALM } } } }),
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

  async function create({ hs }: RunningNode): Promise<void> {
    const accountId = random.pick(ACCOUNTS).id
    const receiver = random.pick(receivers).name
    const drawn = drawInput()
    const { isDeleted: _, ...input } = drawn
    created += 1
    const change = openChange(drawn)
    const { id } = await hs.webhooks.create(accountId, {
      name: `w${created}`,
      uri: `http://${receiver}/${created}`,
      ...input,
    })
    change.doneMs = queue.now()
    change.outcome = 'done'
    history.webhooks.set(id, { id, accountId, receiver, changes: [change], disabledMs: [] })
    trace.step(queue.now(), `webhook created: ${JSON.stringify(input)}`, id, accountId, receiver)
  }

  function openChange(input: WebhookInput): WebhookChange {
    return { atMs: queue.now(), doneMs: Number.POSITIVE_INFINITY, input, outcome: 'open' }
  }

  async function edit({ hs, life }: RunningNode, webhook: WebhookHistory): Promise<void> {
    const before = webhook.changes.at(-1)!.input
    const action = random.weighted({ disable: 3, enable: 4, change: 3, remove: 1 })
    const input: WebhookInput = {
      ...(action === 'change' ? drawInput() : before),
      enabled: action !== 'disable',
      isDeleted: action === 'remove',
    }
    const change = openChange(input)
    webhook.changes.push(change)
    trace.step(queue.now(), `webhook: ${action}`, webhook.id, life.name)
    const { isDeleted: _, only = null, filter = null, ...rest } = input
    const patch = { ...rest, only, filter }
    const { accountId, id } = webhook
    const edited =
      action === 'remove' ? hs.webhooks.remove(accountId, id) : hs.webhooks.patch(accountId, id, patch)
    const ended = edited.then(
      () => 'done' as const,
      (thrown) => (errorCode(thrown) === 'StoreUnavailable' ? 'unknown' : 'failed'),
    )
    // A crashed node never answers: the owner gives up, and the outcome is unknown.
    const timeout = queue.sleep(TIMEOUT_MS).then(() => 'unknown' as const)
    change.outcome = await Promise.race([ended, timeout])
    if (change.outcome !== 'unknown') change.doneMs = queue.now()
    trace.step(queue.now(), `webhook: ${action} ${change.outcome}`, webhook.id, life.name)
  }

  /** Replays one of the latest ended deliveries. */
  async function replay({ hs, life }: RunningNode, { accountId, id }: WebhookHistory): Promise<void> {
    const states = ['delivered', 'exhausted', 'cancelled', 'expired', 'quarantined'] as const
    const ended = await hs.webhooks.deliveries(accountId, id, { limit: 5, states })
    if (ended.length === 0) return
    const deliveryId = random.pick(ended).id
    trace.step(queue.now(), `replay of ${deliveryId}`, id, deliveryId, life.name)
    await hs.webhooks.replay(accountId, id, deliveryId)
  }

  /** Replays all that an account has lost, or pauses, continues or cancels an earlier replay. */
  async function replayAll({ hs, life }: RunningNode): Promise<void> {
    const accountId = jobs.pick(ACCOUNTS).id
    const [last] = await hs.replays.list({ accountId, limit: 1 })
    if (last && last.endedMs === undefined) {
      const state = jobs.pick(['running', 'running', 'paused', 'cancelled'] as const)
      trace.step(queue.now(), `replay ${last.id} is ${state}`, accountId, life.name)
      await hs.replays.set(last.id, state, accountId)
      return
    }
    const { id, count } = await hs.replays.start({ accountId })
    trace.step(queue.now(), `replay ${id} of ${count} deliveries`, accountId, life.name)
  }

  const editOrReplay = (node: RunningNode, webhook: WebhookHistory) =>
    random.chance(0.3) ? replay(node, webhook) : edit(node, webhook)

  function step(up: readonly RunningNode[]): void {
    const node = random.pick(up)
    if (jobs.chance(REPLAY_CHANCE)) replayAll(node).catch(() => {})
    const live = [...history.webhooks.values()].filter(
      ({ changes }) => !changes.at(-1)!.input.isDeleted && changes.at(-1)!.outcome !== 'open',
    )
    const work =
      live.length === 0 || (live.length < MAX_WEBHOOKS && random.chance(0.2))
        ? create(node)
        : editOrReplay(node, random.pick(live))
    // Owners do not repeat what a node rejects.
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
      const count = random.integer(2, MAX_WEBHOOKS)
      for (let index = 0; index < count; index += 1) await create(first!)
    },
    ...repeatedly(deps, EDIT_GAP_MS, step),
  }
}
