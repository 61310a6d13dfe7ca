/**
 * Places in a list, as opaque text. A place is remembered by what it is after, never by a count, so that pages
 * neither skip nor repeat while rows come and go.
 */

const encode = (text: string) => Buffer.from(text, 'utf8').toString('base64url')

/** Decodes what `encode` wrote and nothing else: another spelling of the same bytes was not made by us. */
function decode(cursor: string): string | undefined {
  const text = Buffer.from(cursor, 'base64url').toString('utf8')
  return encode(text) === cursor ? text : undefined
}

const POSITION = /^p(0|[1-9][0-9]{0,15})$/

/** A place in the order of recording. */
export const positionCursor = (position: number): string => encode(`p${position}`)

/** The position, or `undefined` for a text that `positionCursor` did not make. */
export function readPosition(cursor: string): number | undefined {
  const match = POSITION.exec(decode(cursor) ?? '')
  const position = match ? Number(match[1]) : Number.NaN
  return Number.isSafeInteger(position) ? position : undefined
}

/** What a sorted list is ordered by: a name, then an id. */
export type SortKey = readonly [name: string, id: string]

/** A place in a list that is sorted by name and id. */
export const keyCursor = ([name, id]: SortKey): string => encode(`k${JSON.stringify([name, id])}`)

/** The key, or `undefined` for a text that `keyCursor` did not make. */
export function readKey(cursor: string): SortKey | undefined {
  const text = decode(cursor)
  if (text === undefined || !text.startsWith('k[')) return undefined
  let value: unknown
  try {
    value = JSON.parse(text.slice(1))
  } catch {
    return undefined
  }
  if (!Array.isArray(value) || value.length !== 2) return undefined
  const [name, id] = value as unknown[]
  if (typeof name !== 'string' || typeof id !== 'string') return undefined
  return keyCursor([name, id]) === cursor ? [name, id] : undefined
}

/** The order of such lists: by UTF-16 units, the same everywhere, whatever a database's collation says. */
export function compareKeys(a: SortKey, b: SortKey): number {
  if (a[0] !== b[0]) return a[0] < b[0] ? -1 : 1
  if (a[1] === b[1]) return 0
  return a[1] < b[1] ? -1 : 1
}
