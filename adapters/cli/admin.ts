/** The admin server: health, readiness and metrics for operators. It never shares the public port. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Hookswitch } from 'hookswitch'
import { printableJson } from 'hookswitch/adapter'
import type { PrometheusMetrics } from 'hookswitch/prometheus'
import type { DiskHealth } from './disk.js'
import { problemsOf } from './problems.js'
import type { ReloadPreview } from './reload.js'

/** The state of one source of switch events, as `/readyz` shows it. */
export interface SourceHealth {
  /** The switch: `freeswitch 127.0.0.1:8021`. */
  readonly source: string
  readonly connected: boolean
  /** Why it is not connected. */
  readonly reason?: string
  /** How late its events are published, seconds; absent below 1. */
  readonly lagSeconds?: number
  /** Events that wait for their account or for the service; absent without any. */
  readonly held?: number
}

/** What `/readyz` reports. @internal */
export interface Readiness {
  /** Whether the service has started and does not drain. */
  readonly isServing: boolean
  /** What hinders the node. */
  readonly health: ReturnType<Hookswitch['nodeHealth']>
  /** The disk of the store's file; absent with other stores. */
  readonly disk?: DiskHealth
  /** The sources in the order of their flags. */
  readonly sources: readonly SourceHealth[]
}

/** The parts that `?verbose` lists although nothing is wrong with them. */
const PARTS = ['store', 'lease', 'feed'] as const

/**
 * Creates the server without listening. `/healthz` responds 200 while the process runs; `/readyz` responds 200 while the node
 * is able to work, otherwise 503 with the reasons, and lists the sources and what else hinders the node; with `?verbose` each
 * part. `/metrics` is for Prometheus; `/reload` shows what a reload would do. Other paths are 404.
 *
 * A source that is not connected does not make a node unready: the node still serves the API and delivers webhooks, and
 * its load balancer would remove every node when a switch restarts. Neither does an outage of the network on the way to
 * receivers, which is the same for all nodes, nor a wrong clock.
 *
 * @param previewReload runs once at a time, since it reads all files and accounts
 * @param onFault receives what a request threw, which is answered with 500
 */
export function adminServer(
  readiness: () => Promise<Readiness>,
  metrics: Pick<PrometheusMetrics, 'text' | 'contentType'>,
  previewReload: () => Promise<ReloadPreview>,
  onFault: (thrown: unknown) => void,
): Server {
  const preview = coalesced(previewReload)

  async function serveRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path, query = ''] = (request.url ?? '').split('?', 2)
    request.resume()
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD')
      respondStatus(request, response, 405, 'method not allowed')
    } else if (path === '/metrics') respond(request, response, 200, metrics.contentType, await metrics.text())
    else if (path === '/healthz') respondStatus(request, response, 200, 'alive')
    else if (path === '/reload') await respondPreview(request, response, preview)
    else if (path !== '/readyz') respondStatus(request, response, 404, 'not found')
    else respondReadiness(request, response, await readiness(), new URLSearchParams(query).has('verbose'))
  }

  return createServer((request, response) => {
    serveRequest(request, response).catch((thrown: unknown) => {
      onFault(thrown)
      if (response.headersSent) response.destroy()
      else respondStatus(request, response, 500, 'internal error')
    })
  })
}

/**
 * Runs `work` once at a time, however many callers there are: those that come while it runs share the next run, which sees
 * what has changed meanwhile.
 */
function coalesced<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve()
  let next: Promise<T> | undefined
  return () => {
    next ??= running.then(() => {
      next = undefined
      const run = work()
      running = run.catch(() => {})
      return run
    })
    return next
  }
}

/** Shows what a reload would do, or why it would be refused; reloads nothing. */
async function respondPreview(
  request: IncomingMessage,
  response: ServerResponse,
  preview: () => Promise<ReloadPreview>,
): Promise<void> {
  const document = await preview().catch((thrown: unknown) => ({
    refused: problemsOf(thrown).map(({ message }) => message),
  }))
  respond(request, response, 200, 'application/json', `${printableJson(document)}\n`)
}

function respondReadiness(
  request: IncomingMessage,
  response: ServerResponse,
  { isServing, health, disk, sources }: Readiness,
  isVerbose: boolean,
): void {
  const { clockDeviationSeconds } = health
  const problems = [
    ...health.problems.map(({ part, reason, sinceMs }) => ({
      part,
      reason,
      ...(sinceMs !== undefined && { since: isoTime(sinceMs) }),
    })),
    ...(disk?.reason === undefined ? [] : [{ part: 'disk', reason: disk.reason }]),
  ]
  const outages = health.outages.map(({ network, sinceMs }) => ({ network, since: isoTime(sinceMs) }))
  const isReady = isServing && problems.length === 0
  const isWrong = new Set(problems.map(({ part }) => part))
  const stateOf = (part: string) => (isWrong.has(part) ? 'failed' : 'ok')
  const parts = {
    serving: isServing ? 'ok' : 'starting or draining',
    ...Object.fromEntries(PARTS.map((part) => [part, stateOf(part)])),
    ...(disk && { disk: stateOf('disk'), diskFreeBytes: disk.freeBytes }),
    network: outages.length > 0 ? 'no receiver answers' : 'ok',
    clock: clockDeviationSeconds === undefined ? 'ok' : 'wrong',
  }
  const fields = {
    ...(problems.length > 0 && { problems }),
    ...(isVerbose && { parts }),
    ...(outages.length > 0 && { outages }),
    ...(clockDeviationSeconds !== undefined && { clockDeviationSeconds }),
    ...(sources.length > 0 && { sources }),
  }
  respondStatus(request, response, isReady ? 200 : 503, isReady ? 'ready' : 'not ready', fields)
}

const isoTime = (ms: number) => new Date(ms).toISOString()

function respondStatus(
  request: IncomingMessage,
  response: ServerResponse,
  code: number,
  status: string,
  fields: object = {},
): void {
  respond(request, response, code, 'application/json', `${JSON.stringify({ status, ...fields })}\n`)
}

function respond(
  { method }: IncomingMessage,
  response: ServerResponse,
  code: number,
  contentType: string,
  body: string,
): void {
  response.writeHead(code, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  })
  response.end(method === 'HEAD' ? undefined : body)
}
