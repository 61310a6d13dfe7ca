/** The public surface: explicit names, no logic. */

// Accounts and authority.
export type { Account } from './accounts/account.js'
export type { AccountChange, AccountInput, UserInput } from './accounts/account-input.js'
export { hasAuthority } from './accounts/authority.js'
export { credentialDigest } from './accounts/credential.js'
export type { CredentialHolder, Directory } from './accounts/directory.js'
export type { AccountVerbs } from './auth/account-verbs.js'
export type { Caller } from './auth/authenticate.js'
export type { SignedIn, SignInInput } from './auth/sign-in.js'
export { isLive } from './auth/token.js'
// The doors that a host may bring.
export { systemClock } from './clock.js'
export type { HookswitchEvents, PublishedEvent } from './core.js'
export type { AttemptRecord, StoredAttempt } from './delivery/attempt-record.js'
export { backoffMs } from './delivery/backoff.js'
export type { DeliveryEnd, DeliveryEvents } from './delivery/delivery-events.js'
export type { StoredDelivery } from './delivery/delivery-queries.js'
// Events and their delivery: decisions.
export type { ChannelEvent, CheckedEvent } from './delivery/event.js'
export { checkEvent } from './delivery/event.js'
export { formEncode } from './delivery/form.js'
export type { Delivery, DeliveryState, DeliveryStep } from './delivery/lifecycle.js'
export { LIFECYCLE } from './delivery/lifecycle.js'
export type { Matchable } from './delivery/match.js'
export { matches } from './delivery/match.js'
export type { FailureClass, Outcome } from './delivery/outcome.js'
export { outcomeOf } from './delivery/outcome.js'
export { payloadOf } from './delivery/payload.js'
export type { PolicyFunction, RetryContext, RetryPolicy } from './delivery/policy.js'
export { constant, custom, exponential, POLICY_PRESETS, schedule } from './delivery/policy.js'
export type { NextDelivery, RetryRules } from './delivery/retry.js'
export { nextDelivery } from './delivery/retry.js'
export type { Verified, VerifyFailure } from './delivery/signature.js'
export { sign } from './delivery/signature.js'
export type { ErrorCode, ErrorDetails, Failure } from './errors.js'
// Errors.
export { errorCode, HookswitchError } from './errors.js'
// What a source of events is made of.
export type { Emitting, EventHub } from './events.js'
export { eventHub } from './events.js'
export type { Hookswitch } from './hookswitch.js'
// One instance, its options and what it is made of.
export { createHookswitch } from './hookswitch.js'
export type { HostWebhooks, WebhookPatch, WebhookWish } from './host-webhooks.js'
export type { HttpService, RequestRecord, ResponseRecord } from './http/message.js'
// For HTTP adapters.
export { MAX_BODY_BYTES } from './http/message.js'
export type { ErrorResponseOptions } from './http/refusal.js'
export { errorResponse, REFUSAL_NAMES } from './http/refusal.js'
// What is measured, and where it goes.
export type {
  CounterName,
  GaugeName,
  GaugeReading,
  HistogramName,
  LabelOf,
  MetricShape,
  Metrics,
} from './metrics.js'
export { METRICS } from './metrics.js'
export type { HookswitchOptions } from './options.js'
export { OPTION_DEFAULTS } from './options.js'
export type {
  Clock,
  Log,
  Observation,
  Random,
  Resolution,
  Resolver,
  Sender,
  SendRequest,
  Span,
  SpanFacts,
  Tracing,
  TransportFailure,
} from './ports.js'
export type { Published, PublishOptions } from './publish.js'
export { systemRandom } from './random.js'
export { safeLog } from './safe-log.js'
export { memoryStore } from './store/memory.js'
export { compilePolicy } from './values/address-policy.js'
export { canonicalUri } from './values/uri.js'
export type { Pem, TlsOptions } from './values/way-out.js'
export { verify } from './verify.js'
export { VERSION } from './version.js'
export type { CatalogueEntry, CustomHook } from './webhooks/catalogue.js'
// Webhooks.
export { catalogueOf } from './webhooks/catalogue.js'
export type { WebhookDoors } from './webhooks/manage.js'
export { createWebhook, patchWebhook, readWebhook, removeWebhook, replaceWebhook } from './webhooks/manage.js'
export type { SettingsRules } from './webhooks/settings.js'
export { checkSettings, SETTINGS_DEFAULTS } from './webhooks/settings.js'
export type { WebhookInput, WebhookView } from './webhooks/view.js'
export type { Webhook, WebhookSettings } from './webhooks/webhook.js'
