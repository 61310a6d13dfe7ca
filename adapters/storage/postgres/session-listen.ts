/** LISTEN on one channel, on a connection reserved for it. */
import { failureOf } from './errors.js'
import type { Connection } from './session-connection.js'
import type { PostgresQuery } from './session-pool.js'
import { quoteIdentifier, type Statement } from './statement.js'

/** Neither method is called after `stop`. */
export interface ChannelListener {
  onMessage(payload: string): void
  /** The connection is lost and no further message arrives. Called once. */
  onLost(): void
}

export interface ChannelSubscription {
  /** Runs a statement on this connection. If it fails, the connection is lost: it is silent by nature otherwise. */
  query<Row>(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]>
  /** Releases the connection. Never rejects. */
  stop(): Promise<void>
}

/**
 * Listens to a channel on this connection and releases it at the end.
 *
 * @param begin begins a transaction with the usual settings
 */
export async function listenOn(
  connection: Connection,
  channel: string,
  listener: ChannelListener,
  queryOf: (statement: Statement, values: readonly unknown[]) => PostgresQuery,
  begin: string,
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
    client.unref?.()
  } catch (thrown) {
    end(thrown as Error)
    throw failureOf(thrown, { isConnecting: false }).error
  }
  return {
    async query<Row>(statement: Statement, values: readonly unknown[]) {
      try {
        if (isOver) throw new Error('the connection is closed')
        if (connection.needsTransaction) await connection.run({ text: begin })
        const { rows } = await connection.run(queryOf(statement, values))
        if (connection.needsTransaction) await connection.run({ text: 'COMMIT' })
        return rows as Row[]
      } catch (thrown) {
        lose(thrown as Error)
        throw failureOf(thrown, { isConnecting: false }).error
      }
    },
    async stop() {
      if (isOver) return
      // A connection of the host's pool is returned as it was.
      client.ref?.()
      const failed = await connection
        .run({ text: `UNLISTEN ${quoteIdentifier(channel)}` })
        .catch((thrown: Error) => thrown)
      end(failed instanceof Error ? failed : undefined)
    },
  }
}
