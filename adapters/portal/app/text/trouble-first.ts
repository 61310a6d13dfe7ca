/** The order of the list: what needs attention first, then the others as the service sorts them. Pure. */
import { type Listed, shownState, viewOf } from './webhook-views.js'

const RANKS: Readonly<Record<string, number>> = { failing: 0, paused: 1, disabled: 2 }
const rank = (row: Listed) => (viewOf(row) === 'attention' ? RANKS[shownState(row)]! : 3)

/** Sorts rows: what fails, what is paused, what the service has switched off. Rows of the same rank keep their order. */
export const troubleFirst = <Row extends Listed>(rows: readonly Row[]): readonly Row[] =>
  [...rows].sort((a, b) => rank(a) - rank(b))

/** The items without those whose id came before. */
export function unique<Item>(items: readonly Item[], idOf: (item: Item) => string): readonly Item[] {
  const ids = new Set<string>()
  return items.filter((item) => !ids.has(idOf(item)) && ids.add(idOf(item)))
}
