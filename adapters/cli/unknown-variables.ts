/** Environment variables that begin with `HOOKSWITCH_` and are none of ours: misspelt settings, and those of Kubernetes. */
import type { HookswitchError } from 'hookswitch'
import { closestName } from 'hookswitch/adapter'
import { COMMAND_SECRETS, COMMAND_VARIABLES } from './commands/command-variables.js'
import { wrongFlag } from './read-flags.js'
import { type Environment, fileVariableOf } from './secret-variables.js'
import { SECRET_VARIABLES, SETTING_OF_VARIABLE } from './setting-names.js'
import type { SettingValues } from './settings.js'

const PREFIX = 'HOOKSWITCH_'
/** Every variable that hookswitch reads. @internal */
export const KNOWN_VARIABLES: ReadonlySet<string> = new Set([
  ...SETTING_OF_VARIABLE.keys(),
  ...COMMAND_VARIABLES,
  ...[...SECRET_VARIABLES, ...COMMAND_SECRETS].map(fileVariableOf),
])

/**
 * Returns an error for each variable that hookswitch does not know, with the name that was probably meant. A misspelt
 * variable would otherwise start a service with the default: an empty file instead of the database.
 *
 * @param values a switch may name a variable in `password-env`
 */
export function unknownVariables(env: Environment, values: SettingValues): readonly HookswitchError[] {
  const used = new Set(JSON.stringify(values).match(/\w+/g))
  return Object.entries(env).flatMap(([name, value = '']) => {
    if (!name.startsWith(PREFIX) || KNOWN_VARIABLES.has(name) || isServiceVariable(name, value)) return []
    if (used.has(name)) return []
    // Without the prefix, which would make every short name similar.
    const suffixes = [...KNOWN_VARIABLES].map((variable) => variable.slice(PREFIX.length))
    const closest = closestName(name.slice(PREFIX.length), suffixes)
    const hint =
      closest === undefined
        ? ": 'hookswitch serve --help' lists the settings"
        : ` (did you mean ${PREFIX}${closest}?)`
    return [wrongFlag(name.slice(0, MAX_NAME), `is not a variable of hookswitch${hint}`)]
  })
}

const MAX_NAME = 100

/** The variables that Kubernetes sets in each pod for a Service whose name begins with `hookswitch`. */
export function serviceVariables(env: Environment): readonly string[] {
  return Object.entries(env).flatMap(([name, value = '']) => (isServiceVariable(name, value) ? [name] : []))
}

/**
 * Whether the kubelet sets a variable for a Service: `HOOKSWITCH_SERVICE_HOST`, `HOOKSWITCH_SERVICE_PORT[_NAME]`,
 * `HOOKSWITCH_PORT=tcp://10.0.0.1:80`, `HOOKSWITCH_PORT_80_TCP[_PROTO|_PORT|_ADDR]`, and the same with the rest of the
 * Service's name, `HOOKSWITCH_ADMIN_SERVICE_HOST`.
 */
export function isServiceVariable(name: string, value: string): boolean {
  if (!name.startsWith(PREFIX)) return false
  const suffix = name.slice(PREFIX.length - 1)
  if (/_SERVICE_HOST$/.test(suffix) || /_PORT_\d{1,5}_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(suffix)) {
    return true
  }
  if (/_SERVICE_PORT(_|$)/.test(suffix)) return /^\d{1,5}$/.test(value)
  return suffix.endsWith('_PORT') && /^(tcp|udp|sctp):\/\//.test(value)
}
