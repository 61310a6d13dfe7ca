// biome-ignore-all assist/source/organizeImports: doors and values, then the steps in the order in which they happen
import { isProbed } from '../webhooks/health.js'
import type { Webhook } from '../webhooks/webhook.js'
import type { Claim, ClaimResult, ReadyEndpoint, Settled } from './delivery-store.js'
import type { Schedule } from './fairness.js'
import { isExpired } from './retry.js'
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

/** A claim whose attempt ended in some way, or that is not sent (`why`); `attempted` undefined: no request was made. */
interface Ending {
  readonly claimed: Claimed
  readonly attempted: Attempted | undefined
  readonly why: 'aged' | 'withdrawn' | undefined
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
  /** Webhooks withdrawn since the claim under way began, if one is: its answer may be older than that. */
  let withdrawn: Set<string> | undefined

  const save = (writings: readonly Writing[]) => persist(doors, writings, health.newest, now, options.cut)

  function withdraw(webhookId: string): void {
    withdrawn?.add(webhookId)
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

  /** What is to be written of a claim, whatever is thrown; undefined where not even that could be decided. */
  function landingOf({ claimed, attempted, why }: Ending): Landing | undefined {
    try {
      return why ? unsent(claimed, why) : decide(claimed, attempted)
    } catch (thrown) {
      log.error(
        { reason: String(thrown), deliveryId: claimed.delivery.id },
        'an outcome could not be decided',
      )
    }
    try {
      return decide(claimed, undefined)
    } catch {
      // In flight for the store until a restart finds it, yet its place is free.
      land({ webhookId: claimed.webhook.id, flight: claimed.flight })
      return undefined
    }
  }

  /** Decides endings in their order, and writes them as one. */
  function settle(endings: readonly Ending[]): Promise<void> {
    const landings: Landing[] = []
    for (const ending of endings) {
      const landing = landingOf(ending)
      if (landing) landings.push(landing)
    }
    return write(landings)
  }
  const settleSoon = together(clock, settle)

  function start(claim: Claim, claimed: Claimed): void {
    attempt(doors, claim, claimed.webhook, options.attemptDeadlineMs).then(
      (attempted) => settleSoon({ claimed, attempted, why: undefined }),
      (thrown: unknown) => {
        log.error({ reason: String(thrown), deliveryId: claimed.delivery.id }, 'a request could not be made')
        settleSoon({ claimed, attempted: undefined, why: undefined })
      },
    )
  }

  function takeOff({ delivery }: Claim, webhook: Webhook, told: ReadyEndpoint): Claimed {
    const known = health.of(webhook)
    const flight = schedule.started(told, isProbed(known), now())
    health.busy(webhook.id)
    tally.add(1)
    return { delivery, webhook, flight }
  }

  /** Why a claim is not sent, if it is not. */
  function whyUnsent({ delivery, webhook }: Claimed): 'aged' | 'withdrawn' | undefined {
    if (withdrawn?.has(webhook.id)) return 'withdrawn'
    const { maxAgeSeconds } = webhook.settings
    if (maxAgeSeconds === undefined || delivery.replayOf !== undefined) return undefined
    return isExpired(delivery.eventTimestampMs, maxAgeSeconds, clock.now()) ? 'aged' : undefined
  }

  return {
    contextOf,
    save,
    withdraw,
    claiming() {
      withdrawn = new Set()
      health.claiming()
    },
    get running() {
      return tally.count
    },
    none: tally.none,
    begin({ claims, webhooks, endpoints }) {
      const told = new Map(endpoints.map((endpoint) => [endpoint.webhookId, endpoint]))
      const ending: Ending[] = []
      for (const claim of claims) {
        const { webhookId } = claim.delivery
        const claimed = takeOff(claim, webhooks.get(webhookId)!, told.get(webhookId)!)
        const why = whyUnsent(claimed)
        if (why === undefined) start(claim, claimed)
        else ending.push({ claimed, attempted: undefined, why })
      }
      withdrawn = undefined
      if (ending.length > 0) void settle(ending)
    },
  }
}
