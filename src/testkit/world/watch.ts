import type {
  Acceptance,
  AcceptedEvent,
  ClaimResult,
  Ownership,
  Settled,
  Settlement,
} from '../../delivery/delivery-store.js'
import type { Webhook } from '../../webhooks/webhook.js'
import { type KnownDelivery, mayFollow } from './book.js'
import type { Running } from './cluster.js'
import { disruptionsBetween } from './disruptions.js'
import type { NodeLife } from './node-life.js'
import type { StoreOperation } from './store-door.js'
import { settlementWatch, type WatchDoors } from './watch-settlements.js'

/** Looks at everything that the store has carried out, as it happens: what must hold at every moment. */
export interface Watch {
  carriedOut(operation: StoreOperation, args: readonly unknown[], result: unknown): void
  sending(life: NodeLife, inFlight: ReadonlyMap<string, number>, total: number, group: string): void
  /** `listeners`: those that the store still tells. */
  closed(running: Running, listeners: number): void
}

/** Writes that may carry a secret. */
const WRITES = new Set(['insert', 'replace', 'update', 'putUser', 'putApiKey', 'issue', 'settle'])
/** So late a store may fail what it was asked when it was out. */
const LATE_MS = 60_000

export function createWatch(doors: WatchDoors): Watch {
  const { queue, book, findings, ledger, caps } = doors
  /** Under which name each life works on the store. */
  const owners = new Map<string, string>()
  const settled = settlementWatch(doors)
  const now = () => queue.now()

  function accepted({ deliveries }: Acceptance, results: readonly AcceptedEvent[]): void {
    const fresh = new Set<string>()
    for (const { id, duplicate } of results) {
      if (duplicate) continue
      fresh.add(id)
      if (book.events.has(id)) findings.add('I6', now(), `event ${id} was accepted twice`, id)
      book.events.add(id)
    }
    for (const delivery of deliveries) {
      // Those of a duplicate are left out; those of a replay are of an event that is there.
      if (!fresh.has(delivery.eventId) && delivery.replayOf === undefined) continue
      const { id, webhookId, epoch, callId = '' } = delivery
      const lane = `${webhookId} ${delivery.lane}`
      const others = book.lanes.get(lane)
      const known: KnownDelivery = {
        id,
        webhook: webhookId,
        call: callId,
        lane,
        epoch,
        acceptedMs: now(),
        isHead: !others,
        state: 'waiting',
        attempts: 0,
        charged: 0,
        dueMs: 0,
        owner: '',
        claimedMs: 0,
        claimedAtMs: 0,
        endedMs: Number.POSITIVE_INFINITY,
        successMs: Number.POSITIVE_INFINITY,
      }
      book.deliveries.set(id, known)
      if (others) others.push(known)
      else book.lanes.set(lane, [known])
    }
  }

  function claimed(owner: string, { claims }: ClaimResult, askedMs: number): void {
    const lease = book.leases.get(owner)
    if (claims.length > 0 && (!lease || lease.isReleased || lease.aliveUntilMs <= askedMs)) {
      findings.add(
        'I16',
        now(),
        `${owner} claimed without a lease`,
        ...claims.map(({ delivery }) => delivery.id),
      )
    }
    for (const { delivery } of claims) {
      const known = book.deliveries.get(delivery.id)
      if (!known) {
        findings.add('I3', now(), `${delivery.id} was claimed, and nobody accepted it`, delivery.id)
        continue
      }
      const { id, webhook, call } = known
      if (!mayFollow(known.state, 'in_flight')) {
        findings.add('I10', now(), `${id} was ${known.state} and is claimed`, id, webhook)
      }
      const first = book.lanes.get(known.lane)?.[0]
      if (first !== known) {
        const why = first ? `before ${first.id} has ended` : 'after its lane had ended'
        findings.add('I17', now(), `${id} is sent ${why}`, id, first?.id ?? '', webhook, call)
      }
      if (known.dueMs > askedMs) {
        findings.add('I11', now(), `${id} is sent ${known.dueMs - askedMs} ms before it is due`, id, webhook)
      }
      const epoch = book.epochs.get(webhook)
      if (epoch !== undefined && epoch > known.epoch) {
        findings.add('I21', now(), `${id} was claimed after its webhook was withdrawn`, id, webhook)
      }
      known.state = 'in_flight'
      known.owner = owner
      known.claimedMs = now()
      known.claimedAtMs = askedMs
    }
  }

  function owned(life: NodeLife, owner: string, { aliveUntilMs, shards, storeMs: ownedMs }: Ownership): void {
    owners.set(life.name, owner)
    // Where one node owns all, whoever comes last ends the one before.
    if (aliveUntilMs === Number.POSITIVE_INFINITY) book.leases.clear()
    const before = book.leases.get(owner)
    const isUnbroken = before && before.aliveUntilMs > ownedMs && shards.length >= before.shards
    const sinceMs = isUnbroken ? before.sinceMs : now()
    book.leases.set(owner, { aliveUntilMs, isReleased: false, shards: shards.length, sinceMs })
  }

  function judgeAccounts(life: NodeLife, inFlight: ReadonlyMap<string, number>): void {
    const counts = new Map<string, number>()
    for (const [group, count] of inFlight) {
      const account = ledger.webhooks.get(group)?.accountId ?? group
      counts.set(account, (counts.get(account) ?? 0) + count)
    }
    for (const [account, count] of counts) {
      if (count <= caps.perAccount) continue
      findings.add('I15', now(), `${life.name} has ${count} requests in flight of ${account}`, life.name)
    }
  }

  const HEARD: Readonly<Record<string, (life: NodeLife, args: readonly unknown[], result: unknown) => void>> =
    {
      accept: (_, [acceptance], result) => accepted(acceptance as Acceptance, result as AcceptedEvent[]),
      claim: (_, [request], result) => {
        const { owner, now: askedMs } = request as { owner: string; now: number }
        claimed(owner, result as ClaimResult, askedMs)
      },
      settle: (_, [settlements, toldMs], result) =>
        settled(settlements as Settlement[], result as Settled[], toldMs as number),
      own: (life, [owner], result) => owned(life, owner as string, result as Ownership),
      renew: (life, [owner], result) => owned(life, owner as string, result as Ownership),
      release(_, [owner]) {
        const lease = book.leases.get(owner as string)
        if (lease) lease.isReleased = true
      },
      replace(_, [webhook], done) {
        const { id, epoch } = webhook as Webhook
        if (done === true && epoch > (book.epochs.get(id) ?? 1)) book.epochs.set(id, epoch)
      },
    }

  return {
    carriedOut({ name, life }, args, result) {
      if (WRITES.has(name)) doors.secrets.wrote(name, args)
      HEARD[name]?.(life, args, result)
    },
    sending(life, inFlight, total, group) {
      if ((inFlight.get(group) ?? 0) > caps.perEndpoint) {
        findings.add(
          'I15',
          now(),
          `${life.name} has ${inFlight.get(group)} requests in flight to ${group}`,
          group,
        )
      }
      if (total > caps.inAll)
        findings.add('I15', now(), `${life.name} has ${total} requests in flight`, life.name)
      if (total > caps.perAccount) judgeAccounts(life, inFlight)
    },
    closed({ life, sender }, listeners) {
      const lease = book.leases.get(owners.get(life.name) ?? '')
      // A store that was out could not be told.
      const wasOut = () =>
        [...disruptionsBetween(ledger.disruptions, now() - LATE_MS, now())].some(({ kind }) =>
          kind.startsWith('store'),
        )
      if (lease && !lease.isReleased && !wasOut())
        findings.add('I18', now(), `${life.name} is closed and holds a lease`, life.name)
      if (listeners > 0)
        findings.add('I18', now(), `${life.name} is closed and listens to its store`, life.name)
      if (sender.open() > 0)
        findings.add('I18', now(), `${life.name} is closed with requests in flight`, life.name)
      if (life.sleepers() > 0)
        findings.add('I18', now(), `${life.name} is closed with ${life.sleepers()} timers`, life.name)
    },
  }
}
