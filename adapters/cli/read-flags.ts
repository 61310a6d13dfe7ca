/** Reads flags as text. Each command checks their values. */
import { parseArgs } from 'node:util'
import { HookswitchError } from 'hookswitch'
import { closestName } from 'hookswitch/adapter'

/** The flags of a command, without dashes. */
export interface FlagNames<Switch extends string, List extends string, Value extends string> {
  /** Flags without a value: `--ingest`. */
  readonly switches: readonly Switch[]
  /** Repeatable flags: `--allow HOST`. */
  readonly lists: readonly List[]
  /** Flags that may be given once: `--port N`. */
  readonly values: readonly Value[]
}

/** The given flags, as text. */
export interface GivenFlags<Switch extends string, List extends string, Value extends string> {
  has(name: Switch): boolean
  list(name: List): readonly string[]
  value(name: Value): string | undefined
}

/** The error for a wrong flag: one sentence that begins with its name. */
export function wrongFlag(flag: string, problem: string): HookswitchError {
  return new HookswitchError('InvalidOption', `${flag}: ${problem}`, { field: flag })
}

/**
 * Reads the arguments after the command.
 *
 * @param command named in the hint to `--help`
 * @throws `InvalidOption`; its `field` is the flag as written
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
    if (token.kind === 'positional') throw wrongFlag(withoutUrl(token.value), `is not a flag, ${see}`)
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
    } else
      throw wrongFlag(rawName, `is unknown${suggestion(name, [...switches, ...lists, ...values])}, ${see}`)
  }
  return {
    has: (name) => on.has(name),
    list: (name) => given.get(name) ?? [],
    value: (name) => given.get(name)?.[0],
  }
}

/** Suggests the flag that a misspelt name probably stands for. */
function suggestion(name: string, names: readonly string[]): string {
  const closest = closestName(name, names)
  return closest === undefined ? '' : ` (did you mean '--${closest}'?)`
}

export function includes<Name extends string>(names: readonly Name[], name: string): name is Name {
  return (names as readonly string[]).includes(name)
}

/** A URL without its flag may contain a password. */
function withoutUrl(word: string): string {
  const end = word.indexOf('://')
  return end < 0 ? word : `${word.slice(0, end)}://…`
}

/** An object without its entries that have no value. */
export type Defined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> }

/** Returns the entries that have a value. */
export function defined<T extends object>(entries: T): Defined<T> {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined)) as Defined<T>
}
