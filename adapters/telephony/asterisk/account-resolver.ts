/** Resolves the account of a leg: the facts that a host's `accountOf` gets, and ready functions for common setups. */
import { invalidOption } from '../source/options.js'
import type { Leg } from './leg.js'
import type { Channel } from './switch-event.js'

/** What is known about a leg when `accountOf` or `realmOf` is called. */
export interface AsteriskFacts {
  /** The leg: the channel's `Uniqueid`; of what belongs to no call, the id of its event. */
  readonly callId: string
  /** The channel's name: `PJSIP/1001-0000002a`. */
  readonly channel: string
  /** The channel's technology: `PJSIP`, `Local`, … */
  readonly technology: string
  /** The endpoint, peer or trunk: `1001`; `extension@context` for a half of a Local channel. */
  readonly endpoint: string
  /** `inbound`: the phone called Asterisk. `outbound`: Asterisk called the phone. */
  readonly direction: 'inbound' | 'outbound'
  /** Whether the channel belongs to Asterisk itself and has no phone: a half of a Local channel, a recorder, … */
  readonly isInternalLeg: boolean
  /** The account code. Of a dialled leg its own, if it has one, although Asterisk replaces it with that of its caller. */
  readonly accountCode: string | undefined
  /** The dial plan context. */
  readonly context: string | undefined
  /** The dial plan extension. */
  readonly extension: string | undefined
  /** The caller id number of the channel. */
  readonly callerNumber: string | undefined
  /**
   * The kind of an event that belongs to no call (`device_registered`, `queue_agent_login`, `sms`, …): `channel` is then the
   * phone (`PJSIP/1001`), and there is neither a variable nor an account code, context or extension.
   */
  readonly hook?: string | undefined
  /** The queue in which an agent logs in, pauses, or logs out. */
  readonly queue?: string | undefined
  /** Returns a channel variable, if `channelvars` of `manager.conf` or `ari.conf` lists it. */
  readonly variable: (name: string) => string | undefined
}

/**
 * Returns the account id of a leg; `undefined` while it is not known. It is called with each message of the leg, once its
 * direction is known, until its first event is published: the last id that it has returned by then counts. Any other value, including a promise, is reported as a `problem`, once per leg.
 */
export type AsteriskAccountOf = (leg: AsteriskFacts) => string | undefined

/** @param channel the channel in the newest message */
export function factsOf(leg: Leg, channel: Channel): AsteriskFacts {
  return {
    callId: leg.id,
    channel: channel.name,
    technology: leg.technology,
    endpoint: leg.endpoint,
    direction: leg.direction,
    isInternalLeg: leg.isInternal,
    accountCode: leg.direction === 'outbound' ? leg.firstAccountCode : channel.accountCode,
    context: channel.context,
    extension: channel.extension,
    callerNumber: channel.callerNumber,
    variable: channel.variable,
  }
}

/**
 * Takes the account id from a channel variable, which `channelvars` of `manager.conf` (AMI) or `ari.conf` must list. The
 * variable is empty in the first event of every channel, so the events of a leg wait some milliseconds. Halves of Local
 * channels have it only if it is inherited (`Set(__ACCOUNT_ID=…)`).
 *
 * @param name the variable
 * @throws `InvalidOption` without a name
 */
export function accountFromVariable(name: string): AsteriskAccountOf {
  if (typeof name !== 'string' || name === '') {
    throw invalidOption('name', 'of accountFromVariable must be the name of a channel variable')
  }
  return (leg) => leg.variable(name)
}

/**
 * Takes the account id from the account code of the leg, which is known from the first event; halves of Local channels
 * have that of their caller. A dialled leg has its own account code at first. If it is found only later, after a
 * reconnect, it has that of its caller: use a variable where phones of several accounts call each other.
 *
 * @param accounts account ids by account code. Default: the account code is the account id
 */
export function accountFromAccountCode(accounts?: Readonly<Record<string, string>>): AsteriskAccountOf {
  return fromTable(accounts, (leg) => leg.accountCode)
}

/**
 * Takes the account id from the dial plan context of the leg.
 *
 * @param accounts account ids by context
 */
export function accountFromContext(accounts: Readonly<Record<string, string>>): AsteriskAccountOf {
  return fromTable(accounts, (leg) => leg.context)
}

/**
 * Takes the account id from the endpoint, peer or trunk.
 *
 * @param accounts account ids by endpoint: `1001` for `PJSIP/1001-0000002a`
 */
export function accountFromEndpoint(accounts: Readonly<Record<string, string>>): AsteriskAccountOf {
  return fromTable(accounts, (leg) => leg.endpoint)
}

function fromTable(
  accounts: Readonly<Record<string, string>> | undefined,
  keyOf: (leg: AsteriskFacts) => string | undefined,
): AsteriskAccountOf {
  if (!accounts) return keyOf
  const table = new Map(Object.entries(accounts))
  return (leg) => table.get(keyOf(leg) ?? '')
}
