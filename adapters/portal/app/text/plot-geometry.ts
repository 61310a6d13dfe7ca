/** Where the lines and ticks of a plot are. Pure. */
import { exactTime, type Zone } from './times.js'

export interface PlotBox {
  /** Pixels of the whole plot. */
  readonly width: number
  readonly height: number
  /** Pixels between the edge and the lines. */
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

interface Tick {
  readonly at: number
  readonly label: string
}

/** Maps a value of an axis to pixels. */
type Scale = (value: number) => number

export function linearScale(from: number, to: number, start: number, end: number): Scale {
  const span = to - from || 1
  return (value) => round(start + ((value - from) / span) * (end - start))
}

const round = (pixels: number) => Math.round(pixels * 10) / 10

/** Around the point where the path is. */
const CIRCLE = 'm-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0'

/** The path of a line, with gaps where values are missing. A value between two gaps is a circle of 3 pixels. */
export function linePath(
  times: readonly number[],
  values: readonly (number | null)[],
  x: Scale,
  y: Scale,
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
    path += `${isInLine ? 'L' : 'M'}${x(time)} ${y(value)}${isAlone ? CIRCLE : ''}`
    isInLine = true
  })
  return path
}

/** The upper end of an axis that begins at 0: 1, 2 or 5 times a power of ten, so that its ticks are round. */
export function niceMaximum(most: number): number {
  if (!(most > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(most))
  const factor = [1, 2, 5, 10].find((multiple) => multiple * power >= most) ?? 10
  return factor * power
}

/** Ticks of the values: both ends and the quarters between. */
export function valueTicks(
  from: number,
  to: number,
  y: Scale,
  format: (value: number) => string,
): readonly Tick[] {
  return [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const value = from + (to - from) * part
    return { at: y(value), label: format(value) }
  })
}

/** Steps between ticks of the time, in seconds. */
const STEPS = [300, 600, 900, 3_600, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800]
const DAY = 86_400
/** Least distance between two ticks in pixels. */
const TICK_PIXELS = 70

/** Ticks at round times of the zone: hours of a day, or days. */
export function timeTicks(from: number, to: number, x: Scale, zone: Zone): readonly Tick[] {
  const pixels = Math.abs(x(to) - x(from))
  const most = Math.max(1, Math.floor(pixels / TICK_PIXELS))
  const step = STEPS.find((step) => (to - from) / step <= most) ?? STEPS.at(-1)!
  const shift = zone === 'utc' ? 0 : new Date(from * 1_000).getTimezoneOffset() * 60
  const ticks: Tick[] = []
  for (let time = Math.ceil((from - shift) / step) * step + shift; time <= to; time += step) {
    const text = exactTime(time * 1_000, zone)
    ticks.push({ at: x(time), label: step >= DAY ? text.slice(5, 10) : text.slice(11, 16) })
  }
  return ticks
}

/** Index of the time that is nearest to a position; -1 of nothing. */
export function nearestIndex(times: readonly number[], position: number, x: Scale): number {
  let nearest = -1
  let least = Number.POSITIVE_INFINITY
  times.forEach((time, index) => {
    const distance = Math.abs(x(time) - position)
    if (distance < least) {
      least = distance
      nearest = index
    }
  })
  return nearest
}
