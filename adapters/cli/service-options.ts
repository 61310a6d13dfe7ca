/** The options of `createHookswitch` and of its HTTP server that the settings give. Reads the files of `tls`. */
import { readFile } from 'node:fs/promises'
import {
  constant,
  createHookswitch,
  errorCode,
  exponential,
  type HookswitchError,
  type HookswitchOptions,
  memoryStore,
  type RetryPolicy,
  schedule,
} from 'hookswitch'
import { POLICY_PRESETS } from 'hookswitch/adapter'
import type { ServerOptions } from 'hookswitch/node'
import type { Problems } from './problems.js'
import { type Settings, wrongSetting } from './read-settings.js'
import { OPTION_SETTINGS, type PolicySetting, SETTING_NAMES, SETTINGS, type SettingName } from './settings.js'

/** Options that are plain data, and TLS material. */
export type ServiceOptions = Omit<HookswitchOptions, 'store' | 'log' | 'metrics'>

/** @param problems gets the files that cannot be read, and a wrong policy */
export async function serviceOptions(settings: Settings, problems: Problems): Promise<ServiceOptions> {
  const { values } = settings
  const retryPolicy = await problems.attempt(() => policyOf(settings))
  const tls = await tlsOptions(settings, problems)
  const options = OPTION_SETTINGS.map((name) => [name, values[name]])
  return {
    ...Object.fromEntries(options.filter(([, value]) => value !== undefined)),
    // Where the portal is served, no page of its origin needs `?auth_token=`; other clients of KAZOO do.
    ...(values.portal !== false &&
      settings.originOf('tokenInQuery')?.source === 'default' && { tokenInQuery: 'cross-origin' as const }),
    ...burstOptions(settings),
    ...(values.secret === undefined ? {} : { secret: values.secret }),
    ...(retryPolicy === undefined ? {} : { retryPolicy }),
    ...(tls === undefined ? {} : { tls }),
  }
}

/** `unlimited` is `Infinity`, which JSON cannot express. */
function burstOptions({ values }: Settings): Pick<ServiceOptions, 'loginBurst' | 'replayBurst'> {
  const { loginBurst, replayBurst } = values
  return {
    ...(loginBurst === undefined ? {} : { loginBurst: numberOf(loginBurst) }),
    ...(replayBurst === undefined ? {} : { replayBurst: numberOf(replayBurst) }),
  }
}

const numberOf = (burst: number | 'unlimited') => (burst === 'unlimited' ? Number.POSITIVE_INFINITY : burst)

/** Options of the HTTP server. */
export function serverOptions({ values }: Settings): ServerOptions {
  const options = SETTING_NAMES.filter((name) => name.startsWith('http.')).map((name) => [
    name.slice('http.'.length),
    values[name],
  ])
  return Object.fromEntries(options.filter(([, value]) => value !== undefined))
}

function policyOf(settings: Settings): RetryPolicy | undefined {
  const policy: keyof typeof POLICY_PRESETS | PolicySetting | undefined = settings.values.retryPolicy
  if (policy === undefined) return undefined
  if (typeof policy === 'string') return POLICY_PRESETS[policy]
  const { kind, delayMs = 0, delaysMs = [], retryOn, retriesCountTries, ...numbers } = policy
  try {
    const complete =
      kind === 'exponential'
        ? exponential(numbers)
        : kind === 'constant'
          ? constant(delayMs, numbers)
          : schedule(delaysMs, numbers)
    return {
      ...complete,
      ...(retryOn === undefined ? {} : { retryOn }),
      ...(retriesCountTries === undefined ? {} : { retriesCountTries }),
    }
  } catch (thrown) {
    const message = (thrown as Error).message.replace(/^retryPolicy\./, '')
    throw wrongSetting(settings, 'retryPolicy', message)
  }
}

const TLS_FILES = [
  ['ca', 'tls.caFile'],
  ['cert', 'tls.certFile'],
  ['key', 'tls.keyFile'],
] as const

