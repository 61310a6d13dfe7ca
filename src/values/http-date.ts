/** Parses the dates of HTTP headers (RFC 9110 5.6.7): the three forms that a recipient must accept, nothing else. */

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)'
const LONG_DAY = '(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)'
const MONTH = `(${MONTHS.join('|')})`
const TIME = '([0-2][0-9]):([0-5][0-9]):([0-5][0-9]|60)'

const IMF_FIXDATE = new RegExp(`^${DAY}, ([0-3][0-9]) ${MONTH} ([0-9]{4}) ${TIME} GMT$`)
const RFC850_DATE = new RegExp(`^${LONG_DAY}, ([0-3][0-9])-${MONTH}-([0-9]{2}) ${TIME} GMT$`)
const ASCTIME_DATE = new RegExp(`^${DAY} ${MONTH} ([ 0-3][0-9]) ${TIME} ([0-9]{4})$`)

/** Days from 1970-01-01 to a civil date (Howard Hinnant, "chrono-compatible low-level date algorithms"). */
function daysFromCivil(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year
  const era = Math.floor(shifted / 400)
  const yearOfEra = shifted - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}

function unixMs(year: number, month: string, day: string, time: readonly string[]): number | undefined {
  const number = MONTHS.indexOf(month) + 1
  const days = daysFromCivil(year, number, Number(day))
  const next = number === 12 ? daysFromCivil(year + 1, 1, 1) : daysFromCivil(year, number + 1, 1)
  const [hours, minutes, seconds] = time.map(Number) as [number, number, number]
  if (Number(day) < 1 || days >= next || hours > 23) return undefined
  return ((days * 24 + hours) * 60 + minutes) * 60_000 + seconds * 1000
}

/**
 * Parses an HTTP date to Unix milliseconds; `undefined` when it is invalid.
 *
 * @param nowMs determines the century of RFC 850's two-digit years: at most 50 years ahead
 */
export function parseHttpDate(text: string, nowMs: number): number | undefined {
  const imf = IMF_FIXDATE.exec(text)
  if (imf) return unixMs(Number(imf[3]), imf[2]!, imf[1]!, imf.slice(4, 7))
  const asctime = ASCTIME_DATE.exec(text)
  if (asctime) return unixMs(Number(asctime[6]), asctime[1]!, asctime[2]!, asctime.slice(3, 6))
  const rfc850 = RFC850_DATE.exec(text)
  if (!rfc850) return undefined
  const thisYear = 1970 + Math.floor(nowMs / 31_556_952_000)
  let year = Math.floor(thisYear / 100) * 100 + Number(rfc850[3])
  if (year > thisYear + 50) year -= 100
  return unixMs(year, rfc850[2]!, rfc850[1]!, rfc850.slice(4, 7))
}
