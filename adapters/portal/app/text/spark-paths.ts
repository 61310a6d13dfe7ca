/** The bars of a sparkline as the paths of an SVG: failures at the bottom, successes on top of them. Pure. */

export const SPARK_HEIGHT = 20
/** Width of a bar with its gap. */
export const SPARK_BAR = 4
/** Height of the smallest bar. */
const MIN_HEIGHT = 2

const bar = (index: number, bottom: number, height: number): string =>
  height <= 0
    ? ''
    : `M${index * SPARK_BAR} ${round(bottom)}v${-round(height)}h${SPARK_BAR - 1}v${round(height)}z`

const round = (value: number) => Math.round(value * 10) / 10

/** Both lists have one count per bar. */
export function sparkPaths(
  ok: readonly number[],
  failed: readonly number[],
): { readonly ok: string; readonly failed: string } {
  const totals = ok.map((count, index) => count + (failed[index] ?? 0))
  const most = Math.max(1, ...totals)
  const paths = { ok: '', failed: '' }
  for (const [index, total] of totals.entries()) {
    if (total === 0) continue
    const whole = Math.max(MIN_HEIGHT, (total / most) * SPARK_HEIGHT)
    const bad = ((failed[index] ?? 0) / total) * whole
    paths.failed += bar(index, SPARK_HEIGHT, bad)
    paths.ok += bar(index, SPARK_HEIGHT - bad, whole - bad)
  }
  return paths
}
