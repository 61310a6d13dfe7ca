/** Warns of environment variables that look like misspelt settings. */
import type { Log } from 'hookswitch'
import { closestName } from 'hookswitch/adapter'
import { COMMAND_VARIABLES } from './commands/command-variables.js'
import type { Settings } from './read-settings.js'
import { SETTING_OF_VARIABLE } from './setting-names.js'

/**
 * Logs each variable that is nearly the variable of a setting. Not an error: other programs and the host may have variables
 * with this prefix, and switches may name such a variable in `password-env`.
 */
export function warnOfVariables(
  settings: Settings,
  env: Readonly<Record<string, string | undefined>>,
  log: Pick<Log, 'warn'>,
): void {
  const used = JSON.stringify(settings.values)
  const known = [...SETTING_OF_VARIABLE.keys()]
  for (const name of Object.keys(env)) {
    if (!/^HOOKSWITCH_\w{1,60}$/i.test(name) || used.includes(name)) continue
    if (SETTING_OF_VARIABLE.has(name) || COMMAND_VARIABLES.has(name)) continue
    // Without the prefix, which would make every short name similar.
    const suffixes = known.map((variable) => variable.slice('HOOKSWITCH_'.length))
    const closest = closestName(name.slice('HOOKSWITCH_'.length), suffixes)
    if (closest === undefined || isPrefix(name.slice('HOOKSWITCH_'.length), closest)) continue
    log.warn(
      { variable: name },
      `${name} is not a variable of hookswitch (did you mean HOOKSWITCH_${closest}?)`,
    )
  }
}

/** A name that another continues is no typing error: Kubernetes sets `HOOKSWITCH_PORT_8000_TCP` for a service. */
function isPrefix(first: string, second: string): boolean {
  return first.startsWith(`${second}_`) || second.startsWith(`${first}_`)
}
