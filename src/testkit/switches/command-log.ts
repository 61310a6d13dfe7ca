/** The last commands that a fake received, for tests of what a client sends. */
export interface CommandLog {
  readonly entries: readonly string[]
  add(command: string): void
}

/** Older commands are dropped. */
const MAX_ENTRIES = 1_000

export function createCommandLog(): CommandLog {
  const entries: string[] = []
  return {
    entries,
    add(command) {
      entries.push(command)
      if (entries.length > MAX_ENTRIES) entries.shift()
    },
  }
}
