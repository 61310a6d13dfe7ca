import type { Clock } from '../ports.js'

/**
 * Work on what comes up in one turn of the event loop, done in one go.
 *
 * @param work gets everything that came, in its order
 * @returns takes one item; its promise ends as the work on all of that turn does
 */
export function together<Item>(
  clock: Pick<Clock, 'yield'>,
  work: (items: readonly Item[]) => Promise<void>,
): (item: Item) => Promise<void> {
  let gathered: Item[] = []
  let working: Promise<void> | undefined

  async function begin(): Promise<void> {
    await clock.yield()
    const items = gathered
    gathered = []
    working = undefined
    return work(items)
  }

  return (item) => {
    gathered.push(item)
    working ??= begin()
    return working
  }
}
