/**
 * Calls of a FreeSWITCH as channel events, heard over its event socket. A leg is published as `channel_create`,
 * `channel_answer`, `channel_bridge` (one for each of the two legs), `channel_hold`, `channel_unhold`,
 * `channel_destroy`, with the switch's own times and the account that the host's `accountOf` tells.
 *
 * What it cannot tell: the SIP status of a caller that the switch itself refused (`hangupCode` is absent then), and, in
 * the `plain` format, a `%` before two hex digits. The people of a leg are those of its begin; names and numbers of
 * callers who ask to be hidden are left out. `customChannelVars` are KAZOO's (`ecallmgr_…`) and those of the option
 * `customVariables`; `customApplicationVars` are those that begin with `cav_`.
 */

export type { UnknownAccount } from '../source/account-hold.js'
export type { FeedCounts, SourceEvents } from '../source/feed.js'
export type { ChannelDraft, Problem } from '../source/leg-news.js'
export type { SourceOptions } from '../source/options.js'
export type { Rejected } from '../source/pump.js'
export type { SourceStatus, SwitchSource } from '../source/switch-source.js'
export type { EventFormat } from './event.js'
export {
  accountFromAccountCode,
  accountFromContext,
  accountFromEndpoint,
  accountFromRealm,
  accountFromSipHeader,
  accountFromVariable,
  type FreeswitchAccountOf,
  type FreeswitchFacts,
} from './facts.js'
export type { FreeswitchOptions, FreeswitchSourceOptions } from './options.js'
export { type FreeswitchOutbound, freeswitchOutbound } from './outbound.js'
export type { FreeswitchOutboundOptions } from './outbound-options.js'
export { freeswitchSource } from './source.js'
