/** Classifies network errors: what each means for the receiver. A total mapping, including unknown errors. */
import type { Observation, TransportFailure } from '../ports.js'
import type { FailureCause } from '../values/failure-cause.js'
import { printableLine } from '../values/printable.js'

/** An observation without a response: the result of a failed connection or request. */
export type SendFailure = Exclude<Observation, { kind: 'response' } | { kind: 'cancelled' }>

/** A failure before a byte of the request was written; the exchange corrects `isSent` where one was. */
export function noResponse(
  failure: TransportFailure,
  cause: FailureCause,
  detail: string,
): Extract<SendFailure, { kind: 'no_response' }> {
  return { kind: 'no_response', failure, cause, detail, isSent: false }
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
const REQUEST_REFUSED = /^(ERR_INVALID|UND_ERR_(REQ_|INVALID_ARG|NOT_SUPPORTED))/

/** Causes by the code of Node, the system or undici. */
const CAUSES: ReadonlyMap<string, FailureCause> = new Map(
  Object.entries({
    ECONNREFUSED: 'refused',
    ECONNRESET: 'reset',
    ECONNABORTED: 'reset',
    EPIPE: 'reset',
    UND_ERR_SOCKET: 'closed_early',
    ENETUNREACH: 'unreachable',
    EHOSTUNREACH: 'unreachable',
    ENETDOWN: 'unreachable',
    EHOSTDOWN: 'unreachable',
    EADDRNOTAVAIL: 'unreachable',
    UND_ERR_HEADERS_OVERFLOW: 'head_too_large',
    CERT_HAS_EXPIRED: 'certificate_expired',
    CERT_NOT_YET_VALID: 'certificate_not_yet_valid',
    DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate_self_signed',
    // The chain ends with a root certificate that is not trusted.
    SELF_SIGNED_CERT_IN_CHAIN: 'certificate_issuer',
    UNABLE_TO_GET_ISSUER_CERT: 'certificate_issuer',
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate_issuer',
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate_issuer',
    ERR_TLS_CERT_ALTNAME_INVALID: 'certificate_name',
    HOSTNAME_MISMATCH: 'certificate_name',
  } satisfies Record<string, FailureCause>),
)

/** Causes by the reason of OpenSSL, as in `ERR_SSL_WRONG_VERSION_NUMBER`. */
const TLS_REASONS: readonly (readonly [RegExp, FailureCause])[] = [
  [/^(WRONG_VERSION_NUMBER|HTTP_REQUEST|PACKET_LENGTH_TOO_LONG|UNKNOWN_PROTOCOL)$/, 'not_tls'],
  [/CERTIFICATE_REQUIRED$/, 'certificate_required'],
  [
    /PROTOCOL_VERSION$|HANDSHAKE_FAILURE$|INSUFFICIENT_SECURITY$|^(UNSUPPORTED_PROTOCOL|NO_PROTOCOLS_AVAILABLE|NO_SHARED_CIPHER|NO_CIPHERS_AVAILABLE|WRONG_SSL_VERSION|DH_KEY_TOO_SMALL)$/,
    'tls_version',
  ],
]

/**
 * Classifies whatever the HTTP client library, Node or the system threw during a request.
 *
 * `EADDRNOTAVAIL` for an IPv4 address means that no local port is free, an internal fault; for an IPv6 address it
 * usually means that this machine has no IPv6, so the receiver is unreachable. An argument that the library rejects is
 * charged as `protocol`: every retry would be rejected too, so the retry budget must end it.
 */
export function classifyError(thrown: unknown, context: { readonly ip?: string } = {}): SendFailure {
  const { code, message, name, sendFailure, syscall } = describe(thrown)
  if (code === CONNECT_FAILED && sendFailure) return sendFailure
  const detail = toSingleLine(message || code || name)
  if (OWN_FAULTS.has(code)) return ownFault(`${code}: out of system resources`)
  if (code === 'EADDRNOTAVAIL' && !context.ip?.includes(':'))
    return ownFault('EADDRNOTAVAIL: no free local port')
  if (TIMEOUTS.test(code)) {
    const isConnecting = syscall === 'connect' || code === 'UND_ERR_CONNECT_TIMEOUT'
    return noResponse('timeout', isConnecting ? 'timeout_connect' : 'timeout_answer', detail)
  }
  if (PROTOCOL.test(code) || PROTOCOL_NAMES.has(name)) {
    const cause = REQUEST_REFUSED.test(code) ? 'request_invalid' : (CAUSES.get(code) ?? 'not_http')
    return noResponse('protocol', cause, detail)
  }
  if (code === 'UND_ERR_SOCKET' && /^bad (response|upgrade)/.test(message))
    return noResponse('protocol', 'not_http', detail)
  if (syscall !== 'connect' && (CERTIFICATE.test(code) || TLS.test(code)))
    return classifyTlsError(code, message, detail)
  if (/before secure TLS connection/.test(message)) return noResponse('connection', 'closed_early', detail)
  return noResponse('connection', CAUSES.get(code) ?? 'connection_failed', detail)
}

function classifyTlsError(code: string, message: string, detail: string): SendFailure {
  const reason = opensslReason(message)
  const name = /^ERR_SSL_(\w+)$/.exec(code)?.[1] ?? reason?.toUpperCase().replaceAll(' ', '_') ?? ''
  const other = code === 'EPROTO' || code.startsWith('ERR_') ? 'tls_failed' : 'certificate_invalid'
  const cause = CAUSES.get(code) ?? TLS_REASONS.find(([pattern]) => pattern.test(name))?.[1] ?? other
  return noResponse('tls', cause, `${code}: ${reason ?? detail}`)
}

/** The reason in `40C7…:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:…`. */
function opensslReason(message: string): string | undefined {
  const text = message.slice(0, 500)
  const start = text.indexOf(':error:')
  return start < 0 ? undefined : toSingleLine(text.slice(start).split(':')[5] ?? '')
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
export function toSingleLine(message: string, maxLength = 200): string {
  const line = printableLine(message.split(/[\r\n]/, 1)[0]!.trim())
  return line.length > maxLength ? `${line.slice(0, maxLength)}…` : line
}
