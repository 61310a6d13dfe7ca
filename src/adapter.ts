/**
 * `hookswitch/adapter`: the ports of an instance, and what adapters share (HTTP frameworks, metrics exporters, event sources,
 * command lines). An internal seam: it may change in any minor version. Hosts need `hookswitch` only.
 */

export type { AccountInput, UserInput } from './accounts/account-input.js'
export { checkAccounts } from './accounts/check-list.js'
export type { ChannelEvent, CheckedEvent, PublishedEvent } from './delivery/event.js'
export { payloadOf } from './delivery/payload.js'
export { POLICY_PRESETS } from './delivery/policy.js'
export { accountLimit, type QueueLimits } from './delivery/queue/shares.js'
export { checkOptionNames } from './errors.js'
export { createEventBus, type EventBus, type EventHub } from './events.js'
export { checkService } from './http/check-service.js'
export { clientAddressResolver } from './http/client-address.js'
export { ERROR_NAMES, type ErrorResponseOptions, errorResponse } from './http/error-response.js'
export {
  type BodyAdmission,
  type BodyProblem,
  type HttpService,
  MAX_BODY_BYTES,
  type RequestHead,
  type RequestRecord,
  type ResponseRecord,
  type ResponseStream,
} from './http/message.js'
export type { OpenLeg, OpenLegChanges } from './legs/open-leg-store.js'
export {
  type CounterName,
  type GaugeName,
  type GaugeReading,
  type HistogramName,
  type LabelOf,
  METRICS,
  type MetricShape,
  type Metrics,
  type ObservableCounterName,
} from './metrics.js'
export { OPTION_DEFAULTS } from './options/options.js'
export type {
  Clock,
  Connected,
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
export { systemClock } from './runtime/clock.js'
export type { OpenLegs } from './runtime/open-legs.js'
export { systemRandom } from './runtime/random.js'
export { limitLog, safeLog } from './runtime/safe-log.js'
export { closestName } from './values/closest-name.js'
export { FAILURE_CAUSES, type FailureCause } from './values/failure-cause.js'
export { type ConnectionTarget, connectionTarget } from './values/postgres-url.js'
export { printable, printableJson, printableLine, type TextPart, textParts } from './values/printable.js'
export { rateLimitSource } from './values/rate-limit-source.js'
export {
  type RateLimit,
  type TakeResult,
  type TokenBucket,
  take as takeTokens,
} from './values/token-bucket.js'
export { CALL_EVENTS, type CallEventName, callEventName } from './wire/call-bindings.js'
