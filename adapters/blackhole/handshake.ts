/** Refuses handshakes, before there is a WebSocket. */
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { errorResponse } from 'hookswitch/adapter'

/** Names of errors by status, as in the envelope of the HTTP API. */
const NAMES: Readonly<Record<number, string>> = {
  400: 'bad_request',
  426: 'upgrade_required',
  429: 'too_many_requests',
  503: 'service_unavailable',
}

/** The response to a request that does not become a WebSocket. */
export function refusal(status: number, node: string, nowMs: number, headers: Record<string, string> = {}) {
  const timestamp = new Date(nowMs).toISOString()
  return errorResponse(status, NAMES[status]!, { node, timestamp, headers })
}

/** Writes a response to the bare socket and closes it. */
export function refuse(socket: Duplex, { status, headers, body }: ReturnType<typeof refusal>): void {
  if (!socket.writable) return void socket.destroy()
  socket.on('error', () => {})
  const lines = Object.entries({ ...headers, connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  )
  socket.once('finish', () => socket.destroy())
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
}
