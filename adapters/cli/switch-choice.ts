/** The switches that the flags choose, as data: the options of each source under the names that its function has. */
import type { OptionalHook } from 'hookswitch/asterisk'
import type { AccountFrom, RealmFrom } from './account-from.js'

/** Where a switch listens, or hookswitch for it. */
export interface Address {
  readonly host: string
  readonly port: number
}

/** Options of the source, under the names that its function has. */
interface SharedOptions {
  readonly accountWaitMs?: number
  readonly maxOpenLegs?: number
}
interface VariableOptions extends SharedOptions {
  readonly customVariables?: readonly string[]
  readonly optionalHooks?: readonly OptionalHook[]
}
interface FreeswitchOptions extends VariableOptions, Address {
  readonly extraEvents?: readonly string[]
  readonly format?: 'json' | 'plain'
}

/** A value of `--freeswitch`. */
export interface FreeswitchChoice {
  readonly kind: 'freeswitch'
  readonly options: FreeswitchOptions & {
    readonly password: string
    readonly silenceMs?: number
    readonly connectTimeoutMs?: number
  }
}
/** A value of `--freeswitch-outbound`. */
export interface OutboundChoice {
  readonly kind: 'freeswitch-outbound'
  readonly options: FreeswitchOptions & {
    readonly allow?: readonly string[]
    readonly maxConnections?: number
  }
  /** The dial plan application that continues each leg, with its argument. */
  readonly continueWith?: string
}
interface AsteriskOptions extends VariableOptions {
  readonly trunks?: readonly string[]
}

/** A value of `--asterisk-ami`. */
export interface AmiChoice {
  readonly kind: 'asterisk-ami'
  readonly options: AsteriskOptions & Address & { readonly username: string; readonly secret: string }
  readonly realmFrom?: RealmFrom
  readonly isTls: boolean
  /** The file with the certificate of the authority to trust. */
  readonly caFile?: string
}
/** A value of `--asterisk-ari`. */
export interface AriChoice {
  readonly kind: 'asterisk-ari'
  readonly options: AsteriskOptions & {
    readonly url: string
    readonly username: string
    readonly password: string
    readonly app?: string
  }
  readonly realmFrom?: RealmFrom
}
/** A value of `--kamailio`. */
export interface KamailioChoice {
  readonly kind: 'kamailio'
  readonly options: SharedOptions &
    Address & { readonly connectTimeoutMs?: number; readonly maxCallMs?: number }
}

/** A switch, the options of its source, and where its events name the account. */
export type SwitchChoice = { readonly accountFrom: AccountFrom } & AnyChoice
/** A switch whose rule for the account is not chosen yet. */
export type AnyChoice = FreeswitchChoice | OutboundChoice | AmiChoice | AriChoice | KamailioChoice
