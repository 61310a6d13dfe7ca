/** Seconds from year 0 to 1970 in the Gregorian calendar: the offset of Erlang's `calendar` epoch, which KAZOO uses. */
const GREGORIAN_EPOCH_SECONDS = 62_167_219_200

/** Converts Unix milliseconds to Gregorian seconds, rounded down. */
export function toGregorian(unixMs: number): number {
  return Math.floor(unixMs / 1000) + GREGORIAN_EPOCH_SECONDS
}

/** Converts Gregorian seconds to Unix milliseconds. */
export function fromGregorian(seconds: number): number {
  return (seconds - GREGORIAN_EPOCH_SECONDS) * 1000
}
