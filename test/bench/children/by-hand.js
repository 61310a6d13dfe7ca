/** One delivery as a team writes it by hand: stringify, sign, post, look at the status, remember. */
import { createHmac, randomUUID } from 'node:crypto'
import { Pool } from 'undici'
import { parseRequest } from './posted.js'

/** What is remembered of deliveries; a team would bound it too. */
const KEPT = 100_000
const TIMEOUT_MS = 10_000

const CLIENTS = {
  pool({ origin, concurrency }) {
    const pool = new Pool(origin, { connections: concurrency, pipelining: 1, headersTimeout: TIMEOUT_MS })
    return async ({ path, method }, headers, body) => {
      const response = await pool.request({ path, method, headers, body })
      await response.body.dump()
      return response.statusCode
    }
  },
  fetch({ origin }) {
    return async ({ path, method }, headers, body) => {
      const response = await fetch(origin + path, { method, headers, body })
      await response.arrayBuffer()
      return response.status
    }
  },
}

/**
 * @param {{ client: 'pool' | 'fetch', port: number, concurrency: number, sample: string }} input `sample`: a request
 *   of ours; theirs have the same path, body and names of headers
 */
export function byHand({ client, port, concurrency, sample }) {
  const { headers, body, ...request } = parseRequest(sample)
  const names = headers.filter((_, index) => index % 2 === 0)
  const fixed = Object.fromEntries(names.map((name, index) => [name, headers[2 * index + 1]]))
  const payload = JSON.parse(body)
  const key = randomUUID()
  const send = CLIENTS[client]({ origin: `http://127.0.0.1:${port}`, concurrency })
  const attempts = []

  return {
    /** The next event. */
    event: () => ({ ...payload, event_id: randomUUID().replaceAll('-', '') }),
    /** @throws when the answer is no 2xx: then it is tried again */
    async deliver(event) {
      const text = JSON.stringify(event)
      const id = event.event_id
      const seconds = String(Math.floor(Date.now() / 1000))
      const signature = createHmac('sha256', key).update(`${id}.${seconds}.${text}`).digest('base64')
      const own = { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${signature}` }
      const started = performance.now()
      const status = await send(request, { ...fixed, ...own }, text)
      attempts.push({ id, status, atMs: Date.now(), durationMs: performance.now() - started })
      if (attempts.length >= 2 * KEPT) attempts.splice(0, KEPT)
      if (status < 200 || status >= 300) throw new Error(`answered ${status}`)
    },
  }
}
