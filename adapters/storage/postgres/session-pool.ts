import { HookswitchError } from 'hookswitch'

/** The part of a `pg.Pool` that the store uses. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>
  on(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'error', listener: (error: Error) => void): unknown
  end(): Promise<void>
}

/** The part of a `pg.PoolClient` that the store uses. */
export interface PostgresClient {
  query(query: PostgresQuery): Promise<PostgresResult>
  // biome-ignore lint/suspicious/noExplicitAny: each event has arguments of its own.
  on(event: 'error' | 'end' | 'notification', listener: (...args: any[]) => void): unknown
  // biome-ignore lint/suspicious/noExplicitAny: an EventEmitter's own signature.
  removeListener(event: string, listener: (...args: any[]) => void): unknown
  /** With an error: the connection is destroyed, else others may have it. */
  release(error?: Error | boolean): void
}

/** A query as `pg` takes it. */
export interface PostgresQuery {
  readonly text: string
  readonly name?: string
  readonly values?: unknown[]
  readonly types?: { getTypeParser(oid: number, format?: string): (text: string) => unknown }
}

export interface PostgresResult {
  // biome-ignore lint/suspicious/noExplicitAny: rows are typed by the statement that reads them.
  readonly rows: any[]
  /** `SELECT`, `COMMIT`, … */
  readonly command: string
}

/** How the store's own pool is made. */
export interface PoolOptions {
  readonly connectionString: string
  readonly maxConnections: number
  readonly ssl?: boolean | object
  readonly connectWithinMs: number
}

/** Idle connections beyond the first are closed after so long. */
const IDLE_MS = 30_000
/** When the kernel begins to ask a silent server whether it is there. */
const KEEP_ALIVE_MS = 10_000

/**
 * A pool of this store's own.
 *
 * @throws HookswitchError `InvalidOption` where the driver is not installed
 */
export async function ownPool(options: PoolOptions): Promise<PostgresPool> {
  const { Pool } = await loadDriver()
  const pool = new Pool({
    connectionString: options.connectionString,
    ...(options.ssl === undefined ? {} : { ssl: options.ssl }),
    max: options.maxConnections,
    connectionTimeoutMillis: options.connectWithinMs,
    idleTimeoutMillis: IDLE_MS,
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
        const timer = setTimeout(resolve, PARTING_MS)
        onEmpty = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      // Of a server that has vanished: they would keep the process alive until the kernel gives them up.
      for (const { connection } of connected) connection?.stream?.destroy()
    },
  }
}

/** How long a server may take to say goodbye. */
const PARTING_MS = 1_000

/** The part of a `pg.Client` that only an end by force needs. */
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
  // pg became importable by names in 8.12 only.
  const { default: whole } = loaded as { default?: Driver }
  return whole ?? (loaded as Driver)
}
