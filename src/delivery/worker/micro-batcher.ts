import type { Clock } from '../../ports.js'

/**
 * Batches the items that arrive in one turn of the event loop.
 *
 * @param handle gets all items of a turn in their order of arrival; must not reject
 * @returns adds one item
 */
export function createMicroBatcher<Item>(
  clock: Pick<Clock, 'yield'>,
  handle: (items: readonly Item[]) => Promise<void>,
): (item: Item) => void {
  let batch: Item[] = []

  function flush(): void {
    const items = batch
    batch = []
    void handle(items)
  }

  return (item) => {
    if (batch.push(item) === 1) void clock.yield().then(flush)
  }
}
