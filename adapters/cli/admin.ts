/** The admin server: health, readiness and metrics for operators. It never shares the public port. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { PrometheusMetrics } from 'hookswitch/prometheus'

/**
 * Creates the server without listening. `/healthz` responds 200 while the process runs; `/readyz` responds 200 while the
 * service accepts work and 503 before and after; `/metrics` is for Prometheus. Other paths are 404.
 */
export function adminServer(
  isReady: () => boolean,
  metrics: Pick<PrometheusMetrics, 'text' | 'contentType'>,
): Server {
  return createServer(async (request, response) => {
    const path = (request.url ?? '').split('?', 1)[0]
    request.resume()
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD')
      respondStatus(request, response, 405, 'method not allowed')
    } else if (path === '/metrics') respond(request, response, 200, metrics.contentType, await metrics.text())
    else if (path === '/healthz') respondStatus(request, response, 200, 'alive')
    else if (path !== '/readyz') respondStatus(request, response, 404, 'not found')
    else if (isReady()) respondStatus(request, response, 200, 'ready')
    else respondStatus(request, response, 503, 'not ready')
  })
}

function respondStatus(
  request: IncomingMessage,
  response: ServerResponse,
  code: number,
  status: string,
): void {
  respond(request, response, code, 'application/json', `${JSON.stringify({ status })}\n`)
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
