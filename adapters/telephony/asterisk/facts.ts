/** Whose call it is: ready functions for common set-ups, and what they are told. */
import { wrong } from '../source/options.js'
import type { Channel } from './happening.js'
import type { Leg } from './leg.js'

/** What is known of a leg when its account is asked for: at each of its messages, until it is told. */
export interface AsteriskFacts {
  readonly callId: string
  /** `PJSIP/1001-0000002a` */
  readonly channel: string
  /** `PJSIP`, `Local`, … */
  readonly technology: string
  /** `1001`, the endpoint, peer or trunk; of a Local half `extension@context`. */
  readonly endpoint: string
  readonly direction: 'inbound' | 'outbound'
  readonly isInternalLeg: boolean
  /** A dialled leg has its own at first; then Asterisk gives it that of its caller. */
  readonly accountCode: string | undefined
  readonly context: string | undefined
  readonly extension: string | undefined
  readonly callerNumber: string | undefined
  /** A channel variable, if `channelvars` of `manager.conf` or `ari.conf` names it. */
  readonly variable: (name: string) => string | undefined
}

/** Tells the id of the account; `undefined`: not yet. Anything else, a promise too, is a `problem`, once per leg. */
export type AsteriskAccountOf = (leg: AsteriskFacts) => string | undefined

/** @param channel as the newest message shows it */
export function factsOf(leg: Leg, channel: Channel): AsteriskFacts {
  return {
    callId: leg.id,
    channel: channel.name,
    technology: leg.technology,
    endpoint: leg.endpoint,
    direction: leg.direction,
    isInternalLeg: leg.isInternal,
    accountCode: channel.accountCode,
    context: channel.context,
    extension: channel.extension,
    callerNumber: channel.callerNumber,
    variable: channel.variable,
  }
}

/**
 * The account is in a channel variable; `channelvars` of `manager.conf` (AMI) or `ari.conf` must name it. It is empty in
 * the first event of every channel, so the events of a leg wait some milliseconds. Halves of Local channels have it only
 * if it is inherited (`Set(__ACCOUNT_ID=…)`).
 *
 * @throws `InvalidOption` without a name
 */
export function accountFromVariable(name: string): AsteriskAccountOf {
  if (typeof name !== 'string' || name === '') {
    throw wrong('name', 'of accountFromVariable must be the name of a channel variable')
  }
  return (leg) => leg.variable(name)
}

/**
 * The account code of the leg is the id of its account, or a key of a table of them. It is there from the first event;
 * Local halves get that of their caller. A dialled leg has its own then, but that of its caller when it is found only
 * later, after a reconnect: use a variable where phones of several accounts call each other.
 */
export function accountFromAccountCode(accounts?: Readonly<Record<string, string>>): AsteriskAccountOf {
  return fromTable(accounts, (leg) => leg.accountCode)
}

/** The account of the dial plan context in which a leg is. */
export function accountFromContext(accounts: Readonly<Record<string, string>>): AsteriskAccountOf {
  return fromTable(accounts, (leg) => leg.context)
}

/** The account of the endpoint (`1001` of `PJSIP/1001-0000002a`), peer or trunk. */
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
