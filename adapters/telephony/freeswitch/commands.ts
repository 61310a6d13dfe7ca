/** Commands to the switch and its answers, which come in the order of the commands. */

/** Sends commands. */
export interface Commands {
  /**
   * @param command one line, without its end
   * @returns the text of the answer: `+OK …`, `-ERR …`, or what an `api` command printed
   * @throws when the connection is lost
   */
  ask(command: string): Promise<string>
  /** An answer has come. @throws when nothing was asked */
  answered(text: string): void
  /** The connection is over: whoever waits is told why. */
  lost(reason: string): void
}

interface Waiting {
  readonly resolve: (text: string) => void
  readonly reject: (error: Error) => void
}

export function commands(write: (text: string) => void): Commands {
  const waiting: Waiting[] = []
  let lostBy: string | undefined

  return {
    ask(command) {
      return new Promise((resolve, reject) => {
        if (lostBy !== undefined) return reject(new Error(lostBy))
        waiting.push({ resolve, reject })
        write(`${command}\n\n`)
      })
    },
    answered(text) {
      const first = waiting.shift()
      if (!first) throw new Error('an answer to nothing')
      first.resolve(text)
    },
    lost(reason) {
      lostBy = reason
      for (const { reject } of waiting.splice(0)) reject(new Error(reason))
    },
  }
}
