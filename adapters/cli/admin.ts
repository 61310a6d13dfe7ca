/** The port for those who run the program: alive? ready? Never the public one. */
import { createServer, type Server } from 'node:http'

/**
 * A server, not yet listening: `/healthz` answers 200 as long as the process does, `/readyz` 200 while it takes
 * work and 503 before and after. Everything else is 404.
 */
export function adminServer(isReady: () => boolean): Server {
  return createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0]
    const ready = isReady()
    const [status, said] =
      path === '/healthz'
        ? [200, 'alive']
        : path !== '/readyz'
          ? [404, 'not found']
          : ready
            ? [200, 'ready']
            : [503, 'not ready']
    const body = `${JSON.stringify({ status: said })}\n`
    request.resume()
    response.writeHead(status as number, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
    })
    response.end(request.method === 'HEAD' ? undefined : body)
  })
}
