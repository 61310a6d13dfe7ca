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
  /** Ends a hold: what waits is sent, oldest first. Nothing changes if it was not held. */
  release(options?: {
    /** The hold of this account. Default: that of all accounts; accounts that are held by themselves stay so. */
    readonly accountId?: string | undefined
  }): ReturnType<OperatorApi['holds']>
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

/** @param core returns the running instance; throws while there is none */
export function createOperatorApi(core: () => Core): OperatorApi {
  return {
    holds: async () => core().holds.read(),
    async hold(options) {
      checkOptionNames('operator.hold', options, ['accountId'])
      return core().holds.hold(options?.accountId)
    },
    async release(options) {
      checkOptionNames('operator.release', options, ['accountId'])
      return core().holds.release(options?.accountId)
    },
    overview: async () => readOverview(core()),
    unhealthy: async (options = {}) =>
      listUnhealthy(
        core().webhooks,
        withLimit('operator.unhealthy', options, ['states', 'limit', 'afterId'], UNHEALTHY_STATES),
      ),
    search: async (query = {}) =>
      searchDeliveries(core(), withLimit('operator.search', query, SEARCH_OPTIONS)),
  }
}
