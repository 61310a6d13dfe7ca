/** The channel variables that go into events: KAZOO's, and those that the host names. */
import type { EventValue, SwitchEvent } from './event.js'

/** What the variables of a leg say. */
export interface CustomVariables {
  readonly channelVars: Readonly<Record<string, EventValue>> | undefined
  readonly applicationVars: Readonly<Record<string, EventValue>> | undefined
}

/** KAZOO keeps its own variables, and those of applications, under these beginnings (`ecallmgr.hrl`). */
const CHANNEL = 'variable_ecallmgr_'
const APPLICATION = 'variable_cav_'

/** Of a leg whose variables were not seen. */
export const NO_VARIABLES: CustomVariables = Object.freeze({
  channelVars: undefined,
  applicationVars: undefined,
})

/**
 * Reads them.
 *
 * @param further names of more variables, without `variable_`, that go to `channelVars`
 */
export function customVariables(event: SwitchEvent, further: readonly string[]): CustomVariables {
  let channelVars = withPrefix(event, CHANNEL)
  for (const name of further) {
    const value = event.value(`variable_${name}`)
    if (value === undefined) continue
    channelVars ??= {}
    channelVars[name] = value
  }
  return { channelVars, applicationVars: withPrefix(event, APPLICATION) }
}

function withPrefix(event: SwitchEvent, prefix: string): Record<string, EventValue> | undefined {
  let found: Record<string, EventValue> | undefined
  event.each(prefix, (name, value) => {
    if (name === '__proto__') return
    found ??= {}
    found[name] = value
  })
  return found
}
