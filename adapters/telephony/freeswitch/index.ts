/**
 * `hookswitch/freeswitch`: publishes the calls of a FreeSWITCH as channel events, read from its event socket
 * (`mod_event_socket`). Each leg is published as `channel_create`, `channel_answer`, `channel_bridge` (one for each of
 * the two legs), `channel_hold`, `channel_unhold` and `channel_destroy`, with the switch's own times and the account
 * that the host's `accountOf` returns.
 *
 * Limits: the SIP status of a caller that the switch itself refused, and of a callee that redirects, is not available
 * (`hangupCode` is absent then), and the `plain` format loses a `%` before two hex digits. Names and numbers are those of the leg's first event; names and
 * numbers of callers who request privacy are left out. `customChannelVars` are KAZOO's (`ecallmgr_…`) and those listed
 * in the option `customVariables`; `customApplicationVars` are those with the prefix `cav_`. Beyond KAZOO's fields,
 * `customChannelVars` has `ended_by` (`this_leg`, `other_leg`, `switch`) and `found_by` (`resync`).
 *
 * Path of an event (inbound mode):
 *
 *     source ─ session ─ event-stream ─ frames ─ event ─ mapping ─ event-builder ─▶ event pipeline
 *                 └── resync: finds what was missed while disconnected
 */
export type { UnknownAccount } from '../source/account-buffer.js'
export type { SourceEvents } from '../source/event-pipeline.js'
export type { PendingEvent, Problem } from '../source/mapped-events.js'
export { OPTIONAL_HOOKS, type OptionalHook, type OptionalHooksOption } from '../source/optional-hooks.js'
export type { OpenLegsOption, SourceOptions } from '../source/options.js'
export type { Rejected } from '../source/ordered-publisher.js'
export type { ConnectionState, PipelineCounts } from '../source/source-figures.js'
export type { SourceStatus, SwitchSource } from '../source/switch-source.js'
export {
  accountFromAccountCode,
  accountFromContext,
  accountFromEndpoint,
  accountFromRealm,
  accountFromSipHeader,
  accountFromVariable,
  type FreeswitchAccountOf,
  type FreeswitchFacts,
} from './account-resolver.js'
export type { EventFormat } from './event.js'
export type { FreeswitchOptions, FreeswitchSourceOptions } from './options.js'
export { type FreeswitchOutbound, freeswitchOutbound } from './outbound.js'
export type { FreeswitchOutboundOptions } from './outbound-options.js'
export { freeswitchSource } from './source.js'
