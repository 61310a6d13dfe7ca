import type { Settled, Settlement } from '../../delivery/delivery-store.js'
import { hasEnded, type KnownDelivery, type KnownState, mayFollow } from './book.js'
import type { SimulatedCaps } from './options.js'
import { judgeDelay, judgeDisabling, noteHealth, type RuleDoors } from './rules.js'
import type { Secrets } from './secrets.js'

export interface WatchDoors extends RuleDoors {
  /** Wall clock at moment 0, Unix ms. */
  readonly startMs: number
  readonly secrets: Secrets
  /** How many there are. */
  readonly receivers: number
  readonly caps: SimulatedCaps
  fired(what: string): void
}

type Done = Settled & { readonly kind: 'settled' }

/** So many silent receivers are taken for an outage of ours. */
const OUTAGE_RECEIVERS = 5

/** Looks at settlements that the store has carried out: `toldMs` is store time as their node knew it. */
export function settlementWatch(
  doors: WatchDoors,
): (settlements: readonly Settlement[], results: readonly Settled[], toldMs: number) => void {
  const { queue, ledger, book, findings, startMs, fired } = doors

  function judgeOne(settlement: Settlement, result: Done, toldMs: number): void {
    const { owner, deliveryId: id, webhookId: webhook, next } = settlement
    const known = book.deliveries.get(id)
    const add = (invariant: string, what: string) => findings.add(invariant, queue.now(), what, id, webhook)
    if (!known) {
      add('I3', `${id} was settled, and nobody accepted it`)
      return
    }
    const lease = book.leases.get(owner)
    if (!lease || lease.isReleased || lease.aliveUntilMs <= toldMs) {
      add('I16', `${owner} settled ${id} after its lease had ended`)
    }
    if (isTakenOver(known, owner)) {
      add('I16', `${owner} ended ${id}, which ${known.owner} has in flight under a lease`)
    }
    const state = next.state as KnownState
    fired(`${known.state} → ${state}`)
    if (!mayFollow(known.state, state)) add('I10', `${id} was ${known.state} and becomes ${state}`)
    judgeCounts(known, settlement, add)
    judgeDelay(doors, known, settlement, toldMs)
    noteHealth(doors, webhook, settlement)
    goOn(known, settlement)
    if (settlement.endpoint?.disable && result.disabled) {
      const { reason } = settlement.endpoint.disable
      book.epochs.set(webhook, result.disabled.epoch)
      ledger.webhooks.get(webhook)?.disabledMs.push(queue.now())
      judgeDisabling(doors, webhook, reason)
      fired(`disabled: ${reason}`)
    }
  }

  /** Somebody else ends what a node has in flight: only when that node has no lease any more. */
  function isTakenOver(known: KnownDelivery, owner: string): boolean {
    if (known.state !== 'in_flight' || known.owner === owner) return false
    const lease = book.leases.get(known.owner)
    if (!lease || lease.isReleased || lease.sinceMs > known.claimedMs) return false
    return lease.aliveUntilMs > Math.floor(startMs + queue.now())
  }

  function judgeCounts(
    known: KnownDelivery,
    { next, record }: Settlement,
    add: (invariant: string, what: string) => void,
  ): void {
    const { id } = known
    if (record?.attempt !== undefined) {
      known.attempts += 1
      if (record.attempt !== known.attempts) {
        add('I9', `attempt ${record.attempt} of ${id} is recorded as number ${known.attempts}`)
      }
      if (record.reason !== 'interrupted' && record.clientError !== 'own_fault') known.charged += 1
      fired(`attempt ${record.clientError ?? (record.status === undefined ? record.reason : record.result)}`)
    }
    if (next.attempts !== known.attempts) {
      add('I9', `${id} counts ${next.attempts} attempts, and ${known.attempts} are recorded`)
    }
    // With fewer receivers nobody can take their silence for an outage of ours, which is charged to none.
    if (next.tries > known.charged || (doors.receivers < OUTAGE_RECEIVERS && next.tries < known.charged)) {
      add('I7', `${id} is charged ${next.tries} tries, and ${known.charged} failed or succeeded`)
    }
  }

  function goOn(known: KnownDelivery, { next, record }: Settlement): void {
    known.state = next.state as KnownState
    known.dueMs = next.dueMs ?? 0
    if (record?.result === 'success') known.successMs = queue.now()
    if (!hasEnded(known.state)) return
    known.endedMs = queue.now()
    const lane = book.lanes.get(known.lane)
    const at = lane?.indexOf(known) ?? -1
    if (at >= 0) lane!.splice(at, 1)
    if (lane?.length === 0) book.lanes.delete(known.lane)
  }

  return (settlements, results, toldMs) => {
    settlements.forEach((settlement, index) => {
      const result = results[index]!
      fired(`settle ${result.kind}`)
      if (result.kind === 'settled') judgeOne(settlement, result, toldMs)
    })
  }
}
