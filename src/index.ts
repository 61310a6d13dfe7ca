// biome-ignore-all assist/source/organizeImports: grouped by topic
/**
 * `hookswitch`: the public API for hosts, at most 70 names. Explicit names, no logic. The ports of adapters are in
 * `hookswitch/adapter`, the contract of stores in `hookswitch/store`.
 */

// An instance and its options.
export { createHookswitch, type DataOf, type EventOf, type Hookswitch } from './hookswitch.js'
export type { Limits } from './options/limits.js'
export type { HookswitchOptions } from './options/options.js'
export type { HookswitchEvents } from './runtime/core.js'
export { rotateSecret } from './runtime/rotate-secret.js'
export type { Published, PublishOptions } from './runtime/publish.js'
export type { StreamItem } from './stream/iterate.js'
export type { StreamRequest } from './wire/stream-json.js'
export { memoryStore } from './store/memory.js'
export type { TlsOptions } from './values/tls-and-proxy.js'
export type { Clock, Log } from './ports.js'
export { VERSION } from './version.js'

// Accounts and access tokens.
export type { Account } from './accounts/account.js'
export type { AccountChange, AccountInput, UserInput } from './accounts/account-input.js'
export type { Directory } from './accounts/directory.js'
export type { AccountView } from './accounts/manage.js'
export type { UserView } from './accounts/users.js'
export type { AccountService } from './auth/account-service.js'
export type { Caller } from './auth/authenticate.js'
export type { SignedIn, SignInInput } from './auth/sign-in.js'

// Webhooks.
export type { CheckedAddress } from './webhooks/address-check.js'
export type { OperatorApi } from './runtime/operator-api.js'
export type { ReplayApi } from './runtime/replay-api.js'
export type { PageOptions, WebhookApi, WebhookInput, WebhookPatch } from './runtime/webhook-api.js'
export type { CustomHook } from './webhooks/catalogue.js'
export type { EventFilter } from './webhooks/event-filter.js'
export type { EndpointHealth } from './webhooks/health.js'
export type { WebhookHealth } from './stats/endpoint-health.js'
export type { ListedEndpoint } from './stats/endpoint-list.js'
export type { StatsSeries } from './stats/series.js'
export type { WebhookView } from './webhooks/view.js'
export type { WebhookSettings } from './webhooks/webhook.js'

// Events and their delivery.
export type { AttemptRecord, StoredAttempt } from './delivery/attempt-record.js'
export type { DeliveryEnd, DeliveryEvents } from './delivery/delivery-events.js'
export type { StoredDelivery } from './delivery/delivery-queries.js'
export type { ChannelEvent, CustomEvent, PublishedEvent } from './delivery/event.js'
export type { Delivery } from './delivery/lifecycle.js'
export {
  constant,
  custom,
  exponential,
  type PolicyFunction,
  type RetryPolicy,
  schedule,
} from './delivery/policy.js'
export type { CallHistory } from './delivery/call-history.js'
export type { MatchReport } from './delivery/match-report.js'
export type { Overview } from './delivery/overview.js'
export type { RequestPreview } from './delivery/preview.js'
export type { ReplayJob } from './delivery/replay-job.js'
export type { ReplayRequest } from './delivery/replay-selection.js'
export type { Verified } from './delivery/signature.js'
export { verify } from './runtime/verify.js'

// Errors.
export { type ErrorCode, errorCode, type Failure, HookswitchError } from './errors.js'
