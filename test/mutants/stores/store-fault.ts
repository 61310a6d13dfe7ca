import type { Acceptance, Settlement } from '../../../src/delivery/delivery-store.js'
import type {
  AcceptanceResult,
  Group,
  GroupResult,
  LoadedPart,
  NodeLease,
  QueueStore,
  WaitingDeliveries,
} from '../../../src/delivery/queue-store.js'
import type { Clock } from '../../../src/ports.js'
import type { SimulationOptions } from '../../../src/simulator/index.js'
import type { Store } from '../../../src/store/contract.js'

/** Adds a defect to a correct store. */
export type Break = (store: Store, clock: Clock) => Store

/** The checks of `caughtBy` that are no group of the conformance suite: the store model, without and with concurrent calls. */
export const STORE_MODEL = 'store model'
export const RACING_MODEL = 'store model with concurrent calls'

/** How the simulation runs in which a defect shows. */
export interface Scenario {
  /** Options that the defect needs to show. */
  readonly options?: SimulationOptions
  /** A seed in which it shows early. Default: one in which most defects do. */
  readonly seed?: number
  /** How many other seeds are tried when that one does not show it any more. Default 7. */
  readonly otherSeeds?: number
  /** True: the defect is in how each node uses the store, not in the store that they share. Default false. */
  readonly isPerNode?: boolean
}

/** A defect, and what adds it to a correct store. */
export interface StoreFault extends Scenario {
  readonly what: string
  /**
   * The checks, each of which must notice it: groups of the conformance suite, `STORE_MODEL`, `RACING_MODEL`, or an
   * invariant of the simulator (`I10 or I19`: one of them).
   */
  readonly caughtBy: readonly string[]
  readonly breakStore: Break
  /** Replaces `StoreHarness.reopen`, which returns the same store. */
  readonly reopen?: (store: Store) => Promise<Store>
}

type Port =
  | 'accounts'
  | 'tokens'
  | 'webhooks'
  | 'openLegs'
  | 'replays'
  | 'holds'
  | 'encryption'
  | 'stats'
  | 'callIndex'
  | 'inbox'
  | 'live'
  | 'deliveries'
type PortOf<Name extends Port> = NonNullable<Store[Name]>

/** Replaces some methods of one port. */
export function withPort<Name extends Port>(
  name: Name,
  replace: (port: PortOf<Name>, store: Store, clock: Clock) => Partial<PortOf<Name>>,
): Break {
  return (store, clock) => {
    const port = store[name] as PortOf<Name>
    return { ...store, [name]: { ...port, ...replace(port, store, clock) } }
  }
}

/** A function that makes the faults of one port that one group of rules notices, and all of which `others` notice. */
export const faultsOf =
  <Name extends Port>(group: string, name: Name, others: readonly string[] = []) =>
  (
    what: string,
    replace: Parameters<typeof withPort<Name>>[1],
    alsoCaughtBy: readonly string[] = [],
    scenario: Scenario = {},
  ): StoreFault => ({
    what,
    caughtBy: [group, ...others, ...alsoCaughtBy],
    breakStore: withPort(name, replace),
    ...scenario,
  })

export type Committed = Extract<GroupResult, { kind: 'committed' }>

/** Replaces what `commit` gets. */
export const onGroup = (change: (group: Group) => Group) => (store: QueueStore) => ({
  commit: (group: Group) => store.commit(change(group)),
})

/** Replaces every acceptance that `commit` gets. */
export const onAcceptance = (change: (acceptance: Acceptance, group: Group) => Acceptance) =>
  onGroup((group) => ({ ...group, accepted: group.accepted.map((acceptance) => change(acceptance, group)) }))

/** Replaces every settlement that `commit` gets. */
export const onSettlement = (change: (settlement: Settlement) => Settlement) =>
  onGroup((group) => ({ ...group, ended: group.ended.map(change) }))

/** Replaces what `commit` returns for a group that is committed. */
export const onCommitted =
  (change: (result: Committed, group: Group) => Committed | Promise<Committed>) => (store: QueueStore) => ({
    async commit(group: Group) {
      const result = await store.commit(group)
      return result.kind === 'committed' ? change(result, group) : result
    },
  })

/** Replaces what `load` returns. */
export const onLoad = (change: (part: LoadedPart) => LoadedPart) => (store: QueueStore) => ({
  async load(...args: Parameters<QueueStore['load']>) {
    const part = await store.load(...args)
    return part && change(part)
  },
})

