/** The bars of a sparkline as the paths of an SVG: successes at the bottom, failures on top of them. Pure. */

export const SPARK_HEIGHT = 24
/** Width of a bar with its gap. */
export const SPARK_BAR = 4
/** Height of the smallest bar. */
const MIN_HEIGHT = 2
/** Height of the line where nothing was sent. */
const NONE_HEIGHT = 1

const bar = (index: number, bottom: number, height: number): string =>
  height <= 0
    ? ''
    : `M${index * SPARK_BAR} ${round(bottom)}v${-round(height)}h${SPARK_BAR - 1}v${round(height)}z`

const round = (value: number) => Math.round(value * 10) / 10

/** Both lists have one count per bar. `none` has the bars without any. */
export function sparkPaths(
  ok: readonly number[],
  failed: readonly number[],
): { readonly ok: string; readonly failed: string; readonly none: string } {
  const totals = ok.map((count, index) => count + (failed[index] ?? 0))
  const most = Math.max(1, ...totals)
  const paths = { ok: '', failed: '', none: '' }
  for (const [index, total] of totals.entries()) {
    if (total === 0) {
      paths.none += bar(index, SPARK_HEIGHT, NONE_HEIGHT)
      continue
    }
    const whole = Math.max(MIN_HEIGHT, (total / most) * SPARK_HEIGHT)
    const good = ((ok[index] ?? 0) / total) * whole
    paths.ok += bar(index, SPARK_HEIGHT, good)
    paths.failed += bar(index, SPARK_HEIGHT - good, whole - good)
  }
  return paths
}
