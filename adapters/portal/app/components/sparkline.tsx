/** Successes and failures of 24 hours as bars; the numbers are in its name. */
import { t } from '../state/translate.js'
import { sum } from '../text/health-series.js'

const HEIGHT = 20
const BAR = 4

export function Sparkline({
  ok,
  failed,
}: {
  readonly ok: readonly number[]
  readonly failed: readonly number[]
}) {
  const totals = ok.map((count, index) => count + (failed[index] ?? 0))
  const most = Math.max(1, ...totals)
  const label = t('spark.label', { ok: sum(ok), failed: sum(failed) })
  return (
    <svg class="spark" viewBox={`0 0 ${totals.length * BAR} ${HEIGHT}`} role="img" aria-label={label}>
      <title>{label}</title>
      {totals.map((total, index) => {
        const whole = total === 0 ? 0 : Math.max(2, (total / most) * HEIGHT)
        const bad = total === 0 ? 0 : ((failed[index] ?? 0) / total) * whole
        return (
          <g key={index}>
            <rect class="spark-ok" x={index * BAR} y={HEIGHT - whole} width={BAR - 1} height={whole - bad} />
            <rect class="spark-bad" x={index * BAR} y={HEIGHT - bad} width={BAR - 1} height={bad} />
          </g>
        )
      })}
    </svg>
  )
}
