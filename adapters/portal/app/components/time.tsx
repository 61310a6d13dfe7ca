/** Times and durations in the user's language and zone, with the exact time in the tooltip. */
import type { ComponentChildren } from 'preact'
import { nowMs } from '../state/clock.js'
import { zone } from '../state/preferences.js'
import { currentLanguage, t } from '../state/translate.js'
import {
  clockTime,
  dayTime,
  exactTime,
  isSameDay,
  longDate,
  minuteTime,
  roughSpan,
  shortDate,
  span,
  type UnitName,
  zoneCity,
  zoneName,
} from '../text/times.js'

/** ISO 8601 or Unix milliseconds. */
type At = string | number

const toMs = (at: At) => (typeof at === 'number' ? at : Date.parse(at))
const unit = (name: UnitName | 'daysDative', count: number) => t(`unit.${name}`, { count })
/** After "in" and "ago", which ask for another form of the days in some languages. */
const unitDative = (name: UnitName, count: number) => unit(name === 'days' ? 'daysDative' : name, count)

/** The day in the user's zone. */
const dayOf = (ms: number) => exactTime(ms, zone.value).slice(0, 10)

interface TimeProps {
  readonly ms: number
  readonly class?: string | undefined
  readonly children: ComponentChildren
}

function Time({ ms, class: name, children }: TimeProps) {
  return (
    <time
      class={name}
      dateTime={Number.isFinite(ms) ? new Date(ms).toISOString() : ''}
      title={`${exactTime(ms, zone.value)} ${zoneName(zone.value)}`}
    >
      {children}
    </time>
  )
}

interface ClockProps {
  readonly at: At
  /** With milliseconds. */
  readonly ms?: boolean
  /** Without a date on other days: where the day stands above the row. */
  readonly isTimeOnly?: boolean
}

/** `14:31:52` today, otherwise `Thu 26 Nov 14:31`. */
export function Clock({ at, ms: hasMs = false, isTimeOnly = false }: ClockProps) {
  const ms = toMs(at)
  const clock = clockTime(ms, zone.value)
  return (
    <Time ms={ms}>
      {isTimeOnly || isSameDay(ms, nowMs.value, zone.value) ? (
        <>
          {clock.slice(0, 8)}
          {hasMs && <span class="ms">{clock.slice(8)}</span>}
        </>
      ) : (
        dayTimeText(ms)
      )}
    </Time>
  )
}

/** `37 s ago`. */
export function Ago({ at, class: name }: { readonly at: At; readonly class?: string }) {
  const ms = toMs(at)
  return (
    <Time ms={ms} class={name}>
      {agoText(ms)}
    </Time>
  )
}

/** `in 3 min 41 s`; `now` when it has come. */
export function In({ at }: { readonly at: At }) {
  const ms = toMs(at)
  return <Time ms={ms}>{inText(ms)}</Time>
}

/** `1 h 47 min`. */
export const spanText = (ms: number): string => span(ms, unit)

/** The same after a preposition, such as `for`. */
export const lastingText = (ms: number): string => span(ms, unitDative)

/** `37 s ago`, `3 days ago`. */
const agoText = (at: At): string => t('time.ago', { span: roughSpan(nowMs.value - toMs(at), unitDative) })

/** `in 3 min 41 s`. */
function inText(at: At): string {
  const leftMs = toMs(at) - nowMs.value
  return leftMs < 1_000
    ? t('time.now')
    : t('time.in', { span: span(Math.floor(leftMs / 1_000) * 1_000, unitDative) })
}

/** `in 3 min`: the largest unit alone. */
export function inRoughText(at: At): string {
  const leftMs = toMs(at) - nowMs.value
  return leftMs < 1_000 ? t('time.now') : t('time.in', { span: roughSpan(leftMs, unitDative) })
}

/** `since 12:14 today`, `since Thu 26 Nov 12:14`. */
export function sinceText(at: At): string {
  const ms = toMs(at)
  const time = minuteTime(ms, zone.value)
  if (isSameDay(ms, nowMs.value, zone.value)) return t('time.sinceToday', { time })
  return t('time.sinceDay', { day: shortDate(ms, nowMs.value, zone.value, currentLanguage()), time })
}

/** `14:31` today, otherwise `Thu 26 Nov 14:31`. */
export const dayTimeText = (at: At): string => dayTime(toMs(at), nowMs.value, zone.value, currentLanguage())

/** `14:36:10` today, otherwise `Thu 26 Nov 14:31`. */
export function clockText(at: At): string {
  const ms = toMs(at)
  return isSameDay(ms, nowMs.value, zone.value) ? clockTime(ms, zone.value).slice(0, 8) : dayTimeText(ms)
}

/** `Today, Saturday 28 November`, `Friday 27 November`: the head above the rows of a day. */
export function dayText(at: At): string {
  const ms = toMs(at)
  const day = longDate(ms, nowMs.value, zone.value, currentLanguage())
  return dayOf(ms) === dayOf(nowMs.value) ? t('time.today', { day }) : day
}

/** The zone of the times in a column: `Berlin`, `UTC`. */
export const zoneText = (): string => zoneCity(zone.value)

/** The zone as the user may know it: `Europe/Berlin`, `UTC`. */
export const zoneLongText = (): string => zoneName(zone.value)

/** How long something has lasted, with its beginning in the tooltip. */
export function Since({ at }: { readonly at: At }) {
  const ms = toMs(at)
  return <Time ms={ms}>{spanText(nowMs.value - ms)}</Time>
}
