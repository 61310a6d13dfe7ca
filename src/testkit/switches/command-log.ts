/** The last commands that a fake has heard, for tests of what a client asks. */
export interface CommandLog {
  readonly list: readonly string[]
  add(command: string): void
}

/** A client may talk for ever. */
const MOST = 1_000

export function commandLog(): CommandLog {
  const list: string[] = []
  return {
    list,
    add(command) {
      list.push(command)
      if (list.length > MOST) list.shift()
    },
  }
}
