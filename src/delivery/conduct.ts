// biome-ignore-all assist/source/organizeImports: doors and values, then the steps in the order in which they happen
import type { Random } from '../ports.js'
import { type Health, type HealthRules, isFailing, isProbed } from '../webhooks/health.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { Claim, ClaimResult, Settled, Settlement } from './delivery-store.js'
import type { Delivery } from './lifecycle.js'
import type { Schedule } from './fairness.js'
import { QUICK_MS } from './trust.js'
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
  readonly flight: Flight
  readonly attempted: Attempted | undefined
}

type Flight = ReturnType<Schedule['started']>
/** What is written of a claim, which ends its flight. */
type Landing = Writing & { readonly flight: Flight }

/**
 * @param ended called when claims have ended and there is room for others; `isUnsure`: only the store knows how one of
 *   them stands
 */
export function createConduct(
  doors: ConductDoors,
  options: ConductOptions,
  schedule: Pick<Schedule, 'started' | 'answered' | 'ended' | 'probing' | 'learn' | 'tick' | 'inFlight'>,
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
  async function write(landings: readonly Landing[]): Promise<void> {
    const since = schedule.tick()
    let isUnsure = false
    const settled = await save(landings).catch((thrown: unknown) => {
      log.error({ reason: String(thrown) }, 'outcomes failed inside the dispatcher')
    })
    landings.forEach(({ delivery: { webhookId }, flight }, index) => {
      const result = settled?.[index]
      if (result?.kind === 'settled') {
        schedule.learn(result.endpoint, since)
        if (result.disabled) doors.sender.withdraw?.(webhookId)
      }
      // Written after all, by a try that seemed to fail, or no longer ours.
      if (result?.kind === 'fenced') isUnsure = true
      schedule.ended(flight)
      if (schedule.inFlight(webhookId) === 0) health.idle(webhookId)
    })
    tally.add(-landings.length)
    ended(isUnsure)
  }

  function decide({ delivery, webhook, flight, attempted }: Ending): Landing {
    const context = contextOf(webhook)
    // As after a crash: a delivery that cannot be made is set aside after a few rounds, not kept in flight for ever.
    if (!attempted) return { flight, delivery, settlement: settleInterrupted(delivery, 'lost', context) }
    const { observation } = attempted
    if (observation.kind === 'withdrawn') {
      return { flight, delivery, settlement: settleWithdrawn(delivery, context) }
    }
    noteManner(flight, attempted)
    outages.saw(webhook.settings.uri, observation, clock.monotonic())
    if (cut.aborted && observation.kind !== 'response') {
      return { flight, delivery, settlement: settleInterrupted(delivery, 'cut', context) }
    }
    const before = health.of(webhook)
    const { outcome, settlement } = settleAttempt(delivery, attempted, before, context)
    health.decided(settlement)
    rest(webhook, before, settlement)
    if (outcome.kind !== 'delivered' || options.recordSuccesses) return { flight, delivery, settlement }
    const { record: unkept, ...unrecorded } = settlement
    return { flight, delivery, settlement: unrecorded, ...(unkept && { unkept }) }
  }

  /** Faults of ours, and addresses that are not dialled, say nothing of the receiver. */
  function noteManner(flight: Flight, { observation, durationMs }: Attempted): void {
    if (observation.kind === 'response') schedule.answered(flight, durationMs <= QUICK_MS, now())
    else if (observation.kind === 'no_response' && observation.failure !== 'blocked_address') {
      schedule.answered(flight, false, now())
    }
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

  function start(claim: Claim, webhook: Webhook, flight: Flight): void {
    const { delivery } = claim
    attempt(doors, claim, webhook, options.attemptDeadlineMs).then(
      (attempted) => settleSoon({ delivery, webhook, flight, attempted }),
      (thrown: unknown) => {
        log.error({ reason: String(thrown), deliveryId: delivery.id }, 'a request could not be made')
        settleSoon({ delivery, webhook, flight, attempted: undefined })
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
      const aged: Landing[] = []
      tally.add(claims.length)
      for (const claim of claims) {
        const { delivery } = claim
        const webhook = webhooks.get(delivery.webhookId)!
        const { id: webhookId, accountId, settings } = webhook
        const known = health.of(webhook)
        const endpoint = { webhookId, accountId, origin: originOf(settings.uri), failing: isFailing(known) }
        const flight = schedule.started(endpoint, isProbed(known), now())
        health.busy(webhookId)
        const isOld = isExpired(delivery.eventTimestampMs, settings.maxAgeSeconds, clock.now())
        if (isOld && delivery.replayOf === undefined) {
          aged.push({ flight, delivery, settlement: settleUnsent(delivery, 'aged', contextOf(webhook)) })
        } else start(claim, webhook, flight)
      }
      if (aged.length > 0) void write(aged)
    },
  }
}
