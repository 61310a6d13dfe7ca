/**
 * Limits the log lines of a source: a switch that sends ten thousand useless messages must not fill the log. Lines are
 * counted by kind and minute; one more line per kind and minute reports how many were left out.
 */
import type { Clock, Log } from 'hookswitch'

type Fields = Readonly<Record<string, unknown>>
type Level = keyof Log

/** Writes log lines that may repeat. */
export interface LogLimiter {
  /**
   * Writes a line, or counts it when its kind has reached the limit.
   *
   * @param kind lines of one kind share a limit: one of a few fixed names, never a value of the switch
   */
  write(level: Level, kind: string, fields: Fields, message: string): void
  /** Reports how many lines have been left out so far. */
  close(): void
}

/** Lines of one kind in one window. */
const MAX_LINES = 10
const WINDOW_MS = 60_000

interface Window {
  readonly endMs: number
  lines: number
  leftOut: number
  report(): void
}

/** @param source the field `source` of every line */
export function createLogLimiter(
  log: Log,
  clock: Pick<Clock, 'monotonic' | 'sleep'>,
  source: string,
): LogLimiter {
  const windows = new Map<string, Window>()
  const closing = new AbortController()

  const openWindow = (level: Level, kind: string, message: string): Window => {
    const window: Window = {
      endMs: clock.monotonic() + WINDOW_MS,
      lines: 0,
      leftOut: 0,
      report() {
        if (window.leftOut > 0) log[level]({ source, similarTo: message, lines: window.leftOut }, LEFT_OUT)
        window.leftOut = 0
      },
    }
    windows.set(kind, window)
    return window
  }

  return {
    write(level, kind, fields, message) {
      let window = windows.get(kind)
      if (!window || clock.monotonic() >= window.endMs) {
        window?.report()
        window = openWindow(level, kind, message)
      }
      window.lines += 1
      if (window.lines <= MAX_LINES) return log[level]({ source, ...fields }, message)
      window.leftOut += 1
      if (window.leftOut === 1)
        void clock.sleep(window.endMs - clock.monotonic(), closing.signal).then(window.report)
    },
    close() {
      for (const window of windows.values()) window.report()
      closing.abort()
    },
  }
}

const LEFT_OUT = 'similar lines were left out'
