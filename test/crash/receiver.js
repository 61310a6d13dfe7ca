// @ts-check
/** The receiver of all webhooks: records each request before it answers, as determined by the seed. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { ATTEMPT_MS, answerTo, hashFraction, nowMicros } from './load.js'

const SLOW_MS = { min: 5, max: 80 }
/**
 * Silence lasts so long, ms. A node that was paused finds answers late, and waits 30 s for the next one of the same receiver,
 * which no fast clock shortens.
 */
const SILENCE_MS = 2 * ATTEMPT_MS

/**
 * @param {string} seed
 * @param {import('./history.js').History} history
 */
export async function startReceiver(seed, history) {
  /** Number of requests of each delivery. @type {Map<string, number>} */
  const requestCounts = new Map()

  /**
   * @param {import('node:http').IncomingMessage} request
   * @param {string} body
   * @returns {import('./history.js').ReceivedRequest}
   */
  function parseRequest({ url = '', headers }, body) {
    const { event_id: event, call_id: call, sequence, custom_channel_vars: vars } = JSON.parse(body)
    return {
      kind: 'request',
      at: nowMicros(),
      // The sending node puts its id into the span id.
      node: Number.parseInt(String(headers.traceparent).slice(36, 52), 16),
      webhook: url.slice(1),
      delivery: String(headers['webhook-id']),
      attempt: Number(headers['x-hook-attempt']),
      call,
      index: vars.index,
      event,
      sequence,
      body,
      status: 0,
      doneAt: Number.POSITIVE_INFINITY,
    }
  }

  /**
   * @param {import('./history.js').ReceivedRequest} received
   * @param {import('node:http').ServerResponse} response
   */
  function answer(received, response) {
    const earlierRequests = requestCounts.get(received.delivery) ?? 0
    requestCounts.set(received.delivery, earlierRequests + 1)
    response.once('close', () => {
      if (received.status === 0) received.doneAt = nowMicros()
    })
    /** @param {number} status */
    const send = (status) => {
      if (response.destroyed) return
      // Recorded first, so that it precedes everything that the response causes.
      received.status = status
      received.doneAt = nowMicros()
      response.writeHead(status).end()
    }
    const kind = answerTo(seed, received.webhook, received, earlierRequests)
    if (kind === 'ok') send(200)
    else if (kind === 'error') send(500)
    else if (kind === 'reset') response.destroy()
    else if (kind === 'slow') {
      const fraction = hashFraction(`${seed} ${received.delivery}`)
      setTimeout(send, SLOW_MS.min + fraction * (SLOW_MS.max - SLOW_MS.min), 200)
    } else setTimeout(() => response.destroy(), SILENCE_MS).unref()
  }

  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      try {
        const received = parseRequest(request, body)
        history.requests.push(received)
        answer(received, response)
      } catch (thrown) {
        history.unexpected.push({
          at: nowMicros(),
          what: `${request.url}: ${body.slice(0, 200)} (${thrown})`,
        })
        response.writeHead(400).end()
      }
    })
    // A killed node aborts its requests: incomplete ones are ignored.
    request.on('error', () => {})
  })
  server.keepAliveTimeout = 60_000
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return {
    port,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
