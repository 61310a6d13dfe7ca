// biome-ignore-all assist/source/organizeImports: grouped by topic
/** `hookswitch`: the public API for hosts. Explicit names, no logic. */

// An instance and its options.
export {
  type AnyData,
  type CustomEvents,
  createHookswitch,
  type DataIn,
  type DataOut,
  type EventOf,
  type Hookswitch,
} from './hookswitch.js'
export type { LimitName, Limits } from './options/limits.js'
export { type HookswitchOptions, OPTION_DEFAULTS } from './options/options.js'
export type { HookswitchEvents, PublishedCustomEvent, PublishedEvent } from './runtime/core.js'
export type { NodeHealth } from './runtime/node-health.js'
export type { EraseRequest, EraseResult } from './runtime/erase.js'
export { type RotatedSecret, type RotateSecretOptions, rotateSecret } from './runtime/rotate-secret.js'
export type { OpenLegs } from './runtime/open-legs.js'
export type { OpenLeg, OpenLegChanges } from './legs/open-leg-store.js'
export type { Published, PublishOptions, StagedEvent } from './runtime/publish.js'
export type { StreamRequest } from './stream/hub.js'
export type { StreamItem } from './stream/iterate.js'
export type { StreamEndReason, StreamFilter, StreamType } from './wire/stream-json.js'
export { type MemoryStoreOptions, memoryStore } from './store/memory.js'
export type { Pem, TlsOptions } from './values/tls-and-proxy.js'
export { VERSION } from './version.js'

// Accounts and access tokens.
export type { Account } from './accounts/account.js'
export type { AccountChange, AccountInput, UserInput } from './accounts/account-input.js'
export type { CredentialMethod } from './accounts/credential.js'
export type { CredentialHolder, Directory } from './accounts/directory.js'
export type { AccountView, CreatedAccount } from './accounts/manage.js'
export type { UserView } from './accounts/users.js'
export type { AccountService } from './auth/account-service.js'
export type { Caller } from './auth/authenticate.js'
export type { SignedIn, SignInInput } from './auth/sign-in.js'

// Webhooks.
export type { ReplayApi, ReplayListOptions } from './runtime/replay-api.js'
export type {
  AttemptListOptions,
  DeliveryListOptions,
  PageOptions,
  WebhookApi,
  WebhookInput,
  WebhookPatch,
} from './runtime/webhook-api.js'
export type { CustomHook } from './webhooks/catalogue.js'
export type { DataSchema, JsonDataSchema } from './webhooks/event-data.js'
export type { EventFilter } from './webhooks/event-filter.js'
export type { AutoDisableRule, HealthRules } from './webhooks/health.js'
export type { EndpointHealth, EndpointState } from './webhooks/health.js'
export type { ChangeOptions, UnhealthyPage, UnhealthyRequest, UnhealthyState } from './webhooks/manage.js'
export type {
  EndpointListRequest,
  EndpointPage,
  ListedEndpoint,
  ListedEndpointState,
} from './stats/endpoint-list.js'
export type { StatsFailure, StatsRange, StatsSeries } from './stats/series.js'
export type { WebhookView } from './webhooks/view.js'
export type { BodyFormat, HttpVerb, Ordering, WebhookSettings } from './webhooks/webhook.js'

// Events and their delivery.
export type { AttemptRecord, StoredAttempt } from './delivery/attempt-record.js'
export type {
  DeliveryEnd,
  WebhookBacklogFull,
  WebhookFailing,
  WebhookDisabled,
  WebhookPaused,
} from './delivery/delivery-events.js'
export type { StoredDelivery } from './delivery/delivery-queries.js'
export type { ChannelEvent, CustomEvent } from './delivery/event.js'
export type { RefusedEvent } from './delivery/inbox-relay.js'
export {
  constant,
  custom,
  exponential,
  POLICY_PRESETS,
  type PolicyFunction,
  type RetryContext,
  type RetryPolicy,
  schedule,
} from './delivery/policy.js'
export type { CallEvent, CallHistory, CallLeg, UnwantedEvent } from './delivery/call-history.js'
export type { Mismatch } from './delivery/match.js'
export type { MatchReport } from './delivery/match-report.js'
export type { NodeOverview, Overview } from './delivery/overview.js'
export type { RequestPreview } from './delivery/preview.js'
export type {
  LeftOutWebhook,
  ReplayJob,
  ReplayRequest,
  ReplayScope,
  SettableState,
} from './delivery/replay-job.js'
export type { ReplaySelection } from './delivery/replay-selection.js'
export type { ReplayState } from './delivery/replay-store.js'
export type { Verified, VerifyFailure } from './delivery/signature.js'
export { type SignedRequest, verify } from './runtime/verify.js'

// Errors.
export { type ErrorCode, type ErrorDetails, errorCode, type Failure, HookswitchError } from './errors.js'

// Ports that a host may implement.
export type {
  CounterName,
  GaugeName,
  GaugeReading,
  HistogramName,
  LabelOf,
  Metrics,
  ObservableCounterName,
} from './metrics.js'
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
  SpanAttributes,
  Tracing,
  TransportFailure,
} from './ports.js'

export { FAILURE_CAUSES, type FailureCause } from './values/failure-cause.js'

// The HTTP API as plain records, and the default clock.
export type { EventHub } from './events.js'
export type {
  BodyAdmission,
  BodyProblem,
  HttpService,
  RequestHead,
  RequestRecord,
  ResponseRecord,
  ResponseStream,
} from './http/message.js'
export { systemClock } from './runtime/clock.js'
