/** The flag and the variable of a setting, by one rule: `tls.caFile` is `--tls-ca-file` and `HOOKSWITCH_TLS_CA_FILE`. */
import { SETTING_NAMES, type SettingName, settingOf } from './settings.js'

const PREFIX = 'HOOKSWITCH_'

function wordsOf(name: string): readonly string[] {
  return name.replace(/[A-Z]/g, (capital) => `-${capital.toLowerCase()}`).split(/[.-]/)
}

/** `--tls-ca-file`, also for settings that have no flag. */
export function flagOf(name: SettingName): string {
  return `--${wordsOf(name).join('-')}`
}

/** `HOOKSWITCH_TLS_CA_FILE`. */
export function variableOf(name: SettingName): string {
  return PREFIX + wordsOf(name).join('_').toUpperCase()
}

/** Names of settings by their flag, without dashes; boolean settings also as `no-…`, which is false. */
export const SETTING_OF_FLAG: ReadonlyMap<string, SettingName> = new Map(
  SETTING_NAMES.flatMap((name) => {
    const { hasFlag, alias } = settingOf(name)
    const flags = [...(hasFlag === false ? [] : [flagOf(name)]), ...(alias === undefined ? [] : [alias])]
    return flags.map((flag) => [flag.slice(2), name] as const)
  }),
)

/** The variables of settings that are secret; `NAME_FILE` may name a file with the secret instead. */
export const SECRET_VARIABLES: readonly string[] = SETTING_NAMES.filter(
  (name) => settingOf(name).secret !== undefined,
).map(variableOf)

/** Names of settings by their variable. */
export const SETTING_OF_VARIABLE: ReadonlyMap<string, SettingName> = new Map(
  SETTING_NAMES.map((name) => [variableOf(name), name]),
)
