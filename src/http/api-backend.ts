import type { Account } from '../accounts/account.js'
import type { PageQuery } from '../accounts/account-store.js'
import type { AccountAdmin } from '../auth/account-admin.js'
import type { Caller } from '../auth/authenticate.js'
import type { Access, AccessTarget, CallerRights } from '../auth/authority.js'
import type { SignedIn, SignInInput } from '../auth/sign-in.js'
import type { StoredAttempt } from '../delivery/attempt-record.js'
import type { CallHistory } from '../delivery/call-history.js'
import type {
  AttemptQuery,
  DeliveryQuery,
  DeliverySearch,
  FoundDeliveries,
  StoredDelivery,
} from '../delivery/delivery-queries.js'
import type { Explanation } from '../delivery/explain.js'
import type { MatchReport } from '../delivery/match-report.js'
import type { Overview } from '../delivery/overview.js'
import type { RequestPreview } from '../delivery/preview.js'
import type { ReplayJob, SettableState } from '../delivery/replay-job.js'
import type { ReplayRequest } from '../delivery/replay-selection.js'
import type { ReplayListQuery } from '../delivery/replay-store.js'
import type { EndpointListRequest, EndpointPage, UnhealthyEndpointPage } from '../stats/endpoint-list.js'
import type { StatsRange, StatsSeries } from '../stats/series.js'
import type { Yielding } from '../values/yielding.js'
import type { CatalogueEntry } from '../webhooks/catalogue.js'
import type { ChangeOptions, UnhealthyRequest } from '../webhooks/manage.js'
import type { UncheckedWebhook, WebhookView } from '../webhooks/view.js'
import type { StreamRequest } from '../wire/stream-json.js'
import type { StreamSource } from './event-stream.js'

/**
 * Port of the HTTP API to the running instance. Every promise may reject with `StoreUnavailable`.
 *
 * Only `accounts.authorize` checks the caller's access. The HTTP API calls it before any other method.
 */
export interface ApiBackend {
  /** Opaque id of this process, never a host name. */
  readonly node: string
  /** Version of this package. */
  readonly version: string
  /** Unix ms. */
  now(): number
  /** 32 lower-case hex digits. */
  newId(): string

  readonly auth: {
    /** Rejects with `InvalidCredentials`, `AccountLocked` or `TooManyLogins`. */
    signIn(login: SignInInput, from?: { readonly address?: string }): Promise<SignedIn>
    /** Rejects with `InvalidCredentials`, whatever the cause. */
    authenticate(token: string): Promise<Caller>
    signOut(token: string): Promise<void>
  }

  readonly accounts: {
    /**
     * Rejects with `Forbidden` if the caller may not use this access on the account, or if it does not exist. Resolves
     * to false if it does not exist and the caller may know.
     */
    authorize(caller: Caller, target: AccessTarget, access: Access): Promise<boolean>
    rightsOf(caller: Caller): CallerRights
    /** Whether the admins of this account act on every account. */
    isOperatorAccount(accountId: string): boolean
    /** The account, then its ancestors, cached; empty if it does not exist. */
    lineage(accountId: string): Promise<readonly Account[]>
    /** Rejects with `InvalidInput`. */
    erase(request: {
      readonly accountId: string
      readonly callId?: string
      readonly number?: string
    }): Promise<{ readonly callIds?: readonly string[]; readonly rows: number }>
    readApiKey(accountId: string): Promise<string>
    /** Rejects with `Unsupported` if the host's directory cannot rotate keys. */
    rotateApiKey(accountId: string): Promise<string>
    /** Returns the ids of all descendants of the account, without its own. */
    descendants(accountId: string): Promise<readonly string[]>
  }

  /** Accounts and users as documents. */
  readonly admin: AccountAdmin

