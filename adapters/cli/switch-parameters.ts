/** Reads the parameters of a switch's flag: `HOST:PORT?name=value&name=value`, or of a file. */
import { closestName } from 'hookswitch/adapter'
import type { SettingSchema } from './setting-schema.js'

/** Checks the text of a parameter and converts it. Throws what `problem` returns, with a sentence about the value. */
export interface ParameterReader<Value = unknown> {
  (text: string, problem: (sentence: string) => Error): Value
  /** The type of the parameter in a configuration file. Default: text. */
  readonly schema?: SettingSchema
}

/** The parameters of a flag, by name. */
export type ParameterReaders = Readonly<Record<string, ParameterReader>>

/** The values of the given parameters; others are `undefined`. */
export type ParameterValues<Readers extends ParameterReaders> = {
  readonly [Name in keyof Readers]: ReturnType<Readers[Name]> | undefined
}

/** Splits the value of a flag into its address and the text of its parameters. */
export function splitParameters(text: string): {
  readonly address: string
  readonly query: string | undefined
} {
  const mark = text.indexOf('?')
  return mark < 0
    ? { address: text, query: undefined }
    : { address: text.slice(0, mark), query: text.slice(mark + 1) }
}

/**
 * Reads `name=value&name=value`; values may be percent-encoded.
 *
 * @param wrong the error about the switch
 * @throws what `wrong` returns, for a sentence that names the parameter and quotes no value
 */
export function readParameters<Readers extends ParameterReaders>(
  wrong: (sentence: string) => Error,
  query: string | undefined,
  readers: Readers,
): ParameterValues<Readers> {
  const values: Record<string, unknown> = {}
  for (const pair of query === undefined ? [] : query.split('&')) {
    const mark = pair.indexOf('=')
    const name = mark < 0 ? pair : pair.slice(0, mark)
    const reader = Object.hasOwn(readers, name) ? readers[name] : undefined
    if (!reader) throw wrong(unknownParameter(name, Object.keys(readers)))
    if (Object.hasOwn(values, name)) throw wrong(`the parameter ${name} was given twice`)
    if (mark < 0) throw wrong(`the parameter ${name} needs a value: ${name}=…`)
    const problem = (sentence: string) => wrong(`the parameter ${name} ${sentence}`)
    const text = decoded(pair.slice(mark + 1))
    if (text === undefined) throw problem('has a wrong percent-encoding')
    values[name] = reader(text, problem)
  }
  return values as ParameterValues<Readers>
}

function unknownParameter(name: string, names: readonly string[]): string {
  if (!/^[a-z-]{1,40}$/.test(name)) return 'must be ADDRESS?name=value&name=value'
  const closest = closestName(name, names)
  const hint = closest === undefined ? `: it has ${names.join(', ')}` : ` (did you mean '${closest}'?)`
  return `has no parameter ${name}${hint}`
}

/** A parameter of a file as the text that its reader reads: lists with commas, true as `yes`. */
export function textOfParameter(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(',')
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return String(value)
}

/** Decodes percent-encoded text; `undefined`: the encoding is wrong. */
export function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Reads an integer in a range, both ends included. */
export function integerParameter(min: number, max: number): ParameterReader<number> {
  const read = (text: string, problem: (sentence: string) => Error) => {
    const value = /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN
    if (value >= min && value <= max) return value
    throw problem(`must be an integer from ${min} to ${max}`)
  }
  return Object.assign(read, { schema: { type: 'integer', minimum: min, maximum: max } as const })
}

/** Reads one of these words. */
export function wordParameter<Word extends string>(...words: readonly Word[]): ParameterReader<Word> {
  const read = (text: string, problem: (sentence: string) => Error) => {
    const word = words.find((word) => word === text)
    if (word === undefined) throw problem(`must be ${words.join(' or ')}`)
    return word
  }
  return Object.assign(read, { schema: { type: 'string', enum: words } as const })
}

/** Reads `yes` or `no`; in a file true or false. */
export function yesOrNoParameter(): ParameterReader<boolean> {
  const word = wordParameter('yes', 'no')
  const read = (text: string, problem: (sentence: string) => Error) => word(text, problem) === 'yes'
  return Object.assign(read, { schema: { type: 'boolean' } as const })
}

/** Reads one line of text. @param like an example or a rule for the message */
export function textParameter(pattern: RegExp, like: string): ParameterReader<string> {
  return (text, problem) => {
    if (!pattern.test(text) || /\p{Cc}/u.test(text)) throw problem(`must be ${like}`)
    return text
  }
}

/**
 * Reads a list separated by commas.
 *
 * @param isItem whether an item is valid
 * @param like an example or a rule for the message
 */
export function listParameter(
  isItem: (item: string) => boolean,
  like: string,
): ParameterReader<readonly string[]> {
  const read = (text: string, problem: (sentence: string) => Error) => {
    const items = text.split(',')
    if (!items.every(isItem)) throw problem(`must be ${like}, separated by commas`)
    return items
  }
  const items: SettingSchema = { type: 'string', pattern: '^[^\\s,]+$', expected: `of ${like}` }
  return Object.assign(read, { schema: { type: 'array', minItems: 1, items } as const })
}
