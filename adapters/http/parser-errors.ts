/** Maps errors of Node's HTTP parser to statuses, and serializes responses for bare sockets. Pure. */
import type { ResponseRecord } from 'hookswitch/adapter'

export interface ParserError {
  readonly code?: string
  /** The packet in which the parser stopped. */
  readonly rawPacket?: Uint8Array
}

/** Returns the status for an error of `clientError`; `undefined` if the connection is broken and cannot be answered. */
export function statusOfParserError(error: ParserError, maxHeaderBytes: number): number | undefined {
  const code = error.code ?? ''
  if (code === 'HPE_HEADER_OVERFLOW') return overflowStatus(error.rawPacket, maxHeaderBytes)
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return 413
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 408
  return code.startsWith('HPE_') ? 400 : undefined
}

/**
 * Node counts target and header fields against one limit. The target is certainly too long (414) only if the packet has
 * a request line longer than the limit. A request line that began in an earlier packet counts as a header field (431).
 */
function overflowStatus(packet: Uint8Array | undefined, maxHeaderBytes: number): 414 | 431 {
  const text = Buffer.from(packet ?? [])
    .toString('latin1')
    .trimStart()
  const end = text.indexOf('\n')
  const line = end === -1 ? text : text.slice(0, end)
  return /^[A-Z-]+ \S/.test(line) && line.length > maxHeaderBytes ? 414 : 431
}

/** Serializes a complete HTTP/1.1 response that closes its connection. */
export function serializeResponse(response: ResponseRecord, phrase: string, date: string): string {
  const headers = Object.entries({ ...response.headers, date, connection: 'close' })
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return `HTTP/1.1 ${response.status} ${phrase}\r\n${lines}\r\n${response.body}`
}
