/**
 * Combines the settings of the configuration file, the environment and the flags, in this order of strength, and remembers
 * where each value came from. Opens nothing but the file.
 */

import type { HookswitchError } from 'hookswitch'
import { printableLine } from 'hookswitch/adapter'
import { type ConfigFile, formatPath, readConfigFile } from './config-file.js'
import type { Place } from './json-places.js'
import { collectProblems } from './problems.js'
import { type FlagSyntax, readFlags, wrongFlag } from './read-flags.js'
import {
  type Environment,
  endsInLineBreak,
  LINE_BREAK_PROBLEM,
  readSecretVariable,
} from './secret-variables.js'
import { flagOf, SETTING_OF_FLAG, SETTING_OF_VARIABLE, variableOf } from './setting-names.js'
import { findProblems, isList, type SettingSchema, type ValuePath, valueOfText } from './setting-schema.js'
import { SETTING_NAMES, type SettingName, type SettingValues, settingOf } from './settings.js'
import { isServiceVariable, unknownVariables } from './unknown-variables.js'

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
  /** What is wrong in the sources. Wrong values are not among `values`. */
  readonly problems: readonly Error[]
  /** Whether a source has a wrong value for one of these. */
  isWrong(...names: readonly SettingName[]): boolean
}

/** Values of one source. */
interface GivenValues {
  readonly values: ReadonlyMap<SettingName, unknown>
  originOf(name: SettingName, inner?: ValuePath): Exclude<Origin, { source: 'default' }>
}

