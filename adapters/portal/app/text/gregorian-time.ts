/** Gregorian seconds, the unit of KAZOO's times: seconds since the year 0. No other file of the page knows them. Pure. */

/** Gregorian seconds of the Unix epoch. */
const UNIX_EPOCH = 62_167_219_200

export const fromGregorian = (seconds: number): number => (seconds - UNIX_EPOCH) * 1_000

export const toGregorian = (ms: number): number => Math.floor(ms / 1_000) + UNIX_EPOCH
