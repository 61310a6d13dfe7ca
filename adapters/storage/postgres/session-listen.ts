import { failureOf } from './errors.js'
import type { Connection } from './session-connection.js'

/** Who hears a channel. Neither is called after `stop`. */
export interface Hearing {
  heard(payload: string): void
  /** The connection is gone: nothing is heard any more. Called once. */
  lost(): void
}

export interface Listening {
  /** Asks whether the server is still there; when it does not answer in time, `lost` is called. Never rejects. */
  check(): Promise<void>
  /** Gives the connection back. Never rejects. */
  stop(): Promise<void>
}

/** Hears a channel on this connection, which is nobody else's until then. */
export async function listen(connection: Connection, channel: string, hearing: Hearing): Promise<Listening> {
  const { client } = connection
  let over = false

  const end = (error?: Error) => {
    if (over) return false
    over = true
    client.removeListener('notification', onNotification)
    client.removeListener('error', lose)
    client.removeListener('end', onEnd)
    connection.release(error)
    return true
  }
  const lose = (error: Error) => {
    if (end(error)) hearing.lost()
  }
  const onEnd = () => lose(new Error('ended'))
  const onNotification = (message: { readonly payload?: string }) => hearing.heard(message.payload ?? '')

  client.on('notification', onNotification)
  client.on('error', lose)
  client.on('end', onEnd)
  try {
    await connection.run({ text: `LISTEN ${quoted(channel)}` })
  } catch (thrown) {
    end(thrown as Error)
    throw failureOf(thrown, { connecting: false }).error
  }
  return {
    async check() {
      if (over) return
      await connection.run({ text: 'SELECT 1' }).catch((thrown: unknown) => lose(thrown as Error))
    },
    async stop() {
      if (over) return
      // The host's pool gets it back as it was.
      const failed = await connection
        .run({ text: `UNLISTEN ${quoted(channel)}` })
        .catch((thrown: Error) => thrown)
      end(failed instanceof Error ? failed : undefined)
    },
  }
}

/** An SQL identifier, whatever is in it. */
export function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`
}