async function tlsOptions(settings: Settings, problems: Problems): Promise<ServiceOptions['tls']> {
  const { values } = settings
  const files: (readonly [string, string])[][] = []
  for (const [option, name] of TLS_FILES) {
    const path = values[name]
    if (path === undefined) continue
    const content = await problems.attempt(() =>
      readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
        const reason = error.code === 'ENOENT' ? 'there is no such file' : error.code
        throw wrongSetting(settings, name, `${path} cannot be read (${reason})`)
      }),
    )
    if (content !== undefined) files.push([[option, content]])
  }
  const texts = (['passphrase', 'minVersion', 'maxVersion'] as const).flatMap((option) => {
    const value = values[`tls.${option}`]
    return value === undefined ? [] : [[option, value] as const]
  })
  const options = Object.fromEntries([...files.flat(), ...texts])
  return Object.keys(options).length === 0 ? undefined : options
}

/**
 * Checks the options as `createHookswitch` and a start do, on a store in memory. An option that is wrong is left out of the
 * next check, until the rest is right.
 *
 * @param problems gets what is wrong, each naming its setting
 */
export async function checkServiceOptions(
  settings: Settings,
  options: ServiceOptions,
  problems: Problems,
): Promise<void> {
  let checked: Readonly<Record<string, unknown>> = { ...options }
  for (;;) {
    const thrown = await problemOf(checked)
    if (thrown === undefined) return
    const [name = ''] = /^\w+/.exec((thrown as HookswitchError).field ?? '') ?? []
    const isGiven = Object.hasOwn(checked, name)
    // Without an option that is wrong, another may conflict with a default.
    if (isGiven || Object.keys(checked).length === Object.keys(options).length) {
      await problems.attempt(() => {
        throw optionProblem(settings, thrown)
      })
    }
    if (!isGiven) return
    checked = Object.fromEntries(Object.entries(checked).filter(([key]) => key !== name))
  }
}

/** Encrypts nothing that is kept. */
const UNUSED_SECRET = 'of a store that nobody uses'

/** What is wrong with options; `undefined`: nothing. */
async function problemOf(options: ServiceOptions): Promise<unknown> {
  try {
    // Without a secret of the settings, the variable would be checked once more.
    const hs = createHookswitch({ secret: UNUSED_SECRET, ...options, store: memoryStore() })
    if (options.hooks === undefined) return undefined
    // The schemas of hooks are compiled by the start.
    await hs.start()
    await hs.close({ drainMs: 0 })
    return undefined
  } catch (thrown) {
    return thrown
  }
}

/** Options whose settings have another name. */
const SETTING_OF_OPTION: Readonly<Record<string, SettingName>> = {
  'tls.ca': 'tls.caFile',
  'tls.cert': 'tls.certFile',
  'tls.key': 'tls.keyFile',
  tls: 'tls.caFile',
}

/** Makes an error of an option name the setting; returns other errors unchanged. */
export function optionProblem(settings: Settings, thrown: unknown): unknown {
  if (errorCode(thrown) !== 'InvalidOption') return thrown
  const { field = '', message } = thrown as HookswitchError
  const problem = message.startsWith(field) ? message.slice(field.length).replace(/^:? /, '') : message
  const own = SETTING_OF_OPTION[field] ?? settingNamed(field)
  if (own !== undefined) return wrongSetting(settings, own, problem)
  // `hooks[0].sample`, `autoDisable.afterMs`
  const [outer = '', ...inner] = field.split(/[.[\]]+/).filter((part) => part !== '')
  const name = settingNamed(outer)
  const path = inner.map((part) => (/^\d+$/.test(part) ? Number(part) : part))
  return name === undefined ? thrown : wrongSetting(settings, name, problem, path)
}

function settingNamed(name: string): SettingName | undefined {
  return Object.hasOwn(SETTINGS, name) ? (name as SettingName) : undefined
}
