/** The order of the list: what fails first, then what is paused, then the others as the service sorts them. Pure. */

const RANKS: Readonly<Record<string, number>> = { failing: 0, paused: 1 }
const rank = ({ state }: { readonly state: string }) => RANKS[state] ?? 2

/** Sorts rows by their trouble; rows of the same trouble keep their order. */
export const troubleFirst = <Row extends { readonly state: string }>(rows: readonly Row[]): readonly Row[] =>
  [...rows].sort((a, b) => rank(a) - rank(b))

/** The items without those whose id came before. */
export function unique<Item>(items: readonly Item[], idOf: (item: Item) => string): readonly Item[] {
  const ids = new Set<string>()
  return items.filter((item) => !ids.has(idOf(item)) && ids.add(idOf(item)))
}
