/**
 * `hookswitch/testkit`: what hookswitch tests itself with, for hosts that test what they build on it. Needs no
 * test runner of its own.
 */
export { type ConformanceRunner, type StoreHarness, storeConformance } from '../store/conformance/index.js'
export type { CallOutcome } from './call-course.js'
export type { CallEvent, CallHook, LegSummary } from './call-legs.js'
export type { CallAccount } from './call-parties.js'
export type { CallSummary } from './call-plan.js'
export {
  type CallGenerator,
  type CallOptions,
  callGenerator,
  type TimedEvent,
  takeCalls,
} from './calls.js'
export { type ManualClock, manualClock } from './clock.js'
export {
  type DeliverOptions,
  type FetchTarget,
  type Flaw,
  type HandlerAnswer,
  type HandlerExchange,
  type HandlerProblem,
  type HandlerReport,
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
  type Fc,
  type ModelFailure,
  type ModelRuns,
  type ModelTest,
  type ServiceModelOptions,
  type StoreModelOptions,
  serviceModel,
  storeModel,
} from './models/index.js'
export {
  type AnyPolicy,
  type Arbitrary,
  type CourseAttempt,
  type CourseFailure,
  type CourseOptions,
  courseOf,
  type PolicyPromises,
  type PolicyRunner,
  type PropertyChecker,
  provePolicy,
  type RetryCourse,
} from './policy/index.js'
export { type SeededRandom, seededRandom } from './random.js'
export { type ReceiverOptions, type Script, type ScriptedReceiver, scriptedReceiver } from './receiver.js'
export {
  closeSilently,
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
  type Answer,
  delay,
  type Exchange,
  type Gate,
  gate,
  hang,
  redirect,
  retryAfter,
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
  type Replayed,
  type ReplayOptions,
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
export {
  type Doctor,
  type Exhausted,
  exhaust,
  FAULT_KINDS,
  type Fault,
  type FaultKind,
  type Finding,
  type Minimised,
  minimise,
  replayCommand,
  reportOf,
  type Simulation,
  type SimulationOptions,
  simulate,
  uncovered,
} from './world/index.js'
