import { LRUCache } from 'lru-cache'
import type { Clock } from '../ports.js'

/** A cache that can only ever be a little late with a "no longer", and never after it was told. */
export interface PositiveCache<T> {
  /** What is kept and fresh. */
  get(key: string): T | undefined
  /** What is kept and fresh, else what `ask` says now. Concurrent calls for one key ask once. */
  find(key: string, ask: () => Promise<T | undefined>): Promise<T | undefined>
  /** Drops the values that `gone` says, and the answers to all questions that are still open. */
  forget(gone: (value: T, key: string) => boolean): void
  /** How many are kept. */
  size(): number
}

interface Kept<T> {
  readonly value: T
  readonly askedMs: number
}

interface Question<T> {
  readonly answer: Promise<T | undefined>
  readonly askedMs: number
}

/**
 * A bounded cache of answers that exist; "there is none" is never kept. An answer is used for `maxAgeMs` from the
 * moment its question was **asked**, by the monotonic clock. A question that was open when `forget` came is
 * answered to those who asked before, but neither kept nor shared with who asks after: it may have been read before
 * the change. Failures are not kept.
 *
 * @param options `max`: most entries kept, the least recently used go first
 */
export function positiveCache<T extends object>(
  clock: Pick<Clock, 'monotonic'>,
  options: { readonly max: number; readonly maxAgeMs: number },
): PositiveCache<T> {
  // By size, for `max` takes the room of all of them at once.
  const kept = new LRUCache<string, Kept<T>>({ maxSize: options.max, sizeCalculation: () => 1 })
  let open = new Map<string, Question<T>>()

  const fresh = <E extends { readonly askedMs: number }>(entry: E | undefined): E | undefined =>
    entry && clock.monotonic() - entry.askedMs < options.maxAgeMs ? entry : undefined
  return {
    get: (key) => fresh(kept.get(key))?.value,
    async find(key, ask) {
      const known = fresh(kept.get(key))?.value ?? fresh(open.get(key))?.answer
      if (known) return known
      const mine = open
      const question = { askedMs: clock.monotonic(), answer: ask() }
      mine.set(key, question)
      try {
        const value = await question.answer
        if (mine === open && mine.get(key) === question) {
          if (value) kept.set(key, { value, askedMs: question.askedMs })
          else kept.delete(key)
        }
        return value
      } finally {
        if (mine.get(key) === question) mine.delete(key)
      }
    },
    forget(gone) {
      open = new Map()
      const dropped = [...kept.entries()].filter(([key, { value }]) => gone(value, key))
      for (const [key] of dropped) kept.delete(key)
    },
    size: () => kept.size,
  }
}
