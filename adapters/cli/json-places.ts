/** Parses JSON (RFC 8259) and remembers where each key and value begins. Quotes nothing of the text in its errors. */

/** A place in a text, counted from 1; columns are UTF-16 units. */
export interface Place {
  readonly line: number
  readonly column: number
}

/** A parsed text. */
export interface ParsedText {
  readonly value: unknown
  /**
   * Where the value at a path begins, or its key if `isKey`; the nearest enclosing value that exists for a path that does
   * not.
   */
  placeOf(path: readonly (string | number)[], isKey?: boolean): Place
}

/** The text does not follow its format. */
export class FormatError extends Error {
  /** @param problem what is wrong, without any of the text */
  constructor(
    readonly problem: string,
    readonly place: Place,
  ) {
    super(problem)
  }
}

const MAX_DEPTH = 100

/** @throws FormatError with the place of the problem */
export function parseJson(text: string): ParsedText {
  const { value, message } = tryParse(text)
  if (message !== undefined) throw syntaxError(text, message)
  // JSON.parse keeps the last of two equal keys: then the value has fewer keys than the text has colons.
  const colons = text.replace(STRINGS, '').split(':').length - 1
  // Only an error needs places.
  if (countKeys(value, 0) !== colons) findPlace(text, [])
  return { value, placeOf: (path, isKey) => findPlace(text, path, isKey) }
}

/** Keys of all objects in the value; NaN for a value that is too deep. */
function countKeys(value: unknown, depth: number): number {
  if (depth > MAX_DEPTH) return Number.NaN
  if (typeof value !== 'object' || value === null) return 0
  const members = Object.values(value)
  let count = Array.isArray(value) ? 0 : members.length
  for (const member of members) count += countKeys(member, depth + 1)
  return count
}

/** An object or array around a token. */
interface Level {
  readonly isObject: boolean
  /** The keys so far. */
  readonly keys: Set<unknown>
  /** Key or index of the current member. */
  step: string | number
  stepStart: number
  isKeyNext: boolean
}

/** A string needs no end to match: a pattern that starts again at each quotation mark takes quadratic time. */
const STRINGS = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"?/g
const TOKENS = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"?|[{}[\],:]|[^\s{}[\],:"]+/g

/**
 * Finds a value, or its key, in a text that `JSON.parse` accepts.
 *
 * @throws FormatError for a key that occurs twice and for a value that is too deep
 */
function findPlace(text: string, path: readonly (string | number)[], isKey = false): Place {
  const levels: Level[] = []
  let offset = 0
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    const level = levels.at(-1)
    if (token === ':') continue
    if (token === '}' || token === ']') levels.pop()
    else if (token === ',' && level) {
      level.isKeyNext = level.isObject
      if (typeof level.step === 'number') level.step += 1
    } else if (level?.isKeyNext) {
      const key = JSON.parse(token) as string
      if (level.keys.has(key)) throw new FormatError('a key occurs twice', placeAt(text, index))
      level.keys.add(key)
      Object.assign(level, { step: key, stepStart: index, isKeyNext: false })
    } else {
      if (levels.length > MAX_DEPTH)
        throw new FormatError(`more than ${MAX_DEPTH} levels`, placeAt(text, index))
      if (levels.length <= path.length && levels.every(({ step }, depth) => step === path[depth]))
        offset = isKey && level?.isObject && levels.length === path.length ? level.stepStart : index
      const isObject = token === '{'
      if (isObject || token === '[')
        levels.push({ isObject, keys: new Set(), step: isObject ? '' : 0, stepStart: 0, isKeyNext: isObject })
    }
  }
  return placeAt(text, offset)
}

/** @param message of V8, which has an offset unless it quotes the text around a token */
function syntaxError(text: string, message: string): FormatError {
  const [, first = '', rest, offset] = /^(.)(.+) (?:in|after) JSON at position (\d+)/.exec(message) ?? []
  if (offset !== undefined && !quotesText(message))
    return new FormatError(first.toLowerCase() + rest, placeAt(text, Number(offset)))
  if (!quotesText(message)) return new FormatError('the text ends too early', placeAt(text, text.length))
  // The shortest text with the message ends with the token.
  let [valid, invalid] = [0, text.length]
  while (invalid - valid > 1) {
    const middle = Math.floor((valid + invalid) / 2)
    if (quotesText(tryParse(text.slice(0, middle)).message)) invalid = middle
    else valid = middle
  }
  return new FormatError('a value is expected', placeAt(text, valid))
}

function quotesText(message = ''): boolean {
  return message.endsWith('is not valid JSON')
}

/** The value of a text, or the message of V8. */
function tryParse(text: string): { readonly value?: unknown; readonly message?: string } {
  try {
    return { value: JSON.parse(text) }
  } catch (thrown) {
    return { message: (thrown as Error).message }
  }
}

function placeAt(text: string, offset: number): Place {
  const before = text.slice(0, offset).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}
