/**
 * Channel events of an Asterisk, through its manager interface (AMI) or its REST interface (ARI). Both yield the same
 * events; a leg is a channel.
 *
 * - The id of a leg is its `Uniqueid`, because the SIP Call-ID is not known at its begin. ARI reports that later, in
 *   `customChannelVars.sip_call_id`; with AMI copy it into a channel variable and list that in `customVariables`.
 * - `channel_create` of a dialled leg waits some milliseconds for the parties and the other leg; its time stays the time
 *   of the begin.
 * - `channel_bridge`: two phones hear each other, whatever Local channels and bridges are between them; published for
 *   both, once both have answered. Halves of Local channels are internal legs, bridged with the leg beside them. Members
 *   of a conference (`ConfBridge`, or three and more) have no `otherLegCallId`, but `customChannelVars.bridge_id`. Parked
 *   calls are not bridged, nor is a phone whose Local channel only runs an application.
 * - `channel_hold`, `channel_unhold`: of the phone that holds; also when it leaves the bridge in which it held.
 * - `channel_destroy`: the cause combines all that Asterisk reports; `hangupCode` is absent where the phone's own code is
 *   not known (an INVITE that the switch gave up). `customChannelVars.ended_by`: `this_leg` if its phone hung up or
 *   refused, `other_leg`, else `switch`, also for the phone that transfers; absent where that may have been missed.
 *   `found_by`: `resync` for an event that was missed. Durations whose times are not known are absent;
 *   `duration_is_estimate` where one is exact to the second.
 *
 * Asterisk does not report realms (use `realmOf`), codecs, media, or calls to extensions that do not exist.
 */
export type { UnknownAccount } from '../source/account-buffer.js'
export type { SourceEvents } from '../source/event-pipeline.js'
export type { PendingEvent, Problem } from '../source/mapped-events.js'
export { OPTIONAL_HOOKS, type OptionalHook, type OptionalHooksOption } from '../source/optional-hooks.js'
export type { OpenLegsOption, SourceOptions } from '../source/options.js'
export type { Rejected } from '../source/ordered-publisher.js'
export type { ConnectionState, PipelineCounts } from '../source/source-figures.js'
export type { SourceStatus, SwitchSource } from '../source/switch-source.js'
export type { TlsOptions } from '../source/tcp-session.js'
export {
  type AsteriskAccountOf,
  type AsteriskFacts,
  accountFromAccountCode,
  accountFromContext,
  accountFromEndpoint,
  accountFromVariable,
} from './account-resolver.js'
export { type AsteriskAmiOptions, asteriskAmi } from './ami.js'
export { type AsteriskAriOptions, asteriskAri } from './ari.js'
export type { LegOptions } from './leg-options.js'
