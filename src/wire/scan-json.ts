/**
 * One pass over the bytes of a JSON document, much cheaper than parsing it: whether it is nested too deeply, whether an
 * object or list, or all of them together, have too many entries, and the text of a few fields of the top-level object. Of
 * invalid JSON it reports something, but never throws; parsing finds that out.
 */

/** Result of `scanJson`. */
export interface JsonScan {
  /** Objects and lists are nested deeper than the limit. The scan ends there. */
  readonly isTooDeep: boolean
  /** An object or list has more entries than the limit, repeated names included. */
  readonly isTooWide: boolean
  /** All objects and lists together have more entries than the limit. */
  readonly isTooLarge: boolean
  /** The named fields of the top-level object: their text, or `true` for a value that is neither text nor null. */
  readonly fields: Readonly<Record<string, string | true>>
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
/** `n` of null. */
const NULL = 0x6e
const SPACE = 0x20
/** Longest field that is decoded; a longer one counts as a value that is not text. */
const MAX_FIELD_BYTES = 8_192

/** Limits of a JSON document. */
export interface JsonLimits {
  /** Objects and lists within each other, including the document itself. */
  readonly depth: number
  /** Members of one object, or elements of one list; at least 1. */
  readonly entries: number
  /** Entries of all objects and lists together; an empty one counts as one entry. */
  readonly total: number
}

/**
 * Scans a JSON document.
 *
 * @param names the top-level fields to read, in ASCII
 */
export function scanJson(
  bytes: Uint8Array,
  { depth: maxDepth, entries: maxEntries, total: maxTotal }: JsonLimits,
  names: readonly string[],
): JsonScan {
  /** Commas of the object or list that is open at each depth: valid JSON has one entry more. */
  const commas = new Uint32Array(maxDepth + 1)
  let total = 0
  let isTooWide = false
  const fields: Record<string, string | true> = Object.create(null)
  let depth = 0
  let isTopObject = false
  /** A string that begins now is a name of the top-level object. */
  let isNameNext = false
  /** The named field whose value begins next. */
  let field: string | undefined

  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]!
    if (byte === QUOTE) {
      const start = at
      at += 1
      while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
      if (isNameNext) {
        isNameNext = false
        field = names.find((name) => isName(bytes, start + 1, at, name))
      } else if (field !== undefined) {
        fields[field] = (at - start <= MAX_FIELD_BYTES ? decode(bytes, start, at + 1) : undefined) ?? true
        field = undefined
      }
      continue
    }
    if (byte <= SPACE) continue
    if (byte === COLON) continue
    if (field !== undefined) {
      // The last of several fields with one name counts, as for JSON.parse.
      if (byte === NULL) delete fields[field]
      else fields[field] = true
      field = undefined
    }
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      depth += 1
      total += 1
      if (depth > maxDepth) return { isTooDeep: true, isTooWide, isTooLarge: total > maxTotal, fields }
      // A negative depth is that of invalid JSON.
      if (depth >= 0) commas[depth] = 0
      if (depth === 1) isTopObject = isNameNext = byte === OPEN_OBJECT
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth -= 1
    else if (byte === COMMA) {
      total += 1
      if (depth === 1) isNameNext = isTopObject
      if (depth >= 0) {
        commas[depth]! += 1
        if (commas[depth]! >= maxEntries) isTooWide = true
      }
    }
  }
  return { isTooDeep: false, isTooWide, isTooLarge: total > maxTotal, fields }
}

/** A name with escapes is not recognized: decoding thousands of them would cost what the scan saves. */
function isName(bytes: Uint8Array, start: number, end: number, name: string): boolean {
  if (end - start !== name.length) return false
  for (let index = 0; index < name.length; index += 1) {
    if (bytes[start + index] !== name.charCodeAt(index)) return false
  }
  return true
}

/** The text of a JSON string with its quotes; `undefined` if it is malformed. */
function decode(bytes: Uint8Array, start: number, end: number): string | undefined {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8'))
  } catch {
    return undefined
  }
}
