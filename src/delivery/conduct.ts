// biome-ignore-all assist/source/organizeImports: doors and values, then the steps in the order in which they happen
import { isFailing, isProbed } from '../webhooks/health.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { Claim, ClaimResult, Settled } from './delivery-store.js'
import type { Schedule } from './fairness.js'
import { isExpired } from './retry.js'
import { originOf } from '../values/origin.js'
import { type AttemptDoors, type Attempted, attempt } from './attempt.js'
import { together } from './together.js'
import { type Claimed, createDeciding, type DecideDoors, type DecideOptions, type Landing } from './decide.js'
import { recentHealth } from './recent-health.js'
import type { SettleContext } from './settle.js'
import { persist, type SettlerDoors, type Writing } from './settler.js'
import { createTally } from './drain.js'

export interface ConductDoors extends AttemptDoors, SettlerDoors, DecideDoors {}

export interface ConductOptions extends DecideOptions {
  /** Milliseconds for one attempt, everything included. */
  readonly attemptDeadlineMs: number
}

/** What has been claimed, on its way: attempt → decision → settlement. */
export interface Conduct {
  /** A claim begins. */
  claiming(): void
  /** Starts what was claimed; what is too old, or withdrawn by now, is ended in one group, unsent. */
  begin(claimed: ClaimResult): void
  /** A webhook was disabled or deleted: what of it is not on the wire yet is not sent. */
  withdraw(webhookId: string): void
  /** Claims that have not ended. */
  readonly running: number
  /** Resolves when none runs. */
  none(): Promise<void>
  contextOf(webhook: Webhook): SettleContext
  /** Writes settlements until the store has them. */
  save(writings: readonly Writing[]): Promise<readonly Settled[] | undefined>
}

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
  const { clock, log, sender } = doors
  const { now } = options
  const health = recentHealth()
  const { contextOf, decide, unsent } = createDeciding(doors, options, schedule, health)
  const tally = createTally()
  /** Webhooks withdrawn since the claim under way began: its answer may be older than that. */
  const withdrawn = new Set<string>()

  const save = (writings: readonly Writing[]) => persist(doors, writings, health.newest, now, options.cut)

  function withdraw(webhookId: string): void {
    withdrawn.add(webhookId)
    try {
      sender.withdraw?.(webhookId)
    } catch (thrown) {
      log.error({ reason: String(thrown), webhookId }, 'the sender could not withdraw requests')
    }
  }

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
        if (result.disabled) withdraw(webhookId)
      }
      // Written after all, by a try that seemed to fail, or no longer ours.
      if (result?.kind !== 'settled') isUnsure = true
      land({ webhookId, flight })
    })
    ended(isUnsure)
  }

  /** A claim has ended: its place is free. */
  function land({ webhookId, flight }: { webhookId: string; flight: Landing['flight'] }): void {
    schedule.ended(flight)
    if (schedule.inFlight(webhookId) === 0) health.idle(webhookId)
    tally.add(-1)
  }

  /** What is to be written of a claim, whatever is thrown; nothing where not even that could be decided. */
  function decided(claimed: Claimed, decision: (claimed: Claimed) => Landing): readonly Landing[] {
    try {
      return [decision(claimed)]
    } catch (thrown) {
      log.error(
        { reason: String(thrown), deliveryId: claimed.delivery.id },
        'an outcome could not be decided',
      )
    }
    try {
      return [decide(claimed, undefined)]
    } catch {
      // In flight for the store until a restart finds it, yet its place is free.
      land({ webhookId: claimed.webhook.id, flight: claimed.flight })
      return []
    }
  }

  /** What ends in one turn of the event loop is decided in its order, and written as one. */
  const settleSoon = together<{ claimed: Claimed; attempted: Attempted | undefined }>(clock, (endings) =>
    write(endings.flatMap(({ claimed, attempted }) => decided(claimed, (one) => decide(one, attempted)))),
  )

  function start(claim: Claim, claimed: Claimed): void {
    attempt(doors, claim, claimed.webhook, options.attemptDeadlineMs).then(
      (attempted) => settleSoon({ claimed, attempted }),
      (thrown: unknown) => {
        log.error({ reason: String(thrown), deliveryId: claimed.delivery.id }, 'a request could not be made')
        settleSoon({ claimed, attempted: undefined })
      },
    )
  }

  function takeOff({ delivery }: Claim, webhook: Webhook): Claimed {
    const { id: webhookId, accountId, settings } = webhook
    const known = health.of(webhook)
    const endpoint = { webhookId, accountId, origin: originOf(settings.uri), failing: isFailing(known) }
    const flight = schedule.started(endpoint, isProbed(known), now())
    health.busy(webhookId)
    return { delivery, webhook, flight }
  }

  /** Why a claim is not sent, if it is not. */
  function whyUnsent({ delivery, webhook }: Claimed): 'aged' | 'withdrawn' | undefined {
    if (withdrawn.has(webhook.id)) return 'withdrawn'
    const isOld = isExpired(delivery.eventTimestampMs, webhook.settings.maxAgeSeconds, clock.now())
    return isOld && delivery.replayOf === undefined ? 'aged' : undefined
  }

  return {
    contextOf,
    save,
    withdraw,
    claiming() {
      withdrawn.clear()
      health.claiming()
    },
    get running() {
      return tally.count
    },
    none: tally.none,
    begin({ claims, webhooks }) {
      tally.add(claims.length)
      const landings: Landing[] = []
      for (const claim of claims) {
        const claimed = takeOff(claim, webhooks.get(claim.delivery.webhookId)!)
        const why = whyUnsent(claimed)
        if (why === undefined) start(claim, claimed)
        else landings.push(...decided(claimed, (one) => unsent(one, why)))
      }
      if (landings.length > 0) void write(landings)
    },
  }
}
