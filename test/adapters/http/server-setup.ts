/** Servers that are closed after each test, and a check of error responses. */
import type http from 'node:http'
import { afterEach, expect } from 'vitest'
import type { RawResponse } from './raw.js'
import { listen, type RunningServer } from './servers.js'

export const GET = 'GET /v2/x HTTP/1.1\r\nHost: a\r\n\r\n'

/** Returns the head of a PUT with additional headers. */
export const put = (...headers: string[]) =>
  ['PUT /v2/x HTTP/1.1', 'Host: a', ...headers, '', ''].join('\r\n')

/** Returns a function that starts a server and returns its port. All servers are closed after each test. */
export function useServers(): (server: http.Server) => Promise<number> {
  const running: RunningServer[] = []
  afterEach(async () => {
    await Promise.all(running.splice(0).map((server) => server.close()))
  })
  return async (server) => {
    const started = await listen(server)
    running.push(started)
    return started.port
  }
}

/** Checks the envelope of an error response of node `n1` and returns its constant fields. */
export function parseErrorEnvelope(response: RawResponse): {
  status: number
  message: string
  data: Record<string, unknown>
} {
  const { data, error, message, status, request_id, timestamp, node } = JSON.parse(response.body)
  expect(response.headers['content-type']).toBe('application/json')
  expect(response.headers['content-length']).toBe(String(Buffer.byteLength(response.body)))
  expect(response.headers['x-request-id']).toBe(request_id)
  expect(response.headers.date).toMatch(/GMT$/)
  expect({ error, status, node }).toEqual({ error: String(response.status), status: 'error', node: 'n1' })
  expect(request_id).toMatch(/^[0-9a-f]{32}$/)
  expect(new Date(timestamp).toISOString()).toBe(timestamp)
  return { status: response.status, message, data }
}
