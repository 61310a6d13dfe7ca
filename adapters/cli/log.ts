/** A logger for programs that writes one line per entry, as JSON or readable text. */
import type { Log } from 'hookswitch'
import { printableJson, printableLine } from 'hookswitch/adapter'

type Fields = Readonly<Record<string, unknown>>
/** The levels of log entries, the least severe first. */
const LEVELS = ['debug', 'info', 'warn', 'error'] as const

/** The level of a log entry. */
export type Level = (typeof LEVELS)[number]

/** The format of log lines. */
type LogFormat = 'json' | 'pretty'

/**
 * Creates a logger that writes entries of a level and above.
 *
 * @param write receives whole lines, including the line feed
 * @param now Unix milliseconds
 * @param lowest the lowest level that is written, read at each entry. Default: info
 * @param common fields of every entry. Default: none
 */
export function lineLog(
  format: LogFormat,
  write: (line: string) => void,
  now: () => number,
  lowest: () => Level = () => 'info',
  common: Fields = {},
): Log {
  const line = format === 'json' ? jsonLine : prettyLine
  const at = (level: Level) => (fields: Fields, message: string) => {
    if (LEVELS.indexOf(level) >= LEVELS.indexOf(lowest()))
      write(line(now(), level, { ...common, ...fields }, message))
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/**
 * One JSON object: `time`, `level`, `message`, then the fields. A field with one of these names gets a `_` behind it, so
 * that neither replaces the other.
 *
 * @internal
 */
export function jsonLine(nowMs: number, level: Level, fields: Fields, message: string): string {
  const time = new Date(nowMs).toISOString()
  const head = { time, level, message }
  const rest = Object.entries(fields).map(([key, value]) => [
    Object.hasOwn(head, key) ? `${key}_` : key,
    plain(value),
  ])
  try {
    return `${printableJson({ ...head, ...Object.fromEntries(rest) })}\n`
  } catch {
    return `${printableJson(head)}\n`
  }
}

/** `12:34:56.789 WARN  message  key=value`, in UTC. @internal */
export function prettyLine(nowMs: number, level: Level, fields: Fields, message: string): string {
  const time = new Date(nowMs).toISOString().slice(11, 23)
  const pairs = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `  ${printableLine(key)}=${prettyValue(value)}`)
  return `${time} ${level.toUpperCase().padEnd(5)} ${printableLine(message)}${pairs.join('')}\n`
}

function prettyValue(value: unknown): string {
  const text = plain(value)
  if (typeof text === 'string' && /^[\w./:@+-]+$/.test(text)) return text
  try {
    return printableJson(text)
  } catch {
    return '?'
  }
}

/** Makes errors and bigints serialisable. */
function plain(value: unknown): unknown {
  if (value instanceof Error) return value.message
  return typeof value === 'bigint' ? value.toString() : value
}
