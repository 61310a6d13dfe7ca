/**
 * Combines the settings of the configuration file, the environment and the flags, in this order of strength, and remembers
 * where each value came from. Opens nothing but the file.
 */

import type { HookswitchError } from 'hookswitch'
import { printableLine } from 'hookswitch/adapter'
import { type ConfigFile, formatPath, readConfigFile } from './config-file.js'
import type { Place } from './json-places.js'
import { type FlagSyntax, readFlags, wrongFlag } from './read-flags.js'
import { flagOf, SETTING_OF_FLAG, SETTING_OF_VARIABLE, variableOf } from './setting-names.js'
import { findProblem, isList, type SettingSchema, type ValuePath, valueOfText } from './setting-schema.js'
import { SETTING_NAMES, type SettingName, type SettingValues, settingOf } from './settings.js'

/** Where a value came from. */
export type Origin =
  | { readonly source: 'default' }
  | ({ readonly source: 'file'; readonly file: string } & Place)
  | { readonly source: 'variable'; readonly name: string }
  | { readonly source: 'flag'; readonly name: string }

/** The values that hold. */
export interface Settings {
  readonly values: SettingValues
  /** `undefined` for a setting without a value. */
  originOf(name: SettingName): Origin | undefined
  /** How an error names a setting: `--port`, `HOOKSWITCH_PORT` or `hookswitch.yaml:3:7: port`. */
  labelOf(name: SettingName, inner?: ValuePath): string
  /** How other sentences name a setting: `--port`, `HOOKSWITCH_PORT` or `port`. */
  nameOf(name: SettingName): string
}

type Environment = Readonly<Record<string, string | undefined>>

/** Values of one source. */
interface Layer {
  readonly values: ReadonlyMap<SettingName, unknown>
  originOf(name: SettingName, inner?: ValuePath): Exclude<Origin, { source: 'default' }>
}

/** The error about a setting: one sentence that begins with where its value came from. */
export function wrongSetting(
  settings: Pick<Settings, 'labelOf'>,
  name: SettingName,
  problem: string,
  inner?: ValuePath,
): HookswitchError {
  return wrongFlag(settings.labelOf(name, inner), problem)
}

/**
 * Reads the settings of `hookswitch serve`.
 *
 * @param command named in the hint to `--help`
 * @throws `InvalidOption` naming the flag, the variable, or the place in the file
 */
export async function readSettings(
  argv: readonly string[],
  env: Environment,
  command = 'serve',
): Promise<Settings> {
  const flags = flagLayer(argv, command)
  const variables = variableLayer(env)
  const path = flags.values.get('config') ?? variables.values.get('config')
  const file = path === undefined ? undefined : fileLayer(await readConfigFile(path as string))
  return combine([...(file ? [file] : []), variables, flags])
}

/** The settings of a file alone. */
export async function readFileSettings(path: string): Promise<Settings> {
  return combine([fileLayer(await readConfigFile(path))])
}

function flagLayer(argv: readonly string[], command: string): Layer {
  const names = [...SETTING_OF_FLAG]
  const isSwitch = ({ type }: SettingSchema) => type === 'boolean'
  // `--memory` chooses a store: there is nothing to switch off.
  const negatable = names.flatMap(([flag, name]) =>
    isSwitch(settingOf(name).schema) && flag !== 'memory' ? [`no-${flag}`] : [],
  )
  const given = readFlags(command, argv, [
    ...names.map(([flag, setting]): FlagSyntax => {
      const { schema } = settingOf(setting)
      if (isSwitch(schema)) return { name: flag }
      return { name: flag, value: 'VALUE', ...(isList(schema) && { isRepeatable: true as const }) }
    }),
    ...negatable.map((name) => ({ name })),
  ])
  const values = new Map<SettingName, unknown>()
  const flagNames = new Map<SettingName, string>()
  for (const [flag, name] of names) {
    const { schema } = settingOf(name)
    const isOn = isSwitch(schema) && given.has(flag)
    const isOff = negatable.includes(`no-${flag}`) && given.has(`no-${flag}`)
    const list = isList(schema) ? given.list(flag) : []
    const text = isSwitch(schema) || isList(schema) ? undefined : given.value(flag)
    if (!isOn && !isOff && list.length === 0 && text === undefined) continue
    const written = isOff ? `--no-${flag}` : `--${flag}`
    if (isOn && isOff) throw wrongFlag(`--no-${flag}`, `cannot be combined with --${flag}`)
    if (values.has(name)) throw wrongFlag(written, `was given twice, also as ${flagNames.get(name)}`)
    values.set(name, isSwitch(schema) ? isOn : text === undefined ? list : valueOfText(schema, text))
    flagNames.set(name, written)
  }
  return checked({
    values,
    originOf: (name) => ({ source: 'flag', name: flagNames.get(name) ?? flagOf(name) }),
  })
}

