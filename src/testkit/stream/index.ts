export { type CallRecorder, callRecorder, type RecorderOptions } from './call-recorder.js'
export {
  type RecordedCallsOptions,
  type RecordedEvent,
  type Recording,
  recordedCalls,
} from './recorded-calls.js'
export type { ReplayOptions, ReplayResult } from './replay.js'
