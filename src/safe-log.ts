import type { Log } from './ports.js'

const LEVELS = ['debug', 'info', 'warn', 'error'] as const

/** A log that never throws, whatever the host's does; silent where there is none. */
export function safeLog(log: Log | undefined): Log {
  const level =
    (name: (typeof LEVELS)[number]) => (fields: Readonly<Record<string, unknown>>, message: string) => {
      try {
        const result: unknown = log?.[name](fields, message)
        if (result instanceof Promise) result.catch(() => {})
      } catch {
        // A logger that throws hurts nobody.
      }
    }
  return { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') }
}
