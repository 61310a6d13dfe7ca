export type { Arbitrary, PropertyChecker } from './property-checker.js'
export { type PolicyGuarantees, type PolicyRunner, provePolicy } from './prove-policy.js'
export type { AnyPolicy } from './retry-policy.js'
export {
  type RetrySimulation,
  type RetrySimulationOptions,
  type SimulatedAttempt,
  type SimulatedFailure,
  simulateRetries,
} from './simulate-retries.js'
