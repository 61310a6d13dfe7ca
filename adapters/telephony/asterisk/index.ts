/**
 * Calls of an Asterisk as channel events, by its manager interface (AMI) or its REST interface (ARI); both tell the same
 * story. What is told of a leg, which is a channel:
 *
 * - Its id is the `Uniqueid`: the SIP Call-ID is not known when it begins. ARI tells it afterwards, in
 *   `customChannelVars.sip_call_id`; with AMI put it into a channel variable and name that in `customVariables`.
 * - `channel_create` of a dialled leg waits some milliseconds for the parties and the other leg; its time is its own.
 * - `channel_bridge`: two phones hear each other, whatever Local channels and bridges lie between, once both are
 *   answered; one event for each. Halves of Local channels are internal legs, joined to what is beside them. Members of
 *   a conference (`ConfBridge`, or three and more) have no `otherLegCallId`, but `customChannelVars.bridge_id`.
 *   Whoever is parked talks to nobody; a phone whose Local channel runs an application alone has no bridge.
 * - `channel_hold`, `channel_unhold`: of the phone that holds; also when it leaves the bridge in which it did.
 * - `channel_destroy`: the cause is made of all that Asterisk says; `hangupCode` is absent where the phone's own code is
 *   not known (an INVITE that the switch gave up). `customChannelVars.ended_by`: `this_leg` where its phone hung up or
 *   refused, `other_leg`, else `switch`; so also for who transfers. `found_by`: `resync` for an end that was not heard.
 *
 * Asterisk does not tell realms (`realmOf` may), codecs, media, and calls to extensions that do not exist.
 */
export type { UnknownAccount } from '../source/account-hold.js'
export type { FeedCounts, SourceEvents } from '../source/feed.js'
export type { ChannelDraft, Problem } from '../source/leg-news.js'
export type { SourceOptions } from '../source/options.js'
export type { Rejected } from '../source/pump.js'
export type { SourceStatus, SwitchSource } from '../source/switch-source.js'
export { type AsteriskAmiOptions, asteriskAmi } from './ami.js'
export { type AsteriskAriOptions, asteriskAri } from './ari.js'
export {
  type AsteriskAccountOf,
  type AsteriskFacts,
  accountFromAccountCode,
  accountFromContext,
  accountFromEndpoint,
  accountFromVariable,
} from './facts.js'
export type { LegOptions } from './leg-options.js'
