/** A webhook delivery written without a library: stringify, sign, post, check the status, store the attempt. */
import { createHmac, randomUUID } from 'node:crypto'
import { Pool } from 'undici'
import { parseRequest } from './parse-request.js'

/** Stored attempts are bounded, as they would be in such code. */
const MAX_ATTEMPTS = 100_000
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
 *   of hookswitch, from which path, body and header names are copied
 */
export function createHandWrittenDelivery({ client, port, concurrency, sample }) {
  const { headers, body, ...request } = parseRequest(sample)
  const names = headers.filter((_, index) => index % 2 === 0)
  const fixedHeaders = Object.fromEntries(names.map((name, index) => [name, headers[2 * index + 1]]))
  const payload = JSON.parse(body)
  const key = randomUUID()
  const send = CLIENTS[client]({ origin: `http://127.0.0.1:${port}`, concurrency })
  const attempts = []

  return {
    /** A new event, with the sample's payload. */
    nextEvent: () => ({ ...payload, event_id: randomUUID().replaceAll('-', '') }),
    /** @throws if the response is not 2xx; the caller retries */
    async deliver(event) {
      const text = JSON.stringify(event)
      const id = event.event_id
      const seconds = String(Math.floor(Date.now() / 1000))
      const signature = createHmac('sha256', key).update(`${id}.${seconds}.${text}`).digest('base64')
      const ownHeaders = {
        'webhook-id': id,
        'webhook-timestamp': seconds,
        'webhook-signature': `v1,${signature}`,
      }
      const started = performance.now()
      const status = await send(request, { ...fixedHeaders, ...ownHeaders }, text)
      attempts.push({ id, status, atMs: Date.now(), durationMs: performance.now() - started })
      if (attempts.length >= 2 * MAX_ATTEMPTS) attempts.splice(0, MAX_ATTEMPTS)
      if (status < 200 || status >= 300) throw new Error(`responded ${status}`)
    },
  }
}
