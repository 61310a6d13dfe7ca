/** Where the bars, lines and ticks of a plot are. Pure. */
import { exactTime, type Zone } from './times.js'

/** Units of the drawing, which is stretched to the width of the page. */
export const PLOT_WIDTH = 640
export const PLOT_HEIGHT = 150

/** Maps a value of an axis to the drawing. */
type Scale = (value: number) => number

export function linearScale(from: number, to: number, start: number, end: number): Scale {
  const span = to - from || 1
  return (value) => round(start + ((value - from) / span) * (end - start))
}

const round = (units: number) => Math.round(units * 10) / 10

/**
 * The path of a line, with gaps where values are missing. A value between two gaps is a short line.
 *
 * @param width of that short line
 */
export function linePath(
  times: readonly number[],
  values: readonly (number | null)[],
  x: Scale,
  y: Scale,
  width: number,
): string {
  let path = ''
  let isInLine = false
  times.forEach((time, index) => {
    const value = values[index]
    if (value === null || value === undefined) {
      isInLine = false
      return
    }
    const isAlone = !isInLine && values[index + 1] == null
    path += isAlone
      ? `M${round(x(time) - width / 2)} ${y(value)}h${width}`
      : `${isInLine ? 'L' : 'M'}${x(time)} ${y(value)}`
    isInLine = true
  })
  return path
}

/** Counts of one slot. */
export interface Bar {
  /** Unix ms. */
  readonly fromMs: number
  readonly toMs: number
  readonly ok: number
  readonly failed: number
}

/** The part of a slot that its bar fills. */
const BAR_PART = 0.8
/** Least height of a bar that counts anything. */
const LEAST_HEIGHT = 2

/** The paths of bars: what was delivered at the bottom, what failed on top of it. */
export function barPaths(
  bars: readonly Bar[],
  x: Scale,
  y: Scale,
): { readonly ok: string; readonly failed: string } {
  let okPath = ''
  let failedPath = ''
  for (const { fromMs, toMs, ok, failed } of bars) {
    const width = x(toMs) - x(fromMs)
    const left = round(x(fromMs) + (width * (1 - BAR_PART)) / 2)
    const bar = (bottom: number, top: number) => {
      const height = round(Math.max(LEAST_HEIGHT, bottom - top))
      return `M${left} ${round(bottom - height)}h${round(width * BAR_PART)}v${height}h${round(-width * BAR_PART)}z`
    }
    if (ok > 0) okPath += bar(y(0), y(ok))
    if (failed > 0) failedPath += bar(y(ok), y(ok + failed))
  }
  return { ok: okPath, failed: failedPath }
}

/** The upper end of an axis that begins at 0: a round number whose half is round too, at least 2. */
export function niceMaximum(most: number): number {
  if (!(most > 2)) return 2
  const power = 10 ** Math.floor(Math.log10(most))
  const factors = power < 10 ? [2, 4, 6, 8] : [1, 1.2, 1.6, 2, 3, 4, 6, 8]
  return (factors.find((multiple) => multiple * power >= most) ?? 10) * power
}

/** Steps between ticks of the time, ms. */
const STEPS = [1, 5, 10, 15, 30, 60, 180, 360, 720, 1_440, 2_880, 7_200, 10_080].map(
  (minutes) => minutes * 60_000,
)
const DAY_MS = 86_400_000

interface Tick {
  readonly ms: number
  readonly label: string
}

/**
 * Ticks at round times of the zone: hours of a day, or days.
 *
 * @param most number of ticks
 * @param dayText `26 Nov`
 */
export function timeTicks(
  fromMs: number,
  toMs: number,
  most: number,
  zone: Zone,
  dayText: (ms: number) => string,
): readonly Tick[] {
  const step = STEPS.find((stepMs) => (toMs - fromMs) / stepMs <= most) ?? STEPS.at(-1)!
  const shift = zone === 'utc' ? 0 : new Date(fromMs).getTimezoneOffset() * 60_000
  const ticks: Tick[] = []
  for (let ms = Math.ceil((fromMs - shift) / step) * step + shift; ms <= toMs; ms += step) {
    ticks.push({ ms, label: step >= DAY_MS ? dayText(ms) : exactTime(ms, zone).slice(11, 16) })
  }
  return ticks
}
