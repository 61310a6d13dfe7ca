import type { Clock } from '../ports.js'

/**
 * Work on what comes up in one turn of the event loop, done in one go.
 *
 * @param work gets everything that came, in its order; must not reject
 * @returns takes one item
 */
export function together<Item>(
  clock: Pick<Clock, 'yield'>,
  work: (items: readonly Item[]) => Promise<void>,
): (item: Item) => void {
  let gathered: Item[] = []

  function begin(): void {
    const items = gathered
    gathered = []
    void work(items)
  }

  return (item) => {
    if (gathered.push(item) === 1) void clock.yield().then(begin)
  }
}
