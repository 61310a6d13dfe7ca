/** LISTEN on one channel, on a connection reserved for it. */
import { failureOf } from './errors.js'
import type { Connection } from './session-connection.js'
import { quoteIdentifier } from './statement.js'

/** Neither method is called after `stop`. */
export interface ChannelListener {
  onMessage(payload: string): void
  /** The connection is lost and no further message arrives. Called once. */
  onLost(): void
}

export interface ChannelSubscription {
  /** Checks that the server still answers; calls `onLost` when it does not answer in time. Never rejects. */
  check(): Promise<void>
  /** Releases the connection. Never rejects. */
  stop(): Promise<void>
}

/** Listens to a channel on this connection and releases it at the end. */
export async function listenOn(
  connection: Connection,
  channel: string,
  listener: ChannelListener,
): Promise<ChannelSubscription> {
  const { client } = connection
  let isOver = false

  const end = (error?: Error) => {
    if (isOver) return false
    isOver = true
    client.removeListener('notification', onNotification)
    client.removeListener('error', lose)
    client.removeListener('end', onEnd)
    connection.release(error)
    return true
  }
  const lose = (error: Error) => {
    if (end(error)) listener.onLost()
  }
  const onEnd = () => lose(new Error('ended'))
  const onNotification = (message: { readonly payload?: string }) => listener.onMessage(message.payload ?? '')

  client.on('notification', onNotification)
  client.on('error', lose)
  client.on('end', onEnd)
  try {
    await connection.run({ text: `LISTEN ${quoteIdentifier(channel)}` })
  } catch (thrown) {
    end(thrown as Error)
    throw failureOf(thrown, { isConnecting: false }).error
  }
  return {
    async check() {
      if (isOver) return
      await connection.run({ text: 'SELECT 1' }).catch((thrown: unknown) => lose(thrown as Error))
    },
    async stop() {
      if (isOver) return
      // A connection of the host's pool is returned as it was.
      const failed = await connection
        .run({ text: `UNLISTEN ${quoteIdentifier(channel)}` })
        .catch((thrown: Error) => thrown)
      end(failed instanceof Error ? failed : undefined)
    },
  }
}
