/** `hookswitch config`: shows the settings that hold and where they came from, and checks a configuration file. */

import { printableLine } from 'hookswitch/adapter'
import { wrongFlag } from './read-flags.js'
import { type Origin, readFileSettings, readSettings, type Settings } from './read-settings.js'
import { redactUrl } from './redact-url.js'
import type { ServeIo } from './serve.js'
import { checkFileSettings } from './service.js'
import { SETTING_NAMES, type SettingName, settingOf } from './settings.js'

/** One setting of `config print --json`. */
export interface PrintedSetting {
  /** Secrets are `[redacted]`, also the passwords inside URLs. */
  readonly value: unknown
  readonly origin: Origin
}

/**
 * Prints the settings, or checks a file.
 *
 * @param argv the words after `config`
 * @throws `InvalidOption` naming the setting; `InvalidInput`, `Conflict` for the accounts file
 */
export async function config(argv: readonly string[], io: ServeIo): Promise<void> {
  const [command, ...rest] = argv
  if (command === 'check') return check(rest, io)
  if (command !== 'print') {
    throw wrongFlag(command ?? 'config', "needs print or check, see 'hookswitch config --help'")
  }
  const settings = await readSettings(
    rest.filter((word) => word !== '--json'),
    io.env,
    'config',
  )
  const text = rest.includes('--json') ? `${JSON.stringify(printed(settings), null, 2)}\n` : lines(settings)
  io.stdout.write(text)
}

async function check(argv: readonly string[], io: ServeIo): Promise<void> {
  const [path, ...more] = argv
  if (path === undefined || path.startsWith('-') || more.length > 0)
    throw wrongFlag('config check', 'needs the name of one file')
  await checkFileSettings(await readFileSettings(path))
  io.stdout.write(`${path}: valid\n`)
}

/** Every setting that has a value, by name. */
export function printed(settings: Settings): Readonly<Partial<Record<SettingName, PrintedSetting>>> {
  return Object.fromEntries(
    SETTING_NAMES.flatMap((name) => {
      const origin = settings.originOf(name)
      const value = settings.values[name]
      return origin === undefined || value === undefined
        ? []
        : [[name, { value: redacted(name, value), origin }]]
    }),
  )
}

const REDACTED = '[redacted]'

function redacted(name: SettingName, value: unknown): unknown {
  const { secret } = settingOf(name)
  if (secret === 'value') return REDACTED
  if (secret === 'url') return redactUrl(String(value))
  if (!Array.isArray(value)) return value
  // Switches may have a password.
  return value.map((item) => {
    if (typeof item === 'string') return redactUrl(item)
    const isSwitch = typeof item === 'object' && item !== null && 'address' in item
    if (!isSwitch) return item
    const { address, password } = item as { address: string; password?: string }
    return { ...item, address: redactUrl(address), ...(password === undefined ? {} : { password: REDACTED }) }
  })
}

/** Settings without a value whose default depends on the store, or is a secret. */
const OF_THE_STORE: readonly SettingName[] = [
  'data',
  'schema',
  'postgresMaxConnections',
  'postgresAnswerWithinMs',
]

/** `name = value  # where it came from`, or `name  # default: …` where the default depends on other settings. */
function lines(settings: Settings): string {
  const all = printed(settings)
  const rows = SETTING_NAMES.flatMap((name): readonly (readonly [left: string, right: string])[] => {
    const setting = all[name]
    if (!setting) {
      const { defaultText, secret } = settingOf(name)
      const isShown = defaultText !== undefined && secret === undefined && !OF_THE_STORE.includes(name)
      return isShown ? [[name, `default: ${defaultText}`]] : []
    }
    const { value, origin } = setting
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return [[`${name} = ${printableLine(text)}`, describe(origin)]]
  })
  const width = Math.min(MAX_COLUMN, Math.max(...rows.map(([left]) => left.length)))
  return rows.map(([left, right]) => `${left.padEnd(width)}  # ${right}\n`).join('')
}

/** Longer values do not move the origins of the others. */
const MAX_COLUMN = 60

function describe(origin: Origin): string {
  switch (origin.source) {
    case 'file':
      return `${origin.file}:${origin.line}`
    case 'default':
      return 'default'
    default:
      return origin.name
  }
}
