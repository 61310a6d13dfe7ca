/** Parses JSON (RFC 8259) and finds where each key and value begins. Quotes nothing of the text in its errors. */
import jsonc, { type JSONVisitor, type ParseErrorCode } from 'jsonc-parser'

/** A place in a text, counted from 1; columns are UTF-16 units. */
export interface Place {
  readonly line: number
  readonly column: number
}

type Path = readonly (string | number)[]

/** A parsed text. */
export interface ParsedText {
  readonly value: unknown
  /**
   * Where the value at a path begins, or its key if `isKey`; the nearest enclosing value that exists for a path that does
   * not.
   */
  placeOf(path: Path, isKey?: boolean): Place
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

/** @throws FormatError with the place of the problem, also for a key that occurs twice and for a value that is too deep */
export function parseJson(text: string): ParsedText {
  findPlace(text, [])
  return { value: JSON.parse(text), placeOf: (path, isKey) => findPlace(text, path, isKey) }
}

/** Finds a value, or its key. @throws as `parseJson` */
function findPlace(text: string, path: Path, isKey = false): Place {
  let found: Place = { line: 1, column: 1 }
  /** The keys so far of each object or array around a place. */
  const levels: Set<string>[] = []
  const placeAt = (line: number, character: number): Place => ({ line: line + 1, column: character + 1 })
  const isOnPath = (at: Path) => at.length <= path.length && at.every((step, depth) => step === path[depth])
  const onValue = (line: number, character: number, at: () => Path) => {
    const isFound = levels.length <= path.length && isOnPath(at())
    // The key of this value was found.
    if (isFound && !(isKey && levels.length === path.length && typeof path.at(-1) === 'string'))
      found = placeAt(line, character)
  }
  const onBegin: NonNullable<JSONVisitor['onObjectBegin']> = (_offset, _length, line, character, at) => {
    onValue(line, character, at)
    if (levels.push(new Set()) > MAX_DEPTH + 1)
      throw new FormatError(`more than ${MAX_DEPTH} levels`, placeAt(line, character))
  }
  const onEnd = () => {
    levels.pop()
  }
  jsonc.visit(
    text,
    {
      onObjectBegin: onBegin,
      onObjectEnd: onEnd,
      onArrayBegin: onBegin,
      onArrayEnd: onEnd,
      onObjectProperty(key, _offset, _length, line, character, at) {
        const keys = levels.at(-1)!
        if (keys.has(key)) throw new FormatError('a key occurs twice', placeAt(line, character))
        keys.add(key)
        if (isKey && levels.length === path.length && isOnPath([...at(), key]))
          found = placeAt(line, character)
      },
      onLiteralValue: (_value, _offset, _length, line, character, at) => onValue(line, character, at),
      onError(code, _offset, _length, line, character) {
        throw new FormatError(problemOf(code), placeAt(line, character))
      },
    },
    { disallowComments: true },
  )
  return found
}

/** `property name expected` */
function problemOf(code: ParseErrorCode): string {
  const words = jsonc
    .printParseErrorCode(code)
    .replaceAll(/\B[A-Z]/g, ' $&')
    .toLowerCase()
  return words === 'invalid symbol' ? 'unknown word (names and strings need double quotes)' : words
}
