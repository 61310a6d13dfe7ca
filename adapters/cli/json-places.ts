/** Parses JSON (RFC 8259) and finds where each key and value begins. Quotes nothing of the text in its errors. */
import { type JSONVisitor, visit } from 'jsonc-parser'

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
  let found = 0
  /** The keys so far of each object or array around a place. */
  const levels: Set<string>[] = []
  const isPathOfKey = isKey && typeof path.at(-1) === 'string'
  const isOnPath = (at: Path) => at.length <= path.length && at.every((step, depth) => step === path[depth])
  const problemAt = (offset: number, problem: string) => new FormatError(problem, placeAt(text, offset))
  const onValue = (offset: number, at: () => Path) => {
    if (levels.length > path.length || !isOnPath(at())) return
    if (isPathOfKey && levels.length === path.length) return
    found = offset
  }
  const onBegin: NonNullable<JSONVisitor['onObjectBegin']> = (offset, _length, _line, _character, at) => {
    onValue(offset, at)
    if (levels.push(new Set()) > MAX_DEPTH) throw problemAt(offset, `more than ${MAX_DEPTH} levels`)
  }
  const onEnd = () => {
    levels.pop()
  }
  visit(
    text,
    {
      onObjectBegin: onBegin,
      onObjectEnd: onEnd,
      onArrayBegin: onBegin,
      onArrayEnd: onEnd,
      onObjectProperty(key, offset, _length, _line, _character, at) {
        const keys = levels.at(-1)!
        if (keys.has(key)) throw problemAt(offset, 'a key occurs twice')
        keys.add(key)
        if (isPathOfKey && levels.length === path.length && isOnPath([...at(), key])) found = offset
      },
      onLiteralValue: (_value, offset, _length, _line, _character, at) => onValue(offset, at),
      onError(code, offset) {
        throw problemAt(offset, PROBLEMS[code - 1]!)
      },
    },
    { disallowComments: true },
  )
  return placeAt(text, found)
}

/** What is wrong, by the parser's `ParseErrorCode`, which begins with 1. */
const PROBLEMS = [
  'an unknown word or sign (names and strings need double quotes)',
  'a number ends too early',
  'a name in double quotes is expected',
  'a value is expected',
  'a colon is expected',
  'a comma is expected',
  '} is expected',
  '] is expected',
  'something follows the value',
  'JSON has no comments',
  'JSON has no comments',
  'a string does not end on its line',
  'a number ends too early',
  '\\u needs four hexadecimal digits',
  'an unknown character follows a backslash',
  'a string has a control character',
]

function placeAt(text: string, offset: number): Place {
  const before = text.slice(0, offset).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}
