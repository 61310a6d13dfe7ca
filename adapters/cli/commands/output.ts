/** Prints results: tables for people, tab-separated lines for pipes, JSON for programs. */
import { printableJson, printableLine } from 'hookswitch/adapter'
import { type Column, formatDetails, formatTable, textOf } from './table.js'

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
  /** Prints a text on one line, or this document as JSON. */
  text(text: string, document: object): Promise<void>
}

const DEFAULT_WIDTH = 80

/**
 * @param signal a wait for a reader that is gone ends when it aborts
 */
export function createOutput(stdout: Writable, isJson: boolean, signal: AbortSignal): Output {
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
  const tabs = (item: object, columns: readonly Column[]) =>
    `${columns.map((column) => textOf(item, column)).join('\t')}\n`
  return {
    isJson,
    isTerminal,
    async items(items, columns) {
      if (isJson) await write(items.map(json).join(''))
      else if (isTerminal) await write(formatTable(items, columns, width))
      else await write(items.map((item) => tabs(item, columns)).join(''))
    },
    async item(item, columns) {
      await write(
        isJson ? json(item) : isTerminal ? formatTable([item], columns, width, false) : tabs(item, columns),
      )
    },
    async document(document) {
      if (isJson || typeof document !== 'object' || document === null) {
        return write(isJson ? json(document) : `${printableLine(String(document))}\n`)
      }
      await write(formatDetails(document, isTerminal ? width : undefined))
    },
    lines: write,
    text: (text, document) => write(isJson ? json(document) : `${printableLine(text)}\n`),
  }
}
