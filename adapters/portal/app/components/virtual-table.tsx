/**
 * A table of any length: only the visible rows are in the document. Below 640 px each row is a card. `j` and `k` move
 * between rows, Enter opens one.
 */
import { useComputed, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { registerKeys } from '../state/keyboard.js'
import { rangeWithPanel, scrollToShow, virtualRange } from '../text/virtual-range.js'

export interface Column<Row> {
  readonly label: string
  /** Width as a track of a CSS grid. */
  readonly width: string
  /** Digits of one width. */
  readonly isNumber?: boolean
  /** Less important than the others. */
  readonly isMuted?: boolean
  readonly cell: (row: Row) => ComponentChildren
}

/** What a row unfolds to. */
interface Panel<Row> {
  /** Name of the button that unfolds it. */
  readonly label: string
  readonly content: (row: Row) => ComponentChildren
}

export interface VirtualTableProps<Row> {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly idOf: (row: Row) => string
  /** The address that the first cell links to. */
  readonly hrefOf?: (row: Row) => string
  /** Height of a card below 640 px, in pixels. */
  readonly cardHeight: number
  /** Called when the last rows are near. */
  readonly onEnd?: () => void
  readonly onReplay?: (row: Row) => void
  /** What unfolds below a row; one row at a time. */
  readonly panel?: Panel<Row>
  /** Whether further rows exist, which are not loaded. */
  readonly isOpenEnded?: boolean
}

const ROW_HEIGHT = 44
/** Longer content scrolls. */
const PANEL_HEIGHT = 340
const NARROW = matchMedia('(max-width: 639px)')

export function VirtualTable<Row>(props: VirtualTableProps<Row>) {
  const { label, columns, rows, idOf, hrefOf, cardHeight, onEnd, onReplay, panel } = props
  const isOpenEnded = props.isOpenEnded ?? false
  const box = useRef<HTMLDivElement>(null)
  const scrollTop = useSignal(0)
  const viewport = useSignal(600)
  const isNarrow = useSignal(NARROW.matches)
  const selected = useSignal(-1)
  const hasMoved = useRef(false)
  const rowHeight = isNarrow.value ? cardHeight : ROW_HEIGHT
  // The state of the scroll as row numbers: scrolling by less than a row renders nothing.
  const firstRow = useComputed(() => Math.floor(scrollTop.value / (isNarrow.value ? cardHeight : ROW_HEIGHT)))
  const openId = useSignal<string | undefined>(undefined)
  const openIndex = openId.value === undefined ? -1 : rows.findIndex((row) => idOf(row) === openId.value)
  const top = firstRow.value * rowHeight
  const range =
    openIndex < 0
      ? virtualRange(top, viewport.value, rowHeight, rows.length)
      : rangeWithPanel(top, viewport.value, rowHeight, rows.length, {
          index: openIndex,
          height: PANEL_HEIGHT,
        })

  useLayoutEffect(() => {
    const element = box.current!
    const observer = new ResizeObserver(() => {
      viewport.value = element.clientHeight
    })
    observer.observe(element)
    const onChange = () => {
      isNarrow.value = NARROW.matches
    }
    NARROW.addEventListener('change', onChange)
    return () => {
      observer.disconnect()
      NARROW.removeEventListener('change', onChange)
    }
  }, [])

  // Not by the number of rows: a page may add none.
  useEffect(() => {
    if (range.end >= rows.length) onEnd?.()
  }, [range.end, rows])

  const state = useRef({ rows, rowHeight, onReplay, hrefOf })
  state.current = { rows, rowHeight, onReplay, hrefOf }
  useEffect(() => {
    const row = () => state.current.rows[selected.peek()]
    return registerKeys({
      move(by) {
        const last = state.current.rows.length - 1
        if (last < 0) return
        selected.value = Math.max(0, Math.min(last, selected.peek() + by))
        hasMoved.current = true
        const element = box.current!
        element.scrollTop = scrollToShow(
          selected.peek(),
          element.scrollTop,
          element.clientHeight,
          state.current.rowHeight,
        )
      },
      open() {
        const current = row()
        if (current && state.current.hrefOf) location.hash = state.current.hrefOf(current)
      },
      ...(onReplay && {
        replay() {
          const current = row()
          if (current) state.current.onReplay?.(current)
        },
      }),
    })
  }, [onReplay === undefined])

  useEffect(() => {
    if (!hasMoved.current) return
    const link = box.current!.querySelector<HTMLElement>(`[data-index="${selected.value}"] a`)
    if (!link) return
    hasMoved.current = false
    link.focus({ preventScroll: true })
  })

  const template = [...columns.map(({ width }) => width), ...(panel ? ['2.5rem'] : [])].join(' ')
  return (
    <div
      ref={box}
      class="table"
      role="table"
      aria-label={label}
      aria-rowcount={isOpenEnded ? -1 : rows.length + 1}
      tabIndex={0}
      onScroll={(event) => {
        scrollTop.value = event.currentTarget.scrollTop
      }}
    >
      <div role="rowgroup" class="head">
        <div role="row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
          {columns.map((column) => (
            <div role="columnheader" key={column.label}>
              {column.label}
            </div>
          ))}
          {panel && (
            <div role="columnheader">
              <span class="hidden">{panel.label}</span>
            </div>
          )}
        </div>
      </div>
      <div role="rowgroup" style={{ paddingTop: `${range.above}px`, paddingBottom: `${range.below}px` }}>
        {rows.slice(range.first, range.end).map((row, offset) => {
          const index = range.first + offset
          const id = idOf(row)
          const isOpen = panel !== undefined && id === openId.value
          const line = (
            <div
              role="row"
              key={id}
              aria-rowindex={index + 2}
              data-index={index}
              class={index === selected.value ? 'selected' : ''}
              style={{ gridTemplateColumns: isNarrow.value ? '' : template, height: `${rowHeight}px` }}
            >
              {columns.map((column, position) => (
                <div
                  role="cell"
                  key={column.label}
                  data-label={column.label}
                  class={column.isNumber ? 'number' : column.isMuted ? 'muted' : undefined}
                >
                  {position === 0 && hrefOf ? (
                    <a class="row-link" href={hrefOf(row)}>
                      {column.cell(row)}
                    </a>
                  ) : (
                    column.cell(row)
                  )}
                </div>
              ))}
              {panel && (
                <div role="cell">
                  <button
                    type="button"
                    class="quiet small"
                    aria-expanded={isOpen}
                    aria-label={panel.label}
                    onClick={() => {
                      openId.value = isOpen ? undefined : id
                    }}
                  >
                    {isOpen ? '▾' : '▸'}
                  </button>
                </div>
              )}
            </div>
          )
          return isOpen ? [line, <OpenRow key={`${id}/panel`} row={row} panel={panel} />] : line
        })}
      </div>
    </div>
  )
}

function OpenRow<Row>({ row, panel }: { readonly row: Row; readonly panel: Panel<Row> }) {
  return (
    <div role="row" class="panel-row" style={{ height: `${PANEL_HEIGHT}px` }}>
      <div role="cell" class="panel-cell" tabIndex={0}>
        {panel.content(row)}
      </div>
    </div>
  )
}
