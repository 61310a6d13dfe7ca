/** Prints the rows as a table. */

const COLUMNS = ['row', 'measurement', 'baseline', 'median', 'spread', 'goal', 'floor', 'details']

/** Units of comparisons, with the direction of their goals: `≥` more is better, `≤` less is better. */
const COMPARISONS = { ratio: '≥', '/s': '≥', '×': '≤' }

const formatNumber = (unit, value) =>
  value.toFixed(unit in COMPARISONS || (unit === 'ms' && Math.abs(value) < 10) ? 2 : value < 100 ? 1 : 0)

function formatRates({ oursPerSecond, baselinePerSecond, oursCpuMicros, baselineCpuMicros }) {
  const rate = (number) => Math.round(number).toLocaleString('en')
  return (
    `${rate(oursPerSecond)} of ${rate(baselinePerSecond)}/s, ` +
    `CPU ${oursCpuMicros.toFixed(0)} vs. ${baselineCpuMicros.toFixed(0)} µs each`
  )
}

/** A row without figures: the reason why it was skipped or failed. */
function formatMissing({ row, store, skipped, failed }) {
  const empty = Object.fromEntries(COLUMNS.map((name) => [name, '']))
  const text = failed === undefined ? `SKIPPED on ${store}: ${skipped}` : `FAILED on ${store}: ${failed}`
  return { ...empty, row, measurement: text.replaceAll(/\s+/g, ' ') }
}

function formatRow(row) {
  if (row.median === undefined) return formatMissing(row)
  const { unit } = row
  const value = (number) =>
    unit in COMPARISONS ? formatNumber(unit, number) : `${formatNumber(unit, number)} ${unit}`
  const bound = (number) => (number === undefined ? '' : `${COMPARISONS[unit] ?? '≤'} ${number}`)
  const details = () => {
    if (row.details !== undefined) return row.details
    if (row.oursPerSecond !== undefined) return formatRates(row)
    return row.p50 === undefined ? '' : `p50 ${value(row.p50)}`
  }
  return {
    row: row.row,
    measurement: row.measurement,
    baseline: row.baseline,
    median: value(row.median),
    spread: `${formatNumber(unit, row.min)} – ${formatNumber(unit, row.max)}`,
    goal: bound(row.goal),
    floor: bound(row.floor),
    details: details(),
  }
}

/** A column is as wide as its widest text; rows without figures are not counted. */
export function printTable(rows) {
  const lines = [Object.fromEntries(COLUMNS.map((name) => [name, name])), ...rows.map(formatRow)]
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
