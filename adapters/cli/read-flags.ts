/** Reads flags as text. Each command checks their values. */
import { parseArgs } from 'node:util'
import { HookswitchError } from 'hookswitch'
import { closestName } from 'hookswitch/adapter'

/** A flag of a command. */
export interface FlagSyntax {
  /** Without dashes. */
  readonly name: string
  /** Placeholder of its value; absent: the flag takes no value. */
  readonly value?: string
  /** The flag may be given several times. */
  readonly isRepeatable?: true
  /** The possible values. */
  readonly values?: readonly string[]
}

/** The given flags and operands, as text. */
export interface GivenFlags {
  /** Whether a flag without a value was given. */
  has(name: string): boolean
  /** All values of a repeatable flag. */
  list(name: string): readonly string[]
  /** The value of a flag. */
  value(name: string): string | undefined
  readonly operands: readonly string[]
}

/** The error for a wrong flag: one sentence that begins with its name. */
export function wrongFlag(flag: string, problem: string): HookswitchError {
  return new HookswitchError('InvalidOption', `${flag}: ${problem}`, { field: flag })
}

/**
 * Reads the arguments after the command.
 *
 * @param command named in the hint to `--help`
 * @param takesOperands whether arguments without a flag are allowed. Default: false
 * @param refusals by the names of unknown flags: a better reason for their refusal
 * @throws `InvalidOption`; its `field` is the flag as written
 */
export function readFlags(
  command: string,
  argv: readonly string[],
  flags: readonly FlagSyntax[],
  {
    takesOperands = false,
    refusals = {},
  }: { readonly takesOperands?: boolean; readonly refusals?: Readonly<Record<string, string>> } = {},
): GivenFlags {
  const { tokens } = parseArgs({
    args: [...argv],
    options: Object.fromEntries(
      flags.map(({ name, value }) => [name, { type: value === undefined ? 'boolean' : 'string' }] as const),
    ),
    strict: false,
    tokens: true,
    allowPositionals: true,
  })
  const see = `see 'hookswitch ${command} --help'`
  const switches = new Set<string>()
  const given = new Map<string, string[]>()
  const operands: string[] = []
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue
    if (token.kind === 'positional') {
      if (!takesOperands) throw wrongFlag(withoutUrl(token.value), `is not a flag, ${see}`)
      operands.push(token.value)
      continue
    }
    const { name, rawName, value, inlineValue } = token
    const flag = flags.find((syntax) => syntax.name === name)
    if (!flag) {
      const problem = Object.hasOwn(refusals, name) ? refusals[name] : `is unknown${suggestion(name, flags)}`
      throw wrongFlag(rawName, `${problem}, ${see}`)
    }
    if (flag.value === undefined) {
      if (value !== undefined) throw wrongFlag(rawName, 'takes no value')
      switches.add(name)
      continue
    }
    if (value === undefined || (!inlineValue && value.startsWith('--')))
      throw wrongFlag(rawName, 'needs a value')
    const before = given.get(name) ?? []
    if (before.length > 0 && !flag.isRepeatable) throw wrongFlag(rawName, 'was given twice')
    if (flag.values && !flag.values.includes(value))
      throw wrongFlag(rawName, `must be ${flag.values.join(' or ')}, not '${value}'`)
    given.set(name, [...before, value])
  }
  return {
    has: (name) => switches.has(name),
    list: (name) => given.get(name) ?? [],
    value: (name) => given.get(name)?.[0],
    operands,
  }
}

/** Suggests the flag that a misspelt name probably stands for. */
function suggestion(name: string, flags: readonly FlagSyntax[]): string {
  const closest = closestName(
    name,
    flags.map((flag) => flag.name),
  )
  return closest === undefined ? '' : ` (did you mean '--${closest}'?)`
}

/** A URL without its flag may contain a password. */
function withoutUrl(word: string): string {
  const end = word.indexOf('://')
  return end < 0 ? word : `${word.slice(0, end)}://…`
}

/** An object without its entries that have no value. */
type Defined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> }

/** Returns the entries that have a value. */
export function defined<T extends object>(entries: T): Defined<T> {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined)) as Defined<T>
}
