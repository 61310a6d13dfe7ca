/**
 * `hookswitch/adapter`: for authors of adapters (HTTP frameworks, metrics exporters, event sources, command lines). Hosts
 * need `hookswitch` only.
 */

export { checkAccounts } from './accounts/check-list.js'
export { createEventBus, type EventBus } from './events.js'
export { ERROR_NAMES, type ErrorResponseOptions, errorResponse } from './http/error-response.js'
export { MAX_BODY_BYTES } from './http/message.js'
export { METRICS, type MetricShape } from './metrics.js'
export { systemRandom } from './runtime/random.js'
export { safeLog } from './runtime/safe-log.js'
export { closestName } from './values/closest-name.js'
