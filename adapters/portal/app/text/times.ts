/** Times and durations as text. Pure: the current time, the zone and the language are arguments. */

import { relativeFormat } from './formats.js'

export type Zone = 'utc' | 'local'

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
]

/** `4 s ago`, `in 18 s`: the largest unit that fits. */
export function relativeTime(ms: number, nowMs: number, language: string): string {
  const differenceMs = ms - nowMs
  const [unit, unitMs] =
    UNITS.find(([, size]) => Math.abs(differenceMs) >= size) ?? (['second', 1_000] as const)
  return relativeFormat(language).format(Math.trunc(differenceMs / unitMs), unit)
}

/** `2026-01-31 02:31:07.412`, the same in every language so that times can be compared and searched in logs. */
export function exactTime(ms: number, zone: Zone): string {
  if (!Number.isFinite(ms) || Math.abs(ms) > 8.64e15) return '–'
  const date = new Date(zone === 'utc' ? ms : ms - new Date(ms).getTimezoneOffset() * 60_000)
  return date.toISOString().replace('T', ' ').replace('Z', '')
}

/** `02:31:07.412`. */
export const clockTime = (ms: number, zone: Zone): string => exactTime(ms, zone).slice(11)

/** `31 ms`, `2.1 s`, `6 min`, `3 h`, `2 d`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${trim(ms / 1_000)} s`
  if (ms < 3_600_000) return `${trim(ms / 60_000)} min`
  if (ms < 86_400_000) return `${trim(ms / 3_600_000)} h`
  return `${trim(ms / 86_400_000)} d`
}

const trim = (value: number) => String(Math.round(value * 10) / 10)

/** `+0.412`, for the ladder. */
export const offset = (ms: number): string => `+${(ms / 1_000).toFixed(3)}`

/** Value of `<input type="datetime-local">` in a zone as milliseconds; `undefined` for no value. */
export function parseInputTime(value: string, zone: Zone): number | undefined {
  if (value === '') return undefined
  const ms = Date.parse(zone === 'utc' ? `${value}Z` : value)
  return Number.isNaN(ms) ? undefined : ms
}
