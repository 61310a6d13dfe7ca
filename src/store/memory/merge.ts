import { type HeapItem, heapPush, heapRemove } from '../../values/heap.js'
import { type PositionLog, walk } from './position-log.js'

/** A log being walked, ordered by the position of its next entry: negative when walking down. */
interface Cursor<T> extends HeapItem {
  position: number
  readonly entries: Iterator<readonly [number, T], undefined>
  next: readonly [number, T]
}

/** Walks several logs as one, by position, lazily. */
export function* mergedWalk<T>(
  logs: Iterable<PositionLog<T>>,
  ascending: boolean,
  after?: number,
): Generator<readonly [position: number, value: T], undefined> {
  const heap: Cursor<T>[] = []
  const sign = ascending ? 1 : -1
  for (const log of logs) {
    const entries = walk(log, ascending, after)
    const { value } = entries.next()
    if (value) heapPush(heap, { entries, next: value, dueMs: 0, position: sign * value[0], heapIndex: -1 })
  }
  for (let cursor = heap[0]; cursor; cursor = heap[0]) {
    yield cursor.next
    heapRemove(heap, cursor)
    const { value } = cursor.entries.next()
    if (!value) continue
    cursor.next = value
    cursor.position = sign * value[0]
    heapPush(heap, cursor)
  }
}
