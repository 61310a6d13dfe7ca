/** Prints results: tables for people, tab-separated lines for pipes, JSON for programs. */
import { printableJson, printableLine } from 'hookswitch/adapter'
import { type Column, formatDetails, formatTable, textOf, wrapLine } from './table.js'

/** Where the output goes: the standard output, or a test. */
export interface Writable {
  write(text: string): unknown
  readonly isTTY?: boolean | undefined
  /** Width of the terminal. */
  readonly columns?: number | undefined
  once?(event: 'drain', listener: () => void): unknown
}

/** Prints the results of one command. */
export interface Output {
  /** Whether `--json` was given. */
  readonly isJson: boolean
  /** Whether the output is a terminal. */
  readonly isTerminal: boolean
  /** Prints the items of a list. */
  items(items: readonly object[], columns: readonly Column[]): Promise<void>
  /** Prints items one by one, as they arrive. */
  item(item: object, columns: readonly Column[]): Promise<void>
  /** Prints one document. */
  document(document: unknown): Promise<void>
  /** Prints lines as they are, also with `--json`. */
  lines(text: string): Promise<void>
  /** Prints sentences for people, each on a line; a terminal continues long ones on further lines, indented by `indent`. */
  sentences(lines: readonly string[], indent: number): Promise<void>
  /** Prints a text on one line, or this document as JSON. */
  text(text: string, document: object): Promise<void>
}

const DEFAULT_WIDTH = 80

interface OutputOptions {
  /** Print JSON. */
  readonly isJson: boolean
  /** A wait for a reader that is gone ends when it aborts. */
  readonly signal: AbortSignal
  /** Unix time in milliseconds: a terminal shows the times of lists as ages. Absent: as they are. */
  readonly now?: (() => number) | undefined
}

export function createOutput(stdout: Writable, { isJson, signal, now }: OutputOptions): Output {
  const isTerminal = stdout.isTTY === true
  const width = stdout.columns ?? DEFAULT_WIDTH
  const write = async (text: string) => {
    if (text === '' || stdout.write(text) !== false || !stdout.once || signal.aborted) return
    await new Promise<void>((resolve) => {
      stdout.once!('drain', resolve)
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }
  const json = (value: unknown) => `${printableJson(value)}\n`
  let hasHead = false
  /** Lines for programs: the titles once, then the items with whole values. */
  function tabs(items: readonly object[], columns: readonly Column[]): string {
    const lines = items.map((item) => columns.map((column) => textOf(item, column)))
    if (!hasHead && items.length > 0) lines.unshift(columns.map(({ title }) => title))
    hasHead ||= items.length > 0
    return lines.map((cells) => `${cells.join('\t')}\n`).join('')
  }
  return {
    isJson,
    isTerminal,
    async items(items, columns) {
      if (isJson) await write(items.map(json).join(''))
      else if (isTerminal) await write(formatTable(items, columns, width, { nowMs: now?.() }))
      else await write(tabs(items, columns))
    },
    async item(item, columns) {
      if (isJson) await write(json(item))
      // Lines that stay on the screen: an age would be wrong soon.
      else if (isTerminal) await write(formatTable([item], columns, width, { hasHead: false }))
      else await write(tabs([item], columns))
    },
    async document(document) {
      if (isJson || typeof document !== 'object' || document === null) {
        return write(isJson ? json(document) : `${printableLine(String(document))}\n`)
      }
      await write(formatDetails(document, isTerminal ? width : undefined))
    },
    lines: write,
    sentences: (lines, indent) =>
      write(
        lines
          .map(printableLine)
          .map((line) => (isTerminal ? wrapLine(line, width, indent) : `${line}\n`))
          .join(''),
      ),
    text: (text, document) => write(isJson ? json(document) : `${printableLine(text)}\n`),
  }
}
