/** The options for the events of a leg, shared by AMI and ARI. */
import { OPTIONAL_HOOKS_CHECK, type OptionalHooksOption } from '../source/optional-hooks.js'
import { checkFunction, checkStrings, type OptionCheck } from '../source/options.js'
import type { AsteriskAccountOf, AsteriskFacts } from './account-resolver.js'

/** Options that `asteriskAmi` and `asteriskAri` share. */
export interface LegOptions extends OptionalHooksOption {
  /**
   * Returns the account id of a leg; called with each message of the leg until it does. `accountFromVariable` and the
   * other `accountFrom…` functions return ready ones.
   */
  readonly accountOf: AsteriskAccountOf
  /**
   * Returns the realm of a leg's addresses (`from`, `to`, `request`), which Asterisk does not report. Default: addresses
   * are numbers without a realm.
   */
  readonly realmOf?: (leg: AsteriskFacts) => string | undefined
  /** Channel variables for `customChannelVars`; `channelvars` must list them. Default: none. */
  readonly customVariables?: readonly string[]
}

/** Checks of `LegOptions`. */
export const LEG_OPTION_CHECKS: Readonly<Record<keyof LegOptions, OptionCheck>> = {
  accountOf: checkFunction,
  realmOf: checkFunction,
  customVariables: checkStrings,
  ...OPTIONAL_HOOKS_CHECK,
}
