/** Reads the parameters of a switch's flag: `HOST:PORT?name=value&name=value`. */
import { closestName } from 'hookswitch/adapter'
import { wrongFlag } from './read-flags.js'

/** Checks the text of a parameter and converts it. Throws what `problem` returns, with a sentence about the value. */
export type ParameterReader<Value = unknown> = (text: string, problem: (sentence: string) => Error) => Value

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
 * @throws `InvalidOption` naming the flag and the parameter; the message quotes no value
 */
export function readParameters<Readers extends ParameterReaders>(
  flag: string,
  query: string | undefined,
  readers: Readers,
): ParameterValues<Readers> {
  const values: Record<string, unknown> = {}
  for (const pair of query === undefined ? [] : query.split('&')) {
    const mark = pair.indexOf('=')
    const name = mark < 0 ? pair : pair.slice(0, mark)
    const reader = Object.hasOwn(readers, name) ? readers[name] : undefined
    if (!reader) throw wrongFlag(flag, unknownParameter(name, Object.keys(readers)))
    if (Object.hasOwn(values, name)) throw wrongFlag(flag, `the parameter ${name} was given twice`)
    if (mark < 0) throw wrongFlag(flag, `the parameter ${name} needs a value: ${name}=…`)
    const problem = (sentence: string) => wrongFlag(flag, `the parameter ${name} ${sentence}`)
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
  return (text, problem) => {
    const value = /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN
    if (value >= min && value <= max) return value
    throw problem(`must be an integer from ${min} to ${max}`)
  }
}

/** Reads one of these words. */
export function wordParameter<Word extends string>(...words: readonly Word[]): ParameterReader<Word> {
  return (text, problem) => {
    const word = words.find((one) => one === text)
    if (word === undefined) throw problem(`must be ${words.join(' or ')}`)
    return word
  }
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
  return (text, problem) => {
    const items = text.split(',')
    if (!items.every(isItem)) throw problem(`must be ${like}, separated by commas`)
    return items
  }
}
