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

/** A value with the offsets of its text. */
interface Node {
  readonly start: number
  readonly value: unknown
  readonly members?: ReadonlyMap<string | number, { readonly keyStart: number; readonly node: Node }>
}

const SPACE = /[ \t\n\r]*/y
const NUMBER = /-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const WORD = /true|false|null/y
const MAX_DEPTH = 100

/** @throws FormatError with the place of the problem */
export function parseJson(text: string): ParsedText {
  const value = parseFast(text)
  if (value === undefined) return parseWithPlaces(text)
  // Only an error needs places: a large text is then parsed again.
  let parsed: ParsedText | undefined
  return {
    value,
    placeOf(path, isKey) {
      parsed ??= parseWithPlaces(text)
      return parsed.placeOf(path, isKey)
    },
  }
}

/** Parses with the built-in parser; `undefined` where the text needs the checks of `parseWithPlaces` to be refused. */
function parseFast(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  // The built-in parser keeps the last of two equal keys: then the value has fewer keys than the text.
  return countKeys(value, 0) === countColons(text) ? value : undefined
}

/** Keys of all objects in the value; NaN for a value that is too deep. */
function countKeys(value: unknown, depth: number): number {
  if (depth > MAX_DEPTH) return Number.NaN
  if (typeof value !== 'object' || value === null) return 0
  const members = Array.isArray(value) ? value : Object.values(value)
  let count = Array.isArray(value) ? 0 : members.length
  for (const member of members) count += countKeys(member, depth + 1)
  return count
}

/** Colons outside the strings of a valid JSON text: one behind each key. */
function countColons(text: string): number {
  let count = 0
  let at = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === COLON) count += 1
    at = code === QUOTE ? endOfString(text, at) : at + 1
  }
  return count
}

/** The offset behind the string of a valid JSON text that begins at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1
  while (text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1
  return at + 1
}

const QUOTE = 0x22
const COLON = 0x3a
const BACKSLASH = 0x5c

function parseWithPlaces(text: string): ParsedText {
  let at = 0

  function fail(problem: string, offset = at): never {
    throw new FormatError(problem, placeAt(text, offset))
  }
  function match(pattern: RegExp): string | undefined {
    pattern.lastIndex = at
    const [found] = pattern.exec(text) ?? []
    if (found !== undefined) at += found.length
    return found
  }
  function take(character: string): boolean {
    match(SPACE)
    if (text[at] !== character) return false
    at += 1
    return true
  }

  /** Where a string stops being one: its first invalid character, or its end. */
  function failInString(): never {
    const [valid = ''] =
      /^"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/.exec(text.slice(at)) ?? []
    return fail(
      at + valid.length >= text.length ? 'a string does not end' : 'a string has an invalid character',
      at + valid.length,
    )
  }

  function readString(): string {
    const found = match(STRING)
    return found === undefined ? failInString() : JSON.parse(found)
  }

  function readNode(depth: number): Node {
    match(SPACE)
    const start = at
    if (depth > MAX_DEPTH) fail(`more than ${MAX_DEPTH} levels`)
    if (text[at] === '{') return readObject(start, depth)
    if (text[at] === '[') return readArray(start, depth)
    if (text[at] === '"') return { start, value: readString() }
    const word = match(WORD) ?? match(NUMBER)
    if (word === undefined) fail(at >= text.length ? 'the text ends too early' : 'a value is expected')
    return { start, value: JSON.parse(word) }
  }

  function readObject(start: number, depth: number): Node {
    const members = new Map<string, { keyStart: number; node: Node }>()
    at += 1
    if (!take('}')) {
      do {
        match(SPACE)
        const keyStart = at
        if (text[at] !== '"')
          fail(at >= text.length ? 'the text ends too early' : 'a key in double quotes is expected')
        const key = readString()
        if (members.has(key)) fail('a key occurs twice', keyStart)
        if (!take(':')) fail('a colon is expected')
        members.set(key, { keyStart, node: readNode(depth + 1) })
      } while (take(','))
      if (!take('}')) fail(at >= text.length ? 'the text ends too early' : "',' or '}' is expected")
    }
    const value = Object.fromEntries([...members].map(([key, { node }]) => [key, node.value]))
    return { start, value, members }
  }

  function readArray(start: number, depth: number): Node {
    const members = new Map<number, { keyStart: number; node: Node }>()
    at += 1
    if (!take(']')) {
      do {
        const node = readNode(depth + 1)
        members.set(members.size, { keyStart: node.start, node })
      } while (take(','))
      if (!take(']')) fail(at >= text.length ? 'the text ends too early' : "',' or ']' is expected")
    }
    return { start, value: [...members.values()].map(({ node }) => node.value), members }
  }

  const root = readNode(0)
  match(SPACE)
  if (at < text.length) fail('text follows the end of the value')
  return {
    value: root.value,
    placeOf(path, isKey = false) {
      let node = root
      let offset = root.start
      for (const [depth, name] of path.entries()) {
        const member = node.members?.get(name)
        if (!member) break
        node = member.node
        offset = isKey && depth === path.length - 1 ? member.keyStart : node.start
      }
      return placeAt(text, offset)
    },
  }
}

function placeAt(text: string, offset: number): Place {
  const before = text.slice(0, offset).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
}
