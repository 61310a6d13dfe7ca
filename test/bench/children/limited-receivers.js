/** Receivers that take a number of requests a second, and answer 429 with `Retry-After` otherwise. */
import { createServer } from 'node:http'
import { handleRequests } from '../processes.js'
import { listen } from './bare-server.js'

/** @type {{ accepted: number, refused: number }[]} */
const counts = []

/** A token bucket as large as the requests of a second. */
function createLimitedServer(perSecond, count) {
  const size = Math.max(1, perSecond)
  let tokens = 1
  let last = performance.now()
  return createServer((request, response) => {
    request.resume()
    const now = performance.now()
    tokens = Math.min(size, tokens + ((now - last) / 1000) * perSecond)
    last = now
    if (tokens >= 1) {
      tokens -= 1
      count.accepted += 1
      response.end('ok')
    } else {
      count.refused += 1
      response.writeHead(429, { 'retry-after': Math.ceil((1 - tokens) / perSecond) }).end()
    }
  })
}

handleRequests({
  /** Opens a port for each limit. @param {{ limits: readonly number[] }} input requests a second */
  listen: ({ limits }) =>
    Promise.all(
      limits.map(async (perSecond) => {
        const count = { accepted: 0, refused: 0 }
        counts.push(count)
        return (await listen(createLimitedServer(perSecond, count))).port
      }),
    ),
  /** The requests of each receiver so far. */
  counts: () => counts,
})
