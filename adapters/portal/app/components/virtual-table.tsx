/**
 * A table of any length, which scrolls with the page: only the visible rows are in the document. Below 720 px each row is a
 * card. `j` and `k` move between rows, Enter opens one.
 */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { registerKeys } from '../state/keyboard.js'
import { isNarrow } from '../state/layout.js'
import { currentLanguage } from '../state/translate.js'
import { resizeRows, rowAt, rowEdges, scrollToShow, virtualRange } from '../text/virtual-range.js'

export interface Column<Row> {
  readonly label: string
  /** Share of the width, as a length at 1232 px: `12rem`. The columns fill the table in these proportions. */
  readonly width: string
  /** A second line, outside the link of the row. */
  readonly sub?: (row: Row) => ComponentChildren
  /** Classes of the cells, which also place them on a card: `lead`, `how`, `full`, `last`, `act`, `num`, `ms`, `nowrap`. */
  readonly class?: string
  /** Before the value on a card: its name in small. */
  readonly cardLabel?: string
  /** The head is read by screen readers only. */
  readonly isHeadHidden?: boolean
  readonly cell: (row: Row) => ComponentChildren
}

export interface VirtualTableProps<Row> {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly idOf: (row: Row) => string
  /** The address that the first cell links to; `undefined`: the row leads nowhere. */
  readonly hrefOf?: (row: Row) => string | undefined
  /** Height of a row in pixels: list 56, operator 48, activity 40, live 34. Default 40 */
  readonly rowHeight?: number
  /** Expected height of a card below 720 px, in pixels; cards may be higher or lower. */
  readonly cardHeight: number
  /** The text above a row that begins a group, such as a day; `undefined`: the row belongs to the group of the previous one. */
  readonly headOf?: (row: Row, previous: Row | undefined) => string | undefined
  /** Class of a row: `here`, `fresh`. */
  readonly classOf?: (row: Row) => string | undefined
  /** Called when the last rows are near. */
  readonly onEnd?: () => void
  readonly onReplay?: (row: Row) => void
  /** Whether other rows are being loaded, which will replace these. */
  readonly isBusy?: boolean
  /** Whether further rows exist, which are not loaded. */
  readonly isOpenEnded?: boolean
  /** Below the rows. */
  readonly foot?: ComponentChildren
}

const HEAD_HEIGHT = 30
/** A list of at most so many rows is in the document whole, so that the browser can search and print it. */
const WHOLE = 40
/** The shares of columns whose width is not a length. */
const DEFAULT_SHARE = 12