function variableLayer(env: Environment): Layer {
  const values = new Map<SettingName, unknown>()
  for (const [variable, name] of SETTING_OF_VARIABLE) {
    const text = Object.hasOwn(env, variable) ? env[variable] : undefined
    if (text === undefined) continue
    // An empty variable is refused: with a local file instead of a database, other nodes would miss the events.
    if (text === '') throw wrongFlag(variable, 'must not be empty')
    const { schema } = settingOf(name)
    const isItems = isList(schema) && !text.startsWith('[')
    values.set(name, isItems ? text.split(/\s+/).filter((item) => item !== '') : valueOfText(schema, text))
  }
  return checked({ values, originOf: (name) => ({ source: 'variable', name: variableOf(name) }) })
}

function fileLayer(file: ConfigFile): Layer {
  return {
    values: file.values,
    originOf: (name, inner) => ({ source: 'file', file: file.path, ...file.placeOf(name, inner) }),
  }
}

/** @throws `InvalidOption` for the first wrong value */
function checked(layer: Layer): Layer {
  for (const [name, value] of layer.values) {
    const { schema, secret } = settingOf(name)
    const problem = findProblem(schema, value)
    if (!problem) continue
    const quoted = secret || isSwitchList(schema) || problem.value === '' ? '' : quote(problem.value)
    throw wrongFlag(labelAt(layer, name, problem.path), problem.sentence + quoted)
  }
  return layer
}

/** A switch may contain a password, by mistake. */
const isSwitchList = ({ items }: SettingSchema) => items?.anyOf !== undefined

const MAX_QUOTE = 100

function quote(value: unknown): string {
  const isShort = (typeof value === 'string' && value.length <= MAX_QUOTE) || typeof value === 'number'
  return isShort ? `, not '${printableLine(String(value))}'` : ''
}

function labelAt(layer: Layer, name: SettingName, inner: ValuePath = []): string {
  const origin = layer.originOf(name, inner)
  if (origin.source === 'file') {
    return `${origin.file}:${origin.line}:${origin.column}: ${formatPath([name, ...inner])}`
  }
  // An item of a list is the value of a flag as it was written.
  const isInside = inner.some((part) => typeof part === 'string')
  return isInside ? `${origin.name}: ${formatPath(inner)}` : origin.name
}

/** Settings that choose a store; the strongest source that has one of them decides. */
const STORES: readonly SettingName[] = ['data', 'postgres', 'memory']

/** @param layers the weakest first */
function combine(layers: readonly Layer[]): Settings {
  const layerOf = new Map<SettingName, Layer>()
  for (const layer of layers) {
    if (STORES.some((name) => isStore(layer, name))) for (const name of STORES) layerOf.delete(name)
    for (const name of layer.values.keys()) {
      if (!STORES.includes(name) || isStore(layer, name)) layerOf.set(name, layer)
    }
  }
  const store = STORES.find((name) => layerOf.has(name))
  const strength = (name: SettingName) => layers.indexOf(layerOf.get(name) ?? layers[0]!)
  // A schema of a weaker source belongs to the database that this store replaces.
  if (store && store !== 'postgres' && !layerOf.has('postgres') && strength('schema') < strength(store))
    layerOf.delete('schema')

  const values = Object.fromEntries(
    SETTING_NAMES.flatMap((name) => {
      const value = layerOf.has(name) ? layerOf.get(name)?.values.get(name) : settingOf(name).default
      return value === undefined ? [] : [[name, value]]
    }),
  )
  return {
    values,
    originOf(name) {
      const layer = layerOf.get(name)
      if (layer) return layer.originOf(name)
      return settingOf(name).default === undefined ? undefined : { source: 'default' }
    },
    labelOf(name, inner) {
      const layer = layerOf.get(name)
      if (layer) return labelAt(layer, name, inner)
      return settingOf(name).hasFlag === false ? variableOf(name) : flagOf(name)
    },
    nameOf(name) {
      const origin = layerOf.get(name)?.originOf(name)
      return origin === undefined ? flagOf(name) : origin.source === 'file' ? name : origin.name
    },
  }
}

function isStore(layer: Layer, name: SettingName): boolean {
  return layer.values.has(name) && layer.values.get(name) !== false
}
