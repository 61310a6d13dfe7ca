/** `hookswitch serve`: the one place that puts several adapters together. */
import {
  createHookswitch,
  errorCode,
  type Hookswitch,
  type HookswitchError,
  type Log,
  memoryStore,
} from 'hookswitch'
import { createServer } from 'hookswitch/node'
import { type PrometheusMetrics, prometheusMetrics } from 'hookswitch/prometheus'
import { readAccountsFile, wrongAccount } from './accounts-file.js'
import { adminServer } from './admin.js'
import { parseServeFlags, type ServeFlags, wrongFlag } from './flags.js'
import { ceaseListening, listen } from './listen.js'
import { lineLog } from './log.js'

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
 * @throws `InvalidOption` for a flag, `InvalidInput` for the accounts file, `Conflict` for a port in use; the
 *   message is one sentence that begins with the flag
 * @example
 * const { url, close } = await serve(['--port', '0', '--memory'], process)
 */
export async function serve(argv: readonly string[], io: ServeIo): Promise<Serving> {
  const flags = parseServeFlags(argv)
  const format = flags.log ?? (io.stderr.isTTY ? 'pretty' : 'json')
  const log = lineLog(format, (line) => io.stderr.write(line), Date.now)
  const accounts = flags.accounts === undefined ? [] : await readAccountsFile(flags.accounts)
  // Without the port nobody can ask for them.
  const metrics = flags.adminPort === undefined ? undefined : prometheusMetrics()
  const hs = bind(flags, io, log, metrics)
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
      await ceaseListening(server, REQUEST_DRAIN_MS)
      await hs.close({ drainMs: DELIVERY_DRAIN_MS })
      if (admin) await ceaseListening(admin, 0)
      if (wasReady) log.info({}, 'drained and closed')
    })()
    return closed
  }

  try {
    await hs.start()
    await createAccounts(hs, flags.accounts ?? '', accounts)
    const adminUrl = admin && (await listen(admin, flags.adminPort ?? 0, flags.host, '--admin-port'))
    const url = await listen(server, flags.port, flags.host, '--port')
    isReady = true
    log.warn({}, 'everything is kept in memory and gone when this program ends')
    log.info({ url, ...(adminUrl ? { adminUrl } : {}), accounts: accounts.length }, 'listening')
    io.stdout.write(`${JSON.stringify({ ready: true, url, ...(adminUrl ? { adminUrl } : {}) })}\n`)
    return { hs, url, ...(adminUrl ? { adminUrl } : {}), close }
  } catch (thrown) {
    await close().catch(() => {})
    throw thrown
  }
}

/** The flag that stands for an option of `createHookswitch`. */
const FLAG_OF: Readonly<Record<string, string>> = {
  tokenTtlSeconds: '--token-ttl',
  allowLocal: '--allow-local',
  trustProxy: '--trust-proxy',
  loginBurst: '--login-burst',
  secret: 'HOOKSWITCH_SECRET',
}

function bind(flags: ServeFlags, io: ServeIo, log: Log, metrics: PrometheusMetrics | undefined): Hookswitch {
  const { tokenTtlSeconds, preset, loginBurst, allowLocal, ingest } = flags
  const secret = io.env.HOOKSWITCH_SECRET
  try {
    return createHookswitch({
      store: memoryStore(),
      log,
      allowLocal,
      ingest,
      ...(metrics ? { metrics } : {}),
      ...(flags.cors.length > 0 ? { cors: flags.cors } : {}),
      ...(flags.allow.length > 0 ? { allow: flags.allow } : {}),
      ...(flags.trustProxy.length > 0 ? { trustProxy: flags.trustProxy } : {}),
      ...(secret === undefined ? {} : { secret }),
      ...(tokenTtlSeconds === undefined ? {} : { tokenTtlSeconds }),
      ...(preset === undefined ? {} : { preset }),
      ...(loginBurst === undefined ? {} : { loginBurst }),
    })
  } catch (thrown) {
    if (errorCode(thrown) !== 'InvalidOption') throw thrown
    const { field = '', message } = thrown as HookswitchError
    const problem = message.startsWith(field) ? message.slice(field.length).replace(/^:? /, '') : message
    throw wrongFlag(FLAG_OF[field] ?? `--${field}`, problem)
  }
}

async function createAccounts(hs: Hookswitch, path: string, accounts: readonly unknown[]): Promise<void> {
  try {
    await hs.accounts.ensure(accounts as never)
  } catch (thrown) {
    const code = errorCode(thrown)
    throw code === 'InvalidInput' || code === 'Conflict'
      ? wrongAccount(path, accounts, thrown as Error)
      : thrown
  }
}
