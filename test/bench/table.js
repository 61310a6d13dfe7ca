/** Rows as people read them. */

const COLUMNS = ['row', 'what', 'baseline', 'median', 'spread', 'goal', 'floor', 'seen']

/** Units of rows that compare: more is better, or less is. */
const COMPARES = { ratio: '≥', '×': '≤' }

const digits = (unit, value) =>
  value.toFixed(unit in COMPARES || (unit === 'ms' && Math.abs(value) < 10) ? 2 : value < 100 ? 1 : 0)

function rates({ oursPerSecond, baselinePerSecond, oursCpuMicros, baselineCpuMicros }) {
  const rate = (number) => Math.round(number).toLocaleString('en')
  return (
    `${rate(oursPerSecond)} of ${rate(baselinePerSecond)}/s, ` +
    `CPU ${oursCpuMicros.toFixed(0)} against ${baselineCpuMicros.toFixed(0)} µs each`
  )
}

/** Why there is no figure. */
function missing({ row, store, leftOut, failed }) {
  const empty = Object.fromEntries(COLUMNS.map((name) => [name, '']))
  const what = failed === undefined ? `LEFT OUT on ${store}: ${leftOut}` : `FAILED on ${store}: ${failed}`
  return { ...empty, row, what: what.replaceAll(/\s+/g, ' ') }
}

function shown(row) {
  if (row.median === undefined) return missing(row)
  const { unit } = row
  const value = (number) => (unit in COMPARES ? digits(unit, number) : `${digits(unit, number)} ${unit}`)
  const bound = (number) => (number === undefined ? '' : `${COMPARES[unit] ?? '≤'} ${number}`)
  const besides = () => {
    if (row.seen !== undefined) return row.seen
    if (row.oursPerSecond !== undefined) return rates(row)
    return row.p50 === undefined ? '' : `p50 ${value(row.p50)}`
  }
  return {
    row: row.row,
    what: row.what,
    baseline: row.baseline,
    median: value(row.median),
    spread: `${digits(unit, row.min)} – ${digits(unit, row.max)}`,
    goal: bound(row.goal),
    floor: bound(row.floor),
    seen: besides(),
  }
}

/** Columns as wide as their widest text, but for what is no figure. */
export function printTable(rows) {
  const lines = [Object.fromEntries(COLUMNS.map((name) => [name, name])), ...rows.map(shown)]
  const measured = lines.filter(({ median }) => median !== '')
  const width = (name) => Math.max(...measured.map((line) => line[name].length))
  const widths = Object.fromEntries(COLUMNS.map((name) => [name, width(name)]))
  for (const line of lines) {
    console.log(
      COLUMNS.map((name) => line[name].padEnd(widths[name]))
        .join('  ')
        .trimEnd(),
    )
  }
}
