/** `hs.operator`: what spans the accounts of a service. The host is trusted, so nothing here authorizes. */
import type { StoredDelivery } from '../delivery/delivery-queries.js'
import type { Overview } from '../delivery/overview.js'
import { checkOptionNames } from '../errors.js'
import { UNHEALTHY_STATES } from '../stats/endpoint-list.js'
import type { EndpointHealth } from '../webhooks/health.js'
import { listUnhealthy } from '../webhooks/manage.js'
import type { WebhookView } from '../webhooks/view.js'
import type { Core } from './core.js'
import { searchDeliveries } from './delivery-views.js'
import { readOverview } from './overview.js'
import { PAGE_OPTIONS, type PageOptions, withLimit } from './webhook-api.js'

/** `hs.operator`. Every method may also reject with `InvalidOption` for an unknown option, `StoreUnavailable` or `Closing`. */
export interface OperatorApi {
  /** The state of the service: what is pending, what fails, and which nodes work. */
  overview(): Promise<Overview>
  /** What is held, on all nodes. Each hold is released by itself: an account may be held while all are. */
  holds(): Promise<{
    /** Whether the deliveries of all accounts are held. */
    readonly all: boolean
    /** Ids of accounts that are held by themselves, sorted. */
    readonly accountIds: readonly string[]
  }>
  /**
   * Holds deliveries: events are accepted, nothing is sent, also of tests and replays. Requests in flight end. Other nodes follow
   * within 10 s. Holds are stored, so that a restart does not end them. Deliveries grow older meanwhile: those above the age of
   * their webhook end as `expired` when they are released. Rejects with `NotFound` for the account.
   */
  hold(options?: {
    /** Only the webhooks of this account, without the accounts below it. Default: all accounts. */
    readonly accountId?: string | undefined
  }): ReturnType<OperatorApi['holds']>
  /**
   * Ends a hold: what waits is sent, oldest first. Nothing changes if it was not held. Rejects with `NotFound` for an account that
   * neither is held nor exists.
   */
  release(options?: {
    /** The hold of this account. Default: that of all accounts; accounts that are held by themselves stay so. */
    readonly accountId?: string | undefined
  }): ReturnType<OperatorApi['holds']>
  /**
   * Jobs that change webhooks of all accounts. A node works on them and others take over when it ends; what a job has changed is
   * not changed again.
   */
  readonly jobs: {
    /** Counts what a job would change, or a hold would concern; writes nothing. Throws `NotFound`, `InvalidInput`. */
    count(request: {
      /**
       * `resume`: end the pauses of failing webhooks. `reenable`: enable what the service has disabled. `hold`: hold or release
       * deliveries; only with `accountId`.
       */
      readonly action: 'resume' | 'reenable' | 'hold'
      /** Only webhooks of this account, without the accounts below it. Default: all accounts. */
      readonly accountId?: string | undefined
      /** Only webhooks whose last attempt failed for this cause: a code of `FAILURE_CAUSES`, or a status as `503`. Default: any. */
      readonly cause?: string | undefined
      /** Only webhooks whose URL has this host: `crm.example.com` on any port, `127.0.0.1:8080`. Default: any. */
      readonly host?: string | undefined
      /** Only webhooks that have failed since this time or a later one, Unix ms. Default: any. */
      readonly sinceMs?: number | undefined
      /** Only webhooks that have failed since this time or an earlier one, Unix ms. Default: any. */
      readonly untilMs?: number | undefined
    }): Promise<{
      /** Webhooks that are concerned. */
      readonly webhooks: number
      /** Accounts of these webhooks. */
      readonly accounts: number
      /** Deliveries that wait for them; for webhooks of other nodes, at most 1,000 of each are counted. */
      readonly deliveries: number
    }>
    /**
     * Starts a job. Returns the one that has not ended if there is one with the same request. Throws `NotFound`, `InvalidInput`,
     * `TooManyReplays`.
     */
    start(
      request: Omit<Parameters<OperatorApi['jobs']['count']>[0], 'action'> & {
        /** As of `count`. */
        readonly action: 'resume' | 'reenable'
      },
    ): Promise<{
      /** 32 lower-case hex digits. */
      readonly id: string
      /** What it does. */
      readonly action: 'resume' | 'reenable'
      /** Which webhooks it concerns, as requested. */
      readonly selection: Omit<Parameters<OperatorApi['jobs']['count']>[0], 'action'>
      /** Where it is. The last two are final. */
      readonly state: 'running' | 'paused' | 'cancelled' | 'completed'
      /** When it was requested: store time, ms. */
      readonly createdMs: number
      /** When it was completed or cancelled: store time, ms. Absent before. */
      readonly endedMs?: number
      /** Webhooks that were selected when it was requested. */
      readonly count: number
      /** Webhooks that it has changed: not those that somebody else has changed, or whose trouble was over or began meanwhile. */
      readonly changed: number
      /** Raised by every change. */
      readonly revision: number
    }>
    /** One job. Throws `NotFound`. */
    read(id: string): ReturnType<OperatorApi['jobs']['start']>
    /** Newest first. Throws `InvalidInput`. */
    list(options?: {
      /** Only jobs behind this one, in the order of the list. */
      readonly after?: { readonly createdMs: number; readonly id: string } | undefined
      /** 1–200, default 50. */
      readonly limit?: number | undefined
    }): Promise<readonly Awaited<ReturnType<OperatorApi['jobs']['start']>>[]>
    /**
     * Pauses, continues or cancels a job; what it has changed stays changed. Throws `NotFound`, `Conflict` for a job that has ended,
     * `InvalidInput`.
     */
    set(id: string, state: 'running' | 'paused' | 'cancelled'): ReturnType<OperatorApi['jobs']['start']>
  }
  /** Webhooks of all accounts that fail, are paused, or were disabled by the service; sorted by id. Throws `InvalidInput`. */
  unhealthy(options?: {
    /** Only webhooks in these states. Default: all of them. */
    readonly states?: readonly Exclude<EndpointHealth['state'], 'ok'>[] | undefined
    /** Maximum number of webhooks, 1 to 1,000. Default 50. */
    readonly limit?: number | undefined
    /** Only webhooks with a greater id: the `nextId` of the previous page. Default: from the start. */
    readonly afterId?: string | undefined
  }): Promise<{
    /** The webhooks, sorted by id. */
    readonly webhooks: readonly WebhookView[]
    /** `afterId` of the next page; absent: there are no more. */
    readonly nextId?: string
  }>
  /** Searches deliveries of all accounts, newest first. All given conditions must hold. Throws `InvalidInput`. */
  search(
    query?: Omit<PageOptions, 'ascending'> & {
      /** Only deliveries to webhooks of this account. Default: all accounts. */
      readonly accountId?: string | undefined
      /** Only deliveries to this webhook. Default: all webhooks. */
      readonly webhookId?: string | undefined
      /** Only deliveries of events of this call leg. Default: all legs. */
      readonly callId?: string | undefined
      /** Only deliveries in any of these states. Default: all states. */
      readonly states?: readonly StoredDelivery['state'][] | undefined
    },
  ): Promise<{
    /** The matching deliveries; possibly none although more follow. */
    readonly deliveries: readonly StoredDelivery[]
    /** `cursor` of the next page; absent: there are no more. */
    readonly cursor?: number
  }>
}

