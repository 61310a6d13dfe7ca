/**
 * An ordered log: values with growing positions, appended at the end, removed anywhere (most often at the front),
 * iterated from any position in both directions.
 */
export interface PositionLog<T> {
  positions: number[]
  /** `undefined` marks a removed value. */
  values: (T | undefined)[]
  /** Index of the first value that is not removed. */
  start: number
  /** Number of values that are not removed. */
  size: number
}

/** Arrays up to this length are not compacted. */
const COMPACT_FROM = 32

export function createPositionLog<T>(): PositionLog<T> {
  return { positions: [], values: [], start: 0, size: 0 }
}

/** Appends a value; `position` must exceed all positions in the log. */
export function append<T>(log: PositionLog<T>, position: number, value: T): void {
  log.positions.push(position)
  log.values.push(value)
  log.size += 1
}

/**
 * Inserts a value wherever its position belongs, nearly always at the end. The caller has checked that the position is not
 * in the log (`valueAt`).
 */
export function insert<T>(log: PositionLog<T>, position: number, value: T): void {
  const { positions, values } = log
  const last = positions.length - 1
  if (last < 0 || positions[last]! < position) {
    append(log, position, value)
    return
  }
  const index = firstFrom(log, position)
  // The same position with its value removed, or a removed entry before it, is reused.
  if (positions[index] === position) values[index] = value
  else if (index > log.start && values[index - 1] === undefined) {
    positions[index - 1] = position
    values[index - 1] = value
  } else {
    positions.splice(index, 0, position)
    values.splice(index, 0, value)
  }
  log.size += 1
}

/** The position of the oldest value; `undefined` if the log is empty. */
export function oldest<T>(log: PositionLog<T>): number | undefined {
  return log.size === 0 ? undefined : log.positions[log.start]
}

/** The value at this position, if any. */
export function valueAt<T>(log: PositionLog<T>, position: number): T | undefined {
  const last = log.positions.length - 1
  // The newest value, or one that is about to be appended.
  if (last < 0 || position >= log.positions[last]!) {
    return position === log.positions[last] ? log.values[last] : undefined
  }
  const index = log.positions[log.start] === position ? log.start : firstFrom(log, position)
  return log.positions[index] === position ? log.values[index] : undefined
}

/** Removes and returns the value at this position, if any. */
export function removeAt<T>(log: PositionLog<T>, position: number): T | undefined {
  const index = log.positions[log.start] === position ? log.start : firstFrom(log, position)
  const value = log.positions[index] === position ? log.values[index] : undefined
  if (value === undefined) return undefined
  log.values[index] = undefined
  log.size -= 1
  while (log.start < log.values.length && log.values[log.start] === undefined) log.start += 1
  if (log.values.length > COMPACT_FROM && log.size < log.values.length / 2) compact(log)
  return value
}

/**
 * Iterates from the newest to the oldest value, or the other way round.
 *
 * @param cursor start after this position, in the direction of iteration
 */
export function* walk<T>(
  log: PositionLog<T>,
  ascending: boolean,
  cursor?: number,
): Generator<readonly [position: number, value: T], undefined> {
  const { positions, values } = log
  let index = ascending ? log.start : values.length - 1
  if (cursor !== undefined) {
    index = ascending ? firstFrom(log, cursor + 1) : firstFrom(log, cursor) - 1
  }
  for (; index >= log.start && index < values.length; index += ascending ? 1 : -1) {
    const value = values[index]
    if (value !== undefined) yield [positions[index]!, value]
  }
}

/** The position of the `count`th entry behind a position, removed ones included; `undefined`: there are fewer. */
export function nthFrom<T>(
  log: PositionLog<T>,
  ascending: boolean,
  position: number,
  count: number,
): number | undefined {
  const index = ascending ? firstFrom(log, position + 1) + count - 1 : firstFrom(log, position) - count
  return index < log.start ? undefined : log.positions[index]
}

/** Index of the first entry at or after this position (binary search). */
function firstFrom<T>(log: PositionLog<T>, position: number): number {
  let low = log.start
  let high = log.positions.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (log.positions[middle]! < position) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * Drops removed entries. Runs when they are more than half: O(1) amortised per removal. A walk in progress keeps the arrays that
 * it began with. Most logs lose their oldest entries, and copying the rest takes a fifth of the time that appending it takes.
 */
function compact<T>(log: PositionLog<T>): void {
  const positions = log.positions.slice(log.start)
  const values = log.values.slice(log.start)
  if (log.size < values.length) {
    let kept = 0
    for (let index = 0; index < values.length; index += 1) {
      if (values[index] === undefined) continue
      positions[kept] = positions[index]!
      values[kept] = values[index]
      kept += 1
    }
    positions.length = values.length = kept
  }
  log.positions = positions
  log.values = values
  log.start = 0
}
