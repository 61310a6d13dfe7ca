// @ts-check
/** The other end: notes every request before it answers, and answers by the seed. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { answerTo, micros, share } from './load.js'

const SLOW_MS = { least: 5, most: 80 }

/**
 * @param {string} seed
 * @param {import('./ledger.js').Ledger} ledger
 */
export async function startReceiver(seed, ledger) {
  /** @type {Map<string, number>} */
  const seen = new Map()

  /**
   * @param {import('node:http').IncomingMessage} request
   * @param {string} body
   * @returns {import('./ledger.js').Sight}
   */
  function sightOf({ url = '', headers }, body) {
    const { event_id: event, call_id: call, sequence, custom_channel_vars: vars } = JSON.parse(body)
    return {
      kind: 'sight',
      at: micros(),
      // The sender's tracing door says who it is.
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
   * @param {import('./ledger.js').Sight} sight
   * @param {import('node:http').ServerResponse} response
   */
  function answer(sight, response) {
    const before = seen.get(sight.delivery) ?? 0
    seen.set(sight.delivery, before + 1)
    response.once('close', () => {
      if (sight.status === 0) sight.doneAt = micros()
    })
    /** @param {number} status */
    const send = (status) => {
      if (response.destroyed) return
      // Noted first: whatever follows from this answer comes after it.
      sight.status = status
      sight.doneAt = micros()
      response.writeHead(status).end()
    }
    const how = answerTo(seed, sight.webhook, sight, before)
    if (how === 'ok') send(200)
    else if (how === 'error') send(500)
    else if (how === 'reset') response.destroy()
    else if (how === 'slow') {
      const part = share(`${seed} ${sight.delivery}`)
      setTimeout(send, SLOW_MS.least + part * (SLOW_MS.most - SLOW_MS.least), 200)
    }
  }

  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (piece) => {
      body += piece
    })
    request.on('end', () => {
      try {
        const sight = sightOf(request, body)
        ledger.sights.push(sight)
        answer(sight, response)
      } catch (thrown) {
        ledger.strange.push({ at: micros(), what: `${request.url}: ${body.slice(0, 200)} (${thrown})` })
        response.writeHead(400).end()
      }
    })
    // A killed node cuts its requests: what came in part is no request.
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
