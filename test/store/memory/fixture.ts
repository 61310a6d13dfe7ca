import type { Acceptance, NewDelivery, NewEvent, Settlement } from '../../../src/delivery/delivery-store.js'
import { createPositions, type Positions } from '../../../src/delivery/positions.js'
import type { Group, GroupResult, NodeLease } from '../../../src/delivery/queue-store.js'
import type { Log } from '../../../src/ports.js'
import type { Store } from '../../../src/store/contract.js'
import { memoryStore } from '../../../src/store/memory.js'
import { manualClock } from '../../../src/testkit/clock.js'
import {
  freshId,
  newDelivery,
  newEvent,
  newRecord,
  newWebhook,
} from '../../../src/testkit/conformance/sample-data.js'
import type { Webhook } from '../../../src/webhooks/webhook.js'

export const log: Log = { debug() {}, info() {}, warn() {}, error() {} }

const LEASE_MS = 30_000

type Committed = Extract<GroupResult, { kind: 'committed' }>

/** One node of a memory store, with the version that it has applied. */
class TestNode {
  lease!: NodeLease
  version = 0
  positions!: Positions
  constructor(
    readonly store: Store,
    readonly owner: string,
    readonly now: () => number,
  ) {}

  async own(): Promise<this> {
    this.lease = await this.store.deliveries.own(this.owner, LEASE_MS)
    this.positions = createPositions(this.lease.node)
    this.positions.raise(this.lease.position)
    const part = await this.store.deliveries.load(this.lease, this.lease.shards)
    this.version = part!.version
    return this
  }

  /** Commits a group that must be written. */
  async write(parts: Partial<Group>): Promise<Committed> {
    const result = await this.store.deliveries.commit({
      lease: this.lease,
      version: this.version,
      now: this.now(),
      accepted: [],
      ended: [],
      finished: [],
      pending: 0,
      isRepeat: false,
      ...parts,
    })
    if (result.kind !== 'committed') throw new Error(`the group is ${result.kind}`)
    return result
  }

  /** An acceptance of one event for these webhooks, with positions. */
  acceptance(webhooks: readonly Webhook[], overrides: Partial<NewEvent> = {}): Acceptance {
    const event = { ...newEvent(overrides), position: this.positions.next(this.now()) }
    const deliveries = webhooks.map((webhook) => ({
      ...newDelivery(webhook, event),
      position: event.position,
    }))
    return { events: [event], deliveries }
  }

  /** A replay of a delivery, at a position to itself. */
  replay(webhook: Webhook, original: NewDelivery, event: NewEvent, overrides: Partial<NewDelivery> = {}) {
    const position = this.positions.next(this.now())
    const delivery = {
      ...newDelivery(webhook, event, {
        replayOf: original.id,
        originalPosition: original.position,
        lane: `replay/${freshId('lane')}`,
      }),
      position,
      ...overrides,
    }
    return { events: [], deliveries: [delivery] } satisfies Acceptance
  }

  /** Accepts one event for one webhook; returns its delivery. */
  async accept(webhook: Webhook, overrides: Partial<NewEvent> = {}): Promise<NewDelivery> {
    const acceptance = this.acceptance([webhook], overrides)
    const { accepted } = await this.write({ accepted: [acceptance] })
    if (accepted[0]!.kind === 'refused') throw accepted[0]!.error
    return acceptance.deliveries[0]!
  }

  async end(...ended: Settlement[]) {
    return (await this.write({ ended })).ended
  }

  /** Accepts one event for one webhook and delivers it; returns the delivery's id. */
  async deliver(webhook: Webhook, overrides: Partial<NewEvent> = {}): Promise<string> {
    const delivery = await this.accept(webhook, overrides)
    await this.end(settlement(delivery, {}))
    return delivery.id
  }
}

/** Delivered at the first attempt, unless overridden. */
export function settlement(
  delivery: NewDelivery,
  { next, attempts = 0, ...rest }: Partial<Settlement> & { readonly attempts?: number } = {},
): Settlement {
  const after = { state: 'delivered', attempts: attempts + 1, tries: 1, interruptions: 0, ...next } as const
  const record = newRecord(
    {
      ...delivery,
      state: 'waiting',
      attempts,
      tries: 0,
      interruptions: 0,
      acceptedMs: 0,
    },
    { attempt: after.attempts, result: after.state === 'delivered' ? 'success' : 'failure' },
  )
  return {
    deliveryId: delivery.id,
    webhookId: delivery.webhookId,
    position: delivery.position!,
    expect: { attempts },
    next: after,
    record,
    ...rest,
  }
}

export async function openStore(options: Parameters<typeof memoryStore>[0] = {}) {
  const clock = manualClock()
  const store = memoryStore(options)
  await store.open({ clock, log })
  const now = () => clock.now()
  return {
    store,
    clock,
    now,
    node: (owner = 'node') => new TestNode(store, owner, now).own(),
    async webhook(overrides: Parameters<typeof newWebhook>[0] = {}): Promise<Webhook> {
      const row = newWebhook(overrides)
      await store.webhooks.insert(row)
      return row
    },
    attemptsOf: async ({ accountId, id: webhookId }: Webhook) => {
      const rows = await store.deliveries.attempts({ accountId, webhookId, ascending: true, limit: 99 })
      return rows.map((row) => row.deliveryId)
    },
  }
}
