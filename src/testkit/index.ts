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
export { type TimeQueue, timeQueue } from './time-queue.js'
export { until } from './until.js'