/** Replaces what `own` and `renew` return. */
export const onLease = (change: (lease: NodeLease) => NodeLease) => (store: QueueStore) => ({
  own: async (owner: string, leaseMs: number) => change(await store.own(owner, leaseMs)),
  renew: async (owner: string, leaseMs: number) => change(await store.renew(owner, leaseMs)),
})

/** The same rows in another order, or some of them. */
export function pick(waiting: WaitingDeliveries, rows: readonly number[]): WaitingDeliveries {
  const { webhookIds } = waiting
  return {
    count: rows.length,
    webhookIds,
    webhook: Uint32Array.from(rows, (row) => waiting.webhook[row]!),
    position: Float64Array.from(rows, (row) => waiting.position[row]!),
    lane: Float64Array.from(rows, (row) => waiting.lane[row]!),
    sequence: Uint32Array.from(rows, (row) => waiting.sequence[row]!),
    dueMs: Float64Array.from(rows, (row) => waiting.dueMs[row]!),
    epoch: Uint32Array.from(rows, (row) => waiting.epoch[row]!),
    attempts: Uint32Array.from(rows, (row) => waiting.attempts[row]!),
    tries: Uint32Array.from(rows, (row) => waiting.tries[row]!),
    interruptions: Uint8Array.from(rows, (row) => waiting.interruptions[row]!),
    failedMs: Float64Array.from(rows, (row) => waiting.failedMs[row]!),
  }
}

/** Waiting deliveries without their first failures. */
export const withoutFailures = (waiting: WaitingDeliveries): WaitingDeliveries => ({
  ...waiting,
  failedMs: new Float64Array(waiting.count),
})

export const indexes = ({ count }: WaitingDeliveries) => Array.from({ length: count }, (_, row) => row)

/** Only the rows that fulfil a condition. */
export const filterRows = (waiting: WaitingDeliveries, keep: (row: number) => boolean) =>
  pick(waiting, indexes(waiting).filter(keep))

/** Rewrites the rows of a load. */
export const onRows = (change: (waiting: WaitingDeliveries, part: LoadedPart) => WaitingDeliveries) =>
  onLoad((part) => ({ ...part, waiting: change(part.waiting, part) }))

export const accepted = ({ events }: Acceptance): AcceptanceResult => ({
  kind: 'accepted',
  events: events.map(({ id }) => ({ id, sequence: 1, duplicate: false })),
  mayHaveGap: false,
})

/** Remembers the last lease that each call of `own` or `renew` returned, over all nodes. */
export function lastLease(store: QueueStore) {
  let lease: NodeLease | undefined
  const remember = (next: NodeLease) => {
    if (next.shards.length > 0) lease = next
    return next
  }
  return {
    current: () => lease!,
    methods: {
      own: async (owner: string, leaseMs: number) => remember(await store.own(owner, leaseMs)),
      renew: async (owner: string, leaseMs: number) => remember(await store.renew(owner, leaseMs)),
    },
  }
}

/** The version that a node would read now. */
export async function versionOf(store: QueueStore, lease: { owner: string; fence: number }): Promise<number> {
  return (await store.load(lease, []))?.version ?? 0
}

const PART = 7

/** No defect: loads are divided into parts of a few deliveries. */
export const smallParts: Break = withPort('deliveries', (store) => ({
  async load(lease, shards, cursor) {
    const whole = await store.load(lease, shards)
    if (!whole) return undefined
    const from = Number(cursor ?? 0)
    const rows = indexes(whole.waiting).slice(from, from + PART)
    const used = [...new Set(rows.map((row) => whole.waiting.webhook[row]!))]
    const waiting = {
      ...pick(whole.waiting, rows),
      webhookIds: used.map((index) => whole.waiting.webhookIds[index]!),
      webhook: Uint32Array.from(rows, (row) => used.indexOf(whole.waiting.webhook[row]!)),
    }
    const webhooks = whole.webhooks.filter(({ id }) => waiting.webhookIds.includes(id))
    const part = { version: whole.version, waiting, webhooks, interrupted: [] }
    return from + PART < whole.waiting.count
      ? { ...part, cursor: String(from + PART) }
      : { ...part, interrupted: whole.interrupted }
  },
}))
