/** Formats tables and documents as text. Pure. Text from outside cannot move the cursor or look like another line. */
import { printableLine } from 'hookswitch/adapter'

/** A column of a table. */
export interface Column {
  readonly title: string
  /** Field of the item, or a function. */
  readonly value: string | ((item: Readonly<Record<string, unknown>>) => unknown)
  /** Never shortened: people copy it. */
  readonly isWhole?: true
  /** Shortened in the middle: a URL begins with its host, and its end tells it from others. */
  readonly isCutInMiddle?: true
  /** ISO 8601 times, which a terminal shows as ages. Never shortened. */
  readonly isTime?: true
}

const GAP = '  '
/** Of the further lines of a row. */
const INDENT = '    '
const MIN_WIDTH = 8

/** The text of a cell. */
export function textOf(item: object, { value }: Pick<Column, 'value'>): string {
  const fields = item as Readonly<Record<string, unknown>>
  return cell(typeof value === 'string' ? fields[value] : value(fields))
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return ''
  return printableLine(typeof value === 'object' ? JSON.stringify(value) : String(value))
}

/** How a table shows its rows. */
interface TableStyle {
  /** Whether the first line has the titles. Default: true. */
  readonly hasHead?: boolean
  /** Current time in Unix ms: times are shown as ages. Default: as they are. */
  readonly nowMs?: number | undefined
}

/**
 * Formats a table that fits the width: the widest columns are shortened first. Columns for which there is no room follow on
 * further lines of the row, which are indented.
 *
 * @param width of the terminal, in columns
 */
export function formatTable(
  items: readonly object[],
  columns: readonly Column[],
  width: number,
  { hasHead = true, nowMs }: TableStyle = {},
): string {
  if (items.length === 0) return ''
  const shownText = (item: object, column: Column) => {
    const text = textOf(item, column)
    return column.isTime && nowMs !== undefined ? ageText(text, nowMs) : text
  }
  const rows = [
    ...(hasHead ? [columns.map(({ title }) => title)] : []),
    ...items.map((item) => columns.map((column) => shownText(item, column))),
  ]
  const natural = columns.map((_, nth) => Math.max(...rows.map((row) => displayWidth(row[nth]!))))
  const parts = splitColumns(natural, columns, width)
  const lines = rows.flatMap((row) =>
    parts.map(({ indent, widths, start }) => {
      const cells = widths.map((width, nth) =>
        pad(shorten(row[start + nth]!, width, columns[start + nth]!.isCutInMiddle), width),
      )
      return (indent + cells.join(GAP)).trimEnd()
    }),
  )
  // A row has a line, even if it is empty.
  const isShown = (line: string, nth: number) => nth % parts.length === 0 || line !== ''
  return lines
    .filter(isShown)
    .map((line) => `${line}\n`)
    .join('')
}

/** Columns that are on one line of a row. */
interface TablePart {
  readonly indent: string
  /** Number of the first column. */
  readonly start: number
  readonly widths: readonly number[]
}

/** Divides the columns into as many lines as they need when they are shortened as far as they may be. */
function splitColumns(
  natural: readonly number[],
  columns: readonly Column[],
  width: number,
): readonly TablePart[] {
  const starts = [0]
  let left = width + GAP.length
  columns.forEach((column, nth) => {
    const least = GAP.length + (isShortened(column) ? Math.min(natural[nth]!, MIN_WIDTH) : natural[nth]!)
    if (least > left && nth > starts.at(-1)!) {
      starts.push(nth)
      left = width + GAP.length - INDENT.length
    }
    left -= least
  })
  return starts.map((start, part) => {
    const end = starts[part + 1] ?? columns.length
    const indent = part === 0 ? '' : INDENT
    const gaps = GAP.length * (end - start - 1)
    const room = width - indent.length - gaps
    return {
      indent,
      start,
      widths: shrinkWidths(natural.slice(start, end), columns.slice(start, end), room),
    }
  })
}

const isShortened = ({ isWhole, isTime }: Column) => !isWhole && !isTime

/** Shortens the widest column that may be shortened until the table fits. */
function shrinkWidths(
  natural: readonly number[],
  columns: readonly Column[],
  width: number,
): readonly number[] {
  const widths = [...natural]
  let excess = widths.reduce((sum, width) => sum + width, 0) - width
  while (excess > 0) {
    const candidates = widths.map((width, nth) => (isShortened(columns[nth]!) ? width : 0))
    const widest = Math.max(...candidates)
    if (widest <= MIN_WIDTH) break
    widths[candidates.indexOf(widest)]! -= 1
    excess -= 1
  }
  return widths
}

