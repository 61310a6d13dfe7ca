/** Reads a time from a request: Gregorian seconds (KAZOO) or ISO 8601. */
import type { Failure } from '../errors.js'
import { fromGregorian } from '../values/gregorian-time.js'
import { daysFromCivil } from '../values/iso-time.js'
import { parseInteger } from './coerce.js'

/** Last second of the year 9999 in Gregorian seconds; later times cannot be written as ISO 8601. */
const MAX_GREGORIAN = 315_569_519_999

/** A date, or a date and time with its zone. The plus sign of a zone arrives as a space from a query that did not encode it. */
const ISO_8601 =
  /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+\- ]\d{2}:\d{2}))?$/

/** The span that a time names, Unix ms, both ends included: a second, a day, or one moment. */
export interface TimeSpan {
  readonly firstMs: number
  readonly lastMs: number
}

const DAY_MS = 86_400_000

/** Returns the span of a time, or the failure for anything else. */
export function parseTime(path: string, value: unknown): TimeSpan | Failure {
  const seconds = typeof value === 'string' ? parseInteger(value) : value
  if (typeof seconds === 'number' && Number.isSafeInteger(seconds)) {
    if (seconds < 0) {
      return { path, rule: 'minimum', message: 'Value must be at least 0', target: 0, value: seconds }
    }
    if (seconds > MAX_GREGORIAN) {
      const message = `Value must be at most ${MAX_GREGORIAN}`
      return { path, rule: 'maximum', message, target: MAX_GREGORIAN, value: seconds }
    }
    const firstMs = fromGregorian(seconds)
    return { firstMs, lastMs: firstMs + 999 }
  }
  return (typeof value === 'string' ? parseIsoTime(value) : undefined) ?? notATime(path, value)
}

/** Returns the span of a date, or a date and time with its zone, in ISO 8601; `undefined` for other text. */
export function parseIsoTime(text: string): TimeSpan | undefined {
  const [, year, month, day, hour, minute, second = '0', fraction, zone = 'Z'] = ISO_8601.exec(text) ?? []
  const days = year === undefined ? undefined : daysFromCivil(Number(year), Number(month), Number(day))
  if (days === undefined) return undefined
  if (hour === undefined) return { firstMs: days * DAY_MS, lastMs: days * DAY_MS + DAY_MS - 1 }
  const [zoneHours, zoneMinutes] = zone === 'Z' ? [0, 0] : [Number(zone.slice(1, 3)), Number(zone.slice(4))]
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined
  if (zoneHours > 23 || zoneMinutes > 59) return undefined
  const offsetMinutes = (zone.startsWith('-') ? -1 : 1) * (zoneHours * 60 + zoneMinutes)
  const minutes = Number(hour) * 60 + Number(minute) - offsetMinutes
  const ms = fraction === undefined ? 0 : Number(fraction.slice(0, 3).padEnd(3, '0'))
  const firstMs = days * DAY_MS + minutes * 60_000 + Number(second) * 1_000 + ms
  return { firstMs, lastMs: fraction === undefined ? firstMs + 999 : firstMs }
}

function notATime(path: string, value: unknown): Failure {
  const message = 'Value must be a time: Gregorian seconds, or ISO 8601 such as 2026-01-31T12:00:00Z'
  return { path, rule: 'type', message, target: 'Gregorian seconds or ISO 8601', value }
}

/** True for the failure of `parseTime`. */
export function isFailure(parsed: TimeSpan | Failure): parsed is Failure {
  return 'path' in parsed
}

/** The failure of a range whose start is later than its end. Both are given as they were sent. */
export function lateStart(value: unknown, target: unknown): Failure {
  const number = (sent: unknown) => (typeof sent === 'string' ? (parseInteger(sent) ?? sent) : sent)
  return {
    path: 'created_from',
    rule: 'maximum',
    message: `Value must be at most ${target}`,
    target: number(target),
    value: number(value),
  }
}
