/** Times and durations as text. Pure: the current time, the zone, the language and the names of units are arguments. */

import { dateFormat } from './formats.js'

export type Zone = 'utc' | 'local'

/** Names of units; `days` has plural forms. */
export type UnitName = 'ms' | 'seconds' | 'minutes' | 'hours' | 'days'

/** A number with its unit: `47 min`. */
type UnitText = (unit: UnitName, count: number) => string

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** `31 ms`, `37 s`, `3 min 41 s`, `1 h 47 min`, `3 days`: at most two units, of which the second is left out if it is 0. */
export function span(ms: number, unit: UnitText): string {
  const lasted = Math.max(0, ms)
  if (lasted < SECOND) return unit('ms', Math.round(lasted))
  if (lasted < 10 * SECOND) return unit('seconds', Math.floor(lasted / 100) / 10)
  if (lasted < MINUTE) return unit('seconds', Math.floor(lasted / SECOND))
  if (lasted < 10 * MINUTE) return two(lasted, 'minutes', MINUTE, 'seconds', SECOND, unit)
  if (lasted < HOUR) return unit('minutes', Math.floor(lasted / MINUTE))
  if (lasted < 2 * DAY) return two(lasted, 'hours', HOUR, 'minutes', MINUTE, unit)
  return unit('days', Math.floor(lasted / DAY))
}

function two(
  ms: number,
  large: UnitName,
  largeMs: number,
  small: UnitName,
  smallMs: number,
  unit: UnitText,
): string {
  const rest = Math.floor((ms % largeMs) / smallMs)
  const first = unit(large, Math.floor(ms / largeMs))
  return rest === 0 ? first : `${first} ${unit(small, rest)}`
}

/** The largest unit alone, for times that pass: `37 s`, `3 min`, `2 h`, `3 days`. */
export function roughSpan(ms: number, unit: UnitText): string {
  const lasted = Math.max(0, ms)
  if (lasted < MINUTE) return unit('seconds', Math.floor(lasted / SECOND))
  if (lasted < HOUR) return unit('minutes', Math.floor(lasted / MINUTE))
  if (lasted < 2 * DAY) return unit('hours', Math.floor(lasted / HOUR))
  return unit('days', Math.floor(lasted / DAY))
}

/** `31 ms`, `2.1 s`, `6 min`, `3 h`, `2 d`: of requests and of waits between them. @internal */
export function duration(ms: number): string {
  if (ms < SECOND) return `${Math.round(ms)} ms`
  if (ms < MINUTE) return `${tenths(ms / SECOND)} s`
  if (ms < HOUR) return `${tenths(ms / MINUTE)} min`
  if (ms < DAY) return `${tenths(ms / HOUR)} h`
  return `${tenths(ms / DAY)} d`
}

const tenths = (value: number) => String(Math.round(value * 10) / 10)

const isTime = (ms: number) => Number.isFinite(ms) && Math.abs(ms) <= 8.64e15

/** `2026-01-31 02:31:07.412`, the same in every language so that times can be compared and searched in logs. */
export function exactTime(ms: number, zone: Zone): string {
  if (!isTime(ms)) return '–'
  const date = new Date(zone === 'utc' ? ms : ms - new Date(ms).getTimezoneOffset() * MINUTE)
  return date.toISOString().replace('T', ' ').replace('Z', '')
}

/** `02:31:07.412`. */
export const clockTime = (ms: number, zone: Zone): string => exactTime(ms, zone).slice(11)

/** `02:31`. */
export const minuteTime = (ms: number, zone: Zone): string => clockTime(ms, zone).slice(0, 5)

/** Whether two times are on the same day of the zone. */
export const isSameDay = (ms: number, other: number, zone: Zone): boolean =>
  exactTime(ms, zone).slice(0, 10) === exactTime(other, zone).slice(0, 10)

/** `Thu 26 Nov`, with the year where it is not that of `nowMs`. */
export function shortDate(ms: number, nowMs: number, zone: Zone, language: string): string {
  return dateText(ms, nowMs, zone, language, 'short')
}

/** `Thursday 26 November`, with the year where it is not that of `nowMs`. */
export function longDate(ms: number, nowMs: number, zone: Zone, language: string): string {
  return dateText(ms, nowMs, zone, language, 'long')
}

function dateText(ms: number, nowMs: number, zone: Zone, language: string, length: 'short' | 'long'): string {
  if (!isTime(ms)) return '–'
  const hasYear = exactTime(ms, zone).slice(0, 4) !== exactTime(nowMs, zone).slice(0, 4)
  const text = dateFormat(`${language}/${zone}/${length}/${hasYear}`).format(ms)
  // British English has a comma after the day of the week in some browsers and none in others.
  return language === 'en' ? text.replaceAll(',', '') : text
}

/** `14:31` today, otherwise `Thu 26 Nov 14:31`. */
export function dayTime(ms: number, nowMs: number, zone: Zone, language: string): string {
  const time = minuteTime(ms, zone)
  if (!isTime(ms) || isSameDay(ms, nowMs, zone)) return time
  return `${shortDate(ms, nowMs, zone, language)} ${time}`
}

/** `+0.412`, for the ladder. @internal */
export const offset = (ms: number): string => `+${(ms / SECOND).toFixed(3)}`

/** Name of the zone in the head of a column: `UTC`, or the city of the browser's zone. */
export function zoneCity(zone: Zone): string {
  return zoneName(zone).split('/').at(-1)!.replaceAll('_', ' ')
}

let localZone: string | undefined

/** `UTC`, or the browser's zone: `Europe/Berlin`. Read once: every time on the page has it in its tooltip. */
export function zoneName(zone: Zone): string {
  if (zone === 'utc') return 'UTC'
  localZone ??= new Intl.DateTimeFormat().resolvedOptions().timeZone
  return localZone
}

/** A time as the value of `<input type="datetime-local">` in a zone: the whole minute that is not later. */
export const inputTime = (ms: number, zone: Zone): string =>
  exactTime(ms, zone).slice(0, 16).replace(' ', 'T')

/** Value of `<input type="datetime-local">` in a zone as milliseconds; `undefined` for no value. */
export function parseInputTime(value: string, zone: Zone): number | undefined {
  if (value === '') return undefined
  const ms = Date.parse(zone === 'utc' ? `${value}Z` : value)
  return Number.isNaN(ms) ? undefined : ms
}
