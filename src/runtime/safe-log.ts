import type { Log } from '../ports.js'
import { redactFields, redactText } from '../values/redact.js'

type Fields = Readonly<Record<string, unknown>>
type Level = keyof Log

const SILENT: Log = Object.freeze({ debug() {}, info() {}, warn() {}, error() {} })

/**
 * Wraps the host's logger: it never throws, and secrets in fields and messages are redacted.
 *
 * @param log default: a silent logger
 */
export function safeLog(log: Log | undefined): Log {
  if (!log) return SILENT
  const level = (name: Level) => (fields: Fields, message: string) => {
    try {
      const result: unknown = log[name](redactOrOmit(fields), redactText(message))
      if (result instanceof Promise) result.catch(() => {})
    } catch {
      // A failing logger must not affect the service.
    }
  }
  return { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') }
}

/** Logs the message without its fields when they cannot be read (a getter throws). */
function redactOrOmit(fields: Fields): Fields {
  try {
    return redactFields(fields)
  } catch {
    return {}
  }
}
