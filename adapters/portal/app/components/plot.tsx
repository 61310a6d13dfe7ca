/** A plot over time as SVG, which is stretched to the width of the page; its texts are beside it, so they keep their size. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { nowMs } from '../state/clock.js'
import { zone } from '../state/preferences.js'
import { currentLanguage, t } from '../state/translate.js'
import { linearScale, niceMaximum, PLOT_HEIGHT, PLOT_WIDTH, timeTicks } from '../text/plot-geometry.js'
import { shortDate } from '../text/times.js'
import { Button } from './button.js'
import { dayTimeText, zoneText } from './time.js'

type Scale = (value: number) => number

/** A range and a moment that plots mark. */
export interface PlotMarks {
  readonly fromMs: number
  readonly toMs: number
  /** Begin of the pause that lasts. */
  readonly pausedMs?: number | undefined
  /** The first failure. */
  readonly failingMs?: number | undefined
}

/** One row of the table. */
interface PlotRow {
  readonly ms: number
  readonly values: readonly string[]
}

interface PlotProps {
  readonly title: string
  /** Beside the title: what the drawing shows. */
  readonly keys: ComponentChildren
  readonly marks: PlotMarks
  /** Most ticks of the time. Default: 9, for the whole width */
  readonly mostTicks?: number
  /** The highest value. */
  readonly highest: number
  /** Writes a value of the axis. */
  readonly format: (value: number) => string
  /** What the drawing says, in one sentence. */
  readonly label: string
  readonly columns: readonly string[]
  readonly rows: readonly PlotRow[]
  /** Draws the values; gets the scales of both axes. */
  readonly children: (x: Scale, y: Scale) => ComponentChildren
}

export function Plot({
  title,
  keys,
  mostTicks = 9,
  marks,
  highest,
  format,
  label,
  columns,
  rows,
  children,
}: PlotProps) {
  const isTable = useSignal(false)
  const id = useId()
  const { fromMs, toMs, pausedMs, failingMs } = marks
  const maximum = niceMaximum(highest)
  const x = linearScale(fromMs, toMs, 0, PLOT_WIDTH)
  const y = linearScale(0, maximum, PLOT_HEIGHT, 0)
  const isWithin = (ms: number | undefined): ms is number => ms !== undefined && ms >= fromMs && ms <= toMs
  const pausedX = pausedMs === undefined ? undefined : x(Math.max(pausedMs, fromMs))
  return (
    <section class="panel" aria-labelledby={id}>
      <header>
        <h3 id={id}>{title}</h3>
        {keys}
        <span class="push">
          <Button
            kind="quiet"
            size="tiny"
            isPressed={isTable.value}
            onClick={() => {
              isTable.value = !isTable.value
            }}
          >
            {t('plot.asTable')}
          </Button>
        </span>
      </header>
      {isTable.value ? (
        <Numbers {...{ title, columns, rows }} />
      ) : (
        <div class="plot">
          <div class="y" aria-hidden="true">
            {[maximum, maximum / 2, 0].map((value) => (
              <span key={value}>{format(value)}</span>
            ))}
          </div>
          <svg
            viewBox={`0 0 ${PLOT_WIDTH} ${PLOT_HEIGHT}`}
            preserveAspectRatio="none"
            role="img"
            aria-label={label}
          >
            {pausedX !== undefined && (
              <rect class="pausing" x={pausedX} y="0" width={PLOT_WIDTH - pausedX} height={PLOT_HEIGHT} />
            )}
            {[0.5, PLOT_HEIGHT / 2, PLOT_HEIGHT].map((at) => (
              <line key={at} class="rule" x1="0" x2={PLOT_WIDTH} y1={at} y2={at} />
            ))}
            {children(x, y)}
            {isWithin(failingMs) && (
              <line class="since" x1={x(failingMs)} x2={x(failingMs)} y1="0" y2={PLOT_HEIGHT} />
            )}
          </svg>
          <Ticks {...{ fromMs, toMs, mostTicks }} />
        </div>
      )}
    </section>
  )
}

/** Up to which part of the width other labels leave room for the one at the end: on wide pages, and on narrow ones. */
const LAST_PART = 0.9
const LAST_NARROW_PART = 0.8

interface TicksProps {
  readonly fromMs: number
  readonly toMs: number
  readonly mostTicks: number
}

function Ticks({ fromMs, toMs, mostTicks }: TicksProps) {
  const dayText = (ms: number) => shortDate(ms, nowMs.value, zone.value, currentLanguage())
  const partOf = (ms: number) => (ms - fromMs) / (toMs - fromMs)
  const ticks = timeTicks(fromMs, toMs, mostTicks, zone.value, dayText).filter(
    ({ ms }) => partOf(ms) < LAST_PART,
  )
  return (
    <svg class="ticks" aria-hidden="true">
      {ticks.map(({ ms, label }, index) => (
        <text
          key={ms}
          // Narrow pages have room for every second one.
          class={index % 2 === 1 || partOf(ms) > LAST_NARROW_PART ? 'wide-only' : undefined}
          x={`${(partOf(ms) * 100).toFixed(2)}%`}
          y="12"
          text-anchor={partOf(ms) < 0.06 ? 'start' : 'middle'}
        >
          {label}
        </text>
      ))}
      <text x="100%" y="12" text-anchor="end">
        {t('plot.now')}
      </text>
    </svg>
  )
}

function Numbers({ title, columns, rows }: Pick<PlotProps, 'title' | 'columns' | 'rows'>) {
  return (
    <div class="numbers" tabIndex={0} role="region" aria-label={`${title}, ${t('plot.asTable')}`}>
      <table class="grid">
        <thead>
          <tr>
            <th scope="col">
              {t('column.time')} · {zoneText()}
            </th>
            {columns.map((name) => (
              <th scope="col" class="num" key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ ms, values }) => (
            <tr key={ms}>
              <td class="lead">{dayTimeText(ms)}</td>
              {values.map((value, index) => (
                <td class="num" data-l={columns[index]} key={columns[index]}>
                  {value}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface PlotKeyProps {
  readonly children: ComponentChildren
  readonly look: 'ok' | 'bad' | 'pausing' | 'since' | 'half' | 'most'
}

/** What a colour or a line of the drawing means. */
export function PlotKey({ look, children }: PlotKeyProps) {
  return (
    <span class={look === 'since' ? 'key is-bad' : look === 'most' ? 'key is-warn' : 'key'}>
      <svg viewBox="0 0 14 10" aria-hidden="true">
        {look === 'ok' && <rect class="bars-ok" width="14" height="10" />}
        {look === 'bad' && <rect class="bars-bad" width="14" height="10" />}
        {look === 'pausing' && <rect class="pausing" x=".5" y=".5" width="13" height="9" />}
        {look === 'since' && <path stroke="currentColor" stroke-dasharray="2 2" d="M7 0v10" />}
        {look === 'half' && <path stroke="currentColor" d="M0 5h14" />}
        {look === 'most' && <path stroke="currentColor" stroke-dasharray="4 2" d="M0 5h14" />}
      </svg>
      {children}
    </span>
  )
}