const SEARCH_OPTIONS = [
  ...PAGE_OPTIONS.filter((name) => name !== 'ascending'),
  'accountId',
  'webhookId',
  'callId',
  'states',
] as const

/**
 * @param core returns the running instance; throws while there is none
 * @param onHeldChanged called when a call has held or released something
 */
export function createOperatorApi(
  core: () => Core,
  jobs: OperatorApi['jobs'],
  onHeldChanged: (isHeld: boolean, accountId: string | undefined) => void,
): OperatorApi {
  async function setHold(isHeld: boolean, accountId: string | undefined) {
    const { held, isChanged } = await core().holds.set(isHeld, accountId)
    if (isChanged) onHeldChanged(isHeld, accountId)
    return held
  }
  return {
    jobs,
    holds: async () => core().holds.read(),
    async hold(options) {
      checkOptionNames('operator.hold', options, ['accountId'])
      return setHold(true, options?.accountId)
    },
    async release(options) {
      checkOptionNames('operator.release', options, ['accountId'])
      return setHold(false, options?.accountId)
    },
    overview: async () => readOverview(core()),
    unhealthy: async (options = {}) =>
      listUnhealthy(
        core().webhookDeps,
        withLimit('operator.unhealthy', options, ['states', 'limit', 'afterId'], UNHEALTHY_STATES),
      ),
    search: async (query = {}) =>
      searchDeliveries(core(), withLimit('operator.search', query, SEARCH_OPTIONS)),
  }
}
