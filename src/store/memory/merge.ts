import { push, type Scheduled, takeOut } from './heap.js'
import { type PositionLog, walk } from './position-log.js'

interface Source<T> extends Scheduled {
  readonly entries: Iterator<readonly [number, T], undefined>
  next: readonly [number, T]
}

/** Walks several logs as one, by position. Reads no further than it is asked to. */
export function* mergedWalk<T>(
  logs: Iterable<PositionLog<T>>,
  ascending: boolean,
  cursor?: number,
): Generator<readonly [position: number, value: T], undefined> {
  const heap: Source<T>[] = []
  const sign = ascending ? 1 : -1
  for (const log of logs) {
    const entries = walk(log, ascending, cursor)
    const { value } = entries.next()
    if (value) push(heap, { entries, next: value, dueMs: sign * value[0], position: 0, heapIndex: -1 })
  }
  for (let source = heap[0]; source; source = heap[0]) {
    yield source.next
    takeOut(heap, source)
    const { value } = source.entries.next()
    if (!value) continue
    source.next = value
    source.dueMs = sign * value[0]
    push(heap, source)
  }
}
