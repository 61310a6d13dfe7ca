/**
 * Calls of a Kamailio proxy as channel events. The stream is one JSON object a line, as a routing script sends it
 * at its event points (`evapi`, or HTTP); `line.ts` lists the keys that are read. Kamailio has no standard for such a
 * stream, so the names of events and keys are those of that script.
 *
 * A proxy can tell: `channel_create`, `channel_answer`, `channel_bridge` (at the answer: one dialog joins both
 * parties), `channel_hold`, `channel_unhold`, `channel_destroy`, all for one leg, the caller's, whose `callId` is
 * the SIP Call-ID. It cannot tell: a second leg (`otherLegCallId`), the name of the callee, an owner or
 * authorizing device, media, or which call a transferred call came from; those fields stay absent.
 * Of a call whose begin was not heard, as after a restart, its end alone is told: `channel_destroy` without
 * `durationSeconds` and `ringingSeconds`, which its dialog does not say.
 * Beyond KAZOO's fields, `customChannelVars` says `held_by`, `ended_by` (caller, callee, proxy, nobody) and, of a call
 * whose end was missed, `found_by` (timeout).
 */
export type { UnknownAccount } from '../source/account-hold.js'
export type { FeedCounts, SourceEvents } from '../source/feed.js'
export type { ChannelDraft } from '../source/leg-news.js'
export type { SourceOptions } from '../source/options.js'
export type { Rejected } from '../source/pump.js'
export type { SourceStatus, SwitchSource } from '../source/switch-source.js'
export { accountByDomain, accountDomain, type KamailioAccountOf } from './accounts.js'
export type { EndedBy } from './call.js'
export type { KamailioHandler } from './handler.js'
export type { KamailioDialog, KamailioLine } from './line.js'
export type { Chunks } from './line-stream.js'
export {
  type KamailioMapper,
  type KamailioMapperOptions,
  kamailioMapper,
  type MappedLine,
  type Problem,
} from './mapper.js'
export type { KamailioSourceOptions } from './options.js'
export { type KamailioSource, kamailioSource } from './source.js'
