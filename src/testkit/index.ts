/**
 * `hookswitch/testkit`: the equipment that hookswitch tests itself with, for hosts that test what they build on it.
 * Depends on no test runner.
 */

// The decisions of delivery as pure functions, to test rules without a server, clock or store.
export type { ChannelEvent, CheckedEvent, PublishedEvent } from '../delivery/event.js'
export { type Matchable, matches, type Payload } from '../delivery/match.js'
export { type FailureClass, type Outcome, outcomeOf } from '../delivery/outcome.js'
export { payloadOf } from '../delivery/payload.js'
export { type FailureContext, type NextDelivery, nextDelivery, type RetryRules } from '../delivery/retry.js'
export type { AddressCheck } from '../values/address.js'
export {
  type AddressPolicy,
  type CompiledAddressPolicy,
  compileAddressPolicy,
  type HostCheck,
} from '../values/address-policy.js'
export {
  type CallGenerator,
  type CallOptions,
  callGenerator,
  type TimedEvent,
  takeCalls,
} from './calls.js'
export { type ManualClock, manualClock } from './clock.js'
export { type ConformanceRunner, type StoreHarness, storeConformance } from './conformance/index.js'
export type {
  CallAccount,
  CallEvent,
  CallHook,
  CallOutcome,
  CallSummary,
  LegSummary,
} from './generated-call.js'
export {
  type Defect,
  type DeliverOptions,
  type FetchTarget,
  type HandlerExchange,
  type HandlerProblem,
  type HandlerReport,
  type HandlerResponse,
  type HandlerResult,
  type ProblemKind,
  type RequestKind,
  type ScriptedDeliveries,
  type ScriptedDeliveriesOptions,
  type ScriptedDelivery,
  scriptedDeliveries,
  type WebhookHandler,
  type WebhookRequest,
  type WebhookUnderTest,
} from './handler/index.js'
export {
  type AnyPolicy,
  type Arbitrary,
  type PolicyGuarantees,
  type PolicyRunner,
  type PropertyChecker,
  provePolicy,
  type RetrySimulation,
  type RetrySimulationOptions,
  type SimulatedAttempt,
  type SimulatedFailure,
  simulateRetries,
} from './policy/index.js'
export { type SeededRandom, seededRandom } from './random.js'
export { type ReceiverOptions, type Script, type ScriptedReceiver, scriptedReceiver } from './receiver.js'
export {
  closeSilently,
  type DripOptions,
  dripBody,
  dripHeaders,
  endlessBody,
  flood1xx,
  garbage,
  gzipBomb,
  rawBytes,
  reset,
  shortBody,
  unsolicited,
} from './receiver-faults.js'
export type { ReceivedRequest } from './receiver-log.js'
export type { WireRequest } from './receiver-request.js'
export {
  delay,
  type Exchange,
  type Gate,
  gate,
  hang,
  redirect,
  retryAfter,
  type ScriptedResponse,
  type Step,
  status,
} from './receiver-script.js'
export {
  type CallRecorder,
  callRecorder,
  type RecordedCallsOptions,
  type RecordedEvent,
  type RecorderOptions,
  type Recording,
  type ReplayOptions,
  type ReplayResult,
  recordedCalls,
} from './stream/index.js'
export {
  type FakeAsterisk,
  type FakeAsteriskAmiOptions,
  type FakeAsteriskAriOptions,
  type FakeFreeswitch,
  type FakeFreeswitchOptions,
  type FakeKamailio,
  type FakeKamailioOptions,
  type FakeOptions,
  type FakeSwitch,
  fakeAsteriskAmi,
  fakeAsteriskAri,
  fakeFreeswitch,
  fakeKamailio,
  type Milestone,
  type PlayOptions,
  type PostAnswer,
} from './switches/index.js'
export { type TimeQueue, timeQueue } from './time-queue.js'
export { until } from './until.js'
