/**
 * `hookswitch/adapter`: for authors of adapters (HTTP frameworks, metrics exporters, event sources, command lines). Hosts
 * need `hookswitch` only.
 */

export { checkAccounts } from './accounts/check-list.js'
export type { ChannelEvent, CheckedEvent } from './delivery/event.js'
export { payloadOf } from './delivery/payload.js'
export { accountLimit, type QueueLimits } from './delivery/queue/shares.js'
export { createEventBus, type EventBus } from './events.js'
export { clientAddressResolver } from './http/client-address.js'
export { ERROR_NAMES, type ErrorResponseOptions, errorResponse } from './http/error-response.js'
export { MAX_BODY_BYTES } from './http/message.js'
export { METRICS, type MetricShape } from './metrics.js'
export { systemRandom } from './runtime/random.js'
export { safeLog } from './runtime/safe-log.js'
export { closestName } from './values/closest-name.js'
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