export function VirtualTable<Row>(props: VirtualTableProps<Row>) {
  const { label, columns, rows, idOf, hrefOf, cardHeight, headOf, onEnd, onReplay, foot } = props
  const { rowHeight = 40, isOpenEnded = false, isBusy = false } = props
  const body = useRef<HTMLTableSectionElement>(null)
  /** Id of the row that the keys have chosen: rows move when others arrive. */
  const selected = useSignal<string | undefined>(undefined)
  const hasMoved = useRef(false)
  /** Height of a row with the user's size of text. */
  const height = useSignal(rowHeight * textScale())
  /** Heights of rows that differ, by id; emptied when the layout changes. */
  const measured = useRef(new Map<string, number>())
  const measures = useSignal(0)
  /** The rows that the window shows: scrolling by less than a row renders nothing. */
  const visible = useSignal({ first: 0, end: 0 })

  const expected = isNarrow.value ? cardHeight : height.value
  const heads = useMemo(
    () => headOf && rows.map((row, index) => headOf(row, rows[index - 1])),
    [rows, headOf === undefined],
  )
  const expectedOf = (index: number) => expected + (heads?.[index] === undefined ? 0 : HEAD_HEIGHT)
  const edges = useMemo(
    () =>
      rowEdges(rows.length, (index) =>
        measured.current.size === 0
          ? expectedOf(index)
          : (measured.current.get(idOf(rows[index]!)) ?? expectedOf(index)),
      ),
    [rows, heads, expected],
  )

  const state = useRef({ rows, edges, idOf, onReplay, hrefOf })
  state.current = { rows, edges, idOf, onReplay, hrefOf }
  const indexOfSelected = () => {
    const { rows: all, idOf: id } = state.current
    return selected.peek() === undefined ? -1 : all.findIndex((row) => id(row) === selected.peek())
  }
  const look = () => {
    const { first, end } = virtualRange(
      state.current.edges,
      -body.current!.getBoundingClientRect().top,
      innerHeight,
    )
    const { first: shownFirst, end: shownEnd } = visible.peek()
    if (first !== shownFirst || end !== shownEnd) visible.value = { first, end }
  }
  // Read, so that the table is rendered again with the heights as they turned out.
  void measures.value
  const isWhole = rows.length <= WHOLE
  const first = isWhole ? 0 : Math.min(visible.value.first, rows.length - 1)
  const end = isWhole ? rows.length : Math.min(visible.value.end, rows.length)

  useLayoutEffect(() => {
    const onWidth = () => {
      measured.current.clear()
      height.value = rowHeight * textScale()
      measures.value += 1
    }
    addEventListener('scroll', look, { passive: true })
    addEventListener('resize', onWidth)
    return () => {
      removeEventListener('scroll', look)
      removeEventListener('resize', onWidth)
    }
  }, [])

  useLayoutEffect(() => {
    look()
    const parts = body.current!.querySelectorAll<HTMLElement>('[data-index]')
    const heights = new Map<number, number>()
    for (const part of parts) {
      const index = Number(part.dataset.index)
      heights.set(index, (heights.get(index) ?? 0) + heightOf(part))
    }
    for (const [index, actual] of heights) {
      if (Math.abs(actual - (edges[index + 1]! - edges[index]!)) < 0.25) heights.delete(index)
      else measured.current.set(idOf(rows[index]!), actual)
    }
    if (heights.size === 0) return
    resizeRows(edges, heights)
    measures.value += 1
  })

  // Not by the number of rows: a page may add none.
  useEffect(() => {
    if (end >= rows.length) onEnd?.()
  }, [end, rows])

  useEffect(() => {
    const row = () => state.current.rows[indexOfSelected()]
    return registerKeys({
      move(by) {
        const last = state.current.rows.length - 1
        if (last < 0) return
        const current = indexOfSelected()
        const start = current < 0 && by > 0 ? firstVisible() : current + by
        const next = Math.max(0, Math.min(last, start))
        selected.value = state.current.idOf(state.current.rows[next]!)
        hasMoved.current = true
        const top = coveredHeight() - body.current!.getBoundingClientRect().top
        scrollBy(0, scrollToShow(state.current.edges, next, top, innerHeight - coveredHeight()))
      },
      open() {
        const current = row()
        const href = current && state.current.hrefOf?.(current)
        if (href !== undefined) location.hash = href
      },
      ...(onReplay && {
        replay() {
          const current = row()
          if (current) state.current.onReplay?.(current)
        },
      }),
    })
  }, [onReplay === undefined])

  const firstVisible = () => {
    const top = coveredHeight() - body.current!.getBoundingClientRect().top
    return top <= 0 ? 0 : rowAt(state.current.edges, top)
  }
  const coveredHeight = () =>
    (isNarrow.peek() ? 0 : document.querySelector<HTMLElement>('.top')!.offsetHeight) +
    (headOf ? HEAD_HEIGHT : 0)

  useEffect(() => {
    if (!hasMoved.current) return
    const link = body.current!.querySelector<HTMLElement>(`tr[data-index="${indexOfSelected()}"]:not(.day) a`)
    if (!link) return
    hasMoved.current = false
    link.focus({ preventScroll: true })
  })

  const shares = columns.map(({ width }) => Number.parseFloat(width) || DEFAULT_SHARE)
  const total = shares.reduce((sum, share) => sum + share, 0)
  const head = (text: string, key: string, index?: number) => (
    <tr role="row" class="day" key={key} data-index={index}>
      <td role="cell" colSpan={shares.length}>
        {text}
      </td>
    </tr>
  )
  // The head of the group stays at the upper edge although its row is not in the document.
  const group = heads && headBefore(heads, first)
  return (
    <div class="panel">
      <table
        class="grid fixed"
        role="table"
        aria-label={label}
        aria-busy={isBusy || undefined}
        style={{ '--row': `${rowHeight / 16}rem` }}
        aria-rowcount={isOpenEnded ? -1 : rows.length + 1}
      >
        <colgroup>
          {shares.map((share, index) => (
            <col key={index} width={`${(share / total) * 100}%`} />
          ))}
        </colgroup>
        <thead role="rowgroup">
          <tr role="row" aria-rowindex={1}>
            {columns.map((column) => (
              <th
                role="columnheader"
                scope="col"
                key={column.label}
                class={isNumber(column) ? 'num' : undefined}
              >
                {column.isHeadHidden ? <span class="hidden">{column.label}</span> : column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body} role="rowgroup">
          <Space height={edges[first]! - (group === undefined ? 0 : HEAD_HEIGHT)} />
          {group !== undefined && head(group, 'group')}
          {rows.slice(first, end).map((row, offset) => {
            const index = first + offset
            const id = idOf(row)
            const headText = heads?.[index]
            return [
              headText !== undefined && head(headText, `${id}/head`, index),
              <Line
                key={id}
                row={row}
                index={index}
                columns={columns}
                href={hrefOf?.(row)}
                class={`plain ${id === selected.value ? 'here' : (props.classOf?.(row) ?? '')}`}
              />,
            ]
          })}
          <Space height={edges[rows.length]! - edges[end]!} />
        </tbody>
      </table>
      {foot !== undefined && <div class="foot">{foot}</div>}
    </div>
  )
}

interface LineProps<Row> {
  readonly row: Row
  readonly index: number
  readonly columns: readonly Column<Row>[]
  readonly href: string | undefined
  readonly class: string
}

/** A row. It is rendered again only when its properties or the signals that it reads change: not when others come or go. */
function Line<Row>({ row, index, columns, href, class: name }: LineProps<Row>) {
  // What reads no signal is rendered with its parent.
  void currentLanguage()
  // Rows that are laid out as cards are no rows for a browser; those of a table are. Each attribute less scrolls faster.
  const isCard = isNarrow.value
  return (
    <tr role={isCard ? 'row' : undefined} aria-rowindex={index + 2} data-index={index} class={name}>
      {columns.map((column, position) => (
        <td
          role={isCard ? 'cell' : undefined}
          key={column.label}
          class={column.class}
          data-l={isCard ? column.cardLabel : undefined}
        >
          {position === 0 && href !== undefined ? (
            <a class="open" href={href}>
              {column.cell(row)}
            </a>
          ) : (
            column.cell(row)
          )}
          {column.sub && <span class="sub cut">{column.sub(row)}</span>}
        </td>
      ))}
    </tr>
  )
}

const isNumber = (column: Column<never>) => column.class?.split(' ').includes('num') ?? false

/** The head of the group to which a row belongs that has none itself. */
function headBefore(heads: readonly (string | undefined)[], index: number): string | undefined {
  if (heads[index] !== undefined) return undefined
  let before = index - 1
  while (before >= 0 && heads[before] === undefined) before -= 1
  return heads[before]
}

/** The user's size of text, relative to that of most browsers. */
const textScale = () => Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / 16

const heightOf = (element: HTMLElement) => element.getBoundingClientRect().height

/** The rows that are not in the document. */
function Space({ height }: { readonly height: number }) {
  if (height <= 0) return null
  return (
    <tr class="space" role="presentation">
      <td role="presentation" style={{ height: `${height}px` }} />
    </tr>
  )
}
