// biome-ignore-all assist/source/organizeImports: doors and values, then the steps in the order in which they happen
import type { Random } from '../ports.js'
import { type Health, type HealthRules, isProbed } from '../webhooks/health.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { Claim, ClaimResult, Settled, Settlement } from './delivery-store.js'
import type { Delivery } from './lifecycle.js'
import type { Schedule } from './fairness.js'
import { isExpired, type RetryRules } from './retry.js'
import { type AttemptDoors, type Attempted, attempt } from './attempt.js'
import { together } from './together.js'
import { outageWatch } from './outage.js'
import {
  type SettleContext,
  settleAttempt,
  settleInterrupted,
  settleUnsent,
  settleWithdrawn,
} from './settle.js'
import { recentHealth } from './recent-health.js'
import { persist, type SettlerDoors, type Writing } from './settler.js'
import { createTally } from './drain.js'
import { originOf } from '../values/origin.js'

export interface ConductDoors extends AttemptDoors, SettlerDoors {
  readonly random: Random
  newId(): string
  rulesOf(webhook: Webhook): RetryRules
}

export interface ConductOptions {
  readonly owner: string
  /** Milliseconds for one attempt, everything included. */
  readonly attemptDeadlineMs: number
  readonly healthRules: HealthRules
  /** False: an attempt that succeeds is told, not kept. */
  readonly recordSuccesses: boolean
  /** Store time, ms. */
  now(): number
  /** The time to drain is over. */
  readonly cut: AbortSignal
}

/** What has been claimed, on its way: attempt → outcome → settlement. */
export interface Conduct {
  /** Starts what was claimed; what is too old is ended in one group, unsent. */
  begin(claimed: ClaimResult): void
  /** A claim begins: what it will read of health is newer than what is remembered of idle endpoints. */
  claiming(): void
  /** Claims that have not ended. */
  readonly running: number
  /** Resolves when none runs. */
  none(): Promise<void>
  contextOf(webhook: Webhook): SettleContext
  /** Writes settlements until the store has them. */
  save(writings: readonly Writing[]): Promise<readonly Settled[] | undefined>
}

/** A claim whose attempt ended in some way; `undefined`: no request could be made. */
interface Ending {
  readonly delivery: Delivery
  readonly webhook: Webhook
  readonly attempted: Attempted | undefined
}

/**
 * @param ended called when claims have ended and there is room for others; `isUnsure`: only the store knows how one of
 *   them stands
 */
export function createConduct(
  doors: ConductDoors,
  options: ConductOptions,
  schedule: Pick<Schedule, 'started' | 'ended' | 'probing' | 'learn' | 'tick' | 'inFlight'>,
  ended: (isUnsure: boolean) => void,
): Conduct {
  const { clock, random, log } = doors
  const { owner, healthRules, now, cut } = options
  const health = recentHealth()
  const outages = outageWatch()
  const tally = createTally()

  function contextOf(webhook: Webhook): SettleContext {
    return {
      owner,
      recordId: doors.newId(),
      webhook,
      rules: doors.rulesOf(webhook),
      healthRules,
      outage: outages.isOutage(clock.monotonic()),
      now: now(),
      wallMs: clock.now(),
      roll: random.fraction(),
    }
  }

  const save = (writings: readonly Writing[]) => persist(doors, writings, health.newest, now, cut)

  /** Writes a group and tells the schedule what that changed. */
  async function write(writings: readonly Writing[]): Promise<void> {
    const since = schedule.tick()
    let isUnsure = false
    const settled = await save(writings).catch((thrown: unknown) => {
      log.error({ reason: String(thrown) }, 'outcomes failed inside the dispatcher')
    })
    writings.forEach(({ delivery: { webhookId } }, index) => {
      const result = settled?.[index]
      if (result?.kind === 'settled') {
        schedule.learn(result.endpoint, since)
        if (result.disabled) doors.sender.withdraw?.(webhookId)
      }
      // Written after all, by a try that seemed to fail, or no longer ours.
      if (result?.kind === 'fenced') isUnsure = true
      schedule.ended(webhookId)
      if (schedule.inFlight(webhookId) === 0) health.idle(webhookId)
    })
    tally.add(-writings.length)
    ended(isUnsure)
  }

  function decide({ delivery, webhook, attempted }: Ending): Writing {
    const context = contextOf(webhook)
    // As after a crash: a delivery that cannot be made is set aside after a few rounds, not kept in flight for ever.
    if (!attempted) return { delivery, settlement: settleInterrupted(delivery, 'lost', context) }
    const { observation } = attempted
    if (observation.kind === 'withdrawn') return { delivery, settlement: settleWithdrawn(delivery, context) }
    outages.saw(webhook.settings.uri, observation, clock.monotonic())
    if (cut.aborted && observation.kind !== 'response') {
      return { delivery, settlement: settleInterrupted(delivery, 'cut', context) }
    }
    const before = health.of(webhook)
    const { outcome, settlement } = settleAttempt(delivery, attempted, before, context)
    health.decided(settlement)
    rest(webhook, before, settlement)
    if (outcome.kind !== 'delivered' || options.recordSuccesses) return { delivery, settlement }
    const { record: unkept, ...unrecorded } = settlement
    return { delivery, settlement: unrecorded, ...(unkept && { unkept }) }
  }

  /** After what is decided of an endpoint's health: how many it gets at a time, and whether it keeps its connections. */
  function rest(webhook: Webhook, before: Health | undefined, { endpoint }: Settlement): void {
    if (endpoint?.health === undefined) return
    const after = endpoint.health ?? undefined
    schedule.probing(webhook.id, isProbed(after))
    if ((after?.openings ?? 0) > (before?.openings ?? 0)) doors.sender.rest?.(webhook.id)
  }

  /** What ends in one turn of the event loop is decided in its order, and written as one. */
  const settleSoon = together<Ending>(clock, (endings) =>
    write(
      endings.map((ending) => {
        try {
          return decide(ending)
        } catch (thrown) {
          log.error(
            { reason: String(thrown), deliveryId: ending.delivery.id },
            'an outcome could not be decided',
          )
          return decide({ ...ending, attempted: undefined })
        }
      }),
    ),
  )

  function start(claim: Claim, webhook: Webhook): void {
    const { delivery } = claim
    attempt(doors, claim, webhook, options.attemptDeadlineMs).then(
      (attempted) => settleSoon({ delivery, webhook, attempted }),
      (thrown: unknown) => {
        log.error({ reason: String(thrown), deliveryId: delivery.id }, 'a request could not be made')
        settleSoon({ delivery, webhook, attempted: undefined })
      },
    )
  }

  return {
    contextOf,
    save,
    claiming: health.claiming,
    get running() {
      return tally.count
    },
    none: tally.none,
    begin({ claims, webhooks }) {
      const aged: Writing[] = []
      tally.add(claims.length)
      for (const claim of claims) {
        const { delivery } = claim
        const webhook = webhooks.get(delivery.webhookId)!
        const { id: webhookId, accountId, settings } = webhook
        const endpoint = { webhookId, accountId, origin: originOf(settings.uri) }
        schedule.started(endpoint, isProbed(health.of(webhook)))
        health.busy(webhookId)
        const isOld = isExpired(delivery.eventTimestampMs, settings.maxAgeSeconds, clock.now())
        if (isOld && delivery.replayOf === undefined) {
          aged.push({ delivery, settlement: settleUnsent(delivery, 'aged', contextOf(webhook)) })
        } else start(claim, webhook)
      }
      if (aged.length > 0) void write(aged)
    },
  }
}
