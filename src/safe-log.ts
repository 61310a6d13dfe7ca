import type { Log } from './ports.js'
import { redacted, redactedText } from './values/redacted.js'

type Fields = Readonly<Record<string, unknown>>
type Level = keyof Log

const SILENT: Log = Object.freeze({ debug() {}, info() {}, warn() {}, error() {} })

/**
 * A log that never throws, whatever the host's does or the fields are, and through which no secret goes; silent where
 * there is none.
 */
export function safeLog(log: Log | undefined): Log {
  if (!log) return SILENT
  const level = (name: Level) => (fields: Fields, message: string) => {
    try {
      const result: unknown = log[name](readable(fields), redactedText(message))
      if (result instanceof Promise) result.catch(() => {})
    } catch {
      // A logger that throws hurts nobody.
    }
  }
  return { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') }
}

/** What cannot be read (a getter that throws) must not cost us the sentence. */
function readable(fields: Fields): Fields {
  try {
    return redacted(fields)
  } catch {
    return {}
  }
}
