/** How many requests were sent in each of the last minutes, as bars and as a table. */
import { useSignal } from '@preact/signals'
import { nowMs } from '../state/clock.js'
import { number, t } from '../state/translate.js'
import { niceMaximum } from '../text/plot-geometry.js'
import { Panel } from './panel.js'
import { dayTimeText } from './time.js'

interface MinutePlotProps {
  readonly title: string
  /** By minute, the present one last. */
  readonly counts: readonly number[]
}

const STEP = 10
const BAR = 7.5
const HEIGHT = 150
const MINUTE_MS = 60_000

export function MinutePlot({ title, counts }: MinutePlotProps) {
  const isTable = useSignal(false)
  const most = niceMaximum(Math.max(0, ...counts))
  const timeOf = (index: number) => dayTimeText(nowMs.value - (counts.length - 1 - index) * MINUTE_MS)
  const quarters = [0, 1, 2, 3].map((quarter) => Math.round((quarter / 4) * (counts.length - 1)))
  const sum = counts.reduce((total, count) => total + count, 0)
  return (
    <Panel
      title={title}
      aside={
        <button
          type="button"
          class="link"
          aria-pressed={isTable.value}
          onClick={() => {
            isTable.value = !isTable.value
          }}
        >
          {t(isTable.value ? 'plot.asBars' : 'plot.asTable')}
        </button>
      }
    >
      {isTable.value ? (
        <div class="scroll" tabIndex={0} role="region" aria-label={title}>
          <table class="grid">
            <thead>
              <tr>
                <th scope="col">{t('column.time')}</th>
                <th scope="col" class="num">
                  {t('operator.rate')}
                </th>
              </tr>
            </thead>
            <tbody>
              {counts.map((count, index) => (
                <tr key={index}>
                  <td class="lead">{timeOf(index)}</td>
                  <td class="num">{number(count)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : (
        <div class="plot">
          <div class="y" aria-hidden="true">
            <span>{number(most)}</span>
            <span>{number(most / 2)}</span>
            <span>0</span>
          </div>
          <svg
            class="sparkbig"
            viewBox={`0 0 ${counts.length * STEP} ${HEIGHT}`}
            preserveAspectRatio="none"
            role="img"
            aria-label={t('operator.plotLabel', { count: sum })}
          >
            <path class="bars-ok" d={bars(counts, most)} />
          </svg>
          <div class="x" aria-hidden="true">
            {quarters.map((index) => (
              <span key={index}>{timeOf(index)}</span>
            ))}
            <span>{t('time.now')}</span>
          </div>
        </div>
      )}
    </Panel>
  )
}

function bars(counts: readonly number[], most: number): string {
  if (most === 0) return ''
  return counts
    .map((count, index) => {
      const height = Math.round((count / most) * HEIGHT * 100) / 100
      return count === 0 ? '' : `M${index * STEP} ${HEIGHT - height}h${BAR}v${height}h-${BAR}z`
    })
    .join('')
}
