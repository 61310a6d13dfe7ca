/** The options for the events of a leg, shared by AMI and ARI. */
import { OPTIONAL_HOOKS_OPTION, type OptionalHooksOption } from '../source/optional-hooks.js'
import { checkFunction, checkStrings, requiredOption } from '../source/options.js'
import type { AsteriskAccountOf, AsteriskFacts } from './account-resolver.js'

/** Options that `asteriskAmi` and `asteriskAri` share. */
export interface LegOptions extends OptionalHooksOption {
  /**
   * Returns the account id of a leg; called with each message of the leg until its first event is published. `accountFromVariable` and the
   * other `accountFrom…` functions return ready ones.
   */
  readonly accountOf: AsteriskAccountOf
  /**
   * Returns the realm of a leg's addresses (`from`, `to`, `request`), which Asterisk does not report. Default: addresses
   * are numbers without a realm.
   */
  readonly realmOf?: ((leg: AsteriskFacts) => string | undefined) | undefined
  /**
   * Names of all endpoints that are trunks to carriers, for `endpoint.kind`. Default: a leg is of a trunk if it begins in a
   * context of FreePBX's trunks (`from-trunk…`, `from-pstn…`, `from-did…`) or if a number was dialled beside the endpoint, and of
   * an extension if the name is a number, or the caller's own.
   */
  readonly trunks?: readonly string[] | undefined
  /** Channel variables for `customChannelVars`; `channelvars` must list them. Default: none. */
  readonly customVariables?: readonly string[] | undefined
}

/** The table of `LegOptions`. */
export const LEG_OPTIONS = {
  accountOf: requiredOption(checkFunction),
  realmOf: { check: checkFunction },
  trunks: { check: checkStrings },
  customVariables: { check: checkStrings },
  ...OPTIONAL_HOOKS_OPTION,
}
