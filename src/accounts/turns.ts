/** Runs `work` when all earlier work under the same key has ended; resolves or rejects as it does. */
export type InTurn = <T>(key: string, work: () => Promise<T>) => Promise<T>

/**
 * Turns for read-modify-write: two changes of one account at a time would each write back what they read, and a
 * rename could undo a disabling. One node's changes only; between nodes the later write wins.
 */
export function turns(): InTurn {
  const last = new Map<string, Promise<unknown>>()
  return (key, work) => {
    const result = (last.get(key) ?? Promise.resolve()).then(work)
    const ended = result.then(
      () => undefined,
      () => undefined,
    )
    last.set(key, ended)
    void ended.then(() => {
      if (last.get(key) === ended) last.delete(key)
    })
    return result
  }
}
