/** `hookswitch serve`: combines the store, HTTP, metrics and switch adapters. */
import type { Hookswitch } from 'hookswitch'
import { limitLog, systemClock } from 'hookswitch/adapter'
import type { Blackhole } from 'hookswitch/blackhole'
import { createServer } from 'hookswitch/node'
import { prometheusMetrics } from 'hookswitch/prometheus'
import { adminServer } from './admin.js'
import { logAudit } from './audit-log.js'
import { readDisk } from './disk.js'
import { listen, stopListening } from './listen.js'
import { type Level, lineLog } from './log.js'
import { storeFields } from './open-store.js'
import { type Parentage, watchParent } from './parent-watch.js'
import { watchProgram } from './program-gauges.js'
import { publicService } from './public-service.js'
import { collectSettings, type Settings } from './read-settings.js'
import { createReloader } from './reload.js'
import { checkSettings, createService, planService, startService, warnOfAccounts } from './service.js'
import { serverOptions } from './service-options.js'
import { connectSwitches, type Switches } from './switches.js'
import { serviceVariables } from './unknown-variables.js'
import { createWebSockets } from './web-sockets.js'

export type { Parentage }

/** The part of `process` that the program uses. */
export interface ServeIo extends Pick<Parentage, 'ppid' | 'pid'> {
  /** Receives one line of JSON when the service listens. */
  readonly stdout: { write(text: string): unknown; readonly fd?: number }
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
  /** URL of the WebSockets, without a trailing slash; absent without `--blackhole-port`. */
  readonly blackholeUrl?: string
  /**
   * Reads the configuration and accounts files again and applies what can change while running, as SIGHUP does. Logs one
   * line; an error is logged and changes nothing. Never rejects.
   */
  reload(): Promise<void>
  /**
   * Drains: ends live streams, stops accepting requests, waits up to 2 s for requests in progress and up to 5 s for deliveries in flight, and
   * closes the store. Further calls resolve with the first.
   */
  close(): Promise<void>
}

const IGNORED =
  'ignored the variables that Kubernetes sets for a Service: enableServiceLinks: false in the pod leaves them out'

/** Longest wait for requests, then for deliveries, to end. */
const REQUEST_DRAIN_MS = 2_000
const DELIVERY_DRAIN_MS = 5_000

/**
 * Starts the service like `hookswitch serve` and prints one line of JSON to `io.stdout` when it listens.
 *
 * @param argv the flags, without program and command
 * @throws `InvalidOption` for a setting, `InvalidInput` for the accounts file, `Conflict` for a port in use,
 *   `StoreUnavailable` and `StoreCorrupt` for the store; the message is one sentence that begins with the flag, the
 *   variable or the place in the file
 * @example
 * const { url, close } = await serve(['--port', '0', '--memory'], process)
 */
export async function serve(argv: readonly string[], io: ServeIo): Promise<Serving> {
  const settings = await collectSettings(argv, io.env)
  const plan = await planService(settings, io.env)
  const { choice } = plan
  const { port = 0, host = '', adminPort, adminHost = '', logLevel = 'info', nodeName } = settings.values
  const format = settings.values.log ?? (io.stderr.isTTY ? 'pretty' : 'json')
  let level: Level = logLevel
  const log = lineLog(
    format,
    (line) => io.stderr.write(line),
    Date.now,
    () => level,
    nodeName === undefined ? {} : { node: nodeName },
  )
  const ignored = serviceVariables(io.env)
  if (ignored.length > 0) log.info({ variables: ignored }, IGNORED)
  // Without the admin port nothing reads metrics.
  const metrics = adminPort === undefined ? undefined : prometheusMetrics()
  const hs = await createService(plan, { log, ...(metrics ? { metrics } : {}) })
  // What clients can repeat.
  const limited = limitLog(log, systemClock(), ({ address }) => String(address ?? ''))
  logAudit(hs, log, limited)
  let switches: Switches | undefined
  let webSockets: Blackhole | undefined
  let isServing = false
  const services = publicService(hs, plan.page)
  const server = createServer(services, serverOptions(settings))
  const diskNow = async () => (choice.store === 'sqlite' ? readDisk(choice.path) : undefined)
  const unwatchProgram = metrics && watchProgram(metrics, diskNow, log)
  const readiness = async () => {
    const disk = await diskNow()
    return { isServing, health: hs.nodeHealth(), sources: switches?.health() ?? [], ...(disk && { disk }) }
  }
  const unwatchParent = watchParent(io, log)
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= (async () => {
      // After a failed start there is nothing to drain.
      const wasServing = isServing
      isServing = false
      if (wasServing) log.info({}, 'draining: no new requests; requests and deliveries in flight may end')
      // They are requests that would not end by themselves.
      hs.endStreams()
      await Promise.all([
        switches?.close(REQUEST_DRAIN_MS),
        webSockets?.close(),
        stopListening(server, REQUEST_DRAIN_MS),
      ])
      await hs.close({ drainMs: DELIVERY_DRAIN_MS })
      if (admin) await stopListening(admin, 0)
      unwatchParent()
      unwatchProgram?.()
      limited.close()
      if (wasServing) log.info({}, 'drained and closed')
    })()
    return closed
  }
  const { reload, preview } = createReloader(plan, {
    hs,
    log,
    read: async () => checkSettings(await collectSettings(argv, io.env), io.env),
    isClosing: () => closed !== undefined,
    setLevel: (next) => {
      level = next
    },
  })

  const onAdminFault = (thrown: unknown) =>
    limited.error({ err: thrown }, 'a request to the admin port failed')
  const admin = metrics && adminServer(readiness, metrics, preview, onAdminFault)

  try {
    await startService(hs, plan, log)
    if (plan.switches.length > 0) switches = await connectSwitches(hs, plan.switches, { log, metrics })
    webSockets = await createWebSockets(hs, settings, log)
    const adminUrl =
      admin && (await listen(admin, adminPort ?? 0, adminHost, labels(settings, 'adminPort', 'adminHost')))
    const url = await listen(server, port, host, labels(settings, 'port', 'host'))
    const httpUrl =
      webSockets &&
      (await listen(
        webSockets.createServer(),
        settings.values['blackhole.port'] ?? 0,
        host,
        labels(settings, 'blackhole.port', 'host'),
      ))
    const blackholeUrl = httpUrl?.replace(/^http/, 'ws')
    await switches?.start()
    isServing = true
    if (choice.store === 'memory') log.warn({}, 'data is kept in memory and lost when this program ends')
    const addresses = { url, ...(adminUrl ? { adminUrl } : {}), ...(blackholeUrl ? { blackholeUrl } : {}) }
    const accounts = plan.accounts?.accounts.length ?? 0
    log.info({ ...addresses, accounts, ...storeFields(choice) }, 'listening')
    await warnOfAccounts(hs, settings, log)
    io.stdout.write(`${JSON.stringify({ ready: true, ...addresses })}\n`)
    return { hs, ...addresses, reload, close }
  } catch (thrown) {
    await close().catch(() => {})
    throw thrown
  }
}

function labels(
  settings: Settings,
  port: 'port' | 'adminPort' | 'blackhole.port',
  host: 'host' | 'adminHost',
) {
  return { port: settings.labelOf(port), host: settings.labelOf(host) }
}
