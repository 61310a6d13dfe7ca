/**
 * `hookswitch/simulator`: a deterministic simulation of several nodes, receivers, hosts and API clients in virtual time
 * with injected faults, and model-based tests of stores. Needs no test runner.
 */

export type { StoreHarness } from '../testkit/conformance/index.js'
export type { SeededRandom } from '../testkit/random.js'
export type { AddressCheck } from '../values/address.js'
export type { CompiledAddressPolicy, HostCheck } from '../values/address-policy.js'
export type { Approve } from './connect.js'
export { findUncovered } from './coverage.js'
export { type ExhaustResult, exhaust } from './exhaustive.js'
export type { FaultInjector } from './fault-injector.js'
export { FAULT_KINDS, type Fault, type FaultKind } from './faults.js'
export { type MinimiseResult, minimise } from './minimise.js'
export {
  type Fc,
  type ModelFailure,
  type ModelRuns,
  type ModelTest,
  type StoreModelOptions,
  storeModel,
} from './models/index.js'
export type { NodeLife } from './node-life.js'
export type { SimulatedCaps, SimulationOptions } from './options.js'
export { createReport, formatReplayCommand } from './report.js'
export { type SimulationResult, simulate } from './simulate.js'
export type { TraceStep } from './trace.js'
export type { Violation } from './violation.js'
