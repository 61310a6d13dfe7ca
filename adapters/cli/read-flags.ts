/** Flags as text: which were given, and with what. What they mean is the commands' own business. */
import { parseArgs } from 'node:util'
import { HookswitchError } from 'hookswitch'

/** The flags that a command knows, without their dashes. */
export interface FlagNames<Switch extends string, List extends string, Value extends string> {
  /** `--ingest`: there or not. */
  readonly switches: readonly Switch[]
  /** `--allow HOST`: as often as wanted. */
  readonly lists: readonly List[]
  /** `--port N`: once. */
  readonly values: readonly Value[]
}

/** What was given, as text. */
export interface GivenFlags<Switch extends string, List extends string, Value extends string> {
  has(name: Switch): boolean
  list(name: List): readonly string[]
  value(name: Value): string | undefined
}

/** A wrong flag: one sentence that begins with its name. */
export function wrongFlag(flag: string, problem: string): HookswitchError {
  return new HookswitchError('InvalidOption', `${flag}: ${problem}`, { field: flag })
}

/**
 * Reads the words after the command.
 *
 * @param command for the hint where help is
 * @throws `InvalidOption`; its `field` is the flag as it was written
 */
export function readFlags<Switch extends string, List extends string, Value extends string>(
  command: string,
  argv: readonly string[],
  { switches, lists, values }: FlagNames<Switch, List, Value>,
): GivenFlags<Switch, List, Value> {
  const options = Object.fromEntries([
    ...switches.map((name) => [name, { type: 'boolean' }] as const),
    ...[...lists, ...values].map((name) => [name, { type: 'string' }] as const),
  ])
  const { tokens } = parseArgs({
    args: [...argv],
    options,
    strict: false,
    tokens: true,
    allowPositionals: true,
  })
  const see = `see 'hookswitch ${command} --help'`
  const on = new Set<string>()
  const given = new Map<string, string[]>()
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue
    if (token.kind === 'positional') throw wrongFlag(withoutUrl(token.value), `is no flag, ${see}`)
    const { name, rawName, value } = token
    if (includes(switches, name)) {
      if (value !== undefined) throw wrongFlag(rawName, 'takes no value')
      on.add(name)
    } else if (includes(values, name) || includes(lists, name)) {
      if (value === undefined || (!token.inlineValue && value.startsWith('--'))) {
        throw wrongFlag(rawName, 'needs a value')
      }
      const before = given.get(name)
      if (before && !includes(lists, name)) throw wrongFlag(rawName, 'was given twice')
      given.set(name, [...(before ?? []), value])
    } else throw wrongFlag(rawName, `is unknown, ${see}`)
  }
  return {
    has: (name) => on.has(name),
    list: (name) => given.get(name) ?? [],
    value: (name) => given.get(name)?.[0],
  }
}

export function includes<Name extends string>(names: readonly Name[], name: string): name is Name {
  return (names as readonly string[]).includes(name)
}

/** A URL that lost its flag may hold a password. */
function withoutUrl(word: string): string {
  const end = word.indexOf('://')
  return end < 0 ? word : `${word.slice(0, end)}://…`
}
