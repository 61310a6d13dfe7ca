/** The parts of the `pg` driver that the store uses, and the pool that it creates for itself. */
import { HookswitchError } from 'hookswitch'

/** The part of a `pg.Pool` that the store uses. */
export interface PostgresPool {
  /** Takes a connection from the pool. */
  connect(): Promise<PostgresClient>
  /** Registers a listener for the errors of idle connections; without one an error would end the process. */
  on(event: 'error', listener: (error: Error) => void): unknown
  /** Removes a listener of `on`. */
  removeListener(event: 'error', listener: (error: Error) => void): unknown
  /** Closes all connections. Not called for a pool of the host. */
  end(): Promise<void>
}

/** The part of a `pg.PoolClient` that the store uses. */
export interface PostgresClient {
  /** Runs one query. Rejects with an error that has the SQLSTATE in `code`. */
  query(query: PostgresQuery): Promise<PostgresResult>
  /** Registers a listener for errors, for the end of the connection, or for notifications (LISTEN). */
  // biome-ignore lint/suspicious/noExplicitAny: the arguments depend on the event.
  on(event: 'error' | 'end' | 'notification', listener: (...args: any[]) => void): unknown
  /** Removes a listener of `on`. */
  // biome-ignore lint/suspicious/noExplicitAny: the signature of EventEmitter.
  removeListener(event: string, listener: (...args: any[]) => void): unknown
  /** Whether the connection keeps the process alive, as with sockets of Node. Absent in drivers other than `pg`. */
  ref?(): void
  /** The opposite of `ref`. */
  unref?(): void
  /** With an error, or true, the connection is destroyed; otherwise it returns to the pool. */
  release(error?: Error | boolean): void
}

/** A query as `pg` takes it. */
export interface PostgresQuery {
  /** The SQL text, with parameters `$1`, `$2`, … */
  readonly text: string
  /**
   * Name under which the connection keeps the prepared statement. Absent: the query is not prepared by name.
   */
  readonly name?: string
  /** The parameters. */
  readonly values?: unknown[]
  /** Parsers for the columns of the result, by type OID. Default: those of `pg`. */
  readonly types?: { getTypeParser(oid: number, format?: string): (text: string) => unknown }
}

/** The result of a query. */
export interface PostgresResult {
  /** The rows, as objects by column name. */
  // biome-ignore lint/suspicious/noExplicitAny: rows are typed by the statement that reads them.
  readonly rows: any[]
  /** `SELECT`, `COMMIT`, … */
  readonly command: string
}

interface PoolOptions {
  readonly connectionString: string
  readonly maxConnections: number
  readonly ssl?: boolean | object
  readonly connectWithinMs: number
}

/** Idle connections are closed after this time. */
const IDLE_MS = 30_000
/** Silence after which the kernel sends the first TCP keep-alive probe. */
const KEEP_ALIVE_MS = 10_000

/**
 * Creates the store's own pool.
 *
 * @throws HookswitchError `InvalidOption` when the driver is not installed
 */
export async function createPool(options: PoolOptions): Promise<PostgresPool> {
  const { Pool } = await loadDriver()
  const pool = new Pool({
    connectionString: options.connectionString,
    ...(options.ssl === undefined ? {} : { ssl: options.ssl }),
    max: options.maxConnections,
    connectionTimeoutMillis: options.connectWithinMs,
    idleTimeoutMillis: IDLE_MS,
    // Idle connections do not keep the process alive.
    allowExitOnIdle: true,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    application_name: 'hookswitch',
  })
  const connected = new Set<DriverClient>()
  let onEmpty = () => {}
  pool.on('connect', (client: DriverClient) => connected.add(client))
  pool.on('remove', (client: DriverClient) => {
    connected.delete(client)
    if (connected.size === 0) onEmpty()
  })
  return {
    connect: () => pool.connect(),
    on: (event, listener) => pool.on(event, listener),
    removeListener: (event, listener) => pool.removeListener(event, listener),
    async end() {
      await pool.end()
      if (connected.size === 0) return
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, CLOSE_MS)
        onEmpty = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      // Sockets of a vanished server would keep the process alive until the kernel gives them up.
      for (const { connection } of connected) connection?.stream?.destroy()
    },
  }
}

/** Longest wait for the server to close the connections. */
const CLOSE_MS = 1_000

/** The part of a `pg.Client` that is needed to destroy its socket. */
interface DriverClient {
  readonly connection?: { readonly stream?: { destroy(): void } }
}

interface Driver {
  readonly Pool: new (
    config: object,
  ) => PostgresPool & {
    on(event: 'connect' | 'remove', listener: (client: DriverClient) => void): unknown
  }
}

async function loadDriver(): Promise<Driver> {
  let loaded: unknown
  try {
    loaded = await import('pg')
  } catch (thrown) {
    throw new HookswitchError(
      'InvalidOption',
      'postgresStore needs the package pg, version 8.11 or later: npm install pg',
      { field: 'connectionString', cause: thrown },
    )
  }
  // pg has named exports only since 8.12.
  const { default: driver } = loaded as { default?: Driver }
  return driver ?? (loaded as Driver)
}
