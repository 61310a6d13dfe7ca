/** The port for those who run the program: alive? ready? what does it do? Never the public one. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { PrometheusMetrics } from 'hookswitch/prometheus'

/**
 * A server, not yet listening: `/healthz` answers 200 as long as the process does, `/readyz` 200 while it takes
 * work and 503 before and after, `/metrics` what Prometheus scrapes. Everything else is 404.
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
      answerStatus(request, response, 405, 'method not allowed')
    } else if (path === '/metrics') answer(request, response, 200, metrics.contentType, await metrics.text())
    else if (path === '/healthz') answerStatus(request, response, 200, 'alive')
    else if (path !== '/readyz') answerStatus(request, response, 404, 'not found')
    else if (isReady()) answerStatus(request, response, 200, 'ready')
    else answerStatus(request, response, 503, 'not ready')
  })
}

function answerStatus(
  request: IncomingMessage,
  response: ServerResponse,
  code: number,
  status: string,
): void {
  answer(request, response, code, 'application/json', `${JSON.stringify({ status })}\n`)
}

function answer(
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
