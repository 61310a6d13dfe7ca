/** Commands to the switch and their replies, which arrive in the order of the commands. */

/** Sends commands on one connection. */
export interface CommandChannel {
  /**
   * Sends a command and waits for its reply.
   *
   * @param command without the empty line that ends it
   * @returns the reply: `+OK …`, `-ERR …`, or the output of an `api` command
   * @throws when the connection is lost
   */
  send(command: string): Promise<string>
  /** Resolves the oldest pending command. @throws when no command is pending */
  onReply(text: string): void
  /** Rejects all pending and all later commands with this reason. */
  onDisconnected(reason: string): void
}

interface PendingCommand {
  readonly resolve: (text: string) => void
  readonly reject: (error: Error) => void
}

export function createCommandChannel(write: (text: string) => void): CommandChannel {
  const pending: PendingCommand[] = []
  let disconnectReason: string | undefined

  return {
    send(command) {
      return new Promise((resolve, reject) => {
        if (disconnectReason !== undefined) return reject(new Error(disconnectReason))
        pending.push({ resolve, reject })
        write(`${command}\n\n`)
      })
    },
    onReply(text) {
      const oldest = pending.shift()
      if (!oldest) throw new Error('a reply without a pending command')
      oldest.resolve(text)
    },
    onDisconnected(reason) {
      disconnectReason = reason
      for (const { reject } of pending.splice(0)) reject(new Error(reason))
    },
  }
}
