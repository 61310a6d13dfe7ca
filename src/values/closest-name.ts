/** Suggests a registered name for a misspelt one. */

const MAX_DISTANCE = 2
/** A shorter common prefix is a coincidence. */
const MIN_PREFIX = 3
/** Longer inputs are not misspelt names; the limit bounds the time. */
const MAX_LENGTH = 64

/**
 * The candidate that `name` most likely stands for: the nearest one at most two edits away (and at most a third of the
 * name's length), else the first of which `name` is a prefix or which is a prefix of `name`. Ignores case.
 *
 * @returns `undefined` when no candidate is close
 */
export function closestName(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > MAX_LENGTH) return undefined
  const wanted = name.toLowerCase()
  let closest: string | undefined
  let smallest = Math.min(MAX_DISTANCE, Math.floor(name.length / 3)) + 1
  let withPrefix: string | undefined
  for (const candidate of candidates) {
    const text = candidate.toLowerCase()
    const distance = Math.abs(text.length - wanted.length) < smallest ? editDistance(wanted, text) : smallest
    if (distance < smallest) {
      smallest = distance
      closest = candidate
    }
    if (Math.min(text.length, wanted.length) < MIN_PREFIX) continue
    if (text.startsWith(wanted) || wanted.startsWith(text)) withPrefix ??= candidate
  }
  return closest ?? withPrefix
}

/**
 * What to append to a message about an unknown name: ` (did you mean 'uri'?)`, or nothing where no candidate is close.
 *
 * @param prefix written before the candidate
 */
export function suggestionOf(name: string, candidates: Iterable<string>, prefix = ''): string {
  const closest = closestName(name, candidates)
  return closest === undefined ? '' : ` (did you mean '${prefix}${closest}'?)`
}

/**
 * Damerau-Levenshtein distance in its restricted form (optimal string alignment): insertions, deletions, substitutions
 * and swaps of neighbours.
 */
export function editDistance(from: string, to: string): number {
  let beforePrevious: number[] = []
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const isSame = from[i - 1] === to[j - 1]
      let distance = Math.min(previous[j]! + 1, row[j - 1]! + 1, previous[j - 1]! + (isSame ? 0 : 1))
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]) {
        distance = Math.min(distance, beforePrevious[j - 2]! + 1)
      }
      row.push(distance)
    }
    beforePrevious = previous
    previous = row
  }
  return previous[to.length]!
}
