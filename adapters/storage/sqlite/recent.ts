/** A map of what was asked for of late. */
export interface Recent<Key, Value> {
  get(key: Key): Value | undefined
  set(key: Key, value: Value): void
  delete(key: Key): void
  clear(): void
}

/** At most twice `size` entries, whatever passes through: when there are `size` young ones, the old ones go. */
export function recent<Key, Value>(size: number): Recent<Key, Value> {
  let young = new Map<Key, Value>()
  let old = new Map<Key, Value>()

  function set(key: Key, value: Value): void {
    if (young.size >= size && !young.has(key)) {
      old = young
      young = new Map()
    }
    young.set(key, value)
  }

  return {
    get(key) {
      const value = young.get(key)
      if (value !== undefined) return value
      const older = old.get(key)
      if (older !== undefined) set(key, older)
      return older
    },
    set,
    delete(key) {
      young.delete(key)
      old.delete(key)
    },
    clear() {
      young = new Map()
      old = new Map()
    },
  }
}