/**
 * Formats the fields of a document, one per line, objects by their dotted names. On a terminal, texts and lists that are too long
 * continue on further lines.
 *
 * @param width of the terminal; `undefined`: the output is no terminal, and name and value are separated by a tab
 */
export function formatDetails(document: object, width: number | undefined): string {
  const rows = fieldsOf(document, '')
  if (width === undefined) return rows.map(([name, text]) => `${name}\t${text}\n`).join('')
  const nameWidth = Math.max(0, ...rows.map(([name]) => displayWidth(name)))
  const indent = nameWidth + GAP.length
  return rows.map(([name, text]) => wrapLine(text, width, indent, `${pad(name, nameWidth)}${GAP}`)).join('')
}

/**
 * Breaks a line between words, or between the items of a list. A word is never broken.
 *
 * @param indent spaces before what follows the first break
 * @param start what the first line begins with
 */
export function wrapLine(line: string, width: number, indent: number, start = ''): string {
  let wrapped = start
  let used = displayWidth(start)
  let isAtStart = true
  for (const word of line.split(/(?<= )|(?<=",)(?=")/)) {
    const needed = displayWidth(word.trimEnd())
    if (!isAtStart && used + needed > width && needed > 0) {
      wrapped = `${wrapped.trimEnd()}\n${' '.repeat(indent)}`
      used = indent
    }
    wrapped += word
    used += displayWidth(word)
    isAtStart &&= needed === 0
  }
  return `${wrapped.trimEnd()}\n`
}

function fieldsOf(value: object, prefix: string): readonly (readonly [name: string, text: string])[] {
  return Object.entries(value).flatMap(([key, item]) => {
    const name = printableLine(prefix === '' ? key : `${prefix}.${key}`)
    const isNested = typeof item === 'object' && item !== null && !Array.isArray(item)
    return isNested && Object.keys(item).length > 0 ? fieldsOf(item, name) : [[name, cell(item)] as const]
  })
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
/** Scripts and symbols that terminals draw two columns wide. */
const WIDE =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]/u

const graphemes = (text: string) => [...segmenter.segment(text)].map(({ segment }) => segment)
const graphemeWidth = (grapheme: string) => (WIDE.test(grapheme) ? 2 : 1)

/** Columns that a terminal needs for a text. @internal */
export function displayWidth(text: string): number {
  // Most cells are ASCII.
  if (/^[ -~]*$/.test(text)) return text.length
  return graphemes(text).reduce((sum, grapheme) => sum + graphemeWidth(grapheme), 0)
}

const pad = (text: string, width: number) => text + ' '.repeat(Math.max(0, width - displayWidth(text)))

/** Cuts a text to this width, at its end or in its middle; `…` stands for what is missing. @internal */
export function shorten(text: string, width: number, isCutInMiddle = false): string {
  if (displayWidth(text) <= width) return text
  const all = graphemes(text)
  const endWidth = isCutInMiddle ? Math.floor((width - 1) / 2) : 0
  const start = prefixOf(all, width - 1 - endWidth)
  const end = prefixOf(all.toReversed(), endWidth).reverse()
  return `${start.join('')}…${end.join('')}`
}

/** The first graphemes that fit the width. */
function prefixOf(all: readonly string[], width: number): string[] {
  let left = width
  const end = all.findIndex((grapheme) => {
    left -= graphemeWidth(grapheme)
    return left < 0
  })
  return all.slice(0, end < 0 ? all.length : end)
}

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** `37 s ago`, `3 min ago`, `in 2 h`, `5 days ago`; what is no time stays as it is. @internal */
export function ageText(time: string, nowMs: number): string {
  const age = nowMs - Date.parse(time)
  if (Number.isNaN(age)) return time
  const span = spanText(Math.abs(age))
  return age < 0 ? `in ${span}` : `${span} ago`
}

function spanText(ms: number): string {
  if (ms < MINUTE_MS) return `${Math.floor(ms / SECOND_MS)} s`
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`
  return ms < 2 * DAY_MS ? `${Math.floor(ms / HOUR_MS)} h` : `${Math.floor(ms / DAY_MS)} days`
}
