/**
 * The shares of the queue: how many deliveries of one webhook, of one account and in all may wait. Counts what waits, and
 * decides which webhooks have to give up deliveries. The queue decides which deliveries those are.
 */
import type { AccountShare } from './account-share.js'
import type { QueueEndpoint } from './queue-endpoint.js'

/** Limits of waiting deliveries. They may change while the node runs. */
export interface QueueLimits {
  /** Waiting deliveries in all. */
  readonly maxPending: number
  /** Waiting deliveries of one account's webhooks. Default: a fifth of `maxPending`. */
  readonly maxPendingPerAccount?: number | undefined
  /** Waiting deliveries of one webhook. */
  readonly maxPendingPerWebhook: number
}

/** The limit for which a webhook gives up deliveries. */
export type ShareLimit = keyof QueueLimits

/** The part of `maxPending` that one account may use. */
const ACCOUNT_PART = 1 / 5

/** The deliveries that may wait for the webhooks of one account. */
export function accountLimit({ maxPending, maxPendingPerAccount }: QueueLimits): number {
  return maxPendingPerAccount ?? Math.max(1, Math.floor(maxPending * ACCOUNT_PART))
}

/**
 * The level to which the largest backlogs are cut so that at least `excess` deliveries go: as if each went from the
 * backlog that is the largest at that moment.
 *
 * @param backlogs waiting deliveries, whole numbers
 * @returns the highest such level, at least 0
 * @internal
 */
export function cutLevel(backlogs: readonly number[], excess: number): number {
  let low = 0
  let high = 0
  for (const backlog of backlogs) if (backlog > high) high = backlog
  // `low` gives up enough, or is 0; what is above `high` does not.
  while (low < high) {
    const level = Math.ceil((low + high) / 2)
    let given = 0
    for (const backlog of backlogs) if (backlog > level) given += backlog - level
    if (given >= excess) low = level
    else high = level - 1
  }
  return low
}

/** Endpoints whose backlogs are above a level. */
interface Cut {
  level: number
  /** The last one gives up deliveries first. */
  endpoints: QueueEndpoint[]
}

/** Deliveries that one endpoint has to give up. */
export type GiveUp = (endpoint: QueueEndpoint, count: number, limit: ShareLimit) => void

/** Part of a limit by which more endpoints are chosen than needed: the next excess finds them without a search. */
const CHOSEN_AHEAD = 1 / 100

/** Counts and limits of one queue. */
export class Shares {
  /** Deliveries that wait, without those that are about to end. */
  backlog = 0
  private readonly cut: Cut = { level: 0, endpoints: [] }
  private readonly accountCuts = new WeakMap<AccountShare, Cut>()
  private readonly fullEndpoints = new Set<QueueEndpoint>()
  private readonly fullAccounts = new Set<AccountShare>()

  /** @param limits read at each call */
  constructor(private readonly limits: QueueLimits) {}

  /** Adds to the backlog of an endpoint, or takes from it. */
  add(endpoint: QueueEndpoint, count: number): void {
    endpoint.backlog += count
    endpoint.account.backlog += count
    this.backlog += count
  }

  /** How many deliveries a webhook may get until half of a limit waits; possibly less than 0. */
  spare(ofWebhook: number, ofAccount: number, maxTotal: number): number {
    const half = (limit: number, waiting: number) => Math.floor(limit / 2) - waiting
    return Math.min(
      half(this.limits.maxPendingPerWebhook, ofWebhook),
      half(accountLimit(this.limits), ofAccount),
      half(maxTotal, this.backlog),
    )
  }

  /** A delivery enters the queue. What returns after a failed attempt does not: it makes nothing full. */
  enter(endpoint: QueueEndpoint): void {
    this.add(endpoint, 1)
    this.check(endpoint)
  }

  /** Finds out whether an endpoint or its account is above its limit: deliveries entered, or the limits have changed. */
  check(endpoint: QueueEndpoint): void {
    if (endpoint.backlog > this.limits.maxPendingPerWebhook) this.fullEndpoints.add(endpoint)
    if (endpoint.account.backlog > accountLimit(this.limits)) this.fullAccounts.add(endpoint.account)
  }

  /**
   * Calls back for each endpoint that is above a limit: of webhooks first, then of accounts, then of all. Costs nothing
   * while there is none.
   *
   * @param maxTotal the part of `maxPending` that is left to this node
   * @param endpoints all endpoints of the queue
   * @param giveUp marks at least one delivery, and up to `count` or the rest of a call more; none: nothing can be given up
   */
  trim(maxTotal: number, endpoints: () => Iterable<QueueEndpoint>, giveUp: GiveUp): void {
    const { limits, fullEndpoints, fullAccounts } = this
    if (fullEndpoints.size > 0) {
      const max = limits.maxPendingPerWebhook
      for (const endpoint of fullEndpoints)
        if (endpoint.backlog > max) giveUp(endpoint, endpoint.backlog - max, 'maxPendingPerWebhook')
      fullEndpoints.clear()
    }
    if (fullAccounts.size > 0) {
      const max = accountLimit(limits)
      for (const account of fullAccounts) {
        const own = () => Array.from(endpoints()).filter((endpoint) => endpoint.account === account)
        const cut = this.accountCuts.get(account) ?? { level: 0, endpoints: [] }
        this.accountCuts.set(account, cut)
        cutDown(account, cut, max, own, (endpoint, count) => giveUp(endpoint, count, 'maxPendingPerAccount'))
      }
      fullAccounts.clear()
    }
    if (this.backlog > maxTotal)
      cutDown(this, this.cut, maxTotal, endpoints, (endpoint, count) => giveUp(endpoint, count, 'maxPending'))
  }

  /** Nothing waits any more. */
  clear(endpoints: Iterable<QueueEndpoint>): void {
    this.backlog = 0
    for (const endpoint of endpoints) endpoint.backlog = endpoint.account.backlog = 0
  }
}

/** Takes what is above the limit from the endpoints with the largest backlogs. */
function cutDown(
  share: { readonly backlog: number },
  cut: Cut,
  max: number,
  endpoints: () => Iterable<QueueEndpoint>,
  giveUp: (endpoint: QueueEndpoint, count: number) => void,
): void {
  let hasGiven = true
  while (share.backlog > max) {
    const endpoint = cut.endpoints.at(-1)
    if (!endpoint) {
      if (!hasGiven) return
      hasGiven = false
      Object.assign(cut, chooseCut(endpoints(), share.backlog - max + Math.floor(max * CHOSEN_AHEAD)))
      continue
    }
    const before = endpoint.backlog
    const count = Math.min(before - cut.level, share.backlog - max)
    if (count > 0) giveUp(endpoint, count)
    hasGiven ||= endpoint.backlog < before
    if (endpoint.backlog === before || endpoint.backlog <= cut.level) cut.endpoints.pop()
  }
}

function chooseCut(endpoints: Iterable<QueueEndpoint>, excess: number): Cut {
  const waiting = Array.from(endpoints).filter(({ backlog }) => backlog > 0)
  const level = cutLevel(
    waiting.map(({ backlog }) => backlog),
    excess,
  )
  const chosen = waiting.filter(({ backlog }) => backlog > level)
  return { level, endpoints: chosen.sort((a, b) => a.backlog - b.backlog) }
}
