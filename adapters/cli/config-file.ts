/** Reads a configuration file, JSON or YAML, and checks it against its schema. Loads the YAML parser for YAML only. */

import { readFile } from 'node:fs/promises'
import { HookswitchError } from 'hookswitch'
import { printableLine } from 'hookswitch/adapter'
import { CONFIG_SCHEMA, FILE_SETTINGS } from './config-schema.js'
import { FormatError, type ParsedText, type Place, parseJson } from './json-places.js'
import { findProblems, type ValuePath } from './setting-schema.js'
import type { SettingName } from './settings.js'

/** The settings of a file. */
export interface ConfigFile {
  readonly path: string
  /** Also those that are wrong. */
  readonly values: ReadonlyMap<SettingName, unknown>
  /** What is wrong, in the order of the file. */
  readonly problems: readonly HookswitchError[]
  /** Settings with something wrong. */
  readonly wrong: ReadonlySet<SettingName>
  /** Where the key of a setting is; where a value is, with its path inside the setting (empty: the whole value). */
  placeOf(name: SettingName, inner?: ValuePath): Place
}

/**
 * Reads and checks a file. Names in `.yaml` and `.yml` are YAML 1.2, all others JSON. Each problem is one sentence that begins
 * with file, line and column, and quotes no value.
 *
 * @throws `InvalidOption` for a file that cannot be read or parsed
 */
export async function readConfigFile(path: string): Promise<ConfigFile> {
  const content = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'ENOENT' ? 'there is no such file' : error.code
    throw new HookswitchError('InvalidOption', `--config: ${path}: cannot be read (${reason})`, {
      field: '--config',
    })
  })
  // Some editors write a byte order mark.
  const text = content.replace(/^\uFEFF/, '')
  const isYaml = /\.ya?ml$/i.test(path)
  let parsed: ParsedText
  try {
    parsed = isYaml ? (await import('./yaml-places.js')).parseYaml(text) : parseJson(text)
  } catch (thrown) {
    if (!(thrown instanceof FormatError)) throw thrown
    throw wrongPlace(path, thrown.place, '', `is not ${isYaml ? 'YAML' : 'JSON'}: ${thrown.problem}`)
  }
  const problems = findProblems(CONFIG_SCHEMA, parsed.value)
  const isObject = problems.every(({ path: at }) => at.length > 0)
  return {
    path,
    values: isObject ? settingsOf(parsed.value as Readonly<Record<string, unknown>>) : new Map(),
    problems: problems.map((problem) => {
      const place = parsed.placeOf(problem.path, problem.isUnknownKey)
      return wrongPlace(path, place, formatPath(problem.path), problem.sentence)
    }),
    wrong: new Set(FILE_SETTINGS.filter((name) => problems.some((problem) => isInside(problem.path, name)))),
    placeOf: (name, inner) => parsed.placeOf([...name.split('.'), ...(inner ?? [])], inner === undefined),
  }
}

/** Whether a path is that of a setting, of something inside it, or of the group around it. */
function isInside(path: ValuePath, name: SettingName): boolean {
  return name.split('.').every((part, depth) => depth >= path.length || path[depth] === part)
}

function settingsOf(document: Readonly<Record<string, unknown>>): ReadonlyMap<SettingName, unknown> {
  const values = new Map<SettingName, unknown>()
  for (const name of FILE_SETTINGS) {
    const [group = '', key] = name.split('.')
    const outer = Object.hasOwn(document, group) ? document[group] : undefined
    const value = key === undefined ? outer : (outer as Readonly<Record<string, unknown>> | undefined)?.[key]
    if (value !== undefined) values.set(name, value)
  }
  return values
}

/** `freeswitch[0].silenceMs` */
export function formatPath(path: ValuePath): string {
  return path
    .map((name, depth) => (typeof name === 'number' ? `[${name}]` : `${depth === 0 ? '' : '.'}${name}`))
    .join('')
}

function wrongPlace(path: string, { line, column }: Place, field: string, sentence: string): HookswitchError {
  const label = field === '' ? '' : `${oneLine(field)}: `
  return new HookswitchError('InvalidOption', `${path}:${line}:${column}: ${label}${sentence}`, {
    field: field === '' ? '--config' : oneLine(field),
  })
}

/** Unknown keys are text of the file: one line, and not endless. */
function oneLine(text: string): string {
  return printableLine(text.slice(0, 200))
}
