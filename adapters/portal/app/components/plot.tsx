/** A plot over time, with its numbers as a table. The library for plots is loaded with the first one. */
import { useEffect, useRef } from 'preact/hooks'
import { theme, zone } from '../state/preferences.js'
import { t } from '../state/translate.js'
import { exactTime } from '../text/times.js'

export interface PlotSeries {
  readonly label: string
  /** Name of the CSS variable with the colour. */
  readonly color: string
  readonly values: readonly (number | null)[]
  readonly dash?: readonly number[]
}

export interface PlotProps {
  readonly title: string
  /** Unix seconds. */
  readonly times: readonly number[]
  readonly series: readonly PlotSeries[]
  readonly format: (value: number) => string
  /** Fixed range of the values. */
  readonly range?: readonly [number, number]
}

export function Plot(props: PlotProps) {
  const { title, times, series, format } = props
  return (
    <figure class="plot">
      <figcaption>{title}</figcaption>
      <Canvas {...props} />
      <p class="legend" aria-hidden="true">
        {series.map(({ label, color, dash }) => (
          <span key={label} class={dash ? 'dashed' : ''} style={{ '--series': `var(${color})` }}>
            {label}
          </span>
        ))}
      </p>
      <details>
        <summary>{t('plot.table', { title })}</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
        <div class="scroll" tabIndex={0} role="region" aria-label={title}>
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
                    <td class="number">{exactTime(seconds * 1_000, zone.value).slice(0, 16)}</td>
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
        </div>
      </details>
    </figure>
  )
}

const HEIGHT = 180

function Canvas({ times, series, format, range, title }: PlotProps) {
  const box = useRef<HTMLDivElement>(null)
  const currentTheme = theme.value
  const currentZone = zone.value
  useEffect(() => {
    let isGone = false
    let destroy = () => {}
    void import('uplot').then(({ default: UPlot }) => {
      const element = box.current
      if (isGone || !element) return
      const style = getComputedStyle(element)
      const color = (name: string) => style.getPropertyValue(name).trim()
      const axis = { stroke: color('--muted'), grid: { stroke: color('--line'), width: 1 }, font: '11px system-ui' }
      const plot = new UPlot(
        {
          width: element.clientWidth,
          height: HEIGHT,
          legend: { show: false },
          cursor: { y: false },
          tzDate: (seconds) =>
            currentZone === 'utc' ? UPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC') : new Date(seconds * 1_000),
          scales: { y: range ? { range: [...range] } : { range: (_, __, most) => [0, Math.max(most * 1.1, 1)] } },
          axes: [axis, { ...axis, size: 64, values: (_, values) => values.map(format) }],
          series: [
            {},
            ...series.map(({ label, color: name, dash }) => ({
              label,
              stroke: color(name),
              width: 1.5,
              ...(dash && { dash: [...dash] }),
            })),
          ],
        },
        [[...times], ...series.map(({ values }) => [...values])],
        element,
      )
      const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }))
      observer.observe(element)
      destroy = () => {
        observer.disconnect()
        plot.destroy()
      }
    })
    return () => {
      isGone = true
      destroy()
    }
  }, [times, series, currentTheme, currentZone])
  return <div class="canvas" ref={box} role="img" aria-label={title} />
}
