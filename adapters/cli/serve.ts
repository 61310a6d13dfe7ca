/** `hookswitch serve`: combines the store, HTTP, metrics and switch adapters. */
import type { Hookswitch } from 'hookswitch'
import { createServer } from 'hookswitch/node'
import { prometheusMetrics } from 'hookswitch/prometheus'
import { readAccountsFile } from './accounts-file.js'
import { adminServer } from './admin.js'
import { parseServeFlags } from './flags.js'
import { listen, stopListening } from './listen.js'
import { lineLog } from './log.js'
import { storeFields } from './open-store.js'
import { secretFor } from './secret.js'
import { createService, startService } from './service.js'
import { chooseStore } from './store-options.js'
import { chooseSwitches } from './switch-options.js'
import { connectSwitches, type Switches } from './switches.js'

/** The part of `process` that the program uses. */
export interface ServeIo {
  /** Receives one line of JSON when the service listens. */
  readonly stdout: { write(text: string): unknown }
  /** Receives the log. */
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean }
  /** Environment variables (`hookswitch serve --help` lists them). */
  readonly env: Readonly<Record<string, string | undefined>>
}

/** A running service. */
export interface Serving {
  /** The instance behind the HTTP API. */
  readonly hs: Hookswitch
  /** URL of the public port, without a trailing slash. */
  readonly url: string
  /** URL of the admin port; absent without `--admin-port`. */
  readonly adminUrl?: string
  /**
   * Drains: stops accepting requests, waits up to 2 s for requests in progress and up to 5 s for deliveries in flight, and
   * closes the store. Further calls resolve with the first.
   */
  close(): Promise<void>
}

/** Longest wait for requests, then for deliveries, to end. */
const REQUEST_DRAIN_MS = 2_000
const DELIVERY_DRAIN_MS = 5_000

/**
 * Starts the service like `hookswitch serve` and prints one line of JSON to `io.stdout` when it listens.
 *
 * @param argv the flags, without program and command
 * @throws `InvalidOption` for a flag, `InvalidInput` for the accounts file, `Conflict` for a port in use,
 *   `StoreUnavailable` and `StoreCorrupt` for the store; the message is one sentence that begins with the flag
 * @example
 * const { url, close } = await serve(['--port', '0', '--memory'], process)
 */
export async function serve(argv: readonly string[], io: ServeIo): Promise<Serving> {
  const flags = parseServeFlags(argv)
  const choice = chooseStore(flags, io.env)
  const chosenSwitches = chooseSwitches(flags, io.env)
  const secret = await secretFor(choice, io.env)
  const format = flags.log ?? (io.stderr.isTTY ? 'pretty' : 'json')
  const log = lineLog(format, (line) => io.stderr.write(line), Date.now)
  const accounts = flags.accounts === undefined ? [] : await readAccountsFile(flags.accounts)
  // Without the admin port nothing reads metrics.
  const metrics = flags.adminPort === undefined ? undefined : prometheusMetrics()
  const hs = await createService(flags, choice, secret, { log, ...(metrics ? { metrics } : {}) })
  let switches: Switches | undefined
  let isReady = false
  const server = createServer(hs)
  const readiness = () => ({ isReady, sources: switches?.health() ?? [] })
  const admin = metrics && adminServer(readiness, metrics)
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= (async () => {
      // After a failed start there is nothing to drain.
      const wasReady = isReady
      isReady = false
      if (wasReady) log.info({}, 'draining: no new requests; requests and deliveries in flight may end')
      await Promise.all([switches?.close(REQUEST_DRAIN_MS), stopListening(server, REQUEST_DRAIN_MS)])
      await hs.close({ drainMs: DELIVERY_DRAIN_MS })
      if (admin) await stopListening(admin, 0)
      if (wasReady) log.info({}, 'drained and closed')
    })()
    return closed
  }

  try {
    await startService(hs, choice, flags.accounts ?? '', accounts, { prune: flags.accountsPrune, log })
    if (chosenSwitches.length > 0) switches = await connectSwitches(hs, chosenSwitches, { log, metrics })
    const adminUrl = admin && (await listen(admin, flags.adminPort ?? 0, flags.host, '--admin-port'))
    const url = await listen(server, flags.port, flags.host, '--port')
    await switches?.start()
    isReady = true
    if (choice.store === 'memory') log.warn({}, 'data is kept in memory and lost when this program ends')
    const addresses = { url, ...(adminUrl ? { adminUrl } : {}), accounts: accounts.length }
    log.info({ ...addresses, ...storeFields(choice) }, 'listening')
    io.stdout.write(`${JSON.stringify({ ready: true, url, ...(adminUrl ? { adminUrl } : {}) })}\n`)
    return { hs, url, ...(adminUrl ? { adminUrl } : {}), close }
  } catch (thrown) {
    await close().catch(() => {})
    throw thrown
  }
}
