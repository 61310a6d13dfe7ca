/** Classifies network errors: what each means for the receiver. A total mapping, including unknown errors. */
import type { Observation, TransportFailure } from '../ports.js'
import { printableLine } from '../values/printable.js'

/** An observation without a response: the result of a failed connection or request. */
export type SendFailure = Exclude<Observation, { kind: 'response' } | { kind: 'cancelled' }>

export function noResponse(failure: TransportFailure, detail: string): SendFailure {
  return { kind: 'no_response', failure, detail }
}

export function ownFault(detail: string): SendFailure {
  return { kind: 'own_fault', detail }
}

/** The code of errors that carry a finished classification through the HTTP client library. */
const CONNECT_FAILED = 'HOOKSWITCH_CONNECT'

/** Wraps a failure in an error that the HTTP client library passes on unchanged. */
export function wrapSendFailure(sendFailure: SendFailure): Error {
  return Object.assign(new Error(sendFailure.detail), { code: CONNECT_FAILED, sendFailure })
}

/** Out of file handles, memory or buffers: a fault of this machine, regardless of the receiver. */
const OWN_FAULTS = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EAGAIN', 'ERR_WORKER_OUT_OF_MEMORY'])
const TIMEOUTS = /^(ETIMEDOUT|UND_ERR_(HEADERS|BODY|CONNECT)_TIMEOUT)$/
const CERTIFICATE =
  /^(CERT_|CRL_|DEPTH_|SELF_SIGNED|UNABLE_TO_|ERR_TLS_|ERR_SSL_|ERR_OSSL_|HOSTNAME_MISMATCH)|_SELF_SIGNED_|CERT/
const TLS = /^(EPROTO|INVALID_(CA|PURPOSE)|PATH_LENGTH_EXCEEDED)$/
/** The parser's errors may lack their `HPE_` code: undici looks it up in the wrong direction. */
const PROTOCOL_NAMES = new Set(['AssertionError', 'HTTPParserError'])
const PROTOCOL =
  /^(HPE_|ERR_ASSERTION|UND_ERR_(HEADERS_OVERFLOW|RES_|REQ_|INVALID_ARG|NOT_SUPPORTED)|ERR_INVALID|ERR_HTTP_)/

/**
 * Classifies whatever the HTTP client library, Node or the system threw during a request.
 *
 * `EADDRNOTAVAIL` for an IPv4 address means that no local port is free, an internal fault; for an IPv6 address it
 * usually means that this machine has no IPv6, so the receiver is unreachable. An argument that the library rejects is
 * charged as `protocol`: every retry would be rejected too, so the retry budget must end it.
 */
export function classifyError(
  thrown: unknown,
  context: { readonly isReused?: boolean; readonly ip?: string } = {},
): SendFailure {
  const { code, message, name, sendFailure, syscall } = describe(thrown)
  if (code === CONNECT_FAILED && sendFailure) return sendFailure
  const suffix = context.isReused ? ' (on a reused connection)' : ''
  const detail = `${toSingleLine(message || code || name)}${suffix}`
  if (OWN_FAULTS.has(code)) return ownFault(`${code}: out of system resources`)
  if (code === 'EADDRNOTAVAIL' && !context.ip?.includes(':'))
    return ownFault('EADDRNOTAVAIL: no free local port')
  if (TIMEOUTS.test(code)) return noResponse('timeout', detail)
  if (PROTOCOL.test(code) || PROTOCOL_NAMES.has(name)) return noResponse('protocol', detail)
  if (code === 'UND_ERR_SOCKET' && /^bad (response|upgrade)/.test(message))
    return noResponse('protocol', detail)
  if (syscall !== 'connect' && (CERTIFICATE.test(code) || TLS.test(code)))
    return noResponse('tls', `${code}: ${detail}`)
  return noResponse('connection', detail)
}

interface ErrorDescription {
  readonly code: string
  readonly message: string
  readonly name: string
  readonly syscall?: unknown
  readonly sendFailure?: SendFailure
}

function describe(thrown: unknown): ErrorDescription {
  const fields = (typeof thrown === 'object' && thrown !== null ? thrown : {}) as Record<string, unknown>
  const text = (key: string, fallback: string) =>
    typeof fields[key] === 'string' ? (fields[key] as string) : fallback
  return {
    code: text('code', ''),
    message: text('message', typeof thrown === 'string' ? thrown : ''),
    name: text('name', 'Error'),
    syscall: fields.syscall,
    ...(fields.sendFailure ? { sendFailure: fields.sendFailure as SendFailure } : {}),
  }
}

/** One short line: assertion errors span pages, and external text must not forge log lines. */
function toSingleLine(message: string): string {
  const line = printableLine(message.split(/[\r\n]/, 1)[0]!.trim())
  return line.length > 200 ? `${line.slice(0, 200)}…` : line
}
