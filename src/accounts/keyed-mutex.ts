/** Runs `work` after all earlier work under the same key has ended; settles as `work` does. */
export type KeyedMutex = <T>(key: string, work: () => Promise<T>) => Promise<T>

/**
 * Creates a mutex per key, for read-modify-write operations: two concurrent changes of one account would each write
 * back what they read, so that a rename could undo a disabling. Serialises the changes of this process only; between
 * nodes the last write wins.
 */
export function keyedMutex(): KeyedMutex {
  const tails = new Map<string, Promise<unknown>>()
  return (key, work) => {
    const result = (tails.get(key) ?? Promise.resolve()).then(work)
    const tail = result.then(
      () => undefined,
      () => undefined,
    )
    tails.set(key, tail)
    void tail.then(() => {
      if (tails.get(key) === tail) tails.delete(key)
    })
    return result
  }
}
