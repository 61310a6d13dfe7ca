/** What Node's HTTP parser refuses, as a status and as bytes for a socket that has no response object. Pure. */
import type { ResponseRecord } from 'hookswitch'

export interface ParserError {
  readonly code?: string
  /** The packet in which the parser stopped. */
  readonly rawPacket?: Uint8Array
}

/** Status for an error of `clientError`; `undefined` where the connection itself is broken and nobody can be answered. */
export function parserStatus(error: ParserError, maxHeaderBytes: number): number | undefined {
  const code = error.code ?? ''
  if (code === 'HPE_HEADER_OVERFLOW') return overflowStatus(error.rawPacket, maxHeaderBytes)
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return 413
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 408
  return code.startsWith('HPE_') ? 400 : undefined
}

/**
 * Node counts target and fields against one limit. Only a request line that is longer than it in the packet at hand is
 * surely a target too long (414); a line whose start came in an earlier packet counts as a field (431).
 */
function overflowStatus(packet: Uint8Array | undefined, maxHeaderBytes: number): 414 | 431 {
  const text = Buffer.from(packet ?? [])
    .toString('latin1')
    .trimStart()
  const end = text.indexOf('\n')
  const line = end === -1 ? text : text.slice(0, end)
  return /^[A-Z-]+ \S/.test(line) && line.length > maxHeaderBytes ? 414 : 431
}

/** A whole HTTP/1.1 answer that closes its connection. */
export function rawAnswer(response: ResponseRecord, phrase: string, date: string): string {
  const headers = Object.entries({ ...response.headers, date, connection: 'close' })
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return `HTTP/1.1 ${response.status} ${phrase}\r\n${lines}\r\n${response.body}`
}
