/** The options of what is made of a leg: the same for AMI and ARI. */
import { callable, type OptionCheck, texts } from '../source/options.js'
import type { AsteriskAccountOf, AsteriskFacts } from './facts.js'

/** Options of both sources. */
export interface LegOptions {
  /**
   * Tells the id of the account of a leg, asked at each of its messages until it does; `accountFromVariable` and others
   * are ready ones.
   */
  readonly accountOf: AsteriskAccountOf
  /**
   * The realm of a leg's addresses (`from`, `to`, `request`), which Asterisk does not tell. Default: they are numbers
   * alone.
   */
  readonly realmOf?: (leg: AsteriskFacts) => string | undefined
  /** Channel variables that go into `customChannelVars`; Asterisk shows those that `channelvars` names. Default: none. */
  readonly customVariables?: readonly string[]
}

/** Their checks. */
export const CHECKS: Readonly<Record<keyof LegOptions, OptionCheck>> = {
  accountOf: callable,
  realmOf: callable,
  customVariables: texts,
}
