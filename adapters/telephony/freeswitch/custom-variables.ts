/** The channel variables that go into events: KAZOO's, and those listed by the host. */
import type { EslEvent, EventValue } from './event.js'

/** The variables of a leg; `undefined`: there are none. */
export interface CustomVariables {
  /** For `customChannelVars`. */
  readonly channelVars: Readonly<Record<string, EventValue>> | undefined
  /** For `customApplicationVars`. */
  readonly applicationVars: Readonly<Record<string, EventValue>> | undefined
}

/** KAZOO's prefixes for its own variables and for those of applications (`ecallmgr.hrl`). */
const CHANNEL_PREFIX = 'variable_ecallmgr_'
const APPLICATION_PREFIX = 'variable_cav_'

/** @param listed names of further variables for `channelVars`, without `variable_` */
export function readCustomVariables(event: EslEvent, listed: readonly string[]): CustomVariables {
  let channelVars = readByPrefix(event, CHANNEL_PREFIX)
  for (const name of listed) {
    const value = event.value(`variable_${name}`)
    if (value === undefined) continue
    channelVars ??= {}
    channelVars[name] = value
  }
  return { channelVars, applicationVars: readByPrefix(event, APPLICATION_PREFIX) }
}

function readByPrefix(event: EslEvent, prefix: string): Record<string, EventValue> | undefined {
  let found: Record<string, EventValue> | undefined
  event.forEach(prefix, (name, value) => {
    if (name === '__proto__') return
    found ??= {}
    found[name] = value
  })
  return found
}
