/**
 * `hookswitch/kamailio`: publishes the calls of a Kamailio proxy as channel events. The stream is one JSON object per
 * line, which the routing script writes at its event points (`evapi`, or HTTP); `line.ts` lists the keys. Kamailio has no
 * standard for such a stream, so the names of events and keys are those of that script.
 *
 * Published: `channel_create`, `channel_answer`, `channel_bridge` (at the answer: one dialog joins both parties),
 * `channel_hold`, `channel_unhold`, `channel_destroy`, all for one leg, the caller's, whose `callId` is the SIP Call-ID.
 * Not available from a proxy: a second leg (`otherLegCallId`), the name of the callee, an owner or authorizing device,
 * media, and the call that a transferred call came from; those fields are absent.
 * A call whose begin was missed, for example during a restart, gets only its `channel_destroy`, without `durationSeconds`
 * and `ringingSeconds`, which its dialog does not contain.
 * Beyond KAZOO's fields, `customChannelVars` has `held_by` (caller, callee), `ended_by` (`this_leg`, the caller's phone;
 * `other_leg`, the callee's; `switch`, the proxy) and, for a call whose end was missed, `found_by` (timeout).
 *
 * Path of a line: source (netstrings of `evapi`, HTTP handler, stream or `push`) ─ line ─ mapping ─ call ─
 * channel-event ─▶ event pipeline.
 */
export type { UnknownAccount } from '../source/account-buffer.js'
export type { SourceEvents } from '../source/event-pipeline.js'
export type { PendingEvent, Problem as SourceProblem } from '../source/mapped-events.js'
export type { SourceOptions } from '../source/options.js'
export type { Rejected } from '../source/ordered-publisher.js'
export type { ConnectionState, PipelineCounts } from '../source/source-figures.js'
export type { SourceStatus, SwitchSource } from '../source/switch-source.js'
export { accountByDomain, accountDomain, type KamailioAccountOf } from './accounts.js'
export type { KamailioHandler } from './handler.js'
export type { KamailioDialog, KamailioLine } from './line.js'
export type { Chunks } from './line-stream.js'
export {
  type KamailioMapper,
  type KamailioMapperOptions,
  kamailioMapper,
  type MappedLine,
  type Problem,
} from './mapping.js'
export type { KamailioSourceOptions } from './options.js'
export { type KamailioSource, kamailioSource } from './source.js'
