/** A time: relative to now, with the exact time beside it or in the tooltip. */
import { nowMs } from '../state/clock.js'
import { zone } from '../state/preferences.js'
import { currentLanguage, t } from '../state/translate.js'
import { clockTime, duration, exactTime, relativeTime } from '../text/times.js'

const toMs = (at: string | number) => (typeof at === 'number' ? at : Date.parse(at))

/** @param at ISO 8601 or Unix milliseconds */
export function RelativeTime({ at }: { readonly at: string | number }) {
  const ms = toMs(at)
  return (
    <time dateTime={iso(ms)} title={withZone(exactTime(ms, zone.value))}>
      {relativeTime(ms, nowMs.value, currentLanguage())}
    </time>
  )
}

/** How long something has lasted, with its beginning in the tooltip. */
export function Since({ at }: { readonly at: string | number }) {
  const ms = toMs(at)
  const lasted = Math.max(0, Math.floor((nowMs.value - ms) / 1_000) * 1_000)
  return (
    <time class="muted" dateTime={iso(ms)} title={withZone(exactTime(ms, zone.value))}>
      {t('time.since', { duration: duration(lasted) })}
    </time>
  )
}

export function ExactTime({
  at,
  isClock = false,
}: {
  readonly at: string | number
  readonly isClock?: boolean
}) {
  const ms = toMs(at)
  const exact = exactTime(ms, zone.value)
  return (
    <time dateTime={iso(ms)} title={withZone(exact)} class="number">
      {isClock ? clockTime(ms, zone.value) : withZone(exact)}
    </time>
  )
}

const withZone = (text: string) => (zone.value === 'utc' ? `${text} UTC` : text)
const iso = (ms: number) => (Number.isFinite(ms) ? new Date(ms).toISOString() : '')