  readonly webhooks: {
    /** Event types, with samples as a host publishes them. */
    catalogue(): readonly CatalogueEntry[]
    /** One page, sorted by name, then id; without the times of the last successes. */
    page(accountId: string, query: PageQuery): Promise<readonly WebhookView[]>
    /** Times of the last successes of these webhooks, Unix ms; those without one are missing. */
    lastSuccesses(webhookIds: readonly string[]): Promise<ReadonlyMap<string, number>>
    /** Webhooks of all accounts that fail, are paused, or were disabled by the service. */
    unhealthy(request: UnhealthyRequest): Promise<UnhealthyEndpointPage>
    /** The account's webhooks by name, with state, backlog, last attempt and the last 24 hours. `limit`: at most 200. */
    endpoints(
      accountId: string,
      request: EndpointListRequest & { readonly limit: number },
    ): Promise<EndpointPage>
    /**
     * Attempts of a webhook, or of all webhooks of the account, over time. Rejects with `NotFound`, `InvalidInput`, or
     * `Unsupported` where nothing is counted.
     */
    stats(accountId: string, webhookId: string | undefined, range: StatsRange): Promise<StatsSeries>
    /** Rejects with `InvalidInput`. */
    create(accountId: string, input: UncheckedWebhook): Promise<WebhookView>
    /** Rejects with `NotFound`. */
    read(accountId: string, webhookId: string): Promise<WebhookView>
    /** Rejects with `InvalidInput`, `NotFound` or `RevisionConflict`. */
    replace(
      accountId: string,
      webhookId: string,
      input: UncheckedWebhook,
      options?: ChangeOptions,
    ): Promise<WebhookView>
    /** Applies a JSON merge patch (RFC 7396), then validates the whole webhook. Rejects like `replace`. */
    patch(
      accountId: string,
      webhookId: string,
      input: UncheckedWebhook,
      options?: ChangeOptions,
    ): Promise<WebhookView>
    /** Returns the webhook as it was before. Rejects with `NotFound` or `RevisionConflict`. */
    remove(accountId: string, webhookId: string, options?: ChangeOptions): Promise<WebhookView>
    /** Enables the automatically disabled webhooks of these accounts. */
    reenable(accountIds: readonly string[]): Promise<void>
    /** Returns `whsec_…`. Rejects with `NotFound`. */
    readSecret(accountId: string, webhookId: string): Promise<string>
    rotateSecret(accountId: string, webhookId: string): Promise<string>
    /**
     * Sends the sample of the webhook's hook, even if the webhook is disabled, and returns the delivery id. Rejects
     * with `NotFound`.
     */
    test(accountId: string, webhookId: string): Promise<string>
    /** Repeats one ended delivery; returns the id of the new one. Rejects with `NotFound` or `Conflict`. */
    replay(accountId: string, webhookId: string, deliveryId: string): Promise<string>
    /** Whether each webhook of the account would get an event. Rejects with `InvalidInput` or `NotFound`. */
    match(accountId: string, event: Readonly<Record<string, unknown>>): Promise<readonly MatchReport[]>
    /** The request that a webhook with these settings would send. Rejects with `InvalidInput`. */
    preview(accountId: string, input: UncheckedWebhook, hook: string | undefined): Promise<RequestPreview>
    /** Ends the pause of a webhook. Rejects with `NotFound`, or with `Conflict` if it is disabled. */
    resume(accountId: string, webhookId: string): Promise<WebhookView>
  }

  readonly deliveries: {
    list(query: DeliveryQuery): Promise<readonly StoredDelivery[]>
    /** Searches deliveries of all accounts. A page may be short although more follow. */
    search(query: DeliverySearch): Promise<FoundDeliveries>
    /** Rejects with `NotFound`. */
    read(accountId: string, deliveryId: string): Promise<StoredDelivery>
    /** Explains the delivery's state. `isListed`: without what was observed at its last attempt. */
    explain(delivery: StoredDelivery, isListed: boolean): Promise<Explanation>
    attempts(query: AttemptQuery): Promise<readonly StoredAttempt[]>
    /** The history of a call. Rejects with `NotFound`. */
    call(accountId: string, callId: string): Promise<CallHistory>
    /** Returns the call ids of all legs of the call; empty if the account has no such call. */
    legs(accountId: string, callId: string): Promise<readonly string[]>
  }

  /** Replays of many deliveries (`ReplayApi`). */
  readonly replays: {
    /** Rejects with `NotFound`, `Conflict`, `InvalidInput` or `TooManyReplays`. */
    start(request: ReplayRequest): Promise<ReplayJob>
    /** Counts what `start` would repeat. Rejects with `NotFound` or `InvalidInput`. */
    count(request: ReplayRequest): Promise<number>
    /** Rejects with `NotFound`, with `accountId` for the job of another account too. */
    read(id: string, accountId?: string): Promise<ReplayJob>
    /** Newest first; of all accounts without `accountId`. `limit`: at most 200. */
    list(query: ReplayListQuery): Promise<readonly ReplayJob[]>
    /** Rejects with `NotFound`, or with `Conflict` for a job that has ended. */
    set(id: string, state: SettableState, accountId?: string): Promise<ReplayJob>
  }

  /** The state of the service. */
  overview(): Promise<Overview>
  readonly streams: {
    /**
     * Opens a live stream, which the caller of this method closes. Rejects with `InvalidInput`, `NotFound` or
     * `TooManyStreams`.
     */
    open(request: StreamRequest, caller: Caller): Promise<StreamSource>
    /** Checks a request without opening a stream. Rejects with `InvalidInput` or `NotFound`. */
    check(request: StreamRequest): Promise<void>
  }

  /**
   * Publishes events received over HTTP, all or none, and returns their ids. Absent: the route does not exist.
   * Rejects with `InvalidInput`, `TooLarge`, `Conflict` or `QueueFull`. `traceparent` is the request's header, validated.
   */
  readonly ingest?: (
    accountId: string,
    events: readonly unknown[],
    traceparent?: string,
  ) => Promise<readonly string[]>
  /** Throws `TooLarge` for more events than `ingest` takes at once. */
  checkEventCount(count: number): void
  /** Called between the steps of long work (`values/yielding`). */
  readonly yieldWhenDue: Yielding['whenDue']
}
