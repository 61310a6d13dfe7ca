import { readSettings, type Settings } from '../../../adapters/cli/read-settings.js'
import { flagOf } from '../../../adapters/cli/setting-names.js'
import type { SettingName } from '../../../adapters/cli/settings.js'

/** Flags by the names of their settings; a list is a repeated flag, `true` one without a value. */
export type GivenFlags = Readonly<Partial<Record<SettingName, string | readonly string[] | boolean>>>

/** The flags as they are written on the command line. */
export function argvOf(flags: GivenFlags): readonly string[] {
  return Object.entries(flags).flatMap(([name, value]) => {
    const flag = flagOf(name as SettingName)
    if (typeof value === 'boolean') return value ? [flag] : []
    return [value].flat().map((text) => `${flag}=${text}`)
  })
}

/** The settings that flags and variables give. */
export function settingsOf(flags: GivenFlags, env: Readonly<Record<string, string>> = {}): Promise<Settings> {
  return readSettings(argvOf(flags), env)
}
