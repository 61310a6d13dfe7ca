/** Seconds from year 0 to 1970 in the Gregorian calendar: Erlang's `calendar` epoch, in which KAZOO writes times. */
const GREGORIAN_EPOCH_SECONDS = 62_167_219_200

/** Gregorian seconds of a moment in Unix milliseconds, rounded down. */
export function toGregorian(unixMs: number): number {
  return Math.floor(unixMs / 1000) + GREGORIAN_EPOCH_SECONDS
}

/** Unix milliseconds of the start of a Gregorian second. */
export function fromGregorian(seconds: number): number {
  return (seconds - GREGORIAN_EPOCH_SECONDS) * 1000
}
