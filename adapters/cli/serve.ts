/** `hookswitch serve`: the one place that puts several adapters together. */
import type { Hookswitch } from 'hookswitch'
import { createServer } from 'hookswitch/node'
import { prometheusMetrics } from 'hookswitch/prometheus'
import { readAccountsFile } from './accounts-file.js'
import { adminServer } from './admin.js'
import { parseServeFlags } from './flags.js'
import { ceaseListening, listen } from './listen.js'
import { lineLog } from './log.js'
import { storeFields } from './open-store.js'
import { secretFor } from './secret.js'
import { makeService, startService } from './service.js'
import { chooseStore } from './store-choice.js'
import { chooseSwitches } from './switch-choice.js'
import { connectSwitches, type Switches } from './switches.js'

/** What the program sees of its process; `process` itself fits. */
export interface ServeIo {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean }
  readonly env: Readonly<Record<string, string | undefined>>
}

/** A running service. */
export interface Serving {
  readonly hs: Hookswitch
  /** Of the public port, without trailing slash. */
  readonly url: string
  /** Of the admin port, if there is one. */
  readonly adminUrl?: string
  /**
   * Drains: takes no more requests, lets those in hand end, lets deliveries in flight end, closes the store.
   * Called again it resolves with the first call.
   */
  close(): Promise<void>
}

/** How long requests, and then deliveries, may take to end. */
const REQUEST_DRAIN_MS = 2_000
const DELIVERY_DRAIN_MS = 5_000

/**
 * Starts the service as `hookswitch serve` does and prints its one line of JSON to `io.stdout` when it listens.
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
  const switchChoices = chooseSwitches(flags, io.env)
  const secret = await secretFor(choice, io.env)
  const format = flags.log ?? (io.stderr.isTTY ? 'pretty' : 'json')
  const log = lineLog(format, (line) => io.stderr.write(line), Date.now)
  const accounts = flags.accounts === undefined ? [] : await readAccountsFile(flags.accounts)
  // Without the port nobody can ask for them.
  const metrics = flags.adminPort === undefined ? undefined : prometheusMetrics()
  const hs = await makeService(flags, choice, secret, { log, ...(metrics ? { metrics } : {}) })
  let switches: Switches | undefined
  let isReady = false
  const server = createServer(hs)
  const admin = metrics && adminServer(() => isReady, metrics)
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= (async () => {
      // A start that failed has nothing to drain.
      const wasReady = isReady
      isReady = false
      if (wasReady) log.info({}, 'draining: no new requests, what is in flight may end')
      await Promise.all([switches?.close(REQUEST_DRAIN_MS), ceaseListening(server, REQUEST_DRAIN_MS)])
      await hs.close({ drainMs: DELIVERY_DRAIN_MS })
      if (admin) await ceaseListening(admin, 0)
      if (wasReady) log.info({}, 'drained and closed')
    })()
    return closed
  }

  try {
    await startService(hs, choice, flags.accounts ?? '', accounts)
    if (switchChoices) switches = await connectSwitches(hs, switchChoices, log)
    const adminUrl = admin && (await listen(admin, flags.adminPort ?? 0, flags.host, '--admin-port'))
    const url = await listen(server, flags.port, flags.host, '--port')
    isReady = true
    switches?.start()
    if (choice.store === 'memory')
      log.warn({}, 'everything is kept in memory and gone when this program ends')
    const found = { url, ...(adminUrl ? { adminUrl } : {}), accounts: accounts.length }
    log.info({ ...found, ...storeFields(choice) }, 'listening')
    io.stdout.write(`${JSON.stringify({ ready: true, url, ...(adminUrl ? { adminUrl } : {}) })}\n`)
    return { hs, url, ...(adminUrl ? { adminUrl } : {}), close }
  } catch (thrown) {
    await close().catch(() => {})
    throw thrown
  }
}