/** The right values of one source, and what is wrong with the others. */
interface Layer extends GivenValues {
  readonly problems: readonly Error[]
  readonly wrong: ReadonlySet<SettingName>
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
 * @throws `InvalidOption` naming the flag, the variable, or the place in the file of everything that is wrong
 */
export async function readSettings(
  argv: readonly string[],
  env: Environment,
  command = 'serve',
): Promise<Settings> {
  const settings = await collectSettings(argv, env, command)
  const problems = collectProblems()
  problems.add(settings.problems)
  problems.throwAny()
  return settings
}

/**
 * Reads the settings like `readSettings`, and leaves what is wrong in `problems`.
 *
 * @throws `InvalidOption` where the other settings cannot be known: for an unknown flag, or a file that cannot be parsed
 */
export async function collectSettings(
  argv: readonly string[],
  env: Environment,
  command = 'serve',
): Promise<Settings> {
  const problems = collectProblems()
  const flags = await problems.attempt(() => flagLayer(argv, command))
  const variables = variableLayer(env)
  problems.add([...(flags?.problems ?? []), ...variables.problems])
  const path = flags?.values.get('config') ?? variables.values.get('config')
  const file =
    path === undefined
      ? NO_FILE
      : await problems.attempt(async () => fileLayer(await readConfigFile(path as string)))
  if (!flags || !file) throw problems.asError()
  problems.add(file.problems)
  const { values } = combine([file, variables, flags])
  problems.add(unknownVariables(env, values))
  return combine([file, variables, flags], problems.errors)
}

/** The settings of a file alone. @throws `InvalidOption` for a file that cannot be parsed */
export async function collectFileSettings(path: string): Promise<Settings> {
  const file = fileLayer(await readConfigFile(path))
  return combine([file], file.problems)
}

/** Why settings that are secret have no flag. */
const SECRET_FLAGS: Readonly<Record<string, string>> = Object.fromEntries(
  SETTING_NAMES.filter((name) => settingOf(name).hasFlag === false).map((name) => [
    flagOf(name).slice(2),
    `is not accepted, because other users could see it in the list of processes: use ${variableOf(name)}`,
  ]),
)

function flagLayer(argv: readonly string[], command: string): Layer {
  const names = [...SETTING_OF_FLAG]
  const isSwitch = ({ type }: SettingSchema) => type === 'boolean'
  // `--memory` chooses a store: there is nothing to switch off.
  const negatable = names.flatMap(([flag, name]) =>
    isSwitch(settingOf(name).schema) && flag !== 'memory' ? [`no-${flag}`] : [],
  )
  const given = readFlags(
    command,
    argv,
    [
      ...names.map(([flag, setting]): FlagSyntax => {
        const { schema } = settingOf(setting)
        if (isSwitch(schema)) return { name: flag }
        return { name: flag, value: 'VALUE', ...(isList(schema) && { isRepeatable: true as const }) }
      }),
      ...negatable.map((name) => ({ name })),
    ],
    { refusals: SECRET_FLAGS },
  )
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
  const variables = new Map<SettingName, string>()
  const problems: Error[] = []
  const wrong = new Set<SettingName>()
  for (const [variable, name] of SETTING_OF_VARIABLE) {
    try {
      const read = readVariable(env, variable, name)
      if (!read || isServiceVariable(variable, read.value)) continue
      variables.set(name, read.name)
      values.set(name, valueOfVariable(name, read.value))
    } catch (thrown) {
      problems.push(thrown as HookswitchError)
      wrong.add(name)
    }
  }
  const layer = checked({
    values,
    originOf: (name) => ({ source: 'variable', name: variables.get(name) ?? variableOf(name) }),
  })
  return {
    ...layer,
    problems: [...problems, ...layer.problems],
    wrong: new Set([...wrong, ...layer.wrong]),
  }
}

function readVariable(env: Environment, variable: string, name: SettingName) {
  if (settingOf(name).secret) return readSecretVariable(env, variable)
  const value = Object.hasOwn(env, variable) ? env[variable] : undefined
  // An empty variable is refused: with a local file instead of a database, other nodes would miss the events.
  if (value === '') throw wrongFlag(variable, 'must not be empty')
  return value === undefined ? undefined : { name: variable, value }
}

function valueOfVariable(name: SettingName, text: string): unknown {
  const { schema } = settingOf(name)
  const isItems = isList(schema) && !text.startsWith('[')
  return isItems ? text.split(/\s+/).filter((item) => item !== '') : valueOfText(schema, text)
}

const NO_FILE: Layer = {
  values: new Map(),
  problems: [],
  wrong: new Set(),
  originOf: (name) => ({ source: 'variable', name: variableOf(name) }),
}

function fileLayer(file: ConfigFile): Layer {
  const given: GivenValues = {
    values: new Map([...file.values].filter(([name]) => !file.wrong.has(name))),
    originOf: (name, inner) => ({ source: 'file', file: file.path, ...file.placeOf(name, inner) }),
  }
  const { values, problems, wrong } = checked(given)
  return {
    ...given,
    values,
    problems: [...file.problems, ...problems],
    wrong: new Set([...file.wrong, ...wrong]),
  }
}

/** Moves wrong values into problems. */
function checked(given: GivenValues): Layer {
  const values = new Map(given.values)
  const problems: Error[] = []
  for (const [name, value] of given.values) {
    const found = problemsWith(given, name, value)
    if (found.length > 0) values.delete(name)
    problems.push(...found)
  }
  const wrong = new Set([...given.values.keys()].filter((name) => !values.has(name)))
  return { ...given, values, problems, wrong }
}

function problemsWith(given: GivenValues, name: SettingName, value: unknown): readonly Error[] {
  const { schema, secret } = settingOf(name)
  const ofSchema = findProblems(schema, value).map(({ path, sentence, value: wrongValue }) => {
    const quoted = secret || isSwitchList(schema) || wrongValue === '' ? '' : quote(wrongValue)
    return wrongFlag(labelAt(given, name, path), sentence + quoted)
  })
  if (!secret || ofSchema.length > 0) return ofSchema
  return [value].flat().flatMap((text, index) => {
    if (typeof text !== 'string' || !endsInLineBreak(text)) return []
    return [wrongFlag(labelAt(given, name, Array.isArray(value) ? [index] : []), LINE_BREAK_PROBLEM)]
  })
}

/** A switch may contain a password, by mistake. */
const isSwitchList = ({ items }: SettingSchema) => items?.anyOf !== undefined

const MAX_QUOTE = 100

function quote(value: unknown): string {
  const isShort = (typeof value === 'string' && value.length <= MAX_QUOTE) || typeof value === 'number'
  return isShort ? `, not '${printableLine(String(value))}'` : ''
}

function labelAt(layer: GivenValues, name: SettingName, inner: ValuePath = []): string {
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
function combine(layers: readonly Layer[], problems: readonly Error[] = []): Settings {
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
    problems,
    isWrong: (...names) => names.some((name) => layers.some(({ wrong }) => wrong.has(name))),
  }
}

function isStore(layer: GivenValues, name: SettingName): boolean {
  return layer.values.has(name) && layer.values.get(name) !== false
}
