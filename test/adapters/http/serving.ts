/** What the tests of the Node adapter share: servers that are closed after each test, and a look at an error answer. */
import type http from 'node:http'
import { afterEach, expect } from 'vitest'
import { listening, type RunningFace } from './faces.js'
import type { RawResponse } from './raw.js'

export const GET = 'GET /v2/x HTTP/1.1\r\nHost: a\r\n\r\n'

/** The head of a PUT with further headers. */
export const put = (...headers: string[]) =>
  ['PUT /v2/x HTTP/1.1', 'Host: a', ...headers, '', ''].join('\r\n')

/** A function that starts a server and tells its port; the servers of a test are closed after it. */
export function serving(): (server: http.Server) => Promise<number> {
  const open: RunningFace[] = []
  afterEach(async () => {
    await Promise.all(open.splice(0).map((face) => face.close()))
  })
  return async (server) => {
    const face = await listening(server)
    open.push(face)
    return face.port
  }
}

/** The envelope of an error of node `n1`, with what changes from answer to answer checked for its form. */
export function envelope(response: RawResponse): {
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
