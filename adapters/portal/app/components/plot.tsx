/** A plot over time as SVG, so that its colours are those of the page, with its numbers as a table. */
import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { zone } from '../state/preferences.js'
import { t } from '../state/translate.js'
import {
  linearScale,
  linePath,
  nearestIndex,
  niceMaximum,
  type PlotBox,
  timeTicks,
  valueTicks,
} from '../text/plot-geometry.js'
import { exactTime } from '../text/times.js'

interface PlotSeries {
  readonly label: string
  /** Name of the CSS variable with the colour. */
  readonly color: string
  readonly values: readonly (number | null)[]
  /** Lengths of dashes and gaps: lines differ by more than their colour. */
  readonly dash?: string
}

interface PlotProps {
  readonly title: string
  /** Unix seconds. */
  readonly times: readonly number[]
  readonly series: readonly PlotSeries[]
  readonly format: (value: number) => string
  /** Upper end of the values. Default: by the values. */
  readonly maximum?: number
}

const HEIGHT = 190
const MARGINS = { left: 64, right: 14, top: 8, bottom: 22 }

export function Plot(props: PlotProps) {
  const { title, times, series, format } = props
  const pointed = useSignal(-1)
  const index = pointed.value
  const time = times[index]
  return (
    <figure class="plot">
      <figcaption>{title}</figcaption>
      <Lines {...props} pointed={index} onPoint={(next) => (pointed.value = next)} />
      <p class="legend">
        {series.map(({ label, color, dash, values }) => (
          <span key={label}>
            <svg width="22" height="8" aria-hidden="true">
              <path d="M0 4H22" style={{ stroke: `var(${color})` }} stroke-dasharray={dash} />
            </svg>{' '}
            {label} {index >= 0 && (values[index] == null ? '–' : format(values[index]))}
          </span>
        ))}
        {time !== undefined && <span class="muted">{minute(time)}</span>}
      </p>
      <details>
        <summary>{t('plot.table', { title })}</summary>
        <div class="scroll" tabIndex={0} role="region" aria-label={title}>
          <Numbers {...props} />
        </div>
      </details>
    </figure>
  )
}

const minute = (seconds: number) => exactTime(seconds * 1_000, zone.value).slice(0, 16)

interface LinesProps extends PlotProps {
  readonly pointed: number
  readonly onPoint: (index: number) => void
}

function Lines({ title, times, series, format, maximum, pointed, onPoint }: LinesProps) {
  const frame = useRef<SVGSVGElement>(null)
  const width = useSignal(600)
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      if (entry) width.value = Math.round(entry.contentRect.width)
    })
    observer.observe(frame.current!)
    return () => observer.disconnect()
  }, [])
  const box: PlotBox = { width: width.value, height: HEIGHT, ...MARGINS }
  const from = times[0] ?? 0
  const to = times.at(-1) ?? 1
  const most =
    maximum ?? niceMaximum(Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0))))
  const x = linearScale(from, to, box.left, box.width - box.right)
  const y = linearScale(0, most, box.height - box.bottom, box.top)
  const time = times[pointed]
  return (
    <svg
      ref={frame}
      class="lines"
      height={HEIGHT}
      role="img"
      aria-label={title}
      onPointerMove={(event) => {
        const left = frame.current!.getBoundingClientRect().left
        onPoint(nearestIndex(times, event.clientX - left, x))
      }}
      onPointerLeave={() => onPoint(-1)}
    >
      {valueTicks(0, most, y, format).map(({ at, label }) => (
        <g key={at}>
          <path class="grid" d={`M${box.left} ${at}H${box.width - box.right}`} />
          <text x={box.left - 6} y={at + 4} text-anchor="end">
            {label}
          </text>
        </g>
      ))}
      {timeTicks(from, to, x, zone.value).map(({ at, label }) => (
        <text key={at} x={at} y={box.height - 5} text-anchor="middle">
          {label}
        </text>
      ))}
      {series.map(({ label, color, dash, values }) => (
        <path
          key={label}
          class="line"
          d={linePath(times, values, x, y)}
          style={{ stroke: `var(${color})` }}
          stroke-dasharray={dash}
        />
      ))}
      {time !== undefined && <path class="pointer" d={`M${x(time)} ${box.top}V${box.height - box.bottom}`} />}
    </svg>
  )
}

function Numbers({ times, series, format }: PlotProps) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">{t('column.time')}</th>
          {series.map(({ label }) => (
            <th scope="col" key={label}>
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {times.map((seconds, index) =>
          series.every(({ values }) => values[index] == null) ? null : (
            <tr key={seconds}>
              <td class="number">{minute(seconds)}</td>
              {series.map(({ label, values }) => (
                <td class="number" key={label}>
                  {values[index] == null ? '–' : format(values[index])}
                </td>
              ))}
            </tr>
          ),
        )}
      </tbody>
    </table>
  )
}
