/**
 * Values in the order of positions that only grow: appended at the end, removed anywhere (most often at the
 * front), walked from any position in both directions.
 */
export interface PositionLog<T> {
  positions: number[]
  /** `undefined`: removed. */
  values: (T | undefined)[]
  /** Everything before this index is removed. */
  start: number
  /** How many are there. */
  size: number
}

/** Below this length removed places are not worth collecting. */
const COMPACT_FROM = 32

export function positionLog<T>(): PositionLog<T> {
  return { positions: [], values: [], start: 0, size: 0 }
}

/** Adds a value behind all others. */
export function append<T>(log: PositionLog<T>, position: number, value: T): void {
  log.positions.push(position)
  log.values.push(value)
  log.size += 1
}

/** The position of the oldest value; `undefined` when there is none. */
export function oldest<T>(log: PositionLog<T>): number | undefined {
  return log.size === 0 ? undefined : log.positions[log.start]
}

/** The value at exactly this position. */
export function valueAt<T>(log: PositionLog<T>, position: number): T | undefined {
  const index = log.positions[log.start] === position ? log.start : firstFrom(log, position)
  return log.positions[index] === position ? log.values[index] : undefined
}

/** Removes and gives the value at this position. */
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
 * Walks from the newest to the oldest, or the other way round.
 *
 * @param cursor begin behind this position, in the direction of the walk
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

/** The index of the first place whose position is at least this. */
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

/** Half of the places are removed ones: worth one pass, which pays for as many removals. */
function compact<T>(log: PositionLog<T>): void {
  const positions: number[] = []
  const values: T[] = []
  for (let index = log.start; index < log.values.length; index += 1) {
    const value = log.values[index]
    if (value === undefined) continue
    positions.push(log.positions[index]!)
    values.push(value)
  }
  log.positions = positions
  log.values = values
  log.start = 0
}
