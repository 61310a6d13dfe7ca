import type { Clock, Log } from '../ports.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { DeliveryStore, ReadyEndpoint, Settlement } from './delivery-store.js'
import type { Delivery } from './lifecycle.js'
import { type SettleContext, settleInterrupted, settleUnsent } from './settle.js'
import type { Writing } from './settler.js'

const BATCH = 100
/** Pause after the store failed. */
const REST_MS = 250

export interface RecoveryDoors {
  readonly store: DeliveryStore
  readonly owner: string
  contextOf(webhook: Webhook): SettleContext
  persist(writings: readonly Writing[]): Promise<unknown>
  /** A webhook was disabled or deleted, perhaps on another node: what of it is not on the wire yet is not sent. */
  withdraw(webhookId: string): void
  /** Aborted: no further batch is begun. */
  readonly stopping: AbortSignal
}

async function settleAll(
  doors: RecoveryDoors,
  find: (owner: string, limit: number) => Promise<readonly Delivery[]>,
  decide: (delivery: Delivery, context: SettleContext) => Settlement,
): Promise<number> {
  const { store, owner } = doors
  const seen = new Set<string>()
  while (!doors.stopping.aborted) {
    const found = (await find(owner, BATCH)).filter(({ id }) => !seen.has(id))
    if (found.length === 0) return seen.size
    const writings: Writing[] = []
    for (const delivery of found) {
      seen.add(delivery.id)
      const webhook = await store.webhookOf(delivery.webhookId)
      if (webhook) writings.push({ delivery, settlement: decide(delivery, doors.contextOf(webhook)) })
    }
    if (writings.length > 0) await doors.persist(writings)
  }
  return seen.size
}

/** What a former owner left in flight gets its record and waits again, or is set aside. How many. */
export function recoverOrphans(doors: RecoveryDoors): Promise<number> {
  return settleAll(doors, doors.store.orphans, (delivery, context) =>
    settleInterrupted(delivery, 'lost', context),
  )
}

/** What waits for a webhook that was disabled or deleted is ended, in small batches. How many. */
export function endStale(doors: RecoveryDoors): Promise<number> {
  const told = new Set<string>()
  return settleAll(doors, doors.store.stale, (delivery, context) => {
    const { webhookId } = delivery
    if (!told.has(webhookId)) {
      told.add(webhookId)
      doors.withdraw(webhookId)
    }
    return settleUnsent(delivery, 'withdrawn', context)
  })
}

/** Looks for what woke nobody. */
export interface Looking {
  /** Looks once more, after a look under way has ended; resolves when all has been seen. */
  look(): Promise<void>
  /** Resolves when no look is under way. */
  rest(): Promise<void>
}

/**
 * Ends what others left and what was withdrawn, then tells of every endpoint that is not idle; until the store
 * lets it, or the node stops.
 */
export function keepLooking(
  doors: RecoveryDoors & { readonly clock: Clock; readonly log: Log },
  found: (endpoints: readonly ReadyEndpoint[]) => void,
): Looking {
  const { store, owner, clock, log, stopping } = doors
  let again = false
  let looking: Promise<void> | undefined

  async function look(): Promise<void> {
    while (again && !stopping.aborted) {
      again = false
      try {
        await recoverOrphans(doors)
        await endStale(doors)
        found(await store.ready(owner))
      } catch (thrown) {
        const reason = thrown instanceof Error ? thrown.message : 'unknown'
        log.warn({ reason }, 'looking for work failed, trying again')
        again = true
        await clock.sleep(REST_MS, stopping)
      }
    }
  }

  function begin(): Promise<void> {
    again = true
    looking ??= look().finally(() => {
      looking = undefined
      // Asked for between its last look and this end.
      if (again && !stopping.aborted) return begin()
    })
    return looking
  }

  return { look: begin, rest: async () => looking }
}
