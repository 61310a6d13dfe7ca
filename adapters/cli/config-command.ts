/** `hookswitch config`: shows the settings that hold and where they came from, and checks a configuration file. */

import { printableLine } from 'hookswitch/adapter'
import { collectProblems } from './problems.js'
import { readFlags, wrongFlag } from './read-flags.js'
import { collectFileSettings, type Origin, readSettings, type Settings } from './read-settings.js'
import { redactUrl } from './redact-url.js'
import type { ReloadPreview } from './reload.js'
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
  const flags = [{ name: 'admin-url', value: 'URL' }]
  const { operands, value } = readFlags('config', argv, flags, { takesOperands: true })
  const [path, ...more] = operands
  if (path === undefined || more.length > 0) throw wrongFlag('config check', 'needs the name of one file')
  await checkFileSettings(await collectFileSettings(path))
  io.stdout.write(`${path}: valid\n`)
  const adminUrl = value('admin-url')
  if (adminUrl !== undefined) io.stdout.write(reloadLines(await previewReload(adminUrl)))
}

/** The answer of `/reload` on the admin port. */
type PreviewAnswer = ReloadPreview | { readonly refused: readonly string[] }

/** How long a service may take to compare its accounts, ms. */
const PREVIEW_TIMEOUT_MS = 60_000

/** Asks a running service what a reload would do. @throws `InvalidOption` naming `--admin-url` */
async function previewReload(adminUrl: string): Promise<ReloadPreview> {
  const wrong = (sentence: string) => wrongFlag('--admin-url', sentence)
  if (!/^https?:\/\//.test(adminUrl) || !URL.canParse(adminUrl))
    throw wrong('must be the URL of the admin port, like http://127.0.0.1:9000')
  const signal = AbortSignal.timeout(PREVIEW_TIMEOUT_MS)
  const response = await fetch(new URL('/reload', adminUrl), { signal }).catch(() => {
    throw wrong('no service answers there')
  })
  const answer = response.ok
    ? ((await response.json().catch(() => {})) as PreviewAnswer | undefined)
    : undefined
  if (answer === undefined || !('accounts' in answer || 'refused' in answer))
    throw wrong('is not the admin port of hookswitch serve')
  if (!('refused' in answer)) return answer
  const problems = collectProblems()
  problems.add(answer.refused.map((sentence) => wrongFlag('a reload is refused', sentence)))
  throw problems.asError()
}

/** One line for each kind of change. */
function reloadLines({ changed, needsRestart, accounts }: ReloadPreview): string {
  const { created, removed, unlisted } = accounts
  const lines = [
    ['creates accounts', created],
    ['changes accounts', accounts.changed],
    ['removes accounts', removed],
    ['keeps accounts that the file no longer lists', unlisted],
    ['changes settings', changed],
    ['leaves settings that need a restart', needsRestart],
  ] as const
  const shown = lines.filter(([, names]) => names.length > 0)
  if (shown.length === 0) return 'a reload changes nothing\n'
  return shown.map(([text, names]) => `a reload ${text}: ${namesOf(names)}\n`).join('')
}

const MAX_NAMED = 20

function namesOf(names: readonly string[]): string {
  const more = names.length - MAX_NAMED
  const text = names.slice(0, MAX_NAMED).map(printableLine).join(', ')
  return more > 0 ? `${text} and ${more} more` : text
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
