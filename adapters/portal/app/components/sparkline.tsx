/** Successes and failures of 24 hours as bars; the numbers are in its name. Few elements, because a list has many. */
import { t } from '../state/translate.js'
import { sum } from '../text/health-series.js'
import { SPARK_BAR, SPARK_HEIGHT, sparkPaths } from '../text/spark-paths.js'

export function Sparkline({
  ok,
  failed,
}: {
  readonly ok: readonly number[]
  readonly failed: readonly number[]
}) {
  const label = t('spark.label', { ok: sum(ok), failed: sum(failed) })
  const paths = sparkPaths(ok, failed)
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${ok.length * SPARK_BAR} ${SPARK_HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {paths.none !== '' && <path class="bars-none" d={paths.none} />}
      {paths.ok !== '' && <path class="bars-ok" d={paths.ok} />}
      {paths.failed !== '' && <path class="bars-bad" d={paths.failed} />}
    </svg>
  )
}
