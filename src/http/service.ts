import type { Caller } from '../auth/authenticate.js'
import type { SignedIn, SignInInput } from '../auth/sign-in.js'
import type { StoredAttempt } from '../delivery/attempt-record.js'
import type { AttemptQuery, DeliveryQuery, StoredDelivery } from '../delivery/delivery-queries.js'
import type { CatalogueEntry } from '../webhooks/catalogue.js'
import type { ChangeOptions } from '../webhooks/manage.js'
import type { WebhookInput, WebhookView } from '../webhooks/view.js'
import type { ReplayWish } from '../wire/command-docs.js'

/**
 * What the HTTP face asks of the core. Every promise may reject with `StoreUnavailable`.
 *
 * Nothing below `accounts.authorize` checks the caller again: the HTTP face asks for authority first.
 */
export interface Service {
  /** Opaque id of this process, never a host name. */
  readonly node: string
  /** Of this package. */
  readonly version: string
  /** Unix ms. */
  now(): number
  /** 32 lower-case hex digits. */
  newId(): string

  readonly auth: {
    /** Rejects with `InvalidCredentials`, `AccountLocked` or `TooManyLogins`. */
    signIn(login: SignInInput, from?: { readonly address?: string }): Promise<SignedIn>
    /** Rejects with `InvalidCredentials` for every cause. */
    authenticate(token: string): Promise<Caller>
    signOut(token: string): Promise<void>
  }

  readonly accounts: {
    /** Rejects with `Forbidden` for every account outside the caller's authority, existing or not. */
    authorize(caller: Caller, accountId: string): Promise<void>
    readApiKey(accountId: string): Promise<string>
    /** Rejects with `Unsupported` where the host's directory does not rotate keys. */
    rotateApiKey(accountId: string): Promise<string>
    /** Ids of all accounts below this one, without it. */
    descendants(accountId: string): Promise<readonly string[]>
  }

  readonly webhooks: {
    /** Kinds of events, with samples as a host would publish them. */
    catalogue(): readonly CatalogueEntry[]
    list(accountId: string): Promise<readonly WebhookView[]>
    /** Rejects with `InvalidInput`. */
    create(accountId: string, input: WebhookInput): Promise<WebhookView>
    /** Rejects with `NotFound`. */
    read(accountId: string, webhookId: string): Promise<WebhookView>
    /** Rejects with `InvalidInput`, `NotFound` or `RevisionConflict`. */
    replace(
      accountId: string,
      webhookId: string,
      input: WebhookInput,
      options?: ChangeOptions,
    ): Promise<WebhookView>
    /** Merges as RFC 7396 says, then validates the whole. Rejects as `replace` does. */
    patch(
      accountId: string,
      webhookId: string,
      input: WebhookInput,
      options?: ChangeOptions,
    ): Promise<WebhookView>
    /** The webhook as it was. Rejects with `NotFound` or `RevisionConflict`. */
    remove(accountId: string, webhookId: string, options?: ChangeOptions): Promise<WebhookView>
    /** Enables the webhooks of these accounts that the service disabled. */
    reenable(accountIds: readonly string[]): Promise<void>
    /** `whsec_…`. Rejects with `NotFound`. */
    readSecret(accountId: string, webhookId: string): Promise<string>
    rotateSecret(accountId: string, webhookId: string): Promise<string>
    /** Sends the sample of its hook, also for a disabled webhook; the delivery's id. Rejects with `NotFound`. */
    test(accountId: string, webhookId: string): Promise<string>
    /** Ids of the new deliveries. Rejects with `NotFound`. */
    replay(accountId: string, webhookId: string, wish: ReplayWish): Promise<readonly string[]>
  }

  readonly deliveries: {
    list(query: DeliveryQuery): Promise<readonly StoredDelivery[]>
    /** Rejects with `NotFound`. */
    read(accountId: string, deliveryId: string): Promise<StoredDelivery>
    /** One plain sentence why a delivery is where it is. */
    explain(delivery: StoredDelivery): Promise<string>
    attempts(query: AttemptQuery): Promise<readonly StoredAttempt[]>
    /** This call and its other legs; empty: this account knows no such call. */
    legs(accountId: string, callId: string): Promise<readonly string[]>
  }

  /**
   * Publishes events that came over HTTP, all of them or none; their ids. Absent: the route does not exist.
   * Rejects with `InvalidInput`, `Conflict` or `QueueFull`. `traceparent`: of the request, checked.
   */
  readonly ingest?: (
    accountId: string,
    events: readonly unknown[],
    traceparent?: string,
  ) => Promise<readonly string[]>
}
