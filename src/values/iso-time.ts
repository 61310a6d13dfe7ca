/** Year, month and day of a number of days since 1970-01-01 (Howard Hinnant, "chrono-compatible low-level date algorithms"). */
function civilFromDays(days: number): readonly [year: number, month: number, day: number] {
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
  return [yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day]
}

/**
 * Days since 1970-01-01 of a date in the Gregorian calendar, the inverse of `civilFromDays`; `undefined` for a date that
 * does not exist.
 */
export function daysFromCivil(year: number, month: number, day: number): number | undefined {
  const shiftedYear = month <= 2 ? year - 1 : year
  const era = Math.floor(shiftedYear / 400)
  const yearOfEra = shiftedYear - era * 400
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  const days = era * 146_097 + dayOfEra - 719_468
  const [foundYear, foundMonth, foundDay] = civilFromDays(days)
  return foundYear === year && foundMonth === month && foundDay === day ? days : undefined
}

const twoDigits = (n: number) => (n < 10 ? `0${n}` : String(n))

/**
 * Formats a time as ISO 8601 in UTC with milliseconds: `2014-07-31T12:00:00.000Z`.
 *
 * @param unixMs Unix ms, rounded down. Years outside 0 to 9999 have a sign and six digits, as in ECMAScript
 */
export function toIsoTime(unixMs: number): string {
  const ms = Math.floor(unixMs)
  const days = Math.floor(ms / 86_400_000)
  const [year, month, day] = civilFromDays(days)
  const rest = ms - days * 86_400_000
  const hours = Math.floor(rest / 3_600_000)
  const minutes = Math.floor(rest / 60_000) % 60
  const seconds = Math.floor(rest / 1000) % 60
  const digits = String(Math.abs(year)).padStart(year < 0 || year > 9999 ? 6 : 4, '0')
  const sign = year < 0 ? '-' : year > 9999 ? '+' : ''
  return `${sign}${digits}-${twoDigits(month)}-${twoDigits(day)}T${twoDigits(hours)}:${twoDigits(minutes)}:${twoDigits(seconds)}.${String(rest % 1000).padStart(3, '0')}Z`
}
